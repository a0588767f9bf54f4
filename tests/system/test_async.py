"""srun --async, whose steps go on without it, and swait, which waits for them."""

import pytest

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
    assert out == (f"Submitted step {job}.0\n{job}.0\nJobId={job} steps drained\nswait 0\n"
                   "task 0 of 0\ntask 1 of 0\n" f"{job}.0|COMPLETED|0:0\n")


def test_how_a_step_ended_is_told(cluster):
    job, out = run_job(cluster, """
        slow=$(srun --async --parsable --overlap -n1 -o slow.out bash -c 'while [ ! -e end ]; do sleep 0.1; done; exit 7')
        swait --timeout=1 $slow; echo timeout $?
        (swait -v $slow; echo step $?) > step.out 2> step.err &
        (swait -v --follow; echo all $?) > all.out 2> all.err &
        until grep -q waiting step.err && grep -q waiting all.err; do sleep 0.1; done
        touch end; wait; cat step.out all.out
        swait $slow; echo gone $?
        swait; echo nothing $?
        rm end""", "-n2")
    assert out == (f"timeout 2\nStepId={job}.0 code=7:0\nstep 0\nStepId={job}.0 code=7:0\nJobId={job} steps drained\nall 0\n"
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
        for options in '--pty' '-l' '-K' '-W 5' '--mpi=pmi2' '-o 0'; do srun --async $options true; echo $?; done""", "-n1")
    assert out.count("srun does not stay") == 6 and out.count("\n1\n") == 6, out
    assert "--async is for steps inside an allocation" in cluster.run("srun --async true").err
    assert "--parsable requires --async" in cluster.run("srun --parsable true").err


def test_what_swait_refuses(cluster):
    assert "no job was given" in cluster.run("swait").err
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
    assert said.code == 1 and "Access/permission denied" in said.err
    cluster.run(f"scancel {job}").ok()
