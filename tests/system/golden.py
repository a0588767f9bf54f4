"""Reads what a real Slurm printed and compares it with what we print, masking only what must differ."""

import difflib
import itertools
import json
import os
import pathlib
import platform
import re

import pytest

from world import SHARED

GOLDEN = SHARED / "golden"
OURS = pathlib.Path(__file__).parent / "expected"

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


def reference(folder, name):
    """What a real Slurm printed, where that stands beside the checkout; else what we printed when both were the same."""
    theirs = GOLDEN / folder / f"{name}.txt"
    return Expected(theirs if theirs.is_file() else OURS / folder / f"{name}.txt")


def names_of(folder):
    """The files of a folder: theirs, or ours where theirs are not there."""
    place = GOLDEN / folder if GOLDEN.is_dir() else OURS / folder
    return sorted(path.stem for path in place.glob("*.txt"))


def keep(folder, name, command, out, err, code):
    """SY_WRITE_EXPECTED=1: keeps an answer that was the same, for where theirs is not there. It is masked already."""
    if os.environ.get("SY_WRITE_EXPECTED"):
        own = OURS / folder / f"{name}.txt"
        own.parent.mkdir(parents=True, exist_ok=True)
        own.write_text(f"$ {command}\n[stdout]\n{out}[stderr]\n{err}[exit {code}]\n")


def mask(text, home=None):
    if home:
        text = text.replace(str(home), "HOME")
    for pattern, word in MASKS:
        text = re.sub(pattern, word, text)
    return WAITING.sub("", text)


def environment(name):
    """Name to value of a listing of an environment."""
    lines = reference("env", name).out.split("== ")[0].splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line)


# --- views: whole answers, field by field ---------------------------------------------------------------
THEIR_HOME = "/srv/slurm/home/alice/golden"

# What must differ between two clusters: moments, loads, priorities of another formula, process ids, machines. A mask
# keeps the width of what stands in columns, and never hides a zero: what has not run has no run time in either.
FIELDS = [
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", "TIME"),
    (r"\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}( \(\d+\))?", "DATE"),
    (r"\b(Priority)=[1-9]\d*", r"\1=#"),
    (r"\b(RunTime)=(?!00:00:00)\S+", r"\1=#"),
    (r"\b(AllocNode:Sid)=\S+:\d+", r"\1=#"),
    (r"\b(Scheduler)=(Main|Backfill)", r"\1=#"),  # Which pass came first.
    (r"\b(SLUID)=s[0-9A-HJKMNP-TV-Z]{13}$", r"\1=#"),
    (r"\b(CPULoad)=\d+\.\d\d", r"\1=#"),
    (r"\b(FreeMem)=\d+", r"\1=#"),
    (r"\b(Containment)=(cgroup/v[12]|none)", r"\1=#"),  # As this machine can.
    (r"\b(Arch)=" + platform.machine() + r"\b", r"\1=x86_64"),
    (r"\b(OS=Linux) .*?(?= ?$|  RealMemory)", r"\1 #"),
    (r"NodeAddr=\S+ NodeHostName=\S+( Port=\d+)? Version=\S+", "NodeAddr=# NodeHostName=# Version=#"),
]
# How long jobs have run, in the columns of squeue; what is left stands beside what was used.
DURATIONS = [
    (r"(?<=[ |])\d?\d:\d\d\|(?!0:00\|)\d:\d\d(?=\|)", "#:##|#:##"),
    (r"(?<=[ |])(?!0:00)\d:\d\d(?=[ |])", "#:##"),
]
# Cells of tables between bars, by their headings: what matches whole is masked.
CELLS = {"PRIORITY": r"0\.\d*[1-9]\d*|[1-9]\d*", "SLUID": r"s[0-9A-HJKMNP-TV-Z]{13}", "FREE_MEM": r"\d+(-\d+)?",
         "CPU_LOAD": r"\d+\.\d\d(-\d+\.\d\d)?", "HOSTNAMES": r"\S+", "NODE_ADDR": r"\S+", "VERSION": r"[\d.]+",
         "Elapsed": r"(?!00:00:00)\d\d:\d\d:\d\d"}
# Lines that only we have.
OWN_LINES = [r"^   (Containment|GresProtection|GpuUse)=.*\n", r" (Containment|GresProtection|GpuUse)=\S+"]


