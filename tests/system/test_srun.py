"""srun and salloc: tasks on every node, their input, output, signals and exit codes."""

import os
import pathlib
import pty
import re
import select
import signal
import subprocess

import pytest

from world import wait_until


def test_alone(cluster):
    said = cluster.run("srun -N2 -l bash -c 'echo $SLURMD_NODENAME $SLURM_PROCID $SLURM_NTASKS'").ok()
    assert sorted(said.out.splitlines()) == ["0: n1 0 2", "1: n2 1 2"]
    wait_until(lambda: cluster.run("squeue -h").out == "", what="the allocation to go")


def test_inside_a_batch_job(cluster):
    job = cluster.wrap("srun -l bash -c 'echo $SLURM_NODEID $SLURM_LOCALID $SLURM_STEP_ID'; srun -n1 hostname",
                       "-N2 --ntasks-per-node=2 -o in.out")
    assert cluster.wait_end(job) == "COMPLETED"
    text = cluster.read("in.out").splitlines()
    assert sorted(text[:4]) == ["0: 0 0 0", "1: 0 1 0", "2: 1 0 0", "3: 1 1 0"]
    assert text[4] == "srun: warning: can't run 1 processes on 2 nodes, setting nnodes to 1"
    assert text[5] == cluster.run("hostname").out.strip()


def test_steps_side_by_side_and_waiting(cluster):
    job = cluster.wrap("""
        for i in 1 2 3 4; do srun -n1 -N1 --exact bash -c 'sleep 0.2; echo step $SLURM_STEP_ID' & done; wait
        """, "-n2 -N1 -o steps.out")
    assert cluster.wait_end(job) == "COMPLETED"
    text = cluster.read("steps.out")
    assert sorted(re.findall(r"^step \d", text, re.M)) == ["step 0", "step 1", "step 2", "step 3"]


def test_exit_codes_and_messages(cluster):
    said = cluster.run("srun -n4 bash -c '[ $SLURM_PROCID = 2 ] && exit 3; exit 0'")
    assert said.code == 3 and re.search(r"^srun: error: n\d: task 2: Exited with exit code 3$", said.err, re.M)
    said = cluster.run("srun -n4 bash -c 'exit 3'")
    assert said.code == 3 and re.search(r"^srun: error: n\d: tasks 0-3: Exited with exit code 3$", said.err, re.M)
    said = cluster.run("srun bash -c 'kill -SEGV $$'")
    assert said.code == 139 and re.search(r"^srun: error: n\d: task 0: Segmentation fault", said.err, re.M)
    said = cluster.run("srun nosuchcommand")
    assert said.code == 2 and "error: execve(): nosuchcommand: No such file or directory" in said.err
    said = cluster.run("srun -K -N2 bash -c '[ $SLURM_PROCID = 1 ] && exit 4; sleep 30'")
    assert said.code in (4, 143) and "srun: Terminating StepId=" in said.err


def test_standard_input(cluster):
    assert cluster.run("srun cat", input="to the task\n").ok().out == "to the task\n"
    assert sorted(cluster.run("srun -n2 -l cat", input="x\n").ok().out.splitlines()) == ["0: x", "1: x"]
    assert cluster.run("srun -n2 -i 1 -l cat", input="x\n").ok().out == "1: x\n"
    assert cluster.run("srun -i none cat", input="x\n").ok().out == ""
    big = "x" * (3 << 20) + "\n"
    assert cluster.run("srun cat", input=big).ok().out == big


def test_output_files(cluster):
    cluster.run("srun -n2 -o t.%t.%j.%N -e e.%t bash -c 'echo out; echo err >&2'").ok()
    names = sorted(n for n in os.listdir(cluster.home()) if re.match(r"t\.\d", n))
    assert [n.split(".")[1] for n in names] == ["0", "1"]
    assert cluster.read(names[0]) == "out\n" and cluster.read("e.1") == "err\n"


def test_multi_prog(cluster):
    cluster.write("mp.conf", "0 echo zero\n1-2 echo other %t of %o\n")
    said = cluster.run("srun -n3 -l --multi-prog mp.conf").ok()
    assert sorted(said.out.splitlines()) == ["0: zero", "1: other 1 of 0", "2: other 2 of 1"]


def test_distribution(cluster):
    ask = "bash -c 'echo $SLURM_PROCID $SLURM_NODEID'"
    block = cluster.run(f"srun -N2 --ntasks-per-node=2 -m block {ask}").ok().out
    cyclic = cluster.run(f"srun -N2 --ntasks-per-node=2 -m cyclic {ask}").ok().out
    assert sorted(block.splitlines()) == ["0 0", "1 0", "2 1", "3 1"]
    assert sorted(cyclic.splitlines()) == ["0 0", "1 1", "2 0", "3 1"]


