"""Attempts of a second user to give orders that are not hers: to alice's jobs, and to the cluster."""

import time

import pytest

from hostile import end_jobs, mallory, needs_users, refused, spec_of, submit, unharmed  # noqa: F401
from raw_client import RawClient, messages
from world import USERS, stays, wait_until

pytestmark = needs_users

KILL = 9


@pytest.fixture(scope="module")
def victim(cluster):
    """A job of alice's that runs a step, and one that waits."""
    running = cluster.wrap("srun --overlap sleep 600", "-J precious -n 2", user="alice", env={"MY_SECRET": "hunter2"})
    waiting = cluster.wrap("echo secret-word", "-J patient -H", user="alice")
    cluster.wait_state(running, "RUNNING")
    wait_until(lambda: f"{running}.0" in cluster.run("squeue -h -s -o %i", user=None).out, what="the step")
    return running, waiting


@pytest.fixture(autouse=True)
def victim_unharmed(cluster, victim):
    """Nothing of alice's jobs has changed, whatever was tried."""
    running, waiting = victim
    watched = ("JobState", "Priority", "TimeLimit", "JobName", "Partition", "Comment", "Nice", "Requeue", "Restarts", "StdOut")

    def shown(job):
        record = cluster.show(job)
        return {key: record.get(key) for key in watched}

    before = shown(running), shown(waiting)
    assert before[0]["JobState"] == "RUNNING" and before[1]["JobState"] == "PENDING"
    yield
    assert (shown(running), shown(waiting)) == before
    assert f"{running}.0" in cluster.run("squeue -h -s -o %i", user=None).out


COMMANDS = [
    "scancel {running}", "scancel -s KILL {running}", "scancel -u alice", "scancel -n precious", "scancel -p debug -t RUNNING",
    "scancel {running}.0", "skill -9 {running}", "scontrol hold {waiting}", "scontrol release {waiting}",
    "scontrol uhold {waiting}", "scontrol requeue {running}", "scontrol requeuehold {running}", "scontrol suspend {running}",
    "scontrol resume {running}", "scontrol top {waiting}", "scontrol update jobid={running} timelimit=1",
    "scontrol update jobid={waiting} name=mine", "scontrol notify {running} hello", "srun --jobid={running} --overlap id",
    "sattach {running}.0", "sbcast -j {running} /etc/passwd /tmp/sy-x", "scontrol write batch_script {waiting} -",
    "sstat -a -j {running}", "scrontab -u alice -l", "scrontab -u alice -r", "scontrol update nodename=n1 state=down reason=x",
    "scontrol update partitionname=debug state=down", "scontrol create reservation starttime=now duration=5 users=mallory nodes=n1",
    "scontrol create partitionname=own nodes=n1", "scontrol reboot n1", "scontrol shutdown", "scontrol reconfigure",
    "scontrol token username=root", "scontrol token username=alice", "scontrol setdebug debug5", "sdiag --reset",
    "sbatch --uid=0 --wrap id", "scontrol delete partitionname=debug"]


@pytest.mark.parametrize("line", COMMANDS)
def test_no_command_gives_an_order_that_is_anothers(cluster, victim, line):
    running, waiting = victim
    said = cluster.run(line.format(running=running, waiting=waiting), user="mallory", timeout=60)
    assert "secret-word" not in said.out and "hunter2" not in said.out and "SLURM_JWT" not in said.out, said
    assert said.code != 0 or line.startswith(("scancel -", "skill", "scrontab -u alice -l")), said


