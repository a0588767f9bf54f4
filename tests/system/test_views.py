"""Views of an idle, a busy and a half broken cluster, compared field by field with expectations of our own and, where
they stand beside the checkout, with what a real Slurm printed in the same scene.

SY_WRITE_EXPECTED=1 writes the expectations anew: read the difference before you keep them.
"""

import os
import re

import pytest

import busy_scene
from cluster import Cluster
from golden import (GOLDEN, OURS, OWN_LINES, THEIR_FOLDERS, THEIR_HOME, Expected, different_fields, different_leaves, load,
                    same_fields)
from world import is_root, wait_until

IDLE = {
    "sinfo": "sinfo",
    "sinfo-Nl": "sinfo -Nl",
    "sinfo-gres": "sinfo --all --Node --Format=NodeList,Gres:60,GresUsed:100",
    "squeue": "squeue",
    "squeue-l": "squeue -l",
    "sprio-l": "sprio -l",
}
BUSY = {
    "scontrol-show-job-array-element": "scontrol show job 126_1",
    "scontrol-show-job-array": "scontrol show job 126",
    "scontrol-show-job-begin": "scontrol show job 132",
    "scontrol-show-job-gpu-running-d": "scontrol -d show job 122",
    "scontrol-show-job-gpu-running": "scontrol show job 121",
    "scontrol-show-job-gpu2x2-running": "scontrol show job 122",
    "scontrol-show-job-held": "scontrol show job 130",
    "scontrol-show-job-oneliner": "scontrol -o show job 121",
    "scontrol-show-job-partition-down": "scontrol show job 133",
    "scontrol-show-job-pending": "scontrol show job 129",
    "scontrol-show-job-twonode-running": "scontrol show job 125",
    "scontrol-show-licenses": "scontrol show licenses",
    "scontrol-show-node-detail": "scontrol -d show node n1",
    "scontrol-show-node-oneliner": "scontrol -o show node n1",
    "scontrol-show-partition-gpu": "scontrol show partition gpu",
    "scontrol-write-batch-script": "scontrol write batch_script 121 -",
    "scontrol-show-hostlist": "scontrol show hostlist n1,n2,n3,n5",
    "scontrol-show-hostlistsorted": "scontrol show hostlistsorted n3,n1,n2",
    "scontrol-show-hostnames": "scontrol show hostnames 'n[1-4],gpu[01-03,7],x'",
    "sinfo": "sinfo",
    "sinfo-N": "sinfo -N",
    "sinfo-Nl": "sinfo -Nl",
    "sinfo-l": "sinfo -l",
    "sinfo-gres": "sinfo --all --Node --Format=NodeList,Gres:60,GresUsed:100",
    "sinfo-t-idle": "sinfo -t idle",
    "sinfo-helpFormat": "sinfo --helpFormat",
    "sinfo-format-all": "sinfo -o '%all'",
    "squeue": "squeue",
    "squeue-O": "squeue -O JobID,JobArrayID,Name:20,UserName,State,TimeUsed,TimeLimit,NumNodes,ReasonList,tres-alloc:60,"
                "tres-per-node:30,Reason",
    "squeue-array": "squeue -r -j 126",
    "squeue-h-o": "squeue -h -o '%i %P %j %u %t %M %l %D %R %C %m %b %S %Q %r'",
    "squeue-helpstate": "squeue --helpstate",
    "squeue-j": "squeue -j 121",
    "squeue-l": "squeue -l",
    "squeue-me": "squeue --me",
    "squeue-start": "squeue --start",
    "squeue-t-pd": "squeue -t PD",
    "squeue-all-fields": "squeue -o '%all'",
    "sprio": "sprio",
    "sprio-l": "sprio -l",
    "sprio-w": "sprio -w",
    "sstat": "sstat -a -j 125",
    "sdiag": "sdiag",
    "sacct": "sacct",
    "sacct-b": "sacct -b",
    "sacct-X": "sacct -X",
    "sacct-l": "sacct -l",
    "sacct-P-format": "sacct -P --format=JobID,JobIDRaw,JobName,User,Account,Partition,State,ExitCode,Submit,Start,End,Elapsed,"
                      "NNodes,NCPUS,ReqTRES,AllocTRES,NodeList",
}
# Asked after all others, in this order: they change the scene.
LAST = {
    "scontrol-hold": "scontrol hold 134; squeue -j 134",
    "scontrol-release": "scontrol release 134; squeue -j 134",
    "scontrol-update-timelimit-increase-as-user": "scontrol update jobid=134 timelimit=50",
    "scontrol-show-job-completed": "scontrol show job 135",
    "sacct-completed-l": "sacct -l -j 135",
    "sacct-failed": "sacct -j 136",
    "scancel-v": "scancel -v 121",
    "scontrol-show-job-cancelled": "scontrol show job 121",
    "scancel-state": "scancel -t PENDING -n dep; squeue -h -n dep",
    "sacct-array": "sacct -j 126",
    "sacct-final": "sacct",
}
# Lines in the order of priorities, which are of another formula.
UNORDERED = {"squeue", "squeue-O", "squeue-array", "squeue-h-o", "squeue-l", "squeue-me", "squeue-start", "squeue-t-pd",
             "squeue-all-fields"}
