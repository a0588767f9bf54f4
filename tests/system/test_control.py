"""Cancelling, time limits, requeue, suspend, nodes and partitions."""

import json
import re
import time

import pytest

from world import wait_until


def lines(text):
    return [line.split() for line in text.splitlines()]


def test_squeue_shows_what_runs_and_what_waits(cluster):
    blocker = cluster.wrap("sleep 300", "-N4 --exclusive -J blocker")
    cluster.wait_state(blocker, "RUNNING")
    waiter = cluster.wrap("true", "-J waiter")
    behind = cluster.wrap("true", "-J behind")
    wait_until(lambda: cluster.show(waiter)["Reason"] == "Resources", what="Resources")
    said = cluster.run("squeue -u $USER").ok()
    head, *rows = said.out.splitlines()
    assert head == "             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)"
    table = {row[0]: row for row in lines("\n".join(rows))}
    assert table[str(blocker)][4] == "R" and table[str(blocker)][7] == "n[1-4]"
    assert table[str(waiter)][4] == "PD" and table[str(waiter)][7] == "(Resources)"
    assert table[str(behind)][7] == "(Priority)"
    cluster.run(f"scancel {blocker}").ok()
    assert cluster.wait_end(blocker) == "CANCELLED"
    assert cluster.wait_end(waiter) == "COMPLETED" and cluster.wait_end(behind) == "COMPLETED"


def test_scancel_ends_the_job_and_its_children(cluster):
    job = cluster.wrap("setsid sleep 777 & trap '' TERM; sleep 777 & wait; sleep 777", "-o cancel.out")
    cluster.wait_state(job, "RUNNING")
    wait_until(lambda: len(cluster.leftovers()) > 2, what="its processes")
    cluster.run(f"scancel {job}").ok()
    assert cluster.wait_end(job) == "CANCELLED"
    assert re.search(rf"error: \*\*\* JOB {job} ON n\d CANCELLED AT \S+ DUE to SIGNAL Terminated \*\*\*",
                     cluster.read("cancel.out"))
    wait_until(lambda: not cluster.leftovers(), what="nothing to be left")


def check_last_words(text, job, why):
    """What script and srun write when the job is ended from outside; the order of some lines is open."""
    for line in (rf"error: \*\*\* JOB {job} ON n\d CANCELLED AT \S+ {why} \*\*\*",
                 rf"error: \*\*\* STEP {job}\.0 ON n\d CANCELLED AT \S+ {why} \*\*\*",
                 r"srun: Job step aborted: Waiting up to 4 seconds for job step to finish\.",
                 r"srun: got SIGCONT", r"srun: forcing job termination", r"srun: error: n\d: task 0: Terminated"):
        assert len(re.findall(f"^.*{line}$", text, re.M)) == 1, (line, text)
    assert text.startswith("started\n") and "went on" not in text
    assert text.index("STEP") < text.index("task 0: Terminated")


def test_scancel_of_a_script_with_a_step_leaves_sruns_last_words(cluster):
    job = cluster.wrap("echo started; srun bash -c 'echo > stepping; exec sleep 600'; echo went on", "-o cancelsrun.out")
    wait_until(lambda: (cluster.home() / "stepping").exists(), 30, "its step")
    cluster.run(f"scancel {job}").ok()
    assert cluster.wait_end(job) == "CANCELLED"
    check_last_words(cluster.read("cancelsrun.out"), job, "DUE to SIGNAL Terminated")
    wait_until(lambda: not cluster.leftovers(), 30, "nothing to be left")


def test_signals(cluster):
    job = cluster.wrap("trap 'echo got usr1' USR1; echo ready; while :; do sleep 0.05; done", "-o sig.out")
    wait_until(lambda: (cluster.home() / "sig.out").exists() and "ready" in cluster.read("sig.out"), what="ready")
    cluster.run(f"scancel -b -s USR1 {job}").ok()
    wait_until(lambda: "got usr1" in cluster.read("sig.out"), what="the signal")
    assert cluster.state(job) == "RUNNING"
    cluster.run(f"skill -9 {job}").ok()
    assert cluster.wait_end(job) == "CANCELLED"


