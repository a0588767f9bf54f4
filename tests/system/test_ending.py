"""A job can always be ended, whatever its files, folders and programs are: nothing that a user names holds up a stepd."""

import os
import time

import pytest

from world import USERS, is_root, wait_until

SOON = 20  # Seconds: well below KillWait and the limits of time that would hide a stepd that waits.


@pytest.fixture(scope="module")
def home(cluster):
    folder = cluster.home(cluster.me())
    for name in ("fifo", "fifo0", "in.fifo", "in.fifo0", "slow.fifo0", "shared.fifo0"):
        os.mkfifo(folder / name)
        os.chmod(folder / name, 0o666)
        if is_root():
            os.chown(folder / name, USERS["alice"], USERS["alice"])
    return folder


def end(cluster, job):
    began = time.monotonic()
    cluster.run(f"scancel {job}").ok()
    cluster.wait_end(job)
    wait_until(lambda: not cluster.run("squeue -h").out.strip(), 60, "the job to be gone")
    assert time.monotonic() - began < SOON
    # The node is as it was.
    assert cluster.run("srun -w n1 hostname", timeout=60).ok()


def leave(step):
    """The srun may wait for the file itself, which is its user's affair."""
    step.kill()
    step.wait()


@pytest.mark.parametrize("options", ["-o {0}/fifo", "-e {0}/fifo", "-i {0}/in.fifo", "-o {0}/fifo -e {0}/fifo -i {0}/in.fifo",
                                     "-o {0}/fifo --open-mode=append"])
def test_a_batch_job_whose_files_are_fifos_without_another_end(cluster, home, options):
    job = cluster.wrap("sleep 600", "-w n1 " + options.format(home))
    cluster.wait_state(job, "RUNNING")
    end(cluster, job)


@pytest.mark.parametrize("options", ["-o {0}/fifo%t", "-l -o {0}/fifo%t", "-e {0}/fifo%t", "-i {0}/in.fifo%t"])
def test_a_step_whose_files_are_fifos_without_another_end(cluster, home, options):
    step = cluster.popen(f"srun -w n1 {options.format(home)} sleep 600")
    job = wait_until(lambda: cluster.run("squeue -h -t R -o %A").out.strip(), 60, "the job to run")
    end(cluster, job)
    leave(step)


def test_input_from_a_fifo_waits_for_its_writer(cluster, home):
    job = cluster.wrap("cat", f"-w n1 -i {home}/in.fifo -o {home}/copied.out")
    cluster.wait_state(job, "RUNNING")
    cluster.run(f"echo hello > {home}/in.fifo").ok()
    assert cluster.wait_end(job) == "COMPLETED"
    assert (home / "copied.out").read_text() == "hello\n"


def test_a_reader_that_stops_reading_holds_up_only_the_output(cluster, home):
    reader = cluster.popen(f"sleep 600 < {home}/slow.fifo0")
    try:
        for options in ("", "-l"):
            step = cluster.popen(f"srun -w n1 {options} -o {home}/slow.fifo%t yes")
            job = wait_until(lambda: cluster.run("squeue -h -t R -o %A").out.strip(), 60, "the job to run")
            time.sleep(0.5)  # Until the pipe is full, which cannot be observed.
            end(cluster, job)
            leave(step)
    finally:
        reader.kill()
        reader.wait()


@pytest.mark.parametrize("program", ["yes", "seq 100000"])
@pytest.mark.parametrize("by", ["srun", "sbatch"])
def test_a_labelled_fifo_of_all_tasks_whose_reader_stops_reading(cluster, home, by, program):
    """Each order to end put the end off by KillWait; with what they were repeated it came only by the last call of the agent."""
    reader = cluster.popen(f"sleep 600 < {home}/shared.fifo0")
    line = f"srun -w n1 -n4 -l -o {home}/shared.fifo%n {program}"
    try:
        if by == "srun":
            step = cluster.popen(line)
            job = wait_until(lambda: cluster.run("squeue -h -t R -o %A").out.strip(), 60, "the job to run")
        else:
            step = None
            job = cluster.wrap(line, "-w n1 -n4 -o /dev/null")
            wait_until(lambda: f"{job}.0" in cluster.run("squeue -h -s -o %i").out, 60, "the step to run")
        time.sleep(0.5)  # Until the pipe is full, which nobody tells.
        end(cluster, job)
        if step:
            leave(step)
    finally:
        reader.kill()
        reader.wait()


@pytest.mark.parametrize("target", ["/dev/null", "/dev/full", "/dev/tty"])
def test_devices_as_output(cluster, home, target):
    job = cluster.wrap("echo x; true", f"-w n1 -o {target}")
    assert cluster.wait_end(job) in ("COMPLETED", "FAILED")


def test_a_file_with_a_lease_holds_up_nobody(cluster, home):
    """A lease makes whoever opens the file wait for its holder, 45 seconds long."""
    program = cluster.write("leased.sh", "#!/bin/sh\nsleep 600\n", mode=0o755)
    output = cluster.write("leased.out", "")
    code = ("import fcntl, os, signal, sys, time\n"
            "signal.signal(signal.SIGIO, signal.SIG_IGN)\n"
            "fds = [os.open(p, os.O_RDWR) for p in sys.argv[1:]]\n"
            "[fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_WRLCK) for fd in fds]\n"
            "print('leased', flush=True)\ntime.sleep(600)\n")
    holder = cluster.popen(f"python3 -c \"{code}\" {program} {output}", stdout=-1)
    try:
        assert holder.stdout.readline() == "leased\n"
        job = cluster.wrap("sleep 600", f"-w n1 -o {output}")
        cluster.wait_state(job, "RUNNING")
        end(cluster, job)
        step = cluster.popen(f"srun -w n1 {program}")
        job = wait_until(lambda: cluster.run("squeue -h -t R -o %A").out.strip(), 60, "the job to run")
        end(cluster, job)
        leave(step)
    finally:
        holder.kill()
        holder.wait()


@pytest.mark.parametrize("script", ["exec >&- 2>&-; sleep 600", "trap '' TERM; while :; do sleep 600; done", "sleep 600 & exit 0"])
def test_a_task_prolog_that_does_not_end(cluster, home, script):
    prolog = cluster.write("prolog.sh", f"#!/bin/sh\n{script}\n", mode=0o755)
    step = cluster.popen(f"srun -w n1 --task-prolog={prolog} sleep 600")
    job = wait_until(lambda: cluster.run("squeue -h -t R -o %A").out.strip(), 60, "the job to run")
    end(cluster, job)
    leave(step)


def test_a_task_epilog_that_does_not_end(cluster, home):
    epilog = cluster.write("epilog.sh", "#!/bin/sh\necho ran > ~/epilog.ran\nexec >&- 2>&-; sleep 600\n", mode=0o755)
    step = cluster.popen(f"srun -w n1 --task-epilog={epilog} true")
    job = wait_until(lambda: cluster.run("squeue -h -t R -o %A").out.strip(), 60, "the job to run")
    wait_until(lambda: (home / "epilog.ran").exists(), 60, "the epilog to run")
    end(cluster, job)
    leave(step)
