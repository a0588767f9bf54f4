"""A batch script that has begun is never begun again, unless it is requeued."""

import os
import shutil
import signal
import sqlite3

import pytest

from cluster import kill, stepds_of
from world import processes_with, wait_until

ONE_NODE = ("NodeName=n1 NodeHostname={host} CPUs=2 RealMemory=1000\n"
            "PartitionName=debug Nodes=n1 Default=YES MaxTime=INFINITE State=UP\n")
# Appends to files, so that they show how often it ran.
SCRIPT = """\
    #!/bin/bash
    echo ran >> count
    echo first
    {begin}
    while [ ! -e go ]; do sleep 0.05; done
    echo last
    """
PLAIN = "touch begun"
WITH_STEP = "srun -n1 --overlap bash -c 'echo step; touch begun; while [ ! -e go ]; do sleep 0.05; done'"


def submit(cluster, begin, options):
    cluster.write("once.sh", SCRIPT.format(begin=begin))
    job = cluster.sbatch(f"{options} -o once.out once.sh")
    wait_until(lambda: (cluster.home(cluster.me()) / "begun").exists(), what="the script to begin")
    cluster.wait_state(job, "RUNNING")
    return job


def back_up(cluster):
    """As the manual says: a copy by sqlite3, while the controller runs."""
    copy = cluster.dir / "copy.db"
    source, target = sqlite3.connect(cluster.dir / "state" / "switchyard.db"), sqlite3.connect(copy)
    source.backup(target)
    source.close()
    target.close()
    return copy


def restore(cluster, copy):
    kill(cluster.controller, signal.SIGTERM)
    database = cluster.dir / "state" / "switchyard.db"
    for file in (database, *database.parent.glob(database.name + "-*")):
        file.unlink()
    shutil.copy(copy, database)
    cluster.controller = cluster._spawn("slurmctld", "--restore")
    cluster.wait_ready()


def assert_ran_once(cluster, output):
    assert cluster.read("count") == "ran\n"
    assert cluster.read("once.out").startswith(output), "what it wrote is still there"
    # Nothing of it holds the node.
    wait_until(lambda: cluster.node("n1")["State"] == "IDLE", what="the node to be free")
    assert cluster.wait_end(cluster.wrap("srun true", "-n2 --exclusive")) == "COMPLETED"


@pytest.mark.parametrize("options", ["--no-requeue", "--requeue"])
@pytest.mark.parametrize("begin", [PLAIN, WITH_STEP], ids=["plain", "with_srun"])
def test_a_backup_restored_after_the_end_of_a_job_does_not_run_it_again(make_cluster, options, begin):
    cluster = make_cluster(names=["n1"], nodes=ONE_NODE)
    job = submit(cluster, begin, options)
    copy = back_up(cluster)
    cluster.write("go", "")
    assert cluster.wait_end(job) == "COMPLETED"
    output = cluster.read("once.out")
    assert output.endswith("last\n")
    restore(cluster, copy)
    assert cluster.wait_end(job) == "COMPLETED", "the node knows how it ended"
    assert cluster.show(job)["Restarts"] == "0"
    assert_ran_once(cluster, output)


def test_a_backup_restored_while_the_job_runs_finds_it_running(make_cluster):
    cluster = make_cluster(names=["n1"], nodes=ONE_NODE)
    job = submit(cluster, WITH_STEP, "--no-requeue")
    restore(cluster, back_up(cluster))
    assert cluster.state(job) == "RUNNING"
    cluster.write("go", "")
    assert cluster.wait_end(job) == "COMPLETED"
    assert_ran_once(cluster, "first\nstep\nlast\n")


def test_a_requeued_job_begins_again(make_cluster):
    cluster = make_cluster(names=["n1"], nodes=ONE_NODE)
    job = submit(cluster, PLAIN, "--requeue")
    cluster.run(f"scontrol requeue {job}").ok()
    wait_until(lambda: cluster.read("count") == "ran\nran\n", 60, "the second run")
    cluster.write("go", "")
    assert cluster.wait_end(job) == "COMPLETED"


@pytest.mark.parametrize("begin", [PLAIN, WITH_STEP], ids=["plain", "with_srun"])
def test_an_emptied_spool_after_the_death_of_everything_does_not_run_it_again(make_cluster, begin):
    cluster = make_cluster(names=["n1"], nodes=ONE_NODE)
    job = submit(cluster, begin, "--no-requeue")
    # That it began is written within a second, or with the next change of the record.
    cluster.run(f"scontrol update jobid={job} comment=begun").ok()
    output = cluster.read("once.out")
    kill(cluster.controller, signal.SIGKILL)
    kill(cluster.agents["n1"], signal.SIGKILL)
    for pid in stepds_of(cluster.dir, idle=True):
        os.kill(pid, signal.SIGKILL)
    for pid in processes_with(f"SLURM_JOB_ID={job}".encode()):
        if pid in cluster.leftovers():
            os.kill(pid, signal.SIGKILL)
    shutil.rmtree(cluster.dir / "spool" / "n1")
    cluster.start_controller()
    cluster.start_agent("n1")
    cluster.wait_ready()
    assert cluster.wait_end(job) == "NODE_FAIL"
    assert_ran_once(cluster, output)
