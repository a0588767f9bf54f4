"""Daemons come and go; jobs stay."""

import os
import signal
import subprocess

import pytest

from cluster import kill, stepds_of
from world import wait_until


def test_a_job_survives_the_restart_of_controller_and_agent(make_cluster):
    cluster = make_cluster(names=["n1"])
    job = cluster.wrap("echo begin; while [ ! -e go ]; do sleep 0.05; done; echo end", "-o long.out")
    cluster.wait_state(job, "RUNNING")
    kill(cluster.controller, signal.SIGKILL)
    kill(cluster.agents["n1"], signal.SIGKILL)
    cluster.start_agent("n1")
    cluster.start_controller()
    cluster.wait_ready()
    assert cluster.state(job) == "RUNNING"
    cluster.write("go", "")
    assert cluster.wait_end(job) == "COMPLETED"
    assert cluster.read("long.out") == "begin\nend\n"


def test_an_end_while_nobody_listens_is_not_lost(make_cluster):
    cluster = make_cluster(names=["n1"])
    job = cluster.wrap("touch begun; while [ ! -e go ]; do sleep 0.05; done; touch done; exit 7")
    wait_until(lambda: (cluster.home() / "begun").exists(), what="the script to begin")
    kill(cluster.controller, signal.SIGKILL)
    kill(cluster.agents["n1"], signal.SIGKILL)
    cluster.write("go", "")
    wait_until(lambda: (cluster.home() / "done").exists(), what="the script to end")
    cluster.start_controller()
    cluster.start_agent("n1")
    cluster.wait_ready()
    assert cluster.wait_end(job) == "FAILED"
    assert cluster.show(job)["ExitCode"] == "7:0"


@pytest.mark.slow
def test_the_time_limit_holds_while_the_controller_is_away(make_cluster):
    cluster = make_cluster(names=["n1"])
    job = cluster.wrap("sleep 600", "-t 1 -o tl.out")
    cluster.wait_state(job, "RUNNING")
    kill(cluster.controller, signal.SIGKILL)
    wait_until(lambda: (cluster.home() / "tl.out").exists() and "DUE TO TIME LIMIT" in cluster.read("tl.out"), 90, "the limit")
    cluster.start_controller()
    cluster.wait_ready()
    assert cluster.wait_end(job) == "TIMEOUT"


def test_srun_lives_through_a_controller_restart(make_cluster):
    cluster = make_cluster(names=["n1"])
    process = cluster.popen("srun -J lives bash -c 'echo begin; while [ ! -e go ]; do sleep 0.05; done; echo end'",
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout.readline() == "begin\n"
    kill(cluster.controller, signal.SIGKILL)
    cluster.start_controller()
    cluster.wait_ready()
    cluster.write("go", "")
    out, err = process.communicate(timeout=120)
    assert (out, process.returncode) == ("end\n", 0), err
    wait_until(lambda: cluster.run("squeue -h").out == "", what="the allocation to go")


def test_a_node_that_dies_loses_its_jobs_and_the_rest_go_on(make_cluster):
    cluster = make_cluster(names=["n1", "n2"], extra="SlurmdTimeout=2\n", nodes=(
        "NodeName=n[1-2] NodeHostname={host} CPUs=2 RealMemory=1000\n"
        "PartitionName=debug Nodes=n[1-2] Default=YES MaxTime=INFINITE State=UP\n"))
    stays = cluster.wrap("sleep 300", "-w n2")
    dies = cluster.wrap("sleep 300", "-w n1 --no-requeue")
    again = cluster.wrap("while [ ! -e go ]; do sleep 0.05; done", "-w n1 --requeue")
    for job in (stays, dies, again):
        cluster.wait_state(job, "RUNNING")
    wait_until(lambda: len(stepds_of(cluster.dir)) == 3, what="their stepds")  # Not only on their way.
    kill(cluster.agents["n1"], signal.SIGKILL)
    for pid in stepds_of(cluster.dir / "spool" / "n1"):
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: cluster.run("sinfo -h -n n1 -o %T", user=None).out.startswith("down"), 60, "n1 to be down")
    assert cluster.wait_end(dies) == "NODE_FAIL"
    assert cluster.state(again) in ("PENDING", "COMPLETING") and cluster.state(stays) == "RUNNING"
    cluster.start_agent("n1")
    cluster.write("go", "")
    assert cluster.wait_end(again) == "COMPLETED"
    assert cluster.show(again)["Restarts"] == "1"
    cluster.run(f"scancel {stays}")


def test_commands_say_when_there_is_no_controller(make_cluster):
    cluster = make_cluster(names=["n1"])
    kill(cluster.controller, signal.SIGTERM)
    kill(cluster.agents["n1"], signal.SIGTERM)
    said = cluster.run("squeue")
    assert said.code == 1 and said.err.startswith("slurm_load_jobs error: Unable to contact slurm controller")
    assert cluster.run("sbatch --wrap true", timeout=90).code == 1


def files_of(pid):
    """The paths of what a process has open."""
    found = set()
    for descriptor in os.listdir(f"/proc/{pid}/fd"):
        try:
            found.add(os.readlink(f"/proc/{pid}/fd/{descriptor}"))
        except OSError:
            pass
    return found


@pytest.mark.parametrize("sig", [signal.SIGHUP, signal.SIGUSR2])
def test_logs_that_were_moved_away_are_opened_anew(make_cluster, sig):
    made = make_cluster()
    stepds = set(wait_until(lambda: stepds_of(made.dir, idle=True), what="stepds that wait for a step"))
    for daemon, name in [(made.controller, "controller.log"), (made.agents["n1"], "agent-n1.log")]:
        log = made.dir / "log" / name
        rotated = log.with_suffix(".old")
        log.rename(rotated)
        daemon.send_signal(sig)
        wait_until(log.exists, what=f"a new {log}")
        opened = wait_until(lambda: now if str(rotated) not in (now := files_of(daemon.pid)) else None, what=f"the end of {rotated}")
        assert str(log) in opened
    # What is started from now on writes to the new file too.
    job = made.wrap("sleep 300", "-w n1")
    made.wait_state(job, "RUNNING")
    of_job = [pid for pid in set(stepds_of(made.dir)) - stepds if str(made.dir / "log" / "agent-n1.log") in files_of(pid)]
    assert len(of_job) == 1, {pid: files_of(pid) for pid in stepds_of(made.dir, idle=True)}
    made.run(f"scancel {job}").ok()
    assert made.wait_end(job) == "CANCELLED"
