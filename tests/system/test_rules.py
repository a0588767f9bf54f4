"""What is accepted, refused and granted when a job is submitted: in the words and with the exit codes of Slurm 26.05."""

import re

import pytest

from cluster import Cluster
from world import wait_until

SITE = """\
NodeName=n[1-2] NodeHostname={host} CPUs=8 RealMemory=4000 Gres=gpu:2,lic:5 Feature=fast
PartitionName=debug Nodes=n[1-2] Default=YES MaxTime=INFINITE State=UP
PartitionName=alone Nodes=n[1-2] OverSubscribe=EXCLUSIVE MaxTime=INFINITE State=UP
PartitionName=class Nodes=n2 MaxTime=INFINITE State=UP
"""
SHOW = ('echo job=$SLURM_JOB_GPUS sees=$CUDA_VISIBLE_DEVICES; '
        'srun sh -c "echo step=\\$SLURM_STEP_GPUS sees=\\$CUDA_VISIBLE_DEVICES"')


@pytest.fixture(scope="module")
def site():
    made = Cluster(names=("n1", "n2"), nodes=SITE, extra="GresTypes=gpu,lic\n")
    yield made
    made.stop()


@pytest.mark.parametrize("options, step", [
    ("--exclusive", "step= sees="),
    ("--exclusive --gres=gpu:1", "step=0 sees=0"),
    ("-p alone --gpus=1", "step=0 sees=0"),
])
def test_who_has_the_node_has_its_cards(site, options, step):
    job = site.wrap(SHOW, f"{options} -o cards")
    assert site.wait_end(job) == "COMPLETED"
    assert site.read("cards") == f"job=0,1 sees=0,1\n{step}\n"
    shown = site.run(f"scontrol -d show job {job}").ok().out
    assert "gres/gpu=2" in re.search(r"AllocTRES=(\S*)", shown)[1], shown


def test_all_that_is_counted_is_shown(site):
    job = site.wrap("sleep 60", "--exclusive -w n1")
    site.wait_state(job, "RUNNING")
    shown = site.run(f"scontrol -d show job {job}").ok().out
    assert "Nodes=n1 CPU_IDs=0-7 Mem=800 GRES=gpu:2(IDX:0-1),lic(CNT:5)\n" in shown, shown
    assert "GresUsed=gpu:2(IDX:0-1)" in site.run("scontrol -d show node n1", user=None).ok().out
    site.run(f"scancel {job}").ok()


def test_alone_with_ones_own_jobs(site):
    first = site.wrap("sleep 60", "--exclusive=user -w n1 --gres=gpu:1")
    site.wait_state(first, "RUNNING")
    shown = site.run(f"scontrol -d show job {first}").ok().out
    assert "NumCPUs=1 " in shown and "GRES=gpu:1(IDX:0)" in shown, shown
    assert site.wait_end(site.wrap("true", "-w n1")) == "COMPLETED"
    other = site.wrap("true", "-w n1", user="bob")
    wait_until(lambda: site.show(other)["Reason"] == "Resources", what="bob to wait for the node")
    site.run(f"scancel {first}").ok()
    assert site.wait_end(other) == "COMPLETED"


def fails(site, command, *lines):
    said = site.run(command)
    assert said.err.splitlines() == list(lines), repr(said)
    assert said.code == 1 and said.out == ""


def test_what_is_refused(site):
    why = "Invalid preferred feature specification"
    fails(site, "sbatch --prefer=nosuch --wrap true", f"sbatch: error: Batch job submission failed: {why}")
    fails(site, "srun --prefer=nosuch true", f"srun: error: Unable to allocate resources: {why}")
    fails(site, "salloc --prefer=nosuch true", f"salloc: error: Job submit/allocate failed: {why}")
    fails(site, "sbatch --gpus-per-task=1 --wrap true",
          "sbatch: error: Failed to validate job spec. --gpus-per-task or --tres-per-task used without either --gpus or "
          "-n/--ntasks is not allowed.",
          "sbatch: error: Invalid generic resource (gres) specification")
    why = "Requested node configuration is not available"
    fails(site, "sbatch -N1 -n2 --ntasks-per-node=1 --wrap true", f"sbatch: error: Batch job submission failed: {why}")
    fails(site, "srun -N1 -n2 --ntasks-per-node=1 true", f"srun: error: Unable to allocate resources: {why}")
    fails(site, "salloc --chdir=/nonexistent true", "salloc: error: chdir(/nonexistent): No such file or directory")
    fails(site, "salloc --chdir=/etc/passwd true", "salloc: error: chdir(/etc/passwd): Not a directory")
    assert site.run("squeue -h").out == ""


