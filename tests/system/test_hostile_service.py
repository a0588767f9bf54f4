"""Attempts of a user to stop the service for everybody: by what she asks for, how much of it, and how."""

import socket
import time

import pytest

from hostile import end_jobs, mallory, needs_users, refused, rss_mib, submit, unharmed  # noqa: F401
from raw_client import Closed, RawClient, frame
from world import wait_until

pytestmark = needs_users

MIB = 1 << 20


def millis(seconds_from_now):
    return int((time.time() + seconds_from_now) * 1000)


def asks(cluster, **body):
    """What one answer is; None: hung up on."""
    with mallory(cluster) as client:
        try:
            return client.ask(**body)
        except Closed:
            return None


@pytest.mark.parametrize("what", ["held", "after a job that runs", "begins later", "in the past", "far in the past"])
def test_a_deadline_that_passes_ends_one_job(cluster, what):
    """It stopped the controller for good."""
    more = {"held": {"hold": True}, "begins later": {"begin": millis(3600)}}.get(what, {})
    deadline = {"in the past": millis(-5), "far in the past": -(1 << 62)}.get(what, millis(1))
    if what == "after a job that runs":
        first = cluster.wrap("sleep 600", user="mallory")
        more = {"dependency": {"terms": [{"kind": 2, "job": first}]}}
    reply = submit(cluster, deadline=deadline, **more)
    if reply.HasField("submitted"):
        wait_until(lambda: cluster.state(reply.submitted.job) in ("DEADLINE", "CANCELLED"), 30, "the deadline")
    end_jobs(cluster)


@pytest.mark.parametrize("address", ["--exec=!id", "-s", "a b", "a\nBcc: b", "a\x1bb", "-", "a\x00b"])
def test_an_address_of_mail_is_no_option(cluster, address):
    """It was a shell as root."""
    assert "mail" in refused(submit(cluster, mail_user=address.encode(), mail_types=1)).lower()
    held = submit(cluster, hold=True, mail_types=1).submitted.job
    with mallory(cluster) as client:
        said = client.ask(update_job={"jobs": [{"job": held}], "update": {"mail_user": address.encode()}})
        assert said.HasField("failure") or said.done.problems, said
    end_jobs(cluster)


TEXTS = ["name", "account", "qos", "wckey", "reservation", "comment", "licenses", "network", "mcs_label", "extra", "constraint",
         "prefer", "work_dir", "command", "submit_line", "submit_host", "std_in", "std_out", "std_err", "mail_user", "gpu_bind",
         "gpu_freq", "cron", "user", "group"]


@pytest.mark.parametrize("field", TEXTS)
def test_no_text_of_a_job_is_endless(cluster, field):
    reply = submit(cluster, hold=True, **{field: b"x" * (2 * MIB)})
    if reply.HasField("submitted"):  # What is taken from the kernel instead, or cut.
        size = len(cluster.run(f"scontrol show job {reply.submitted.job}", user=None).ok().out)
        assert size < 256 << 10, f"a {field} of 2 MiB was accepted"
        assert field in ("user", "group", "cron", "submit_line"), f"{field} of 2 MiB was accepted"
    end_jobs(cluster)


@pytest.mark.parametrize("field,count", [("partitions", 100_000), ("required_nodes", 1_000_000), ("excluded_nodes", 1_000_000),
                                         ("gres_per_node", 300_000), ("gpus_per_task", 300_000)])
def test_no_list_of_a_job_is_endless(cluster, field, count):
    entry = {"name": b"g"} if field.startswith("g") else b"x"
    reply = submit(cluster, hold=True, **{field: [entry] * count})
    assert reply.HasField("failure"), f"{field} of {count} was accepted"


@pytest.mark.parametrize("field", ["name", "comment", "account", "wckey", "std_out", "work_dir", "extra", "mail_user"])
def test_no_text_grows_by_an_update(cluster, field):
    job = submit(cluster, hold=True).submitted.job
    reply = asks(cluster, update_job={"jobs": [{"job": job}], "update": {field: b"y" * (2 * MIB)}})
    assert reply is None or reply.HasField("failure") or reply.done.problems
    size = len(cluster.run(f"scontrol show job {job}", user=None).ok().out)
    assert size < 64 << 10, f"a {field} of 2 MiB was accepted"
    end_jobs(cluster)


def test_jobs_of_the_largest_texts_are_listed_to_everybody(cluster):
    """170 jobs of four texts of 120 KB broke squeue, scontrol and sacct."""
    texts = {"comment": b"c" * (16 << 10), "extra": b"e" * (16 << 10), "submit_line": b"s" * (100 << 10), "name": b"n" * 1024}
    made = [submit(cluster, hold=True, **texts) for _ in range(170)]
    assert all(reply.HasField("submitted") for reply in made), next(r for r in made if not r.HasField("submitted"))
    for command in ("squeue -h -o %i", "scontrol show job -o", "squeue -h --json",
                    f"sacct -n -X -a -j {made[-1].submitted.job} -o jobid"):
        said = cluster.run(command, user="alice").ok()
        assert str(made[-1].submitted.job) in said.out
    end_jobs(cluster)


