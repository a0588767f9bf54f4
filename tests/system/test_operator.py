"""What operators do to daemons, nodes and jobs by scontrol: reboots, logs, tokens, messages."""

import base64
import hashlib
import hmac
import json
import re
import resource
import signal

import pytest

from busy_scene import ACCOUNT
from cluster import NODES, kill
from golden import GOLDEN, Expected, different_fields, same_fields
from world import is_root, wait_until

REBOOT = "RebootProgram={dir}/rebooter\nResumeTimeout=120\n"


def make_rebooting_cluster(make_cluster):
    """Two nodes whose RebootProgram notes for which node it ran; a test then plays the machine."""
    made = make_cluster(names=("n1", "n2"), nodes=NODES.replace("n[1-4]", "n[1-2]"), start=False)
    made.conf.write_text(made.conf.read_text() + REBOOT.format(dir=made.dir))
    program = made.dir / "rebooter"
    program.write_text(f'#!/bin/sh\necho "$SLURMD_NODENAME" >> {made.dir}/rebooted\n')
    program.chmod(0o755)
    return made.start()


def rebooted(made):
    file = made.dir / "rebooted"
    return sorted(file.read_text().split()) if file.exists() else []


def boot(made, node):
    kill(made.agents[node], signal.SIGKILL)
    made.agents[node] = made._spawn("slurmd", "-b", "-N", node)


def state_of(made, node):
    return made.node(node)["State"]


def test_an_idle_node_reboots_and_a_busy_one_when_its_jobs_are_over(make_cluster):
    made = make_rebooting_cluster(make_cluster)
    job = made.wrap("sleep 600", "-w n1")
    made.wait_state(job, "RUNNING")
    made.run("scontrol reboot reason=kernel n[1-2]", user=None).ok()
    wait_until(lambda: rebooted(made) == ["n2"], 60, "n2 to run its RebootProgram")
    assert state_of(made, "n1") == "MIXED+REBOOT_REQUESTED"
    assert state_of(made, "n2") == "IDLE+REBOOT_ISSUED"
    assert made.node("n2")["Reason"].startswith("kernel : reboot issued [root@")
    assert made.run("sinfo -h -N -p debug -o '%N %t'", user=None).out == "n1 mix@\nn2 reboot^\n"
    assert "Reboot already in progress" in made.run("scontrol cancel_reboot n2", user=None).err
    made.run(f"scancel {job}", user=None).ok()
    wait_until(lambda: rebooted(made) == ["n1", "n2"], 60, "n1 to run its RebootProgram")
    for node in ("n1", "n2"):
        boot(made, node)
        wait_until(lambda: state_of(made, node) == "IDLE", 60, f"{node} to be back")
    assert "Reason" not in made.node("n1")


def test_a_reboot_as_soon_as_possible_drains_and_can_be_called_off(make_cluster):
    made = make_rebooting_cluster(make_cluster)
    job = made.wrap("sleep 600", "-w n1")
    made.wait_state(job, "RUNNING")
    made.run("scontrol reboot ASAP nextstate=RESUME n1", user=None).ok()
    assert state_of(made, "n1") == "MIXED+DRAIN+REBOOT_REQUESTED"
    assert made.node("n1")["Reason"].startswith("Reboot ASAP [root@")
    assert made.run("sinfo -h -N -p debug -n n1 -o %t", user=None).out == "drng@\n"
    made.run("scontrol update nodename=n1 state=CANCEL_REBOOT", user=None).ok()
    assert state_of(made, "n1") == "MIXED" and rebooted(made) == []
    made.run("scontrol reboot nextstate=DOWN n1", user=None).ok()
    made.run(f"scancel {job}", user=None).ok()
    wait_until(lambda: rebooted(made) == ["n1"], 60, "n1 to run its RebootProgram")
    # The controller remembers what it waits for.
    kill(made.controller, signal.SIGKILL)
    made.start_controller()
    wait_until(lambda: made.run("scontrol ping", user=None).code == 0, 60, "the controller to answer")
    boot(made, "n1")
    wait_until(lambda: state_of(made, "n1") == "DOWN", 60, "n1 to be back, and down")
    assert "reboot complete" in made.node("n1")["Reason"]


