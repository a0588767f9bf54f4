"""As test_golden.py, for answers that need more of a scene than their command line."""

import re
import signal
import subprocess

import pytest

import busy_scene
from cluster import Cluster
from golden import keep, mask, reference, same_fields
from world import wait_until

COMPARES = {f"errors/{name}" for name in (
    "job-timeout-output", "job-timeout-output-srun-step", "job-cancelled-output", "job-cancelled-output-srun-step",
    "srun-cancelled", "srun-sigint-twice", "srun-timeout", "batch-with-failing-steps")}


@pytest.fixture(scope="module")
def cluster():
    """As patient with tasks as the real one was."""
    made = Cluster(extra="KillWait=30\n")
    yield made
    made.stop()


def plain(text, home):
    """Lines in any order, as the writers of one file race; without ids and moments."""
    text = same_fields(mask(text.replace(str(home), "HOME"), home), durations=False)
    text = re.sub(r"(?m)^\d+(\.\w+)? +", r"ID\1 ", text)
    return sorted(re.sub(r"(JobId|slurm-)[= ]?(ID|\d+)", r"\1", line) for line in text.splitlines())


def compare(cluster, name, out, err="", code=0):
    want = reference("errors", name)
    assert plain(out, cluster.home()) == plain(want.out.replace("nX", "n1"), cluster.home())
    assert plain(err, cluster.home()) == plain(want.err, cluster.home())
    assert code == want.code
    lines = ["".join(f"{line}\n" for line in plain(text, cluster.home())) for text in (out, err)]
    keep("errors", name, want.command, *lines, code)


def script(cluster, name, body, options=""):
    cluster.write(name, f"#!/bin/bash\n{body}\n")
    return cluster.sbatch(f"{options} {name}", env=busy_scene.ACCOUNT)


def started(cluster, file):
    wait_until(lambda: (cluster.home() / file).exists() and "started" in cluster.read(file), 60, f"{file} to begin")


def step_runs(cluster, name):
    wait_until(lambda: cluster.run(f"squeue -h -s -n {name} -o %i", user=None).out, 60, "the step")
    wait_until(lambda: any(b"sleep" in cmdline(pid) for pid in cluster.leftovers()), 60, "its task")


def cmdline(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().split(b"\0")[0]
    except OSError:
        return b""


@pytest.mark.slow
def test_time_limits(cluster):
    waiting = cluster.popen("srun -J tl-interactive -t 1 sleep 600", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)
    alone = script(cluster, "tl.sh", "#SBATCH -J timelimit -t 1\necho started\nsleep 600")
    step = script(cluster, "tls.sh", "#SBATCH -J timelimit-srun -t 1\necho started\nsrun sleep 600")
    for job in (alone, step):
        assert cluster.wait_end(job, timeout=300) == "TIMEOUT"
    said = cluster.run(f"cat slurm-{alone}.out; sacct -j {alone}; scontrol show job {alone}").ok()
    compare(cluster, "job-timeout-output", said.out)
    compare(cluster, "job-timeout-output-srun-step", cluster.run(f"cat slurm-{step}.out; sacct -j {step}").ok().out)
    out, err = waiting.communicate(timeout=120)
    compare(cluster, "srun-timeout", out, err, waiting.returncode)


def test_cancelled_jobs(cluster):
    alone = script(cluster, "cancel.sh", "echo started\nexec sleep 600", "-o cancel.out")
    started(cluster, "cancel.out")
    cluster.run(f"scancel {alone}").ok()
    assert cluster.wait_end(alone) == "CANCELLED"
    compare(cluster, "job-cancelled-output", cluster.run(f"cat cancel.out; sacct -j {alone}").ok().out)
    step = script(cluster, "cancelsrun.sh", "echo started\nsrun sleep 600", "-o cancelsrun.out")
    started(cluster, "cancelsrun.out")
    step_runs(cluster, "cancelsrun.sh")
    cluster.run(f"scancel {step}").ok()
    assert cluster.wait_end(step) == "CANCELLED"
    compare(cluster, "job-cancelled-output-srun-step", cluster.run(f"cat cancelsrun.out; sacct -j {step}").ok().out)


def interactive(cluster, name):
    process = cluster.popen(f"srun -J {name} sleep 600", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    step_runs(cluster, name)
    return process


def test_a_cancelled_srun(cluster):
    process = interactive(cluster, "interactive-cancel")
    cluster.run("scancel -n interactive-cancel").ok()
    out, err = process.communicate(timeout=120)
    compare(cluster, "srun-cancelled", out, err, process.returncode)


def test_an_interrupted_srun(cluster):
    process = interactive(cluster, "sigint")
    process.send_signal(signal.SIGINT)
    told = ""
    while "sending" not in told and "running" not in told:  # It has taken the first.
        told += process.stderr.readline()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    compare(cluster, "srun-sigint-twice", out, told + err, process.returncode)


def test_a_script_whose_steps_fail(cluster):
    cluster.write("failstep.sh", """\
        #!/bin/bash
        #SBATCH -o failstep.out
        srun bash -c 'exit 9'
        echo srun returned $?
        srun nosuchcommand
        echo srun returned $?
        srun -N3 true
        echo srun returned $?
        """)
    said = cluster.run("sbatch --wait failstep.sh; cat failstep.out")
    compare(cluster, "batch-with-failing-steps", said.out, said.err, said.code)
