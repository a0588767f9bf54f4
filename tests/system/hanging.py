"""A file system that never answers: what a dead NFS server or a user's own FUSE program is to whoever touches it."""

import ctypes
import os
from contextlib import contextmanager

import pytest

MNT_DETACH = 2


@contextmanager
def hanging(path):
    """Mounted at `path` by root, for everybody; nobody ever reads what is asked of it. When it goes, all who wait get an error."""
    libc = ctypes.CDLL(None, use_errno=True)
    path.mkdir(exist_ok=True)
    try:
        device = os.open("/dev/fuse", os.O_RDWR)
    except OSError as error:
        pytest.skip(f"/dev/fuse: {error}")
    options = f"fd={device},rootmode=40777,user_id=0,group_id=0,allow_other"
    if libc.mount(b"hanging", str(path).encode(), b"fuse", 0, options.encode()) != 0:
        os.close(device)
        pytest.skip(f"FUSE cannot be mounted: {os.strerror(ctypes.get_errno())}")
    try:
        yield path
    finally:
        os.close(device)
        libc.umount2(str(path).encode(), MNT_DETACH)