def test_scancel_filters(cluster):
    held = [cluster.wrap("true", f"-H -J filter{n % 2} -p {'gpu' if n < 2 else 'debug'}") for n in range(4)]
    cluster.run("scancel -n filter0 -p gpu").ok()
    assert [cluster.state(j) for j in held] == ["CANCELLED", "PENDING", "PENDING", "PENDING"]
    cluster.run("scancel -t PENDING -n filter1").ok()
    assert [cluster.state(j) for j in held] == ["CANCELLED", "CANCELLED", "PENDING", "CANCELLED"]
    cluster.run(f"scancel {held[2]} {held[3]}")
    assert cluster.state(held[2]) == "CANCELLED"


@pytest.mark.slow
def test_time_limit(make_cluster):
    cluster = make_cluster(names=["n1"], extra="OverTimeLimit=0\n")
    job = cluster.wrap("echo started; sleep 600", "-t 1 -o tl.out")
    # Seconds round up to a minute.
    step = cluster.wrap("echo started; srun sleep 600; echo went on", "-t 0:20 -o tls.out")
    assert cluster.wait_end(job, timeout=90) == "TIMEOUT"
    assert cluster.wait_end(step, timeout=90) == "TIMEOUT"
    text = cluster.read("tl.out")
    assert text.startswith("started\n")
    assert re.search(rf"error: \*\*\* JOB {job} ON n1 CANCELLED AT \S+ DUE TO TIME LIMIT \*\*\*", text)
    check_last_words(cluster.read("tls.out"), step, "DUE TO TIME LIMIT")
    shown = cluster.show(job)
    assert (shown["JobState"], shown["Reason"]) == ("TIMEOUT", "TimeLimit")
    wait_until(lambda: not cluster.leftovers(), what="nothing to be left")


def test_warning_signal_before_the_end(cluster):
    job = cluster.wrap("trap 'echo warned; exit 0' USR2; echo ready; while :; do sleep 0.05; done",
                       "-t 1 --signal=B:USR2@45 -o warn.out")  # Time enough to be ready.
    assert cluster.wait_end(job) == "COMPLETED"
    assert "warned" in cluster.read("warn.out")


def test_requeue_from_inside(cluster):
    script = ('echo "run $SLURM_RESTART_COUNT"; if [ -z "$SLURM_RESTART_COUNT" ]; then scontrol requeue $SLURM_JOB_ID; '
              'sleep 60; fi')
    job = cluster.wrap(script, "-o rq.out --open-mode=append")
    wait_until(lambda: (cluster.home() / "rq.out").exists() and "run 1" in cluster.read("rq.out"), 30, "the second run")
    assert cluster.wait_end(job) == "COMPLETED"
    assert cluster.show(job)["Restarts"] == "1"


def test_requeue_hold_and_no_requeue(cluster):
    job = cluster.wrap("sleep 300")
    cluster.wait_state(job, "RUNNING")
    cluster.run(f"scontrol requeuehold {job}").ok()
    cluster.wait_state(job, "PENDING")
    assert cluster.show(job)["Reason"] in ("JobHeldUser", "JobHeldAdmin")
    cluster.run(f"scancel {job}")
    job = cluster.wrap("sleep 300", "--no-requeue")
    cluster.wait_state(job, "RUNNING")
    assert cluster.show(job)["Requeue"] == "0"
    cluster.run(f"scancel {job}")


def stands_still(cluster):
    """Whether what ticks fifty times a second did not for half of one."""
    before = cluster.read("tick")
    time.sleep(0.5)
    return cluster.read("tick") == before


def test_suspend_and_resume(cluster):
    job = cluster.wrap("while :; do date +%s%N > tick; sleep 0.02; done")
    cluster.wait_state(job, "RUNNING")
    wait_until(lambda: (cluster.home() / "tick").exists(), what="a tick")
    cluster.run(f"scontrol suspend {job}", user=None).ok()
    cluster.wait_state(job, "SUSPENDED")
    wait_until(lambda: stands_still(cluster), what="its processes to be stopped")
    frozen = cluster.read("tick")
    assert cluster.run(f"squeue -h -j {job} -o %Q").ok().out.strip() == cluster.show(job)["Priority"] == "0"
    assert json.loads(cluster.run(f"squeue --json -j {job}").ok().out)["jobs"][0]["priority"]["number"] == 0
    cluster.run(f"scontrol resume {job}", user=None).ok()
    cluster.wait_state(job, "RUNNING")
    assert cluster.show(job)["Priority"] != "0"
    wait_until(lambda: cluster.read("tick") not in (frozen, ""), what="it to go on")
    cluster.run(f"scancel {job}").ok()
    cluster.wait_end(job)


