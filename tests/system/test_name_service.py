"""A name service that does not answer: only who needs a name that nobody knows yet waits for it, and not for ever."""

import os
import shutil
import signal
import subprocess
import time

import pytest

from cluster import kill
from world import PATIENCE, bin_dir, is_root, wait_until

pytestmark = pytest.mark.skipif(not is_root(), reason="needs root for a controller with files of its own, and two users")

SILENT = "The name service of the controller's host does not answer"


class Hanging:
    """A cluster whose controller has an /etc/passwd of its own, which can be made to hang whoever reads it."""

    def __init__(self, made):
        self.made, self.pipe, self.file = made, made.dir / "hanging", made.dir / "passwd"
        os.mkfifo(self.pipe)
        shutil.copy("/etc/passwd", self.file)
        self.start_controller()
        made.start_agent("n1")
        made.wait_ready()

    def start_controller(self):
        made = self.made
        own = f"umount /etc/passwd; mount --bind {self.file} /etc/passwd && exec {bin_dir()}/slurmctld -D -f {made.conf}"
        made.controller = subprocess.Popen(
            ["unshare", "-m", "--propagation", "private", "sh", "-c", own],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True, cwd="/",
            env={"PATH": made.path(), "LANG": "C.UTF-8", "HOME": "/"})
        wait_until(lambda: made.run("scontrol ping", user=None).code == 0, what="the controller")

    def inside(self, *command):
        subprocess.run(["nsenter", "-t", str(self.made.controller.pid), "-m", *command], check=True)

    def hang(self):
        self.inside("mount", "--bind", self.pipe, "/etc/passwd")

    def answer(self):
        self.inside("umount", "-l", "/etc/passwd")
        # Those who hang read nothing, and come back.
        try:
            os.close(os.open(self.pipe, os.O_WRONLY | os.O_NONBLOCK))
        except OSError:
            pass  # Nobody does.


@pytest.fixture
def hanging(make_cluster):
    return Hanging(make_cluster(start=False, names=("n1",), nodes=(
        "NodeName=n1 NodeHostname={host} CPUs=8 RealMemory=4000\n"
        "PartitionName=debug Nodes=n1 Default=YES MaxTime=INFINITE State=UP\n")))


def at_once(made, command, user="alice"):
    begin = time.monotonic()
    said = made.run(command, user=user).ok()
    assert time.monotonic() - begin < 2 * PATIENCE, (command, said)
    return said


def others_are_answered(made):
    for command in ("squeue", "sinfo", "scontrol ping", "scontrol show job", "sbatch -H --wrap true", "sdiag -r"):
        at_once(made, command, user=None if command == "sdiag -r" else "alice")


def test_only_who_needs_a_name_that_nobody_knows_waits_for_it(hanging):
    made = hanging.made
    made.wait_end(made.wrap("true"))  # Alice is known from here on.
    hanging.hang()
    waiting = {
        "sbatch": made.popen("sbatch --wrap true", user="bob", stderr=subprocess.PIPE),
        "scontrol": made.popen("scontrol create reservation starttime=now duration=10 nodes=n1 users=bob,mallory", user=None,
                               cwd="/", stderr=subprocess.PIPE),
    }
    others_are_answered(made)
    for name, process in waiting.items():
        words = process.communicate(timeout=30 * PATIENCE)[1]
        assert process.returncode != 0 and SILENT in words, (name, words)
    others_are_answered(made)
    hanging.answer()

    def is_known():
        job = made.wrap("true", user="bob")
        return made.run(f"squeue -h -t all -j {job} -o %u").ok().out.strip() == "bob"

    wait_until(is_known, 60, "bob to be known", every=2)
    made.run("scontrol create reservation reservationname=later starttime=now+1hour duration=10 nodes=n1 users=bob", user=None).ok()


def test_a_launch_waits_for_the_users_groups_and_holds_up_nobody(hanging):
    made = hanging.made
    job = made.wrap("id -Gn", "-H -o groups.out")
    kill(made.controller, signal.SIGTERM)
    hanging.start_controller()
    made.wait_ready()
    hanging.hang()
    at_once(made, f"scontrol release {job}")
    made.wait_state(job, "RUNNING")
    for command in ("squeue", "sinfo", "scontrol ping"):
        at_once(made, command)
    # The node looks them up itself where the controller cannot.
    assert made.wait_end(job) == "COMPLETED"
    assert made.read("groups.out").split() == ["alice", "lab"]
    hanging.answer()
