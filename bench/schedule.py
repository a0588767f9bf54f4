#!/usr/bin/env python3
"""The scheduler alone: how long it takes to decide, and how good what it decides is.

    bench/schedule.py [--quick] [--only curve,policies,site] [--swf FILE] [--write docs/performance.md]

Everything runs in switchyard_scale: the real core, pretended nodes and clock. Times are of the processor, medians where
something happens often. Workloads are generated from a seed; --swf plays a recorded one (Standard Workload Format) instead of
the generated one of that format.
"""

import argparse
import json
import math
import pathlib
import random
import subprocess
import tempfile

from compare import TREE, describe
from markers import put_between

PENDING_PER_NODE = 10
POLICIES = {"fifo": "FIFO", "easy": "EASY", "backfill": "Switchyard"}


def build(preset):
    quiet = {"stdout": subprocess.DEVNULL, "check": True}
    subprocess.run(["cmake", "--preset", preset], cwd=TREE, **quiet)
    subprocess.run(["cmake", "--build", "--preset", preset, "--target", "switchyard_scale"], cwd=TREE, **quiet)
    return TREE / "build" / preset / "sim" / "switchyard_scale"


def measure(program, *arguments):
    command = [str(program), "--json", *map(str, arguments)]
    print(" ".join(command[1:]), flush=True)
    figures = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    print("    " + ", ".join(f"{name} {value:g}" for name, value in figures.items()), flush=True)
    return figures


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|---" + "|---:" * (len(head) - 1) + "|"]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


def number(value, digits=0):
    return f"{value:,.{digits}f}"


def curve(program, options):
    """Time per decision and per plan, from 1,000 nodes to 100,000, with ten jobs waiting for each node."""
    sizes = [300, 1000] if options.quick else [1000, 3000, 10000, 30000, 100000]
    rows, filled, planned = [], [], []
    for nodes in sizes:
        jobs = nodes * PENDING_PER_NODE
        found = measure(program, "--pass", "--nodes", nodes, "--jobs", jobs)
        filled.append((jobs, found["fill_seconds"]))
        planned.append((jobs, found["plan_us_median"]))
        rows.append([number(nodes), number(jobs), number(found["decisions_per_second"]), number(1e6 * found["fill_seconds"] / jobs, 1),
                     number(found["plan_us_median"] / 1e3, 1), number(found["plan_turn_us_most"] / 1e3, 1),
                     number(found["submission_us_median"], 1), number(found["submission_us_p99"], 1),
                     number(found["completion_us_median"], 1), number(found["completion_us_p99"], 1), number(found["memory_mb"])])
    head = ["nodes", "pending jobs", "decisions/s", "core time a job, us", "pass with a new plan, ms", "its longest turn, ms",
            "submission, us", "p99", "completion, us", "p99", "memory, MB"]
    return ["A full machine with ten jobs waiting for each node, backfill on. A decision is a submission with all that it sets off:"
            " a start, a place in the queue, plans that fall due. A pass makes backfill reservations for the first ten jobs of each"
            " partition and"
            " starts what fits beside them; it is made in turns, between which requests are served.", "", *table(head, rows), "",
            f"Growth with the number of jobs and nodes, as a power (1: linear): filling the queue {exponent(filled):.2f}, a pass"
            f" {exponent(planned):.2f}."]


def exponent(points):
    """The slope of the straight line through the points, both sides logarithmic."""
    logs = [(math.log(x), math.log(y)) for x, y in points]
    mean_x, mean_y = (sum(values) / len(logs) for values in zip(*logs))
    return sum((x - mean_x) * (y - mean_y) for x, y in logs) / sum((x - mean_x) ** 2 for x, _ in logs)


def generated_swf(path, jobs, seed=5):
    """A workload in the manner of the recorded ones: powers of two, long tails, round limits, days and nights. It would keep
    the 4,096 processors busy to nine tenths."""
    rng = random.Random(seed)
    lines, at = ["; Generated", "; MaxNodes: 256", "; MaxProcs: 4096"], 0.0
    for number_ in range(1, jobs + 1):
        day = 1 + 0.8 * math.sin(at / 86400 * 2 * math.pi)
        at += rng.expovariate(1 / 135) / max(day, 0.2)
        processors = rng.choice([1, 1, 1, 2, 4, 8, 16, 16, 32, 64, 128, 256, 512, 1024])
        ran = int(min(86000, rng.lognormvariate(6.9, 1.6))) + 1
        asked = next((m * 60 for m in (15, 30, 60, 120, 240, 480, 720, 1440) if m * 60 >= ran * rng.uniform(1, 4)), 86400)
        fields = [number_, int(at), -1, ran, processors, -1, -1, processors, asked, -1, 1, rng.randrange(40), 1, 1, 1, 1, -1, -1]
        lines.append(" ".join(map(str, fields)))
    path.write_text("\n".join(lines) + "\n")


