"""From sbatch to the output file: what a user meets first."""

import re

from world import wait_until


def test_a_script_runs_and_its_output_is_in_the_submit_directory(cluster):
    cluster.write("hello.sh", """\
        #!/bin/bash
        #SBATCH --job-name=hello
        #SBATCH --nodes=1        # one machine
        #SBATCH --ntasks=1       #* 任务数
        echo "hello from $SLURM_JOB_NAME"
        pwd
        """)
    said = cluster.run("sbatch hello.sh").ok()
    match = re.fullmatch(r"Submitted batch job (\d+)\n", said.out)
    assert match and said.err == ""
    job = match[1]
    assert cluster.wait_end(job) == "COMPLETED"
    assert cluster.read(f"slurm-{job}.out") == f"hello from hello\n{cluster.home()}\n"


def test_the_script_is_stored_when_it_is_submitted(cluster):
    path = cluster.write("edit.sh", "#!/bin/sh\necho first\n")
    job = cluster.sbatch("--hold edit.sh")
    path.write_text("#!/bin/sh\necho second\n")
    cluster.run(f"scontrol release {job}").ok()
    assert cluster.wait_end(job) == "COMPLETED"
    assert cluster.read(f"slurm-{job}.out") == "first\n"
    assert cluster.run(f"scontrol write batch_script {job} -").out == "#!/bin/sh\necho first\n"


def test_standard_input_and_wrap_and_arguments(cluster):
    said = cluster.run("sbatch --parsable -o in.out -- ", input="#!/bin/sh\necho from stdin\n")
    said = cluster.run("sbatch --parsable -o in.out", input="#!/bin/sh\necho from stdin\n") if said.code else said
    assert cluster.wait_end(int(said.ok().out)) == "COMPLETED"
    assert cluster.read("in.out") == "from stdin\n"
    cluster.write("args.sh", '#!/bin/sh\necho "$# $1 $2"\n')
    job = cluster.sbatch("-o args.out args.sh one 'two words'")
    cluster.wait_end(job)
    assert cluster.read("args.out") == "2 one two words\n"
    job = cluster.wrap("exec echo wrapped", "-o wrap.out")
    cluster.wait_end(job)
    assert cluster.read("wrap.out") == "wrapped\n"


def test_directives(cluster):
    cluster.write("directives.sh", """\
        #!/bin/bash
        # A comment before.
        #SBATCH -J "two words" -c 2
        ##SBATCH --exclusive
        #SBATCH --mem=300   # megabytes

        #SBATCH --comment='a # b'
        #SBATCH -t 1:30
        echo running
        #SBATCH --job-name=too-late
        """)
    job = cluster.sbatch("--hold directives.sh")
    shown = cluster.show(job)
    assert shown["JobName"] == "two words"
    assert shown["CPUs/Task"] == "2"
    assert shown["Exclusive"] == "NO"
    assert shown["TimeLimit"] == "00:02:00" or shown["TimeLimit"] == "00:01:30"
    assert shown["Comment"] == "a # b"
    assert shown["MinMemoryNode"] == "300M"
    cluster.run(f"scancel {job}").ok()


def test_command_line_beats_environment_beats_directive(cluster):
    cluster.write("order.sh", "#!/bin/sh\n#SBATCH -p debug\n#SBATCH -J directive\n#SBATCH --comment=directive\ntrue\n")
    job = cluster.sbatch("--hold -J option order.sh", env={"SBATCH_PARTITION": "gpu", "SBATCH_JOB_NAME": "environment"})
    shown = cluster.show(job)
    assert (shown["JobName"], shown["Partition"], shown["Comment"]) == ("option", "gpu", "directive")
    cluster.run(f"scancel {job}")


def test_output_patterns(cluster):
    me = cluster.me() or "root"
    job = cluster.wrap("echo out; echo err >&2", "-J pat -o o-%x-%j-%N-%u-%5j.out -e e-%A-%%.err")
    assert cluster.wait_end(job) == "COMPLETED"
    node = cluster.show(job)["BatchHost"]
    assert cluster.read(f"o-pat-{job}-{node}-{me}-{job:05d}.out") == "out\n"
    assert cluster.read(f"e-{job}-%.err") == "err\n"


