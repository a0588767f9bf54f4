"""The private world a test session lives in: users, folders, the programs under test.

As root the session moves into a mount namespace of its own, where /etc/passwd and /etc/group are copies with
three ordinary users added. Nothing of the machine is changed, and everything is gone with the process.
"""

import ctypes
import os
import pathlib
import pwd
import shutil
import subprocess
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parent.parent
SHARED = TREE.parent / "shared"

CLONE_NEWNS = 0x00020000
MS_REC, MS_PRIVATE, MS_BIND = 0x4000, 1 << 18, 0x1000

USERS = {"alice": 2001, "bob": 2002, "mallory": 2003}  # Mallory is the hostile one.


def bin_dir():
    """Where the commands under test are: SWITCHYARD_BIN, or the newest build of this tree."""
    chosen = os.environ.get("SWITCHYARD_BIN")
    if chosen:
        return pathlib.Path(chosen)
    built = [p for p in (TREE / "build").glob("*/bin/switchyard") if p.parent.parent.name in ("dev", "release")]
    if not built:
        raise RuntimeError("no build found: run ./check, or set SWITCHYARD_BIN to a folder with the commands")
    return max(built, key=lambda p: p.stat().st_mtime).parent


def is_root():
    return os.geteuid() == 0


def _mount(source, target, flags):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(source.encode(), str(target).encode(), None, flags, None) != 0:
        raise OSError(ctypes.get_errno(), f"mount {target}")


def _has_user(name, uid):
    try:
        return pwd.getpwnam(name).pw_uid == uid
    except KeyError:
        return False


def enter():
    """Moves this process into the private world (root only; otherwise the one user is who we are)."""
    if not is_root() or all(_has_user(name, uid) for name, uid in USERS.items()):
        return  # Workers of a parallel session are born inside.
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNS) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    _mount("none", "/", MS_REC | MS_PRIVATE)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="sy-etc-"))
    for name in ("passwd", "group"):
        lines = pathlib.Path("/etc", name).read_text().splitlines()
        lines = [line for line in lines if line.split(":")[0] not in USERS]
        for user, uid in USERS.items():
            if name == "passwd":
                lines.append(f"{user}:x:{uid}:{uid}:{user}:/tmp/sy-home-{user}:/bin/bash")
            else:
                lines.append(f"{user}:x:{uid}:")
        if name == "group":
            lines.append("lab:x:2100:alice")  # A group beside one's own.
        copy = folder / name
        copy.write_text("\n".join(lines) + "\n")
        copy.chmod(0o644)
        _mount(str(copy), f"/etc/{name}", MS_BIND)
    shutil.rmtree(folder, ignore_errors=True)


# Waits end when the thing is so: patience costs only where a test fails anyway, and a busy machine needs it.
PATIENCE = 4


def wait_until(condition, timeout=60.0, what="condition", every=0.02):
    """Asks again and again until it holds; never sleeps for luck. Returns what it held. `what` is a text, or makes one.
    `timeout` is in seconds of a machine that has nothing else to do."""
    timeout *= PATIENCE
    deadline = time.monotonic() + timeout
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {timeout} s for {what() if callable(what) else what}")
        time.sleep(every)


def stays(condition, seconds, what="condition"):
    """Holds now and whenever it is asked in these seconds."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        assert condition(), f"it did not stay so: {what}"
        time.sleep(0.1)


def processes_with(marker):
    """Pids whose environment holds `marker`, as bytes."""
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/environ", "rb") as environ:
                if marker in environ.read():
                    found.append(int(entry))
        except OSError:
            pass
    return found


def run(command, **options):
    return subprocess.run(command, capture_output=True, text=True, errors="replace", **options)