def policies(program, options):
    """The same workload under three orders: how long jobs wait and how full the machine is."""
    jobs = 2000 if options.quick else 20000
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(options.swf) if options.swf else pathlib.Path(folder) / "generated.swf"
        if not options.swf:
            generated_swf(trace, jobs)
        workloads = {
            f"site of 400 nodes, {jobs:,} jobs": ["--nodes", 400, "--jobs", jobs, "--load", 0.95],
            f"GPU site of 128 nodes with 8 cards, {jobs:,} jobs": ["--nodes", 128, "--jobs", jobs, "--mix", "cards", "--load", 0.75],
            f"SWF: {trace.name}": ["--swf", trace, "--jobs", 10 ** 7 if options.swf else jobs],
        }
        rows = []
        for name, arguments in workloads.items():
            for policy, shown in POLICIES.items():
                found = measure(program, "--flow", "--policy", policy, "--failures-per-day", 1, *arguments)
                rows.append([name, shown, number(found["wait_s_mean"] / 60, 1), number(found["wait_s_median"] / 60, 1),
                             number(found["wait_s_p95"] / 60, 1), number(found["slowdown_mean"], 1),
                             number(found["slowdown_median"], 2), number(found["utilisation_percent"], 1),
                             number(found["idle_while_waiting_percent"], 1), number(found["torn_cards_percent"], 1),
                             number(found["us_per_job"], 1)])
    head = ["workload", "order", "wait, mean, min", "median", "p95", "bounded slowdown, mean", "median", "utilisation, %",
            "idle while jobs wait, %", "cards given out in part, %", "core time a job, us"]
    return ["FIFO: nobody passes anybody. EASY: one reservation, for the first job. Bounded slowdown: waiting and running"
            " against running, of jobs that run for 10 s at least. Utilisation is of cores, from the first arrival to the last; the"
            " next columns are what is lost to fragmentation.", "", *table(head, rows)]


def site(program, options):
    """Days of a large site through the real core."""
    jobs, nodes = (5000, 300) if options.quick else (1_000_000, 10_000)
    found = measure(program, "--flow", "--jobs", jobs, "--nodes", nodes, "--failures-per-day", 20)
    rows = [["jobs started / ended", f"{number(found['jobs_started'])} / {number(found['jobs_ended'])}"],
            ["simulated hours", number(found["simulated_hours"], 1)],
            ["node failures", number(found["node_failures"])],
            ["most jobs waiting", number(found["queue_most"])],
            ["utilisation, %", number(found["utilisation_percent"], 1)],
            ["events", number(found["events"])],
            ["core time in all, s", number(found["core_seconds"], 1)],
            ["core time a job, us", number(found["us_per_job"], 1)],
            ["a turn: median, us", number(found["turn_us_median"], 1)],
            ["a turn: p99, us", number(found["turn_us_p99"], 1)],
            ["longest pause, ms", number(found["turn_us_most"] / 1e3, 1)],
            ["most memory, MB", number(found["memory_mb"])]]
    return [f"{jobs:,} jobs on {nodes:,} nodes of 64 cores (a fifth with 8 cards), arrivals in waves and bursts at the rate that"
            " keeps them busy, nodes failing.", "", *table(["what", "figure"], rows)]


PARTS = {"curve": ("Decisions and passes", curve), "policies": ("Against FIFO and EASY", policies), "site": ("A large site", site)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes: to see that it runs")
    parser.add_argument("--only", default=",".join(PARTS), help="comma-separated: " + ", ".join(PARTS))
    parser.add_argument("--preset", default="release", help="which build is measured")
    parser.add_argument("--swf", help="a recorded workload in Standard Workload Format")
    parser.add_argument("--write", help="write the tables into this file (between its markers)")
    options = parser.parse_args()
    program = build(options.preset)
    revision = subprocess.run(["git", "describe", "--always"], cwd=TREE, capture_output=True, text=True).stdout.strip()
    lines = [f"Machine: {describe()}. Revision {revision or 'unknown'}, preset {options.preset}.", ""]
    for name in options.only.split(","):
        title, part = PARTS[name]
        lines += [f"### {title}", "", *part(program, options), ""]
    text = "\n".join(lines).rstrip()
    print(text)
    if options.write:
        put_between(options.write, "scheduler", text)


if __name__ == "__main__":
    main()
