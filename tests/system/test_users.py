"""Two real users on one machine, and root."""

import os
import pathlib
import shutil
import subprocess
import tempfile

import pytest

from world import bin_dir, is_root, wait_until

pytestmark = pytest.mark.skipif(not is_root(), reason="needs root to be two users")


def test_jobs_run_as_their_user(cluster):
    job = cluster.wrap("id -un; id -gn; stat -c %U who.out", "-o who.out", user="bob")
    assert cluster.wait_end(job) == "COMPLETED"
    assert cluster.read("who.out", user="bob") == "bob\nbob\nbob\n"


def test_a_user_whom_only_the_name_service_knows_is_found(cluster):
    """Commands are static programs: whoever is not in /etc/passwd or /etc/group is asked for by getent."""
    fake = pathlib.Path(cluster.dir, "getent")
    fake.write_text("#!/bin/sh\n"
                    'case "$2 $3" in\n'
                    '"passwd remote") echo remote:x:4242:4243:Far away:/home/remote:/bin/sh ;;\n'
                    '"group crew") echo crew:x:4243: ;;\n'
                    "*) exit 2 ;;\nesac\n")
    fake.chmod(0o755)

    def there(command):
        return cluster.run(f"unshare -m sh -c 'mount --bind {fake} /usr/bin/getent && {command}'", user=None)

    assert there("squeue -h -u remote").ok().out == ""
    assert there("sacct -n -X -a -g crew").ok().out == ""
    assert "Invalid user: stranger" in there("squeue -h -u stranger").err
    assert "Invalid user: remote" in cluster.run("squeue -h -u remote", user=None).err


def test_nobody_cancels_or_changes_another_users_job(cluster):
    job = cluster.wrap("sleep 300", user="alice")
    cluster.wait_state(job, "RUNNING")
    said = cluster.run(f"scancel {job}", user="bob")
    assert "Access/permission denied" in said.err
    for command in (f"scancel -s KILL {job}", "scancel -u alice", f"scontrol hold {job}", f"scontrol requeue {job}",
                    f"scontrol update jobid={job} timelimit=1", f"scontrol suspend {job}", f"scancel {job}_*", f"skill -9 {job}"):
        cluster.run(command, user="bob")
    assert cluster.state(job) == "RUNNING"
    assert cluster.show(job)["TimeLimit"] == "UNLIMITED"
    cluster.run(f"scancel {job}", user="alice").ok()


def test_nobody_attaches_a_step_to_another_users_job(cluster):
    job = cluster.wrap("sleep 300", user="alice")
    cluster.wait_state(job, "RUNNING")
    said = cluster.run(f"srun --jobid={job} --overlap id", user="bob")
    assert said.code != 0 and said.out == ""
    cluster.run(f"scancel {job}", user="alice").ok()


def test_nobody_reads_anothers_script_or_environment(cluster):
    job = cluster.wrap("sleep 300 # secret-word", user="alice", env={"MY_SECRET": "hunter2"})
    cluster.wait_state(job, "RUNNING")
    said = cluster.run(f"scontrol write batch_script {job} -", user="bob")
    assert said.code != 0 and "secret-word" not in said.out
    assert "secret-word" in cluster.run(f"scontrol write batch_script {job} -", user="alice").out
    spool = cluster.run(f"grep -rs 'secret-word\\|hunter2' {cluster.dir}/spool {cluster.dir}/state {cluster.dir}/run", user="bob")
    assert spool.out == ""
    cluster.run(f"scancel {job}", user="alice").ok()


def test_nobody_sees_the_processes_and_the_use_of_anothers_job(cluster):
    job = cluster.wrap("sleep 600", user="alice")
    cluster.wait_state(job, "RUNNING")
    assert cluster.run(f"sstat -n -P -a -j {job} -o JobID", user="alice").ok().out == f"{job}.batch\n"
    denied = cluster.run(f"sstat -n -P -a -j {job} -o JobID", user="bob")
    assert denied.code != 0 and denied.out == ""
    cluster.run(f"scancel {job}", user="alice").ok()


