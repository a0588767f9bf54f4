"""What administrators change by scontrol and scancel, and what other users are not shown, in the words and with the exit codes
of Slurm 26.05."""

import json
import socket

import pytest

from cluster import NODES, Cluster
from world import is_root, wait_until

PARTITIONS = """\
PartitionName=bobs Nodes=n[1-4] AllowGroups=bob
PartitionName=dark Nodes=n[1-4] Hidden=YES
"""


@pytest.fixture(scope="module")
def divided():
    made = Cluster(nodes=NODES + PARTITIONS)
    yield made
    made.stop()


def names(answer):
    return sorted(set(answer.ok().out.split()))


def partitions_of(answer):
    return sorted(line.split("=")[1] for line in answer.out.splitlines() if line.startswith("PartitionName="))


@pytest.mark.skipif(not is_root(), reason="needs root to be two users")
def test_a_partition_that_is_closed_or_hidden_is_shown_on_demand(divided):
    usual = ["closed", "debug*", "gpu"]
    everything = sorted(usual + ["bobs", "dark"])
    for user, shown in (("alice", usual), ("bob", sorted(usual + ["bobs"])), (None, everything)):
        assert names(divided.run("sinfo -h -o %P", user=user)) == shown
        assert names(divided.run("sinfo -a -h -o %P", user=user)) == everything
        plain = [name.strip("*") for name in shown]
        assert partitions_of(divided.run("scontrol show partition", user=user)) == sorted(plain)
        said = divided.run("scontrol show node n1", user=user).ok().out
        line = next(line for line in said.splitlines() if "Partitions=" in line)
        assert sorted(line.split("=")[1].strip().split(",")) == sorted(plain)
    assert names(divided.run("sinfo -h -p bobs -o %P", user="alice")) == ["bobs"]
    missing = divided.run("scontrol show partition bobs", user="alice")
    assert (missing.code, missing.out) == (1, "Partition bobs not found\n")
    assert partitions_of(divided.run("scontrol -a show partition bobs", user="alice").ok()) == ["bobs"]


@pytest.mark.skipif(not is_root(), reason="needs root to be two users")
def test_jobs_of_a_closed_partition_are_shown_on_demand(divided):
    job = divided.wrap("sleep 1", "-H -p bobs", user="bob")
    both = divided.wrap("sleep 1", "-H -p bobs,debug", user="bob")
    for user, shown in (("alice", [both]), ("bob", [job, both]), (None, [job, both])):
        assert names(divided.run("squeue -h -o %i", user=user)) == sorted(map(str, shown))
        assert names(divided.run("squeue -a -h -o %i", user=user)) == sorted([str(job), str(both)])
    assert names(divided.run("squeue -p bobs -h -o %i", user="alice")) == sorted([str(job), str(both)])
    assert names(divided.run(f"squeue -j {job} -h -o %i", user="alice")) == [str(job)]
    assert f"JobId={job} " in divided.run(f"scontrol show job {job}", user="alice").ok().out
    assert f"JobId={job} " not in divided.run("scontrol show job", user="alice").ok().out
    divided.run(f"scancel {job} {both}", user=None).ok()


def refused(cluster, words, text, user=None):
    said = cluster.run(f"scontrol update {words}", user=user)
    assert (said.code, said.err) == (1, text + "\n"), repr(said)


def test_what_shapes_a_waiting_job_is_changed(cluster):
    job = cluster.wrap("sleep 1", "-H -t 10")

    def change(words):
        cluster.run(f"scontrol update JobId={job} {words}", user=None).ok()
        return cluster.show(job)

    assert change("TimeMin=5")["TimeMin"] == "00:05:00"
    assert change("TimeMin=0")["TimeMin"] == "N/A"
    assert change("NumCPUs=3")["NumCPUs"] == "3"
    assert change("CoreSpec=1")["CoreSpec"] == "1"
    assert change("CoreSpec=-1")["CoreSpec"] == "*"
    assert change("MinTmpDiskNode=0")["MinTmpDiskNode"] == "0"
    assert change("NodeList=n2")["ReqNodeList"] == "n2"
    refused(cluster, f"JobId={job} TimeMin=50",
            f"Invalid time-min specification (exceeds job's time or other limits) for job {job}")
    refused(cluster, f"JobId={job} NumCPUs=1000", f"CPU count specification invalid for job {job}")
    refused(cluster, f"JobId={job} Prefer=zz", f"Invalid preferred feature specification for job {job}")
    refused(cluster, f"JobId={job} EndTime=now+1hour", f"Job is not running for job {job}")
    refused(cluster, f"JobId={job} Deadline=now-1hour", f"Invalid time specified for job {job}")
    refused(cluster, f"JobId={job} BurstBuffer=x", f"Requested operation not supported on this system for job {job}")
    said = cluster.run(f"scontrol update JobId={job} EndTime=xx", user=None)
    assert (said.code, said.err) == (0, "Invalid time specification (pos=0): xx\n")
    if is_root():
        refused(cluster, f"JobId={job} CoreSpec=1", f"Access/permission denied for job {job}", "alice")
    cluster.run(f"scancel {job}").ok()


