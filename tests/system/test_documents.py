"""--json and --yaml: what programs read, from a live cluster."""

import json
import re

import pytest

from golden import load as parse
from world import wait_until


def load(cluster, command):
    return json.loads(cluster.run(command).ok().out)


@pytest.fixture(scope="module")
def scene(cluster):
    running = cluster.wrap("srun sleep 600", "-J train -N2 --gres=gpu:1 -t 30")
    waiting = cluster.wrap("true", "-J later -H")
    cluster.wait_state(running, "RUNNING", timeout=60)
    wait_until(lambda: f"{running}.0" in cluster.run("squeue -h -s -o %i").out, 60, "the step")
    return cluster, running, waiting


def test_jobs(scene):
    cluster, running, waiting = scene
    said = load(cluster, "squeue --json")
    assert said["errors"] == [] and said["warnings"] == [] and said["meta"]["slurm"]["release"] == "26.05.0"
    assert said["meta"]["command"] == ["squeue", "--json"]
    jobs = {job["job_id"]: job for job in said["jobs"]}
    job = jobs[running]
    assert job["job_state"] == ["RUNNING"] and job["name"] == "train" and job["nodes"].startswith("n")
    assert job["time_limit"] == {"set": True, "infinite": False, "number": 30}
    allocation = job["job_resources"]["nodes"]["allocation"]
    assert [part["memory"]["allocated"] for part in allocation] == [100, 100]
    assert [part["cpus"]["used"] for part in allocation] == [1, 1]  # By its step.
    assert job["gres_detail"] == ["gpu:rtx4000:1(IDX:0)"] * 2
    used = [core for socket in allocation[0]["sockets"] for core in socket["cores"] if core["status"] == ["ALLOCATED"]]
    assert len(used) == 1
    assert jobs[waiting]["job_state"] == ["PENDING"] and jobs[waiting]["state_reason"] == "JobHeldUser"
    assert jobs[waiting]["job_resources"] is None and jobs[waiting]["hold"] is True
    one = load(cluster, f"scontrol show job {running} --json")
    assert [j["job_id"] for j in one["jobs"]] == [running]
    assert load(cluster, f"squeue --json -j {waiting}")["jobs"][0]["job_id"] == waiting


def test_nodes_and_partitions(scene):
    cluster, running, _ = scene
    said = load(cluster, "sinfo --json")
    assert {entry["partition"]["name"] for entry in said["sinfo"]} == {"debug", "gpu", "closed"}
    assert sum(entry["nodes"]["total"] for entry in said["sinfo"] if entry["partition"]["name"] == "debug") == 4
    nodes = load(cluster, "scontrol show nodes --json")["nodes"]
    assert [node["name"] for node in nodes] == ["n1", "n2", "n3", "n4"]
    assert sum(node["alloc_cpus"] for node in nodes) == 2 and nodes[0]["cpus"] == 8
    keys = ["architecture", "boot_time", "cpu_load", "free_mem", "energy", "features", "gres_used", "last_busy", "address",
            "state", "partitions", "real_memory", "reason_changed_at", "alloc_idle_cpus", "tres_used", "topology", "version"]
    assert [key for key in nodes[0] if key in keys] == keys
    gpu = load(cluster, "scontrol show partition gpu --json")["partitions"][0]
    assert gpu["name"] == "gpu" and gpu["maximums"]["time"]["number"] == 1440 and gpu["cpus"]["total"] == 32
    (step,) = load(cluster, f"scontrol show step {running}.0 --json")["steps"]
    assert step["name"] == "sleep" and step["id"] == f"{running}.0" and step["state"] == ["RUNNING"]
    # In the shape of Slurm's own, which is another than that of a step of the history.
    keys = ("array cluster container container_id container_type cpu tres name network nodes number_cpus number_tasks partition "
            "reserved_ports time srun state sluid id stderr stdin stdout stdin_expanded stdout_expanded stderr_expanded "
            "submit_line task user")
    assert list(step) == keys.split()
    assert set(step["time"]) == {"running", "start", "limit"} and "billing" not in step["tres"]["allocation"]
    assert load(cluster, f"squeue -s --json -j {running}")["steps"][-1].keys() == step.keys()
    assert load(cluster, "scontrol show lic --json")["licenses"] == []


def test_when_backfill_last_planned(scene):
    cluster, running, _ = scene

    def planned(command):
        return load(cluster, f"{command} --json")["last_backfill"]["number"]

    def diag():
        return load(cluster, "sdiag --json")["statistics"]["bf_when_last_cycle"]["number"]

    # A pass may come between two questions.
    wait_until(lambda: 0 < diag() == planned("squeue") == planned(f"scontrol show job {running}"), 60, "the same answer thrice")


def test_the_steps_of_a_node(scene):
    cluster, running, _ = scene
    said = cluster.run("scontrol show slurmd").ok().out
    blocks = {re.search(r"Slurmd NodeName          = (\S+)", block)[1]: block for block in said.split("\n\n") if block.strip()}
    steps = {name: re.search(r"Active Steps             = (.*)", block)[1] for name, block in blocks.items()}
    listed = load(cluster, f"scontrol show step {running}.0 --json")["steps"][0]["nodes"]
    nodes = set(cluster.run(f"scontrol show hostnames {listed}").ok().out.split())
    assert {name for name, text in steps.items() if f"{running}.0" in text.split(", ")} == nodes
    assert sum(f"{running}.batch" in text.split(", ") for text in steps.values()) == 1


