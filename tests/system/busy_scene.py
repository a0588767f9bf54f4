"""A busy cluster like the one a real Slurm was asked about: the same jobs, ids, nodes and cards."""

from world import wait_until

# Asked for by variables, so that the command lines are the real one's.
ACCOUNT = {f"{command}_{what}": value for command in ("SBATCH", "SALLOC", "SLURM")
           for what, value in (("ACCOUNT", "test"), ("QOS", "normal"))}
# Ids begin at 121. The array takes 126, 127 and 128.
RUNNING = [
    ("-J gpujob -p gpu --gres=gpu:1 -t 30", "sleep 900"),
    ("-J gpu2x2 -p gpu --gres=gpu:rtx4000:2 -N2 -t 30", "sleep 900"),
    ("-J shardjob --gres=shard:16 -t 30", "sleep 900"),
    ("-J shardjob --gres=shard:16 -t 30", "sleep 900"),
    ("-J twonode -N2 --ntasks-per-node=2 -t 20", "srun sleep 900"),
    ("-J arr --array=1-8%2 -t 10", "sleep 900"),
]
WAITING = [
    ("-J big -N4 --exclusive -t 1:00:00", "sleep 60", "Resources"),
    ("-J held -H", "true", "JobHeldUser"),
    ("-J dep -d afterok:121", "true", "Dependency"),
    ("-J later --begin=now+1hour", "true", "BeginTime"),
    ("-J closedjob -p closed", "true", "PartitionDown"),
    ("-J gpuwait -p gpu --gres=gpu:2 -N2 -t 30", "true", "Nodes required for job are DOWN"),
]


def submit(cluster, script, options):
    return cluster.wrap(script, options, env=ACCOUNT)


def fill(cluster):
    """Starts and queues the jobs of the scene, each when the one before is where it belongs."""
    # The second was more urgent there and had its nodes first.
    cluster.run("scontrol update nodename=n[1-4] state=drain reason=scene", user=None).ok()
    assert submit(cluster, RUNNING[0][1], RUNNING[0][0]) == 121
    cluster.run("scontrol hold 121").ok()
    cluster.run("scontrol update nodename=n[1-4] state=resume", user=None).ok()
    submit(cluster, RUNNING[1][1], RUNNING[1][0])
    cluster.wait_state(122, "RUNNING")
    cluster.run("scontrol release 121").ok()
    cluster.wait_state(121, "RUNNING")
    for options, script in RUNNING[2:]:
        job = submit(cluster, script, options)
        wait_until(lambda: "RUNNING" in cluster.run(f"squeue -h -r -j {job} -o %T").out, 60, f"a start of {job}")
    cluster.wait_state("126_2", "RUNNING")
    jobs = [(submit(cluster, script, options), reason) for options, script, reason in WAITING]
    assert [job for job, _ in jobs] == list(range(129, 135))
    for job, reason in jobs:
        wait_until(lambda: cluster.run(f"squeue -h -j {job} -o %r").out.startswith(reason), 60, f"{job} to wait for {reason}")
    wait_until(lambda: "125.0" in cluster.run("squeue -h -s -j 125 -o %i").out, 60, "the step of 125")
    # What runs has run for a second, so that no time is nothing; what a node reports has arrived.
    wait_until(lambda: cluster.run("squeue -h -r -j 126_2 -o %M").out.strip() not in ("", "0:00"), 60, "a second")
    wait_until(lambda: "CPULoad=N/A" not in cluster.run("scontrol show node").out, 60, "the nodes' loads")
