"""What the tests of hostile users share: mallory's ways in, and the service that must not notice.

Every test of test_hostile_*.py is an attempt that must fail: it has no effect, and afterwards (`unharmed`) the same
daemons live, everybody else is answered quickly, and no daemon has grown.
"""

import os
import socket
import time

import pytest

from raw_client import Closed, RawClient
from world import is_root

ANSWER_SECONDS_MAX = 10  # A busy machine is slow; one that is stopped is stopped for good.
RSS_MIB_MAX = 600

needs_users = pytest.mark.skipif(not is_root(), reason="needs root to be two users")


def rss_mib(pid):
    with open(f"/proc/{pid}/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20


def daemons(cluster):
    return [cluster.controller, *cluster.agents.values()]


def check_service(cluster, user="alice"):
    """The daemons are those that were started, small, and answer another user."""
    for daemon in daemons(cluster):
        assert daemon.poll() is None, f"{daemon.args[0].name} has ended with {daemon.returncode}"
        assert rss_mib(daemon.pid) < RSS_MIB_MAX, f"{daemon.args[0].name} has grown to {rss_mib(daemon.pid)} MiB"
    begun = time.monotonic()
    for path in [cluster.client_socket(), *(cluster.client_socket(node) for node in cluster.names)]:
        with RawClient(path, user=user if is_root() else None, timeout=ANSWER_SECONDS_MAX) as other:
            assert other.ask(ping={}).HasField("ping")
    assert time.monotonic() - begun < ANSWER_SECONDS_MAX, "others are answered too late"


@pytest.fixture(autouse=True)
def unharmed(cluster):
    yield
    check_service(cluster)


def mallory(cluster, **options):
    return RawClient(cluster.client_socket(), user="mallory", **options)


def spec_of(cluster, **more):
    """A small job of mallory's, as sbatch would send it."""
    home = str(cluster.home("mallory")).encode()
    return {"name": b"mine", "work_dir": home, "std_out": home + b"/%j.out", "nodes_min": 1, "tasks": 1, **more}


def submit(cluster, script="true", components=(), payload=None, **more):
    """Submits by hand; the reply."""
    with mallory(cluster) as client:
        return client.ask(submit={
            "spec": spec_of(cluster, **more), "nonce": time.monotonic_ns(),
            "payload": {"script": f"#!/bin/sh\n{script}\n".encode(), "environment": [b"PATH=/usr/bin:/bin"], **(payload or {})},
            "components": [spec_of(cluster, **each) for each in components]})


def refused(reply):
    """The words of a refusal; the request must not have been granted."""
    assert reply.HasField("failure"), reply
    return reply.failure.message.decode(errors="replace")


def is_ignored(client, message):
    """Whether the message gets no answer but a refusal: it is hung up on, or told no."""
    try:
        client.send(message)
        return client.receive_reply().HasField("failure")
    except (Closed, socket.timeout):
        return True


def end_jobs(cluster, user="mallory"):
    cluster.run(f"scancel -u {user}", user=None).ok()