NUMBER = r"(?<![\w.])\d+(\.\d+)?[KMGT]?(?![\w.:])"
# A shell may see the end of its sleep before its own signal comes.
SHELL = [(r"   FAILED    143:0", "CANCELLED     0:15"), (r"ExitCode=143:0", "ExitCode=0:15")]
FACTORS = [(r"(?m)(?<=[a-z])( +\d+)+( +|$)", " FACTORS ")]
# Of single files: what is masked besides (in both), because it is an amount of work or use.
AMOUNTS = {
    "sdiag": [(r"(?m)^\t(REQUEST|MESSAGE)_\w+ +\( ?\d+\) count:\d+ +ave_time:\d+ +total_time:\d+\n", "\tRPC\n"),
              (r"(\tRPC\n)+", "\tRPC\n"), (r"count:\d+ +ave_time:\d+ +total_time:\d+", "COUNTS"),
              (r"(?m)(:\s*)\d+( microseconds)?$", r"\1#")],
    "sprio": FACTORS,
    "sprio-l": FACTORS,
    "sprio-w": FACTORS,
    "squeue-start": [(r" +TIME", " TIME")],
    "scontrol-release": [(r"\((None|Resources|Priority|Nodes required for.*)\)", "(REASON)")],  # A pass may come between the two commands.
    "squeue-h-o": [(r"(?<= )[1-9]\d{3,}(?= )", "#")],
    "sacct-array": SHELL,
    "sacct-final": SHELL,
    "scontrol-show-job-cancelled": SHELL,
    "sstat": [(NUMBER, "#"), (r"[\w/]+=\S+", "LIST"), (r"n\d\b", "NODE"), (r"(?m) +(?=\S)|-+", " ")],
    "sacct-l": [(r" (?!00:00:00)\d\d:\d\d:\d\d ", " ELAPSED ")],
    # The real one had taken no sample of so short a job.
    "sacct-completed-l": [(r" (?!00:00:00)\d\d:\d\d:\d\d ", " ELAPSED "),
                          (r"(?m)^(135.batch +\S+ +batch).*( +1 +1 +ELAPSED +COMPLETED +0:0).*$", r"\1\2")],
}
SHARES = (r"-/64", "0/64", "a share of a taken card: the seed documents' form")
NO_WEIGHTS = "factors without weight are not shown"
PLANNED = "its start is planned at once here; there no pass had looked at it yet"
# What the real one printed and we do not, by file: a pattern, what stands for it, and why.
ALLOWED = {
    "scontrol-show-job-held": [("NumNodes=1-1", "NumNodes=1", "said of held jobs by a newer release")],
    "scontrol-show-job-pending": [("StartTime=Unknown EndTime=Unknown", "StartTime=TIME EndTime=TIME", PLANNED),
                                  ("NodeList=\n", "NodeList= SchedNodeList=n[1-4]\n", PLANNED)],
    "scontrol-show-node-detail": [SHARES],
    "sinfo-gres": [SHARES],
    "squeue-start": [(r" +N/A      4 \(null\)", " TIME      4 n[1-4]", PLANNED)],
    "squeue-h-o": [(r"(129 .* N/A) N/A", r"\1 TIME", PLANNED)],
    "squeue-all-fields": [(r"(?m)^(test\|N/A\|1\|0)\|N/A(.*\|129\|.*)\|N/A\|PENDING(.*)\|\(null\)\|HOME$",
                           r"\1|TIME\2|TIME|PENDING\3|n[1-4]|HOME", PLANNED)],
    "sprio": [("        AGE  FAIRSHARE    JOBSIZE  PARTITION        QOS", "", NO_WEIGHTS)],
    "sprio-w": [("        AGE  FAIRSHARE    JOBSIZE  PARTITION        QOS", "", NO_WEIGHTS)],
    "sacct-array": [(r"(?=126_\[)", "126_5               arr      debug       test          0 CANCELLED+      0:0 \n",
                     "an element cancelled alone has a record of its own")],
    "squeue-with-down-nodes": [("May be reserved for other job", "UnavailableNodes:n4", "the node that is not there")],
    "sacct-final": [(r"      0:9", "     0:15", "that one was stopped when it was cancelled"),
                    (r"  REQUEUED", "CANCELLED+", "that one was put back into the queue")],
}
# Documents of the busy scene, compared leaf by leaf; the last is asked for at the end.
DOCUMENTS = {
    "squeue-json": "squeue --json",
    "scontrol-show-job-json": "scontrol show job 121 --json",
    "sinfo-json": "sinfo --json",
    "squeue-yaml-1": "squeue --yaml -j 121",
    "sacct-json": "sacct -j 135 --json",
}
LAST_DOCUMENTS = ["sacct-json"]
# Paths at which the two may differ, and why.
ALLOWED_LEAVES = {
    r"^\.jobs\[129\]\.(scheduled_nodes|start_time|end_time)": PLANNED,
    r"^\.jobs\[132\]\.end_time": "a job without a limit has no end, where the real one counts on to the year 2162",
    r"^\.last_backfill": "sdiag tells of it",
    r"^\.jobs\[130\]\.max_nodes": "said of held jobs by a newer release",
    r"\.gres\.used: .*0/64": "a share of a taken card: the seed documents' form",
    r"^\.jobs\[135\]\.tres\.allocated": "the energy of a machine that measures none",
}
ADMIN = [
    ("drain-noreason", "scontrol update nodename=n4 state=drain"),
    ("drain-busy", "scontrol update nodename=n1 state=drain reason=maintenance"),
    ("drain-idle", "scontrol update nodename=n4 state=drain reason='bad disk'"),
    ("down", "scontrol update nodename=n3 state=down reason=dead"),
    ("sinfo", "sinfo"),
    ("sinfo-s", "sinfo -s"),
    ("sinfo-Nl", "sinfo -Nl"),
    ("show-node-drained", "scontrol show node n4"),
    ("show-node-draining", "scontrol show node n1"),
    ("ping", "scontrol ping"),
    ("partition-create", "scontrol create partitionname=tmp nodes=n[1-2]; scontrol show partition tmp; "
                         "scontrol delete partitionname=tmp"),
    ("reconfigure", "scontrol reconfigure"),
]


