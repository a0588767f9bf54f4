"""Every letter and every name of a field that the views know: it prints, and it fits where it is put."""

import re
import string

import pytest

import busy_scene
from cluster import Cluster
from world import is_root, wait_until

# Letters by Slurm's manual pages.
LETTERS = {
    "squeue": "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "sinfo": "abcdefghlmnoprstuvwzABCDEFGHILMNOPRSTUVXYZ",
    "sprio": "aAbBcfFijJnNopPqQrsStTuyY",
    "squeue -s": "AbijlMNPSuU",
}
# Jobs, nodes and steps of the scene that have a value of everything that can have one.
SUBJECT = {"squeue": "-j 125", "sinfo": "-n n1 -p debug", "sprio": "-j 129", "squeue -s": "-j 125"}
# Nothing was asked for, or nothing of the kind is known: Slurm prints nothing either.
BLANK = {"squeue": {"n", "x", "ReqNodes", "ExcNodes", "BurstBuffer", "BurstBufferState", "ClusterFeature", "Container", "ContainerID"},
         "sinfo": {"i", "Comment", "Extra", "Reservation"},
         "sprio": {"t", "T"},
         "squeue -s": {"Container", "ContainerID", "StdErr", "StdIn", "StdOut"}}


@pytest.fixture(scope="module")
def busy():
    if not is_root():
        pytest.skip("the scene is of a user alice")
    made = Cluster(extra="FirstJobId=121\n")
    try:
        busy_scene.fill(made)
        yield made
    finally:
        made.stop()


def one(cluster, command):
    said = cluster.run(command).ok()
    assert said.err == "", said
    lines = said.out.splitlines()
    assert lines, command
    return lines[0]


def cells(cluster, command, marks):
    """What each of the marks prints, asked for in one command."""
    found = one(cluster, f"{command} -o '{'~'.join(marks)}'").split("~")
    assert len(found) == len(marks), found
    return found


@pytest.mark.parametrize("command", LETTERS)
def test_every_letter(busy, command):
    letters = LETTERS[command]
    ask = f"{command} -h {SUBJECT[command]}"
    plain = cells(busy, ask, [f"%{letter}" for letter in letters])
    right = cells(busy, ask, [f"%.99{letter}" for letter in letters])
    left = cells(busy, ask, [f"%99{letter}" for letter in letters])
    narrow = cells(busy, ask, [f"%.2{letter}" for letter in letters])
    heads = cells(busy, f"{command} {SUBJECT[command]}", [f"%{letter}" for letter in letters])
    for place, letter in enumerate(letters):
        text = plain[place].strip()
        assert text or letter in BLANK[command], f"{command} %{letter} is empty"
        assert heads[place].strip(), f"{command} %{letter} has no heading"
        assert len(right[place]) == len(left[place]) == 99, letter
        assert not text or (right[place][-1] != " " and left[place][0] != " "), letter
        # Lists of nodes and durations are never cut short.
        assert len(narrow[place]) == 2 or text.startswith(narrow[place].strip()) or ":" in text, letter


@pytest.mark.parametrize("command", LETTERS)
def test_letters_that_there_are_not(busy, command):
    for letter in sorted(set(string.ascii_letters) - set(LETTERS[command])):
        said = busy.run(f"{command} -h {SUBJECT[command]} -o '<%{letter}>'")
        known = said.err == ""
        assert known or re.search(rf"Invalid \w+( step)? format specification: {letter}\n", said.err), said
        assert known or f"<%{letter}>" in said.out, said


# Of steps no command lists the names.
STEP_NAMES = ["NumTasks", "tres-per-node", "StepID", "StepName", "TimeLimit", "TimeUsed", "Nodes", "Partition", "StartTime", "UserName",
              "UserID", "gres", "ArrayJobID", "ArrayTaskID", "JobID", "Cluster", "Container", "ContainerID", "Network",
              "NumCPUs", "CPUFreq", "ResvPorts", "StdErr", "StdIn", "StdOut", "StepState", "cpus-per-tres", "mem-per-tres", "tres-bind", "tres-freq",
              "tres-per-job", "tres-per-step", "tres-per-socket", "tres-per-task"]


