#!/usr/bin/env python3
"""Switchyard and Slurm, side by side on this machine: the same work, medians, spread and ratios.

    bench/compare.py [--quick] [--only latency,submit,...] [--write docs/performance.md]

Installs Debian's slurm-wlm and munge where they are missing (as root), starts each system in turn, measures, and prints
one table. The floor stands beside them: an empty program, and a bare loop of fork and exec.
"""

import argparse
import json
import os
import pathlib
import platform
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parent
sys.path.insert(0, str(HERE))

from systems import Slurm, Switchyard, wait_until  # noqa: E402
from work import WORK  # noqa: E402


def build():
    """The release build and the instruments."""
    quiet = {"stdout": subprocess.DEVNULL, "check": True}
    subprocess.run(["cmake", "--preset", "release"], cwd=TREE, **quiet)
    subprocess.run(["cmake", "--build", "--preset", "release", "--target", "switchyard", "run_many", "empty"], cwd=TREE, **quiet)
    return TREE / "build" / "release"


def install_peer():
    if not Slurm.missing():
        return
    print("installing slurm-wlm and munge", flush=True)
    subprocess.run(["apt-get", "install", "-y", "--no-install-recommends", "slurm-wlm", "slurm-client", "munge"], check=True,
                   stdout=subprocess.DEVNULL, env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})


def describe():
    cpu = next((l.split(":")[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name")), platform.machine())
    return f"{os.cpu_count()} x {cpu}, Linux {platform.release()}, {time.strftime('%Y-%m-%d')}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the work: to see that it runs")
    parser.add_argument("--only", default="", help="comma-separated names: " + ", ".join(WORK))
    parser.add_argument("--write", help="write the table into this file (between its markers)")
    parser.add_argument("--json", help="write the figures as JSON")
    parser.add_argument("--no-peer", action="store_true", help="measure Switchyard alone")
    options = parser.parse_args()
    chosen = options.only.split(",") if options.only else list(WORK)
    build_dir = build()
    tools = build_dir / "bench"
    scale = 0.1 if options.quick else 1.0

    results = {}
    systems = [lambda: Switchyard(build_dir / "bin")]
    if not options.no_peer:
        install_peer()
        systems.append(Slurm)
    version = ""
    for make in systems:
        for name in chosen:
            system = make().start()
            print(f"{system.name}: {name}", flush=True)
            try:
                for row, value in WORK[name](system, tools, scale).items():
                    results.setdefault(row, {})[system.name] = value
                    print(f"    {row}: {value}", flush=True)
                if system.name == "Slurm":
                    version = system.version()
            finally:
                system.stop()
    text = table(results, version)
    print(text)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps({"machine": describe(), "slurm": version, "rows": results}, indent=1) + "\n")
    if options.write:
        write(pathlib.Path(options.write), text, results)


def table(results, version):
    lines = [f"Machine: {describe()}. Peer: Slurm {version or '(not measured)'}, tuned.", "",
             "| what | floor | Switchyard | Slurm | Slurm / Switchyard |", "|---|---:|---:|---:|---:|"]
    for row, by in results.items():
        ours, theirs = by.get("Switchyard"), by.get("Slurm")
        ratio = ""
        if ours and theirs and ours["value"] and theirs["value"]:
            quotient = theirs["value"] / ours["value"]
            ratio = f"{1 / quotient if ours['unit'].endswith('/s') else quotient:.1f}"
        floor = (ours or theirs).get("floor")
        unit = (ours or theirs)["unit"]
        lines.append(f"| {row} | {show(floor, unit) if floor else ''} | {cell(ours)} | {cell(theirs)} | {ratio} |")
    return "\n".join(lines)


def show(value, unit):
    return f"{value:,.0f} {unit}" if value >= 100 else f"{value:.2f} {unit}"


def cell(figure):
    if not figure:
        return ""
    spread = f" ({figure['spread']})" if figure.get("spread") else ""
    return show(figure["value"], figure["unit"]) + spread


BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"


def write(path, text, results):
    """Puts the table between the markers, and what changed against the last one below it."""
    before = path.read_text()
    head, _, rest = before.partition(BEGIN)
    _, _, tail = rest.partition(END)
    path.write_text(f"{head}{BEGIN}\n{text}\n{END}{tail}")
    last = HERE / "last.json"
    if last.exists():
        old = json.loads(last.read_text())
        for row, by in results.items():
            was, now = old.get(row, {}).get("Switchyard"), by.get("Switchyard")
            if was and now and was["value"]:
                change = now["value"] / was["value"]
                worse = change < 0.8 if now["unit"].endswith("/s") else change > 1.25
                if worse:
                    print(f"slower than the last table: {row}: {cell(was)} -> {cell(now)}")
    last.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