def test_only_root_changes_nodes_and_partitions(cluster):
    said = cluster.run("scontrol update nodename=n1 state=drain reason=x", user="alice")
    assert said.code == 1 and said.err == "slurm_update error: Invalid user id\n"
    assert cluster.run("scontrol update partitionname=debug state=down", user="alice").code == 1
    assert cluster.run("scontrol shutdown", user="alice").code == 1
    assert cluster.run("scontrol reconfigure", user="alice").code == 1
    assert cluster.run("sinfo -h -o %a -p debug").out == "up\n"


def test_output_files_are_opened_as_the_user(cluster):
    secret = cluster.dir / "rootonly"
    secret.mkdir(mode=0o700, exist_ok=True)
    job = cluster.wrap("echo x", f"-o {secret}/stolen", user="alice")
    assert cluster.wait_end(job) == "FAILED"
    assert not (secret / "stolen").exists()


def test_a_user_cannot_pretend(cluster):
    """The uid comes from the kernel: an environment that says otherwise changes nothing."""
    job = cluster.wrap("id -un", "-o pretend.out", user="bob", env={"USER": "root", "LOGNAME": "root"})
    cluster.wait_end(job)
    assert cluster.read("pretend.out", user="bob") == "bob\n"
    assert cluster.run("sbatch --uid=0 --wrap id", user="bob").code != 0


def test_filters_by_user(cluster):
    mine, theirs = cluster.wrap("true", "-H", user="alice"), cluster.wrap("true", "-H", user="bob")
    seen = cluster.run("squeue -h --me -o %A", user="alice").out.split()
    assert str(mine) in seen and str(theirs) not in seen
    assert str(theirs) in cluster.run("squeue -h -u bob -o %A", user="alice").out.split()
    cluster.run(f"scancel {mine} {theirs}", user=None)
    wait_until(lambda: cluster.state(mine) == "CANCELLED" and cluster.state(theirs) == "CANCELLED", what="both gone")


def test_a_cluster_of_ones_own_for_a_user_whom_nobody_knows():
    """A container often runs as a uid that has no password entry."""
    uid = 54321
    home = pathlib.Path(tempfile.mkdtemp(prefix="sy", dir="/tmp"))
    os.chown(home, uid, uid)

    def run(command, code=0):
        done = subprocess.run(
            ["bash", "-c", command], cwd=home, user=uid, group=uid, extra_groups=[], capture_output=True, text=True,
            timeout=180, env={"PATH": f"{bin_dir()}:/usr/bin:/bin", "HOME": str(home),
                              "SLURM_CONF": f"{home}/own/slurm.conf"})
        assert done.returncode == code, done
        return done.stdout

    try:
        run("switchyard up --nodes 2 --dir own")
        assert run("srun -N2 id -u") == f"{uid}\n{uid}\n"
        job = run("sbatch --parsable --wait -o out --wrap 'id -g; srun id -u'").strip()
        assert (home / "out").read_text() == f"{uid}\n{uid}\n"
        assert f"UserId={uid}({uid}) GroupId={uid}({uid})" in run(f"scontrol show job {job}")
        assert run("squeue -h") == ""
        waiting = run("sbatch --parsable -H --wrap true").strip()
        assert run("squeue -h -o '%i %u'") == f"{waiting} {uid}\n"
        run(f"scancel -u {uid}")
        assert run("squeue -h") == ""
    finally:
        run("switchyard down --dir own")
        shutil.rmtree(home, ignore_errors=True)


def test_a_partition_for_a_group_is_for_all_its_members(make_cluster):
    cluster = make_cluster(names=["n1"], nodes="NodeName=n1 NodeHostname={host} CPUs=8 RealMemory=4000\n"
                                               "PartitionName=lab Nodes=n1 Default=YES AllowGroups=lab State=UP\n")
    assert cluster.wait_end(cluster.wrap("true", user="alice")) == "COMPLETED"
    refused = cluster.run("sbatch --wrap true", user="bob")
    assert refused.code == 1 and "group not permitted to use this partition" in refused.err
    assert cluster.run("squeue -h -u bob -t all", user=None).ok().out == ""
