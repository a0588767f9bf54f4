"""A real cluster for a test: a controller and agents as processes, in a folder of its own."""

import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import textwrap

from world import USERS, bin_dir, is_root, processes_with, wait_until

CONFIG = """\
ClusterName={name}
SlurmctldHost={host}
SlurmctldPort={port}
StateSaveLocation={dir}/state
SlurmdSpoolDir={dir}/spool/%n
SwitchyardRunDir={dir}/run
SlurmctldLogFile={dir}/log/controller.log
SlurmdLogFile={dir}/log/agent-%n.log
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
DefMemPerCPU=100
MaxArraySize=20001
ReturnToService=2
KillWait=2
GresTypes=gpu,shard
MailProg={dir}/mailprog
"""

NODES = """\
NodeName=n[1-4] NodeHostname={host} CPUs=8 RealMemory=4000 Gres=gpu:rtx4000:2,shard:rtx4000:128
PartitionName=debug Nodes=n[1-4] Default=YES MaxTime=INFINITE State=UP
PartitionName=gpu Nodes=n[1-4] MaxTime=1-00:00:00 DefaultTime=01:00:00 State=UP
PartitionName=closed Nodes=n[1-4] MaxTime=INFINITE State=DOWN
"""


class Answer:
    """What a command said."""

    def __init__(self, done):
        self.out, self.err, self.code = done.stdout, done.stderr, done.returncode

    def __repr__(self):
        return f"exit {self.code}\n--- out\n{self.out}\n--- err\n{self.err}"

    def ok(self):
        assert self.code == 0, repr(self)
        return self


