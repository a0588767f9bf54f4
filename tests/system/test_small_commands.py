"""sbcast, srun --bcast, sattach and scrontab."""

import os
import re
import subprocess

import pytest

from world import is_root, wait_until


def test_sbcast_copies_to_the_nodes_as_the_user(cluster):
    home = cluster.home(cluster.me())
    cluster.write("data", "one\ntwo\n", mode=0o640)
    job = cluster.wrap(f"sbcast -f -p data {home}/copy && cat {home}/copy && stat -c %a {home}/copy", "-N2 -o bc.out")
    assert cluster.wait_end(job) == "COMPLETED", cluster.read("bc.out")
    assert cluster.read("bc.out") == "one\ntwo\n640\n"
    assert os.stat(home / "copy").st_mtime == int(os.stat(home / "data").st_mtime)
    if is_root():
        assert os.stat(home / "copy").st_uid == os.stat(home).st_uid


def test_sbcast_does_not_replace_without_force(cluster):
    home = cluster.home(cluster.me())
    cluster.write("new", "new\n")
    cluster.write("there", "old\n")
    job = cluster.wrap(f"sbcast new {home}/there; echo code $?", "-N1 -o force.out")
    assert cluster.wait_end(job) == "COMPLETED"
    text = cluster.read("force.out")
    assert re.search(r"sbcast: error: REQUEST_FILE_BCAST\(n\d\): File exists\n", text) and "code 1" in text, text
    assert cluster.read("there") == "old\n"


def test_sbcast_bad_input(cluster):
    said = cluster.run("sbcast a b")
    assert said.code == 1 and "Need a job id" in said.err
    said = cluster.run("sbcast -j 1 a")
    assert said.code == 1 and "Need two file names" in said.err
    said = cluster.run("sbcast -j 1 /nonexistent/file b")
    assert said.code == 1 and "/nonexistent/file" in said.err
    cluster.write("x", "x\n")
    said = cluster.run("sbcast -j 999999 x /tmp/x")
    assert said.code == 1 and "sbcast: error: " in said.err


def test_sbcast_to_some_nodes_of_a_job(cluster):
    """A step on the named nodes only; others than the job's are refused."""
    cluster.write("some", "some\n")
    job = cluster.wrap("sleep 600", "-N2 -w n[1-2]")
    cluster.wait_state(job, "RUNNING")
    home = cluster.home(cluster.me())
    cluster.run(f"sbcast -j {job} -w n2 some {home}/some.copy").ok()
    assert cluster.read("some.copy") == "some\n"
    wait_until(lambda: "sbcast|n2\n" in cluster.run(f"sacct -n -P -j {job} -o JobName,NodeList").ok().out, 30, "the step on n2")
    for nodes in ("n3", "n[2-3]", "nosuch"):
        said = cluster.run(f"sbcast -j {job} --nodelist={nodes} some {home}/other")
        assert (said.code, said.err) == (255, f"sbcast: error: Not all nodes in --nodelist/-w '{nodes}' are in job {job}.\n")
    cluster.run(f"scancel {job}")
    said = cluster.run(f"sbcast -Z -j {job} some x")
    assert (said.code, said.err) == (1, "sbcast: error: --no-allocation/-Z and --jobid/-j options are mutually exclusive\n")
    said = cluster.run("sbcast -Z some x")
    assert (said.code, said.err) == (1, "sbcast: error: --nodelist/-w is required with --no-allocation/-Z.\n")
    said = cluster.run("sbcast -Z -w n1 some x")
    assert said.code == 1 and "--no-allocation: " in said.err


def test_a_large_file_arrives_whole(cluster):
    home = cluster.home(cluster.me())
    cluster.write("big", "0123456789abcdef" * (1 << 18))
    job = cluster.wrap(f"sbcast -f big {home}/big.copy && cmp big {home}/big.copy && echo same", "-N2 -o big.out")
    assert cluster.wait_end(job) == "COMPLETED", cluster.read("big.out")
    assert cluster.read("big.out") == "same\n"


def test_srun_bcast_runs_the_copy(cluster):
    home = cluster.home(cluster.me())
    cluster.write("prog.sh", "#!/bin/sh\necho I am $0\n", mode=0o755)
    said = cluster.run(f"srun -N1 --bcast={home}/there.sh ./prog.sh").ok()
    assert said.out == f"I am {home}/there.sh\n"


