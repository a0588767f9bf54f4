"""Heterogeneous jobs: several components that wait, start and end as one."""

import json
import re

from world import wait_until


def component_states(cluster, job):
    said = cluster.run(f"squeue -h -t all -j {job} -o '%i %T'").ok()
    return dict(line.split() for line in said.out.splitlines())


def test_script_with_two_components(cluster):
    cluster.write("het.sh", """\
        #!/bin/bash
        #SBATCH -J pair -n1 -o het.out
        #SBATCH hetjob
        #SBATCH -N2 --ntasks-per-node=2
        echo size=$SLURM_HET_SIZE
        echo ids=$SLURM_JOB_ID_HET_GROUP_0,$SLURM_JOB_ID_HET_GROUP_1
        echo nodes=$SLURM_JOB_NUM_NODES_HET_GROUP_0,$SLURM_JOB_NUM_NODES_HET_GROUP_1
        srun bash -c 'echo first $SLURM_PROCID of $SLURM_NTASKS in $SLURM_JOB_ID'
        srun --het-group=1 bash -c 'echo second $SLURM_PROCID of $SLURM_NTASKS in $SLURM_JOB_ID'
        srun --het-group=0,1 -l bash -c 'echo all $SLURM_PROCID of $SLURM_NTASKS in $SLURM_JOB_ID'
        srun --label echo a : echo b
        """)
    job = cluster.sbatch("het.sh")
    assert cluster.wait_end(job) == "COMPLETED"
    text = cluster.read("het.out").splitlines()
    assert text[:3] == ["size=2", f"ids={job},{job + 1}", "nodes=1,2"], text
    assert text[3] == f"first 0 of 1 in {job}"
    assert sorted(text[4:8]) == [f"second {i} of 4 in {job + 1}" for i in range(4)]
    assert sorted(text[8:13]) == [f"0: all 0 of 5 in {job}"] + [f"{i}: all {i} of 5 in {job + 1}" for i in range(1, 5)]
    assert sorted(text[13:]) == ["0: a"] + [f"{i}: b" for i in range(1, 5)]


def test_command_line_and_views(cluster):
    job = cluster.sbatch("-J het -n1 : -n2 --wrap 'sleep 300'")
    cluster.wait_state(job, "RUNNING")
    assert component_states(cluster, job) == {f"{job}+0": "RUNNING", f"{job}+1": "RUNNING"}
    said = cluster.run(f"squeue -h -j {job}+1 -o '%i %C'").ok()
    assert said.out == f"{job}+1 2\n"
    said = cluster.run(f"scontrol show job {job}").ok().out
    assert f"JobId={job} HetJobId={job} HetJobOffset=0 JobName=het" in said
    assert f"JobId={job + 1} HetJobId={job} HetJobOffset=1 JobName=het" in said
    assert f"HetJobIdSet={job}-{job + 1}" in said
    assert "HetJobOffset=0" not in cluster.run(f"scontrol show job {job}+1").ok().out
    for command in ("squeue", "scontrol show job"):
        selected = f"-j {job}" if command == "squeue" else f"{job}"
        jobs = json.loads(cluster.run(f"{command} {selected} --json").ok().out)["jobs"]
        assert [(j["het_job_id"]["number"], j["het_job_id_set"], j["het_job_offset"]["number"]) for j in jobs] == [
            (job, f"{job}-{job + 1}", offset) for offset in (0, 1)]
    fields = cluster.run(f"squeue -h -j {job} -O HetJobID:9,HetJobOffset:3,HetJobIDSet:20").ok().out.split()
    assert fields == [f"{job}", "0", f"{job}-{job + 1}", f"{job}", "1", f"{job}-{job + 1}"]
    cluster.run(f"scancel {job}").ok()
    cluster.wait_end(job)
    wait_until(lambda: set(component_states(cluster, job).values()) == {"CANCELLED"}, what="all of it to be cancelled")


def test_all_or_none(cluster):
    blocker = cluster.wrap("sleep 300", "-N1 -w n4 --exclusive")
    cluster.wait_state(blocker, "RUNNING")
    job = cluster.sbatch("-n1 : -n1 -w n4 --wrap true")
    late = cluster.wrap("true", "-n1 -w n3")
    assert cluster.wait_end(late) == "COMPLETED"  # A pass has gone by.
    assert component_states(cluster, job) == {f"{job}+0": "PENDING", f"{job}+1": "PENDING"}
    said = cluster.run(f"scancel {job}+1")
    assert said.code == 1 and "Job is pending execution" in said.err
    cluster.run(f"scancel {blocker}").ok()
    assert cluster.wait_end(job) == "COMPLETED"


