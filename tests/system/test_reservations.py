"""Reservations and licenses: what users and administrators see of them."""

import json
import re
import signal

import pytest

from cluster import Cluster, kill
from golden import GOLDEN, Expected, mask
from world import is_root, wait_until



@pytest.fixture(scope="module")
def licensed():
    made = Cluster(extra="Licenses=fluent:3,ansys:1\n")
    yield made
    made.stop()


def admin(cluster, command):
    return cluster.run(command, user=None)


def me(cluster):
    return cluster.run("id -un").out.strip()


@pytest.fixture
def reserve(cluster):
    """Reservations that go when the test does."""
    made = []

    def create(name, words):
        said = admin(cluster, f"scontrol create reservation ReservationName={name} {words}").ok()
        assert said.out == f"Reservation created: {name}\n"
        made.append(name)

    yield create
    cluster.run("scancel --me")
    for name in made:
        wait_until(lambda: admin(cluster, f"scontrol delete ReservationName={name}").code == 0
                   or "not found" in cluster.run(f"scontrol show reservation {name}").out, what="it to be gone")


@pytest.mark.skipif(not GOLDEN.is_dir(), reason="no golden files beside the checkout")
def test_the_words_of_a_real_slurm(cluster):
    for name in ("create", "show", "sinfo-T", "delete"):
        want = Expected(GOLDEN / "admin" / f"reservation-{name}.txt")
        got = admin(cluster, want.command)
        assert (mask(got.out), got.err, got.code) == (mask(want.out), want.err, want.code)
    want = Expected(GOLDEN / "busy" / "scontrol-show-licenses.txt")
    assert cluster.run(want.command).out == want.out


def test_a_reservation_as_text_line_and_document(cluster, reserve):
    reserve("doc", f"starttime=now+2hours duration=90 users={me(cluster)} nodecnt=2 flags=daily comment=course")
    text = cluster.run("scontrol show reservation doc").ok().out
    assert re.search(r"Nodes=n\[1-2\] NodeCnt=2 CoreCnt=16 Features=\(null\) PartitionName=debug Flags=DAILY$", text, re.M)
    assert text.splitlines()[0].endswith("Duration=01:30:00") and text.endswith("   Comment=course\n\n")
    assert len(cluster.run("scontrol -o show reservation doc").ok().out.splitlines()) == 1
    found = json.loads(cluster.run("scontrol show reservation --json").ok().out)["reservations"]
    assert [r["name"] for r in found] == ["doc"] and found[0]["flags"] == ["DAILY"]
    assert found[0]["end_time"]["number"] - found[0]["start_time"]["number"] == 5400
    said = cluster.run("scontrol show reservation nosuch")
    assert (said.out, said.code) == ("Reservation nosuch not found\n", 1)


def test_jobs_of_a_reservation_run_on_its_nodes_and_others_do_not(cluster, reserve):
    reserve("mine", f"starttime=now duration=60 users={me(cluster)} nodes=n3")
    assert cluster.run("sinfo -h -n n3 -o %t").out.split()[0] == "resv"
    shown = cluster.run("scontrol show node n3").ok().out
    assert "State=IDLE+RESERVED" in shown and "   ReservationName=mine\n" in shown
    outside = cluster.wrap("sleep 300", "-w n3 -t 5")
    wait_until(lambda: cluster.run(f"squeue -h -j {outside} -o %r").out ==
               "ReqNodeNotAvail, May be reserved for other job\n", what="the reason")
    inside = cluster.wrap("echo $SLURM_JOB_RESERVATION", "--reservation=mine -t 5 -o inside.out")
    assert cluster.wait_end(inside) == "COMPLETED"
    assert cluster.read("inside.out") == "mine\n"
    assert cluster.run(f"sacct -n -P -X -j {inside} -o Reservation,NodeList").out == "mine|n3\n"
    assert cluster.run(f"squeue -h -j {outside} -o %v").out == "(null)\n"
    assert cluster.state(outside) == "PENDING"


def test_maintenance_ahead_keeps_long_jobs_waiting(cluster, reserve):
    reserve("maint", "starttime=now+1hour duration=60 users=root nodes=ALL flags=maint,ignore_jobs")
    long = cluster.wrap("true", "-t 120")
    wait_until(lambda: "Reserved for maintenance" in cluster.run(f"squeue -h -j {long} -o %r").out, what="the reason")
    assert cluster.run(f"squeue -h -j {long} -o %r").out == "ReqNodeNotAvail, Reserved for maintenance\n"
    assert cluster.wait_end(cluster.wrap("true", "-t 10")) == "COMPLETED"
    ahead = cluster.run("sbatch --test-only -t 120 --wrap true")
    end = cluster.run("scontrol -o show reservation maint").out.split("EndTime=")[1].split()[0]
    assert f"start at {end}" in ahead.err
    cluster.run(f"scontrol update jobid={long} timelimit=10").ok()
    assert cluster.wait_end(long) == "COMPLETED"