def test_a_selector_of_millions_is_an_interval(cluster):
    """646 bytes took 2.9 GB and 13 seconds."""
    job = submit(cluster, array={"elements": b"0-20000"}, hold=True).submitted.job
    wide = [{"job": job, "elements": b"0-4000000:2"}] * 30
    begun = time.monotonic()
    for body in ({"update_job": {"jobs": wide, "update": {"comment": b"x"}}}, {"hold": {"jobs": wide, "hold": True}},
                 {"requeue": {"jobs": wide}}, {"suspend": {"jobs": wide}}, {"top": {"jobs": wide}},
                 {"jobs": {"filter": {"jobs": wide}}}, {"signal": {"filter": {"jobs": wide}, "signal": 9}}):
        asks(cluster, **body)
    assert time.monotonic() - begun < 20
    end_jobs(cluster)


def test_a_job_of_thousands_of_parts_is_refused(cluster):
    reply = submit(cluster, components=[{"hold": True}] * 3000, hold=True)
    assert reply.HasField("failure"), "a heterogeneous job of 3000 parts was accepted"
    end_jobs(cluster)


def test_connections_of_one_user_are_not_all(cluster):
    held = []
    try:
        for _ in range(6000):
            held.append(RawClient(cluster.client_socket(), user="mallory", timeout=2))
    except (OSError, Closed):
        pass
    with RawClient(cluster.client_socket(), user="alice") as alice:
        assert alice.ask(ping={}).HasField("ping")
    for client in held:
        client.close()


def test_relayed_connections_of_one_user_are_not_all(cluster):
    """One user held all relay sessions."""
    held = []
    try:
        for _ in range(6000):
            held.append(RawClient(cluster.client_socket("n1"), user="mallory", timeout=2))
    except (OSError, Closed):
        pass
    with RawClient(cluster.client_socket("n1"), user="alice") as alice:
        assert alice.ask(ping={}).HasField("ping")
    for client in held:
        client.close()


def test_answers_that_nobody_reads_cost_little(cluster):
    with mallory(cluster, timeout=1) as client:
        asked = frame(client.request(config={}))
        try:
            for _ in range(200):
                client.send_bytes(asked * 100)
        except (Closed, socket.timeout):
            pass
        assert rss_mib(cluster.controller.pid) < 600


@pytest.mark.parametrize("what", ["elements", "step"])
def test_an_array_is_no_larger_than_allowed(cluster, what):
    elements = {"elements": b"0-4294967295", "step": b"0-4294967295:1"}[what]
    refused(submit(cluster, array={"elements": elements, "step": 4294967295, "throttle": 4294967295}))


VALUES = {
    "nodes without number": {"nodes_min": 4294967295, "nodes_max": 0},
    "tasks without number": {"tasks": 4294967295, "cpus_per_task": 4294967295, "tasks_per_node": 4294967295},
    "no tasks": {"tasks": 0, "cpus_per_task": 0, "nodes_min": 0},
    "memory without end": {"memory": {"per": 1, "amount": (1 << 64) - 1}},
    "a kind that there is not": {"kind": 4294967295},
    "a time before time": {"time_limit": {"seconds": -(1 << 63)}, "begin": -(1 << 63)},
    "a time after time": {"time_limit": {"seconds": (1 << 63) - 1}, "begin": (1 << 63) - 1, "deadline": (1 << 63) - 1},
    "a warning before all": {"warn_signal": {"signal": -5, "before": -(1 << 63)}, "time_limit": {"seconds": 60}},
    "cards without number": {"gres_per_node": [{"name": b"gpu", "count": (1 << 64) - 1}], "gpus_per_job": [{"name": b"gpu", "count": 1 << 63}]},
    "a dependency on itself": {"dependency": {"terms": [{"kind": 99, "job": 4294967295, "delay_minutes": -(1 << 63)}] * 50}},
    "a constraint of brackets": {"constraint": b"(" * 10000 + b"x" + b")" * 10000},
    "nodes of a wide pattern": {"required_nodes": [b"n[1-99999999]"] * 50},
    "a plane of nothing": {"distribution": {"nodes": 4294967295, "plane_size": 0, "sockets": b"\xff" * 1000}},
    "licenses without end": {"licenses": b"x:99999999999999999999," * 400},
    "a partition of no name": {"partitions": [b"", b"\x00", b"debug", b"debug"]},
    "priorities below all": {"nice": -2147483648, "priority": 4294967295},
    "mail of every type": {"mail_types": 4294967295, "mail_user": b"mallory"},
    "a time that comes never": {"cron": b"99 99 99 99 99"},
    "a time that comes always": {"cron": b"*/0 * * * *"},
    "cores without number": {"core_spec": 4294967295, "threads_per_core": 4294967295, "sockets_per_node": 0},
}