def test_the_end_of_a_running_job_is_changed_and_what_it_has_is_no_change(cluster):
    job = cluster.wrap("sleep 600", "-t 20 -w n1")
    cluster.wait_state(job, "RUNNING")
    cluster.run(f"scontrol update JobId={job} EndTime=now+5minutes").ok()
    shown = cluster.show(job)
    assert shown["TimeLimit"] in ("00:05:00", "00:05:01", "00:05:02", "00:05:03")
    if is_root():
        refused(cluster, f"JobId={job} EndTime=now+15minutes", f"Access/permission denied for job {job}", "alice")
    refused(cluster, f"JobId={job} EndTime=now-5minutes", f"Invalid time specified for job {job}")
    refused(cluster, f"JobId={job} NumCPUs=2", f"Job is no longer pending execution for job {job}")
    refused(cluster, f"JobId={job} NodeList=n2", f"Invalid node name specified for job {job}")
    for words in ("NodeList=n1", "NumNodes=1", "Partition=debug", "TimeMin=60", "Priority=5"):
        cluster.run(f"scontrol update JobId={job} {words}", user=None).ok()
    cluster.run(f"scontrol release {job}").ok()
    cluster.run(f"scancel {job}").ok()


def test_nodes_are_described_and_come_back_by_themselves(make_cluster):
    made = make_cluster(names=("n1", "n2"), nodes=NODES.replace("n[1-4]", "n[1-2]"))
    made.run("scontrol update NodeName=n[1-2] InstanceId=i-[1-2] InstanceType=big Comment=c Extra=e", user=None).ok()
    assert made.node("n2")["InstanceId"] == "i-2"
    assert made.node("n2")["InstanceType"] == "big"
    document = json.loads(made.run("scontrol show node n1 --json", user=None).ok().out)["nodes"][0]
    assert (document["instance_id"], document["instance_type"]) == ("i-1", "big")
    refused(made, "NodeName=n1 InstanceId=i-[1-2]", "slurm_update error: Invalid node name specified")
    refused(made, "NodeName=n1 ResumeAfter=5",
            "You can only specify a resume time when DOWNING or DRAINING a node. Request denied")
    made.run("scontrol update NodeName=n1 State=DRAIN Reason=disk ResumeAfter=4", user=None).ok()
    assert made.node("n1")["State"] == "IDLE+DRAIN"
    assert made.node("n1")["ResumeAfterTime"] != "None"
    wait_until(lambda: made.node("n1")["State"] == "IDLE", 30, "n1 to come back")
    assert made.node("n1")["ResumeAfterTime"] == "None"


def test_scancel_knows_steps_of_no_job_and_comments_of_administrators(cluster):
    said = cluster.run("scancel 99999.0")
    assert said.code == 1
    assert said.err == "scancel: error: Kill job error on job step id 99999.0: Invalid job id specified\n"
    quiet = cluster.run("scancel -Q 99999.0")
    assert (quiet.code, quiet.err) == (1, "")
    assert cluster.run("scancel 99999").ok().err == ""
    job = cluster.wrap("sleep 600")
    cluster.wait_state(job, "RUNNING")
    assert cluster.run(f"scancel {job}.7").ok().err == ""
    if is_root():
        denied = cluster.run(f"scancel --admin-comment=mine {job}", user="alice")
        assert (denied.code, denied.err) == (218, "scancel: error: Invalid user id\n")
    assert cluster.state(job) == "RUNNING"
    cluster.run(f"scancel --admin-comment=moved {job}", user=None).ok()
    cluster.wait_state(job, "CANCELLED")
    assert cluster.show(job)["AdminComment"] == "moved"
    assert cluster.run(f"sacct -n -P -X -j {job} -o AdminComment").ok().out == "moved\n"


def test_a_step_names_its_srun(cluster):
    job = cluster.wrap("srun sleep 600 & echo $! > pid; wait", "-o srun.out")
    cluster.wait_state(job, "RUNNING")
    wait_until(lambda: f"StepId={job}.0 " in cluster.run("scontrol show step").out, 30, "the step")
    said = cluster.run(f"scontrol show step {job}.0").ok().out
    pid = cluster.read("pid").strip()
    assert f"   SrunHost:Pid={socket.gethostname().split('.')[0]}:{pid}\n" in said
    steps = json.loads(cluster.run(f"scontrol show step {job}.0 --json").ok().out)["steps"]
    assert steps[0]["srun"]["pid"] == int(pid)
    batch = cluster.run(f"scontrol show step {job}.batch").ok().out
    assert "   SrunHost:Pid=(null):0\n" in batch and " CPUs=0 " in batch
    cluster.run(f"scancel {job}").ok()


def test_ping_as_a_document(cluster):
    ping = json.loads(cluster.run("scontrol ping --json").ok().out)["pings"]
    assert len(ping) == 1 and ping[0].pop("latency") > 0
    assert ping[0] == {"hostname": cluster.host, "pinged": "UP", "responding": True, "mode": "primary", "primary": True}
    assert "responding" in cluster.run("scontrol ping --yaml").ok().out


def test_the_rules_of_a_partition_are_changed(make_cluster):
    made = make_cluster(names=("n1",), nodes=NODES.replace("n[1-4]", "n1"))
    made.run("scontrol update PartitionName=debug MaxCPUsPerNode=4 DefMemPerCPU=50 DenyAccounts=poor ReqResv=no "
             "DisableRootJobs=yes OverTimeLimit=5", user=None).ok()
    said = made.run("scontrol show partition debug", user=None).ok().out
    for word in ("MaxCPUsPerNode=4", "DefMemPerCPU=50", "DenyAccounts=poor", "DisableRootJobs=YES"):
        assert word in said
    assert made.run("sbatch -n1 --wrap true", user=None).code != 0 or not is_root()
    refused(made, "PartitionName=debug LLN=x",
            "scontrol: error: Invalid input: LLN=x\nscontrol: error: Acceptable LLN values are YES and NO")
    refused(made, "PartitionName=debug JobDefaults=DefCpuPerGPU=2",
            "JobDefaults=DefCpuPerGPU=2: there are no defaults of jobs by the card\nRequest aborted")
