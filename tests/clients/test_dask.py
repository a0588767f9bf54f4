"""dask-jobqueue: a cluster of two workers that are jobs computes, and is gone afterwards."""

from conftest import drive
from world import wait_until

PROGRAM = """
    from dask.distributed import Client
    from dask_jobqueue import SLURMCluster

    if __name__ == "__main__":
        with SLURMCluster(queue="debug", cores=1, processes=1, memory="400MB", walltime="00:10:00", interface="lo",
                          local_directory="scratch", log_directory="dask-logs", scheduler_options={"dashboard": False},
                          worker_extra_args=["--no-dashboard"]) as cluster:
            cluster.scale(jobs=2)
            with Client(cluster) as client:
                client.wait_for_workers(2, timeout=240)
                print("sum", sum(client.gather(client.map(lambda x: x * x, range(10)))))
                print("workers", len(client.scheduler_info()["workers"]))
"""


def test_two_workers_compute(cluster, tools):
    said = drive(cluster, tools, PROGRAM, timeout=400).ok()
    assert "sum 285" in said.out and "workers 2" in said.out
    wait_until(lambda: cluster.run("squeue -h -u alice -n dask-worker").ok().out == "", 60, "the workers' jobs to be gone")
