"""Every file of what a real Slurm printed is compared by a test, or stands here with the reason why not.

A test module says in COMPARES which files it compares; it makes the set from the lists its tests run over.
"""

import importlib
import pathlib

import pytest

from golden import GOLDEN

pytestmark = pytest.mark.skipif(not GOLDEN.is_dir(), reason="no golden files beside the checkout")

ACCOUNTS = "accounts and associations are not built yet"
ADMIN = "an order of an administrator whose effect test_control.py checks"
RESERVATIONS = "reservations have tests of their own"
EXCLUDED = {
    "busy/sacctmgr-show-account": ACCOUNTS,
    "busy/sacctmgr-show-assoc": ACCOUNTS,
    "busy/sacctmgr-show-qos": ACCOUNTS,
    "busy/sacctmgr-show-user": ACCOUNTS,
    "admin/sacctmgr-add-account": ACCOUNTS,
    "admin/sacctmgr-add-account-again": ACCOUNTS,
    "admin/sacctmgr-add-user": ACCOUNTS,
    "admin/sacctmgr-delete-account": ACCOUNTS,
    "admin/sacctmgr-delete-user": ACCOUNTS,
    "admin/sacctmgr-modify-user": ACCOUNTS,
    "admin/sacctmgr-show-assoc-p": ACCOUNTS,
    "errors/sbatch-account-not-mine": ACCOUNTS,
    "admin/reservation-create": RESERVATIONS,
    "admin/reservation-delete": RESERVATIONS,
    "admin/reservation-show": RESERVATIONS,
    "admin/reservation-sinfo-T": RESERVATIONS,
    "admin/partition-down": ADMIN,
    "admin/requeue": ADMIN,
    "admin/slurmd-C": "of another machine; test_small_commands.py reads what ours says",
    "busy/scancel-signal": "the command did not end there and was stopped from outside",
    "busy/scontrol-show-hostnames-stdin-env": "the manual page says that SLURM_JOB_NODELIST is taken, which programs rely on",
    "busy/scontrol-suspend-as-user": "it would change the scene; that the owner may is a scenario of the core",
}


def compared():
    found = {}
    for path in sorted(pathlib.Path(__file__).parent.glob("test_*.py")):
        for name in getattr(importlib.import_module(path.stem), "COMPARES", ()):
            found.setdefault(name, []).append(path.stem)
    return found


def test_every_file_is_compared_or_left_out_with_a_reason():
    files = {f"{path.parent.name}/{path.stem}" for path in GOLDEN.glob("*/*.txt")}
    tests = compared()
    assert sorted(files - set(tests) - set(EXCLUDED)) == [], "compared by no test, and no reason given"
    assert sorted(set(EXCLUDED) & set(tests)) == [], "compared, so no reason is needed"
    assert sorted(set(EXCLUDED) - files) == [], "a reason for a file that is not there"