def free_port():
    """Below those that the kernel gives to whoever dials out, which could take it before the daemon does."""
    while True:
        port = random.randrange(15000, 32000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


class Cluster:
    def __init__(self, nodes=NODES, extra="", names=("n1", "n2", "n3", "n4"), start=True, beside=None, daemon_env=None):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="sy", dir="/tmp"))
        self.dir.chmod(0o755)
        self.name = self.dir.name
        self.names = list(names)
        self.host = socket.gethostname().split(".")[0]
        self.conf = self.dir / "slurm.conf"
        for folder in ("state", "spool", "run", "log", "home"):
            (self.dir / folder).mkdir()
        mailprog = self.dir / "mailprog"
        mailprog.write_text(
            f'#!/bin/sh\nprintf "%s|%s|%s\\n" "$2" "$3" "$SLURM_JOB_ID" >> {self.dir}/mail.log\n')
        mailprog.chmod(0o755)
        mails = self.dir / "mail.log"  # Written by whoever a mail is about.
        mails.touch()
        mails.chmod(0o666)
        text = CONFIG.format(name=self.name, host=self.host, port=free_port(), dir=self.dir)
        self.conf.write_text(text + extra + nodes.format(host=self.host))
        for file, content in (beside or {}).items():
            (self.dir / file).write_text(content)
        self.daemon_env = {key: value.format(dir=self.dir) for key, value in (daemon_env or {}).items()}
        for user in self.users():
            home = self.home(user)
            home.mkdir()
            if is_root():
                os.chown(home, USERS[user], USERS[user])
        self.controller = None
        self.agents = {}
        self.keep = False  # The folder, for somebody to look at.
        if start:
            self.start()

    # --- users -----------------------------------------------------------------------------------
    def users(self):
        return list(USERS) if is_root() else [None]

    def home(self, user="alice"):
        return self.dir / "home" / (user or "me")

    def me(self):
        return "alice" if is_root() else None

    # --- daemons ---------------------------------------------------------------------------------
    def _spawn(self, name, *arguments):
        log = open(self.dir / "log" / f"{name}-{'-'.join(arguments)}.stderr", "ab")
        return subprocess.Popen(
            [bin_dir() / name, "-D", "-f", self.conf, *arguments],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, cwd="/",
            env={"PATH": self.path(), "LANG": "C.UTF-8", "HOME": "/", **self.daemon_env})

    def start_controller(self):
        self.controller = self._spawn("slurmctld")

    def start_agent(self, node):
        self.agents[node] = self._spawn("slurmd", "-N", node)

    def start(self):
        self.start_controller()
        for node in self.names:
            self.start_agent(node)
        self.wait_ready()
        return self

    def wait_ready(self, timeout=60):
        def all_answer():
            said = self.run("sinfo -h -N -o '%N %T'", user=None)
            states = dict(line.split() for line in said.out.splitlines() if len(line.split()) == 2)
            return all(name in states and "*" not in states[name] and "unk" not in states[name] for name in self.names)

        wait_until(all_answer, timeout, f"the nodes of {self.dir}")

    def stop(self):
        try:
            if self.controller and self.controller.poll() is None:
                self.run("scancel -u " + ",".join(u or str(os.getuid()) for u in [*self.users(), None] if u or not is_root()),
                         user=None)
                self.run("scancel -u root", user=None)
        finally:
            for process in [*self.agents.values(), self.controller]:
                if process:
                    kill(process, signal.SIGTERM)
            for pid in [*self.leftovers(), *stepds_of(self.dir)]:
                try:
                    os.kill(pid, signal.SIGKILL)
                except OSError:
                    pass
            if os.environ.get("SY_KEEP") or self.keep:
                print(f"kept: {self.dir}")
            else:
                # Shares of cards that jobs held when they were killed.
                for folder in [self.dir, *pathlib.Path("/dev/shm").glob(f"switchyard-{self.name}_*")]:
                    shutil.rmtree(folder, ignore_errors=True)

    def leftovers(self):
        """Processes of this cluster that are no daemon of it."""
        mine = {p.pid for p in [*self.agents.values(), self.controller] if p and p.poll() is None}
        return [pid for pid in processes_with(f"SLURM_CONF={self.conf}".encode())
                if pid not in mine and pid != os.getpid()]

    # --- sockets ---------------------------------------------------------------------------------
    def client_socket(self, node=None):
        """Where commands ask: the controller, or the agent of a node."""
        return self.dir / "run" / (f"agent-{node}.sock" if node else "controller.sock")

    def agents_socket(self):
        """Where agents of the controller's own host register."""
        return self.dir / "run" / "controller-agents.sock"

    # --- commands --------------------------------------------------------------------------------
    def path(self):
        return f"{bin_dir()}:{self.dir}/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

    def env(self, user, **more):
        return {"PATH": self.path(), "HOME": str(self.home(user)), "USER": user or os.environ.get("USER", "root"),
                "LOGNAME": user or os.environ.get("USER", "root"), "LANG": "C.UTF-8", "SHELL": "/bin/bash",
                "TMPDIR": "/tmp", "SLURM_CONF": str(self.conf), **more}

    def run(self, command, user="alice", cwd=None, input=None, env=None, timeout=240):
        """A shell command line as that user; user None is whoever runs the tests (root in CI)."""
        user = user if is_root() else None
        become = {}
        if user:
            become = {"user": USERS[user], "group": USERS[user], "extra_groups": []}
        return Answer(subprocess.run(
            ["bash", "-c", command], capture_output=True, text=True, errors="replace", input=input if input is not None else None,
            stdin=subprocess.DEVNULL if input is None else None, timeout=timeout,
            cwd=cwd or (self.home(user) if user or not is_root() else "/"), env={**self.env(user), **(env or {})}, **become))

    def popen(self, command, user="alice", cwd=None, **options):
        user = user if is_root() else None
        become = {"user": USERS[user], "group": USERS[user], "extra_groups": []} if user else {}
        return subprocess.Popen(["bash", "-c", "exec " + command], text=True, cwd=cwd or self.home(user),
                                env=self.env(user), **become, **options)

    def write(self, name, text, user="alice", mode=0o644):
        path = self.home(user if is_root() else None) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
        path.chmod(mode)
        if is_root():
            for part in (path, path.parent):
                os.chown(part, USERS[user], USERS[user])
        return path

    def read(self, name, user="alice"):
        return (self.home(user if is_root() else None) / name).read_text(errors="replace")

    def sbatch(self, arguments, user="alice", **options):
        said = self.run(f"sbatch --parsable {arguments}", user=user, **options).ok()
        return int(said.out.strip().split(";")[0])

    def wrap(self, script, options="", user="alice", **more):
        quoted = script.replace("'", "'\\''")
        return self.sbatch(f"{options} --wrap '{quoted}'", user=user, **more)

    # --- what is so ------------------------------------------------------------------------------
    def show(self, job):
        """scontrol show job as a dictionary (of the first record)."""
        said = self.run(f"scontrol show job {job} -o", user=None).ok()
        return dict(re.findall(r"(\S+?)=(.*?)(?= [A-Z]\S*?=|$)", said.out.splitlines()[0]))

    def state(self, job):
        said = self.run(f"squeue -h -t all -j {job},{job} -o %T", user=None)
        lines = said.out.split()
        return lines[0] if lines else None

    def wait_state(self, job, *states, timeout=60):
        return wait_until(lambda: (s := self.state(job)) in states and s, timeout,
                          lambda: f"job {job} to be {' or '.join(states)}; it is {self.state(job)}")

    def wait_end(self, job, timeout=90):
        finished = ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "DEADLINE")
        return self.wait_state(job, *finished, timeout=timeout)

    def node(self, name):
        said = self.run(f"scontrol show node {name} -o", user=None).ok()
        return dict(re.findall(r"(\S+?)=(.*?)(?= [A-Z]\S*?=|$)", said.out.splitlines()[0]))


def parent_of(pid):
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    return int(stat[stat.rindex(")") + 2:].split()[1])


def stepds_of(folder, idle=False):
    """The stepds whose spool is below `folder`; those too that wait for a next step, if `idle`. A task has its stepd's
    command line until it has become its program: a child of a stepd is none."""
    found = subprocess.run(["pgrep", "-af", f"^slurmstepd .*{folder}(/|$)"], capture_output=True, text=True).stdout.splitlines()
    alike = {int(line.split()[0]): line.split()[2] for line in found}
    return [pid for pid in sorted(alike) if parent_of(pid) not in (None, *alike) and (idle or alike[pid] != "idle")]


def kill(process, sig, timeout=60):
    """Ends a daemon and waits for it."""
    if process.poll() is not None:
        return
    process.send_signal(sig)
    try:
        process.wait(timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(timeout)
