"""torchx: an application of two replicas is a heterogeneous job; its state is read back."""

import re

from world import wait_until


def torchx(cluster, tools, arguments):
    return cluster.run(f"{tools}/bin/torchx {arguments}", timeout=240, env={"PATH": f"{tools}/bin:{cluster.path()}"})


def test_replicas_run_and_are_seen_to_succeed(cluster, tools):
    said = torchx(cluster, tools,
                  "run --workspace '' --scheduler slurm -cfg partition=debug,time=10 "
                  "utils.sh --num_replicas 2 --cpu 1 --memMB 100 -- echo hello from '$SLURM_PROCID'").ok()
    handle = re.search(r"slurm://\S+", said.out + said.err).group(0)
    job = int(handle.rsplit("/", 1)[1])
    assert cluster.wait_end(job, timeout=120) == "COMPLETED", repr(said)

    def state():
        return torchx(cluster, tools, f"status {handle}").out

    assert wait_until(lambda: "SUCCEEDED" in state(), 120, "torchx to see the end", every=1)
    described = torchx(cluster, tools, f"describe {handle}")
    assert described.code == 0 and "'roles'" in described.out, repr(described)


def test_cancel_reaches_the_job(cluster, tools):
    said = torchx(cluster, tools, "run --workspace '' --scheduler slurm -cfg partition=debug,time=10 "
                                  "utils.sh --cpu 1 --memMB 100 -- sleep 600").ok()
    handle = re.search(r"slurm://\S+", said.out + said.err).group(0)
    job = int(handle.rsplit("/", 1)[1])
    cluster.wait_state(job, "RUNNING", timeout=60)
    torchx(cluster, tools, f"cancel {handle}").ok()
    assert cluster.wait_end(job, timeout=60) == "CANCELLED"
