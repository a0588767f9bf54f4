"""strigger: programs that are run when something happens."""

import signal

import pytest

from cluster import kill
from world import is_root, wait_until

HEADER = "TRIG_ID RES_TYPE   RES_ID TYPE                                OFFSET USER     FLAGS PROGRAM\n"


def teller(made, name="tell", user="alice"):
    """A program that notes its user and its arguments."""
    log = made.home(user if is_root() else None) / f"{name}.log"
    path = made.write(f"{name}.sh", f'#!/bin/sh\necho "$(id -un) $*" >> {log}\n', user=user, mode=0o755)
    return path, lambda: log.read_text() if log.exists() else ""


def name_of(made, user="alice"):
    return user if is_root() else made.run("id -un").out.strip()


def test_a_node_that_goes_down_and_comes_up(cluster):
    program, told = teller(cluster)
    me = name_of(cluster)
    cluster.run(f"strigger --set --node --down --program='{program} extra word'").ok()
    cluster.run(f"strigger --set --node=n[2-3] --up --flags=PERM --program={program}").ok()
    shown = cluster.run("strigger --get").ok().out
    assert shown == HEADER + (
        f"      1 node            * down                                     0 {me:<8}       {program} extra word\n"
        f"      2 node       n[2-3] up                                       0 {me:<8} PERM  {program}\n")
    cluster.run("scontrol update nodename=n[2-3] state=down reason=test", user=None).ok()
    wait_until(lambda: told() == f"{me} extra word n[2-3]\n", 60, told)
    cluster.run("scontrol update nodename=n[2-3] state=resume", user=None).ok()
    wait_until(lambda: told() == f"{me} extra word n[2-3]\n{me} n[2-3]\n", 60, told)
    assert cluster.run("strigger --get -N --node").ok().out.split()[:4] == ["2", "node", "n[2-3]", "up"]
    cluster.run("strigger --clear --id=2").ok()
    assert cluster.run("strigger --get").ok().out == ""


def test_the_end_of_a_job_and_of_its_time(cluster):
    program, told = teller(cluster, "job")
    me = name_of(cluster)
    job = cluster.wrap("sleep 600", "-t 10")
    cluster.wait_state(job, "RUNNING")
    cluster.run(f"strigger --set -j {job} --fini -p {program}").ok()
    cluster.run(f"strigger --set --jobid={job} --time --offset=-600 --program={program}").ok()
    wait_until(lambda: told() == f"{me} {job}\n", 60, "the time trigger, ten minutes before the end")
    assert cluster.run(f"strigger --get --jobid={job}").ok().out.splitlines()[1].split()[1:5] == ["job", str(job), "fini", "0"]
    cluster.run(f"scancel {job}").ok()
    wait_until(lambda: told() == f"{me} {job}\n{me} {job}\n", 60, "the fini trigger")
    assert cluster.run(f"strigger --set -j {job} --fini -p {program}").err == \
        "slurm_set_trigger: Job/step already completing or completed\n"


def test_triggers_outlive_the_controller_and_are_run_after_their_offset(make_cluster):
    made = make_cluster(names=("n1",))
    program, told = teller(made)
    me = name_of(made)
    made.run(f"strigger --set --node=n1 --down --offset=1 --program={program}").ok()
    made.run(f"strigger --set --primary_slurmctld_resumed_operation --program={program}").ok()
    made.run(f"strigger --set --node --drained --program={program}").ok()
    kill(made.controller, signal.SIGKILL)
    made.start_controller()
    wait_until(lambda: "primary_slurmctld_resumed_operation" in told(), 60, told)
    made.wait_ready()
    made.run("scontrol update nodename=n1 state=drain reason=test", user=None).ok()
    wait_until(lambda: f"{me} n1\n" in told(), 60, told)
    made.run("scontrol update nodename=n1 state=down reason=test", user=None).ok()
    wait_until(lambda: told().count(f"{me} n1\n") == 2, 60, told)
    assert made.run("strigger --get").ok().out == ""
    # All are gone, and so is the controller that gave them their numbers: 4 is next.
    kill(made.controller, signal.SIGKILL)
    made.start_controller()
    made.wait_ready()
    made.run(f"strigger --set --node=n1 --up --program={program}").ok()
    assert made.run("strigger --get").ok().out.splitlines()[1].split()[0] == "4"


@pytest.mark.skipif(not is_root(), reason="needs root to be two users")
def test_only_its_owner_and_root_remove_a_trigger(cluster):
    program, _ = teller(cluster, "own")
    cluster.run(f"strigger --set --node=n4 --down --program={program}", user="alice").ok()
    shown = cluster.run("strigger --get --user=alice", user="bob").ok().out.splitlines()
    number = shown[1].split()[0]
    said = cluster.run(f"strigger --clear --id={number}", user="bob")
    assert (said.code, said.err) == (1, "slurm_clear_trigger: Access/permission denied\n")
    assert cluster.run("strigger --clear --user=alice -Q", user="bob").code == 0
    assert cluster.run(f"strigger --get --id={number}", user="bob").out
    cluster.run("strigger --clear --user=alice -v", user=None).ok()
    assert not cluster.run(f"strigger --get --id={number}", user="bob").out
    said = cluster.run(f"strigger --clear --id={number}", user="alice")
    assert (said.code, said.err) == (1, "slurm_clear_trigger: No such process\n")
    assert cluster.run(f"strigger -Q --clear --id={number}", user="alice").code == 0


def test_what_cannot_be_set(cluster):
    program, _ = teller(cluster, "bad")
    for options, words in (
            ("--get --set", "You must use exactly one of the following options: --set, --get or --clear"),
            ("--clear", "You must specify a --id, --jobid, or --user to clear"),
            (f"--set -p {program}", "You must specify a trigger"),
            ("--set --down", "You must specify a --program value"),
            ("--set --down -p tell", 'The --program value must start with "/"'),
            ("--set --down -p /nowhere/tell", "Invalid --program value, file not found"),
            ("--set --down -p /tmp", "Invalid --program value, not regular file"),
            (f"--set --fini -p {program}", "You must specify a --jobid value"),
            (f"--set --down -o 40000 -p {program}", "The --offset parameter must be between +/-32000"),
            (f"--set --down --flags=forever -p {program}", "Invalid flags forever"),
            (f"--set --node=n9 --down -p {program}", "Invalid node name specified"),
            (f"--set -j 99999 --fini -p {program}", "Invalid job id specified"),
            (f"--set --primary_slurmdbd_failure -p {program}", "--primary_slurmdbd_failure: there is no database daemon"),
            (f"--set --backup_slurmctld_failure -p {program}", "--backup_slurmctld_failure: there is no backup controller"),
            (f"--set --front_end --down -p {program}", "--front_end: there are no front end nodes")):
        said = cluster.run(f"strigger {options}")
        assert said.code == 1 and words in said.err, f"{options}: {said!r}"
    cluster.run(f"strigger --set --node=n1 --fail -p {program}").ok()
    assert cluster.run(f"strigger --set --node=n1 --fail -p {program}").err == "slurm_set_trigger: Duplicate event trigger\n"
    cluster.run("strigger --clear --user=$(id -u)").ok()
