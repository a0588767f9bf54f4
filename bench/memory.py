#!/usr/bin/env python3
"""The controller with a long queue: bytes a job, restarts, and what a list costs.

    bench/memory.py [--jobs 20000,100000,1000000] [--place FOLDER] [--write docs/performance.md]

A real controller on four pretend nodes, which one job fills; all others wait behind it, eligible, no two alike: names, scripts,
paths, comments and time limits differ, and each brings a script of 1 KB and an environment of 2.5 KB. Lists are told as time of
the processor, of the controller and of the client, because the machine may be busy.
"""

import argparse
import os
import pathlib
import pwd
import re
import resource
import subprocess
import time

from compare import TREE, describe
from markers import put_between
from schedule import table
from systems import NODES, Switchyard, System, wait_until

SCRIPT_BYTES, ENVIRONMENT_BYTES = 1000, 2500
TEN = 10  # Jobs of a second user, who asks for them alone.
GOALS = "Goals: at most 1,000 bytes a job; a first answer within 2 s with 100,000; one user's ten within 3 ms."


def build():
    quiet = {"stdout": subprocess.DEVNULL, "check": True}
    subprocess.run(["cmake", "--preset", "release"], cwd=TREE, **quiet)
    subprocess.run(["cmake", "--build", "--preset", "release", "--target", "switchyard", "submit_throughput"], cwd=TREE, **quiet)
    return TREE / "build" / "release"


def controller_seconds(system):
    """Time of the processor that the controller has used, user and system."""
    fields = pathlib.Path(f"/proc/{system.controller.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def anonymous_bytes(system):
    """What the controller itself holds: without the pages of its program and of the database that the kernel maps."""
    text = pathlib.Path(f"/proc/{system.controller.pid}/smaps_rollup").read_text()
    return int(re.search(r"^Anonymous:\s+(\d+)", text, re.M).group(1)) * 1024


def fill(system, tools, count):
    said = subprocess.run([tools / "submit_throughput", "--jobs", str(count), "--distinct", "--run", "--script", str(SCRIPT_BYTES),
                           "--environment", str(ENVIRONMENT_BYTES)], env=system.env(), capture_output=True, text=True, check=True)
    return float(re.search(r"([\d.]+) a second", said.stdout).group(1))


def settle(system):
    """Waits until the controller has nothing left to do for the moment."""
    last = -1.0
    while (now := controller_seconds(system)) - last > 0.02:
        last = now
        time.sleep(0.5)


def ask(system, times, *command):
    """Milliseconds of controller and client, and on the clock, for one run of the command."""
    controller, children = controller_seconds(system), resource.getrusage(resource.RUSAGE_CHILDREN)
    clock = time.monotonic()
    for _ in range(times):
        subprocess.run([system.command(command[0]), *command[1:]], env=system.env(), stdout=subprocess.DEVNULL, check=True)
    clock = time.monotonic() - clock
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    client = after.ru_utime + after.ru_stime - children.ru_utime - children.ru_stime
    return [1000 * seconds / times for seconds in (controller_seconds(system) - controller, client, clock)]


def measure(build_dir, count):
    system = Switchyard(build_dir / "bin").start()
    try:
        empty, empty_anonymous = system.controller_rss(), anonymous_bytes(system)
        system.run("sbatch", "-N", NODES, "--exclusive", "--wrap", "exec sleep 1000000")
        wait_until(lambda: system.run("squeue", "-h", "-o", "%t", check=False).stdout == "R\n", "the job that fills the nodes")
        for _ in range(TEN):
            system.run("sbatch", "--wrap", "true", user="nobody")
        rate = fill(system, build_dir / "bench", count)
        settle(system)
        rows = {"jobs": count, "submitted a second": rate, "bytes": (system.controller_rss() - empty) / count,
                "own": (anonymous_bytes(system) - empty_anonymous) / count}
        few = max(2, 200_000 // count)
        rows["all"] = ask(system, few, "squeue")
        rows["json"] = ask(system, max(1, few // 5), "squeue", "--json") if count <= 100_000 else None
        rows["ten"] = ask(system, 100, "squeue", "-u", pwd.getpwnam("nobody").pw_name)
        rows["restart"], rows["restart processor"] = system.restart_controller(), controller_seconds(system)
        settle(system)
        rows["bytes after"] = (system.controller_rss() - empty) / count
        print("    " + ", ".join(f"{name}: {value}" for name, value in rows.items()), flush=True)
        return rows
    finally:
        system.stop()


def shown(milliseconds):
    return "/".join(f"{value:,.1f}" for value in milliseconds) if milliseconds else ""


def report(figures):
    head = ["jobs that wait", "bytes a job", "after a restart", "restart to first answer: clock/controller, s", "squeue: controller/client/clock, ms",
            "squeue --json", "squeue of one user's ten"]
    rows = [[f"{row['jobs']:,}", f"{row['bytes']:,.0f}", f"{row['bytes after']:,.0f}", f"{row['restart']:.2f}/{row['restart processor']:.2f}", shown(row["all"]),
             shown(row["json"]), shown(row["ten"])] for row in figures]
    return "\n".join([f"Machine: {describe()}. {GOALS}", "", *table(head, rows)])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", default="20000,100000,1000000", help="lengths of the queue (default: %(default)s)")
    parser.add_argument("--build", type=pathlib.Path, help="a build tree to measure instead of making the release build")
    parser.add_argument("--place", default="/dev/shm", help="where the state is kept (default: %(default)s)")
    parser.add_argument("--write", help="write the table into this file (between its markers)")
    options = parser.parse_args()
    build_dir = options.build.resolve() if options.build else build()
    System.place = options.place
    figures = []
    for count in map(int, options.jobs.split(",")):
        print(f"{count:,} jobs", flush=True)
        figures.append(measure(build_dir, count))
    text = report(figures)
    print(text)
    if options.write:
        put_between(options.write, "memory", text)


if __name__ == "__main__":
    main()