def test_yaml_holds_the_same(scene):
    cluster, running, _ = scene
    text = cluster.run(f"squeue --yaml -j {running}").ok().out
    assert text.startswith("%YAML 1.1\n--- !!map\n!!str jobs: !!seq\n- !!map\n") and text.endswith("...\n\n")
    assert f"\n  !!str job_id: !!int {running}\n" in text
    same = load(cluster, f"squeue --json -j {running}")["jobs"]
    assert parse(text)["jobs"] == same


def test_versions_of_the_shape(cluster):
    said = cluster.run("squeue --json=list").ok()
    assert re.search(r"^data_parser/v0\.0\.45$", said.out, re.M) and said.err == "Possible data_parser plugins:\n"
    for command in ("squeue", "sinfo", "scontrol show job"):
        said = cluster.run(f"{command} --json=v1.2.3")
        assert said.code == 1 and "output not supported by data_parser/v1.2.3" in said.err and said.out == ""
    cluster.run("squeue --json=v0.0.43").ok()
    compact = cluster.run("SLURM_JSON=compact squeue --json").ok().out
    assert compact.count("\n") == 1 and json.loads(compact)["errors"] == []
    said = cluster.run("scontrol show config --json")
    assert said.code == 1 and "no JSON" in said.err


def test_flags_tell_what_was_asked_for(cluster):
    def flags(options):
        job = cluster.wrap("true", f"-H {options}")
        found = load(cluster, f"squeue --json -j {job}")["jobs"][0]["flags"]
        cluster.run(f"scancel {job}").ok()
        return found

    assert flags("-N1") == ["USING_DEFAULT_ACCOUNT", "USING_DEFAULT_QOS", "USING_DEFAULT_WCKEY"]
    assert flags("-n1 -c2 -A a --qos=q --wckey=w") == ["EXACT_TASK_COUNT_REQUESTED", "EXACT_CPU_COUNT_REQUESTED",
                                                       "JOB_IMPLICIT_MAX_NODES"]


def test_layouts(cluster):
    """SLURM_JSON and SLURM_YAML, of every command that writes documents."""
    for command in ("squeue", "squeue -s", "sinfo", "scontrol show node", "sacct", "sdiag", "sacctmgr show cluster", "sshare"):
        said = cluster.run(f"SLURM_JSON=no_tag {command} --json").ok().out
        assert said.count("\n") == 1 and json.loads(said)["errors"] == [], command
        assert cluster.run(f"SLURM_JSON=compact,PRETTY {command} --json").ok().out.startswith("{\n  "), command
        said = cluster.run(f"SLURM_YAML=No_Tag {command} --yaml").ok().out
        assert said.startswith("%YAML 1.1\n---\n") and "!!" not in said and "\nerrors: []\n" in said, command
        for variable in ("SLURM_JSON", "SLURM_YAML"):
            said = cluster.run(f"{variable}=pretty,foo {command} --yaml")
            assert (said.code, said.out) == (1, ""), said
            assert said.err == f'{command.split()[0]}: fatal: Unable to parse serializer "pretty,foo" flags: Invalid argument\n'
            cluster.run(f"{variable}=foo {command}").ok()


def test_accounts_as_documents(cluster):
    """What sacctmgr and sshare know, in the shape that those of a site with accounts have."""
    frame = {"meta", "errors", "warnings"}
    empty = {"account": "accounts", "association": "associations", "user": "users", "qos": "qos", "wckey": "wckeys",
             "instance": "instances"}
    for entity, key in empty.items():
        said = load(cluster, f"sacctmgr --json show {entity}")
        assert said.keys() == frame | {key} and said[key] == [], said
    (one,) = load(cluster, "sacctmgr list cluster --json")["clusters"]
    assert list(one) == ["controller", "flags", "name", "nodes", "associations", "rpc_version", "tres"]
    assert one["name"] == cluster.name and one["nodes"] == "n[1-4]" and one["flags"] == ["MULTIPLE_SLURMD"]
    assert list(one["associations"]["root"]) == ["account", "cluster", "partition", "user", "id"]
    counts = {each["type"]: each["count"] for each in one["tres"]}
    assert counts["node"] == 4 and counts["cpu"] == counts["billing"] > 0 and counts["energy"] == 0
    tres = load(cluster, "sacctmgr show tres --json")["TRES"]
    assert tres[0] == {"type": "cpu", "name": "", "id": 1, "count": 0}
    assert {"type": "fs", "name": "disk", "id": 6, "count": 0} in tres
    assert load(cluster, "sacctmgr show tres type=mem --json")["TRES"] == [{"type": "mem", "name": "", "id": 2, "count": 0}]
    assert parse(cluster.run("sacctmgr show tres --yaml").ok().out)["TRES"] == tres
    said = load(cluster, "sshare --json")
    assert said["shares"] == {"shares": [], "total_shares": 0} and said.keys() == frame | {"shares"}
    # What has no document is a table all the same.
    assert cluster.run("sacctmgr --json show problem").ok().out.startswith("   Cluster    Account       User ")


def test_jobs_and_steps_of_a_node(scene):
    cluster, running, _ = scene
    nodes = [n for n in ("n1", "n2", "n3", "n4") if str(running) in cluster.run(f"scontrol listjobs {n}").ok().out.split()]
    assert len(nodes) == 2
    assert [str(running), "0"] in [line.split() for line in cluster.run(f"scontrol liststeps {nodes[0]}").ok().out.splitlines()]
    assert cluster.run("scontrol getaddrs n1").ok().out.startswith("n1: [")
    assert cluster.run("scontrol getaddrs n9").code == 1
