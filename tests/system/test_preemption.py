"""Jobs of a partition with a higher tier take the room of others: cancelled, queued again or suspended."""

import re

from world import wait_until

PARTITIONS = """\
NodeName=n1 NodeHostname={{host}} CPUs=4 RealMemory=4000
PartitionName=low Nodes=n1 Default=YES MaxTime=INFINITE State=UP PriorityTier=1 {low}
PartitionName=high Nodes=n1 MaxTime=INFINITE State=UP PriorityTier=10
"""
BY_TIER = "PreemptType=preempt/partition_prio\nPreemptMode={mode}\n"


def start(make_cluster, mode, low="", extra=""):
    return make_cluster(nodes=PARTITIONS.format(low=low), names=("n1",), extra=BY_TIER.format(mode=mode) + extra)


def test_a_cancelled_job_is_warned_and_has_its_grace(make_cluster):
    cluster = start(make_cluster, "CANCEL", low="GraceTime=3")
    script = cluster.write("victim.sh", "#!/bin/bash\n#SBATCH -n4\n"
                           "trap 'echo script told >> heard; exit 0' TERM\n"
                           "srun -n1 bash -c 'trap \"echo task told >> heard\" TERM; echo up >> heard; "
                           "while :; do sleep 0.05; done' &\nwait\nwait\nsleep 300\n")
    victim = cluster.sbatch(str(script))
    wait_until(lambda: (cluster.home() / "heard").exists(), what="the task to be up")
    urgent = cluster.wrap("echo done > urgent", "-n4 -p high")
    wait_until(lambda: "task told" in cluster.read("heard"), what="the task to be warned")
    shown = cluster.show(victim)
    assert re.match(r"20\d\d-", shown["PreemptTime"]), shown
    assert re.match(r"20\d\d-", shown["PreemptEligibleTime"]), shown
    assert cluster.wait_end(victim) == "PREEMPTED"
    assert cluster.wait_end(urgent) == "COMPLETED"
    heard = cluster.read("heard").splitlines()
    assert heard[:2] == ["up", "task told"]
    assert sorted(heard[2:]) == ["script told", "task told"], "when the grace is over both are told"
    said = cluster.run(f"sacct -X -n -P -j {victim} -o State", user=None).ok()
    assert said.out.strip() == "PREEMPTED"
    assert "DUE TO PREEMPTION" in cluster.read(f"slurm-{victim}.out")


def test_a_requeued_job_runs_again_when_the_other_is_done(make_cluster):
    cluster = start(make_cluster, "REQUEUE")
    script = 'echo "run ${SLURM_RESTART_COUNT:-0}" >> runs; [ -n "$SLURM_RESTART_COUNT" ] || sleep 300'
    victim = cluster.wrap(script, "-n4 --mail-type=REQUEUE")
    wait_until(lambda: (cluster.home() / "runs").exists(), what="its first run")
    urgent = cluster.wrap("cp runs seen", "-n4 -p high")
    assert cluster.wait_end(urgent) == "COMPLETED"
    assert cluster.read("seen") == "run 0\n"
    assert cluster.wait_end(victim) == "COMPLETED"
    assert cluster.read("runs") == "run 0\nrun 1\n"
    assert cluster.show(victim)["Restarts"] == "1"
    history = cluster.run(f"sacct -X -D -n -P -j {victim} -o State", user=None).ok()
    assert history.out.split() == ["PREEMPTED", "COMPLETED"]


def test_a_requeue_survives_a_killed_controller(make_cluster):
    cluster = start(make_cluster, "REQUEUE", extra="KillWait=8\n")
    script = 'trap "" TERM; echo run >> runs; [ -n "$SLURM_RESTART_COUNT" ] || while :; do sleep 0.1; done'
    victim = cluster.wrap(script, "-n4")
    wait_until(lambda: (cluster.home() / "runs").exists(), what="its first run")
    urgent = cluster.wrap("true", "-n4 -p high")
    cluster.wait_state(victim, "COMPLETING", "PENDING")
    cluster.controller.kill()
    cluster.controller.wait()
    cluster.start_controller()
    assert cluster.wait_end(urgent) == "COMPLETED"
    assert cluster.wait_end(victim) == "COMPLETED"
    assert cluster.read("runs") == "run\nrun\n"