def test_what_is_wrong_is_said_in_slurms_words(cluster, reserve):
    said = cluster.run("sbatch --reservation=nosuch --wrap true")
    assert said.err == "sbatch: error: Batch job submission failed: Requested reservation is invalid\n" and said.code == 1
    reserve("roots", "starttime=now+1hour duration=10 users=root nodes=n1")
    if is_root():
        said = cluster.run("sbatch --reservation=roots --wrap true")
        assert said.err == "sbatch: error: Batch job submission failed: Access denied to requested reservation\n"
        said = cluster.run("scontrol create reservation starttime=now duration=5 users=alice nodes=n2", user="alice")
        assert (said.err, said.code) == ("Error creating the reservation: Invalid user id\n", 1)
        assert cluster.run("scontrol delete reservationname=roots", user="alice").code == 1
    create = "scontrol create reservation duration=10 "
    for words, want in (
            ("starttime=now+1hour users=root nodes=n1",
             "Error creating the reservation: Requested reservation overlaps with another reservation"),
            ("starttime=now+1hour users=nosuchuser nodes=n2", "Error creating the reservation: Invalid user id"),
            ("starttime=now+1hour users=root nodes=n9", "Error creating the reservation: Invalid node name specified"),
            ("starttime=now-1hour users=root nodes=n2", "Error creating the reservation: Invalid time specified"),
            ("starttime=now+1hour users=root nodecnt=99",
             "Error creating the reservation: Requested nodes are busy\n"
             "Note, unless nodes are directly requested a reservation must exist in a single partition.\n"
             "If no partition is requested the default partition is assumed."),
            ("starttime=now+1hour users=root nodes=n2 flags=replace",
             "scontrol: error: REPLACE or REPLACE_DOWN flags should be used with the NodeCnt reservation option; "
             "do not specify Nodes\nError creating the reservation: Invalid node name specified"),
            ("starttime=now+1hour users=root nodes=n2 corecnt=9", "Error creating the reservation: Requested nodes are busy"),
            ("starttime=now+1hour users=root nodes=n1 corecnt=1",
             "Error creating the reservation: Requested reservation overlaps with another reservation"),
            ("starttime=now+1hour users=root corecnt=1 tres=cpu=1",
             "scontrol: error: TRES=cpu=<num> and CoreCnt=<num> are mutually exclusive\n"
             "Error creating the reservation: CPU count specification invalid"),
            ("starttime=now+1hour users=root tres=cpu=x",
             "Error creating the reservation: Invalid Trackable RESource (TRES) specification"),
            ("users=root nodes=n2", "scontrol: error: A start time must be given.  No reservation created."),
            ("starttime=now users=root nodes=n2 flags=nosuch",
             "scontrol: error: Error parsing flags nosuch.  No reservation created.")):
        said = admin(cluster, create + words)
        assert (said.err, said.code) == (want + "\n", 1)
    said = admin(cluster, "scontrol update reservationname=nosuch duration=5")
    assert said.err == "slurm_update error: Requested reservation is invalid\n"
    assert admin(cluster, "scontrol update reservationname=roots duration=20").ok().out == "Reservation updated.\n"
    said = admin(cluster, "scontrol delete reservationname=nosuch")
    assert (said.err, said.code) == ("delete_reservation reservationname=nosuch: Requested reservation is invalid\n", 1)
    said = admin(cluster, "scontrol update reservationname=roots nodes+=n2 nodes=+n3,-n1").ok()
    assert "Nodes=n[2-3] " in cluster.run("scontrol show reservation roots").out


def cores_of(cluster, job):
    """The numbers in `scontrol show job -d`."""
    return re.search(r"Nodes=(\S+) CPU_IDs=(\S+)", cluster.run(f"scontrol show job -d {job}").ok().out).groups()


def test_cores_of_a_node_are_reserved_and_the_rest_is_open_to_all(cluster, reserve):
    reserve("part", f"starttime=now duration=60 users={me(cluster)} nodes=n3 corecnt=3")
    shown = cluster.run("scontrol show reservation part").ok().out.splitlines()
    assert shown[1:4] == ["   Nodes=n3 NodeCnt=1 CoreCnt=3 Features=(null) PartitionName=debug Flags=SPEC_NODES",
                          "     NodeName=n3 CoreIDs=0-2", "   TRES=cpu=3"]
    found = json.loads(cluster.run("scontrol show reservation part --json").ok().out)["reservations"][0]
    assert found["core_specializations"] == [{"node": "n3", "core": "0-2"}]
    assert (found["core_count"], found["tres"]) == (3, "cpu=3")
    assert "Flags=SPEC_NODES   NodeName=n3 CoreIDs=0-2 TRES=" in cluster.run("scontrol -o show reservation part").ok().out
    inside = cluster.wrap("sleep 300", "--reservation=part -n2 --mem=100 -t 5")
    outside = cluster.wrap("sleep 300", "-w n3 -n5 --mem=100 -t 5")
    for job in (inside, outside):
        cluster.wait_state(job, "RUNNING")
    assert cores_of(cluster, inside) == ("n3", "0-1") and cores_of(cluster, outside) == ("n3", "3-7")
    # One core is free, and it is not for everybody.
    other = cluster.wrap("sleep 300", "-w n3 -n1 --mem=100 -t 5")
    too_large = cluster.wrap("sleep 300", "--reservation=part -n2 --mem=100 -t 5")
    last = cluster.wrap("sleep 300", "--reservation=part -n1 --mem=100 -t 5")
    cluster.wait_state(last, "RUNNING")
    assert cores_of(cluster, last) == ("n3", "2")
    assert [cluster.state(job) for job in (other, too_large)] == ["PENDING", "PENDING"]
    said = admin(cluster, "scontrol update reservationname=part corecnt=2")
    assert (said.err, said.code) == ("scontrol: error: Updating core/node TRES not supported for core-based reservations\n"
                                     "slurm_update error: Core-based reservation can not be updated\n", 1)
    cluster.run(f"scancel {outside}").ok()
    cluster.wait_state(other, "RUNNING")
    assert cores_of(cluster, other) == ("n3", "3")


