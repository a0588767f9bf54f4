"""Where the peer comes from: a Debian of its own in a folder, with the newest Slurm that Debian has, or what is installed here.

A folder (debootstrap, as root) has the advantage that the machine's own packages do not decide which Slurm is measured. Its
programs are started by chroot, the folders of the benchmark and the instruments are bound into it, and all mounts are seen by
this process and its children alone, so nothing is left behind.
"""

import ctypes
import os
import pathlib
import shutil
import subprocess

SUITES = ("forky", "trixie")  # The first that can be had; their Slurm is 26.05 and 24.11.
PACKAGES = ("slurm-wlm", "slurm-client", "munge")
PROGRAMS = ("usr/sbin/slurmctld", "usr/sbin/slurmd", "usr/sbin/munged", "usr/bin/sbatch")
QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
CLONE_NEWNS = 0x00020000


def is_complete(root):
    return all(os.path.lexists(root / program) for program in PROGRAMS)  # Links that lead from the root of theirs.


def cache():
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "switchyard"


def mirror():
    """The place that this machine's own packages come from."""
    said = subprocess.run(["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"], capture_output=True, text=True)
    return next(iter(said.stdout.split()), "")


def make_root(suite):
    """A Debian of that suite with Slurm in it; None if it cannot be had."""
    root = cache() / f"peer-{suite}"
    if is_complete(root):
        return root
    print(f"making a folder with Debian {suite} and its Slurm", flush=True)
    root.parent.mkdir(parents=True, exist_ok=True)
    # Suites younger than this machine's debootstrap are made as sid is.
    said = subprocess.run(["debootstrap", "--variant=minbase", f"--include={','.join(PACKAGES)}", suite, root, mirror(), "sid"], **QUIET)
    if said.returncode == 0 and is_complete(root):
        return root
    shutil.rmtree(root, ignore_errors=True)
    return None


def install_here():
    if is_complete(pathlib.Path("/")):
        return
    print("installing slurm-wlm and munge", flush=True)
    subprocess.run(["apt-get", "install", "-y", "--no-install-recommends", *PACKAGES], check=True, stdout=subprocess.DEVNULL,
                   env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})


def find(suite):
    """The folder that holds the peer: of the suite that is asked for, else of the newest that can be had, else this machine's own."""
    if suite == "installed":
        install_here()
        return pathlib.Path("/")
    subprocess.run(["apt-get", "install", "-y", "debootstrap"], check=False, **QUIET)
    if shutil.which("debootstrap"):
        for name in (suite,) if suite else SUITES:
            if root := make_root(name):
                return root
    if suite:
        raise SystemExit(f"Debian {suite} with Slurm could not be made in {cache()}")
    install_here()
    return pathlib.Path("/")


def enter(root, *folders):
    """Makes the folders of this machine known inside the root, at the same paths."""
    if root == pathlib.Path("/"):
        return
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNS) != 0:
        raise OSError(ctypes.get_errno(), "mounts of its own")
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)
    # As on every machine, the root is a mount of its own: stepd cannot make mounts of a step's own below one that is not.
    subprocess.run(["mount", "--bind", root, root], check=True)
    for folder in ("/proc", "/dev", "/sys", *folders):
        inside = root / str(folder).lstrip("/")
        inside.mkdir(parents=True, exist_ok=True)
        subprocess.run(["mount", "--rbind", folder, inside], check=True)
    for name in ("hosts", "resolv.conf"):
        (root / "etc" / name).write_bytes(pathlib.Path("/etc", name).read_bytes())