def test_a_suspended_job_stands_still_and_goes_on(make_cluster):
    cluster = start(make_cluster, "SUSPEND,GANG", extra="PreemptParameters=suspend_grace_time=0\n")
    victim = cluster.wrap("while [ ! -e stop ]; do date +%s%N > tick; sleep 0.02; done", "-n4 --mem=100")
    wait_until(lambda: (cluster.home() / "tick").exists(), what="a tick")
    urgent = cluster.wrap("cp tick a; while [ ! -e go ]; do sleep 0.05; done; cp tick b", "-n4 -p high --mem=100")
    cluster.wait_state(urgent, "RUNNING")
    assert cluster.state(victim) == "SUSPENDED"
    refused = cluster.run(f"scontrol resume {victim}", user=None)
    assert refused.code != 0 and "Requested nodes are busy" in refused.err
    cluster.write("go", "")
    assert cluster.wait_end(urgent) == "COMPLETED"
    assert cluster.read("a") == cluster.read("b")
    cluster.wait_state(victim, "RUNNING")
    wait_until(lambda: cluster.read("tick") not in (cluster.read("b"), ""), what="it to go on")
    cluster.write("stop", "")
    assert cluster.wait_end(victim) == "COMPLETED"


def test_what_is_shown_and_can_be_changed(make_cluster):
    cluster = start(make_cluster, "REQUEUE", low="GraceTime=7 PreemptMode=CANCEL",
                    extra="PreemptExemptTime=0:01:30\nPreemptParameters=youngest_first\n")
    config = cluster.run("scontrol show config", user=None).ok().out
    for line in (r"PreemptMode\s+= REQUEUE", r"PreemptType\s+= preempt/partition_prio",
                 r"PreemptExemptTime\s+= 00:01:30", r"PreemptParameters\s+= youngest_first"):
        assert re.search(line, config), line
    low = cluster.run("scontrol show partition low", user=None).ok().out
    assert "GraceTime=7 " in low and "PreemptMode=CANCEL" in low
    assert "PreemptMode=REQUEUE" in cluster.run("scontrol show partition high", user=None).ok().out
    modes = cluster.run("sinfo -h -O Partition,PreemptMode", user=None).ok().out
    assert {tuple(line.split()) for line in modes.splitlines()} == {("low*", "CANCEL"), ("high", "REQUEUE")}
    cluster.run("scontrol update PartitionName=low PreemptMode=OFF GraceTime=0", user=None).ok()
    low = cluster.run("scontrol show partition low", user=None).ok().out
    assert "GraceTime=0 " in low and "PreemptMode=OFF" in low
    refused = cluster.run("scontrol update PartitionName=low PreemptMode=sometimes", user=None)
    assert refused.code == 1
    job = cluster.wrap("sleep 300", "-n4")
    cluster.wait_state(job, "RUNNING")
    waiting = cluster.wrap("true", "-n4 -p high")
    assert cluster.state(waiting) == "PENDING"
    said = cluster.run(f"squeue -h -j {job} -O PreemptTime", user=None).ok().out
    assert said.split() == ["N/A"]
    cluster.run(f"scancel {job}").ok()
    assert cluster.wait_end(waiting) == "COMPLETED"


def test_suspension_without_gang_is_refused_while_running_too(make_cluster):
    cluster = start(make_cluster, "CANCEL")
    said = cluster.run("scontrol update PartitionName=low PreemptMode=SUSPEND", user=None)
    assert said.code == 1 and "requires GANG" in said.err, said
    assert "PreemptMode=CANCEL" in cluster.run("scontrol show partition low").ok().out
    cluster.run("scontrol update PartitionName=low PreemptMode=REQUEUE", user=None).ok()
    assert "PreemptMode=REQUEUE" in cluster.run("scontrol show partition low").ok().out