def test_chdir_and_export(cluster):
    assert cluster.run("srun -D /usr pwd").ok().out == "/usr\n"
    said = cluster.run("srun -D /nonexistent pwd")
    assert said.out == "/tmp\n" and "couldn't chdir to `/nonexistent': No such file or directory: going to /tmp instead" in said.err
    assert cluster.run("srun --export=ALL,K=v bash -c 'echo $K $B'", env={"B": "b"}).ok().out == "v b\n"


def test_immediate(cluster):
    blocker = cluster.wrap("sleep 300", "-N4 --exclusive")
    cluster.wait_state(blocker, "RUNNING")
    assert cluster.run("srun -I true").code != 0
    cluster.run(f"scancel {blocker}")
    cluster.wait_end(blocker)


def test_pty(cluster):
    if os.geteuid() == 0:
        pytest.importorskip("pty")
    parent, child = pty.openpty()
    process = cluster.popen("srun --pty bash --norc -i", stdin=child, stdout=child, stderr=child, start_new_session=True)
    os.close(child)
    seen = b""

    def read_until(wanted):
        nonlocal seen

        def more():
            nonlocal seen
            if select.select([parent], [], [], 0)[0]:
                try:
                    seen += os.read(parent, 4096)
                except OSError:
                    pass
            return wanted in seen

        wait_until(more, 60, f"{wanted!r} in {seen!r}")

    os.write(parent, b"echo name=$SLURM_JOB_NAME; tty | cut -c1-8\n")
    read_until(b"name=bash")
    read_until(b"/dev/pts")
    # One process says the word and sleeps: between two of them an interrupt would be the shell's and end neither.
    os.write(parent, b"bash -c 'echo be\"\"fore; exec sleep 100'\n")
    read_until(b"before")  # An interrupt throws away what the terminal has not handed on yet.
    os.write(parent, b"\x03")
    read_until(b"^C")
    os.write(parent, b"echo after=$?\n")
    read_until(b"after=130")
    os.write(parent, b"exit 5\n")
    assert process.wait(120) == 5
    os.close(parent)


def test_ctrl_c_once_asks_twice_kills(cluster):
    process = cluster.popen("srun -J ctrlc sleep 600", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_until(lambda: "R" in cluster.run("squeue -h -n ctrlc -o %t").out, what="it to run")
    wait_until(lambda: cluster.run("squeue -h -s -n ctrlc", user=None).out or cluster.leftovers(), what="the step")
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGINT)
    wait_until(lambda: process.poll() is not None or process.send_signal(signal.SIGINT), 60, "srun to end", every=0.4)
    assert process.returncode != 0
    wait_until(lambda: cluster.run("squeue -h -n ctrlc").out == "", what="the job to be gone")
    assert "interrupt (one more within 1 sec to abort)" in process.stderr.read()


