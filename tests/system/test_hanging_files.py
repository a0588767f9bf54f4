"""A job can always be ended, also where what its user has named is on a file system that does not answer. No stepd ever
waits for one: it would be ended by UnkillableStepTimeout alone, and cost its node a drain."""

import os
import shutil
import time

import pytest

from hanging import hanging
from hostile import mallory, submit
from world import is_root, run, wait_until

pytestmark = pytest.mark.skipif(not is_root(), reason="needs root to mount")

SOON = 25  # Seconds, on a busy machine; the limit that would hide a stepd that hangs is far away.


@pytest.fixture(scope="module")
def cluster():
    """The mount comes first: an agent of pretend nodes has mounts of its own."""
    from cluster import Cluster
    made = Cluster(extra="UnkillableStepTimeout=1200\n", start=False)
    try:
        with hanging(made.dir / "dead"):
            yield made.start()
    finally:
        made.stop()


@pytest.fixture
def dead(cluster):
    return cluster.dir / "dead"


def end(cluster, job):
    began = time.monotonic()
    cluster.run(f"scancel {job}", user=None).ok()
    cluster.wait_end(job)
    wait_until(lambda: not cluster.run("squeue -h").out.strip(), 60, "the job to be gone")
    assert time.monotonic() - began < SOON
    assert cluster.run("srun -w n1 hostname", timeout=60).ok()


@pytest.mark.parametrize("names", [{"std_out": "{0}/out"}, {"std_err": "{0}/out"}, {"std_in": "{0}/in"}, {"work_dir": "{0}"}, {"work_dir": "{0}/below"}])
def test_a_batch_job(cluster, dead, names):
    """Submitted by hand: sbatch itself would look for the folder."""
    job = submit(cluster, "sleep 600", **{key: value.format(dead).encode() for key, value in names.items()}).submitted.job
    cluster.wait_state(job, "RUNNING")
    end(cluster, job)


def begin_step(cluster, job, spec, **launch):
    """As srun would; the client that asked for it."""
    whole = {"argv": [b"/bin/sleep", b"600"], "work_dir": b"/tmp", "environment": [b"PATH=/usr/bin:/bin"], "io_key": b"k" * 32, **launch}
    client = mallory(cluster)
    client.send(client.request(create_step={"job": job, "spec": {"overlap": True, "tasks": 1, **spec}, "launch": whole,
                                            "nonce": int.from_bytes(os.urandom(6), "little")}))
    wait_until(lambda: f"{job}.0" in cluster.run("squeue -h -s -o %i", user=None).out, what="the step")
    return client  # For as long as the step is to be.


@pytest.mark.parametrize("names", [{"std_out": "{0}/out"}, {"std_out": "{0}/out", "label": True}, {"std_in": "{0}/in"}, {"argv": ["{0}/program"]},
                                   {"work_dir": "{0}"}, {"task_prolog": "{0}/program"}, {"task_epilog": "{0}/program", "argv": ["/bin/true"]}])
def test_a_step(cluster, dead, names):
    job = submit(cluster, "sleep 600").submitted.job
    cluster.wait_state(job, "RUNNING")
    client = begin_step(cluster, job, {"detached": True}, **{
        key: [each.format(dead).encode() for each in value] if isinstance(value, list) else value.format(dead).encode() if isinstance(value, str) else value
        for key, value in names.items()})
    time.sleep(0.5)  # Until it has come to where it hangs, which nobody tells.
    end(cluster, job)
    client.close()


def test_a_step_whose_srun_is_said_to_listen_there(cluster, dead):
    """The stepd dialled it itself, and nothing reached it any more."""
    job = submit(cluster, "sleep 600").submitted.job
    cluster.wait_state(job, "RUNNING")
    client = begin_step(cluster, job, {}, io_unix_path=f"{dead}/socket".encode(), io_host=cluster.host.encode())
    end(cluster, job)
    client.close()


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
