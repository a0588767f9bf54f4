#!/usr/bin/env python3
"""Which functions commands and the controller run through, for the linker to put side by side: writes src/start/order.txt.

    tools/start_order.py            needs valgrind and the release build (cmake --build --preset release --target switchyard)

Links the programs of the release build once more with their names, starts a cluster in a folder of its own, and runs the usual commands
under callgrind. What most of them need comes first, then what some share, then what each has for itself; behind them what
the controller does for these commands, which it does from cold caches when they come one by one.
"""

import collections
import os
import pathlib
import shlex
import signal
import subprocess
import sys
import tempfile
import time

TREE = pathlib.Path(__file__).resolve().parent.parent
BUILD = TREE / "build" / "release"
ORDER = TREE / "src" / "start" / "order.txt"

COMMANDS = [
    ["squeue"], ["squeue", "--me"], ["squeue", "-j", "1", "-h", "-o", "%T"], ["sinfo"], ["sinfo", "-N", "-l"],
    ["sbatch", "-H", "--wrap", "true"], ["sbatch", "job.sh"], ["scontrol", "show", "job", "1"], ["scontrol", "show", "node"],
    ["srun", "-n1", "true"], ["sacct"], ["scancel", "1"],
]
SCRIPT = "#!/bin/sh\n#SBATCH -J hot -n 1 -t 5 -o /dev/null\n#SBATCH --mem=10\ntrue\n"


def link(bin_dir, target, name):
    """The release build's last step for this program, with the names left in."""
    said = subprocess.run(["ninja", "-C", str(BUILD), "-t", "commands", target], capture_output=True, text=True, check=True)
    line = said.stdout.splitlines()[-1]
    wanted = line.replace(" -s ", " ").replace(f"-o bin/{name} ", f"-o {shlex.quote(str(bin_dir / name))} ")
    if wanted == line:
        sys.exit(f"start_order: the build's last command does not link bin/{name}")
    subprocess.run(wanted, shell=True, cwd=BUILD, check=True)


def watched(out, *options):
    """How a program is started so that it leaves behind what it has called."""
    return ["valgrind", "--tool=callgrind", "--demangle=no", "--compress-strings=no", f"--callgrind-out-file={out}", *options]


def of_command(command, bin_dir, work):
    out = work / "callgrind.out"
    subprocess.run([*watched(out), str(bin_dir / command[0]), *command[1:]], cwd=work, stdin=subprocess.DEVNULL, capture_output=True)
    return called(out)


def of_controller(bin_dir, work):
    """A controller takes over from the one that runs, and is asked what commands ask; its own start does not count."""
    old = int((work / "cluster" / "run" / "slurmctld.pid").read_text())
    os.kill(old, signal.SIGTERM)
    while pathlib.Path("/proc", str(old)).exists():
        time.sleep(0.05)
    out = work / "controller.out"
    new = subprocess.Popen([*watched(out, "--instr-atstart=no"), str(bin_dir / "slurmctld"), "-D"], cwd=work, stderr=subprocess.DEVNULL)
    ask = {"cwd": work, "stdin": subprocess.DEVNULL, "capture_output": True}
    while new.poll() is None and subprocess.run([bin_dir / "srun", "-N2", "true"], **ask).returncode != 0:
        time.sleep(0.1)  # Until it and its nodes are there.
    subprocess.run(["callgrind_control", "--instr=on", str(new.pid)], check=True, **ask)
    for command in COMMANDS:
        subprocess.run([bin_dir / command[0], *command[1:]], **ask)
    new.terminate()
    new.wait()
    return called(out)


def called(out):
    """Mangled names of the program's own functions."""
    found, inside = {}, False
    for line in out.read_text(errors="replace").splitlines():
        if line.startswith("ob="):
            inside = line.endswith(("/switchyard", "/switchyard-commands"))
        elif line.startswith("fn=") and inside:
            found.setdefault(line[3:].partition("'")[0])
    return list(found)


def main():
    with tempfile.TemporaryDirectory(prefix="sy-order-") as name:
        work = pathlib.Path(name)
        bin_dir = work / "bin"
        bin_dir.mkdir()
        link(bin_dir, "switchyard", "switchyard")
        link(bin_dir, "switchyard_commands", "switchyard-commands")
        for command in {words[0] for words in COMMANDS} | {"slurmctld", "slurmd", "slurmstepd"}:
            (bin_dir / command).symlink_to(os.readlink(BUILD / "bin" / command))
        (work / "job.sh").write_text(SCRIPT)
        os.environ["SLURM_CONF"] = str(work / "cluster" / "slurm.conf")
        cluster = [str(bin_dir / "switchyard"), "up", "--nodes", "2", "--dir", str(work / "cluster")]
        subprocess.run(cluster, check=True, stdout=subprocess.DEVNULL)
        try:
            users, first = collections.defaultdict(set), {}
            for command in COMMANDS:
                for function in of_command(command, bin_dir, work):
                    users[function].add(command[0])
                    first.setdefault(function, len(first))
            of_daemon = [function for function in of_controller(bin_dir, work) if function not in first]
        finally:
            subprocess.run([cluster[0], "down", "--dir", str(work / "cluster")], stdout=subprocess.DEVNULL)
    # Those of the same commands lie together.
    ordered = sorted(first, key=lambda function: (-len(users[function]), sorted(users[function]), first[function]))
    ORDER.write_text("".join(f"{function}\n" for function in ordered + of_daemon))
    print(f"{ORDER.relative_to(TREE)}: {len(ordered)} functions of commands, {len(of_daemon)} more of the controller")


if __name__ == "__main__":
    main()
