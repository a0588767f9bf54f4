#!/usr/bin/env python3
"""Which functions commands run through, for the linker to put side by side: writes src/start/order.txt.

    tools/start_order.py            needs valgrind and the release build (cmake --build --preset release --target switchyard)

Links the release build once more with its names, starts a cluster in a folder of its own, and runs the usual commands
under callgrind. What most of them need comes first.
"""

import collections
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

TREE = pathlib.Path(__file__).resolve().parent.parent
BUILD = TREE / "build" / "release"
ORDER = TREE / "src" / "start" / "order.txt"

COMMANDS = [
    ["squeue"], ["squeue", "--me"], ["squeue", "-j", "1", "-h", "-o", "%T"], ["sinfo"], ["sinfo", "-N", "-l"],
    ["sbatch", "-H", "--wrap", "true"], ["sbatch", "job.sh"], ["scontrol", "show", "job", "1"], ["scontrol", "show", "node"],
    ["srun", "-n1", "true"], ["sacct"], ["scancel", "1"],
]
SCRIPT = "#!/bin/sh\n#SBATCH -J hot -n 1 -t 5 -o /dev/null\n#SBATCH --mem=10\ntrue\n"


def link(program):
    """The release build's last step, with the names left in."""
    said = subprocess.run(["ninja", "-C", str(BUILD), "-t", "commands", "switchyard"], capture_output=True, text=True, check=True)
    line = said.stdout.splitlines()[-1]
    wanted = line.replace(" -s ", " ").replace("-o bin/switchyard", f"-o {shlex.quote(str(program))}")
    if wanted == line:
        sys.exit("start_order: the build's last command does not link bin/switchyard")
    subprocess.run(wanted, shell=True, cwd=BUILD, check=True)


def functions(command, bin_dir, work):
    """Mangled names of the program's own functions that a command calls."""
    out = work / "callgrind.out"
    subprocess.run(["valgrind", "--tool=callgrind", "--demangle=no", "--compress-strings=no", f"--callgrind-out-file={out}",
                    str(bin_dir / command[0]), *command[1:]], cwd=work, stdin=subprocess.DEVNULL, capture_output=True)
    found, inside = {}, False
    for line in out.read_text(errors="replace").splitlines():
        if line.startswith("ob="):
            inside = line.endswith("/switchyard")
        elif line.startswith("fn=") and inside:
            found.setdefault(line[3:].partition("'")[0])
    return list(found)


def main():
    with tempfile.TemporaryDirectory(prefix="sy-order-") as name:
        work = pathlib.Path(name)
        bin_dir = work / "bin"
        bin_dir.mkdir()
        link(bin_dir / "switchyard")
        for command in {words[0] for words in COMMANDS} | {"slurmctld", "slurmd", "slurmstepd"}:
            (bin_dir / command).symlink_to("switchyard")
        (work / "job.sh").write_text(SCRIPT)
        os.environ["SLURM_CONF"] = str(work / "cluster" / "slurm.conf")
        cluster = [str(bin_dir / "switchyard"), "up", "--nodes", "2", "--dir", str(work / "cluster")]
        subprocess.run(cluster, check=True, stdout=subprocess.DEVNULL)
        try:
            users, first = collections.Counter(), {}
            for command in COMMANDS:
                for function in functions(command, bin_dir, work):
                    users[function] += 1
                    first.setdefault(function, len(first))
        finally:
            subprocess.run([cluster[0], "down", "--dir", str(work / "cluster")], stdout=subprocess.DEVNULL)
    ordered = sorted(first, key=lambda function: (-users[function], first[function]))
    ORDER.write_text("".join(f"{function}\n" for function in ordered))
    print(f"{ORDER.relative_to(TREE)}: {len(ordered)} functions")


if __name__ == "__main__":
    main()