def same_scene(name, text):
    """The text with everything masked that may differ in this file."""
    if name.startswith("sacct"):  # The real one listed the jobs before the scene too.
        text = "".join(line for line in text.splitlines(keepends=True)
                       if not re.match(r"\d", line) or int(re.match(r"\d+", line)[0]) >= 121)
    text = same_fields(text, durations=not name.startswith("sacct"))
    for pattern, word in AMOUNTS.get(name, []):
        text = re.sub(pattern, word, text)
    return text


def report(where, found):
    if found:
        pytest.fail(f"{where} and what is printed:\n" + "\n".join(found), pytrace=False)


def check(folder, name, said, home, host, command=None):
    text = f"[stdout]\n{said.out}[stderr]\n{said.err}[exit {said.code}]\n".replace(home, "HOME").replace(f" at {host} ", " at vm ")
    got = same_scene(name, text)
    own = OURS / folder / f"{name}.txt"
    if os.environ.get("SY_WRITE_EXPECTED"):
        own.parent.mkdir(parents=True, exist_ok=True)
        own.write_text(got)
    found = different_fields(own.read_text(), got, name in UNORDERED)
    report(f"expected/{folder}/{name}.txt", found)
    golden = GOLDEN / folder / f"{name}.txt"
    if not golden.is_file():
        return
    assert command in (None, Expected(golden).command)
    text = golden.read_text(errors="replace")
    theirs = same_scene(name, text[text.index("[stdout]"):].replace(THEIR_HOME, "HOME"))
    for pattern, word, _ in ALLOWED.get(name, []):
        theirs = re.sub(pattern, word, theirs)
    for pattern in OWN_LINES:
        got = re.sub(pattern, "", got, flags=re.M)
    found = different_fields(theirs, got, name in UNORDERED)
    report(f"golden/{folder}/{name}.txt", found)


