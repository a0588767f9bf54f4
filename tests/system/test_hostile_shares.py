"""Two users with shares of one card: neither can take from the other what they share, and nobody else reaches it."""

import pytest

import test_gpu
from hostile import needs_users, unharmed  # noqa: F401
from world import wait_until

pytestmark = [needs_users, test_gpu.pytestmark]

# Asks at a socket as the guard does, and tries what would hurt the others.
ATTACK = """
import array, fcntl, mmap, os, socket, sys
asking = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
try:
    asking.connect(sys.argv[1])
    text, control, flags, address = asking.recvmsg(100, socket.CMSG_SPACE(4))
    memory = array.array("i", control[0][2])[0]
except (OSError, IndexError) as error:
    sys.exit(f"refused: {error}")
size = os.fstat(memory).st_size
print("size", size)
for what, attempt in (("cut", lambda: os.ftruncate(memory, 0)), ("grown", lambda: os.ftruncate(memory, 1 << 30)),
                      ("sealed", lambda: fcntl.fcntl(memory, 1033, 8))):
    try:
        attempt()
        print(what)
    except OSError:
        pass
mmap.mmap(memory, size)[:8]
print("mapped")
"""


@pytest.fixture(scope="module")
def cluster():
    from cluster import Cluster
    made = []

    def make(**options):
        made.append(Cluster(**options))
        return made[-1]

    yield test_gpu.gpu_cluster(make)
    made[0].stop()


def turns_of(cluster, job, user):
    """Where the tasks of a batch script are handed the memory of its card."""
    said = wait_until(lambda: "\n" in (cluster.run(f"cat guard-{job}", user=user).out) and cluster.read(f"guard-{job}", user=user), 60, "the script")
    return said.split("card=")[1].split(";")[0].split(",")[3].strip()


def test_what_jobs_share_can_be_cut_off_by_none_of_them(cluster):
    attack = cluster.write("attack.py", ATTACK, user="mallory", mode=0o755)
    cluster.home("mallory").chmod(0o755)
    script = "echo $SWITCHYARD_GUARD > guard-$SLURM_JOB_ID; sleep 600"
    jobs = {user: cluster.wrap(script, "--gres=shard:16", user=user) for user in ("alice", "mallory")}
    sockets = {user: turns_of(cluster, job, user) for user, job in jobs.items()}
    mine = cluster.run(f"/usr/bin/python3 {attack} {sockets['mallory']}", user="mallory").ok()
    assert mine.out.splitlines()[1:] == ["mapped"], mine
    # Not the ways of others, nor by another way: there is no file of it.
    for user, path in (("mallory", sockets["alice"]), ("bob", sockets["mallory"]), ("bob", sockets["alice"])):
        assert "refused" in cluster.run(f"/usr/bin/python3 {attack} {path}", user=user).err
    folder = sockets["alice"].rsplit("/", 1)[0]
    assert cluster.run(f"find {folder} -writable ! -type l", user="bob").out == ""
    # It is one memory: they would take turns.
    size = int(mine.out.split()[1])
    theirs = cluster.run(f"/usr/bin/python3 {attack} {sockets['alice']}", user="alice").ok()
    assert int(theirs.out.split()[1]) == size
    cluster.run(f"scancel {jobs['alice']} {jobs['mallory']}", user=None).ok()
    for job in jobs.values():
        cluster.wait_end(job)
    wait_until(lambda: not cluster.run(f"ls {folder}", user=None).out.count("job_"), 60, "the files of the jobs to go")


def test_jobs_go_on_taking_turns_with_those_that_began_before_the_agent_was_replaced(cluster):
    """The memory lives on in their stepds."""
    script = "echo $SWITCHYARD_GUARD > guard-$SLURM_JOB_ID; sleep 600"
    where = ("/usr/bin/python3 -c \"import socket,array,os,sys; s=socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET); s.connect(sys.argv[1]); "
             "print(os.fstat(array.array('i', s.recvmsg(100, socket.CMSG_SPACE(4))[1][0][2])[0]).st_ino)\" ")
    before = cluster.wrap(script, "--gres=shard:16", user="alice")
    inode = cluster.run(where + turns_of(cluster, before, "alice"), user="alice").ok().out
    cluster.agents["n1"].terminate()
    cluster.agents["n1"].wait(60)
    cluster.start_agent("n1")
    cluster.wait_ready()
    after = cluster.wrap(script, "--gres=shard:16", user="bob")
    assert cluster.run(where + turns_of(cluster, after, "bob"), user="bob").ok().out == inode
    cluster.run(f"scancel {before} {after}", user=None).ok()
    for job in (before, after):
        cluster.wait_end(job)
