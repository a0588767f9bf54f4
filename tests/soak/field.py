"""Where the soak takes place: hosts, a small disk, the daemons, those who submit, and who watches the daemons' size."""

import os
import subprocess
import threading
import time

from cluster import Answer, Cluster, stepds_of
from hosts import Network
from world import USERS, bin_dir, wait_until

HOSTS = ["s1", "s2", "s3"]           # The controller's, and one for each node.
NODE_HOSTS = {"n2": "s2", "n3": "s3"}  # Pretend nodes, so that they have more cores than the machine.
DISK_MIB = 512
CORES = 8
OUTSTANDING_MAX = 400  # Jobs that were acknowledged and have not ended, before the submitters take a breath.
SUBMITTERS = 4

NODES = "".join(f"NodeName={name} NodeHostname={host} CPUs={CORES} RealMemory=4000\n" for name, host in NODE_HOSTS.items()) + \
    f"PartitionName=debug Nodes={','.join(NODE_HOSTS)} Default=YES MaxTime=INFINITE State=UP\n"
EXTRA = "SlurmdTimeout=120\nMinJobAge=5\nKillWait=1\n"

# Each run says when it begins and when it has come to its end; the order of the lines is the order of things.
SCRIPT = """#!/bin/sh
echo "begin $SLURM_JOB_ID ${SLURM_RESTART_COUNT:-0}" >> runs.log
%s
echo "end $SLURM_JOB_ID ${SLURM_RESTART_COUNT:-0}" >> runs.log
"""
BODIES = [":", ":", ":", "sleep 0.05", "sleep 0.3", "srun -n2 true", "sleep 0.2 & sleep 0.1"]


class Field(Cluster):
    def __init__(self):
        super().__init__(nodes=NODES, names=list(NODE_HOSTS), start=False, extra=EXTRA)
        self.conf.write_text(self.conf.read_text().replace(f"SlurmctldHost={self.host}", f"SlurmctldHost={HOSTS[0]}(10.77.0.1)"))
        self.disk = self.dir / "state"
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_MIB}m,mode=700", "soak", self.disk], check=True)
        self.network = Network(HOSTS, self.dir / "run")
        for i, body in enumerate(BODIES):
            self.write(f"job{i}.sh", SCRIPT % body, mode=0o755)
        self.write("runs.log", "")
        self.submitters = Submitters(self)
        self.sampler = Sampler(self)

    def _spawn(self, name, *arguments):
        host = self.network.hosts[HOSTS[0] if name == "slurmctld" else NODE_HOSTS[arguments[-1]]]
        log = open(self.dir / "log" / f"{name}-{host.name}.stderr", "ab")
        return subprocess.Popen(host.command(bin_dir() / name, "-D", "-f", self.conf, *arguments), stdin=subprocess.DEVNULL,
                                stdout=log, stderr=log, start_new_session=True, cwd="/",
                                env={"PATH": self.path(), "LANG": "C.UTF-8", "HOME": "/"})

    def run(self, command, user="alice", host=HOSTS[0], timeout=120, **ignored):
        who = ["setpriv", f"--reuid={USERS[user]}", f"--regid={USERS[user]}", "--clear-groups"] if user else []
        place = str(self.home(user) if user else "/")
        full = self.network.hosts[host].command(*who, "sh", "-c", f"cd {place} && {command}")
        return Answer(subprocess.run(full, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=timeout,
                                     env=self.env(user)))

    def keep_alive(self):
        """A daemon that has ended is started again, as an init would: but by itself only a full disk at its start may end one."""
        if self.controller.poll() is not None:
            self.start_controller()
        for node, agent in list(self.agents.items()):
            if agent.poll() is not None:
                self.start_agent(node)

    def settle(self):
        """All is well again: until the queue is empty and every node answers."""
        self.keep_alive()
        self.wait_ready(timeout=120)

        def empty():
            said = self.run("squeue -h -o '%A %T'", user=None)
            return said.code == 0 and said.out == ""

        wait_until(empty, 300, "every job to end:\n" + self.run("squeue", user=None).out, every=0.5)
        wait_until(lambda: not self.leftovers(), 60, "the last processes to end", every=0.2)

    def stop(self):
        try:
            super().stop()
        finally:
            self.network.close()
            subprocess.run(["umount", "-l", self.disk], check=False)


class Submitters:
    """Clients that submit as fast as they can, each name once, and write down what they were told."""

    def __init__(self, field):
        self.field = field
        self.told = {}     # Name of the submission -> id of the job.
        self.refused = {}  # Name -> what was said instead.
        self.lock = threading.Lock()
        self.going = True
        self.waiting = 0
        self.threads = [threading.Thread(target=self._submit, args=(i,)) for i in range(SUBMITTERS)]

    def start(self):
        for thread in self.threads:
            thread.start()

    def stop(self):
        self.going = False
        for thread in self.threads:
            thread.join()

    def _ended(self):
        try:
            return sum(1 for line in open(self.field.home() / "runs.log", "rb") if line.startswith(b"end"))
        except OSError:
            return 0

    def _submit(self, me):
        number = 0
        while self.going:
            number += 1
            name = f"s{me}x{number}"
            said = self.field.run(f"sbatch --parsable -o /dev/null -J {name} -n{1 + number % 2} job{(me + number) % len(BODIES)}.sh",
                                  timeout=600)
            with self.lock:
                if said.code == 0:
                    self.told[name] = int(said.out)
                else:
                    self.refused[name] = said.err.strip().splitlines()[-1:] or [f"exit {said.code}"]
            if number % 50 == 0:
                self._breathe()

    def _breathe(self):
        """The queue may be long, not endless: what is left at the end has to be worked off."""
        while self.going and len(self.told) - self._ended() > OUTSTANDING_MAX:
            time.sleep(0.2)


class Sampler:
    """The size and the open descriptors of the daemons, once a second."""

    def __init__(self, field):
        self.field = field
        self.samples = []  # (when, which, pid, resident KiB, descriptors)
        self.going = True
        self.thread = threading.Thread(target=self._watch)

    def start(self):
        self.begin = time.monotonic()
        self.thread.start()

    def stop(self):
        self.going = False
        self.thread.join()

    def _watch(self):
        while self.going:
            daemons = [("controller", self.field.controller), *self.field.agents.items()]
            for name, process in daemons:
                size = _resident(process.pid)
                if size:
                    self.samples.append((time.monotonic() - self.begin, name, process.pid, *size))
            time.sleep(1)


def _resident(pid):
    try:
        with open(f"/proc/{pid}/status") as status:
            kib = next((int(line.split()[1]) for line in status if line.startswith("VmRSS:")), 0)
        return kib, len(os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return None


def stepds(field):
    return stepds_of(field.dir, idle=True)
