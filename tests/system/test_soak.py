"""A short soak: everything fails for some seconds, and then nothing is lost, doubled, orphaned or leaked."""

import os
import pathlib
import random
import shutil
import sys

import pytest

from world import TREE, is_root

sys.path.insert(0, str(pathlib.Path(TREE) / "tests" / "soak"))

SECONDS = float(os.environ.get("SY_SOAK_SECONDS", "15"))


@pytest.mark.slow
@pytest.mark.skipif(not is_root(), reason="needs root for network namespaces and a small disk")
@pytest.mark.skipif(not shutil.which("ip") or not shutil.which("nsenter"), reason="needs ip and nsenter")
def test_nothing_is_lost_doubled_orphaned_or_leaked():
    import soak
    seed = int(os.environ.get("SY_SOAK_SEED", random.randrange(1 << 30)))
    print(f"SY_SOAK_SEED={seed}")
    audit = soak.run(SECONDS, seed)
    print(audit.text())
    assert not audit.faults, "\n".join(audit.faults[:20])
    assert audit.jobs
