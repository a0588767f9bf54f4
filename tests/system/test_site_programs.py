"""PrologSlurmctld and EpilogSlurmctld: the site's programs around jobs, beside the controller."""

import os
import signal

from cluster import kill
from test_prolog import ONE_NODE, log_of, script
from world import wait_until

BOTH = "PrologSlurmctld=before.d/*\nEpilogSlurmctld=after\n"


def record(cluster, word):
    return f'echo "{word} $SLURM_JOB_ID $SLURM_SCRIPT_CONTEXT" >> {cluster.dir}/scripts.log\n'


def wait_for(cluster, name):
    """The program goes on when this file is there."""
    return f"while [ ! -e {cluster.dir}/{name} ]; do sleep 0.05; done\n"


def lines(cluster):
    return log_of(cluster).splitlines()


def test_a_job_is_configuring_until_its_prolog_has_ended(make_cluster):
    cluster = make_cluster(names=["n1"], nodes=ONE_NODE, extra=BOTH)
    script(cluster, "before.d/10-first", record(cluster, "first") + f"env > {cluster.dir}/before.env\n")
    script(cluster, "before.d/20-second", wait_for(cluster, "go") + record(cluster, "second"))
    script(cluster, "after", record(cluster, "after") + f"env > {cluster.dir}/after.env\nid -u >> {cluster.dir}/after.env\n")
    job = cluster.wrap("touch ran; exit 3", "-J named --comment=why")
    wait_until(lambda: f"first {job} prolog_slurmctld" in lines(cluster), what="the first program")
    assert cluster.run(f"squeue -h -j {job} -o '%t %T %r %N'").out == "CF CONFIGURING None n1\n"
    shown = cluster.show(job)
    assert (shown["JobState"], shown["Reason"], shown["NodeList"]) == ("CONFIGURING", "None", "n1"), shown
    assert cluster.run("squeue -h -t CF -o %i").out == cluster.run("squeue -h -t R -o %i").out == f"{job}\n"
    assert not (cluster.home(cluster.me()) / "ran").exists()
    (cluster.dir / "go").touch()
    assert cluster.wait_end(job) == "FAILED"
    assert lines(cluster) == [f"first {job} prolog_slurmctld", f"second {job} prolog_slurmctld",
                              f"after {job} epilog_slurmctld"]
    before = (cluster.dir / "before.env").read_text().splitlines()
    for line in ("SLURM_JOB_NAME=named", "SLURM_JOB_NODELIST=n1", "SLURM_JOB_PARTITION=debug", "SLURM_JOB_COMMENT=why",
                 f"SLURM_CONF={cluster.conf}", f"SLURM_CLUSTER_NAME={cluster.name}"):
        assert line in before, (line, before)
    assert not [line for line in before if "EXIT_CODE" in line or line.startswith("SLURMD_NODENAME")]
    after = (cluster.dir / "after.env").read_text().splitlines()
    assert {"SLURM_JOB_EXIT_CODE=768", "SLURM_JOB_EXIT_CODE2=3:0", "SLURM_JOB_DERIVED_EC=0"} <= set(after), after
    assert after[-1] == str(os.geteuid())  # The controller's: SlurmUser.


def test_the_nodes_of_a_job_are_free_while_its_epilog_runs(make_cluster):
    cluster = make_cluster(names=["n1"], nodes=ONE_NODE, extra="EpilogSlurmctld=after\n")
    script(cluster, "after", f"[ $SLURM_JOB_NAME = first ] || exit 7\n{record(cluster, 'begins')}{wait_for(cluster, 'go')}")
    first = cluster.wrap("true", "-J first -n 4")
    second = cluster.wrap("touch second", "-J second -n 4")
    assert cluster.wait_end(second) == "COMPLETED"  # Though its own fails, which is only logged.
    assert lines(cluster) == [f"begins {first} epilog_slurmctld"]
    assert cluster.state(first) == "COMPLETING"
    dependent = cluster.wrap("true", f"-d afterok:{first}")
    assert cluster.state(dependent) == "PENDING"
    (cluster.dir / "go").touch()
    assert cluster.wait_end(first) == "COMPLETED"
    assert cluster.wait_end(dependent) == "COMPLETED"
    assert "EpilogSlurmctld of job 2" in (cluster.dir / "log" / "controller.log").read_text()