def test_signals_that_srun_is_to_ignore_do_nothing(cluster):
    process = cluster.popen("srun -J deaf --ignore-signals=INT,TERM sh -c 'echo begun; while [ ! -e deaf.go ]; do sleep 0.05; done'",
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout.readline() == "begun\n"
    for number in (signal.SIGINT, signal.SIGINT, signal.SIGTERM):
        process.send_signal(number)
    wait_until(lambda: signals_pending(process.pid) == 0, what="srun to have seen them")
    cluster.write("deaf.go", "")
    assert process.wait(60) == 0, process.stderr.read()
    assert "interrupt" not in process.stderr.read()


def signals_pending(pid):
    """Signals sent to a process that it has not taken yet."""
    lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    return sum(int(line.split()[1], 16) for line in lines if line.startswith(("SigPnd:", "ShdPnd:")))


def test_srun_killed_takes_its_tasks_along(cluster):
    process = cluster.popen("srun -J orphan sleep 600", stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_until(lambda: "R" in cluster.run("squeue -h -n orphan -o %t").out, what="it to run")
    process.kill()
    process.wait()
    wait_until(lambda: cluster.run("squeue -h -n orphan").out == "", 60, "the job to be gone")
    wait_until(lambda: not cluster.leftovers(), what="its tasks to be gone")


def test_salloc(cluster):
    said = cluster.run("salloc -N2 srun -l bash -c 'echo $SLURM_NODEID'").ok()
    assert sorted(said.out.splitlines()) == ["0: 0", "1: 1"]
    assert re.search(r"salloc: Granted job allocation \d+\nsalloc: Nodes n\[1-2\] are ready for job\n", said.err)
    assert re.search(r"salloc: Relinquishing job allocation \d+\n", said.err)
    assert cluster.run("salloc -n1 bash -c 'exit 7'").code == 7
    said = cluster.run("salloc -n1", input="echo in shell $SLURM_JOB_ID; exit 3\n")
    assert said.code == 3 and said.out.startswith("in shell ")
    wait_until(lambda: cluster.run("squeue -h").out == "", what="nothing to be left")


def test_salloc_no_shell_and_jobid(cluster):
    said = cluster.run("salloc --no-shell -N1 -J kept").ok()
    job = re.search(r"Granted job allocation (\d+)", said.err)[1]
    assert cluster.run(f"srun --jobid={job} bash -c 'echo $SLURM_JOB_ID'").ok().out == f"{job}\n"
    cluster.run(f"scancel {job}").ok()
    cluster.wait_end(int(job))


def test_cancelled_srun_says_so(cluster):
    process = cluster.popen("srun -J willdie sleep 600", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_until(lambda: "R" in cluster.run("squeue -h -n willdie -o %t").out, what="it to run")
    wait_until(lambda: cluster.leftovers(), what="its task")
    cluster.run("scancel -n willdie").ok()
    _, err = process.communicate(timeout=60)
    assert process.returncode == 143 or process.returncode == 137, err
    assert re.search(r"\*\*\* STEP \d+\.0 ON n\d CANCELLED AT \S+ DUE to SIGNAL Terminated \*\*\*", err), err


def test_steps_side_by_side_spread_over_the_nodes_of_their_job(cluster):
    cluster.write("spread.sh", """\
        #!/bin/bash
        for i in 1 2; do
            srun -N1 -n1 bash -c 'touch here.$SLURMD_NODENAME; until [ -e here.n1 -a -e here.n2 ]; do sleep 0.05; done' &
        done
        wait
        """)
    job = cluster.sbatch("-w n1,n2 -N2 -t 1 -o spread.out spread.sh")
    assert cluster.wait_end(job) == "COMPLETED", cluster.read("spread.out")
    assert "temporarily disabled" not in cluster.read("spread.out")


def test_a_step_smaller_than_its_job_is_told_its_own_processors(cluster):
    cluster.write("asks", """\
        #!/bin/bash
        echo $SLURM_CPUS_ON_NODE $SLURM_CPUS_PER_TASK $SLURM_TRES_PER_TASK $SLURM_JOB_NAME $SLURM_MEM_PER_NODE
        """, mode=0o755)
    said = cluster.run("salloc -Q -N1 -n2 -c2 --mem=200 bash -c 'srun ./asks; srun -n1 ./asks; srun -n1 --overlap -J own ./asks; "
                       "srun -n1 -c1 --mem=50 ./asks'").ok()
    assert said.out.splitlines() == ["4 2 cpu=2 interactive 200"] * 2 + ["2 2 cpu=2 interactive 200", "2 2 cpu=2 own 200",
                                                                         "1 1 cpu=1 interactive 200"], said


def test_what_commands_tell_the_launchers_of_mpi(cluster):
    cluster.write("asks", """\
        #!/bin/bash
        echo $OMPI_MCA_plm_slurm_args $PRTE_MCA_plm_slurm_args $HYDRA_BOOTSTRAP $I_MPI_HYDRA_BOOTSTRAP
        """, mode=0o755)
    told = "--external-launcher --external-launcher slurm slurm\n"
    assert cluster.run("srun ./asks").ok().out == told
    assert cluster.run("salloc -Q -n1 ./asks").ok().out == told
    job = cluster.sbatch("-n1 -o told.out --wrap ./asks")
    assert cluster.wait_end(job) == "COMPLETED" and cluster.read("told.out") == told


def test_tasks_that_outstay_the_first_are_killed(cluster):
    said = cluster.run("srun -n3 -W1 bash -c '[ $SLURM_PROCID = 1 ] && exit 0; sleep 60'")
    assert said.code == 137, said
    assert re.search(r"srun: First task exited 1s ago\nsrun: StepId=\d+\.0 tasks 0,2: running\nsrun: StepId=\d+\.0 task 1: exited\n"
                     r"srun: Terminating StepId=\d+\.0\nsrun: Job step aborted: Waiting up to \d+ seconds for job step to finish\.\n",
                     said.err), said.err
    assert "DUE to SIGNAL Killed ***" in said.err and re.search(r"srun: error: n\d: tasks 0,2: Killed", said.err)


def test_labels_stand_in_files_of_tasks_too(cluster):
    cluster.run("srun -n2 -l -o lab.%t bash -c 'echo out; echo err >&2'").ok()
    assert [sorted(cluster.read(f"lab.{task}").splitlines()) for task in (0, 1)] == [["0: err", "0: out"], ["1: err", "1: out"]]


def test_an_input_file_that_is_not_there(cluster):
    said = cluster.run("srun -i nosuchfile cat")
    assert said.code == 1 and said.err == "srun: error: Could not open stdin file: No such file or directory\n", said
    wait_until(lambda: cluster.run("squeue -h").out == "", what="nothing to be left")