def change(made, name):
    """What happens in the scene before one of the last commands."""
    if name == "scontrol-show-job-completed":
        made.run("scancel 129").ok()  # They would wait behind this one.
        for job, job_name, script in ((135, "okjob", "sleep 1"), (136, "badjob", "exit 3")):
            assert busy_scene.submit(made, script, f"-J {job_name}") == job
            made.wait_end(job)
    if name == "scontrol-show-job-cancelled":
        made.wait_end(121)
    if name == "sacct-array":
        made.run("scancel 126_5 133 134").ok()  # First what waits: it would start in the room of the others.
        made.run("scancel 122 123 124 125 126").ok()
        wait_until(lambda: made.run("squeue -h -j 122,123,124,125,126,133,134").out == "", 60, "the jobs to end")


# Columns for which squeue asks for no more of a job than a line shows.
LINE = "%e|%i|%j|%l|%p|%r|%t|%u|%A|%D|%F|%K|%N|%P|%Q|%R|%S|%T|%U|%V"


def lines_and_records(made):
    """The same columns twice: alone, and beside one for which whole records are sent. Asked again if a plan changed in between."""
    for _ in range(20):
        lines, records = (made.run(f"squeue -h -r -t all -o '{LINE}{more}'").ok().out.splitlines() for more in ("", "|%a"))
        records = [row.rsplit("|", 1)[0] for row in records]
        if lines == records:
            break
    return lines, records


@pytest.fixture(scope="module")
def scene():
    """All scenes, asked once: the commands of a scene must see the same moment of it."""
    if not is_root():
        pytest.skip("the scene is of a user alice")
    made = Cluster(extra="FirstJobId=121\n")
    try:
        found = {("idle", name): made.run(command) for name, command in IDLE.items()}
        busy_scene.fill(made)
        documents = {name: made.run(command) for name, command in DOCUMENTS.items() if name not in LAST_DOCUMENTS}
        for name, command in BUSY.items():
            found["busy", name] = made.run(command)
        found["lines"] = lines_and_records(made)
        for name, command in LAST.items():
            change(made, name)
            found["busy", name] = made.run(command)
        documents |= {name: made.run(DOCUMENTS[name]) for name in LAST_DOCUMENTS}
        yield found, documents, str(made.home()), made.host
    finally:
        made.stop()


@pytest.mark.parametrize("folder,name", [("idle", n) for n in IDLE] + [("busy", n) for n in [*BUSY, *LAST]])
def test_views(scene, folder, name):
    found, _, home, host = scene
    commands = IDLE if folder == "idle" else BUSY | LAST
    check(folder, name, found[folder, name], home, host, commands[name])


def test_a_line_shows_what_the_whole_record_would(scene):
    lines, records = scene[0]["lines"]
    assert lines == records
    assert len(lines) > 10


