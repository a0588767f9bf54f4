"""What is installed, and the cluster that needs no configuration."""

import os
import pathlib
import re
import subprocess

import pytest

from world import bin_dir, is_root, run, wait_until


def test_only_glibc_is_dynamic():
    said = run(["ldd", bin_dir() / "switchyard"]).stdout
    names = {pathlib.Path(line.split()[0]).name for line in said.splitlines()}
    assert all(re.match(r"(linux-vdso|libc|libm|libpthread|libdl|librt|libresolv|ld-linux.*)\.so", n) for n in names), said


def test_a_start_loads_nothing_but_libc():
    """A library more is a tenth of an empty program's time at every start: src/start/README.md."""
    cache = bin_dir().parent / "CMakeCache.txt"
    if not cache.exists() or not re.search(r"^SY_SANITIZE:\w+=$", cache.read_text(), re.M):
        pytest.skip("not a build tree without sanitizers")
    said = run(["ldd", bin_dir() / "switchyard"]).stdout
    libraries = {pathlib.Path(line.split()[0]).name for line in said.splitlines()}
    assert {name for name in libraries if not name.startswith(("linux-vdso", "ld-linux"))} == {"libc.so.6"}, said


def test_commands_that_ask_need_no_loader():
    quick = bin_dir() / "switchyard-commands"
    if not quick.exists():
        pytest.skip("no static program in this build")
    assert run(["ldd", quick]).returncode != 0
    for command in ("sbatch", "squeue", "sinfo", "scontrol", "scancel", "sacct"):
        assert os.readlink(bin_dir() / command) == quick.name, command
    # Nothing in it may open the name service's plug-ins, which a static program cannot do. (A release has no names in it.)
    names = quick.read_bytes()
    if b"_ZN10switchyard" in names:
        assert not [name for name in (b"getpwnam_r", b"getpwuid_r", b"getgrgid_r", b"getgrnam_r", b"getaddrinfo", b"__nss_lookup")
                    if b"\0" + name + b"\0" in names]
    # Whatever else it is called, it is the other program.
    assert run([quick, "srun", "--version"]).stdout == "slurm 26.05.0\n"


def test_version_lines():
    for command in ("sbatch", "srun", "salloc", "squeue", "sinfo", "scontrol", "scancel"):
        for flag in ("--version", "-V"):
            said = run([bin_dir() / command, flag])
            assert said.stdout == "slurm 26.05.0\n" and said.returncode == 0, (command, flag)


def test_help_fits(cluster):
    for command in ("squeue", "sinfo", "scancel", "scontrol", "sbatch", "srun", "salloc"):
        said = cluster.run(f"{command} --help")
        assert said.code == 0 and said.out.startswith("Usage: " + command), command
        assert max(len(line) for line in said.out.splitlines()) <= 100, command


def test_install_into_a_prefix(tmp_path):
    build = bin_dir().parent
    said = run(["cmake", "--install", build, "--prefix", tmp_path])
    assert said.returncode == 0, said.stdout + said.stderr
    for command in ("switchyard", "sbatch", "srun", "salloc", "squeue", "sinfo", "scontrol", "scancel"):
        assert (tmp_path / "bin" / command).exists(), command
    for daemon in ("slurmctld", "slurmd"):
        assert (tmp_path / "sbin" / daemon).exists(), daemon
    assert run([tmp_path / "bin" / "sbatch", "--version"]).stdout == "slurm 26.05.0\n"
    everything = [str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*")]
    assert any(p.endswith("slurmctld.service") for p in everything)
    assert any("bash-completion" in p for p in everything)
    assert any(re.search(r"man1/sbatch\.1", p) for p in everything)


@pytest.mark.parametrize("user", ["root", "alice"] if is_root() else ["me"])
def test_up_runs_a_job_and_down_leaves_nothing(tmp_path_factory, user):
    folder = pathlib.Path(subprocess.run(["mktemp", "-d", "/tmp/syup-XXXXXX"], capture_output=True, text=True).stdout.strip())
    folder.chmod(0o777)
    become = {"user": 2001, "group": 2001, "extra_groups": []} if user == "alice" else {}
    env = {"PATH": f"{bin_dir()}:/usr/bin:/bin", "HOME": str(folder), "USER": user, "LANG": "C.UTF-8"}

    def shell(line):
        return subprocess.run(["bash", "-c", line], capture_output=True, text=True, env=env, cwd=folder, timeout=90,
                              stdin=subprocess.DEVNULL, **become)

    name = folder.name
    up = shell(f"switchyard up --nodes 2 --name {name} --dir {folder}/cluster")
    try:
        assert up.returncode == 0, up.stdout + up.stderr
        assert "export PATH" not in up.stdout and f"export SLURM_CONF={folder}/cluster/slurm.conf" in up.stdout
        env["SLURM_CONF"] = f"{folder}/cluster/slurm.conf"
        assert shell("sinfo -h -o '%D %T'").stdout == "2 idle\n"
        said = shell("sbatch --wait -N2 -o up.out --wrap 'srun -l bash -c \"echo \\$SLURMD_NODENAME\"'")
        assert said.returncode == 0, said.stderr + (folder / "up.out").read_text()
        assert sorted((folder / "up.out").read_text().splitlines()) == ["0: n1", "1: n2"]
        again = shell(f"PATH=/usr/bin:/bin {bin_dir()}/switchyard up --nodes 2 --name {name} --dir {folder}/cluster")
        assert again.returncode == 0, again.stdout + again.stderr
        assert f"export PATH={pathlib.Path(bin_dir()).resolve()}:$PATH\n" in again.stdout
        assert shell(f"switchyard status --name {name} --dir {folder}/cluster").returncode == 0
    finally:
        down = shell(f"switchyard down --name {name} --dir {folder}/cluster")
    assert down.returncode == 0, down.stdout + down.stderr
    wait_until(lambda: not run(["pgrep", "-f", str(folder)]).stdout, what="the daemons to be gone")
    assert shell("sinfo").returncode != 0
    subprocess.run(["rm", "-rf", folder])
