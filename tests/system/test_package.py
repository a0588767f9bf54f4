"""The Debian package, in a scratch root beside a procps of the same shape as Debian's."""

import os
import shutil

import pytest

from world import bin_dir, is_root, run

needs_dpkg = pytest.mark.skipif(not shutil.which("dpkg-shlibdeps") or not is_root(), reason="needs dpkg-dev and root")


def make_procps(folder, version):
    """A package with a skill that says which it is, and snice as a link to it."""
    tree = folder / f"procps-{version}"
    (tree / "DEBIAN").mkdir(parents=True)
    (tree / "DEBIAN/control").write_text(
        f"Package: procps\nVersion: {version}\nArchitecture: all\nMaintainer: nobody <nobody@localhost>\nDescription: a skill\n")
    programs = tree / "usr/bin"
    programs.mkdir(parents=True)
    (programs / "skill").write_text(f'#!/bin/sh\necho "{version} $*"\n')
    (programs / "skill").chmod(0o755)
    (programs / "snice").symlink_to("skill")
    package = folder / f"procps_{version}.deb"
    said = run(["dpkg-deb", "--build", "--root-owner-group", tree, package])
    assert said.returncode == 0, said.stderr
    return package


@pytest.fixture
def scratch(tmp_path):
    """dpkg on a root of its own, whose maintainer scripts run outside of it with its path in a variable."""
    root = tmp_path / "root"
    for folder in ("info", "updates", "triggers", "parts"):
        (root / "var/lib/dpkg" / folder).mkdir(parents=True)
    (root / "var/lib/dpkg/status").touch()
    (root / "tmp").mkdir()

    def dpkg(*words):
        said = run(["dpkg", f"--root={root}", "--force-script-chrootless", "--force-depends", "--log=/dev/null", *words],
                   env=dict(os.environ, PATH="/usr/sbin:/usr/bin:/sbin:/bin"))
        assert said.returncode == 0, said.stdout + said.stderr
        return said.stdout

    return root, dpkg


@needs_dpkg
def test_the_package_borrows_skill_and_gives_it_back(tmp_path, scratch):
    root, dpkg = scratch
    build = bin_dir().parent
    said = run(["cpack", "--config", build / "CPackConfig.cmake", "-B", tmp_path / "cpack"])
    assert said.returncode == 0, said.stdout + said.stderr
    (package,) = (tmp_path / "cpack").glob("*.deb")
    skill, snice, aside = (root / "usr/bin" / name for name in ("skill", "snice", "skill.procps"))
    # The program counts once, not once for each of its names.
    kilobytes = int(run(["dpkg-deb", "--field", package, "Installed-Size"]).stdout)
    program = sum(path.stat().st_size for path in bin_dir().iterdir() if not path.is_symlink()) // 1024
    assert 1000 < kilobytes < program + 5000, (kilobytes, program)

    dpkg("--install", make_procps(tmp_path, "1.0"))
    before = everything(root)
    dpkg("--install", package)
    assert os.readlink(skill) == "switchyard" and "1.0" in aside.read_text()
    assert run([root / "usr/bin/sbatch", "--version"]).stdout == "slurm 26.05.0\n"

    # Both names still reach the system's own program with what is not about jobs.
    path = {"PATH": f"{root}/usr/bin:/usr/bin:/bin", "SLURM_CONF": "/nonexistent"}
    assert run([skill, "-l"], env=path).stdout == "1.0 -l\n"
    assert run([snice, "+4", "-u", "nobody"], env=path).stdout == "1.0 +4 -u nobody\n"

    # A newer procps comes to stand beside ours, and is what a removal puts back.
    dpkg("--install", make_procps(tmp_path, "2.0"))
    assert os.readlink(skill) == "switchyard" and "2.0" in aside.read_text()
    dpkg("--install", package)  # An upgrade changes nothing.
    (root / "var/lib/switchyard/cluster").mkdir(parents=True)
    dpkg("--purge", "switchyard")
    assert "2.0" in skill.read_text() and not aside.exists()
    assert everything(root) == before


def everything(root):
    """All files but dpkg's own records."""
    return {str(p.relative_to(root)) for p in root.rglob("*") if "var/lib" not in str(p) or "switchyard" in p.name}
