"""A job can always be ended, also where its stepd does not react."""

import os
import signal

from cluster import stepds_of
from world import stays, wait_until

ONE_NODE = ("NodeName=n1 NodeHostname={host} CPUs=2 RealMemory=1000\n"
            "PartitionName=debug Nodes=n1 Default=YES MaxTime=INFINITE State=UP\n")
QUICK = "UnkillableStepTimeout=2\nKillWait=1\n"


def begin(cluster, options=""):
    job = cluster.wrap("touch begun; sleep 600", options)
    wait_until(lambda: (cluster.home(cluster.me()) / "begun").exists(), what="the script")
    return job


def test_a_stepd_that_does_not_react_is_ended_and_its_node_drained(make_cluster):
    cluster = make_cluster(names=["n1"], nodes=ONE_NODE, extra=QUICK + "UnkillableStepProgram=/bin/true\n")
    shown = cluster.run("scontrol show config").out
    assert "UnkillableStepTimeout   = 2 sec\n" in shown and "UnkillableStepProgram   = /bin/true\n" in shown
    job = begin(cluster)
    for pid in stepds_of(cluster.dir):
        os.kill(pid, signal.SIGSTOP)
    cluster.run(f"scancel {job}").ok()
    wait_until(lambda: cluster.node("n1")["State"] == "IDLE+DRAIN", what="the end of the job and the drain")
    assert cluster.state(job) == "CANCELLED"
    assert "Kill task failed" in cluster.run("sinfo -R", user=None).out
    assert not cluster.leftovers() and not stepds_of(cluster.dir)
    # An administrator has looked; the next one is told again.
    cluster.run("scontrol update nodename=n1 state=resume", user=None).ok()
    (cluster.home(cluster.me()) / "begun").unlink()
    job = begin(cluster, "-t 1")
    for pid in stepds_of(cluster.dir):
        os.kill(pid, signal.SIGSTOP)
    cluster.run(f"scancel {job}").ok()
    wait_until(lambda: cluster.node("n1")["State"] == "IDLE+DRAIN", what="the second drain")


def test_an_srun_that_does_not_read_is_no_fault_of_the_node(make_cluster):
    cluster = make_cluster(names=["n1"], nodes=ONE_NODE, extra=QUICK)
    srun = cluster.popen("srun -J stopped bash -c 'touch begun; exec cat /dev/zero'", stdout=open("/dev/null", "w"))
    wait_until(lambda: (cluster.home(cluster.me()) / "begun").exists(), what="the task")
    os.kill(srun.pid, signal.SIGSTOP)
    job = cluster.run("squeue -h -n stopped -o %i").out.strip()
    cluster.run(f"scancel {job}").ok()
    wait_until(lambda: cluster.node("n1")["State"] in ("IDLE", "IDLE+DRAIN"), what="the node to be free")
    stays(lambda: cluster.node("n1")["State"] == "IDLE", 3, "the node")
    srun.kill()
    srun.wait()
