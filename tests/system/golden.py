"""Reads what a real Slurm printed and compares it with what we print, masking only what must differ."""

import pathlib
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


# --- views: squeue, sinfo and scontrol show, field by field -------------------------------------------
OURS = pathlib.Path(__file__).parent / "expected"

# What must differ between two clusters: moments, names, loads, and where the scheduler put things. The masks keep
# the width of what stands in columns.
FIELDS = [
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", "TIME"),
    (r"^\w{3} \w{3} \d\d \d\d:\d\d:\d\d \d{4}$", "DATE"),
    (r"\b(Priority|RunTime|Account|QOS|AllocNode:Sid|LastSchedEval|Scheduler|StartTime|EndTime|SecsPreSuspend|CPULoad|"
     r"FreeMem|AllocMem|CPUAlloc|AllocTRES|GresUsed|BootTime|SlurmdStartTime|LastBusyTime|Arch)=\S*", r"\1=*"),
    (r"\b(OS)=.*?(?=$| RealMemory)", r"\1=*"),
    (r"NodeAddr=\S+ NodeHostName=\S+( Port=\d+)? Version=\S+", "NodeAddr=*"),
    (r"^   (SLUID|Containment|GresProtection|GpuUse)=\S+\n", ""),
    (r" (SLUID|Containment|GresProtection|GpuUse|SchedNodeList)=\S+", ""),
    (r"/\S*/(slurm-[\w%]+\.out)", r"HOME/\1"),
    (r"WorkDir=\S+", "WorkDir=HOME"),
    (r"\bn\[\d-\d\]", "n[#-#]"),
    (r"\bn\d\b", "n#"),
    (r"(?<=[ |])\d:\d\d(?=[ |])", "#:##"),
    # The same want in other words: no node is free for it.
    (r"Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions", "Resources"),
    (r"ReqNodeNotAvail, [^)|]*", "ReqNodeNotAvail"),
    (r"Nodes required for j", "Resources           "),
    (r"\(Nodes required for ", "(Resources)         "),
]


def same_fields(text, home=""):
    """The text with everything masked that two clusters need not have in common."""
    if home:
        text = text.replace(home, "/home")
    for pattern, word in FIELDS:
        text = re.sub(pattern, word, text, flags=re.M)
    return text


def different_fields(want, got, columns=()):
    """Readable differences; empty when the texts agree. Lines may come in any order: they are sorted by priorities
    that differ. `columns`: headings of columns between bars that are not compared."""
    def rows(text):
        found, masked = [], set()
        for line in text.splitlines():
            if line.count("|") > 5:
                cells = [cell.strip() for cell in line.split("|")]
                masked = masked or {i for i, cell in enumerate(cells) if cell in columns}
                line = "|".join("*" if i in masked else cell for i, cell in enumerate(cells))
            found.append(line)
        return sorted(found)

    ours, theirs = rows(got), rows(want)
    return [f"- {line}" for line in theirs if line not in ours] + [f"+ {line}" for line in ours if line not in theirs]