def test_sattach_sees_output_and_sends_input(cluster):
    process = cluster.popen("srun -n2 -J attached bash -c 'while read line; do echo $SLURM_PROCID got $line; done'",
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_until(lambda: cluster.run("squeue -h -s -n attached").out or cluster.run("squeue -h -n attached -t R").out,
               what="the step")
    job = cluster.run("squeue -h -n attached -o %A").ok().out.strip()
    wait_until(lambda: cluster.run(f"sattach --layout {job}.0").code == 0, what="the layout")
    said = cluster.run(f"sattach --layout {job}.0").ok().out
    assert re.match(r"Job step layout:\n  2 tasks, 1 nodes \(n\d\)\n\n  Node 0 \(n\d\), 2 task\(s\): 0 1\n", said)
    guest = cluster.popen(f"sattach -l {job}.0", stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    guest.stdin.write("hello\n")
    guest.stdin.flush()
    seen = sorted([guest.stdout.readline(), guest.stdout.readline()])
    assert seen == ["0: 0 got hello\n", "1: 1 got hello\n"]
    process.stdin.close()
    assert process.wait(60) == 0
    assert guest.wait(60) == 0
    assert sorted(process.stdout.read().splitlines()) == ["0 got hello", "1 got hello"]


def test_sattach_shows_the_last_of_what_was_printed_before_it_came(cluster):
    process = cluster.popen("srun -n2 -J late bash -c 'echo early $SLURM_PROCID; echo err >&2; touch ~/late.$SLURM_PROCID; read line; seq 100000; read line; true'",
                            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    home = cluster.home(cluster.me())
    wait_until(lambda: (home / "late.0").exists() and (home / "late.1").exists(), what="the tasks")
    job = cluster.run("squeue -h -n late -o %A").ok().out.strip()
    guest = cluster.popen(f"sattach -l {job}.0", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert sorted([guest.stdout.readline(), guest.stdout.readline()]) == ["0: early 0\n", "1: early 1\n"]
    guest.kill()
    guest.wait()
    # Of much only the end is kept.
    process.stdin.write("go\n")
    process.stdin.flush()
    guest = cluster.popen(f"sattach -l {job}.0", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    lines = iter(guest.stdout.readline, "")
    assert next(line for line in lines if line.endswith(" 100000\n")) in ("0: 100000\n", "1: 100000\n")
    process.stdin.close()
    assert process.wait(60) == 0
    guest.kill()
    guest.wait()


def test_sattach_is_for_the_owner(cluster):
    process = cluster.popen("srun -J mine sleep 300", stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL)
    wait_until(lambda: cluster.run("squeue -h -n mine -t R -o %A").out.strip(), what="it to run")
    job = cluster.run("squeue -h -n mine -o %A").ok().out.strip()
    wait_until(lambda: cluster.run(f"sattach --layout {job}.0").code == 0, what="the step")
    if is_root():
        said = cluster.run(f"sattach --layout {job}.0", user="bob")
        assert said.code == 1 and "Access/permission denied" in said.err
    said = cluster.run(f"sattach {job}.7")
    assert said.code == 1 and "Invalid job step specification" in said.err
    said = cluster.run("sattach nonsense")
    assert said.code == 1 and "One job step must be named" in said.err
    cluster.run(f"scancel {job}").ok()
    process.wait(60)


def test_scrontab_keeps_the_text_and_makes_jobs(cluster):
    text = "# mine\n#SCRON -J nightly -n2\n0 4 * * 1 echo night\n@hourly /bin/true\n"
    cluster.write("tab", text)
    cluster.run("scrontab tab").ok()
    assert cluster.run("scrontab -l").ok().out == text
    said = cluster.run("squeue -h --me -o '%j %T %r %C'").ok().out.splitlines()
    assert sorted(said) == ["nightly PENDING BeginTime 2", "true PENDING BeginTime 1"]
    job = cluster.run("squeue -h -n nightly -o %A").ok().out.strip()
    assert re.search(r"StartTime=\S+T04:00:00", cluster.run(f"scontrol show job {job}").ok().out)
    cluster.run("scrontab -", input="5 5 5 5 * echo other\n").ok()
    wait_until(lambda: cluster.run("squeue -h --me -o %j").out == "echo\n", what="the old ones to be gone")
    cluster.run("scrontab -r").ok()
    assert cluster.run("squeue -h --me").out == ""
    said = cluster.run("scrontab -l")
    assert said.code == 1 and "no crontab for" in said.err


def test_scrontab_refuses_bad_lines_and_changes_nothing(cluster):
    good = "0 4 * * * echo good\n"
    cluster.run("scrontab -", input=good).ok()
    for bad, words in [("0 25 * * * echo\n", 'line 1: bad hour: "25"'),
                       ("\n* * * *\n", "line 2: a time and a command are needed"),
                       ("#SCRON -p nosuch\n0 4 * * * echo\n", "line 2: Invalid partition name specified"),
                       ("#SCRON -t never\n0 4 * * * echo\n", "line 2: Invalid --time specification")]:
        said = cluster.run("scrontab -", input=bad)
        assert said.code == 1 and words in said.err, (bad, said)
    assert cluster.run("scrontab -l").ok().out == good
    assert len(cluster.run("squeue -h --me").ok().out.splitlines()) == 1
    cluster.run("scrontab -r").ok()


@pytest.mark.skipif(not is_root(), reason="needs two users")
def test_scrontab_of_others(cluster):
    cluster.run("scrontab -", input="0 4 * * * echo\n", user="alice").ok()
    said = cluster.run("scrontab -u alice -l", user="bob")
    assert said.code == 1 and "Access/permission denied" in said.err
    assert cluster.run("scrontab -u alice -l", user=None).ok().out == "0 4 * * * echo\n"
    cluster.run("scrontab -u alice -r", user=None).ok()
    assert cluster.run("squeue -h -u alice").out == ""
