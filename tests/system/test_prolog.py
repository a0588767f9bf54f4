"""Prolog and Epilog of the site, around jobs on their nodes; memory that jobs and steps may have."""

import os
import re
import signal

from cluster import kill
from world import wait_until

ONE_NODE = ("NodeName=n1 NodeHostname={host} CPUs=4 RealMemory=1000\n"
            "PartitionName=debug Nodes=n1 Default=YES MaxTime=INFINITE State=UP\n")
TWO_NODES = ONE_NODE.replace("n1", "n[1-2]")


def script(cluster, name, body):
    """A program beside slurm.conf, where one without an absolute path is looked for."""
    path = cluster.dir / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("#!/bin/sh\n" + body)
    path.chmod(0o755)


def log_of(cluster):
    path = cluster.dir / "scripts.log"
    return path.read_text() if path.exists() else ""


def record(cluster, word):
    return f'echo "{word} $SLURM_JOB_ID $SLURMD_NODENAME $SLURM_SCRIPT_CONTEXT" >> {cluster.dir}/scripts.log\n'


def test_they_run_once_around_a_job_with_what_they_must_know(make_cluster):
    cluster = make_cluster(names=["n1"], nodes=ONE_NODE, extra="Prolog=prolog.d/*\nEpilog=epilog\n")
    script(cluster, "prolog.d/10-first", record(cluster, "first") + f"env > {cluster.dir}/env.log; id -u >> {cluster.dir}/env.log\n")
    script(cluster, "prolog.d/20-second", record(cluster, "second"))
    script(cluster, "epilog", record(cluster, "last"))
    job = cluster.wrap("srun true; srun true; echo body", "-J named -o out")
    assert cluster.wait_end(job) == "COMPLETED"
    wait_until(lambda: "last" in log_of(cluster), what="the epilog")
    assert log_of(cluster).splitlines() == [f"first {job} n1 prolog_slurmd", f"second {job} n1 prolog_slurmd",
                                            f"last {job} n1 epilog_slurmd"]
    env = (cluster.dir / "env.log").read_text().splitlines()
    user = cluster.me() or cluster.run("id -un").out.strip()
    for line in (f"SLURM_JOB_ID={job}", "SLURM_JOB_NAME=named", "SLURM_JOB_PARTITION=debug", "SLURM_JOB_NODELIST=n1",
                 f"SLURM_JOB_USER={user}", f"SLURM_CONF={cluster.conf}", f"SLURM_CLUSTER_NAME={cluster.name}"):
        assert line in env, (line, env)
    assert env[-1] == str(os.geteuid())  # The agent's: root on a real node.
    assert not list((cluster.dir / "spool" / "n1").glob("prolog.*"))


def test_a_failing_prolog_drains_the_node_and_holds_the_job(make_cluster):
    cluster = make_cluster(names=["n1"], nodes=ONE_NODE, extra="Prolog=prolog\n")
    script(cluster, "prolog", "exit 3\n")
    job = cluster.wrap("touch ran")
    wait_until(lambda: "launch failed requeued held" in cluster.run(f"squeue -h -j {job} -o %r").out, what="the hold")
    shown = cluster.show(job)
    assert (shown["JobState"], shown["Restarts"]) == ("PENDING", "1"), shown
    wait_until(lambda: cluster.node("n1")["State"] == "IDLE+DRAIN", what="the drain")
    assert re.search(r"Prolog error\s+\S+\s+\S+\s+n1", cluster.run("sinfo -R", user=None).out)
    script(cluster, "prolog", "exit 0\n")
    cluster.run("scontrol update nodename=n1 state=resume", user=None).ok()
    cluster.run(f"scontrol release {job}", user=None).ok()
    assert cluster.wait_end(job) == "COMPLETED"
    assert (cluster.home(cluster.me()) / "ran").exists()


def test_a_failing_prolog_ends_an_srun(make_cluster):
    cluster = make_cluster(names=["n1"], nodes=ONE_NODE, extra="Prolog=prolog\n")
    script(cluster, "prolog", "exit 1\n")
    said = cluster.run("srun -J alone true", timeout=120)
    assert said.code != 0, said
    wait_until(lambda: cluster.run("squeue -h -n alone").out == "", what="the job to be gone")
    assert "DRAIN" in cluster.node("n1")["State"]


def test_a_prolog_and_an_epilog_that_take_too_long_are_killed(make_cluster):
    cluster = make_cluster(names=["n1"], nodes=ONE_NODE, extra="Epilog=epilog\nPrologEpilogTimeout=1\n")
    script(cluster, "epilog", "sleep 600 & sleep 600\n")
    job = cluster.wrap("true")
    assert cluster.wait_end(job) == "COMPLETED"
    wait_until(lambda: "Epilog error" in cluster.run("sinfo -R", user=None).out, what="the drain")


def test_alloc_prepares_every_node_of_an_allocation(make_cluster):
    cluster = make_cluster(names=["n1", "n2"], nodes=TWO_NODES, extra="Prolog=prolog\nEpilog=epilog\nPrologFlags=Alloc\n")
    script(cluster, "prolog", record(cluster, "before"))
    script(cluster, "epilog", record(cluster, "after"))
    said = cluster.run("salloc --no-shell -N2 -J idle").ok()
    job = re.search(r"Granted job allocation (\d+)", said.err)[1]
    wait_until(lambda: len(re.findall(f"before {job}", log_of(cluster))) == 2, what="both prologs")
    cluster.run(f"scancel {job}").ok()
    wait_until(lambda: len(re.findall(f"after {job}", log_of(cluster))) == 2, what="both epilogs")
    assert sorted(log_of(cluster).splitlines()) == [
        f"after {job} n1 epilog_slurmd", f"after {job} n2 epilog_slurmd",
        f"before {job} n1 prolog_slurmd", f"before {job} n2 prolog_slurmd"]
    assert cluster.wait_end(int(job)) == "CANCELLED"


