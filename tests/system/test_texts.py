"""What users call things never acts on another's terminal, adds a line to a list or a log, or moves a column."""

import json
import time

from raw_client import RawClient

EVIL = "a\n999 root RUNNING\x1b[2J\x07|b\t\r\x9b2Jc\u202ed"
PARTS = ["a\\012999 root RUNNING\\033[2J\\007", "b\\011\\015\\302\\2332Jc\\342\\200\\256d"]
SHOWN, BARRED = "|".join(PARTS), "\\174".join(PARTS)


def is_harmless(text):
    return not any(ord(c) < 0x20 and c != "\n" or 0x7f <= ord(c) < 0xa0 or c == "\u202e" for c in text)


def evil_job(cluster):
    name = EVIL.encode()
    with RawClient(cluster.client_socket(), user=cluster.me()) as client:
        spec = {"name": name, "comment": name, "work_dir": b"/tmp", "nodes_min": 1, "tasks": 1, "hold": True, "submit_line": name,
                "std_out": b"/tmp/" + name, "command": name}
        return client.ask(submit={"spec": spec, "payload": {"script": b"#!/bin/sh\ntrue\n"}, "nonce": time.monotonic_ns()}).submitted.job


def test_lists_have_a_line_for_a_job_whatever_it_is_called(cluster):
    job = evil_job(cluster)
    assert cluster.run(f"squeue -h -j {job} -o '%i %j'").ok().out == f"{job} {SHOWN}\n"
    assert cluster.run(f"squeue -h -j {job} -o '%j|%i|%k'").ok().out == f"{BARRED}|{job}|{BARRED}\n"
    assert cluster.run(f"squeue -h -j {job} -O 'jobid:10,name:200'").ok().out == f"{job:<10}{SHOWN:<200}\n"
    for command in (f"squeue -h -j {job}", f"squeue -h -j {job} -o %all", f"scontrol show job {job} -o", "sprio -h"):
        said = cluster.run(command).ok().out
        assert is_harmless(said) and said.count("\n") <= 1, (command, said)
    shown = cluster.run(f"scontrol show job {job}").ok().out
    assert f"JobName={SHOWN}\n" in shown and f"   Comment={SHOWN}\n" in shown and is_harmless(shown)
    cluster.run(f"scancel {job}").ok()


def test_the_history_has_as_many_fields_as_were_asked_for(cluster):
    job = evil_job(cluster)
    cluster.run(f"scancel {job}").ok()
    for options, parts in (("-P", 4), ("-p", 5)):
        said = cluster.run(f"sacct -n -X -j {job} {options} -o jobid,jobname,comment,state").ok().out
        assert said.count("\n") == 1 and len(said.rstrip("\n").split("|")) == parts and is_harmless(said), said
        assert said.split("|")[1] == BARRED
    said = cluster.run(f"sacct -n -X -j {job} -P --delimiter=@ -o jobid,jobname").ok().out
    assert said == f"{job}@{SHOWN}\n"
    assert is_harmless(cluster.run(f"sacct -j {job} -o jobid,jobname%40,submitline%60,workdir").ok().out)


def test_documents_say_what_it_is_called_and_are_harmless(cluster):
    job = evil_job(cluster)
    for command in (f"squeue --json -j {job}", f"scontrol show job {job} --json", f"squeue --yaml -j {job}"):
        said = cluster.run(command).ok().out
        assert not any(0x7f <= ord(c) < 0xa0 or ord(c) < 0x20 and c != "\n" for c in said), command
    assert json.loads(cluster.run(f"squeue --json -j {job}").ok().out)["jobs"][0]["name"] == EVIL
    cluster.run(f"scancel {job}").ok()


def test_refusals_repeat_a_users_words_harmlessly(cluster):
    for command in ("sbatch -p $'no\\x1b[2J' --wrap true", "srun -w $'n\\x1b[9]' true", "scontrol show job $'1\\x1b'",
                    "squeue -u $'x\\x1b'", "sbatch --gres=$'\\x1b[2J' --wrap true", "scontrol show node $'n\\x1b'",
                    "sacct -u $'x\\x1b'", "scancel $'1\\x1b'", "sinfo -n $'\\x1b['", "scontrol update jobid=1 $'x\\x1b=2'",
                    "strigger --set --node=$'\\x1b' --down --program=/bin/true"):
        said = cluster.run(command)
        assert "\x1b" not in said.err + said.out, (command, said)


def test_logs_have_a_line_for_an_event_whatever_was_said(cluster):
    with RawClient(cluster.client_socket(), user=cluster.me()) as client:
        asked = client.request(command="evil\n[2026-11-18T00:00:00.000] Node n1 now responding\x1b[2J", token={"user": b"ro\not"})
        client.send(asked)
        client.receive_reply()
        asked = client.request(command="x\n[forged] line\x1b[2J", shutdown={})
        if cluster.me():
            client.send(asked)
            client.receive_reply()
    log = (cluster.dir / "log" / "controller.log").read_text()
    assert is_harmless(log)
    assert all(line.startswith("[20") for line in log.splitlines()), log
