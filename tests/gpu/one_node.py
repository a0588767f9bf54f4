"""A cluster of one node on this machine, with its cards, for tests/gpu/run; and workers: jobs that are asked things.

A worker is a job whose process waits for orders (`work.py serve`), so that starting torch is paid for once and two
jobs can be told to work at the same moment.
"""

import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
SHARDS = 64
NOBODY = 65534  # A second user that every machine has.
COMMANDS = ("slurmctld", "slurmd", "sbatch", "srun", "squeue", "sinfo", "scontrol", "scancel", "sacct", "sstat", "seff")


class Failed(Exception):
    """What was checked does not hold."""


class Skipped(Exception):
    """This machine cannot show it."""


def need(holds, text):
    if not holds:
        raise Failed(text)


def smi(question):
    """nvidia-smi's answer: one list of words for each card."""
    said = subprocess.run(["nvidia-smi", question, "--format=csv,noheader,nounits"], capture_output=True, text=True, check=True)
    return [[word.strip() for word in line.split(",")] for line in said.stdout.splitlines()]


def values(text):
    """"name value" lines as a dictionary; the first of a name counts."""
    found = {"text": text}
    for line in text.splitlines():
        name, _, value = line.partition(" ")
        found.setdefault(name, value)
    return found


def number(said, name):
    need(name in said, f"no {name} in: {said['text'][-2000:]}")
    return float(said[name])


def until(holds, seconds, what):
    end = time.time() + seconds
    while not (found := holds()):
        if time.time() > end:
            raise Failed(f"waited {seconds} s for {what() if callable(what) else what}")
        time.sleep(0.05)
    return found


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class OneNode:
    def __init__(self, program, shares=f"shard:{SHARDS}"):
        """`shares`: what each card is cut into."""
        self.program = program
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="sy-gpu-", dir="/tmp"))
        self.dir.chmod(0o755)
        # Other users must reach all of it, wherever the source is.
        self.work = self.dir / "work.py"
        shutil.copy(HERE / "work.py", self.work)
        self.bin = self.dir / "bin"
        for folder in ("bin", "state", "spool", "run", "log", "out"):
            (self.dir / folder).mkdir()
        (self.dir / "out").chmod(0o1777)
        shutil.copy(program, self.bin / "switchyard")
        for name in COMMANDS:
            (self.bin / name).symlink_to("switchyard")
        self.cards = len(smi("--query-gpu=uuid"))
        self.node = socket.gethostname().split(".")[0]
        name, _, each = shares.partition(":")
        (self.dir / "gres.conf").write_text("AutoDetect=nvml\n")
        (self.dir / "slurm.conf").write_text(
            f"ClusterName={self.dir.name}\nSlurmctldHost={self.node}\nSlurmctldPort={free_port()}\n"
            f"StateSaveLocation={self.dir}/state\nSlurmdSpoolDir={self.dir}/spool\nSwitchyardRunDir={self.dir}/run\n"
            f"SlurmctldLogFile={self.dir}/log/slurmctld.log\nSlurmdLogFile={self.dir}/log/slurmd.log\n"
            "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nKillWait=5\nReturnToService=2\n"
            f"GresTypes=gpu,{name}\nSwitchyardGpuSampleTime=1\n"
            f"NodeName={self.node} Gres=gpu:{self.cards},{name}:{self.cards * int(each)}\n"
            "PartitionName=debug Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n")
        self.env = {**os.environ, "PATH": f"{self.bin}:{os.environ['PATH']}", "SLURM_CONF": str(self.dir / "slurm.conf")}
        self.daemons = []
        for daemon in ("slurmctld", "slurmd"):
            log = open(self.dir / "log" / f"{daemon}.stderr", "wb")
            self.daemons.append(subprocess.Popen([self.bin / daemon, "-D"], env=self.env, stdout=log, stderr=log, cwd="/"))
        try:
            until(lambda: "idle" in self.run("sinfo -h -o %T", check=False), 60, lambda: f"the node; {self.logs()}")
        except Failed:
            self.stop()
            raise

    def logs(self):
        return "\n".join((self.dir / "log" / name).read_text()[-2000:] for name in sorted(os.listdir(self.dir / "log")))

    def constrains_devices(self):
        return "cannot be constrained" not in self.logs() and "Containment=none" not in self.run("scontrol -d show node")

    def run(self, command, check=True, uid=None):
        """What a command line prints; `uid`: of whom."""
        words, env = ["bash", "-c", command], self.env
        if uid:
            words = ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", *words]
            env = {**env, "HOME": str(self.dir / "out")}
        done = subprocess.run(words, env=env, capture_output=True, text=True, cwd=self.dir / "out")
        if check and done.returncode != 0:
            raise Failed(f"{command}: {done.stdout}{done.stderr}")
        return done.stdout

    def submit(self, options, command, uid=None):
        script = self.dir / "out" / f"script-{time.monotonic_ns()}"
        script.write_text(f"#!/bin/bash\n{command}\n")
        return int(self.run(f"sbatch --parsable -o job-%j {options} {script}", uid=uid).split(";")[0])

    def python(self, *words):
        """The command line of something that work.py does."""
        return " ".join(str(word) for word in (sys.executable, self.work, *words))

    def state(self, job):
        return self.run(f"squeue -h -t all -j {job} -o %T").strip()

    def is_over(self, job):
        return self.state(job) not in ("PENDING", "RUNNING", "COMPLETING", "CONFIGURING")

    def wait(self, job, seconds=120):
        until(lambda: self.is_over(job), seconds, lambda: f"job {job}, {self.state(job)}: {self.text(job)}")
        return self.text(job)

    def text(self, job):
        path = self.dir / "out" / f"job-{job}"
        return path.read_text() if path.exists() else ""

    def do(self, options, *words, prefix=""):
        """One thing that work.py does, as a job of its own: what it printed."""
        return values(self.wait(self.submit(options, prefix + self.python(*words))))

    def stop(self):
        self.run("scancel --me; scancel -u nobody", check=False)
        for daemon in reversed(self.daemons):
            daemon.send_signal(signal.SIGTERM)
        for daemon in self.daemons:
            daemon.wait(timeout=30)
        if os.environ.get("SY_KEEP"):
            print(f"kept {self.dir}", flush=True)
        else:
            shutil.rmtree(self.dir, ignore_errors=True)


