"""submitit: jobs, arrays, and a checkpoint with requeue on its signal."""

from conftest import drive

ADD = """
    import submitit

    def add(a, b):
        return a + b

    executor = submitit.AutoExecutor(folder="logs", cluster="slurm")
    executor.update_parameters(timeout_min=10, slurm_partition="debug", cpus_per_task=1, slurm_mem="100M")
    {body}
"""


def test_a_function_runs_as_a_job_and_its_result_comes_back(cluster, tools):
    said = drive(cluster, tools, ADD.format(body="print('result', executor.submit(add, 19, 23).result())")).ok()
    assert "result 42" in said.out


def test_a_map_is_an_array(cluster, tools):
    said = drive(cluster, tools, ADD.format(body="""
    jobs = executor.map_array(add, [1, 2, 3, 4], [10, 20, 30, 40])
    print("results", [job.result() for job in jobs])
    print("ids", [job.job_id for job in jobs])
    print("states", {job.state for job in jobs})""")).ok()
    assert "results [11, 22, 33, 44]" in said.out
    first = said.out.split("ids ['")[1].split("_")[0]
    assert f"ids ['{first}_0', '{first}_1', '{first}_2', '{first}_3']" in said.out


CHECKPOINT = """
    import os, pathlib, time
    import submitit

    class Counter:
        def __init__(self, done=0):
            self.done = done

        def __call__(self, marker):
            if self.done:
                return ("resumed", self.done, os.environ["SLURM_RESTART_COUNT"])
            pathlib.Path(marker).write_text("at work")
            self.done = 7
            time.sleep(600)
            return "never"

        def checkpoint(self, marker):
            return submitit.helpers.DelayedSubmission(Counter(self.done), marker)

    executor = submitit.AutoExecutor(folder="logs", cluster="slurm")
    executor.update_parameters(timeout_min=30, slurm_partition="debug", slurm_mem="100M", slurm_signal_delay_s=5)
    marker = pathlib.Path("marker-of-checkpoint").absolute()
    job = executor.submit(Counter(), str(marker))
    while not marker.exists():
        time.sleep(0.05)
    job._interrupt()
    print("outcome", job.result())
"""


def test_the_signal_makes_a_checkpoint_and_the_job_is_requeued(cluster, tools):
    said = drive(cluster, tools, CHECKPOINT).ok()
    assert "outcome ('resumed', 7, '1')" in said.out