def test_reboots_that_cannot_be(cluster):
    assert cluster.run("scontrol reboot n1", user=None).err == \
        "scontrol_reboot_nodes error: RebootProgram isn't defined\n"
    assert cluster.run("scontrol reboot", user=None).err == "too few arguments for keyword:reboot\n"
    assert "Invalid state: up" in cluster.run("scontrol reboot nextstate=up n1", user=None).err
    assert "Invalid reboot value: soon" in cluster.run("scontrol reboot soon n1", user=None).err
    said = cluster.run("scontrol update nodename=n1 state=POWER_DOWN", user=None)
    assert said.code == 1 and "there is no power saving" in said.err
    assert cluster.run("scontrol power down n1", user=None).code == 1
    assert state_of(cluster, "n1") == "IDLE"


def log_of(made, name="controller"):
    return (made.dir / "log" / f"{name}.log").read_text()


def shown(made, key):
    said = made.run("scontrol show config", user=None).ok().out
    return re.search(rf"^{key} += (.*)$", said, re.M).group(1)


def test_what_the_daemons_log_can_be_changed_while_they_run(make_cluster):
    made = make_cluster(names=("n1",))
    assert shown(made, "SlurmctldDebug") == "info" and "debug:  " not in log_of(made)
    made.run("scontrol setdebug debug2", user=None).ok()
    assert shown(made, "SlurmctldDebug") == "debug2" and "debug:  " in log_of(made)
    made.run("scontrol setdebug 2", user=None).ok()
    size = len(log_of(made))
    made.wait_end(made.wrap("true"))
    assert shown(made, "SlurmctldDebug") == "error" and len(log_of(made)) == size
    made.run("scontrol setdebugflags +TraceJobs +Steps", user=None).ok()
    assert shown(made, "DebugFlags") == "Steps,TraceJobs"
    job = made.wrap("true")
    made.wait_end(job)
    assert f"TRACE_JOBS: JobId={job} RUNNING" in log_of(made) and f"STEPS: StepId={job}.batch" in log_of(made)
    made.run("scontrol setdebugflags -TraceJobs -Steps", user=None).ok()
    made.run("scontrol schedloglevel enable", user=None).ok()
    job = made.wrap("true")
    made.wait_end(job)
    assert f"sched: Main: Allocate JobId={job} NodeList=n1 #CPUs=1 Partition=debug" in log_of(made)
    assert f"TRACE_JOBS: JobId={job}" not in log_of(made) and shown(made, "SlurmSchedLogLevel") == "1"
    # A new look at the configuration puts all of it back.
    made.run("scontrol reconfigure", user=None).ok()
    assert (shown(made, "SlurmctldDebug"), shown(made, "SlurmSchedLogLevel")) == ("info", "0")


def test_levels_of_agents_and_words_that_mean_nothing(make_cluster):
    made = make_cluster(names=("n1",))
    made.run("scontrol setdebug quiet nodes=n1", user=None).ok()
    made.run("scontrol setdebug debug nodes=n1", user=None).ok()
    made.run("scontrol setdebug error nodes=n1", user=None).ok()
    wait_until(lambda: "Set debug level to 'error'" in log_of(made, "agent-n1"), 60, "the agent to say so")
    assert "Set debug level to 'debug'" not in log_of(made, "agent-n1"), "a quiet agent said something"
    for command, words in (("setdebug loud", "invalid debug level: loud"), ("setdebug 10", "invalid debug level: 10"),
                           ("setdebugflags Steps", "invalid debug flag: Steps"),
                           ("setdebugflags +Elasticsearch", "Elasticsearch: there is nothing to log about it"),
                           ("schedloglevel 7", "invalid schedlog level: 7"),
                           ("setdebug info nodes=n9", "Invalid node name specified")):
        said = made.run(f"scontrol {command}", user=None)
        assert said.code == 1 and words in said.err, repr(said)


