"""The sockets that somebody can reach, and what is said on each: every message of its protocol, and some of all others."""

import os
import pathlib
import socket
import time

from made_up import INDEX_TEXTS
from raw_client import Closed, RawClient, frame, messages
from world import USERS

HELD_MAX = 40  # Connections that are left open in the middle of something.


def listeners_of(pid):
    """The paths of the unix sockets a process has open; none where it is gone."""
    inodes = set()
    try:
        for entry in pathlib.Path(f"/proc/{pid}/fd").iterdir():
            inodes.add(os.readlink(entry))
        lines = pathlib.Path(f"/proc/{pid}/net/unix").read_text().splitlines()[1:]
    except OSError:
        return []
    fields = [line.split() for line in lines]
    return [each[7] for each in fields if len(each) == 8 and f"socket:[{each[6]}]" in inodes]


class Way:
    """One kind of connection: where to, as whom, in which protocol, with which messages."""

    def __init__(self, name, where, user, speaks, kinds):
        self.name, self.where, self.user, self.speaks, self.kinds = name, where, user, speaks, kinds
        self.open, self.held, self.sent = None, [], 0

    def connect(self):
        target = self.where()
        if target is None:
            return None
        try:
            return RawClient(target, user=self.user, timeout=1, speaks=self.speaks)
        except (OSError, Closed):
            return None

    def close(self):
        for client in [*self.held, *([self.open] if self.open else [])]:
            client.close()
        self.open, self.held = None, []

    def say(self, random, maker):
        """Says one thing; returns what it was, or None where nobody listens."""
        self.open = self.open or self.connect()
        if self.open is None:
            return None
        content = self.content(random, maker)
        self.sent += 1
        try:
            pick = random.random()
            if pick < 0.03:  # Announced, begun, and left alone.
                self.open.send_bytes(frame(content)[:random.randrange(1, len(content) + 4)])
                self.hold()
            elif pick < 0.05:
                self.open.send_bytes(random.randbytes(random.randrange(1, 200)))
                self.drop()
            else:
                self.open.send(content)
                self.listen(random)
        except (Closed, socket.timeout, OSError):
            self.drop()
        if random.random() < 0.1:
            self.drop()
        return content

    def content(self, random, maker):
        kind = random.choice(self.kinds) if random.random() < 0.95 else random.choice(ALL_KINDS)
        message = getattr(messages(), kind)()
        usual = usual_messages(kind, random, maker)
        if usual and random.random() < 0.6:
            maker.near(message, random.choice(usual))
        else:
            maker.fill(message)
        if kind == "Request":
            message.protocol = 1
        if kind == "AgentToController" and message.HasField("register"):
            message.register.node = b"n4"  # The others have an agent.
        content = message.SerializeToString()
        return maker.spoil(content) if random.random() < 0.15 else content

    def listen(self, random):
        """Reads what is there; now and then nothing is read, so that answers pile up."""
        if random.random() < 0.2:
            return
        self.open.socket.settimeout(0.02)
        try:
            for _ in range(50):
                self.open.receive()
        except (socket.timeout, AssertionError):
            pass
        finally:
            if self.open:
                self.open.socket.settimeout(1)

    def hold(self):
        self.held.append(self.open)
        self.open = None
        if len(self.held) > HELD_MAX:
            self.held.pop(0).close()

    def drop(self):
        if self.open:
            self.open.close()
        self.open = None


def usual_spec(random, job):
    """A small job that waits for one thing or another."""
    now = int(time.time() * 1000)
    waits = {"hold": True, "begin": now + random.choice([500, 3600_000]), "deadline": now + random.choice([-1000, 500, 1500, 3600_000]),
             "dependency": {"terms": [{"kind": random.randrange(7), "job": job}]}, "time_limit": {"seconds": random.choice([1, 60])},
             "array": {"elements": b"0-9", "throttle": 2}, "mail_types": 255, "mail_user": b"mallory", "requeue": True}
    chosen = [name for name in sorted(waits) if random.random() < 0.25]
    return {"name": b"fuzzed", "work_dir": b"/tmp", "std_out": b"/dev/null", "nodes_min": 1, "tasks": 1, **{name: waits[name] for name in chosen}}


