#!/usr/bin/env python3
"""Jobs at the highest rate while everything fails; at the end what was acknowledged is compared with what happened.

    tests/soak/soak.py --minutes 10 [--seed N] [--write docs/performance.md]

A controller with its state on a small disk, agents on hosts with networks of their own. At random: the controller, agents
and stepds are killed, daemons are paused, the disk is filled, cables are cut. Afterwards nothing may be lost (a job that
was acknowledged and is not there), doubled (an id given twice, one submission made into two jobs, two runs of a job at
once), orphaned (a process without its job) or leaked (cores, memory, cgroups, files, sockets), and the daemons may not
have grown. Needs root, for the hosts and the disk.
"""

import argparse
import pathlib
import random
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "system"), str(HERE.parent.parent / "bench")]

import world  # noqa: E402
from audit import Audit  # noqa: E402
from field import Field  # noqa: E402
from markers import put_between  # noqa: E402
from trouble import Trouble  # noqa: E402


def run(seconds, seed, say=print):
    """The whole soak. Gives the audit."""
    rng = random.Random(seed)
    field = Field()
    try:
        field.start()
        trouble = Trouble(field, rng, say)
        field.submitters.start()
        field.sampler.start()
        begin = time.monotonic()
        while time.monotonic() - begin < seconds:
            trouble.happen()
        trouble.over()
        field.submitters.stop()
        field.settle()
        elapsed = time.monotonic() - begin
        field.sampler.stop()
        return Audit(field, trouble, elapsed, seed)
    finally:
        field.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--write", type=pathlib.Path, help="put the report into this file, between its markers")
    options = parser.parse_args()
    if not world.is_root():
        parser.error("needs root: for network namespaces and a small disk")
    world.enter()
    print(f"seed {options.seed}", flush=True)
    audit = run(options.minutes * 60, options.seed, lambda text: print(text, flush=True))
    print(audit.text())
    if options.write:
        put_between(options.write, "soak", audit.text())
    return 1 if audit.faults else 0


if __name__ == "__main__":
    sys.exit(main())