def test_options_that_exclude_each_other_are_fatal(site):
    memory = "fatal: --mem, --mem-per-cpu, and --mem-per-gpu are mutually exclusive."
    fails(site, "sbatch --mem=1 --mem-per-cpu=1 --wrap true", f"sbatch: {memory}")
    fails(site, "salloc --mem=1 --mem-per-cpu=1 true", f"salloc: {memory}")
    fails(site, "srun --mem=1 --mem-per-cpu=1 true", f"srun: {memory}")
    fails(site, "srun", "srun: fatal: No command given to execute.")
    fails(site, "srun --cpu-bind=foo true", 'srun: error: unrecognized --cpu-bind argument "foo"',
          "srun: fatal: Failed to parse --cpu-bind= values.")


def test_in_a_job_tasks_per_node_are_only_warned_about(site):
    said = site.run("salloc -N1 -n2 srun -N1 -n2 --ntasks-per-node=1 echo here").ok()
    assert said.out == "here\nhere\n"
    assert "srun: warning: can't honor --ntasks-per-node set to 1" in said.err


def test_salloc_runs_its_command_there(site):
    assert site.run("salloc --chdir=/tmp pwd").ok().out == "/tmp\n"


def test_when_components_would_start(site):
    before = site.run("squeue -h -t all -o %A").out
    said = site.run("sbatch --test-only -N1 -n1 : -N2 --wrap true").ok()
    assert re.fullmatch(r"sbatch: Job \d+ to start at \S+ using 3 processors on n\[1-2\]\n", said.err), repr(said)
    said = site.run("srun --test-only -n1 : -n2 true").ok()
    found = re.findall(r"srun: Job (\d+) to start at \S+ a using (\d) processors on nodes n1 in partition debug\n", said.err)
    assert [int(cpus) for _, cpus in found] == [1, 2] and int(found[1][0]) == int(found[0][0]) + 1, repr(said)
    why = "allocation failure: Requested node configuration is not available"
    fails(site, "sbatch --test-only -N1 : -N5 --wrap true", why)
    fails(site, "sbatch --test-only -c 9 --wrap true", why)
    fails(site, "srun --test-only -c 9 true", why)
    site.run("srun --test-only").ok()
    fails(site, "sbatch --test-only -p nosuch --wrap true", "sbatch: error: invalid partition specified: nosuch",
          "allocation failure: Invalid partition name specified")
    assert site.run("squeue -h -t all -o %A").out == before


def test_the_partition_of_a_reservation(site):
    site.run("scontrol create reservation ReservationName=r PartitionName=class Nodes=n2 Users=alice StartTime=now "
             "Duration=60", user=None).ok()
    try:
        job = site.wrap("true", "--reservation=r")
        assert site.wait_end(job) == "COMPLETED"
        assert site.show(job)["Partition"] == "class"
        other = site.wrap("true", "--reservation=r -p debug")
        assert site.wait_end(other) == "COMPLETED"
        assert site.show(other)["Partition"] == "debug"
    finally:
        site.run("scontrol delete ReservationName=r", user=None).ok()


def test_nodes_that_the_first_of_another_partition_waits_for(site):
    long = "(Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions)"
    jobs = [site.wrap("sleep 300", "-N2 -n16 -t 60")]
    site.wait_state(jobs[0], "RUNNING")
    jobs += [site.wrap("true", "-N2 -t 5"), site.wrap("true", "-N1 -p class -t 5"), site.wrap("true", "-N1 -p class -t 5")]
    shown = [site.run(f"squeue -h -j {job} -o %R") for job in jobs[1:]]
    wait_until(lambda: [site.run(f"squeue -h -j {job} -o %R").out.strip() for job in jobs[1:]] ==
               ["(Resources)", long, "(Priority)"], what=f"the reasons, not {shown}")
    site.run("scancel " + " ".join(map(str, jobs))).ok()