def test_a_job_cancelled_during_its_prolog_never_runs(make_cluster):
    cluster = make_cluster(names=["n1"], nodes=ONE_NODE, extra="Prolog=prolog\nEpilog=epilog\n")
    script(cluster, "prolog", f"touch {cluster.dir}/begun; while [ ! -e {cluster.dir}/go ]; do sleep 0.05; done\n")
    script(cluster, "epilog", record(cluster, "after"))
    job = cluster.wrap("touch ran")
    wait_until(lambda: (cluster.dir / "begun").exists(), what="the prolog")
    cluster.run(f"scancel {job}").ok()
    (cluster.dir / "go").touch()
    assert cluster.wait_end(job) == "CANCELLED"
    assert log_of(cluster) == f"after {job} n1 epilog_slurmd\n"
    assert not (cluster.home(cluster.me()) / "ran").exists()


def test_a_new_prolog_takes_effect_with_reconfigure(make_cluster):
    cluster = make_cluster(names=["n1"], nodes=ONE_NODE, extra="Prolog=before\n")
    script(cluster, "before", record(cluster, "before"))
    script(cluster, "after", record(cluster, "after"))
    assert cluster.wait_end(cluster.wrap("true")) == "COMPLETED"
    text = cluster.conf.read_text()
    cluster.conf.write_text(text.replace("Prolog=before", "Prolog=after"))
    cluster.run("scontrol reconfigure", user=None).ok()
    # No connection is lost by it, and the agent has taken it over before its next order.
    job = cluster.wrap("true")
    assert cluster.wait_end(job) == "COMPLETED"
    assert log_of(cluster).splitlines()[-1] == f"after {job} n1 prolog_slurmd"
    # An agent that was away meanwhile reads its file when it is back.
    kill(cluster.controller, signal.SIGTERM)
    cluster.conf.write_text(text)
    cluster.start_controller()
    cluster.wait_ready()
    wait_until(lambda: (cluster.dir / "log" / "agent-n1.log").read_text().count("configuration read again") == 2,
               what="the agent to read it")
    job = cluster.wrap("true")
    assert cluster.wait_end(job) == "COMPLETED"
    assert log_of(cluster).splitlines()[-1] == f"before {job} n1 prolog_slurmd"


def test_more_memory_per_cpu_than_allowed_is_more_cpus(make_cluster):
    cluster = make_cluster(names=["n1"], nodes=ONE_NODE, extra="MaxMemPerCPU=100\n")
    job = cluster.wrap("true", "-H --mem-per-cpu=250")
    shown = cluster.show(job)
    assert (shown["CPUs/Task"], shown["MinMemoryCPU"]) == ("3", "84M"), shown
    job = cluster.wrap("true", "-H --mem=250")
    assert cluster.show(job)["MinCPUsNode"] == "3", cluster.show(job)


def test_a_job_beyond_the_partitions_memory_waits_or_is_refused(make_cluster):
    limited = ONE_NODE.replace("State=UP", "MaxMemPerNode=300 State=UP")
    cluster = make_cluster(names=["n1"], nodes=limited)
    job = cluster.wrap("true", "--mem=400")
    wait_until(lambda: cluster.show(job)["Reason"] == "MaxMemPerLimit", what="the reason")
    assert cluster.wait_end(cluster.wrap("true", "--mem=300")) == "COMPLETED"
    strict = make_cluster(names=["n1"], nodes=limited, extra="EnforcePartLimits=ALL\n")
    said = strict.run("sbatch --mem=400 --wrap true")
    assert said.code == 1
    assert said.err == "sbatch: error: Batch job submission failed: Memory required by task is not available\n", said


def test_steps_share_the_memory_of_their_job(cluster):
    cluster.write("two.sh", """\
        #!/bin/bash
        srun -n1 --exact --mem=300 bash -c 'touch first; while [ ! -e go ]; do sleep 0.05; done' &
        while [ ! -e first ]; do sleep 0.05; done
        srun -n1 --overlap --mem=300 touch overlapped
        srun -n1 --exact --mem=100 touch small
        srun -n1 --exact --mem=300 touch second &
        srun -n1 --exact --mem=500 true; echo "too much: $?"
        touch asked
        wait
        """)
    job = cluster.sbatch("-n4 --mem=400 -o two.out two.sh")
    home = cluster.home(cluster.me())
    wait_until(lambda: (home / "asked").exists() and "temporarily disabled" in cluster.read("two.out"), what="the wait")
    assert (home / "overlapped").exists() and (home / "small").exists() and not (home / "second").exists()
    cluster.write("go", "")
    assert cluster.wait_end(job) == "COMPLETED"
    assert (home / "second").exists()
    text = cluster.read("two.out")
    assert f"srun: Job {job} step creation temporarily disabled, retrying (Requested nodes are busy)" in text, text
    assert "srun: error: Unable to create step for job" in text and "Memory required by task is not available" in text
    assert "too much: 1" in text
