"""The work that is measured. Each function takes a running system and gives rows: a value, its unit, the spread."""

import json
import statistics
import subprocess
import time

from systems import wait_until


def many(system, tools, count, *command, parallel=1):
    """One line of run_many: the command by fresh processes."""
    said = subprocess.run([tools / "run_many", "--parallel", str(parallel), str(max(1, int(count))),
                           system.command(command[0]) if "/" not in str(command[0]) else str(command[0]), *map(str, command[1:])],
                          env=system.env(), cwd=system.dir / "work", capture_output=True, text=True, check=True)
    return json.loads(said.stdout)


def milliseconds(figure, floor=None):
    row = {"value": figure["median"] / 1000, "unit": "ms", "spread": f"{figure['p10'] / 1000:.2f}-{figure['p90'] / 1000:.2f}"}
    if floor:
        row["floor"] = floor["median"] / 1000
    if figure["failures"]:
        row["failures"] = figure["failures"]
    return row


def latency(system, tools, scale):
    """One command by a fresh process, on a cluster that has nothing else to do."""
    floor = many(system, tools, 500 * scale, tools / "empty")
    system.run("sbatch", "-H", "-J", "shown", "--wrap", "true")
    job = system.run("squeue", "-h", "-n", "shown", "-o", "%A").stdout.split()[0]
    rows = {}
    for name, command, count in (
            ("sbatch", ["sbatch", "-H", "--wrap", "true"], 200), ("squeue", ["squeue"], 200), ("sinfo", ["sinfo"], 200),
            ("scontrol show job", ["scontrol", "show", "job", job], 200), ("srun -n1 true", ["srun", "-n1", "true"], 60),
            ("srun -n4 true, over 4 nodes (theirs: 1)", ["srun", *(["-N4"] if system.name == "Switchyard" else []), "-n4", "true"], 40),
            ("sbatch --wait --wrap true", ["sbatch", "--wait", "--wrap", "true"], 20 if system.name != "Slurm" else 5)):
        rows[f"{name}, fresh process"] = milliseconds(many(system, tools, count * scale, *command), floor)
    return rows


def submit(system, tools, scale):
    """Submissions a second by 1, 4 and 16 submitters, each a fresh sbatch."""
    rows = {}
    for parallel in (1, 4, 16):
        count = int(1000 * scale)
        figure = many(system, tools, count, "sbatch", "-H", "--wrap", "true", parallel=parallel)
        rows[f"submissions by {parallel} at a time"] = {"value": (count - figure["failures"]) / figure["seconds"], "unit": "jobs/s"}
    return rows


def _drain(system, begin, count, timeout=1800):
    wait_until(lambda: system.queue_length() == 0, f"{count} jobs to end", timeout)
    return {"value": count / (time.monotonic() - begin), "unit": "jobs/s"}


def bare_loop(tools, count):
    """The floor: the same scripts by a loop of fork and exec, two at a time."""
    said = subprocess.run([tools / "run_many", "--parallel", "2", str(count), "/bin/sh", "-c", "true"], capture_output=True, text=True,
                          check=True)
    return count / json.loads(said.stdout)["seconds"]


def throughput(system, tools, scale):
    """From submission to end: 2,000 separate jobs, and an array of 2,000."""
    count = int(2000 * scale)
    floor = bare_loop(tools, count)
    rows = {}
    begin = time.monotonic()
    many(system, tools, count, "sbatch", "-o", "/dev/null", "--mem=10", "--wrap", "true", parallel=4)
    rows[f"{count:,} separate jobs, submission to end"] = {**_drain(system, begin, count), "floor": floor}
    begin = time.monotonic()
    system.run("sbatch", "-o", "/dev/null", "--mem=10", f"--array=1-{count}", "--wrap", "true")
    rows[f"array of {count:,}, submission to end"] = {**_drain(system, begin, count), "floor": floor}
    return rows


def queue(system, tools, scale):
    """A long queue: listing it, one user's part of it, submitting to it; memory and restart."""
    rows = {}
    queued = 0
    sizes = [int(20000 * scale), int(100000 * scale)] if system.name == "Switchyard" else [int(20000 * scale)]
    empty_rss = system.controller_rss()
    for size in sizes:
        many(system, tools, size - queued, "sbatch", "-H", "--wrap", "true", parallel=16)
        queued = size
        label = f"{size:,} queued"
        rows[f"squeue, all of {label}"] = milliseconds(many(system, tools, max(3, 10 * scale), "squeue"))
        rows[f"squeue of a user with none, {label}"] = milliseconds(many(system, tools, max(5, 50 * scale), "squeue", "-u", "nobody"))
        rows[f"sbatch, {label}"] = milliseconds(many(system, tools, max(10, 100 * scale), "sbatch", "-H", "--wrap", "true"))
        rows[f"controller memory a job, {label}"] = {"value": (system.controller_rss() - empty_rss) / size, "unit": "B"}
        rows[f"restart to first answer, {label}"] = {"value": system.restart_controller() * 1000, "unit": "ms"}
    return rows


def pollers(system, tools, scale):
    """200 clients that ask squeue in a loop while jobs flow: what is left of the throughput, and sbatch's p99."""
    many(system, tools, 500 * scale, "sbatch", "-H", "--wrap", "true", parallel=4)
    seconds = 20 * scale + 2
    loop = f"end=$(($(date +%s) + {int(seconds)})); while [ $(date +%s) -lt $end ]; do {system.command('squeue')} >/dev/null 2>&1; done"
    clients = [subprocess.Popen(["sh", "-c", loop], env=system.env(), stdin=subprocess.DEVNULL) for _ in range(200)]
    begin, done, worst = time.monotonic(), 0, []
    while time.monotonic() - begin < seconds - 1:
        figure = many(system, tools, 20, "sbatch", "-o", "/dev/null", "--mem=10", "--wrap", "true")
        done += 20
        worst.append(figure["p99"])
    for client in clients:
        client.wait()
    rate = done / (time.monotonic() - begin)
    return {"submissions under 200 pollers": {"value": rate, "unit": "jobs/s"},
            "sbatch p99 under 200 pollers": {"value": statistics.median(worst) / 1000, "unit": "ms"}}


WORK = {"latency": latency, "submit": submit, "throughput": throughput, "queue": queue, "pollers": pollers}
