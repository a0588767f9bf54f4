"""A controller that is not root: SlurmUser, as the documents recommend."""

import os
import signal
import subprocess

import pytest

from cluster import kill
from world import USERS, bin_dir, is_root, wait_until

pytestmark = pytest.mark.skipif(not is_root(), reason="only root becomes SlurmUser")


@pytest.fixture(scope="module")
def made():
    from cluster import Cluster
    cluster = Cluster(extra="SlurmUser=bob\n")
    yield cluster
    cluster.stop()


def owner_of(process):
    with open(f"/proc/{process.pid}/status") as facts:
        uids = next(line for line in facts if line.startswith("Uid:"))
    return {int(word) for word in uids.split()[1:]}


def works_for(made, user):
    job = made.wrap("id -un; srun id -un", user=user)
    assert made.wait_end(job) == "COMPLETED"
    assert made.read(f"slurm-{job}.out", user=user) == f"{user}\n{user}\n"
    assert made.run("srun id -un", user=user).ok().out == f"{user}\n"


def test_root_starts_it_and_it_is_root_no_more(made):
    assert owner_of(made.controller) == {USERS["bob"]}
    with open(f"/proc/{made.controller.pid}/status") as facts:
        assert "CapEff:\t0000000000000000\n" in facts.read()
    state = made.dir / "state"
    assert state.stat().st_uid == USERS["bob"] and state.stat().st_mode & 0o777 == 0o700
    for user in ("alice", "bob"):
        works_for(made, user)


def test_it_goes_on_after_a_kill(made):
    job = made.wrap("sleep 600")
    made.wait_state(job, "RUNNING")
    kill(made.controller, signal.SIGKILL)
    made.start_controller()
    made.wait_ready()
    assert made.state(job) == "RUNNING"
    made.run(f"scancel {job}").ok()
    assert made.wait_end(job) == "CANCELLED"


def test_it_starts_as_that_user_too(made):
    kill(made.controller, signal.SIGTERM)
    with open(made.dir / "log" / "as-bob.stderr", "ab") as log:
        made.controller = subprocess.Popen(
            [bin_dir() / "slurmctld", "-D", "-f", made.conf], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            start_new_session=True, cwd="/", user=USERS["bob"], group=USERS["bob"], extra_groups=[],
            env={"PATH": made.path(), "LANG": "C.UTF-8", "HOME": "/"})
    made.wait_ready()
    assert owner_of(made.controller) == {USERS["bob"]}
    works_for(made, "alice")


def test_operators_are_root_and_slurm_user(made):
    assert made.run("scontrol update nodename=n1 state=drain reason=test", user="alice").code != 0
    for user in ("bob", None):
        made.run("scontrol update nodename=n1 state=drain reason=test", user=user).ok()
        made.run("scontrol update nodename=n1 state=resume", user=user).ok()


def test_programs_run_as_slurm_user_and_only_its_own(made):
    program = made.write("tell.sh", f"#!/bin/sh\nid -un >> {made.home('bob')}/told\n", user="bob", mode=0o755)
    job = made.wrap("sleep 600", "--mail-type=END,FAIL --mail-user=someone")
    made.wait_state(job, "RUNNING")
    assert "Access/permission denied" in made.run(f"strigger --set -j {job} --fini -p /bin/true", user="alice").err
    made.run(f"strigger --set -j {job} --fini -p {program}", user="bob").ok()
    (made.dir / "mailprog").write_text(f'#!/bin/sh\nid -un >> {made.home("bob")}/mailed\n')
    made.run("scancel -s KILL -f " + str(job)).ok()
    made.wait_end(job)
    for name in ("told", "mailed"):
        path = made.home("bob") / name
        wait_until(lambda: path.exists() and path.read_text() == "bob\n", 60, name)


def test_a_state_that_belongs_to_somebody_else_is_refused(make_cluster):
    other = make_cluster(extra="SlurmUser=bob\n", start=False)
    os.chown(other.dir / "state", USERS["alice"], USERS["alice"])
    said = other.run(f"slurmctld -D -f {other.conf}", user=None)
    assert said.code == 1 and "belongs neither to root nor to SlurmUser=bob" in said.err
