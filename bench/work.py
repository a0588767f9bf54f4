"""The work that is measured. Each function takes a running system and gives rows: a value, its unit, spread and floor."""

import json
import statistics
import subprocess
import time

from systems import wait_until


def many(system, tools, count, *command, parallel=1, seconds=None, check=True, timeout=None):
    """One line of run_many: the command by fresh processes, `count` of them or for so many seconds. No longer than `timeout`."""
    limit = ["--seconds", str(seconds)] if seconds else []
    program = system.command(command[0]) if "/" not in str(command[0]) else str(command[0])
    said = subprocess.run(system.within([tools / "run_many", "--parallel", str(parallel), *limit, str(max(1, int(count))), program,
                                         *map(str, command[1:])]),
                          env=system.env(), capture_output=True, text=True, check=check, timeout=timeout)
    return json.loads(said.stdout)


def beside_floor(system, tools, count, floor_count, *command):
    """The command and the floor, by turns: the same machine in the same mood. Medians of what each turn says."""
    turns = 4
    pairs = [(many(system, tools, floor_count / turns, tools / "empty"), many(system, tools, count / turns, *command)) for _ in range(turns)]
    floors, figures = zip(*pairs)
    middle = {key: statistics.median(figure[key] for figure in figures) for key in ("median", "p10", "p90")}
    return ({**middle, "failures": sum(figure["failures"] for figure in figures)},
            {"median": statistics.median(figure["median"] for figure in floors)})


def milliseconds(figure, floor=None, goal=None):
    row = {"value": figure["median"] / 1000, "unit": "ms", "spread": f"{figure['p10'] / 1000:.2f}-{figure['p90'] / 1000:.2f}"}
    if floor:
        row["floor"] = floor["median"] / 1000
    if figure["failures"]:
        row["failures"] = figure["failures"]
    if goal:
        row["goal"] = goal
    return row


def latency(system, tools, scale):
    """One command by a fresh process, on a cluster that has nothing else to do."""
    system.run("sbatch", "-H", "-J", "shown", "--wrap", "true")
    job = system.run("squeue", "-h", "-n", "shown", "-o", "%A").stdout.split()[0]
    nodes = len(system.nodes)
    quick = {"peer": 0.25, "floor": 2.5}
    rows = {}
    for name, command, count, goal in (
            ("squeue", ["squeue"], 200, quick), ("sinfo", ["sinfo"], 200, quick),
            ("scontrol show job", ["scontrol", "show", "job", job], 200, quick),
            ("sbatch", ["sbatch", "-H", "--wrap", "true"], 200, quick),
            ("srun -n1 true", ["srun", "-n1", "true"], 60, {"most": 8}),
            ("srun -N4 -n4 true", ["srun", f"-N{nodes}", "-n4", "true"], 40, {"most": 15}),
            ("sbatch --wait --wrap true", ["sbatch", "--wait", "--wrap", "true"], 20 if system.name == "Switchyard" else 5,
             {"most": 15})):
        figure, floor = beside_floor(system, tools, count * scale, 200 * scale, *command)
        rows[f"{name}, fresh process"] = milliseconds(figure, floor, goal)
        if "-N" in name and nodes == 1:
            rows[f"{name}, fresh process"]["note"] = "on one node"
    return rows


def rate_row(rates, **more):
    """The median of some rates, with the least and the most."""
    return {"value": statistics.median(rates), "unit": "jobs/s", "spread": f"{min(rates):,.0f}-{max(rates):,.0f}", **more}


def submit(system, tools, scale):
    """Submissions a second by 1, 4 and 16 submitters, each a fresh sbatch; and by one connection, where there is such a thing."""
    rows = {}
    count = max(10, int(350 * scale))
    for parallel in (1, 4, 16):
        rates, floors = [], []
        for _ in range(3):
            floors.append(count / many(system, tools, count, tools / "empty", parallel=parallel)["seconds"])
            figure = many(system, tools, count, "sbatch", "-H", "--wrap", "true", parallel=parallel)
            rates.append((count - figure["failures"]) / figure["seconds"])
        rows[f"submissions by {parallel} at a time"] = rate_row(rates, floor=statistics.median(floors))
    if system.name == "Switchyard":
        rates = [pipelined(system, tools, 50000 * scale) for _ in range(3)]
        rows["durable submissions, one connection, 1,000 in flight"] = rate_row(rates, goal={"least": 50000})
    return rows


def pipelined(system, tools, count, *options):
    """Submissions a second over one connection."""
    said = subprocess.run([tools / "submit_throughput", "--jobs", str(int(count)), *options], env=system.env(), capture_output=True,
                          text=True, check=True)
    return float(said.stdout.split()[-3])


def bare_loop(system, tools, count, *programs):
    """The floor: the same programs by a loop of fork and exec, two at a time. Jobs a second, one job being all of them."""
    seconds = 0
    for program in programs:
        said = subprocess.run(system.within([tools / "run_many", "--parallel", "2", str(count), *program]), env=system.env(),
                              capture_output=True, text=True, check=True)
        seconds += json.loads(said.stdout)["seconds"]
    return count / seconds


def bare_script(system):
    """What `sbatch --wrap true` makes, as a file that can be started by itself."""
    path = system.dir / "work" / "bare.sh"
    path.write_text("#!/bin/sh\n# This script was created by sbatch --wrap.\n\ntrue\n")
    path.chmod(0o755)
    return path


def through(system, tools, count, floor_of, submit_all):
    """Jobs a second from the first submission to the end of the last job, three times, each with the floor beside it."""
    rates, floors = [], []
    for _ in range(REPEATS[system.name]):
        floors.append(bare_loop(system, tools, count, *floor_of))
        begin = time.monotonic()
        submit_all()
        wait_until(system.is_done, f"{count} jobs to end", 240, pause=0.05)
        rates.append(count / (time.monotonic() - begin))
    return rate_row(rates, floor=statistics.median(floors))


