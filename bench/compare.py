#!/usr/bin/env python3
"""Switchyard and Slurm, side by side on this machine: the same work, medians, spread and ratios.

    bench/compare.py [--quick] [--only latency,submit,...] [--place FOLDER] [--write docs/performance.md]

Makes a folder with a Debian of its own that has the newest Slurm there is (as root; `--peer installed`: this machine's
slurm-wlm and munge instead), starts each system in turn, measures, and prints one table. The floor stands beside them: an empty program, and a bare loop of fork and exec. All of it takes about ten
minutes on two cores; each part has a limit of its own.
"""

import argparse
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parent
sys.path.insert(0, str(HERE))

import peer  # noqa: E402
from markers import put_between  # noqa: E402
from systems import Slurm, Switchyard, System  # noqa: E402
from work import WORK  # noqa: E402


def build():
    """The release build and the instruments."""
    quiet = {"stdout": subprocess.DEVNULL, "check": True}
    subprocess.run(["cmake", "--preset", "release"], cwd=TREE, **quiet)
    subprocess.run(["cmake", "--build", "--preset", "release", "--target", "switchyard", "run_many", "empty", "submit_throughput"],
                   cwd=TREE, **quiet)
    return TREE / "build" / "release"


def describe():
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), platform.machine())
    return f"{os.cpu_count()} x {cpu}, Linux {platform.release()}, {time.strftime('%Y-%m-%d')}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the work: to see that it runs")
    parser.add_argument("--only", default="", help="comma-separated names: " + ", ".join(WORK))
    parser.add_argument("--write", help="write the table into this file (between its markers)")
    parser.add_argument("--json", help="write the figures as JSON")
    parser.add_argument("--no-peer", action="store_true", help="measure Switchyard alone")
    parser.add_argument("--peer", default="", metavar="SUITE", help="Slurm of this Debian suite, or `installed` (default: the newest)")
    parser.add_argument("--place", default=tempfile.gettempdir(), help="where both keep their state and spools (default: %(default)s)")
    parser.add_argument("--build", type=pathlib.Path, help="a build tree to measure instead of making the release build")
    options = parser.parse_args()
    chosen = options.only.split(",") if options.only else list(WORK)
    for name in chosen:
        if name not in WORK:
            parser.error(f"there is no part {name!r}; there are {', '.join(WORK)}")
    build_dir = options.build.resolve() if options.build else build()
    System.place = options.place
    tools = build_dir / "bench"
    scale = 0.1 if options.quick else 1.0

    results = {}
    systems = [lambda: Switchyard(build_dir / "bin")]
    version = ""
    if not options.no_peer:
        System.root = peer.find(options.peer)
        peer.enter(System.root, options.place, build_dir)
        systems.append(Slurm)
    begin = time.monotonic()
    for make in systems:
        for name in chosen:
            version = measure(make(), name, tools, scale, results) or version
    seconds = time.monotonic() - begin
    text = table(results, version, options.place)
    print(text)
    print(f"in {seconds:.0f} s")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps({"machine": describe(), "slurm": version, "rows": results}, indent=1) + "\n")
    if options.write:
        write(pathlib.Path(options.write), text, results)


def measure(system, name, tools, scale, results):
    """One part on one system. A part that fails is said and costs only its rows. Gives the version of the peer."""
    print(f"{system.name}: {name}", flush=True)
    try:
        system.start()
        for row, value in WORK[name](system, tools, scale).items():
            results.setdefault(row, {})[system.name] = value
            print(f"    {row}: {value}", flush=True)
        return system.version() if system.name == "Slurm" else None
    except Exception as failure:  # noqa: BLE001: the other parts are still worth measuring.
        said = getattr(failure, "stderr", None) or failure
        print(f"    FAILED: {failure.__class__.__name__}: {said}", flush=True)
        return None
    finally:
        system.stop()


def disk_of(place):
    kind = subprocess.run(["stat", "-f", "-c", "%T", place], capture_output=True, text=True).stdout.strip()
    return f"state and spools of both on {kind}" if kind else ""


def table(results, version, place):
    lines = [f"Machine: {describe()}; {disk_of(place)}. Peer: Slurm {version or '(not measured)'}, tuned.", "",
             "| what | floor | Switchyard | Slurm | times better | goal |", "|---|---:|---:|---:|---:|---|"]
    for row, by in results.items():
        ours, theirs = by.get("Switchyard"), by.get("Slurm")
        better = factor(ours, theirs)
        floor = (ours or theirs).get("floor")
        unit = (ours or theirs)["unit"]
        lines.append(f"| {row} | {show(floor, unit) if floor else ''} | {cell(ours)} | {cell(theirs)} | "
                     f"{f'{better:.1f}' if better else ''} | {goal(ours, better)} |")
    return "\n".join(lines)


def factor(ours, theirs):
    """How many times better ours is."""
    if not (ours and theirs and ours["value"] and theirs["value"]):
        return None
    return ours["value"] / theirs["value"] if ours["unit"].endswith("/s") else theirs["value"] / ours["value"]


def goal(ours, better):
    """What the row should reach, and whether it does: a share of the peer's time (or a multiple of its rate), a multiple of the floor,
    an absolute figure."""
    wanted = (ours or {}).get("goal")
    if not wanted:
        return ""
    rate = ours["unit"].endswith("/s")
    said = []
    if "peer" in wanted and better is not None:
        times = wanted["peer"] if rate else 1 / wanted["peer"]
        said.append((f"{times:g} x better", better >= times))
    if "floor" in wanted:
        share = ours["value"] / ours["floor"]
        said.append((f"{wanted['floor']:g} x the floor ({share:.2f})", share >= wanted["floor"] if rate else share <= wanted["floor"]))
    if "most" in wanted:
        said.append((f"at most {wanted['most']:,} {ours['unit']}", ours["value"] <= wanted["most"]))
    if "least" in wanted:
        said.append((f"at least {wanted['least']:,} {ours['unit']}", ours["value"] >= wanted["least"]))
    return "; ".join(f"{text}: {'yes' if met else 'no'}" for text, met in said)


def show(value, unit):
    return f"{value:,.0f} {unit}" if value >= 100 else f"{value:.2f} {unit}"


def cell(figure):
    if not figure:
        return ""
    spread = f" ({figure['spread']})" if figure.get("spread") else ""
    note = f" {figure['note']}" if figure.get("note") else ""
    failed = f" {figure['failures']} failed" if figure.get("failures") else ""
    value = show(figure["value"], figure["unit"]) if figure["value"] else ""
    return (value + spread + note + failed).strip()


def write(path, text, results):
    """Puts the table between the markers, and what changed against the last one below it."""
    put_between(path, "figures", text)
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