def claims_of(text):
    token = text.strip().removeprefix("SLURM_JWT=")
    body = token.split(".")[1]
    return token, json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))


def test_tokens_are_signed_by_the_key_of_the_site(make_cluster):
    made = make_cluster(names=("n1",), start=False)
    key = made.dir / "jwt.key"
    key.write_bytes(b"0123456789abcdef0123456789abcdef")
    made.conf.write_text(made.conf.read_text() + f"AuthAltTypes=auth/jwt\nAuthAltParameters=jwt_key={key}\n")
    made.start()
    token, claims = claims_of(made.run("scontrol token lifespan=60", user=None).ok().out)
    assert claims["exp"] - claims["iat"] == 60 and set(claims) == {"exp", "iat", "sun"}
    signed, _, signature = token.rpartition(".")
    right = base64.urlsafe_b64encode(hmac.new(key.read_bytes(), signed.encode(), hashlib.sha256).digest())
    assert signature == right.decode().rstrip("=")
    _, endless = claims_of(made.run("scontrol token lifespan=infinite", user=None).ok().out)
    assert "exp" not in endless
    assert made.run("scontrol token for=me", user=None).err == "Invalid option: `for=me`\n"


@pytest.mark.skipif(not is_root(), reason="needs root to be two users")
def test_a_user_gets_a_token_for_nobody_else(cluster):
    _, claims = claims_of(cluster.run("scontrol token", user="alice").ok().out)
    assert claims["sun"] == "alice" and claims["exp"] - claims["iat"] == 1800
    said = cluster.run("scontrol token username=bob", user="alice")
    assert said.code == 1 and said.out == "" and said.err == "Error fetching token: Access/permission denied\n"
    _, claims = claims_of(cluster.run("scontrol token username=bob", user=None).ok().out)
    assert claims["sun"] == "bob"
    assert cluster.run("scontrol token username=nosuch", user=None).code == 1


@pytest.mark.skipif(not is_root(), reason="needs root to be two users")
def test_only_operators_reboot_log_and_abort(cluster):
    for command in ("reboot n1", "cancel_reboot n1", "setdebug debug", "setdebugflags +Steps", "schedloglevel 1", "abort",
                    "shutdown"):
        said = cluster.run(f"scontrol {command}", user="alice")
        assert said.code == 1, command
    assert cluster.run("scontrol ping", user="alice").ok()


def test_a_message_reaches_the_output_of_a_script_and_an_salloc(cluster):
    job = cluster.wrap("sleep 600", "-o note.out")
    cluster.wait_state(job, "RUNNING")
    wait_until(lambda: (cluster.home(cluster.me()) / "note.out").exists(), 60, "the output of the script")
    cluster.run(f"scontrol notify {job} maintenance at 'five  oclock'").ok()
    wait_until(lambda: "maintenance at five  oclock" in cluster.read("note.out"), 60, "the message in the output")
    assert re.search(r"^\[\S+\] error: maintenance at five  oclock$", cluster.read("note.out"), re.M)
    cluster.run(f"scancel {job}").ok()
    owner = cluster.popen("salloc -K -n1 bash -c 'echo $SLURM_JOB_ID > alloc.id; exec sleep 600' 2> alloc.err")
    wait_until(lambda: (cluster.home(cluster.me()) / "alloc.id").exists() and cluster.read("alloc.id").strip(), 60, "salloc")
    alloc = cluster.read("alloc.id").strip()
    cluster.run(f"scontrol notify {alloc} hello").ok()
    wait_until(lambda: "salloc: hello\n" in cluster.read("alloc.err"), 60, "the message of salloc")
    cluster.run(f"scancel {alloc}").ok()
    owner.wait(60)
    assert cluster.run("scontrol notify 99999 hello").err == "job notify failure: Invalid job id specified\n"
    if is_root():
        other = cluster.wrap("sleep 600")
        cluster.wait_state(other, "RUNNING")
        assert "Access/permission denied" in cluster.run(f"scontrol notify {other} boo", user="bob").err
        cluster.run(f"scancel {other}").ok()


