"""Three hosts with networks of their own: controller and login on the first, agents on the others, over TLS."""

import subprocess

import pytest

from cluster import Answer, Cluster, kill
from hosts import Network
from world import USERS, bin_dir, is_root, stays, wait_until
import signal

pytestmark = pytest.mark.skipif(not is_root(), reason="needs root for network namespaces")

NODES = """\
NodeName=h2 CPUs=1 RealMemory=1000
NodeName=h3 CPUs=1 RealMemory=1000
PartitionName=debug Nodes=h2,h3 Default=YES MaxTime=INFINITE State=UP
"""


class SpreadCluster(Cluster):
    """The same cluster, each daemon on a host of its own."""

    def __init__(self):
        super().__init__(nodes=NODES, names=["h2", "h3"], start=False, extra="SlurmdTimeout=300\n")
        self.conf.write_text(self.conf.read_text().replace(f"SlurmctldHost={self.host}", "SlurmctldHost=h1(10.77.0.1)"))
        self.network = Network(["h1", "h2", "h3"], self.dir / "run")
        self.start()

    def _spawn(self, name, *arguments):
        host = self.network.hosts["h1" if name == "slurmctld" else arguments[-1]]
        log = open(self.dir / "log" / f"{name}-{host.name}.stderr", "ab")
        return subprocess.Popen(host.command(bin_dir() / name, "-D", "-f", self.conf, *arguments), stdin=subprocess.DEVNULL,
                                stdout=log, stderr=log, start_new_session=True, cwd="/",
                                env={"PATH": self.path(), "LANG": "C.UTF-8", "HOME": "/"})

    def run(self, command, user="alice", host="h1", timeout=60, cwd=None, **ignored):
        who = ["setpriv", f"--reuid={USERS[user]}", f"--regid={USERS[user]}", "--clear-groups"] if user else []
        place = str(cwd or (self.home(user) if user else "/"))
        full = self.network.hosts[host].command(*who, "bash", "-c", f"cd {place} && {command}")
        return Answer(subprocess.run(full, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=timeout,
                                     env=self.env(user)))

    def stop(self):
        try:
            super().stop()
        finally:
            self.network.close()


@pytest.fixture(scope="module")
def spread():
    made = SpreadCluster()
    yield made
    made.stop()


def test_a_job_on_both_hosts(spread):
    job = spread.wrap("srun -l bash -c 'echo $SLURMD_NODENAME $(hostname) $(getent hosts h2 | cut -d\" \" -f1)'",
                      "-N2 --ntasks-per-node=1 -o both.out")
    assert spread.wait_end(job) == "COMPLETED", spread.read("both.out")
    assert sorted(spread.read("both.out").splitlines()) == ["0: h2 h2 10.77.0.2", "1: h3 h3 10.77.0.2"]


def test_srun_from_the_login_host(spread):
    said = spread.run("srun -N2 -l hostname")
    assert said.code == 0, said
    assert sorted(said.out.splitlines()) == ["0: h2", "1: h3"]


def test_commands_on_a_compute_host_are_relayed(spread):
    said = spread.run("sinfo -h -o %D", host="h3").ok()
    assert said.out == "2\n"
    job = int(spread.run("sbatch --parsable -w h2 -o relayed.out --wrap 'id -un; hostname'", host="h3").ok().out)
    assert spread.wait_end(job) == "COMPLETED"
    assert spread.read("relayed.out") == "alice\nh2\n"
    job = int(spread.run("sbatch --parsable --wrap 'sleep 100'", host="h3", user="alice").ok().out)
    assert "denied" in spread.run(f"scancel {job}", host="h2", user="bob").err
    spread.run(f"scancel {job}", host="h2").ok()


def test_a_cut_cable_does_not_end_the_job(spread):
    job = spread.wrap("while [ ! -e go ]; do sleep 0.05; done; echo through > cut.out", "-w h3 -o /dev/null")
    spread.wait_state(job, "RUNNING")
    spread.network.cut("h3")
    spread.write("go", "")
    wait_until(lambda: (spread.home() / "cut.out").exists(), what="the script to go on without the network")
    spread.network.cut("h3", off=False)
    assert spread.wait_end(job, timeout=90) == "COMPLETED"


def test_a_wrong_key_is_no_member(spread):
    conf = spread.dir / "stranger.conf"
    conf.write_text(spread.conf.read_text() + f"SwitchyardKeyFile={spread.dir}/wrong.key\n")
    (spread.dir / "wrong.key").write_text("ab" * 32 + "\n")
    (spread.dir / "wrong.key").chmod(0o400)
    kill(spread.agents["h2"], signal.SIGTERM)
    host = spread.network.hosts["h2"]
    stranger = subprocess.Popen(host.command(bin_dir() / "slurmd", "-D", "-f", conf, "-N", "h2"), stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        wait_until(lambda: "h2" in spread.run("sinfo -h -N -o '%N %t' | grep '\\*'", user=None).out, 30, "h2 to be missed")
        stays(lambda: "*" in spread.run("sinfo -h -n h2 -o %t", user=None).out, 3, "h2 is missed")
    finally:
        kill(stranger, signal.SIGKILL)
        spread.start_agent("h2")
        spread.wait_ready()