def test_reserved_cores_outlive_the_controller(make_cluster):
    cluster = make_cluster()
    for words in ("reservation=a corecnt=4", "reservation=b tres=node=2,cpu=6", "reservation=c trespernode=cpu=1 nodecnt=2"):
        admin(cluster, f"scontrol create {words} starttime=now duration=60 users={me(cluster)}").ok()
    before = cluster.run("scontrol show reservation").out
    assert before.count("NodeName=") >= 6
    kill(cluster.controller, signal.SIGKILL)
    cluster.start_controller()
    cluster.wait_ready()
    wait_until(lambda: cluster.run("scontrol show reservation").out == before, what="the same again")
    job = cluster.wrap("sleep 300", "-n1 -t 5")
    cluster.wait_state(job, "RUNNING")
    node, core = cores_of(cluster, job)
    reserved = re.findall(rf"NodeName={node} CoreIDs=(\S+)", before)
    assert core not in ",".join(reserved).replace("-", ",").split(",")


def test_reservations_outlive_the_controller(make_cluster):
    cluster = make_cluster()
    said = admin(cluster, f"scontrol create reservation starttime=now duration=60 users={me(cluster)} nodecnt=1").ok()
    name = said.out.split()[-1]
    assert re.fullmatch(rf"{me(cluster)}_\d+", name)
    before = cluster.run("scontrol show reservation").out
    kill(cluster.controller, signal.SIGKILL)
    cluster.start_controller()
    cluster.wait_ready()
    wait_until(lambda: cluster.run("scontrol show reservation").out == before, what="the same again")
    job = cluster.wrap("true", f"--reservation={name}")
    assert cluster.wait_end(job) == "COMPLETED"


def test_licenses_are_counted_and_come_back(licensed):
    cluster = licensed
    assert cluster.run("scontrol show licenses").ok().out == (
        "LicenseName=ansys\n    Total=1 Used=0 Free=1 Reserved=0 Remote=no\n"
        "LicenseName=fluent\n    Total=3 Used=0 Free=3 Reserved=0 Remote=no\n")
    holder = cluster.wrap("echo $SLURM_JOB_LICENSES; sleep 300", "-L fluent:2 -o lic.out")
    cluster.wait_state(holder, "RUNNING")
    waiter = cluster.wrap("true", "-L fluent:2")
    wait_until(lambda: cluster.show(waiter)["Reason"] == "Licenses", what="the reason")
    assert cluster.run("scontrol -o show licenses fluent").ok().out == (
        "LicenseName=fluent Total=3 Used=2 Free=1 Reserved=0 Remote=no\n")
    assert cluster.run(f"squeue -h -j {waiter} -o '%W %r'").out == "fluent:2 Licenses\n"
    assert cluster.show(holder)["LicensesAlloc"] == "fluent:2"
    either = cluster.wrap("true", "-L 'fluent:2|ansys'")
    assert cluster.wait_end(either) == "COMPLETED"
    assert "license/ansys=1" in cluster.run(f"sacct -n -P -X -j {either} -o AllocTRES").out
    cluster.run(f"scontrol update jobid={waiter} licenses=fluent:1").ok()
    assert cluster.wait_end(waiter) == "COMPLETED"
    cluster.run(f"scancel {holder}").ok()
    wait_until(lambda: "Used=2" not in cluster.run("scontrol show licenses").out, what="they are free")
    assert cluster.read("lic.out").splitlines()[0] == "fluent:2"
    found = json.loads(cluster.run("scontrol show licenses --json").ok().out)["licenses"]
    assert [(one["LicenseName"], one["Total"], one["Used"]) for one in found] == [("ansys", 1, 0), ("fluent", 3, 0)]


def test_bad_licenses_are_refused(licensed):
    for words in ("nosuch", "fluent:4", "fluent:x", "'fluent,ansys|fluent'"):
        said = licensed.run(f"sbatch -L {words} --wrap true")
        assert said.code == 1 and said.err.endswith("Invalid license specification\n"), said.err
