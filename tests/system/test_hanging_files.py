"""A job can always be ended, also where what its user has named is on a file system that does not answer. No stepd ever
waits for one: it would be ended by UnkillableStepTimeout alone, and cost its node a drain."""

import os
import shutil
import time

import pytest

from hanging import hanging
from hostile import mallory
from raw_client import Closed
from world import is_root, run, wait_until

pytestmark = pytest.mark.skipif(not is_root(), reason="needs root to mount")

SOON = 25  # Seconds, on a busy machine; the limit that would hide a stepd that hangs is far away.


@pytest.fixture(scope="module")
def cluster():
    from cluster import Cluster
    made = Cluster(extra="UnkillableStepTimeout=1200\n")
    yield made
    made.stop()


@pytest.fixture(scope="module")
def dead(cluster):
    with hanging(cluster.dir / "dead") as path:
        yield path


def end(cluster, job):
    began = time.monotonic()
    cluster.run(f"scancel {job}", user=None).ok()
    cluster.wait_end(job)
    wait_until(lambda: not cluster.run("squeue -h").out.strip(), 60, "the job to be gone")
    assert time.monotonic() - began < SOON
    assert cluster.run("srun -w n1 hostname", timeout=60).ok()


@pytest.mark.parametrize("options", ["-o {0}/out", "-e {0}/out", "-i {0}/in", "-D {0}", "-D {0}/below -o out"])
def test_a_batch_job(cluster, dead, options):
    job = cluster.wrap("sleep 600", "-w n1 " + options.format(dead))
    cluster.wait_state(job, "RUNNING")
    end(cluster, job)


@pytest.mark.parametrize("options", ["-o {0}/out true", "-l -o {0}/out true", "-i {0}/in cat", "{0}/program", "--task-prolog={0}/program true",
                                     "--task-epilog={0}/program true"])
def test_a_step(cluster, dead, options):
    step = cluster.popen("srun -w n1 " + options.format(dead))
    job = wait_until(lambda: cluster.run("squeue -h -t R -o %A").out.strip(), 60, "the job to run")
    end(cluster, job)
    step.kill()
    step.wait()


def test_a_step_whose_srun_is_said_to_listen_there(cluster, dead):
    """The stepd dialled it itself, and nothing reached it any more."""
    job = cluster.wrap("sleep 600", "-w n1", user="mallory")
    cluster.wait_state(job, "RUNNING")
    launch = {"argv": [b"/bin/sleep", b"600"], "work_dir": b"/tmp", "io_unix_path": f"{dead}/socket".encode(), "io_key": b"k" * 32,
              "io_host": cluster.host.encode(), "environment": [b"PATH=/usr/bin:/bin"]}
    with mallory(cluster, timeout=2) as client:
        try:
            client.ask(create_step={"job": job, "spec": {"overlap": True, "tasks": 1}, "launch": launch, "nonce": int.from_bytes(os.urandom(6), "little")})
            client.is_closed_by_peer()
        except (Closed, OSError):
            pass
        wait_until(lambda: f"{job}.0" in cluster.run("squeue -h -s -o %i", user=None).out, what="the step")
        end(cluster, job)


SLOW_PMIX = """
#include <unistd.h>
#define NAME(x) int x(void) { for (;;) pause(); return 0; }
NAME(PMIx_server_init) NAME(PMIx_server_register_nspace) NAME(PMIx_server_register_client) NAME(PMIx_server_setup_fork)
NAME(PMIx_server_dmodex_request) NAME(PMIx_generate_regex) NAME(PMIx_generate_ppn) NAME(PMIx_Error_string)
"""


def test_a_step_whose_pmix_library_does_not_start(make_cluster):
    """Its server is a process beside the stepd, which heeds its orders meanwhile."""
    compiler = next(filter(None, map(shutil.which, ("cc", "gcc", "clang-19", "clang"))), None)
    if not compiler:
        pytest.skip("no C compiler")
    cluster = make_cluster(extra="UnkillableStepTimeout=1200\n", start=False, daemon_env={"LD_LIBRARY_PATH": "{dir}/lib"})
    (cluster.dir / "lib").mkdir()
    source = cluster.dir / "slow.c"
    source.write_text(SLOW_PMIX)
    assert run([compiler, "-shared", "-fPIC", "-o", cluster.dir / "lib" / "libpmix.so.2", source]).returncode == 0
    cluster.start()
    if "pmix" not in cluster.run("srun --mpi=list").out:
        pytest.skip("this build has no --mpi=pmix")
    step = cluster.popen("srun -w n1 --mpi=pmix true")
    job = wait_until(lambda: cluster.run("squeue -h -t R -o %A").out.strip(), 60, "the job to run")
    wait_until(lambda: list((cluster.dir / "spool" / "n1").glob("pmix-*")), 60, "the server to begin")
    end(cluster, job)
    step.kill()
    step.wait()
