"""A newcomer's first ten minutes: what `switchyard up` tells is true when it is copied, `status` says what is wrong, daemons
answer --help, the shell completes, Chinese names stand in their columns."""

import os
import pathlib
import pty
import re
import select
import subprocess
import tempfile
import time

import pytest

from cluster import Cluster
from world import bin_dir


def test_what_up_prints_can_be_copied():
    """From the folder of the program, which is not in PATH: the lines it prints are enough for every command."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="syup-", dir="/tmp"))
    folder.chmod(0o755)
    env = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "LANG": "C.UTF-8"}

    def shell(line):
        return subprocess.run(["bash", "-c", line], capture_output=True, text=True, env=env, cwd=folder, timeout=90,
                              stdin=subprocess.DEVNULL)

    which = f"--name {folder.name.lower()} --dir {folder}/cluster"
    up = shell(f"{bin_dir()}/switchyard up --nodes 1 {which}")
    try:
        assert up.returncode == 0, up.stdout + up.stderr
        exports = [line.strip() for line in up.stdout.splitlines() if line.startswith("  export ")]
        assert exports == [f"export PATH={bin_dir().resolve()}:$PATH", f"export SLURM_CONF={folder}/cluster/slurm.conf"]
        copied = "; ".join(exports)
        assert shell(f"{copied}; sinfo -h -o %D").stdout == "1\n"
        # Where all of it is so, nothing is told.
        again = shell(f"{copied}; switchyard up {which}")
        assert again.returncode == 0 and "export" not in again.stdout, again.stdout + again.stderr
        # ps shows what the daemons are.
        names = shell("ps -eo comm,args").stdout
        assert re.search(rf"^slurmctld +slurmctld -f {folder}", names, re.M), names
        health = shell(f"{copied}; switchyard status")
        assert health.returncode == 0 and f"{folder}/cluster/slurm.conf" in health.stdout, health.stdout + health.stderr
    finally:
        assert shell(f"{bin_dir()}/switchyard down {which}").returncode == 0
    subprocess.run(["rm", "-rf", folder])


def root(cluster, command):
    return cluster.run(command, user=None)


def rows(answer):
    """Title -> lines of `switchyard status`."""
    found, title = {}, ""
    for line in answer.out.splitlines():
        title = line[:15].strip() or title
        found.setdefault(title, []).append(line[15:])
    return found


def test_status_tells_health_of_the_cluster_that_commands_find():
    cluster = Cluster(names=("n1", "n2", "n3", "n4"))
    try:
        good = root(cluster, "switchyard status")
        said = rows(good)
        assert (good.code, said["health"]) == (0, ["good"]), good
        assert said["cluster"] == [cluster.name] and said["configuration"] == [str(cluster.conf)]
        assert said["nodes"] == ["n[1-4] idle"] and said["jobs"][0] == "none"
        assert said["state"][0].startswith(f"{cluster.dir}/state (") and said["state"][0].endswith(" free)")
        root(cluster, "scontrol update nodename=n2 state=drain reason='disk broken'").ok()
        bad = root(cluster, "switchyard status")
        said = rows(bad)
        assert (bad.code, said["health"]) == (1, ["warning: 1 problem"]), bad
        assert "n2 drained (disk broken)" in said["nodes"], bad
        with open(cluster.dir / "log" / "controller.log", "a") as log:
            log.write("[2026-11-15T01:43:55.181] error: \x1b[31mthe last thing\n")
        assert rows(root(cluster, "switchyard status"))["logs"][-1].endswith("error: \\033[31mthe last thing")
        cluster.controller.terminate()
        cluster.controller.wait()
        away = root(cluster, "switchyard status")
        assert away.code == 2 and rows(away)["health"][0].startswith("critical"), away
    finally:
        cluster.stop()


@pytest.mark.parametrize("daemon", ["slurmctld", "slurmd"])
def test_daemons_answer_help_and_name_what_they_do_not_know(daemon):
    def ask(*words):
        return subprocess.run([bin_dir() / daemon, *words], capture_output=True, text=True)

    for word in ("--help", "-h"):
        said = ask(word)
        assert said.returncode == 0 and said.stdout.startswith(f"Usage: {daemon}") and not said.stderr, said
    assert ask("--version").stdout == ask("-V").stdout != ""
    wrong = ask("--nosuch")
    assert wrong.returncode == 1 and "unrecognized option '--nosuch'" in wrong.stderr, wrong


def test_switchyard_names_all_commands():
    said = subprocess.run([bin_dir() / "switchyard", "--help"], capture_output=True, text=True).stdout
    links = [path.name for path in bin_dir().iterdir() if path.is_symlink()]
    assert len(links) > 20
    assert [name for name in links if not re.search(rf"\b{name}\b", said)] == []


def typed_in_a_shell(keys, env):
    """What stands on the line of an interactive bash after these keys."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve("/bin/bash", ["bash", "--norc", "--noprofile", "-i"], env)
    seen = b""

    def read_until(mark, seconds=20):
        nonlocal seen
        end = time.time() + seconds
        while mark not in seen and time.time() < end:
            if select.select([terminal], [], [], 0.2)[0]:
                seen += os.read(terminal, 4096)
        assert mark in seen, seen

    try:
        read_until(b"ready> ")
        completion = pathlib.Path(__file__).parents[2] / "packaging" / "bash-completion"
        os.write(terminal, f"source {completion}\n".encode())
        read_until(b"ready> ")
        seen = b""
        os.write(terminal, keys.encode() + b"\t")
        time.sleep(1)
        os.write(terminal, b" #done\n")
        read_until(b"#done")
        return seen.decode(errors="replace")
    finally:
        os.close(terminal)
        os.waitpid(pid, 0)


def test_completion_behind_an_equals_sign(tmp_path):
    fake = tmp_path / "sinfo"
    fake.write_text("#!/bin/sh\necho debug\necho gpu\n")
    fake.chmod(0o755)
    env = {"PATH": f"{tmp_path}:/usr/bin:/bin", "PS1": "ready> ", "TERM": "dumb", "HOME": str(tmp_path)}
    for typed in ("sbatch --partition=d", "sbatch --partition d", "sbatch -p d"):
        assert re.search(re.escape(typed) + "ebug", typed_in_a_shell(typed, env)), typed


def test_wide_names_stand_in_their_columns():
    cluster = Cluster(names=("n1",))
    try:
        job = cluster.wrap("sleep 60", "-J 训练任务很长的名字")
        cluster.wait_state(job, "RUNNING")
        line = cluster.run(f"squeue -h -j {job} -o '%.8j|%8j|%5j|%u'").ok().out
        assert line.startswith("训练任务|训练任务|训练 |"), line
        line = cluster.run(f"sacct -n -X -j {job} -o jobname%9,state%10").ok().out
        assert line.startswith("训练任务+    RUNNING"), line
        cluster.run(f"scancel {job}").ok()
    finally:
        cluster.stop()
