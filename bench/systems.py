"""The two systems that are compared: Switchyard, and Debian's Slurm with a tuned configuration.

Both are started on this machine, in folders and on ports of their own, with the same number of cores to give out: as four
pretend nodes, or as one node of as many cores where the peer's build runs one slurmd per host (before 24.11).
"""

import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time

CORES_PER_NODE, NODES = 8, 4


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until(condition, what, timeout=120, pause=0.02):
    deadline = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > deadline:
            raise RuntimeError(f"waited {timeout} s for {what}")
        time.sleep(pause)


class System:
    """What both have in common: a folder, commands, a controller process."""

    name = ""
    place = None  # Where the folders are made: the same for both, so that both write to the same kind of disk.
    root = pathlib.Path("/")  # The system that both run in: with the same C library a program starts equally fast.

    def __init__(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="sybench-", dir=self.place))
        self.dir.chmod(0o755)
        for folder in ("state", "spool", "log", "run", "work"):
            (self.dir / folder).mkdir()
        (self.dir / "work").chmod(0o777)
        self.host = socket.gethostname().split(".")[0]
        self.conf = self.dir / "slurm.conf"
        self.controller = None

    def env(self):
        return {"PATH": f"{self.bin}:/usr/bin:/bin", "SLURM_CONF": str(self.conf), "HOME": str(self.dir), "LANG": "C.UTF-8",
                "USER": "root"}

    def command(self, name):
        return str(pathlib.Path(self.bin) / name)

    def within(self, command, user=None):
        """The command line as it is started from here, in the folder `work`."""
        as_user = [f"--userspec={user}"] if user else []
        inside = ["/usr/sbin/chroot", *as_user, str(self.root)] if user or self.root != pathlib.Path("/") else []
        return [*inside, "/bin/sh", "-c", 'cd "$0" && exec "$@"', str(self.dir / "work"), *map(str, command)]

    def run(self, *arguments, check=True, user=None, **options):
        return subprocess.run(self.within([self.command(arguments[0]), *map(str, arguments[1:])], user), env=self.env(),
                              capture_output=True, text=True, check=check, stdin=subprocess.DEVNULL, **options)

    def is_done(self):
        """Nothing waits and nothing runs. Asked often: elements of an array that wait are one line, so the answer is short."""
        said = self.run("squeue", "-h", "-t", "PENDING,RUNNING,COMPLETING", "-o", "%A", check=False)
        return said.returncode == 0 and not said.stdout

    def controller_rss(self):
        for line in pathlib.Path(f"/proc/{self.controller.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
        return 0

    def spawn(self, *command):
        log = open(self.dir / "log" / "daemons.out", "ab")
        return subprocess.Popen(self.within(command), env=self.env(), cwd="/", stdin=subprocess.DEVNULL, stdout=log,
                                stderr=log, start_new_session=True)

    def stop_process(self, process):
        if process and process.poll() is None:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def cancel_running(self):
        """What runs is ended; a long queue of held jobs is left to the removal of the folder."""
        try:
            self.run("scancel", "-u", "root", "-t", "RUNNING", check=False, timeout=30)
        except subprocess.TimeoutExpired:
            pass

    def restart_controller(self):
        """Kills the controller and measures how long until it answers again."""
        self.controller.kill()
        self.controller.wait()
        begin = time.monotonic()
        self.start_controller()
        wait_until(lambda: self.run("squeue", "-h", "-j", "1,1", check=False, timeout=300).returncode == 0, "an answer", 600)
        return time.monotonic() - begin

    def cleanup(self):
        if not os.environ.get("SY_KEEP"):
            shutil.rmtree(self.dir, ignore_errors=True)


class Switchyard(System):
    name = "Switchyard"

    def __init__(self, bin_dir):
        super().__init__()
        self.bin = bin_dir
        self.conf.write_text(f"""\
ClusterName={self.dir.name}
SlurmctldHost={self.host}
SlurmctldPort={free_port()}
StateSaveLocation={self.dir}/state
SlurmdSpoolDir={self.dir}/spool/%n
SwitchyardRunDir={self.dir}/run
SelectTypeParameters=CR_Core_Memory
MaxArraySize=200001
MaxJobCount=2000000
MinJobAge=10
NodeName=n[1-{NODES}] NodeHostname={self.host} CPUs={CORES_PER_NODE} RealMemory=16000
PartitionName=debug Nodes=ALL Default=YES MaxTime=INFINITE State=UP
""")
        # As for the peer: no limits by cgroup, only the tracking of processes.
        (self.dir / "cgroup.conf").write_text("ConstrainCores=no\nConstrainRAMSpace=no\nConstrainDevices=no\n")
        self.nodes = [f"n{n}" for n in range(1, NODES + 1)]
        self.agents = []

    def start_controller(self):
        self.controller = self.spawn(self.command("slurmctld"), "-D", "-f", self.conf)

    def start(self):
        self.start_controller()
        self.agents = [self.spawn(self.command("slurmd"), "-D", "-f", self.conf, "-N", node) for node in self.nodes]
        wait_until(lambda: self.run("sinfo", "-h", "-o", "%D %t", check=False).stdout == f"{NODES} idle\n", "our nodes")
        return self

    def stop(self):
        self.cancel_running()
        for process in [*self.agents, self.controller]:
            self.stop_process(process)
        self.cleanup()


class Slurm(System):
    name = "Slurm"
    bin = "/usr/bin"

    def __init__(self):
        super().__init__()
        self.munge = self.dir / "munge"
        self.munge.mkdir(mode=0o755)
        several = self.runs_several()
        self.nodes = [f"n{n}" for n in range(1, NODES + 1)] if several else [self.host]
        cores, memory = (CORES_PER_NODE, 16000) if several else (CORES_PER_NODE * NODES, 16000 * NODES)
        nodes = "\n".join(f"NodeName={node} NodeHostname={self.host} NodeAddr=127.0.0.1 Port={free_port()} CPUs={cores} RealMemory={memory}"
                          for node in self.nodes)
        self.conf.write_text(f"""\
ClusterName=peer
SlurmctldHost={self.host}(127.0.0.1)
SlurmctldPort={free_port()}
SlurmUser=root
StateSaveLocation={self.dir}/state
SlurmdSpoolDir={self.dir}/spool/%n
SlurmctldPidFile={self.dir}/run/slurmctld.pid
SlurmdPidFile={self.dir}/run/slurmd.%n.pid
SlurmctldLogFile={self.dir}/log/slurmctld.log
SlurmdLogFile={self.dir}/log/slurmd.%n.log
SlurmctldDebug=error
SlurmdDebug=error
AuthInfo=socket={self.munge}/socket
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SlurmdParameters=config_overrides
SchedulerType=sched/backfill
SchedulerParameters=default_queue_depth=10000,sched_min_interval=0,batch_sched_delay=0,max_rpc_cnt=0
MessageTimeout=60
ReturnToService=2
MaxJobCount=500000
MaxArraySize=200001
MinJobAge=10
{nodes}
PartitionName=debug Nodes=ALL Default=YES MaxTime=INFINITE State=UP
""")
        # Later ones look for cgroups even where nothing is to be limited by them.
        (self.dir / "cgroup.conf").write_text("CgroupPlugin=disabled\n" if several else "")
        self.daemons = []

    def runs_several(self):
        """Whether its slurmd takes the name of its node (-N)."""
        said = subprocess.run(self.within(["/usr/sbin/slurmd", "-h"]), capture_output=True, text=True)
        return "-N" in said.stdout + said.stderr

    def version(self):
        return self.run("sinfo", "--version").stdout.split()[-1]

    def daemon(self, name, *arguments):
        return self.spawn(f"/usr/sbin/{name}", *arguments)

    def start_controller(self):
        self.controller = self.daemon("slurmctld", "-D", "-f", self.conf)

    def start(self):
        key = self.munge / "key"
        key.write_bytes(os.urandom(64))
        key.chmod(0o400)
        self.daemons = [self.daemon("munged", "--foreground", "--force", f"--key-file={key}", f"--socket={self.munge}/socket",
                                    f"--pid-file={self.munge}/pid", f"--log-file={self.munge}/log", f"--seed-file={self.munge}/seed",
                                    "--num-threads=4")]
        wait_until(lambda: (self.munge / "socket").exists(), "munge")
        self.start_controller()
        for node in self.nodes:
            (self.dir / "spool" / node).mkdir()
            which = ["-N", node] if len(self.nodes) > 1 else []
            self.daemons.append(self.daemon("slurmd", "-D", "-f", self.conf, *which))
        wait_until(lambda: self.run("sinfo", "-h", "-o", "%D %t", check=False).stdout == f"{len(self.nodes)} idle\n", "Slurm's nodes")
        return self

    def stop(self):
        self.cancel_running()
        for process in [*reversed(self.daemons), self.controller]:
            self.stop_process(process)
        self.cleanup()