# The peer's rate is the same for 400 jobs as for 2,000, and takes a minute less to find out.
REPEATS = {"Switchyard": 3, "Slurm": 1}
PEER_JOBS = 400


def throughput(system, tools, scale):
    """From submission to end: 2,000 separate jobs, by an sbatch each and by one connection, and an array of 2,000."""
    wanted = int(2000 * scale)
    count = wanted if system.name == "Switchyard" else min(wanted, PEER_JOBS)
    note = {} if count == wanted else {"note": f"with {count:,}"}
    script, submitter = [str(bare_script(system))], [str(tools / "empty")]
    job = ["-o", "/dev/null", "--mem=10", "--wrap", "true"]
    goal = {"peer": 10, "floor": 0.5}
    rows = {}
    # Where every job has an sbatch of its own, the floor starts a program for it too.
    rows[f"{wanted:,} separate jobs, an sbatch each, submission to end"] = {
        **through(system, tools, count, [submitter, script], lambda: many(system, tools, count, "sbatch", *job, parallel=4)),
        "goal": goal, **note}
    if system.name == "Switchyard":
        rows[f"{wanted:,} separate jobs, one connection, submission to end"] = {
            **through(system, tools, count, [script], lambda: pipelined(system, tools, count, "--run")), "goal": {"floor": 0.5}}
    rows[f"array of {wanted:,}, submission to end"] = {
        **through(system, tools, count, [script], lambda: system.run("sbatch", *job[:-2], f"--array=1-{count}", *job[-2:])),
        "goal": goal, **note}
    return rows


FILL_SECONDS = 240  # No longer than this to fill a queue; what was reached by then is measured and said.


def fill(system, tools, size, queued):
    """Held jobs until the queue has `size` of them, or the time is up. Gives how many there are."""
    if system.name == "Switchyard":
        pipelined(system, tools, size - queued, "--keep")
        return size
    deadline = time.monotonic() + FILL_SECONDS
    while queued < size and time.monotonic() < deadline:
        slice_ = min(2000, size - queued)
        queued += slice_ - many(system, tools, slice_, "sbatch", "-H", "--wrap", "true", parallel=16)["failures"]
    return queued


JSON_SECONDS = 60


def as_document(system, tools):
    """squeue --json of everything; a row that says so where it cannot, or takes too long."""
    if system.run("squeue", "--json", "-j", "1", check=False, timeout=JSON_SECONDS).returncode != 0:
        return {"value": 0, "unit": "ms", "note": "its build has no --json"}
    try:
        return milliseconds(many(system, tools, 1, "squeue", "--json", timeout=JSON_SECONDS), None, {"peer": 0.1})
    except subprocess.TimeoutExpired:
        return {"value": JSON_SECONDS * 1000, "unit": "ms", "note": f"and more: stopped after {JSON_SECONDS} s"}


def queue(system, tools, scale):
    """A long queue: listing it, one user's part of it, submitting to it; memory and restart."""
    rows = {}
    queued = 0
    empty_rss = system.controller_rss()
    for _ in range(10):
        system.run("sbatch", "-H", "--wrap", "true", user="nobody")
    for size in (int(20000 * scale), int(100000 * scale)):
        queued = fill(system, tools, size, queued)
        label = f"{size:,} queued"
        note = {} if queued >= size else {"note": f"with {queued:,}: {FILL_SECONDS} s did not fill it"}
        def put(name, figure, **more):
            rows[f"{name}, {label}"] = {**figure, **more, **note}
        put("squeue of all", milliseconds(many(system, tools, max(3, 10 * scale), "squeue"), None, {"peer": 0.1}))
        put("squeue --json of all", as_document(system, tools))
        put("squeue of one user's ten", milliseconds(many(system, tools, max(5, 50 * scale), "squeue", "-u", "nobody"), None, {"most": 3}))
        put("sbatch", milliseconds(many(system, tools, max(10, 100 * scale), "sbatch", "-H", "--wrap", "true")))
        put("controller memory a job", {"value": (system.controller_rss() - empty_rss) / queued, "unit": "B"})
        put("restart to first answer", {"value": system.restart_controller() * 1000, "unit": "ms", "goal": {"most": 2000}})
    return rows


POLLERS = 200


def pollers(system, tools, scale):
    """Clients that ask squeue in a loop while jobs flow: what is left of the throughput, and sbatch's p99."""
    many(system, tools, 500 * scale, "sbatch", "-H", "--wrap", "true", parallel=4)
    rows = {}
    seconds = int(15 * scale) + 3
    for polled in (0, POLLERS):
        clients = subprocess.Popen(system.within([tools / "run_many", "--parallel", str(POLLERS), "--seconds", str(seconds + 1),
                                                  "1000000000", system.command("squeue")]),
                                   env=system.env(), stdout=subprocess.DEVNULL) if polled else None
        figure = many(system, tools, 10 ** 9, "sbatch", "-o", "/dev/null", "--mem=10", "--wrap", "true", parallel=2, seconds=seconds,
                      check=False)
        if clients:
            clients.wait()
        label = f"{polled} clients polling squeue"
        rows[f"submissions of running jobs, {label}"] = {"value": (figure["count"] - figure["failures"]) / figure["seconds"], "unit": "jobs/s"}
        rows[f"sbatch p99, {label}"] = {"value": figure["p99"] / 1000, "unit": "ms"}
        system.run("scancel", "-u", "root", "-t", "PENDING", check=False)
    return rows


WORK = {"latency": latency, "submit": submit, "throughput": throughput, "queue": queue, "pollers": pollers}
