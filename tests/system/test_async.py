"""srun --async, whose steps run without it and wait for room without it, and swait, which waits for them."""

import pathlib
import signal

import pytest

from cluster import kill
from world import is_root, wait_until


def run_job(cluster, script, options="-N2 -n2"):
    job = cluster.wrap(script, f"{options} -o job.out")
    assert cluster.wait_end(job) == "COMPLETED", cluster.read("job.out")
    return job, cluster.read("job.out")


def test_steps_go_on_without_their_srun(cluster):
    job, out = run_job(cluster, """
        srun --async -n2 -N2 bash -c 'while [ ! -e go ]; do sleep 0.1; done; echo task $SLURM_PROCID of $SLURM_STEP_ID'
        pgrep -P $$ -x srun && echo an srun is left
        squeue -h -s -j $SLURM_JOB_ID -o %i | grep -v '[a-z]'
        touch go
        swait; echo swait $?
        cat slurm-$SLURM_JOB_ID.0.out | sort
        sacct -n -P -j $SLURM_JOB_ID.0 -o JobID,State,ExitCode
        rm go""")
    assert out == (f"Submitted step {job}.0\n{job}.0\nswait 0\n"
                   "task 0 of 0\ntask 1 of 0\n" f"{job}.0|COMPLETED|0:0\n")


def test_how_a_step_ended_is_told(cluster):
    job, out = run_job(cluster, """
        slow=$(srun --async --parsable --overlap -n1 -o slow.out bash -c 'while [ ! -e end ]; do sleep 0.1; done; exit 7')
        swait --timeout=1 $slow 2>&1; echo timeout $?
        (swait -v $slow; echo step $?) > step.out 2> step.err &
        (swait -v --follow; echo all $?) > all.out 2> all.err &
        until grep -qs waiting step.err && grep -qs waiting all.err; do sleep 0.1; done
        touch end; wait; cat step.out all.out
        swait $slow; echo gone $?
        swait; echo nothing $?
        rm end""", "-n2")
    assert out == (f"swait: error: timed out after 1 seconds\ntimeout 1\nStepId={job}.0 code=7:0\nstep 0\nStepId={job}.0 code=7:0\nJobId={job} steps drained\nall 0\n"
                   "gone 3\nnothing 0\n")


def test_a_step_that_is_cancelled_and_one_that_cannot_start(cluster):
    job = cluster.wrap("srun --async -o sleep.out sleep 600; srun --async -o none.out /nowhere/program; echo $?; "
                       "swait -Q; echo swait $?; sleep 600", "-n2 -o cancelled.out")
    cluster.wait_state(job, "RUNNING")
    wait_until(lambda: cluster.run(f"squeue -h -s -j {job} -o %i").out.count(".0"), 60, "the first step")
    cluster.run(f"scancel {job}.0").ok()
    wait_until(lambda: "swait 0" in cluster.read("cancelled.out"), 60, lambda: cluster.read("cancelled.out"))
    cluster.run(f"scancel {job}").ok()


def test_options_that_need_an_srun_are_refused(cluster):
    job, out = run_job(cluster, """
        for options in '-K' '-W 5' '-o 0' '--prolog=/bin/true' '--epilog=/bin/true'; do
            srun --async $options true; echo $?
        done
        for options in '--pty' '-I' '--mpi=pmi2'; do srun --async $options true; echo $?; done""", "-n1")
    assert out.count("srun does not stay") == 5 and out.count("\n1\n") == 8, out
    assert "--async and --pty are mutually exclusive." in out and "--immediate and --async are mutually exclusive." in out
    assert "--async does not support MPI type 'pmi2'" in out and "Use --mpi=none" in out
    assert "--async is for steps inside an allocation" in cluster.run("srun --async true").err
    assert "--parsable requires --async" in cluster.run("srun --parsable true").err


def test_a_step_without_its_srun_labels_its_lines(cluster):
    job, out = run_job(cluster, """
        srun --async -l -n2 -o lines bash -c 'echo out; echo err >&2'
        srun --async -l -n2 -o own.%t bash -c 'printf unended'
        swait -Q $SLURM_JOB_ID""", "-n2")
    assert sorted(cluster.read("lines").splitlines()) == ["0: err", "0: out", "1: err", "1: out"], out
    assert (cluster.read("own.0"), cluster.read("own.1")) == ("0: unended\n", "1: unended\n")


def test_what_swait_refuses(cluster):
    said = cluster.run("swait")
    assert said.code == 2 and "no job was given" in said.err
    assert cluster.run("swait --nonsense").code == 2 and cluster.run("swait --help").code == 0
    assert cluster.run("swait 99999").err == "swait: error: Invalid job id specified\n"
    assert "Invalid job or step: 1.batch" in cluster.run("swait 1.batch").err
    assert "mutually exclusive" in cluster.run("swait --follow 1.0").err
    held = cluster.wrap("true", "-H")
    assert f"Job {held} is still pending" in cluster.run(f"swait {held}").err
    cluster.run(f"scancel {held}").ok()


@pytest.mark.skipif(not is_root(), reason="needs root to be two users")
def test_nobody_waits_for_anothers_steps(cluster):
    job = cluster.wrap("srun sleep 600")
    cluster.wait_state(job, "RUNNING")
    said = cluster.run(f"swait {job}", user="bob")
    assert said.code == 2 and "Access/permission denied" in said.err
    cluster.run(f"scancel {job}").ok()


