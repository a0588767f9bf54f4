"""The client that speaks our frames by hand: what it needs for the tests that are built on it."""

import os

import pytest

from raw_client import Closed, RawClient, messages
from world import USERS, is_root


def test_it_asks_and_is_answered(cluster):
    with RawClient(cluster.client_socket(), user=cluster.me()) as client:
        assert client.ask(ping={}).ping.host.decode() == cluster.host
        reply = client.ask(jobs={"filter": {"jobs": [{"job": 999999}]}, "one_job": True})
        assert reply.failure.message == b"Invalid job id specified"


def test_it_is_known_by_the_user_it_connects_as(cluster):
    for user in cluster.users():
        with RawClient(cluster.client_socket(), user=user) as client:
            spec = {"name": b"raw", "work_dir": str(cluster.home(user)).encode(), "nodes_min": 1, "tasks": 1, "hold": True}
            job = client.ask(submit={"spec": spec, "payload": {"script": b"#!/bin/sh\ntrue\n"}, "nonce": 1}).submitted.job
            uid = USERS[user] if user else os.getuid()
            assert f"({uid})" in cluster.show(job)["UserId"]
            cluster.run(f"scancel {job}", user=None).ok()


def test_an_agents_socket_answers_too(cluster):
    with RawClient(cluster.client_socket("n2"), user=cluster.me()) as client:
        assert client.ask(ping={}).ping.host.decode() == cluster.host


def test_it_sees_the_other_side_hang_up(cluster):
    with RawClient(cluster.client_socket(), user=cluster.me()) as client:
        client.send_bytes(b"\xff" * 64)
        assert client.is_closed_by_peer()


@pytest.mark.skipif(not is_root(), reason="needs root to be two users")
def test_the_agents_of_a_host_are_root(cluster):
    with pytest.raises((PermissionError, Closed)):
        with RawClient(cluster.agents_socket(), user="bob", speaks="agent") as bob:
            bob.send(messages().AgentToController(register={"protocol": 1, "node": b"n1"}))
            bob.receive()