def test_abort_ends_the_controller_at_once_and_loses_nothing(make_cluster):
    made = make_cluster(names=("n1",))
    job = made.wrap("sleep 600")
    made.wait_state(job, "RUNNING")
    resource.prlimit(made.controller.pid, resource.RLIMIT_CORE, (0, 0))  # It would leave a core file.
    made.run("scontrol abort", user=None).ok()
    assert made.controller.wait(60) == -signal.SIGABRT
    made.start_controller()
    made.wait_state(job, "RUNNING")
    assert made.run("scontrol takeover", user=None).err == "takeover: invalid backup controller index (1)\n"
    made.run(f"scancel {job}", user=None).ok()


def test_a_job_that_is_put_aside_as_a_special_exit(cluster):
    job = cluster.wrap("sleep 600")
    cluster.wait_state(job, "RUNNING")
    cluster.run(f"scontrol requeuehold State=SpecialExit {job}", user=None).ok()
    cluster.wait_state(job, "SPECIAL_EXIT")
    assert cluster.run(f"squeue -h -j {job} -o '%t %r'").out == "SE JobHeldAdmin\n"
    assert cluster.show(job)["JobState"] == "SPECIAL_EXIT"
    assert cluster.run("squeue -h -t SE -o %A").out == f"{job}\n"
    cluster.run(f"scontrol release {job}", user=None).ok()
    cluster.wait_state(job, "RUNNING")
    cluster.run(f"scancel {job}").ok()
    assert "Invalid state: Odd" in cluster.run(f"scontrol requeuehold State=Odd {job}", user=None).err


@pytest.mark.skipif(not GOLDEN.is_dir() or not is_root(), reason="no golden files beside the checkout, or no alice")
def test_suspend_resume_and_requeue_as_a_real_slurm_answers(make_cluster):
    made = make_cluster(extra="FirstJobId=146\n")
    made.run("mkdir golden").ok()
    assert made.sbatch("-J adm -w n1 --wrap 'sleep 200'", cwd=made.home() / "golden", env=ACCOUNT) == 146
    made.wait_state(146, "RUNNING")

    def ran(text):
        """Masked: how long it had run before, and its priority, unless that is 0, as it is while a job is suspended."""
        text = re.sub(r"\b(RunTime|SecsPreSuspend)=\S+", r"\1=#", text)
        text = re.sub(r"\bPriority=[1-9]\S*", "Priority=#", text)
        return same_fields(re.sub(r"(?<= )\d:\d\d(?= )", "#:##", text))

    def compare(name):
        want = Expected(GOLDEN / "admin" / f"{name}.txt")
        said = made.run(want.command.replace("sleep 1; ", ""), user=None)
        found = different_fields(ran(want.out), ran(said.out.replace(str(made.home()), "/srv/slurm/home/alice")))
        assert found == [] and (said.err, said.code) == (want.err, want.code), f"{name}:\n" + "\n".join(found) + repr(said)

    compare("suspend")
    compare("resume-job")
    made.run("scontrol requeue 146", user=None).ok()
    made.wait_state(146, "PENDING", "RUNNING")
    # It waits for a second after a requeue; held, the answer is the same for as long as it takes to ask.
    made.run("scontrol hold 146", user=None)
    if made.state(146) == "PENDING":
        said = made.run("scontrol requeuehold 146", user=None)
        assert said.err == Expected(GOLDEN / "admin" / "requeuehold.txt").err and said.code == 1
    made.run("scancel 146", user=None).ok()
    assert made.wait_end(146) == "CANCELLED"
    want = Expected(GOLDEN / "admin" / "cancel-as-root.txt").out.splitlines()[-1].split()
    assert made.run("sacct -n -X -j 146 -o jobid,state%30,exitcode", user=None).out.split()[:4] == want[:4]


COMPARES = {"admin/suspend", "admin/resume-job", "admin/requeuehold", "admin/cancel-as-root"}
