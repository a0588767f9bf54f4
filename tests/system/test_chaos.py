"""kill -9 of everything at random moments, while submissions stream in.

Afterwards: nothing acknowledged is lost, no id was given twice, no run of a job overlapped another run of the same
job, every job has ended in a true state, nothing is left behind, and the resources add up. The seed is printed; set
SY_CHAOS_SEED to use it again (the order of kills repeats, the operating system's timing does not).
"""

import collections
import os
import random
import signal
import time

import pytest

from cluster import kill, stepds_of
from world import wait_until

SECONDS = float(os.environ.get("SY_CHAOS_SECONDS", "12"))


class Ledger:
    """What the clients were told."""

    def __init__(self, cluster):
        self.cluster, self.jobs, self.cancelled = cluster, {}, set()

    def submit(self, rng):
        kind = rng.choice(["ok", "ok", "ok", "fail", "step"])
        body = {"ok": "sleep 0.0{n}", "fail": "exit 3", "step": "srun -n2 sleep 0.05"}[kind].format(n=rng.randrange(9))
        script = (f"echo \"start $SLURM_JOB_ID ${{SLURM_RESTART_COUNT:-0}} $(date +%s%N)\" >> runs.log; {body}; code=$?; "
                  f"echo \"end $SLURM_JOB_ID ${{SLURM_RESTART_COUNT:-0}} $(date +%s%N)\" >> runs.log; exit $code")
        options = "-n2" if kind == "step" else f"-n{rng.choice([1, 1, 2])}"
        said = self.cluster.run(f"sbatch --parsable -o /dev/null {options} --wrap '{script}'", timeout=120)
        if said.code == 0:
            job = int(said.out)
            assert job not in self.jobs, f"id {job} was given twice"
            self.jobs[job] = kind


@pytest.mark.slow
def test_nothing_is_lost_whatever_dies(make_cluster):
    seed = int(os.environ.get("SY_CHAOS_SEED", random.randrange(1 << 30)))
    print(f"SY_CHAOS_SEED={seed}")
    rng = random.Random(seed)
    cluster = make_cluster(extra="SlurmdTimeout=30\nMinJobAge=100000\nKillWait=1\n")
    try:
        run_chaos(cluster, rng)
    except BaseException:
        cluster.keep = True
        print(f"logs and spools of the failed run: {cluster.dir}")
        raise


def run_chaos(cluster, rng):
    ledger = Ledger(cluster)
    kills = collections.Counter()
    ends = time.monotonic() + SECONDS
    while time.monotonic() < ends:
        for _ in range(rng.randrange(1, 5)):
            ledger.submit(rng)
        victim = rng.choice(["controller", "agent", "stepd", "stepd", "both", "nothing"])
        running = stepds_of(cluster.dir) if victim == "stepd" else []
        if victim == "stepd" and not running:
            continue
        kills[victim] += 1
        if victim in ("controller", "both"):
            kill(cluster.controller, signal.SIGKILL)
        if victim in ("agent", "both"):
            node = rng.choice(cluster.names)
            kill(cluster.agents[node], signal.SIGKILL)
            cluster.start_agent(node)
        if victim in ("controller", "both"):
            cluster.start_controller()
        if victim == "stepd":
            try:
                os.kill(rng.choice(running), signal.SIGKILL)
            except ProcessLookupError:
                pass
    print(f"{len(ledger.jobs)} jobs, kills {dict(kills)}")
    cluster.wait_ready(120)

    def all_ended():
        said = cluster.run("squeue -h -o '%A %T %r'", user=None)
        return said.code == 0 and said.out == ""

    wait_until(all_ended, 240, lambda: "every job to end:\n" + cluster.run("squeue", user=None).out, every=0.3)
    check_ledger(cluster, ledger)
    check_runs(cluster)
    check_clean(cluster)


def check_ledger(cluster, ledger):
    said = cluster.run("squeue -h -t all -o '%A %T'", user=None).ok()
    states = dict(line.split() for line in said.out.splitlines())
    print(f"ended as {dict(collections.Counter(states.values()))}")
    lost = [job for job in ledger.jobs if str(job) not in states]
    assert not lost, f"acknowledged and lost: {lost}"
    for job, kind in ledger.jobs.items():
        allowed = {"ok": ("COMPLETED", "NODE_FAIL"), "step": ("COMPLETED", "NODE_FAIL", "FAILED"),
                   "fail": ("FAILED", "NODE_FAIL")}[kind]
        assert states[str(job)] in allowed, (job, kind, states[str(job)])


def check_runs(cluster):
    """No two runs of one job at the same time, and what COMPLETED has really run to its end."""
    runs = collections.defaultdict(dict)
    for line in cluster.read("runs.log").splitlines():
        what, job, attempt, at = line.split()
        place = runs[int(job)].setdefault(int(attempt), {})
        assert what not in place, f"job {job} run {attempt} has two {what}s"
        place[what] = int(at)
    for job, attempts in runs.items():
        order = [attempts[n] for n in sorted(attempts)]
        for before, after in zip(order, order[1:]):
            assert before.get("end", before["start"]) <= after["start"], f"job {job} ran twice at once: {attempts}"
    said = cluster.run("squeue -h -t COMPLETED -o %A", user=None).ok()
    for job in map(int, said.out.split()):
        if job in runs:
            assert "end" in runs[job][max(runs[job])], f"job {job} is COMPLETED and never reached its end"


def check_clean(cluster):
    wait_until(lambda: not cluster.leftovers() and not stepds_of(cluster.dir), 60,
               lambda: f"nothing to be left: {cluster.leftovers()} {stepds_of(cluster.dir)}")
    for node in cluster.names:
        shown = cluster.node(node)
        assert (shown["CPUAlloc"], shown["AllocMem"]) == ("0", "0"), shown
