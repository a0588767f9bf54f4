"""What one user asks never costs others: memory, connections and time of the daemons are bounded, and whoever goes over
a limit reads which it was. The frames are those with which a cluster was once taken apart."""

import contextlib
import pathlib
import resource
import struct
import time

import pytest

from raw_client import Closed, RawClient, frame, messages
from world import is_root

MIB = 1 << 20
pytestmark = pytest.mark.skipif(not is_root(), reason="needs root to be two users")


def memory(pid):
    """What the process has in memory, in bytes."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS"))) * 1024


def peak(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))) * 1024


@contextlib.contextmanager
def stays_small(pid, more=400 * MIB):
    """The process never has so much more in memory than it has now."""
    pathlib.Path(f"/proc/{pid}/clear_refs").write_text("5")
    before = memory(pid)
    yield
    assert peak(pid) - before < more, f"{(peak(pid) - before) / MIB:.0f} MiB more"


@pytest.fixture
def many_files():
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(before[1], 8192), before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def answers_others(cluster, where=None):
    start = time.monotonic()
    with RawClient(cluster.client_socket(where), user="alice") as alice:
        assert alice.ask(ping={}).ping.host
    assert time.monotonic() - start < 5


def words(client):
    """What the other side says before it hangs up."""
    with contextlib.suppress(Closed):
        return client.receive_reply().failure.message.decode()
    return ""


def test_a_frame_of_empty_parts_is_not_decoded(cluster):
    with stays_small(cluster.controller.pid), RawClient(cluster.client_socket(), user="bob") as bob:
        request = bob.request(submit={"spec": {"name": b"x"}})
        request.submit.MergeFromString(b"\x92\x03\x00" * 300_000)
        bob.send(request)
        assert b"at most 128 are allowed" in bob.receive_reply().failure.message
        answers_others(cluster)


def test_selectors_of_millions_of_elements_are_refused(cluster):
    with stays_small(cluster.controller.pid), RawClient(cluster.client_socket(), user="bob") as bob:
        start = time.monotonic()
        reply = bob.ask(signal={"filter": {"jobs": [{"job": 1, "elements": b"0-4000000:2"}] * 50}})
        assert b"Invalid index list" in reply.failure.message
        assert time.monotonic() - start < 2


@pytest.mark.parametrize("where", [None, "n1"])
def test_half_frames_count_against_their_user(cluster, where):
    half = struct.pack("<I", 19 * MIB) + b"x" * (10 * MIB)
    with stays_small(cluster.controller.pid), contextlib.ExitStack() as stack:
        refused = []
        for _ in range(20):
            bob = stack.enter_context(RawClient(cluster.client_socket(where), user="bob"))
            with contextlib.suppress(Closed):
                bob.send_bytes(half)
            answers_others(cluster, where)
            bob.socket.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                refused.append(words(bob))
        assert len(refused) >= 10
        assert any("unfinished messages" in text and "67108864" in text for text in refused)


def test_a_frame_that_is_too_large_is_refused_with_the_limit(cluster):
    for where in (None, "n1"):
        with RawClient(cluster.client_socket(where), user="bob") as bob:
            bob.send_bytes(struct.pack("<I", 64 * MIB))
            assert "the limit is 20971520" in words(bob)
            assert bob.is_closed_by_peer()
        answers_others(cluster, where)
    assert cluster.run("sinfo -h -n n1 -o %t").ok().out.strip() in ("idle", "mix", "alloc")


def test_one_user_cannot_hold_all_sessions_of_an_agent(cluster, many_files):
    with contextlib.ExitStack() as stack:
        for _ in range(1024):
            stack.enter_context(RawClient(cluster.client_socket("n1"), user="bob"))
        more = stack.enter_context(RawClient(cluster.client_socket("n1"), user="bob"))
        assert "at most as many are allowed" in words(more)
        answers_others(cluster, "n1")


def test_a_relayed_flood_does_not_close_the_agents_link(cluster):
    large = frame(messages().Request(id=1, protocol=1, jobs={"filter": {"names": [b"x" * (15 * MIB)]}}))
    with contextlib.ExitStack() as stack:
        bobs = [stack.enter_context(RawClient(cluster.client_socket("n1"), user="bob", timeout=120)) for _ in range(3)]
        for bob in bobs:
            for _ in range(8):
                bob.send_bytes(large)
        for bob in bobs:
            for _ in range(8):
                assert b"the request is too large" in bob.receive_reply().failure.message
    answers_others(cluster, "n1")
    assert cluster.run("sinfo -h -n n1 -o %t").ok().out.strip() in ("idle", "mix", "alloc")


def test_a_peer_of_another_protocol_is_closed_unheard(cluster):
    for speaks in ("agent", "agent to stepd", "stepd to srun"):
        with RawClient(cluster.client_socket(), user="bob", speaks=speaks) as bob:
            with contextlib.suppress(Closed):
                bob.send(bob.request(ping={}))
            assert bob.is_closed_by_peer()
    answers_others(cluster)


def test_jobs_with_long_texts_do_not_break_lists(cluster):
    ids = []
    with RawClient(cluster.client_socket(), user="bob") as bob:
        spec = {"name": b"long", "work_dir": b"/tmp", "hold": True, "comment": b"c" * 16000, "submit_line": b"s" * 120_000}
        for i in range(80):
            reply = bob.ask(submit={"spec": spec, "payload": {"script": b"#!/bin/sh\ntrue\n"}, "nonce": 1000 + i})
            assert reply.submitted.job, reply.failure.message
            ids.append(reply.submitted.job)
    try:
        for command in ("squeue -h -n long -o %i", f"sacct -n -X -j {','.join(map(str, ids))} -o jobid"):
            assert len(cluster.run(command, user="alice").ok().out.split()) >= 80, command
        assert cluster.run("scontrol show jobs", user="alice").ok().out.count("JobName=long") == 80
    finally:
        cluster.run(f"scancel {' '.join(map(str, ids))}", user="bob").ok()