def test_open_mode_and_working_directory(cluster):
    cluster.write("sub/keep.out", "before\n")
    job = cluster.wrap("pwd", "-D sub -o keep.out --open-mode=append")
    cluster.wait_end(job)
    assert cluster.read("sub/keep.out") == f"before\n{cluster.home()}/sub\n"
    job = cluster.wrap("echo new", "-D sub -o keep.out --open-mode=truncate")
    cluster.wait_end(job)
    assert cluster.read("sub/keep.out") == "new\n"


def test_export(cluster):
    job = cluster.wrap('echo "[$A] [$B] [$HOME]"', "-o ex1 --export=ALL,A=1", env={"B": "2"})
    cluster.wait_end(job)
    assert cluster.read("ex1") == f"[1] [2] [{cluster.home()}]\n"
    job = cluster.wrap('echo "[$A] [$B]"', "-o ex2 --export=NONE", env={"B": "2"})
    cluster.wait_end(job)
    assert cluster.read("ex2") == "[] []\n"
    job = cluster.wrap('echo "[$A] [$B]"', "-o ex3 --export=A=x", env={"B": "2"})
    cluster.wait_end(job)
    assert cluster.read("ex3") == "[x] []\n"


def test_wait_gives_the_exit_code(cluster):
    assert cluster.run("sbatch --wait --wrap 'exit 5'").code == 5
    assert cluster.run("sbatch --wait --wrap true").code == 0
    assert cluster.run("sbatch --wait --array=1-3 --wrap 'exit $SLURM_ARRAY_TASK_ID'").code == 3


def test_test_only_queues_nothing(cluster):
    before = cluster.run("squeue -h -t all -o %A").out
    said = cluster.run("sbatch --test-only -n2 --wrap true")
    assert said.code == 0
    assert re.search(r"sbatch: Job \d+ to start at \S+ a? ?using 2 processors on nodes n\d in partition debug", said.err)
    assert cluster.run("squeue -h -t all -o %A").out == before


def test_begin_and_hold_reasons(cluster):
    later = cluster.wrap("true", "--begin=now+1hour")
    held = cluster.wrap("true", "-H")
    wait_until(lambda: cluster.show(later)["Reason"] == "BeginTime", what="BeginTime")
    assert cluster.show(held)["Reason"] == "JobHeldUser"
    cluster.run(f"scontrol update jobid={later} starttime=now").ok()
    assert cluster.wait_end(later) == "COMPLETED"
    cluster.run(f"scontrol release {held}").ok()
    assert cluster.wait_end(held) == "COMPLETED"


def test_a_missing_output_folder_fails_the_job_and_says_so(cluster):
    assert cluster.run("sbatch --wait -o /nonexistent/x.out --wrap pwd").code == 1


def test_mail(cluster):
    job = cluster.wrap("exit 3", "-J post --mail-type=ALL --mail-user=someone")
    assert cluster.wait_end(job) == "FAILED"
    log = cluster.dir / "mail.log"
    wait_until(lambda: log.exists() and "Failed" in log.read_text(), what="the mails")
    lines = log.read_text().splitlines()
    assert re.fullmatch(rf"Slurm Job_id={job} Name=post Began, Queued time \d\d:\d\d:\d\d\|someone\|{job}", lines[0])
    assert re.fullmatch(
        rf"Slurm Job_id={job} Name=post Failed, Run time \d\d:\d\d:\d\d, FAILED, ExitCode 3\|someone\|{job}", lines[-1])


def test_sixteen_tasks_and_a_card(cluster):
    cluster.write("cards.sh", """\
        #!/bin/bash
        ### 作业名
        #SBATCH --job-name=cards
        #SBATCH --nodes=1
        #SBATCH --ntasks=6
        #SBATCH --partition=gpu
        #SBATCH --gres=gpu:1
        echo $CUDA_VISIBLE_DEVICES
        echo $SLURM_NTASKS $SLURM_JOB_PARTITION $SLURM_CPUS_ON_NODE
        """)
    job = cluster.sbatch("-o cards.out cards.sh")
    assert cluster.wait_end(job) == "COMPLETED"
    assert cluster.read("cards.out") == "0\n6 gpu 6\n"