@pytest.mark.parametrize("what", VALUES)
def test_no_value_stops_the_controller(cluster, what):
    reply = submit(cluster, **VALUES[what])
    if reply.HasField("submitted"):
        asks(cluster, update_job={"jobs": [{"job": reply.submitted.job}], "update": {"time_limit": {"mode": 99}, "deadline": 1}})
        cluster.run("squeue -h -o '%i %Q %V %S %e %L'; sprio; squeue --start", user="alice").ok()
    end_jobs(cluster)


def test_a_step_of_any_shape_is_made_or_refused(cluster):
    job = cluster.wrap("sleep 600", "-N 2", user="mallory")
    cluster.wait_state(job, "RUNNING")
    launch = {"argv": [b"/bin/true"], "io_key": b"k" * 32, "io_unix_path": b"/nowhere"}
    for spec in ({"tasks": 4294967295}, {"nodes_min": 4294967295}, {"tasks": 0, "cpus_per_task": 0}, {"relative": 4294967295},
                 {"memory": {"per": 2, "amount": (1 << 64) - 1}}, {"time_limit": {"seconds": -(1 << 63)}}, {"resv_ports": 4294967295},
                 {"distribution": {"nodes": 99, "plane_size": 4294967295}}, {"gres_per_node": [{"name": b"gpu", "count": (1 << 64) - 1}]},
                 {"required_nodes": [b"n1"] * 1000, "overlap": True}, {"name": b"s" * (2 * MIB)}):
        with mallory(cluster, timeout=3) as client:
            try:
                client.ask(create_step={"job": job, "spec": {"immediate": True, **spec}, "launch": launch, "nonce": time.monotonic_ns()})
            except (Closed, socket.timeout):
                pass
    end_jobs(cluster)


def test_a_launch_that_is_too_large_fails_itself_and_no_node(cluster):
    """One heterogeneous job made a node drop three times a second."""
    job = cluster.wrap("sleep 600", user="mallory")
    cluster.wait_state(job, "RUNNING")
    node = cluster.show(job)["NodeList"]
    launch = {"argv": [b"/bin/true"] + [b"x" * MIB] * 60, "io_key": b"k" * 32, "io_unix_path": b"/nowhere"}
    with mallory(cluster, timeout=10) as client:
        try:
            client.ask(create_step={"job": job, "spec": {"overlap": True}, "launch": launch, "nonce": 5})
        except (Closed, socket.timeout):
            pass
    assert cluster.state(job) == "RUNNING" and cluster.node(node)["State"].startswith("MIXED")
    assert "not responding" not in (cluster.dir / "log" / "controller.log").read_text()
    end_jobs(cluster)


def test_garbage_for_a_greeting_is_hung_up_on(cluster):
    for path in (cluster.client_socket(), cluster.client_socket("n1")):
        for garbage in (b"\xff" * 64, b"GET / HTTP/1.1\r\n\r\n", b"\x00" * 3, b"\x16\x03\x01" + b"\x00" * 600, b"\x04\x00\x00\x00abcd"):
            with RawClient(path, user="mallory", timeout=1, speaks=None) as client:
                client.send_bytes(garbage)
                client.is_closed_by_peer()


def test_the_port_of_the_agents_takes_garbage(cluster):
    port = int(next(line.split("=")[1] for line in cluster.conf.read_text().splitlines() if line.startswith("SlurmctldPort")))
    held = []
    for round in range(100):
        client = RawClient(("127.0.0.1", port), user="mallory", timeout=1, speaks=None)
        held.append(client)
        try:
            client.send_bytes([b"", b"\xff" * 5000, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc", b"SYag-ct1" + b"\x04\x00\x00\x00abcd"][round % 4])
        except Closed:
            pass
    with RawClient(cluster.client_socket(), user="alice") as alice:
        assert alice.ask(ping={}).HasField("ping")
    for client in held:
        client.close()


def test_a_trigger_on_a_file_with_a_lease_keeps_nobody_waiting(cluster):
    """It froze the controller for 45 seconds."""
    program = cluster.write("leased.sh", "#!/bin/sh\ntrue\n", user="mallory", mode=0o755)
    job = cluster.wrap("sleep 600", user="mallory")
    cluster.wait_state(job, "RUNNING")
    cluster.run(f"strigger --set -j {job} --fini -p {program}", user="mallory").ok()
    holder = cluster.popen(f"/usr/bin/python3 -c \"import fcntl, signal, time; signal.signal(signal.SIGIO, signal.SIG_IGN); "
                           f"f = open('{program}', 'r+'); fcntl.fcntl(f, fcntl.F_SETLEASE, fcntl.F_WRLCK); print('held', flush=True); "
                           f"time.sleep(60)\"", user="mallory", stdout=-1)
    try:
        assert holder.stdout.readline() == "held\n"
        cluster.run(f"scancel {job}", user="mallory").ok()
        begun = time.monotonic()
        while time.monotonic() - begun < 4:
            with RawClient(cluster.client_socket(), user="alice", timeout=5) as alice:
                assert alice.ask(ping={}).HasField("ping")
            time.sleep(0.05)
    finally:
        holder.kill()
        holder.wait()
