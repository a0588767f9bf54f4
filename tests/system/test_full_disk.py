"""The controller's disk is full: who asks for something is told so at once, and nothing is promised."""

import errno
import subprocess
import time

import pytest

from world import PATIENCE, is_root, wait_until

pytestmark = pytest.mark.skipif(not is_root(), reason="only root has a disk to fill")

REFUSED = "The controller's disk is full: nothing can be submitted until there is room"


class SmallDisk:
    """A cluster whose state is on a disk of a few megabytes."""

    def __init__(self, made):
        self.state = made.dir / "state"
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", self.state], check=True)
        made.start()

    def fill(self):
        with open(self.state / "filling", "ab", buffering=0) as file:
            for size in (1 << 16, 1 << 12, 1):
                try:
                    while True:
                        file.write(b"x" * size)
                except OSError as full:
                    assert full.errno == errno.ENOSPC

    def make_room(self):
        (self.state / "filling").unlink()

    def close(self):
        subprocess.run(["umount", "-l", self.state], check=True)


@pytest.fixture
def small(make_cluster):
    made = make_cluster(start=False, names=("n1",), nodes=(
        "NodeName=n1 NodeHostname={host} CPUs=8 RealMemory=4000\n"
        "PartitionName=debug Nodes=n1 Default=YES MaxTime=INFINITE State=UP\n"))
    disk = SmallDisk(made)
    yield made, disk
    disk.close()


def refused_in_time(made, command, words, user="alice"):
    begin = time.monotonic()
    said = made.run(command, user=user)
    assert said.code != 0 and words in said.err, said
    assert time.monotonic() - begin < 2 * PATIENCE, said


def test_submissions_are_refused_at_once_and_what_is_shown_is_on_disk(small):
    made, disk = small
    kept = made.wrap("sleep 600")
    made.wait_state(kept, "RUNNING")
    held = made.wrap("true", "-H")
    disk.fill()
    mark = made.home() / "ran"
    # The first one finds it out; its job was in memory already.
    big = made.write("big.sh", "#!/bin/bash\n# " + "x" * 300_000 + f"\ntouch {mark}\n", mode=0o755)
    refused_in_time(made, f"sbatch {big}", REFUSED)
    refused_in_time(made, f"sbatch {big}", REFUSED, user="bob")
    refused_in_time(made, "srun -t 1 true", REFUSED)
    refused_in_time(made, "salloc -t 1 true", REFUSED)
    change = "The controller's disk is full: nothing can be changed until there is room"
    refused_in_time(made, f"scancel {held}", change)
    refused_in_time(made, f"scontrol release {held}", change)
    # What was there is there, and nothing else.
    assert {int(job) for job in made.run("squeue -h -o %i").ok().out.split()} == {kept, held}
    assert made.run("scontrol ping").ok()
    disk.make_room()
    after = wait_until(lambda: (said := made.run("sbatch --parsable --wrap true")).code == 0 and int(said.out), 30, "room")
    assert after > held
    assert made.wait_end(after) == "COMPLETED"
    made.run(f"scancel {kept} {held}").ok()
    assert made.wait_end(kept) == "CANCELLED"
    assert not mark.exists()
    assert made.run("squeue -h").ok().out == ""


def test_many_at_once_are_all_told(small):
    made, disk = small
    disk.fill()
    big = made.write("big.sh", "#!/bin/bash\n# " + "x" * 300_000 + "\ntrue\n", mode=0o755)
    begin = time.monotonic()
    asked = [made.popen(f"sbatch {big}", stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(12)]
    for each in asked:
        out, err = each.communicate(timeout=60)
        assert each.returncode != 0 and REFUSED in err, (out, err)
    assert time.monotonic() - begin < 4 * PATIENCE
    assert made.run("squeue -h").ok().out == ""
    disk.make_room()
    after = wait_until(lambda: (said := made.run("sbatch --parsable --wrap true")).code == 0 and int(said.out), 30, "room")
    assert made.wait_end(after) == "COMPLETED"