def raw_orders(running, waiting):
    ids = [{"job": running}, {"job": waiting}, {"job": running, "all_elements": True}, {"job": running, "component": True}]
    one = [{"job": waiting}]
    alice = USERS["alice"]
    launch = {"argv": [b"/usr/bin/id"], "io_key": b"k" * 32}
    return {
        "cancelling it by number": {"signal": {"filter": {"jobs": ids}, "signal": KILL}},
        "cancelling its step": {"signal": {"filter": {"jobs": [{"job": running, "step": 0}]}, "signal": KILL}},
        "cancelling all jobs of its user": {"signal": {"filter": {"uids": [alice]}, "signal": KILL, "full": True}},
        "cancelling by its name": {"signal": {"filter": {"names": [b"precious"]}, "signal": KILL, "hurry": True}},
        "cancelling all there is": {"signal": {"filter": {}, "signal": KILL, "admin_comment": b"owned"}},
        "changing its time": {"update_job": {"jobs": ids, "update": {"time_limit": {"limit": {"seconds": 60}}}}},
        "changing where its output goes": {"update_job": {"jobs": ids, "update": {"std_out": b"/tmp/stolen"}}},
        "making it last": {"update_job": {"jobs": one, "update": {"nice": 100000, "priority": 1}}},
        "holding it": {"hold": {"jobs": ids, "hold": True}},
        "holding it as its user": {"hold": {"jobs": ids, "hold": True, "as_user": True}},
        "releasing it": {"hold": {"jobs": one, "hold": False}},
        "requeueing it": {"requeue": {"jobs": ids, "hold": True, "special_exit": True}},
        "suspending it": {"suspend": {"jobs": ids}},
        "moving it to the top": {"top": {"jobs": ids}},
        "taking its allocation over": {"attach": {"job": running}},
        "ending its allocation": {"release": {"job": running, "exit": {"code": 1}}},
        "running a step in it": {"create_step": {"job": running, "spec": {"name": b"x", "overlap": True}, "launch": launch, "nonce": 7}},
        "attaching to its step": {"attach_step": {"job": running, "step": 0, "io_key": b"k" * 32, "io_unix_path": b"/tmp/x"}},
        "asking for its step's layout": {"attach_step": {"job": running, "step": 0}},
        "writing into its output": {"notify": {"job": running, "text": b"hello"}},
        "reading its script": {"script": {"job": waiting}},
        "reading its script and environment from history": {"script": {"job": waiting, "history": True}},
        "listing its processes": {"pids": {"job": running, "node": b"n1"}},
        "measuring its steps": {"pids": {"job": running, "usage": True}},
        "reading its user's crontab": {"crontab": {"uid": alice, "action": 0}},
        "writing its user's crontab": {"crontab": {"uid": alice, "action": 1, "text": b"* * * * * id\n"}},
        "removing its user's crontab": {"crontab": {"uid": alice, "action": 2}},
        "draining a node": {"update_node": {"nodes": [b"n1"], "verb": 1, "reason": b"x"}},
        "ending a node": {"update_node": {"nodes": [b"n1"], "verb": 2, "reason": b"x"}},
        "giving a node another address": {"update_node": {"nodes": [b"n1"], "addresses": {"values": [b"10.0.0.1"]}}},
        "closing a partition": {"update_partition": {"action": 1, "name": b"debug", "state": 1}},
        "making a partition": {"update_partition": {"action": 0, "name": b"own", "nodes": {"values": [b"n1"]}}},
        "making a partition that there is": {"update_partition": {"action": 0, "name": b"debug", "nodes": {"values": [b"n1"]}}},
        "removing a partition": {"update_partition": {"action": 2, "name": b"closed"}},
        "reserving nodes": {"update_reservation": {"action": 0, "name": b"own", "duration": 60, "nodes": {"values": [b"n1"]},
                                                   "users": {"names": [{"name": b"mallory", "uids": [USERS["mallory"]]}]}}},
        "reading the configuration anew": {"reconfigure": {}},
        "stopping the controller": {"shutdown": {"controller_only": True}},
        "killing the controller": {"shutdown": {"abort": True}},
        "rebooting nodes": {"reboot": {"nodes": [b"n1"], "asap": True}},
        "silencing the log": {"log": {"level": 0}},
        "silencing a node's log": {"log": {"level": 0, "nodes": [b"n1"]}},
        "a token for root": {"token": {"user": b"root", "lifespan": 0}},
        "a token for its user": {"token": {"user": b"alice"}},
        "forgetting the figures": {"diag": {"reset": True}},
        "watching its steps end": {"wait_steps": {"job": running}},
    }


@pytest.mark.parametrize("what", raw_orders(1, 2))
@pytest.mark.parametrize("way", ["controller", "agent"])
def test_no_frame_gives_an_order_that_is_anothers(cluster, victim, what, way):
    """Straight to the controller, and by way of a node's agent."""
    body = raw_orders(*victim)[what]
    with RawClient(cluster.client_socket("n1" if way == "agent" else None), user="mallory") as client:
        reply = client.ask(**body)
    if "signal" in body and not reply.HasField("failure"):  # Jobs that are not hers are not among the found, or named as denied.
        return
    if reply.HasField("done"):
        assert len(reply.done.problems) > 0 and not reply.done.touched, reply
        return
    refused(reply)


def test_no_frame_changes_what_anothers_triggers_do(cluster):
    teller = cluster.write("alice.sh", "#!/bin/sh\ntrue\n", mode=0o755)
    cluster.run(f"strigger --set --node --down --flags=PERM --program={teller}").ok()
    ask = {"clear_triggers": {"uid": USERS["alice"]}}
    with mallory(cluster) as client:
        refused(client.ask(**ask))
    assert str(teller) in cluster.run("strigger --get").ok().out
    cluster.run(f"strigger --clear --user={USERS['alice']}").ok()


@pytest.mark.parametrize("forged", [{"uid": 0}, {"uid": 0, "gid": 0, "user": b"root", "group": b"root"},
                                    {"uid": USERS["alice"], "gid": USERS["alice"], "user": b"alice"}])
def test_a_job_that_says_it_is_anothers_runs_as_its_sender(cluster, forged):
    reply = submit(cluster, "id -u; id -g; id -G", **forged)
    job = reply.submitted.job
    assert cluster.wait_end(job) == "COMPLETED"
    me = USERS["mallory"]
    assert cluster.read(f"{job}.out", user="mallory") == f"{me}\n{me}\n{me}\n"
    assert f"({me})" in cluster.show(job)["UserId"]


