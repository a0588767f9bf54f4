"""Attempts of a user to fill the daemons' memory and time by frames: their size, their parts, their number."""

import socket

import pytest

from hostile import mallory, needs_users, rss_mib, unharmed  # noqa: F401
from raw_client import Closed, RawClient, frame, messages
from world import USERS

pytestmark = needs_users

MIB = 1 << 20
BIG = 64 * MIB


def test_a_request_of_a_million_parts_is_refused(cluster):
    """A frame of 900 KB took 1.2 GB."""
    made = messages()
    few = 400_000
    for body in ({"signal": {"filter": {"jobs": [{}] * few}}}, {"set_triggers": {"triggers": [{}] * few}},
                 {"update_job": {"jobs": [{}] * few, "update": {}}}, {"nodes": {"names": [b""] * few}},
                 {"create_step": {"more": [{}] * few}}, {"submit": {"components": [{}] * few}},
                 {"crontab": {"uid": USERS["mallory"], "action": 1, "jobs": [{}] * few}},
                 {"jobs": {"filter": {"uids": list(range(few))}}}, {"update_reservation": {"users": {"names": [{}] * few}}}):
        with mallory(cluster, timeout=60) as client:
            client.send(made.Request(id=1, protocol=1, command=b"raw", **body))
            try:
                assert client.receive_reply().HasField("failure"), body.keys()
            except Closed:
                pass
        assert rss_mib(cluster.controller.pid) < 600, (list(body), rss_mib(cluster.controller.pid))


@pytest.mark.parametrize("way", [None, "n1"])
def test_frames_that_never_end_cost_little(cluster, way):
    """60 half frames took 3.5 GB."""
    held = []
    piece = b"\x00" * MIB
    for _ in range(60):
        client = RawClient(cluster.client_socket(way), user="mallory", timeout=0.3)
        held.append(client)
        try:
            client.send_bytes(frame(b"")[:0] + BIG.to_bytes(4, "little"))
            for _ in range(20):
                client.send_bytes(piece)
        except (Closed, socket.timeout):
            continue
    grown = [rss_mib(cluster.controller.pid), rss_mib(cluster.agents["n1"].pid)]
    assert max(grown) < 600, grown
    for client in held:
        client.close()


def test_a_frame_of_any_size_by_an_agents_socket_leaves_the_node_up(cluster):
    """One of 64 MiB closed the agent's link."""
    for size in (BIG, BIG - 8, BIG - 64, 8 * MIB):
        with RawClient(cluster.client_socket("n1"), user="mallory", timeout=20) as client:
            try:
                client.send(b"\x1a" + b"\xff\xff\xff\x7f" * (size // 4))
                client.receive()
            except (Closed, socket.timeout):
                pass
        assert cluster.node("n1")["State"].startswith(("IDLE", "MIXED", "ALLOCATED")), size
    assert "not responding" not in (cluster.dir / "log" / "controller.log").read_text()


def test_requests_without_end_by_one_user_leave_room_for_others(cluster):
    with mallory(cluster, timeout=5) as client:
        flood = b"".join(frame(client.request(jobs={"all_states": True, "with_steps": True})) for _ in range(3000))
        try:
            client.send_bytes(flood)
        except (Closed, socket.timeout):
            pass
        with RawClient(cluster.client_socket(), user="alice", timeout=10) as alice:
            assert alice.ask(ping={}).HasField("ping")