class Workers:
    """Processes that wait for orders, each in a job of its own, or all in one (`prefixes`: one for each process)."""

    def __init__(self, node, *jobs):
        """`jobs`: (options, uid, prefixes) of each."""
        self.node, self.jobs, self.all = node, [], []
        for options, uid, prefixes in jobs:
            lines, mine = [], []
            for prefix in prefixes:
                folder = pathlib.Path(tempfile.mkdtemp(prefix="worker-", dir=node.dir / "out"))
                folder.chmod(0o777)
                lines.append(f"{prefix} {node.python('serve', folder)} &")
                mine.append(folder)
            self.jobs.append(node.submit(options, "\n".join([*lines, "wait"]), uid=uid))
            self.all += [Worker(node, self.jobs[-1], folder) for folder in mine]

    def __enter__(self):
        for worker in self.all:
            worker.answer(0)  # It is ready.
        return self.all

    def __exit__(self, *_):
        for worker in self.all:
            worker.order("end")
        for job in self.jobs:
            if not self.node.is_over(job):
                try:
                    self.node.wait(job, 20)
                except Failed:
                    self.node.run(f"scancel {job}", check=False)
                    self.node.wait(job, 60)


def alone(options="", uid=None, prefixes=("",)):
    """One job of Workers."""
    return options, uid, prefixes


class Worker:
    def __init__(self, node, job, folder):
        self.node, self.job, self.folder, self.count = node, job, folder, 0

    def order(self, *words):
        """Gives an order and does not wait; a number for answer()."""
        self.count += 1
        fresh = self.folder / "fresh"
        fresh.write_text(" ".join(str(word) for word in words))
        fresh.rename(self.folder / f"order-{self.count}")
        return self.count

    def answer(self, order, seconds=120):
        path = self.folder / f"answer-{order}"
        looked = time.time()

        def is_there():
            nonlocal looked
            if path.exists():
                return True
            if time.time() - looked > 2:
                looked = time.time()
                need(not self.node.is_over(self.job), f"job {self.job} is over: {self.node.text(self.job)[-2000:]}")
            return False

        until(is_there, seconds, lambda: f"an answer of job {self.job}: {self.node.text(self.job)[-2000:]}")
        return values(path.read_text())

    def ask(self, *words):
        return self.answer(self.order(*words))
