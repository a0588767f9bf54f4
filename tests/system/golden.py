"""Reads what a real Slurm printed and compares it with what we print, masking only what must differ."""

import re

from world import SHARED

GOLDEN = SHARED / "golden"

MASKS = [
    (r"\[\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+\]", "[TIME]"),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", "TIME"),
    (r"(StepId=|STEP )\d+\.", r"\1ID."),
    (r"(batch job|JOB|job|Job|allocation|JobId=|jobid|Job_id=|revoked) ?(id )?\d+", r"\1 ID"),
    (r"/srv/slurm/home/alice/golden", "HOME"),
    (r"\bn[1-4]\b", "nX"),
    (r"n\[\d-\d\]", "n[X]"),
]
# Whether a request had to wait a moment is not part of the format.
WAITING = re.compile(r"^(srun|salloc): (job ID (queued and waiting|has been allocated)|Pending job allocation).*\n", re.M)


class Expected:
    def __init__(self, path):
        text = path.read_text(errors="replace")
        head, _, rest = text.partition("[stdout]\n")
        self.command = next(line[2:] for line in head.splitlines() if line.startswith("$ "))
        self.out, _, rest = rest.partition("[stderr]\n")
        self.err, _, rest = rest.partition("[exit ")
        self.code = int(rest.split("]")[0] or 0)  # Listings of environments have none.


def mask(text, home=None):
    if home:
        text = text.replace(str(home), "HOME")
    for pattern, word in MASKS:
        text = re.sub(pattern, word, text)
    return WAITING.sub("", text)


def environment(path):
    """Name to value of a golden environment listing."""
    lines = Expected(path).out.split("== ")[0].splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line)


def missing_keys(want, got, path=""):
    """Keys of a document of Slurm's that ours lacks, has in another place, or gives another kind of value."""
    if isinstance(want, dict) and isinstance(got, dict):
        found = [f"{path}.{key}" for key in want if key not in got]
        if not found and list(want) != list(got):
            found = [f"{path}: the order of {list(got)}"]
        for key in want:
            if key in got:
                found += missing_keys(want[key], got[key], f"{path}.{key}")
        return found
    if isinstance(want, list) and isinstance(got, list):
        return missing_keys(want[0], got[0], f"{path}[]") if want and got else []
    kinds = (type(want), type(got))
    return [] if want is None or got is None or kinds[0] == kinds[1] else [f"{path}: {kinds}"]
