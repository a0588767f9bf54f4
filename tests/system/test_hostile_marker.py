"""Without cgroups a job's processes are known by what they say of themselves. Others can say it too: it changes nothing."""

import os

import pytest

from hostile import needs_users, unharmed  # noqa: F401
from world import USERS, stays, wait_until

pytestmark = needs_users


@pytest.fixture(scope="module")
def cluster():
    from cluster import Cluster
    made = Cluster(beside={"cgroup.conf": "CgroupPlugin=disabled\n"})
    yield made
    made.stop()


def processes_of(cluster, job):
    """With what each was started with."""
    found = {}
    for pid in cluster.leftovers():
        try:
            with open(f"/proc/{pid}/environ", "rb") as environ:
                entries = environ.read().decode().split("\0")
        except OSError:
            continue
        if f"SLURM_JOB_ID={job}" in entries:
            found[pid] = entries
    return found


def marker_of(cluster, job):
    """As the job's processes have it; mallory would have to guess it, which is easy."""
    entries = next(iter(processes_of(cluster, job).values()))
    return next(each for each in entries if each.startswith("SWITCHYARD_STEP="))


def test_the_marker_of_anothers_job_counts_for_nothing(cluster):
    """Who had planted it was counted as the job's memory, killed with it, and could keep it from ever ending."""
    job = cluster.wrap("sleep 600 & touch begun; sleep 600", "-w n1 --mem=200", user="alice")
    wait_until(lambda: (cluster.home("alice") / "begun").exists(), 60, "the script")
    assert "Containment=none" in cluster.run("scontrol -d show node n1", user=None).out
    planted = cluster.popen(f"env {marker_of(cluster, job)} /usr/bin/python3 -c \"import time; x = bytearray(500 << 20); x[::4096] = b'x' * len(x[::4096]); "
                            "open('grown', 'w').close(); time.sleep(600)\"", user="mallory")
    try:
        wait_until(lambda: (cluster.home("mallory") / "grown").exists(), 60, "mallory's memory")
        stays(lambda: cluster.state(job) == "RUNNING", 3, "alice's job, whose memory was not mallory's")
        listed = cluster.run(f"scontrol listpids {job}", user=None).out + cluster.run(f"sstat -j {job}.batch -n -o MaxRSS", user="alice").out
        assert str(planted.pid) not in listed.split()
        cluster.run(f"scancel {job}", user="alice").ok()
        cluster.wait_end(job)
        wait_until(lambda: cluster.run("squeue -h", user=None).out == "", 30, "nothing of the job")
        assert planted.poll() is None and os.stat(f"/proc/{planted.pid}").st_uid == USERS["mallory"]
    finally:
        planted.kill()
        planted.wait()


def test_what_a_dead_stepd_left_is_found_by_a_new_agent_and_what_others_planted_is_not(cluster):
    (cluster.home("alice") / "begun").unlink(missing_ok=True)
    job = cluster.wrap("sleep 600 & touch begun; sleep 600", "-w n1 --no-requeue", user="alice")
    wait_until(lambda: (cluster.home("alice") / "begun").exists(), 60, "the script")
    own = list(processes_of(cluster, job))
    planted = cluster.popen(f"env {marker_of(cluster, job)} sleep 600", user="mallory")
    try:
        stepd = int(open(f"/proc/{own[0]}/stat").read().rsplit(")", 1)[1].split()[1])
        cluster.agents["n1"].kill()
        cluster.agents["n1"].wait()
        os.kill(stepd, 9)
        cluster.start_agent("n1")
        cluster.wait_end(job)
        wait_until(lambda: not [pid for pid in own if os.path.exists(f"/proc/{pid}/exe")], 60, "the end of what is left")
        assert planted.poll() is None
    finally:
        planted.kill()
        planted.wait()
