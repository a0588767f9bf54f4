"""Speaks our frames by hand: what no command of ours would send, as any user.

A frame is a little-endian 32-bit length and a protobuf message. The messages are those of src/wire/proto, compiled
for Python when they are first asked for, into a folder that goes with the process:

    from raw_client import RawClient, messages
    with RawClient(cluster.client_socket(), user="bob") as bob:
        reply = bob.ask(ping={})                     # a Reply; bob.ask(...).failure.message says why not
        bob.send(messages().AgentToController(...))  # any message, understood or not
        bob.send_bytes(b"\\xff" * 64)                # no frame at all

The kernel tells the other side who had connected, so only connecting happens as that user.
"""

import atexit
import contextlib
import functools
import importlib
import os
import pathlib
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import types

from world import TREE, USERS, is_root

PROTOCOL = 1
FRAME_BYTES_MAX = 64 << 20
GREETINGS = TREE / "src" / "wire" / "greeting.hpp"
# Which greetings of that file a connection begins with: what it says, and what it hears.
SPEAKS = {"client": ("Client", "Controller"), "agent": ("Agent", "ControllerToAgent"),
          "agent to stepd": ("AgentToStepd", "StepdToAgent"), "stepd to srun": ("StepdToSrun", "SrunToStepd")}


@functools.cache
def messages():
    """All messages of the protocol by their names, as `messages().Request`."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="sy-proto-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    files = sorted((TREE / "src" / "wire" / "proto").glob("*.proto"))
    subprocess.run(["protoc", f"-I{TREE / 'src'}", f"--python_out={folder}", *files], check=True)
    sys.path.insert(0, str(folder))
    try:
        modules = [importlib.import_module(f"wire.proto.{file.stem}_pb2") for file in files]
    finally:
        sys.path.remove(str(folder))
    return types.SimpleNamespace(**{name: value for module in modules for name, value in vars(module).items()
                                    if hasattr(value, "DESCRIPTOR")})


def frame(body):
    """The bytes of one frame; `body` is a message or bytes."""
    content = body if isinstance(body, bytes) else body.SerializeToString()
    return struct.pack("<I", len(content)) + content


@contextlib.contextmanager
def as_user(user):
    """What is done inside is done as that user: connecting, opening. None is whoever runs the tests."""
    if not user or not is_root():
        yield
        return
    groups = os.getgroups()
    os.setgroups([])
    os.setegid(USERS[user])
    os.seteuid(USERS[user])
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)
        os.setgroups(groups)


class Closed(Exception):
    """The other side has ended the connection."""


class RawClient:
    """One connection. `to` is the path of a unix socket, or (host, port); `speaks` is a protocol of SPEAKS, or None for
    somebody who greets nobody."""

    def __init__(self, to, user=None, timeout=20, speaks="client"):
        self._received = b""
        self._expected = greetings(speaks)[1] if speaks else b""
        self._last_id = 0
        self.socket = socket.socket(socket.AF_INET if isinstance(to, tuple) else socket.AF_UNIX)
        self.socket.settimeout(timeout)
        with as_user(user):
            self.socket.connect(to if isinstance(to, tuple) else str(to))
        if speaks:
            # A peer that has no place for us has said so and is gone by now: its words can still be read.
            with contextlib.suppress(Closed):
                self.send_bytes(greetings(speaks)[0])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()

    def send_bytes(self, content):
        try:
            self.socket.sendall(content)
        except (BrokenPipeError, ConnectionResetError) as broken:
            raise Closed from broken

    def send(self, body):
        self.send_bytes(frame(body))

    def receive_bytes(self, count):
        while len(self._received) < count:
            try:
                got = self.socket.recv(1 << 20)
            except ConnectionResetError as broken:
                raise Closed from broken
            if not got:
                raise Closed
            self._received += got
        taken, self._received = self._received[:count], self._received[count:]
        return taken

    def receive(self):
        """The content of the next frame."""
        if self._expected:
            heard, self._expected = self.receive_bytes(len(self._expected)), b""
            assert heard in [greetings(known)[1] for known in SPEAKS], f"greeted with {heard}"
        (size,) = struct.unpack("<I", self.receive_bytes(4))
        assert size <= FRAME_BYTES_MAX, f"a frame of {size} bytes"
        return self.receive_bytes(size)

    def receive_reply(self):
        return messages().Reply.FromString(self.receive())

    def request(self, command="raw", **body):
        """A Request with one body, as request(ping={}); its id counts up."""
        self._last_id += 1
        return messages().Request(id=self._last_id, protocol=PROTOCOL, command=command.encode(), **body)

    def ask(self, **body):
        """Asks one thing and returns the first reply to it."""
        asked = self.request(**body)
        self.send(asked)
        while True:
            reply = self.receive_reply()
            if reply.id in (asked.id, 0):
                return reply

    def is_closed_by_peer(self):
        """Whether the other side ends the connection, in the time it has; what it says before that is not looked at."""
        try:
            while True:
                self.receive_bytes(1)
        except Closed:
            return True
        except socket.timeout:
            return False


@functools.cache
def greetings(speaks):
    """The bytes that both sides of such a connection begin with, as the source has them."""
    source = GREETINGS.read_text()
    found = [re.search(rf'k{name}Greeting = "([^"]*)"', source) for name in SPEAKS[speaks]]
    assert all(found), f"{GREETINGS} has no greetings of {speaks}"
    return [match[1].encode() for match in found]
