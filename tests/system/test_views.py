"""Views of an idle, a busy and a half broken cluster, compared field by field with expectations of our own and, where
they stand beside the checkout, with what a real Slurm printed in the same scene.

SY_WRITE_EXPECTED=1 writes the expectations anew: read the difference before you keep them.
"""

import os

import pytest

from cluster import Cluster
from golden import GOLDEN, OURS, Expected, different_fields, same_fields
from world import is_root, wait_until

# The scene of a busy cluster; its ids begin at 121, as in the golden files.
RUNNING = [
    ("-J gpujob -p gpu --gres=gpu:1 -t 30", "sleep 900"),
    ("-J gpu2x2 -p gpu --gres=gpu:rtx4000:2 -N2 -t 30", "sleep 900"),
    ("-J shardjob --gres=shard:16 -t 30", "sleep 900"),
    ("-J shardjob --gres=shard:16 -t 30", "sleep 900"),
    ("-J twonode -N2 --ntasks-per-node=2 -t 20", "srun sleep 900"),
    ("-J arr --array=1-8%2 -t 10", "sleep 900"),
]
WAITING = [
    ("-J big -N4 --exclusive -t 1:00:00", "sleep 60", "Resources"),
    ("-J held -H", "true", "JobHeldUser"),
    ("-J dep -d afterok:121", "true", "Dependency"),
    ("-J later --begin=now+1hour", "true", "BeginTime"),
    ("-J closedjob -p closed", "true", "PartitionDown"),
    ("-J gpuwait -p gpu --gres=gpu:2 -N2 -t 30", "true", "Resources"),
]

IDLE = {
    "sinfo": "sinfo",
    "sinfo-Nl": "sinfo -Nl",
    "sinfo-gres": "sinfo --all --Node --Format=NodeList,Gres:60,GresUsed:100",
    "squeue": "squeue",
    "squeue-l": "squeue -l",
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
    "sinfo-t-idle": "sinfo -t idle",
    "sinfo-helpFormat": "sinfo --helpFormat",
    "sinfo-format-all": "sinfo -o '%all'",
    "squeue": "squeue",
    "squeue-O": "squeue -O JobID,JobArrayID,Name:20,UserName,State,TimeUsed,TimeLimit,NumNodes,ReasonList,tres-alloc:60,"
                "tres-per-node:30,Reason",
    "squeue-array": "squeue -r -j 126",
    "squeue-helpstate": "squeue --helpstate",
    "squeue-j": "squeue -j 121",
    "squeue-l": "squeue -l",
    "squeue-me": "squeue --me",
    "squeue-t-pd": "squeue -t PD",
    "squeue-all-fields": "squeue -o '%all'",
    "scontrol-hold": "scontrol hold 134; squeue -j 134",
    "scontrol-show-job-completed": "scontrol show job 135",
    "scancel-v": "scancel -v 121",
    "scontrol-show-job-cancelled": "scontrol show job 121",
    "scancel-state": "scancel -t PENDING -n dep; squeue -h -n dep",
}
# Asked after all others, in this order: they change the scene.
LAST = ["scontrol-hold", "scontrol-show-job-completed", "scancel-v", "scontrol-show-job-cancelled", "scancel-state"]
# Columns of "%all" that are the site's, and what only the newer Slurm has or says.
SITE = {"ACCOUNT", "END_TIME", "PRIORITY", "QOS", "TIME_LEFT", "START_TIME", "SCHEDNODES", "EXEC_HOST", "NODELIST",
        "NODELIST(REASON)", "WORK_DIR", "FREE_MEM", "HOSTNAMES", "NODE_ADDR", "VERSION", "CPU_LOAD"}
NEWER = {"scontrol-show-job-held": ("NumNodes=1-1", "NumNodes=1")}
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


def check(folder, name, said, home, host):
    text = f"[stdout]\n{said.out}[stderr]\n{said.err}[exit {said.code}]\n".replace(home, "/srv/home")
    got = same_fields(text.replace(f" at {host} ", " at vm "))
    own = OURS / folder / f"{name}.txt"
    if os.environ.get("SY_WRITE_EXPECTED"):
        own.parent.mkdir(parents=True, exist_ok=True)
        own.write_text(got)
    found = different_fields(own.read_text(), got, SITE)
    assert found == [], f"expected/{folder}/{name}.txt and what is printed:\n" + "\n".join(found)
    golden = GOLDEN / folder / f"{name}.txt"
    if not golden.is_file():
        return
    text = golden.read_text(errors="replace")
    theirs = same_fields(text[text.index("[stdout]"):])
    if name == "squeue-all-fields":  # 26.05 has one column more.
        theirs = "\n".join("|".join(p for i, p in enumerate(line.split("|")) if i != 18) if "|" in line else line
                           for line in theirs.splitlines())
    found = different_fields(theirs.replace(*NEWER.get(name, ("", ""))), got, SITE)
    assert found == [], f"golden/{folder}/{name}.txt and what is printed:\n" + "\n".join(found)


@pytest.fixture(scope="module")
def answers():
    """Both scenes, asked once: the commands of a scene must see the same moment of it."""
    if not is_root():
        pytest.skip("the scene is of a user alice")
    made = Cluster(extra="FirstJobId=121\n")
    try:
        found = {("idle", name): made.run(command) for name, command in IDLE.items()}
        for options, script in RUNNING:
            job = made.wrap(script, options)
            wait_until(lambda: "RUNNING" in made.run(f"squeue -h -r -j {job} -o %T").out, 60, f"a start of {job}")
        made.wait_state("126_2", "RUNNING", timeout=60)
        jobs = [(made.wrap(script, options), reason) for options, script, reason in WAITING]
        assert [job for job, _ in jobs] == list(range(129, 135))
        for job, reason in jobs:
            wait_until(lambda: made.run(f"squeue -h -j {job} -o %r").out.startswith(reason), 60, f"{job} to wait for {reason}")
        for name, command in BUSY.items():
            if name not in LAST:
                found["busy", name] = made.run(command)
        for name in LAST:
            if name == "scontrol-show-job-completed":
                made.run("scancel 129").ok()  # It would wait behind this one.
                assert made.wrap("sleep 1", "-J okjob") == 135
                made.wait_end(135, timeout=60)
            if name == "scontrol-show-job-cancelled":
                made.wait_end(121, timeout=60)
            found["busy", name] = made.run(BUSY[name])
        yield found, str(made.home()), made.host
    finally:
        made.stop()


@pytest.mark.parametrize("folder,name", [("idle", n) for n in IDLE] + [("busy", n) for n in BUSY])
def test_views(answers, folder, name):
    found, home, host = answers
    check(folder, name, found[folder, name], home, host)


def test_views_of_nodes_that_are_drained_and_down(make_cluster):
    if not is_root():
        pytest.skip("the scene is of a user alice")
    made = make_cluster(extra="FirstJobId=146\n")
    assert made.wrap("sleep 600", "-J adm -w n1") == 146
    made.wait_state(146, "RUNNING", timeout=60)
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
    for command, words in {"setdebug debug": "while it runs", "setdebugflags +gres": "while it runs",
                           "token": "takes tokens", "reboot n1": "no RebootProgram",
                           "cancel_reboot n1": "no node is to be rebooted", "takeover": "no backup controller",
                           "schedloglevel 1": "no log of its own", "abort": "not available",
                           "notify 1 hello": "not available"}.items():
        said = cluster.run(f"scontrol {command}", user=None)
        assert said.code == 1 and words in said.err and said.out == "", f"{command}: {said}"