# A job with room for two tasks, of which the first step takes one until the file "first" is there.
QUEUE = """
    srun --async --exact -n1 -o first.out bash -c 'until [ -e first ]; do sleep 0.1; done; echo first'
    export WORD='with spaces'
    mkdir -p below; cd below
    srun --async --exact -n2 -o both.out bash -c 'echo $SLURM_PROCID $WORD $PWD >> log; exit $SLURM_PROCID'
    cd ..
    export WORD=other
    srun --async --exact -n2 bash -c 'echo third $1' - 'an argument'
"""


def step_states(cluster, job):
    said = cluster.run(f"sacct -n -P -j {job} -o JobID,State,ExitCode").ok().out.splitlines()
    return {line.split("|")[0].split(".")[1]: tuple(line.split("|")[1:]) for line in said if "." in line}


def text_of(cluster, name):
    """What a file holds by now, if it is there."""
    return cluster.run(f"cat {name} 2>/dev/null || true").ok().out


def start_queue(cluster, more="swait; echo swait $?"):
    cluster.run("rm -rf first below queue.out").ok()
    job = cluster.wrap(QUEUE + more, "-N1 -n2 -o queue.out")
    wait_until(lambda: text_of(cluster, "queue.out").count("Submitted step") == 3, 60, lambda: text_of(cluster, "queue.out"))
    return job


def test_a_step_without_room_is_queued_and_needs_no_process(cluster):
    job = start_queue(cluster)
    assert cluster.read("queue.out") == "".join(f"Submitted step {job}.{n}\n" for n in range(3))
    assert "srun" not in [pathlib.Path(f"/proc/{pid}/comm").read_text().strip() for pid in cluster.leftovers()]
    listed = cluster.run(f"squeue -h -s -j {job} -O StepID:.12,StepState:.12,NumTasks:.3,StartTime:.20").ok().out.splitlines()
    waiting = {line.split()[0]: line.split()[1:] for line in listed}
    assert waiting[f"{job}.0"][:2] == ["RUNNING", "1"] and waiting[f"{job}.1"] == waiting[f"{job}.2"] == ["PENDING", "2", "N/A"]
    shown = cluster.run(f"scontrol show step {job}.1").ok().out
    for part in ("StartTime=Unknown", "State=PENDING", "Nodes=1 CPUs=2 Tasks=2 Name=bash", "TRES=(null)", "Dist=Unknown"):
        assert part in shown, shown
    states = step_states(cluster, job)
    assert states["1"] == ("PENDING", "0:0") and states["0"] == ("RUNNING", "0:0")
    cluster.write("first", "")
    assert cluster.wait_end(job) == "COMPLETED"
    assert cluster.read("queue.out").endswith("swait 0\n")
    assert step_states(cluster, job)["1"] == ("FAILED", "1:0")
    home = cluster.home()
    assert sorted(cluster.read("below/log").splitlines()) == [f"{n} with spaces {home}/below" for n in range(2)]
    assert cluster.read(f"slurm-{job}.2.out") == "third an argument\n" * 2


def test_queued_steps_outlive_the_daemons(cluster):
    job = start_queue(cluster)
    for daemon in [cluster.controller, *cluster.agents.values()]:
        kill(daemon, signal.SIGKILL)
    for node in cluster.names:
        cluster.start_agent(node)
    cluster.start_controller()
    cluster.wait_ready()
    assert step_states(cluster, job)["1"] == ("PENDING", "0:0")
    # Begun by a controller that never heard of their srun, and ended while none was there.
    cluster.write("first", "")
    wait_until(lambda: len(text_of(cluster, "below/log").splitlines()) == 2, 60, "the second step")
    kill(cluster.controller, signal.SIGKILL)
    cluster.start_controller()
    cluster.wait_ready()
    wait_until(lambda: step_states(cluster, job).get("2") == ("COMPLETED", "0:0"), 60, lambda: step_states(cluster, job))
    assert cluster.read("below/log").count("with spaces") == 2 and step_states(cluster, job)["1"] == ("FAILED", "1:0")
    assert cluster.read(f"slurm-{job}.2.out") == "third an argument\n" * 2
    assert cluster.wait_end(job) == "COMPLETED" and cluster.read("queue.out").endswith("swait 0\n")


def test_a_queued_step_is_cancelled_alone_or_with_its_job(cluster):
    job = start_queue(cluster, "swait $SLURM_JOB_ID.1; echo swait $?; sleep 600")
    said = cluster.run(f"scancel -s USR1 {job}.1")
    assert "Invalid job/step id" in said.err or said.code != 0, said
    cluster.run(f"scancel {job}.1").ok()
    wait_until(lambda: "swait 0" in cluster.read("queue.out"), 60, lambda: cluster.read("queue.out"))
    assert f"StepId={job}.1 code=0:0 reason=CANCELLED" in cluster.read("queue.out")
    assert step_states(cluster, job)["1"] == ("CANCELLED", "0:0") and step_states(cluster, job)["2"][0] == "PENDING"
    cluster.run(f"scancel {job}").ok()
    assert cluster.wait_end(job) == "CANCELLED"
    assert step_states(cluster, job)["2"] == ("CANCELLED", "0:0")
    assert text_of(cluster, "below/log") == ""


def test_a_file_that_the_nodes_of_a_step_share_is_begun_anew(cluster):
    cluster.write("shared.out", "old\n")
    cluster.run("touch -d '1 hour ago' shared.out").ok()
    run_job(cluster, "srun --async -N2 -n4 -o shared.out bash -c 'echo $SLURM_PROCID'; swait", "-N2 -n4")
    assert sorted(cluster.read("shared.out").split()) == ["0", "1", "2", "3"]
    run_job(cluster, "srun --async -N2 -n4 --open-mode=append -o shared.out bash -c 'echo $SLURM_PROCID'; swait", "-N2 -n4")
    assert len(cluster.read("shared.out").split()) == 8
