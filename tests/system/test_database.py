"""The controller's database: lost, emptied, replaced by a backup, damaged, or with a record that does harm."""

import shutil
import signal
import sqlite3

import pytest

from cluster import kill
from world import wait_until

ONE_NODE = ("NodeName=n1 NodeHostname={host} CPUs=8 RealMemory=4000\n"
            "PartitionName=debug Nodes=n1 Default=YES MaxTime=INFINITE State=UP\n")


@pytest.fixture
def made(make_cluster):
    return make_cluster(names=("n1",), nodes=ONE_NODE)


def database(made):
    return made.dir / "state" / "switchyard.db"


def stop(made, sig=signal.SIGTERM):
    kill(made.controller, sig)


def start(made, *options):
    made.controller = made._spawn("slurmctld", *options)
    made.wait_ready()


def refusal(made, *options):
    """What a controller says that does not start."""
    refused = made._spawn("slurmctld", *options)
    assert refused.wait(60) == 1
    return (made.dir / "log" / "controller.log").read_text().splitlines()[-1]


def remove(made):
    for suffix in ("", "-wal", "-shm"):
        database(made).with_name("switchyard.db" + suffix).unlink(missing_ok=True)


def copy(made):
    with sqlite3.connect(database(made)) as source, sqlite3.connect(made.dir / "copy.db") as target:
        source.backup(target)


def put_back(made):
    remove(made)
    shutil.copy(made.dir / "copy.db", database(made))


@pytest.mark.parametrize("sig", [signal.SIGTERM, signal.SIGKILL])
def test_a_lost_database_is_refused_and_ids_go_on(made, sig):
    last = made.wrap("true", "-H")
    stop(made, sig)
    remove(made)
    said = refusal(made)
    assert "is missing or empty, but this cluster has run before" in said and "slurmctld -c" in said
    database(made).touch()
    assert "is missing or empty" in refusal(made)
    start(made, "-c")
    assert made.wrap("true") > last


def test_a_backup_is_taken_only_on_purpose(made):
    first = made.wrap("true", "-H")
    copy(made)
    second = made.wrap("true", "-H")
    stop(made)
    put_back(made)
    said = refusal(made)
    assert "is older than what this cluster has written" in said and "--restore" in said
    start(made, "--restore")
    assert {int(job) for job in made.run("squeue -h -o %i").ok().out.split()} == {first}
    third = made.wrap("true", "-H")
    assert third > second
    stop(made)
    start(made)
    assert {int(job) for job in made.run("squeue -h -o %i").ok().out.split()} == {first, third}


def test_a_clean_end_leaves_one_file(made):
    made.wrap("true", "-H")
    stop(made)
    log = database(made).with_name("switchyard.db-wal")
    assert not log.exists() or log.stat().st_size == 0


def test_a_damaged_database_is_refused_with_what_to_do(made):
    for _ in range(30):
        made.wrap("true", "-H")
    stop(made)
    pages = database(made).stat().st_size // 8192
    with open(database(made), "r+b") as file:
        for page in range(pages // 2, pages):
            file.seek(page * 8192)
            file.write(b"\x5a" * 8192)
    said = refusal(made)
    assert "is damaged" in said and "--restore" in said


def test_a_record_that_does_harm_is_named_and_set_aside(made):
    good = made.wrap("true", "-H")
    bad = made.wrap("true", "-H")
    stop(made)
    with sqlite3.connect(database(made)) as rows:
        kept = rows.execute("SELECT record FROM jobs WHERE id = ?", (bad,)).fetchone()[0]
        rows.execute("UPDATE jobs SET record = x'ffffff' WHERE id = ?", (bad,))
    assert f"job {bad}: " in refusal(made) and f"slurmctld --quarantine {bad}" in refusal(made)
    said = made.run(f"slurmctld -f {made.conf} --quarantine {bad}", user=None).ok()
    assert said.out == f"job {bad} is set aside\n"
    assert f"job {bad} is not in the database" in made.run(f"slurmctld -f {made.conf} --quarantine {bad}", user=None).err
    start(made)
    assert {int(job) for job in made.run("squeue -h -o %i").ok().out.split()} == {good}
    assert made.wrap("true", "-H") > bad
    assert "another controller" in made.run(f"slurmctld -f {made.conf} --unquarantine {bad}", user=None).err
    stop(made)
    with sqlite3.connect(database(made)) as rows:
        rows.execute("UPDATE quarantined_jobs SET record = ? WHERE id = ?", (kept, bad))
    assert made.run(f"slurmctld -f {made.conf} --unquarantine {bad}", user=None).ok().out == f"job {bad} is back\n"
    start(made)
    made.run(f"scontrol release {bad}").ok()
    assert made.wait_end(bad) == "COMPLETED"


def test_a_crash_says_what_it_was_at(made):
    made.controller.send_signal(signal.SIGABRT)
    made.controller.wait(60)
    words = made.dir / "log" / "slurmctld-.stderr"
    wait_until(lambda: "slurmctld: fatal: signal 6 at " in words.read_text(), 10, words.read_text)
    start(made)