def test_one_component_is_cancelled(cluster):
    job = cluster.sbatch("-n1 : -n1 : -n1 --wrap 'sleep 300'")
    cluster.wait_state(job, "RUNNING")
    cluster.run(f"scancel {job}+2").ok()
    wait_until(lambda: component_states(cluster, job).get(f"{job}+2") == "CANCELLED", what="the third to go")
    assert component_states(cluster, job)[f"{job}+1"] == "RUNNING"
    cluster.run(f"scancel {job}").ok()
    cluster.wait_end(job)


def test_the_end_of_the_script_ends_all(cluster):
    job = cluster.sbatch("-n1 : -N2 --wrap 'srun --het-group=1 sleep 300 & sleep 1; exit 3'")
    assert cluster.wait_end(job) == "FAILED"
    wait_until(lambda: set(component_states(cluster, job).values()) == {"FAILED"}, what="all of it to end")
    wait_until(lambda: not cluster.leftovers(), what="its tasks to be gone")


def test_dependency_on_all_of_it(cluster):
    job = cluster.sbatch("-n1 : -n1 --wrap 'sleep 1'")
    after = cluster.wrap(f"squeue -h -j {job} -o %i", f"-n1 -d afterok:{job} -o after.out")
    assert cluster.wait_end(after) == "COMPLETED"
    assert cluster.read("after.out") == ""


def test_salloc(cluster):
    said = cluster.run("salloc -n1 : -n2 bash -c 'echo $SLURM_HET_SIZE $SLURM_NTASKS_HET_GROUP_1; "
                       "srun --het-group=1 -l hostname | wc -l'").ok()
    assert said.out == "2 2\n2\n"
    wait_until(lambda: cluster.run("squeue -h").out == "", what="nothing to be left")


def test_srun_alone_in_components(cluster):
    said = cluster.run("srun -l -n1 bash -c 'echo a $SLURM_PROCID $SLURM_NTASKS' : "
                       "-n2 bash -c 'echo b $SLURM_PROCID $SLURM_NTASKS'").ok()
    assert sorted(said.out.splitlines()) == ["0: a 0 3", "1: b 1 3", "2: b 2 3"]
    said = cluster.run("srun -n1 true : -n1 bash -c 'exit 4'")
    assert said.code == 4 and re.search(r"task 1: Exited with exit code 4", said.err)
    wait_until(lambda: cluster.run("squeue -h").out == "", what="nothing to be left")


def test_bad_groups_and_bad_components(cluster):
    said = cluster.run("salloc -n1 : -n1 srun --het-group=2 true")
    assert said.code == 1 and "het group value of 2, but the job allocation has maximum value of 1" in said.err
    said = cluster.run("sbatch -n1 : -n1 -p nosuch --wrap true")
    assert said.code == 1 and "invalid partition specified: nosuch" in said.err
    said = cluster.run("sbatch -a 1-3 -n1 : -n1 --wrap true")
    assert said.code == 1 and "Invalid job array specification" in said.err
    assert cluster.run("squeue -h").out == ""


def test_a_start_is_told_to_all_components(cluster):
    first = cluster.sbatch("-N4 --exclusive -t 10 --wrap 'sleep 300'")
    cluster.wait_state(first, "RUNNING")
    job = cluster.sbatch("-n1 -t 5 : -N2 --exclusive -t 5 --wrap true")
    end = cluster.run(f"squeue -h -j {first} -o %e").ok().out.strip()

    def starts():
        lines = cluster.run(f"squeue --start -h -j {job} -o '%i %S'").ok().out.splitlines()
        return sorted(lines) == [f"{job}+0 {end}", f"{job}+1 {end}"]
    wait_until(starts, what="both to be told the end of the first", timeout=60)
    cluster.run(f"scancel {job} {first}").ok()


def test_what_never_fits_together_is_refused(cluster):
    said = cluster.run("sbatch -N4 --exclusive : -N1 --exclusive --wrap true")
    assert said.code == 1
    assert "Requested node configuration is not available" in said.err, said.err


def test_it_survives_a_restart_of_the_controller(make_cluster):
    cluster = make_cluster(names=("n1", "n2"), nodes="""\
NodeName=n[1-2] NodeHostname={host} CPUs=8 RealMemory=4000
PartitionName=debug Nodes=n[1-2] Default=YES MaxTime=INFINITE State=UP
""")
    running = cluster.sbatch("-n8 : -n4 --wrap 'while [ ! -e go ]; do sleep 0.1; done'")
    cluster.wait_state(running, "RUNNING")
    waiting = cluster.sbatch("-n8 : -n8 --wrap true")
    cluster.controller.kill()
    cluster.controller.wait()
    cluster.start_controller()
    cluster.wait_ready()
    assert component_states(cluster, running) == {f"{running}+0": "RUNNING", f"{running}+1": "RUNNING"}
    assert component_states(cluster, waiting) == {f"{waiting}+0": "PENDING", f"{waiting}+1": "PENDING"}
    cluster.write("go", "")
    assert cluster.wait_end(running) == "COMPLETED"
    assert cluster.wait_end(waiting) == "COMPLETED"