def same_fields(text, durations=True):
    """The text with everything masked that two clusters need not have in common."""
    for pattern, word in FIELDS + (DURATIONS if durations else []):
        text = re.sub(pattern, word, text, flags=re.M)
    lines, heads = [], []
    for line in text.splitlines(keepends=True):
        if line.count("|") > 5:
            cells = line.split("|")
            heads = heads or [cell.strip() for cell in cells]
            cells = [re.sub(rf"^({CELLS[head]})(?=\s*$)", "#", cell) if head in CELLS else cell
                     for cell, head in itertools.zip_longest(cells, heads, fillvalue="")]
            line = "|".join(cells)
        lines.append(line)
    return "".join(lines)


def fields_of(line):
    """A line as its parts: cells between bars, Key=Value, or words and the gaps between them."""
    if "|" in line:
        return line.split("|")
    if re.match(r"\s*[A-Z]\S*=", line):
        return re.findall(r"\S+?=.*?(?= [A-Z]\S*?=|$)", line)
    return re.split(r"( +)", line)


def different_fields(want, got, unordered=False):
    """What differs, one readable line for each field; empty when the texts agree. `unordered`: the lines are sorted by
    something that is masked, a priority."""
    theirs, ours = want.splitlines(), got.splitlines()
    if unordered:
        theirs, ours = sorted(theirs), sorted(ours)
    found = []
    for what, a, b, c, d in difflib.SequenceMatcher(None, theirs, ours, autojunk=False).get_opcodes():
        if what == "equal":
            continue
        if what != "replace" or b - a != d - c:
            found += [f"missing: {line}" for line in theirs[a:b]] + [f"not expected: {line}" for line in ours[c:d]]
            continue
        for left, right in zip(theirs[a:b], ours[c:d]):
            wanted, shown = fields_of(left), fields_of(right)
            if len(wanted) != len(shown):
                wanted, shown = [left], [right]
            found.append(f"in: {right}")
            found += [f"    {b!r} should be {a!r}" for a, b in zip(wanted, shown) if a != b]
    return found


# --- documents: every leaf ----------------------------------------------------------------------------
def load(text):
    """JSON, or YAML where it can be read."""
    if not text.startswith("%YAML"):
        return json.loads(text)
    yaml = pytest.importorskip("yaml")

    class Loader(yaml.SafeLoader):
        pass

    # Slurm marks an empty text, and numbers that are texts, with their tag alone.
    Loader.add_constructor("tag:yaml.org,2002:str", lambda loader, node: node.value)
    return yaml.load(text, Loader)


# Paths of leaves that are of the site or the release: names, ids of accounts, marks of the real one's own bookkeeping.
SITE = re.compile(r"\.(cluster|association|association_id|port|flags|qosreq)(\.\w+|\[0\])*$|\.meta\.|\.allocating_node$")
# Paths of leaves that are another amount each time, but nothing where the other has nothing.
AMOUNTS = re.compile(r"_time\.number$|\.last_sched_evaluation\.number$|\.priority\.number$|\.sluid$|\.original_sluid$|"
                     r"\.time\.(elapsed|eligible|submission|start|end)(\.number)?$|\.cpus\.load\.|\.memory\.free\.")
# Paths of leaves that may as well be nothing: how long it waited, what it used.
USE = re.compile(r"\.time\.(planned|system|total|user)\.|\.steps\[0\]\.(statistics|tres\.(requested|consumed))\b|\.last_update\.")
THEIR_FOLDERS = r"\\?/(srv|opt)\\?/slurm[-.\d]*\\?/home\\?/alice\\?/golden"  # JSON writes \/.


def by_id(item):
    return item.get("job_id", 0) if isinstance(item, dict) else 0


def different_leaves(want, got, path=""):
    """What a document of ours lacks, has besides, or says otherwise, by the path of the leaf."""
    if isinstance(want, dict) and isinstance(got, dict):
        found = [f"{path}.{key}: missing" for key in want if key not in got]
        found += [f"{path}.{key}: not expected" for key in got if key not in want]
        if not found and list(want) != list(got):
            found = [f"{path}: the order of {list(got)}"]
        return found + [line for key in want if key in got for line in different_leaves(want[key], got[key], f"{path}.{key}")]
    if isinstance(want, list) and isinstance(got, list):
        want, got = sorted(want, key=by_id), sorted(got, key=by_id)
        free = len(want) == len(got) or SITE.search(path) or USE.search(path)
        found = [] if free else [f"{path}: {len(got)} entries, not {len(want)}"]
        return found + [line for a, b in zip(want, got) for line in different_leaves(a, b, f"{path}[{by_id(a)}]")]
    if want == got or SITE.search(path) or USE.search(path):
        return []
    if AMOUNTS.search(path) and type(want) is type(got) and bool(want) == bool(got):
        return []
    return [f"{path}: {got!r} should be {want!r}"]