def names_of(cluster, command):
    """The names as --helpFormat lists them, in columns."""
    if command == "squeue -s":
        return STEP_NAMES
    question = "--helpFormat" if command in ("squeue", "sinfo") else "--helpformat"
    return cluster.run(f"{command} {question}").ok().out.split()


@pytest.mark.parametrize("command", ["squeue", "sinfo", "squeue -s"])
def test_every_name(busy, command):
    names = names_of(busy, command)
    assert len(names) > {"squeue": 100, "sinfo": 40, "squeue -s": 15}[command], names
    ask = f"{command} -h {SUBJECT[command]} -O"
    left = one(busy, f"{ask} '{','.join(f'{name}:200' for name in names)}'")
    right = one(busy, f"{ask} '{','.join(f'{name}:.200' for name in names)}'")
    assert len(left) == len(right) == 200 * len(names)
    for place, name in enumerate(names):
        text, other = (line[200 * place:200 * place + 200] for line in (left, right))
        assert text.strip() or name in BLANK[command], f"{command} -O {name} is empty"
        assert not text.strip() or (text[0] != " " and other[-1] != " "), (name, text, other)


def test_names_have_any_case_and_any_suffix(busy):
    assert one(busy, "squeue -h -j 125 -O jobid:5,NAME:.9,State:9") == "125    twonodeRUNNING  "
    assert one(busy, "squeue -h -j 125 -O 'JobID:|,Name:|'").startswith("125")
    assert one(busy, "squeue -h -j 125 -o '%i|%.3j|%9T|'") == "125|two|RUNNING  |"


@pytest.mark.parametrize("command", ["sacct", "sstat"])
def test_every_field_of_what_was_used(busy, command):
    names = names_of(busy, command)
    line = one(busy, f"{command} {'-a' if command == 'sstat' else ''} -nP -j 125.0 -o {','.join(names)}")
    assert len(line.split("|")) == len(names)
    for width in ("%9", "%-9", "%300"):
        size = abs(int(width[1:]))
        shown = one(busy, f"{command} -n -j 125.0 -o '{','.join(name + width for name in names)}'")
        assert len(shown) == (size + 1) * len(names), (width, shown)
        for place, name in enumerate(names):
            text = shown[place * (size + 1):(place + 1) * (size + 1) - 1]
            assert not text.strip() or text[0 if width == "%-9" else -1] != " ", (name, width, text)
            # What does not fit ends in a plus, or is cut.
            assert size < 100 or len(text.strip()) < size, (name, text)
    if command == "sstat":
        wait_until(lambda: re.fullmatch(r"125\.0\|4\|\d+K\n", busy.run("sstat -nP -j 125 -o JobID,NTasks,MaxRSS").out), 60, "a look")
        cells = dict(zip(names, one(busy, f"sstat -nP -j 125.0 -o {','.join(names)}").split("|")))
        assert [name for name, text in cells.items() if not text and name != "Pids"] == []


def test_fields_of_an_ended_step_are_full(busy):
    job = busy_scene.submit(busy, "srun python3 -c 'b = bytearray(20_000_000); sum(range(2_000_000))'", "-J full -t 5")
    busy.run("scancel 129").ok()  # It would wait behind this one.
    assert busy.wait_end(job) == "COMPLETED"
    names = names_of(busy, "sacct")
    ask = f"sacct -nP -j {job}.0 -o {','.join(names)}"
    wait_until(lambda: "COMPLETED" in busy.run(ask).out, 60, "its end in the store")
    cells = dict(zip(names, one(busy, ask).split("|")))
    # The size of an address space is known only of processes that lived when somebody looked; this one is short.
    used = [name for name in names if re.match(r"(Ave|Max|Min|TRESUsage)", name) and "VMSize" not in name]
    assert len(used) > 30 and [name for name in used if not cells[name]] == []