def usual_requests(random, job):
    """What a command would say in earnest."""
    spec = usual_spec(random, job)
    payload = {"script": b"#!/bin/sh\nsleep 1\n", "environment": [b"PATH=/usr/bin:/bin"]}
    launch = {"argv": [b"/bin/true"], "work_dir": b"/tmp", "io_unix_path": b"/tmp/nobody", "io_key": b"k" * 32}
    submit = {"spec": spec, "payload": payload, "nonce": random.getrandbits(60)}
    step = {"job": job, "spec": {"overlap": True, "tasks": 1}, "launch": launch, "nonce": random.getrandbits(60)}
    line = {"spec": {**spec, "cron": b"* * * * *"}, "payload": payload}
    return [{"submit": submit}, {"submit": submit}, {"submit": {**submit, "components": [spec, spec]}}, {"create_step": step},
            {"update_job": {"jobs": [{"job": job}], "update": {"comment": b"x", "deadline": int(time.time() * 1000) + 500}}},
            {"jobs": {"filter": {"jobs": [{"job": job}]}}}, {"signal": {"filter": {"jobs": [{"job": job, "elements": b"0-9"}]}, "signal": 15}},
            {"crontab": {"uid": USERS["mallory"], "action": 1, "text": b"x", "jobs": [line]}}]


def usual_facts(random):
    devices = random.choice([b"0-1", b"0-1", b"0-1", *INDEX_TEXTS])
    return {"host_name": b"far", "cpus": 8, "sockets": 1, "cores_per_socket": 8, "threads_per_core": 1, "memory": 4000,
            "gres": [{"name": b"gpu", "type": b"rtx4000", "count": 2, "devices": devices}, {"name": b"shard", "type": b"rtx4000", "count": 128}]}


def usual_reports(random, job):
    """What the agent of a node would."""
    key = {"job": job, "attempt": random.choice([0, 1]), "step": random.choice([0, 4294967291])}
    ping = messages().Request(id=1, protocol=1, ping={}).SerializeToString()
    return [{"register": {"protocol": 1, "node": b"n4", "facts": usual_facts(random), "steps": [key], "version": b"x"}},
            {"step_ended": {"key": key, "exit": {"code": 0}}}, {"job_clean": {"job": job, "attempt": 1}}, {"step_started": {"key": key}},
            {"relay_open": {"session": 1, "uid": USERS["mallory"], "gid": 1}}, {"load": {"cpu_load": 1.0, "free_memory": 5}},
            {"relay_data": {"session": 1, "frame": ping}}, {"begun_scripts": {"scripts": [{"job": job, "attempt": 1, "began": 5}]}}]


def usual_messages(kind, random, maker):
    usual = {"Request": usual_requests, "AgentToController": usual_reports}.get(kind)
    return [getattr(messages(), kind)(**body) for body in usual(random, random.choice(maker.context.jobs))] if usual else []


ALL_KINDS = ["Request", "Reply", "AgentToController", "ControllerToAgent", "AgentToStepd", "StepdToAgent", "StepdToSrun", "SrunToStepd"]


def all_ways(cluster, port, scene):
    """`scene` knows a waiting srun and the stepds."""
    return [
        Way("controller", cluster.client_socket, "mallory", "client", ["Request"]),
        Way("relay", lambda: cluster.client_socket("n1"), "mallory", "client", ["Request"]),
        Way("agents", cluster.agents_socket, None, "agent", ["AgentToController"]),
        Way("agents by a user", cluster.agents_socket, "mallory", "agent", ["AgentToController"]),
        Way("port", lambda: ("127.0.0.1", port), "mallory", None, ALL_KINDS),
        Way("stepd", scene.stepd_socket, None, "agent to stepd", ["AgentToStepd"]),
        Way("stepd by a user", scene.stepd_socket, "mallory", "agent to stepd", ["AgentToStepd"]),
        Way("srun", scene.srun_socket, "bob", "stepd to srun", ["StepdToSrun"]),
        Way("srun by another", scene.srun_socket, "mallory", "stepd to srun", ["StepdToSrun"]),
    ]
