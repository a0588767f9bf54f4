"""Attempts of a user on a node: at root's files and at other users' by way of what daemons do for her job, at the steps of
others, and at what may never end."""

import os
import pathlib
import resource
import socket
import stat
import threading

import pytest

from cluster import Cluster, stepds_of
from hostile import end_jobs, mallory, needs_users, submit, unharmed  # noqa: F401
from raw_client import Closed, RawClient, as_user, messages
from world import USERS, stays, wait_until

pytestmark = needs_users

EVIL = "LD_PRELOAD={lib} BASH_ENV={rc} ENV={rc} PROMPT_COMMAND='touch {mark}' IFS=/ PYTHONPATH={home} PERL5OPT=-M{rc} PATH={home}:/usr/bin:/bin"


@pytest.fixture(scope="module")
def cluster():
    """With programs of the site before and after jobs."""
    made = Cluster(start=False, extra="Prolog=site.sh\nEpilog=site.sh\nUnkillableStepTimeout=10\n")
    site = made.dir / "site.sh"
    site.write_text("#!/bin/bash\nid -u >> /dev/null\nls / > /dev/null\n")
    site.chmod(0o755)
    made.start()
    yield made
    made.stop()


@pytest.fixture
def precious(cluster):
    """A file that only root may see, and how it must stay."""
    folder = cluster.dir / "rootonly"
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / "precious"
    path.write_text("root's\n")
    path.chmod(0o600)
    yield path
    assert path.read_text() == "root's\n" and sorted(os.listdir(folder)) == ["precious"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 and path.stat().st_uid == 0


def home(cluster):
    return cluster.home("mallory")


def ends(cluster, job):
    state = cluster.wait_end(job, timeout=40)
    return state


@pytest.mark.parametrize("options", ["-o {path}", "-e {path}", "-o {path} --open-mode=append", "-o {folder}/new", "-o link", "-o linked/new",
                                     "-o linked/precious --open-mode=append", "-i {path} -o read.out"])
def test_output_does_not_go_where_its_user_may_not_write(cluster, precious, options):
    with as_user("mallory"):
        for name, target in (("link", precious), ("linked", precious.parent)):
            if not os.path.islink(home(cluster) / name):
                os.symlink(target, home(cluster) / name)
    job = cluster.wrap("cat; echo owned", options.format(path=precious, folder=precious.parent), user="mallory")
    ends(cluster, job)
    assert "root's" not in (cluster.run("cat read.out", user="mallory").out)


@pytest.mark.parametrize("options", ["-o {path}", "-i {path}", "-o link", "--task-prolog={path}", "--multi-prog {path}"])
def test_a_step_does_not_open_what_its_user_may_not(cluster, precious, options):
    said = cluster.run("timeout 30 srun -n1 " + options.format(path=precious) + " cat", user="mallory", timeout=60)
    assert "root's" not in said.out


def test_sbcast_does_not_write_through_a_link(cluster, precious):
    cluster.write("payload", "owned\n", user="mallory")
    job = cluster.wrap(f"ln -sfn {precious} there; sbcast -f payload there; sbcast -f payload {precious}; sbcast -f payload {precious.parent}/new; true",
                       user="mallory")
    ends(cluster, job)


def test_nothing_of_a_jobs_environment_acts_in_the_sites_programs(cluster):
    """Prolog and Epilog are root's; what the user set is not theirs."""
    mark = home(cluster) / "mark"
    rc = cluster.write("rc", f"[ $(id -u) = 0 ] && touch {mark}\n", user="mallory", mode=0o755)
    for name in ("id", "ls", "bash", "sh"):
        cluster.write(name, f"#!/bin/sh\n[ $(/usr/bin/id -u) = 0 ] && touch {mark}\nexec /bin/{name} \"$@\"\n", user="mallory", mode=0o755)
    evil = EVIL.format(lib=home(cluster) / "evil.so", rc=rc, mark=mark, home=home(cluster))
    job = cluster.sbatch("-o /dev/null --wrap 'srun true'", user="mallory", env=dict(part.split("=", 1) for part in evil.split() if "'" not in part
                                                                           and not part.startswith(("touch", "PATH", "LD_PRELOAD"))))
    reply = submit(cluster, "true", payload={"environment": [part.encode() for part in evil.split()]})
    ends(cluster, job)
    ends(cluster, reply.submitted.job)
    assert not mark.exists()


def test_limits_that_a_client_sends_are_no_higher_than_a_logins(cluster):
    infinity = (1 << 64) - 1
    raised = [{"resource": number, "soft": infinity, "hard": infinity}
              for number in (resource.RLIMIT_NOFILE, resource.RLIMIT_MEMLOCK, resource.RLIMIT_RTPRIO, resource.RLIMIT_NPROC, resource.RLIMIT_NICE)]
    odd = [{"resource": number, "soft": 5, "hard": 1} for number in (-1, 99, 2147483647)]
    job = submit(cluster, "cat /proc/self/limits", payload={"limits": raised + odd}).submitted.job
    ends(cluster, job)
    mine = pathlib.Path(f"/proc/{cluster.agents['n1'].pid}/limits").read_text().splitlines()
    highest = {line[:26].strip(): line[26:].split()[1] for line in mine[1:]}
    text = cluster.read(f"{job}.out", user="mallory")
    for line in text.splitlines()[1:]:
        name, hard = line[:26].strip(), line[26:].split()[1]
        assert hard == highest[name] or hard != "unlimited" and (highest[name] == "unlimited" or int(hard) <= int(highest[name])), line


def test_nobody_lists_a_spool_or_reads_in_it(cluster):
    job = cluster.wrap("sleep 600 # secret-word", user="alice", env={"MY_SECRET": "hunter2"})
    cluster.wait_state(job, "RUNNING")
    for folder in [*(cluster.dir / "spool").glob("*"), cluster.dir / "state"]:
        assert cluster.run(f"ls {folder}", user="mallory").code != 0, folder
    for path in (cluster.dir / "state").iterdir():
        assert cluster.run(f"head -c 1 {path}", user="mallory").code != 0, path
    for path in (each for each in (cluster.dir / "spool").glob("*/*") if each.name != "slurmd.pid"):
        assert cluster.run(f"head -c 1 {path}", user="mallory").out == "", path
    for pid in stepds_of(cluster.dir):
        said = cluster.run(f"cat /proc/{pid}/environ /proc/{pid}/maps; ls /proc/{pid}/fd; kill -9 {pid}; kill -STOP {pid}", user="mallory")
        assert said.out == "", said
    assert cluster.state(job) == "RUNNING"
    cluster.run(f"scancel {job}", user="alice").ok()


def test_a_job_does_not_harm_the_daemons_beside_it(cluster):
    pids = " ".join(str(p.pid) for p in [cluster.controller, *cluster.agents.values()])
    job = cluster.wrap(f"kill -9 {pids}; kill -9 $PPID; kill -STOP $PPID; echo 1 > /proc/$PPID/oom_score_adj; "
                       f"rm -rf {cluster.dir}/spool {cluster.dir}/run {cluster.dir}/state {cluster.dir}/slurm.conf; echo done", "-o harm.out", user="mallory")
    assert ends(cluster, job) == "COMPLETED"
    assert cluster.read("harm.out", user="mallory").endswith("done\n")
    assert cluster.conf.exists() and cluster.client_socket().exists() and (cluster.dir / "state").exists()


def test_what_a_job_leaves_in_its_folders_leads_root_nowhere(cluster, precious):
    """A link in the place of a folder, when root cleans up behind the job."""
    job = cluster.wrap(f"for each in $TMPDIR $SLURM_TMPDIR $(dirname $0) {cluster.dir}/spool/*/*; do mv $each $each.old; "
                       f"ln -sfn {precious.parent} $each; ln -sfn {precious.parent} $each/x; done 2>/dev/null; true", user="mallory")
    ends(cluster, job)
    stays(lambda: precious.exists(), 0.3)


class Trap:
    """A socket of somebody else's, which nobody may be made to connect to."""

    def __init__(self, path, mode=0o777):
        self.heard = []
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        os.chmod(path, mode)
        self.listener.listen()
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        while True:
            try:
                taken, _ = self.listener.accept()
            except OSError:
                return
            taken.settimeout(1)
            try:
                self.heard.append(taken.recv(4096))
            except OSError:
                self.heard.append(b"")
            taken.close()

    def close(self):
        self.listener.close()


def step_with_socket(cluster, job, path):
    launch = {"argv": [b"/bin/sleep", b"1"], "work_dir": b"/tmp", "io_unix_path": str(path).encode(), "io_key": b"k" * 32, "io_host": cluster.host.encode(),
              "environment": [b"PATH=/usr/bin:/bin"]}
    with mallory(cluster, timeout=1) as client:
        try:
            client.ask(create_step={"job": job, "spec": {"overlap": True, "tasks": 1}, "launch": launch, "nonce": int.from_bytes(os.urandom(6), "little")})
            client.is_closed_by_peer()
        except (Closed, socket.timeout):
            pass


def test_a_step_is_not_led_to_sockets_that_its_user_may_not_reach(cluster, precious):
    """It froze and killed anybody's job, when the socket was another stepd's."""
    trap = Trap(precious.parent / "dbus")
    job = cluster.wrap("sleep 600", user="mallory")
    cluster.wait_state(job, "RUNNING")
    try:
        step_with_socket(cluster, job, precious.parent / "dbus")
        assert trap.heard == []
    finally:
        trap.close()
        os.unlink(precious.parent / "dbus")
        end_jobs(cluster)


def test_a_step_is_not_led_to_the_socket_of_anothers_step(cluster):
    theirs = cluster.wrap("srun --overlap sleep 600", "-N1 -w n1", user="alice")
    mine = cluster.wrap("sleep 600", "-N1 -w n1", user="mallory")
    wait_until(lambda: f"{theirs}.0" in cluster.run("squeue -h -s -o %i", user=None).out, what="the step")
    cluster.wait_state(mine, "RUNNING")
    sockets = list((cluster.dir / "spool" / "n1").glob("*.sock"))
    for path in [*sockets, cluster.agents_socket(), cluster.client_socket(), cluster.client_socket("n2")]:
        step_with_socket(cluster, mine, path)
    assert cluster.state(theirs) == "RUNNING"
    assert f"{theirs}.0" in cluster.run("squeue -h -s -o %i", user=None).out
    end_jobs(cluster)
    cluster.run(f"scancel {theirs}", user="alice").ok()


def test_nobody_orders_a_stepd_but_the_agent(cluster):
    job = cluster.wrap("sleep 600", "-N1 -w n1", user="alice")
    cluster.wait_state(job, "RUNNING")
    wait_until(lambda: list((cluster.dir / "spool" / "n1").glob(f"{job}.*.sock")), what="its socket")
    order = messages().AgentToStepd(signal={"job": job, "attempt": 0, "signal": 9, "all_processes": True, "steps": True, "batch_shell": True})
    for path in (cluster.dir / "spool" / "n1").glob("*.sock"):
        for speaks in ("agent to stepd", None):
            try:
                with RawClient(path, user="mallory", timeout=1, speaks=speaks) as client:
                    client.send(order)
                    client.is_closed_by_peer()
            except (OSError, Closed):
                pass
    stays(lambda: cluster.state(job) == "RUNNING", 0.5)
    cluster.run(f"scancel {job}", user="alice").ok()


def test_nobody_registers_as_a_node(cluster):
    register = messages().AgentToController(register={"protocol": 1, "node": b"n1", "version": b"x"})
    with pytest.raises((PermissionError, Closed)):
        with RawClient(cluster.agents_socket(), user="mallory", speaks="agent", timeout=2) as client:
            client.send(register)
            client.receive()
    assert "its agent connected again" not in (cluster.dir / "log" / "controller.log").read_text()


@pytest.mark.parametrize("options", ["-o fifo", "-e fifo", "-i fifo", "-o fifo --open-mode=append"])
def test_a_job_with_a_pipe_for_a_file_can_be_ended(cluster, options):
    cluster.run("[ -p fifo ] || mkfifo fifo", user="mallory").ok()
    job = cluster.wrap("sleep 600", f"-N1 {options}", user="mallory")
    wait_until(lambda: cluster.state(job) in ("RUNNING", "FAILED"), 30, "its start")
    cluster.run(f"scancel {job}", user="mallory").ok()
    ends(cluster, job)
    wait_until(lambda: cluster.run("squeue -h -u mallory -t CG", user=None).out == "", 30, "nothing of it")


@pytest.mark.parametrize("folder", ["/proc/self/fd", "/dev/full/x", "/nowhere/at/all", "../../../../../root", "~root", "$(touch owned)"])
def test_a_folder_of_any_name_is_only_a_folder(cluster, folder):
    reply = submit(cluster, "pwd", work_dir=folder.encode(), std_out=str(home(cluster) / "folder.out").encode())
    if reply.HasField("submitted"):
        ends(cluster, reply.submitted.job)
    assert not (home(cluster) / "owned").exists()


@pytest.mark.parametrize("name", ["../../../tmp/sy-owned", "%j/%x/../../x", "/proc/self/mem", "/dev/sda", "/dev/mem", "a\nb"])
def test_a_file_of_any_name_is_opened_as_its_user(cluster, name):
    reply = submit(cluster, "echo x", std_out=name.encode(), name=b"../../../../etc/cron.d/x")
    if reply.HasField("submitted"):
        ends(cluster, reply.submitted.job)
    assert not os.path.exists("/etc/cron.d/x")
    for left in (cluster.dir.parent / "sy-owned", pathlib.Path("/tmp/sy-owned")):
        if left.exists():
            assert left.stat().st_uid == USERS["mallory"]
            left.unlink()


def test_a_core_file_lands_in_no_folder_of_roots(cluster):
    before = set(os.listdir("/")), set(os.listdir(cluster.dir / "state"))
    job = cluster.wrap("ulimit -c unlimited; cd /; kill -SEGV $$", user="mallory")
    ends(cluster, job)
    assert (set(os.listdir("/")), set(os.listdir(cluster.dir / "state"))) == before
