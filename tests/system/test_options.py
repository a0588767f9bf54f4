"""Options of sbatch, srun and salloc whose effect shows in a running cluster."""

import pytest

from cluster import Cluster
from world import USERS, is_root


@pytest.fixture(scope="module")
def shaped(request):
    """A cluster whose nodes differ, with ports to reserve."""
    made = Cluster(extra="MpiParams=ports=12000-12009\n", nodes="""\
NodeName=n1 NodeHostname={host} CPUs=8 RealMemory=4000
NodeName=n2 NodeHostname={host} CPUs=8 RealMemory=4000 Features=fast
PartitionName=debug Nodes=n[1-2] Default=YES MaxTime=INFINITE State=UP
""", names=("n1", "n2"))
    request.addfinalizer(made.stop)
    return made


def test_prefer_takes_what_it_likes_and_else_what_there_is(shaped):
    first = shaped.wrap("sleep 300", "-n8 --prefer=fast")
    shaped.wait_state(first, "RUNNING")
    second = shaped.wrap("sleep 300", "-n8 --prefer=fast")
    shaped.wait_state(second, "RUNNING")
    assert shaped.run(f"squeue -h -j {first} -o %N").out == "n2\n"
    assert shaped.run(f"squeue -h -j {second} -o %N").out == "n1\n"
    shaped.run(f"scancel {first} {second}").ok()
    for job in (first, second):
        shaped.wait_end(job)


def test_use_min_nodes(shaped):
    said = shaped.run("srun -N1-2 --use-min-nodes bash -c 'echo $SLURM_NNODES'").ok()
    assert said.out == "1\n"


def test_core_spec_leaves_cores_to_the_system(shaped):
    said = shaped.run("srun -N1 -n1 --core-spec=2 bash -c 'echo $SLURM_CPUS_ON_NODE'").ok()
    assert said.out == "6\n"


def test_task_prolog_and_epilog(shaped):
    home = shaped.home(shaped.me())
    shaped.write("prolog.sh", "#!/bin/sh\necho export SET_BY=prolog\necho print hello\n", mode=0o755)
    shaped.write("epilog.sh", f"#!/bin/sh\necho done $SLURM_PROCID >> {home}/epilog.log\n", mode=0o755)
    said = shaped.run("srun -n2 --task-prolog=./prolog.sh --task-epilog=./epilog.sh bash -c 'echo $SET_BY'").ok()
    assert sorted(said.out.splitlines()) == ["hello", "hello", "prolog", "prolog"]
    assert sorted(shaped.read("epilog.log").splitlines()) == ["done 0", "done 1"]


def test_wait_for_children(shaped):
    said = shaped.run("srun --wait-for-children bash -c '(sleep 1; echo late) & echo early'").ok()
    assert said.out == "early\nlate\n"


def test_reserved_ports(shaped):
    said = shaped.run("srun -n3 --resv-ports=2 bash -c 'echo $SLURM_STEP_RESV_PORTS'").ok()
    assert said.out == "12000-12001\n" * 3
    said = shaped.run("srun --resv-ports=11 true")
    assert said.code == 1 and "Requested ports are in use" in said.err


def test_arbitrary_distribution(shaped):
    ask = "bash -c 'echo $SLURM_PROCID $SLURMD_NODENAME'"
    said = shaped.run(f"srun -m arbitrary -w n2,n1,n2 {ask}").ok()
    assert sorted(said.out.splitlines()) == ["0 n2", "1 n1", "2 n2"]
    shaped.write("hosts", "n1\nn1\nn2\n")
    said = shaped.run(f"srun -m arbitrary {ask}", env={"SLURM_HOSTFILE": str(shaped.home(shaped.me()) / "hosts")}).ok()
    assert sorted(said.out.splitlines()) == ["0 n1", "1 n1", "2 n2"]
    said = shaped.run("srun -m arbitrary true")
    assert said.code == 1 and "needs a list of nodes" in said.err


def test_time_min_is_kept(shaped):
    job = shaped.wrap("true", "-t 60 --time-min=10")
    assert shaped.wait_end(job) == "COMPLETED"
    said = shaped.run("sbatch -t 5 --time-min=10 --wrap true")
    assert said.code == 1 and "Invalid time-min specification (exceeds job's time or other limits)" in said.err


def test_the_program_is_looked_for_first(shaped):
    said = shaped.run("srun nosuchprogram", env={"SLURM_TEST_EXEC": "1"})
    assert said.code == 1 and 'Unable to find command "nosuchprogram"' in said.err


def test_bindings_are_told_in_variables(shaped):
    said = shaped.run("srun --cpu-bind=verbose,map_cpu:0 bash -c 'echo $SLURM_CPU_BIND_TYPE $SLURM_CPU_BIND_LIST "
                      "$SLURM_CPU_BIND_VERBOSE'").ok()
    assert said.out == "map_cpu: 0 verbose\n"
    said = shaped.run("srun --mem-bind=local bash -c 'echo $SLURM_MEM_BIND $SLURM_MEM_BIND_TYPE'").ok()
    assert said.out == "quiet,local local\n"
    said = shaped.run("srun --mem-bind=map_mem:zero true")
    assert "bad list in --mem-bind" in said.err


def test_propagate_limits(shaped):
    said = shaped.run("bash -c 'ulimit -S -n 77; srun --propagate=NOFILE bash -c \"ulimit -S -n\"'").ok()
    assert said.out == "77\n"


def test_a_job_inside_a_job_inherits_none_of_its_needs(shaped):
    shaped.write("inner.sh", "#!/bin/sh\necho n=$SLURM_NTASKS nodes=$SLURM_JOB_NUM_NODES c=$SLURM_CPUS_PER_TASK\n")
    job = shaped.wrap("sbatch --wait -o inner.out inner.sh", "-N2 -n4 -c2 --mem-per-cpu=50 -o outer.out")
    assert shaped.wait_end(job) == "COMPLETED"
    assert shaped.read("inner.out") == "n= nodes=1 c=\n"


def test_hints_without_effect_are_told(shaped):
    said = shaped.run("srun --cpu-freq=high true").ok()
    assert "srun: warning: --cpu-freq is ignored" in said.err
    said = shaped.run("srun --x11 true")
    assert said.code == 1 and "--x11 is not supported" in said.err


@pytest.mark.skipif(not is_root(), reason="only root submits for others")
def test_root_submits_for_somebody_else(shaped):
    said = shaped.run("srun --uid=bob id -u", user=None).ok()
    assert said.out == f"{USERS['bob']}\n"
    said = shaped.run("srun --uid=bob id -u", user="alice")
    assert said.code == 255 and "--uid only permitted by root user" in said.err
    said = shaped.run("sbatch --uid=nosuchuser --wrap true", user=None)
    assert said.code == 1 and "Invalid --uid specification" in said.err
