"""A deadline ends what waits, whatever else it waits for; and the controller lives."""

import signal

from cluster import kill


def answers(cluster):
    return cluster.run("squeue -h", timeout=10).ok()


def test_jobs_that_wait_for_something_else_end_at_their_deadline(make_cluster):
    cluster = make_cluster(names=["n1"])
    runs = cluster.wrap("sleep 300", "-t 10")
    cluster.wait_state(runs, "RUNNING")
    held = cluster.wrap("true", "-H --deadline=now+4")
    behind = cluster.wrap("true", f"-d afterok:{runs} --deadline=now+4")
    both = cluster.wrap("true", f"-H -d afterok:{runs} --begin=now+2 --deadline=now+4")
    array = cluster.wrap("true", "-H -a 0-3 --deadline=now+4")
    het = cluster.run("sbatch --parsable -H --deadline=now+4 -n1 : -n1 --wrap true").ok().out.strip()
    for job in (held, behind, both, array, het):
        assert cluster.wait_end(job) == "DEADLINE", job
    answers(cluster)
    assert cluster.state(runs) == "RUNNING"


def test_a_controller_that_starts_after_the_deadline(make_cluster):
    cluster = make_cluster(names=["n1"])
    held = cluster.wrap("true", "-H --deadline=now+2")
    kill(cluster.controller, signal.SIGKILL)
    later = cluster.run("sleep 3")
    assert later.code == 0
    cluster.start_controller()
    cluster.wait_ready()
    assert cluster.wait_end(held) == "DEADLINE"
    answers(cluster)


def test_a_deadline_that_cannot_be_met_is_refused(cluster):
    for options in ("--deadline=2020-01-01T00:00:00", "--begin=now+20 --deadline=now+10",
                    "-H --begin=now+20 --deadline=now+10"):
        said = cluster.run(f"sbatch {options} --wrap true")
        assert said.code == 1, options
        assert "deadline" in said.err, said.err
    held = cluster.wrap("true", "-H")
    said = cluster.run(f"scontrol update jobid={held} deadline=2020-01-01T00:00:00")
    assert said.code == 1 and "Invalid time specified" in said.err
    answers(cluster)