def test_a_failing_prolog_requeues_a_script_and_cancels_an_allocation(make_cluster):
    cluster = make_cluster(names=["n1"], nodes=ONE_NODE, extra="PrologSlurmctld=before\n")
    script(cluster, "before", f"[ -e {cluster.dir}/go ]\n")
    said = cluster.run("srun -J alone touch never", timeout=120)
    assert said.code != 0 and "PrologSlurmctld failed, job killed" in said.err, said
    wait_until(lambda: cluster.run("squeue -h -n alone").out == "", what="the job to be gone")
    assert "IDLE" in cluster.node("n1")["State"]
    once = cluster.wrap("touch never", "--no-requeue")
    assert cluster.wait_end(once) == "CANCELLED"
    job = cluster.wrap("touch ran")
    wait_until(lambda: int(cluster.show(job)["Restarts"]) > 0, what="the requeue")
    assert cluster.show(job)["Priority"] != "0"  # Not held.
    (cluster.dir / "go").touch()
    assert cluster.wait_end(job) == "COMPLETED"
    assert not (cluster.home(cluster.me()) / "never").exists()


def test_salloc_has_its_nodes_at_once_and_waits_until_they_are_ready(make_cluster):
    cluster = make_cluster(names=["n1"], nodes=ONE_NODE, extra="PrologSlurmctld=before\n")
    script(cluster, "before", wait_for(cluster, "go"))
    job = cluster.run("salloc -n2 sh -c 'echo runs > ran' > /dev/null 2> salloc.err & "
                      "until grep -q Waiting salloc.err; do sleep 0.05; done; cat salloc.err; squeue -h -o %i,%t; sinfo -h -o %t")
    assert job.ok().out == ("salloc: Granted job allocation 1\nsalloc: Waiting for resource configuration\n1,CF\nmix\n")
    assert not (cluster.home(cluster.me()) / "ran").exists()
    (cluster.dir / "go").touch()
    wait_until(lambda: "Relinquishing" in cluster.read("salloc.err"), what=lambda: cluster.read("salloc.err"))
    assert cluster.read("salloc.err") == ("salloc: Granted job allocation 1\nsalloc: Waiting for resource configuration\n"
                                          "salloc: Nodes n1 are ready for job\nsalloc: Relinquishing job allocation 1\n")
    assert cluster.read("ran") == "runs\n"
    (cluster.dir / "go").unlink()
    said = cluster.run(f"(sleep 1; touch {cluster.dir}/go) & srun -v -n1 echo there", user=None).ok()
    assert "srun: Waiting for resource configuration\n" in said.err and said.out == "there\n"


def test_a_prolog_that_takes_too_long_is_killed_and_one_of_a_cancelled_job_too(make_cluster):
    cluster = make_cluster(names=["n1"], nodes=ONE_NODE, extra="PrologSlurmctld=before\nPrologEpilogTimeout=2\n")
    script(cluster, "before", "[ $SLURM_JOB_NAME = quick ] && exit 0\nsleep 600 & sleep 600\n")
    slow = cluster.wrap("true", "-J slow --no-requeue")
    assert cluster.wait_end(slow) == "CANCELLED"
    assert "timed out" in (cluster.dir / "log" / "controller.log").read_text()
    ended = cluster.wrap("true", "-J ended")
    cluster.wait_state(ended, "CONFIGURING")
    cluster.run(f"scancel {ended}").ok()
    assert cluster.wait_end(ended) == "CANCELLED"
    assert cluster.wait_end(cluster.wrap("true", "-J quick")) == "COMPLETED"


def test_a_killed_controller_runs_the_prolog_again_and_the_job_once(make_cluster):
    cluster = make_cluster(names=["n1"], nodes=ONE_NODE, extra=BOTH)
    script(cluster, "before.d/one", record(cluster, "before") + f"echo $$ >> {cluster.dir}/pids\n" + wait_for(cluster, "go"))
    script(cluster, "after", record(cluster, "after") + wait_for(cluster, "gone"))
    job = cluster.wrap("echo ran >> ran")
    wait_until(lambda: len(lines(cluster)) == 1, what="the program")
    kill(cluster.controller, signal.SIGKILL)
    cluster.start_controller()
    cluster.wait_ready()
    wait_until(lambda: len(lines(cluster)) == 2, what="the program to be run again")
    first, second = (cluster.dir / "pids").read_text().split()
    wait_until(lambda: not os.path.exists(f"/proc/{first}"), what="what was left over to be gone")
    assert cluster.state(job) == "CONFIGURING" and os.path.exists(f"/proc/{second}")
    (cluster.dir / "go").touch()
    wait_until(lambda: len(lines(cluster)) == 3, what="the epilog")
    kill(cluster.controller, signal.SIGTERM)
    cluster.start_controller()
    cluster.wait_ready()
    wait_until(lambda: len(lines(cluster)) == 4, what="the epilog to be run again")
    (cluster.dir / "gone").touch()
    assert cluster.wait_end(job) == "COMPLETED"
    assert cluster.read("ran") == "ran\n"
    assert [line.split()[0] for line in lines(cluster)] == ["before", "before", "after", "after"]