def test_a_line_of_a_job_that_waits_for_another_shows_when_it_may_begin(cluster):
    first = cluster.run("sbatch --parsable --hold --wrap true").ok().out.strip()
    second = cluster.run(f"sbatch --parsable --begin=now+1hour --dependency=afterok:{first} --wrap true").ok().out.strip()
    line, record = (cluster.run(f"squeue -h -j {second} -o '%i %S{more}'").ok().out.split()[:2] for more in ("", " %k"))
    cluster.run(f"scancel {first} {second}").ok()
    assert line == record
    assert line[1] != "N/A"


@pytest.mark.skipif(not GOLDEN.is_dir(), reason="no golden files beside the checkout")
@pytest.mark.parametrize("name", DOCUMENTS)
def test_documents(scene, name):
    _, documents, home, _ = scene
    want = Expected(GOLDEN / "busy" / f"{name}.txt")
    assert want.command == DOCUMENTS[name]
    said = documents[name].ok().out
    found = different_leaves(load(re.sub(THEIR_FOLDERS, "HOME", want.out)), load(re.sub(home.replace("/", r"\\?/"), "HOME", said)))
    report(f"golden/busy/{name}.txt", [line for line in found if not any(re.search(path, line) for path in ALLOWED_LEAVES)])


COMPARES = {f"{folder}/{name}" for folder, names in
            (("idle", IDLE), ("busy", [*BUSY, *LAST, *DOCUMENTS]), ("admin", dict(ADMIN))) for name in names}
COMPARES |= {"busy/scontrol-show-config", "admin/squeue-with-down-nodes", "admin/top"}


def test_views_of_nodes_that_are_drained_and_down(make_cluster):
    if not is_root():
        pytest.skip("the scene is of a user alice")
    made = make_cluster(extra="FirstJobId=146\n")
    assert made.wrap("sleep 600", "-J adm -w n1", env=busy_scene.ACCOUNT) == 146
    wait_until(lambda: made.run("squeue -h -j 146 -o %M").out.strip() not in ("", "0:00"), 60, "it to have run a second")
    for name, command in ADMIN:
        check("admin", name, made.run(command, user=None), str(made.home()), made.host)
    made.wrap("true", "-J want3 -N3")
    made.wrap("true", "-J wantn4 -w n4")
    wait_until(lambda: "ReqNodeNotAvail" in made.run("squeue -h -j 148 -o %r").out, 60, "a reason")
    wait_until(lambda: made.run("squeue -h -j 147 -o %r").out.strip() not in ("None", "Priority"), 60, "a reason")
    check("admin", "squeue-with-down-nodes", made.run("squeue", user=None), str(made.home()), made.host)
    check("admin", "top", made.run("scontrol top 147", user=None), str(made.home()), made.host)
    made.run("scontrol update partitionname=debug state=down", user=None).ok()
    check("admin", "partition-down-debug", made.run("sinfo -h -p debug -o '%P %a'", user=None), str(made.home()), made.host)


@pytest.mark.skipif(not GOLDEN.is_dir(), reason="no golden files beside the checkout")
def test_every_key_of_the_configuration(cluster):
    want = Expected(GOLDEN / "busy" / "scontrol-show-config.txt").out.split("\nMPI Plugins")[0]
    got = cluster.run("scontrol show config").ok().out
    keys = [[line.split(" = ")[0].strip() for line in text.splitlines() if " = " in line] for text in (want, got)]
    assert [key for key in keys[0] if key not in keys[1]] == []
    shared = [key for key in keys[1] if key in keys[0]]
    assert shared == keys[0]
    for key in ("ClusterName             = ", "MinJobAge               = 300 sec", "MaxArraySize            = 20001"):
        assert f"\n{key}" in got


def test_what_is_not_built_is_refused_with_the_reason(cluster):
    for command, words in {"reboot n1": "RebootProgram", "takeover": "backup controller"}.items():
        said = cluster.run(f"scontrol {command}", user=None)
        assert said.code == 1 and words in said.err and said.out == "", f"{command}: {said}"