def test_a_part_of_a_job_that_says_it_is_roots_runs_as_its_sender(cluster):
    reply = submit(cluster, "true", components=[{"uid": 0, "gid": 0, "user": b"root"}], hold=True)
    job = reply.submitted.job
    for offset in (0, 1):
        assert f"({USERS['mallory']})" in cluster.run(f"scontrol show job {job}+{offset}", user=None).ok().out
    end_jobs(cluster)


def test_a_line_of_a_crontab_that_says_it_is_roots_runs_as_its_sender(cluster):
    me = USERS["mallory"]
    line = {"spec": spec_of(cluster, uid=0, gid=0, user=b"root", cron=b"* * * * *"), "payload": {"script": b"#!/bin/sh\nid\n"}}
    with mallory(cluster) as client:
        reply = client.ask(crontab={"uid": me, "action": 1, "text": b"* * * * * id\n", "jobs": [line]})
        assert len(reply.crontab.jobs) == 1, reply
        assert f"({me})" in cluster.show(reply.crontab.jobs[0])["UserId"]
        client.ask(crontab={"uid": me, "action": 2})
    end_jobs(cluster)


def test_a_trigger_that_says_it_is_roots_is_its_senders(cluster):
    program = cluster.write("mine.sh", "#!/bin/sh\nid\n", user="mallory", mode=0o755)
    trigger = {"resource": 1, "type": 1, "uid": 0, "gid": 0, "user": b"root", "program": str(program).encode()}
    with mallory(cluster) as client:
        client.ask(set_triggers={"triggers": [trigger]})
        mine = [each for each in client.ask(triggers={}).triggers.triggers if each.program == trigger["program"]]
        assert all((each.uid, each.user) == (USERS["mallory"], b"mallory") for each in mine), mine
        client.ask(clear_triggers={"uid": USERS["mallory"]})


def test_nobody_gives_herself_a_priority(cluster):
    later = int(time.time() + 3600) * 1000
    ordinary = submit(cluster, begin=later).submitted.job
    highest = int(cluster.show(ordinary)["Priority"])
    for forged in ({"priority": 4294967290}, {"nice": -2147483648}, {"nice": -100}):
        reply = submit(cluster, begin=later, **forged)
        assert reply.HasField("failure") or int(cluster.show(reply.submitted.job)["Priority"]) <= highest, forged
        with mallory(cluster) as client:
            said = client.ask(update_job={"jobs": [{"job": ordinary}], "update": forged})
        assert said.HasField("failure") or said.done.problems, said
    assert int(cluster.show(ordinary)["Priority"]) == highest
    end_jobs(cluster)


def test_nobody_gives_a_running_job_more_time(cluster):
    for options in ("-p gpu", "-t 10"):  # By the partition's default, and by her own limit.
        job = cluster.wrap("sleep 600", options, user="mallory")
        cluster.wait_state(job, "RUNNING")
        before = cluster.show(job)["TimeLimit"]
        assert cluster.run(f"scontrol update jobid={job} timelimit=20:00:00", user="mallory").code != 0
        assert cluster.show(job)["TimeLimit"] == before
    end_jobs(cluster)


def test_nobody_releases_what_an_administrator_holds(cluster):
    job = cluster.wrap("true", "-H", user="mallory")
    cluster.run(f"scontrol hold {job}", user=None).ok()
    with mallory(cluster) as client:
        client.ask(hold={"jobs": [{"job": job}], "hold": False})
        client.ask(requeue={"jobs": [{"job": job}]})
        client.ask(update_job={"jobs": [{"job": job}], "update": {"priority": 5}})
        client.ask(top={"jobs": [{"job": job}]})
    assert cluster.show(job)["Priority"] == "0" and cluster.state(job) == "PENDING"
    end_jobs(cluster)


def test_words_of_agents_are_nothing_on_a_clients_socket(cluster, victim):
    made = messages()
    running, _ = victim
    key = {"job": running, "attempt": 1, "step": 0}
    for body in ({"register": {"protocol": 1, "node": b"n1", "version": b"x"}}, {"job_clean": {"job": running, "attempt": 1}},
                 {"step_ended": {"key": key, "exit": {"code": 1}}}, {"script_failed": {"job": running, "attempt": 1, "why": b"x"}},
                 {"relay_open": {"session": 1, "uid": 0, "gid": 0}},
                 {"load": {"cpu_load": 1e300, "problem": b"broken"}}):
        for path in (cluster.client_socket(), cluster.client_socket("n1")):
            with RawClient(path, user="mallory", timeout=2) as client:
                client.send(made.AgentToController(**body))
                client.is_closed_by_peer()
    assert cluster.node("n1")["State"] in ("MIXED", "IDLE", "ALLOCATED")
    stays(lambda: cluster.state(running) == "RUNNING", 0.3)
