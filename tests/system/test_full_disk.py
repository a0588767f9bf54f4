"""The controller's disk is full: requests fail at once with the reason, and nothing is acknowledged."""

import errno
import json
import signal
import subprocess
import time

import pytest

from cluster import kill
from world import PATIENCE, is_root, stays, wait_until

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


def fill_up(made, disk):
    """Until not even the record of a small job finds room in what the files have already."""
    disk.fill()
    refused = 0
    while refused < 2:
        said = made.run("sbatch -H --wrap true", user="bob")
        refused = refused + 1 if said.code != 0 else 0
        assert said.code == 0 or REFUSED in said.err, said


SCRIPT = "while [ ! -e go ]; do sleep 0.05; done; touch ended.$SLURM_JOB_ID"


def let_end(made, job):
    made.write("go", "")
    wait_until(lambda: (made.home() / f"ended.{job}").exists(), what="the end of the script")


def views(made, job):
    """What each command says of the job, and of its node."""
    document = json.loads(made.run(f"squeue --json -j {job} -t all").ok().out)
    shown = json.loads(made.run(f"scontrol show job {job} --json").ok().out)
    return {
        "squeue": made.run(f"squeue -h -j {job} -o %T").ok().out.strip(),
        "squeue of a user": made.run("squeue -h -u alice -t all -o '%i %T'").ok().out.strip(),
        "squeue by state": made.run("squeue -h -t running,completing,completed -o '%i %T'").ok().out.strip(),
        "squeue --json": [each["job_state"] for each in document["jobs"]],
        "squeue --steps": made.run(f"squeue -h -s -j {job} -o %i").ok().out.strip(),
        "scontrol": made.show(job)["JobState"],
        "scontrol --json": [each["job_state"] for each in shown["jobs"]],
        "sacct": made.run(f"sacct -n -P -X -j {job} -o State").ok().out.strip(),
        "sinfo": made.run("sinfo -h -N -o '%T %C'").ok().out.strip(),
    }


def test_a_job_that_ends_while_the_disk_is_full_is_shown_as_it_is_on_disk(small):
    made, disk = small
    job = made.wrap(SCRIPT, "-n 2")
    made.wait_state(job, "RUNNING")
    fill_up(made, disk)
    before = views(made, job)
    assert before["squeue"] == "RUNNING" and before["sacct"] == "RUNNING" and before["sinfo"].startswith("mixed"), before
    let_end(made, job)
    stays(lambda: views(made, job) == before, 3, f"not {before}")
    assert made.show(job)["SystemComment"].startswith("as on disk, which is full")
    # What was shown was true: a controller that dies now comes back with it.
    kill(made.controller, signal.SIGKILL)
    kill(made.agents["n1"], signal.SIGKILL)
    disk.make_room()
    made.start_controller()
    wait_until(lambda: made.run("squeue -h").code == 0, what="the controller")
    assert made.run(f"squeue -h -j {job} -o %T").ok().out.strip() == "RUNNING"
    made.start_agent("n1")
    assert made.wait_end(job) == "COMPLETED"


def test_once_there_is_room_what_happened_meanwhile_is_shown(small):
    made, disk = small
    job, other = made.wrap(SCRIPT), made.wrap("sleep 600")
    made.wait_state(job, "RUNNING")
    made.wait_state(other, "RUNNING")
    fill_up(made, disk)
    let_end(made, job)
    stays(lambda: set(made.run("squeue -h -u alice -t R -o %i").ok().out.split()) == {str(other), str(job)}, 2, "both run")
    disk.make_room()
    assert made.wait_end(job) == "COMPLETED"
    assert made.state(other) == "RUNNING"
    assert "SystemComment" not in made.show(job)
    made.run(f"scancel {other}").ok()
    assert made.wait_end(other) == "CANCELLED"


def test_the_end_that_finds_the_disk_full_is_shown_as_it_is_on_disk(small):
    """Nobody has submitted anything: the record of this end is the first that does not fit."""
    made, disk = small
    job = made.wrap(SCRIPT, f"--comment={'y' * 16_000}")
    made.wait_state(job, "RUNNING")
    disk.fill()
    let_end(made, job)
    log = made.dir / "log" / "controller.log"
    wait_until(lambda: "waiting for room" in log.read_text(), what="the controller to find it out")
    assert made.run(f"squeue -h -j {job} -o %T").ok().out.strip() == "RUNNING"
    assert made.node("n1")["State"] == "MIXED"
    disk.make_room()
    assert made.wait_end(job) == "COMPLETED"