def test_drain_and_resume_a_node(cluster):
    job = cluster.wrap("sleep 300", "-w n3")
    cluster.wait_state(job, "RUNNING")
    refused = cluster.run("scontrol update nodename=n3 state=drain", user=None)
    assert refused.code == 1
    assert "You must specify a reason when DOWNING or DRAINING a node. Request denied" in refused.err
    cluster.run("scontrol update nodename=n3 state=drain reason='bad fan'", user=None).ok()
    assert cluster.node("n3")["State"] == "MIXED+DRAIN"
    waiting = cluster.wrap("true", "-w n3")
    wait_until(lambda: cluster.show(waiting)["Reason"].startswith("ReqNodeNotAvail"), what="the reason")
    assert re.search(r"bad fan\s+root\s+\S+\s+n3", cluster.run("sinfo -R", user=None).out)
    cluster.run(f"scancel {job}")
    wait_until(lambda: cluster.node("n3")["State"] == "IDLE+DRAIN", what="drained")
    cluster.run("scontrol update nodename=n3 state=resume", user=None).ok()
    assert cluster.wait_end(waiting) == "COMPLETED"


def test_partitions_can_be_closed_made_and_deleted(cluster):
    cluster.run("scontrol update partitionname=gpu state=down", user=None).ok()
    job = cluster.wrap("true", "-p gpu")
    wait_until(lambda: cluster.show(job)["Reason"] == "PartitionDown", what="PartitionDown")
    cluster.run("scontrol update partitionname=gpu state=up", user=None).ok()
    assert cluster.wait_end(job) == "COMPLETED"
    cluster.run("scontrol create partitionname=extra nodes=n[1-2]", user=None).ok()
    assert "Nodes=n[1-2]" in cluster.run("scontrol show partition extra").out
    cluster.run("scontrol delete partitionname=extra", user=None).ok()
    assert cluster.run("scontrol show partition extra").code == 1


def test_top_and_hold_of_others_work(cluster):
    blocker = cluster.wrap("sleep 300", "-N4 --exclusive")
    cluster.wait_state(blocker, "RUNNING")
    first, second = cluster.wrap("sleep 1", "-N4 --exclusive"), cluster.wrap("sleep 1", "-N4 --exclusive")
    cluster.run(f"scontrol top {second}", user=None).ok()
    cluster.run(f"scancel {blocker}").ok()
    cluster.wait_state(second, "RUNNING", "COMPLETED")
    assert cluster.state(first) == "PENDING"
    cluster.run(f"scancel {first} {second}")


def test_memory_limit_kills_the_job_that_passed_it(cluster):
    job = cluster.wrap("python3 -c \"x = bytearray(600 << 20); print(len(x))\"; exit $?", "--mem=100 -o oom.out")
    assert cluster.wait_end(job) == "OUT_OF_MEMORY", cluster.read("oom.out")


def test_cores_are_ones_own(make_cluster):
    cores = len(__import__("os").sched_getaffinity(0))
    nodes = (f"NodeName=n1 NodeHostname={{host}} CPUs={cores} RealMemory=1000\n"
             "PartitionName=debug Nodes=n1 Default=YES MaxTime=INFINITE State=UP\n")
    cluster = make_cluster(nodes=nodes, names=["n1"])
    show = "python3 -c 'import os; print(sorted(os.sched_getaffinity(0)))'"
    jobs = [cluster.wrap(f"{show} > aff.$SLURM_JOB_ID; sleep 300", "-n1 --mem=10") for _ in range(cores)]
    seen = []
    for job in jobs:
        wait_until(lambda: (cluster.home() / f"aff.{job}").exists() and cluster.read(f"aff.{job}"), what=f"job {job}")
        seen.append(cluster.read(f"aff.{job}").strip())
    assert len(set(seen)) == cores and all(len(eval(s)) == 1 for s in seen)
    cluster.run("scancel --me")


def test_nothing_is_left_when_the_script_ends(cluster):
    job = cluster.wrap("(setsid nohup sleep 888 >/dev/null 2>&1 &) ; sleep 0.1; echo done", "-o daemon.out")
    assert cluster.wait_end(job) == "COMPLETED"
    wait_until(lambda: not cluster.leftovers(), what="the daemonised child to be gone")
