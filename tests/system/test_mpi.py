"""MPI programs under srun and under their own launchers, on two nodes: MPICH by PMI-2, Open MPI by PMIx."""

import os
import pathlib
import re
import shutil
import tempfile

import pytest

from world import HERE, bin_dir, run

MPICH, OPENMPI = "mpich", "openmpi"
KIND = {MPICH: "pmi2", OPENMPI: "pmix"}
# One machine pretends to be several, with few processors and no fast network: say so to those who would look.
ENVIRONMENT = ("OMPI_MCA_btl=self,tcp OMPI_MCA_pml=ob1 OMPI_MCA_btl_tcp_if_include=lo OMPI_MCA_rmaps_base_oversubscribe=1 "
               "OMPI_MCA_hwloc_base_binding_policy=none OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
               "FI_PROVIDER=tcp UCX_TLS=tcp,self,sm MPIR_CVAR_CH4_OFI_TAG_BITS= ")


@pytest.fixture(scope="module")
def program():
    """Compiles the ring for an MPI, or skips; where every user can execute it."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="sympi", dir="/tmp"))
    folder.chmod(0o755)
    built = {}

    def build(mpi):
        compiler = shutil.which(f"mpicc.{mpi}")
        behind = next(filter(shutil.which, ("cc", "gcc", "clang-19", "clang")), None)
        if not compiler or not behind:
            pytest.skip(f"mpicc.{mpi} is not installed, or has no compiler behind it")
        if mpi not in built:
            path = folder / f"ring.{mpi}"
            said = run([compiler, "-o", path, HERE / "mpi_ring.c"], env=dict(os.environ, MPICH_CC=behind, OMPI_CC=behind))
            assert said.returncode == 0, said.stderr
            path.chmod(0o755)
            built[mpi] = path
        return built[mpi]

    yield build
    shutil.rmtree(folder)


def needs_kind(mpi):
    if KIND[mpi] not in run([bin_dir() / "srun", "--mpi=list"]).stdout.split():
        pytest.skip(f"this build has no --mpi={KIND[mpi]}")


def check_ring(out, tasks):
    ranks = sorted(re.findall(r"^rank (\d+) of (\d+) on (\S+) sum (\d+)$", out, re.M), key=lambda r: int(r[0]))
    assert [int(r[0]) for r in ranks] == list(range(tasks)), out
    assert {(r[1], r[3]) for r in ranks} == {(str(tasks), str(sum(range(tasks))))}, out
    assert f"token {sum(range(tasks))}" in out.splitlines(), out
    return [r[2] for r in ranks]


def test_list_of_kinds():
    said = run([bin_dir() / "srun", "--mpi=list"])
    assert said.returncode == 0 and said.stdout.startswith("MPI plugin types are...\n\tnone\n\tpmi2\n")


def test_unknown_kind_is_refused(cluster):
    said = cluster.run("srun --mpi=lam true")
    assert said.code != 0 and "srun: error: Invalid MPI type 'lam', --mpi=list for acceptable types" in said.err


@pytest.mark.parametrize("mpi", [MPICH, OPENMPI])
@pytest.mark.parametrize("distribution", ["block", "cyclic"])
def test_srun_starts_a_ring_over_two_nodes(cluster, program, mpi, distribution):
    path = program(mpi)
    needs_kind(mpi)
    said = cluster.run(f"{ENVIRONMENT} srun --mpi={KIND[mpi]} -N2 -n4 --ntasks-per-node=2 -w n1,n2 -m {distribution} {path}", timeout=300).ok()
    nodes = check_ring(said.out, 4)
    assert nodes == (["n1", "n1", "n2", "n2"] if distribution == "block" else ["n1", "n2", "n1", "n2"]), said


@pytest.mark.parametrize("mpi", [MPICH, OPENMPI])
def test_abort_of_one_rank_ends_the_step(cluster, program, mpi):
    path = program(mpi)
    needs_kind(mpi)
    said = cluster.run(f"{ENVIRONMENT} srun --mpi={KIND[mpi]} -N2 -n4 -w n1,n2 {path} abort", timeout=300)
    assert said.code != 0, said


@pytest.mark.parametrize("mpi", [MPICH, OPENMPI])
def test_mpi_default_of_the_configuration(make_cluster, program, mpi):
    path = program(mpi)
    needs_kind(mpi)
    own = make_cluster(extra=f"MpiDefault={KIND[mpi]}\n")
    check_ring(own.run(f"{ENVIRONMENT} srun -N2 -n2 -w n1,n2 {path}", timeout=300).ok().out, 2)


@pytest.mark.parametrize("mpi, launcher", [(MPICH, "mpiexec.hydra"), (OPENMPI, "mpirun.openmpi")])
def test_the_launcher_of_an_mpi_uses_the_allocation(cluster, program, mpi, launcher):
    """They start their daemons on the nodes by srun."""
    path = program(mpi)
    if not shutil.which(launcher):
        pytest.skip(f"{launcher} is not installed")
    said = cluster.run(f"{ENVIRONMENT} salloc -N2 -n4 --ntasks-per-node=2 -w n1,n2 {launcher} {path}", timeout=300).ok()
    assert check_ring(said.out, 4) == ["n1", "n1", "n2", "n2"], said
