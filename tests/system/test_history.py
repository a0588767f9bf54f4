"""What became of jobs, and what they used: sacct, sstat, seff, sdiag and their like."""

import json
import pathlib
import re
import signal
import sqlite3

import pytest

from cluster import kill
from golden import GOLDEN, Expected
from world import is_root, wait_until


def kib(text):
    """"3000K" or "3M", as sacct prints what divides evenly."""
    return float(text[:-1]) * {"K": 1, "M": 1024, "G": 1024 * 1024}[text[-1]]


def table(cluster, command, user="alice", **options):
    """The rows of a command with -P, as dictionaries."""
    lines = cluster.run(command, user=user, **options).ok().out.splitlines()
    names = lines[0].split("|")
    return [dict(zip(names, line.split("|"))) for line in lines[1:]]


def rows(cluster, job, fields="ALL", options=""):
    return {row["JobID"]: row for row in table(cluster, f"sacct -P -j {job} {options} -o JobID,{fields}")}


@pytest.fixture(scope="module")
def worked(cluster):
    """A job that is over, of a script and a step of two tasks that used something."""
    cluster.write("work.py", """\
        import sys, time
        held = bytearray(30_000_000)
        end = time.process_time() + 0.2
        while time.process_time() < end:
            pass
        sys.stdout.write("x" * 5000)
        while not __import__("os").path.exists("seen"):
            time.sleep(0.05)
        """)
    cluster.write("job.sh", """\
        #!/bin/bash
        #SBATCH -J worked -n 2 -o worked.out
        srun -n 2 python3 work.py
        srun -n 1 sh -c 'exit 4'
        exit 3
        """)
    job = cluster.sbatch("job.sh")
    return job


def finish(cluster, job):
    """Lets the job that worked end, whichever test comes first."""
    cluster.write("seen", "")
    assert cluster.wait_end(job) == "FAILED"


def test_a_running_step_is_measured_when_sstat_asks(cluster, worked):
    def used():
        said = cluster.run(f"sstat -P -a -j {worked} -o JobID,MaxRSS,MaxRSSNode,NTasks,AveCPU,TRESUsageInTot")
        found = {line.split("|")[0]: line.split("|") for line in said.out.splitlines()[1:]}
        step = found.get(f"{worked}.0")
        big = step and step[1].endswith("K") and int(step[1][:-1]) > 29_000
        return found if big else None

    found = wait_until(used, 60, "tasks that hold their memory")
    assert set(found) == {f"{worked}.batch", f"{worked}.0"}
    assert found[f"{worked}.0"][3] == "2"
    assert "mem=" in found[f"{worked}.0"][5] and "cpu=" in found[f"{worked}.0"][5]
    only = cluster.run(f"sstat -n -P -j {worked} -o JobID").ok()
    assert only.out == f"{worked}.0\n"
    pids = cluster.run(f"sstat -n -P -i -j {worked}.batch").ok()
    assert re.fullmatch(rf"{worked}\.batch\|n\d\|[\d,]+\n", pids.out)
    finish(cluster, worked)


def test_the_steps_of_a_job_are_kept_with_what_they_used(cluster, worked):
    finish(cluster, worked)
    found = rows(cluster, worked, "JobName,State,ExitCode,DerivedExitCode,NTasks,MaxRSS,MaxRSSNode,MaxRSSTask,AveRSS,"
                                  "TotalCPU,AveCPU,MaxVMSize,MaxDiskRead,AllocTRES,ReqTRES,User,Partition,SubmitLine")
    assert list(found) == [f"{worked}", f"{worked}.batch", f"{worked}.0", f"{worked}.1"]
    job, batch, first, second = found.values()
    assert (job["JobName"], job["State"], job["ExitCode"], job["DerivedExitCode"]) == ("worked", "FAILED", "3:0", "4:0")
    assert job["AllocTRES"] == "billing=2,cpu=2,mem=200M,node=1" == job["ReqTRES"]
    assert (batch["JobName"], batch["ExitCode"], batch["NTasks"]) == ("batch", "3:0", "1")
    assert (first["State"], first["ExitCode"], first["NTasks"]) == ("COMPLETED", "0:0", "2")
    assert (second["State"], second["ExitCode"]) == ("FAILED", "4:0")
    assert first["AllocTRES"] == "cpu=2,mem=200M,node=1"
    assert (first["User"], first["Partition"]) == ("", "")
    assert first["SubmitLine"] == "srun -n 2 python3 work.py"
    assert kib(first["MaxRSS"]) > 29_000 and first["MaxRSSNode"] and first["MaxRSSTask"] in "01"
    # Two tasks of a fifth of a second each.
    assert re.fullmatch(r"00:00\.[4-9]\d\d|00:\d\d[:.]\d+", first["TotalCPU"]), first["TotalCPU"]
    assert re.fullmatch(r"[\d.]+[KM]", first["MaxVMSize"]) and re.fullmatch(r"\d+\.\d\dM", first["MaxDiskRead"])


def tells_frequencies():
    """Whether this host says how fast its processors run."""
    info = pathlib.Path("/proc/cpuinfo").read_text()
    return "cpu MHz" in info or pathlib.Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq").exists()


@pytest.mark.skipif(not tells_frequencies(), reason="this host does not tell how fast its processors run")
def test_how_fast_the_processors_of_a_step_ran(cluster, worked):
    finish(cluster, worked)
    found = rows(cluster, worked, "AveCPUFreq,ReqCPUFreqMin,ReqCPUFreqGov,TRESUsageInAve")
    job, batch, first, _ = found.values()
    assert job["AveCPUFreq"] == "" and batch["ReqCPUFreqMin"] == "0" and first["ReqCPUFreqGov"] == "Unknown"
    for step in (batch, first):
        assert re.fullmatch(r"[\d.]+M", step["AveCPUFreq"]) and 0.1 < float(step["AveCPUFreq"][:-1]) < 10, step
        assert "frequency" not in step["TRESUsageInAve"]
    steps = json.loads(cluster.run(f"sacct -j {worked} --json").ok().out)["jobs"][0]["steps"]
    assert 100_000 < steps[1]["statistics"]["CPU"]["actual_frequency"] < 10_000_000
    assert "frequency" not in {t["type"] for t in steps[1]["tres"]["requested"]["max"]}


def test_seff_says_how_well_it_was_used(cluster, worked):
    finish(cluster, worked)
    said = cluster.run(f"seff {worked}").ok().out
    assert re.match(rf"Job ID: {worked}\nCluster: {cluster.name}\nUser/Group: \S+/\S+\n"
                    r"State: FAILED \(exit code 3\)\nNodes: 1\nCores per node: 2\nCPU Utilized: \d\d:\d\d:\d\d\n"
                    r"CPU Efficiency: \d+\.\d\d% of \S+ core-walltime\nJob Wall-clock time: \d\d:\d\d:\d\d\n"
                    r"Memory Utilized: \d+\.\d\d MB \(estimated maximum\)\n"
                    r"Memory Efficiency: \d+\.\d\d% of 200\.00 MB \(100\.00 MB/core\)\n$", said), said
    unknown = cluster.run("seff 999999")
    assert (unknown.out, unknown.code) == ("Job not found.\n", 1)


def test_columns_widths_and_bars(cluster, worked):
    finish(cluster, worked)
    said = cluster.run(f"sacct -X -j {worked} -o jobid,state%4,nodelist%-8,exitcode").ok()
    lines = said.out.splitlines()
    assert lines[0] == "JobID        Stat NodeList ExitCode "
    assert lines[1] == "------------ ---- -------- -------- "
    assert re.fullmatch(rf"{worked:<12} FAI\+ n\d       {'3:0':>8} ", lines[2])
    assert cluster.run(f"sacct -nXp -j {worked} -o jobid,exitcode").out == f"{worked}|3:0|\n"
    assert cluster.run(f"sacct -nXP --delimiter=, -j {worked} -o jobid,exitcode").out == f"{worked},3:0\n"
    assert cluster.run(f"sacct -n -P -j {worked}.batch -o jobid").out == f"{worked}.batch\n"
    assert cluster.run(f"sacct -nXP -j {worked} -o reqmem --units=K").out == "204800K\n"
    named = cluster.run(f"sacct -nXP -j {worked} -o jobid", env={"SACCT_FORMAT": "user"})
    assert named.out == f"{worked}\n"
    unknown = cluster.run("sacct -o jobid,nosuch")
    assert (unknown.code, unknown.err) == (1, 'sacct: error: Invalid field requested: "nosuch"\n')
    fields = cluster.run("sacct --helpformat").ok().out.split()
    assert len(fields) > 110 and {"MaxRSS", "TRESUsageInMaxNode", "PlannedCPURAW", "StdOut"} <= set(fields)


def test_bad_times_states_users_and_ids_are_refused(cluster):
    for options, words in (("-S yesteryear", "Invalid time specification"), ("-s XX", "unrecognized job state value"),
                           ("-u nosuchuser", "Invalid user id: nosuchuser"), ("-j abc", "Bad job/step specified: abc"),
                           ("--units=X", "Invalid unit type"), ("-i few", "Invalid node count"),
                           ("-B", "needs -j/--jobs"), ("-c", "no job completion log"),
                           ("-S now -E now-1hour", "requested is after End time")):
        said = cluster.run(f"sacct {options}")
        assert said.code == 1 and words in said.err and said.out == "", (options, said)


def test_states_and_times_choose_jobs(cluster):
    mark = cluster.run("date +%Y-%m-%dT%H:%M:%S").out.strip()
    good = cluster.wrap("true", "-J choose")
    bad = cluster.wrap("exit 1", "-J choose")
    running = cluster.wrap("sleep 300", "-J choose")
    held = cluster.wrap("true", "-H -J choose")
    cluster.wait_end(good), cluster.wait_end(bad)
    cluster.wait_state(running, "RUNNING")

    def chosen(options):
        return [int(line) for line in cluster.run(f"sacct -nXP --name choose -o jobid {options}").ok().out.split()]

    wait_until(lambda: chosen(f"-S {mark} -E now+1hour -s CD,F") == [good, bad], what="both ends in the store")
    assert chosen(f"-S {mark} -E now+1hour -s F") == [bad]
    assert chosen("-s R") == [running]
    assert chosen(f"-S {mark}") == [good, bad, running]  # What is held is no job of today yet.
    assert chosen(f"-j {held}") == [held]
    assert chosen("-S now+1hour -E now+2hours") == [running]
    assert chosen("-S 1970-01-01-00:00:01 -E 1970-01-02") == []
    assert chosen(f"-S {mark} -i 1 -I 1 -r debug -k UNLIMITED") == [good, bad, running]
    assert chosen(f"-S {mark} -I 2-8") == []
    cluster.run("scancel -n choose").ok()
    assert cluster.wait_end(running) == "CANCELLED"
    uid = cluster.run("id -u").out.strip()
    found = rows(cluster, held, "State,Start,NodeList,Elapsed")[str(held)]
    assert (found["State"], found["Start"], found["NodeList"]) == (f"CANCELLED by {uid}", "None", "None assigned")


def test_earlier_runs_of_a_requeued_job_stay(cluster):
    job = cluster.wrap("[ $SLURM_RESTART_COUNT ] && exit 0; sleep 300", "--requeue")
    cluster.wait_state(job, "RUNNING")
    wait_until(lambda: f"{job}.batch" in rows(cluster, job), what="the batch step")
    cluster.run(f"scontrol requeue {job}").ok()
    wait_until(lambda: cluster.state(job) == "COMPLETED", 60, "the second run")
    assert [r["State"] for r in table(cluster, f"sacct -XP -j {job}")] == ["COMPLETED"]
    both = table(cluster, f"sacct -DP -j {job} -o JobID,State,Restarts")
    assert [(r["JobID"], r["State"], r["Restarts"]) for r in both] == [
        (f"{job}", "REQUEUED", "0"), (f"{job}.batch", "CANCELLED", ""),
        (f"{job}", "COMPLETED", "1"), (f"{job}.batch", "COMPLETED", "")]


def test_an_array_is_listed_by_its_elements(cluster):
    job = cluster.wrap("sleep 300", "-a 1-6%2 -J arr")
    wait_until(lambda: len([i for i in rows(cluster, job) if "." not in i and "[" not in i]) == 2, what="two elements")
    ids = [i for i in rows(cluster, job, options="-X")]
    assert ids == [f"{job}_1", f"{job}_2", f"{job}_[3-6%2]"]
    each = cluster.run(f"sacct -nXP --array -j {job} -o jobid").ok().out.split()
    assert each == [f"{job}_{i}" for i in range(1, 7)]
    assert cluster.run(f"sacct -nXP -j {job}_2 -o jobid").out.split() == [f"{job}_2"]
    cluster.run(f"scancel {job}").ok()
    wait_until(lambda: all(r["State"].startswith("CANCELLED") for r in rows(cluster, job, "State", "-X").values()),
               what="the array to end")


def test_the_last_element_is_listed_behind_the_others(cluster):
    job = cluster.wrap("true", "-a 1-3%1 -J inorder")
    after = cluster.wrap("true", f"-J inorder -d afterany:{job}")
    assert cluster.wait_end(after) == "COMPLETED"
    later = cluster.wrap("true", "-J inorder")
    assert cluster.wait_end(later) == "COMPLETED"

    def listed():
        found = table(cluster, "sacct -XP --name inorder -o JobID,JobIDRaw,State")
        return [(r["JobID"], r["JobIDRaw"]) for r in found if r["State"] == "COMPLETED"]

    wait_until(lambda: len(listed()) == 5, what="all of them in the store")
    found = listed()
    assert [i for i, _ in found if "_" in i] == [f"{job}_{n}" for n in (1, 2, 3)]
    assert (f"{job}_3", f"{job}") in found and found[-1] == (f"{later}", f"{later}")


def test_history_survives_restarts_and_can_be_purged(make_cluster):
    cluster = make_cluster(names=["n1"], extra="AccountingStoreFlags=job_script\nMinJobAge=2\nJobAcctGatherFrequency=1\n")
    job = cluster.wrap("while [ ! -e go ]; do sleep 0.05; done", "-J stays")
    wait_until(lambda: re.search(r"\d", cluster.run(f"sstat -nP -a -j {job} -o MaxRSS").out), what="a first look")
    kill(cluster.controller, signal.SIGKILL)
    kill(cluster.agents["n1"], signal.SIGKILL)
    cluster.start_agent("n1")
    cluster.start_controller()
    cluster.wait_ready()
    cluster.write("go", "")
    wait_until(lambda: rows(cluster, job, "State")[str(job)]["State"] == "COMPLETED", what="the job to end")
    assert re.fullmatch(r"[\d.]+[KM]", rows(cluster, job, "MaxRSS")[f"{job}.batch"]["MaxRSS"])
    if tells_frequencies():
        assert re.fullmatch(r"[\d.]+M", rows(cluster, job, "AveCPUFreq")[f"{job}.batch"]["AveCPUFreq"])
    # Long gone from memory, its script is still there, its environment not.
    wait_until(lambda: cluster.state(job) is None or "squeue" in cluster.run(f"squeue -j {job}").err or
               cluster.run("squeue -h -t all").out == "", what="the controller to forget it")
    script = cluster.run(f"sacct -B -j {job}").ok().out
    assert script.startswith(f"Batch Script for {job}\n" + "-" * 80 + "\n#!/bin/sh\n") and "-e go" in script
    wait_until(lambda: cluster.run(f"sacct --env-vars -j {job}").out.endswith("NONE\n"), what="the environment to go")
    if is_root():
        other = cluster.run(f"sacct -B -j {job}", user="bob").ok().out
        assert other.endswith("NONE\n")
    text = cluster.conf.read_text()
    cluster.conf.write_text(text + "PurgeJobAfter=1hour\n")
    cluster.run("scontrol reconfigure", user=None).ok()
    assert rows(cluster, job)  # An hour has not passed.
    said = cluster.run("scontrol show config", user=None).ok().out
    assert re.search(r"JobAcctGatherFrequency\s+= 1\b", said) and re.search(r"AccountingStoreFlags\s+= job_script", said)


def test_sdiag_counts(cluster):
    job = cluster.wrap("true")
    cluster.wait_end(job)
    text = cluster.run("sdiag").ok().out
    for line in (r"^Server thread count:  1$", r"^Agent queue size:     0$", r"^DBD Agent queue size: 0$",
                 r"^Jobs submitted: [1-9]\d*$", r"^Jobs started:   [1-9]\d*$", r"^\tLast cycle:   \d+$",
                 r"^\tMean cycle:   \d+$", r"^\tCycles per minute: \d+$", r"^\tDepth Mean: \d+$",
                 r"^\tTotal backfilled jobs \(since last slurm start\): \d+$",
                 r"^\tREQUEST_SUBMIT_BATCH_JOB +\( 4003\) count:\d+ +ave_time:\d+ +total_time:\d+$"):
        assert re.search(line, text, re.M), (line, text)
    document = json.loads(cluster.run("sdiag --json").ok().out)
    figures = document["statistics"]
    assert figures["jobs_submitted"] >= 1 and figures["rpcs_by_message_type"][0]["count"] >= 1
    assert document["errors"] == [] and "meta" in document
    if is_root():
        refused = cluster.run("sdiag -r", user="alice")
        assert refused.code == 1
    cluster.run("sdiag -r", user=None).ok()
    assert json.loads(cluster.run("sdiag --json").ok().out)["statistics"]["jobs_submitted"] == 0


def test_what_there_is_not_is_said(cluster):
    assert cluster.run("sacctmgr -n show assoc format=User,Account,GrpCPU,GrpMem,GrpJobs,GrpSubmit --parsable2").ok().out == ""
    assert cluster.run("sacctmgr -nP show users withassoc format=account,qos where user=alice").ok().out == ""
    assert cluster.run("sacctmgr -P show user").ok().out == "User|Def Acct|Admin\n"
    tres = cluster.run("sacctmgr -nP list tres").ok().out
    assert "cpu||1\n" in tres and "gres|gpu|" in tres
    assert cluster.run("sacctmgr -nP show cluster format=cluster").ok().out == f"{cluster.name}\n"
    refused = cluster.run("sacctmgr -i add account x", user=None)
    assert refused.code == 1 and "none can be made" in refused.err
    assert cluster.run("sshare -n -P -o account,fairshare").ok().out == ""
    held = cluster.wrap("true", "-H")
    waiting = cluster.wrap("true", "-p closed")
    listed = cluster.run("sprio").ok().out
    assert re.search(rf"^ +{waiting} closed +[1-9]\d* +0$", listed, re.M) and str(held) not in listed.split()
    cluster.run(f"scancel {held} {waiting}").ok()


def test_lists_that_help_prints(cluster):
    """Letters and names in the columns of 26.05."""
    def lines(command):
        return cluster.run(command).ok().out.splitlines()

    assert lines("sacct --helpstate")[1] == "CANCELLED           FAILED              TIMEOUT             NODE_FAIL          "
    reasons = lines("sacct --helpreason")
    assert reasons[0] == f"{'None':39} {'Priority':39}" and len(reasons) > 15
    assert lines("squeue --helpformat")[0] == "%a    %F    %K    %B    %o    %k    %O    %I    "
    assert lines("squeue --helpFormat")[-1] == f"{'Wait4Switch':20}{'WCKey':20}{'WorkDir':20}"
    assert lines("sinfo --helpformat")[-1] == "%u    %U    %v    %w    "
    assert lines("sinfo --helpstate")[:3] == ["unknown", "down", "idle"]
    assert lines("sprio --helpformat")[2:] == ["%S    %q    %Q    %s    %u    %y    %Y    %t    ", "%T    "]
    assert lines("sshare --helpformat")[1] == f"{'GrpTRESMins':17} {'GrpTRESRaw':17} {'ID':17} {'LevelFS':17}"
    assert lines("sacct -e")[-1] == f"{'WCKey':19} {'WCKeyID':19} {'WorkDir':19}"
    said = cluster.run("sacct -o ReqGRES")
    assert (said.code, said.err) == (1, "sacct: fatal: ReqGRES has been removed, please use ReqTRES\n")


def test_priorities_without_factors(cluster):
    """As Slurm lists them when no factor has a weight."""
    waiting = cluster.wrap("true", "-p closed")
    head = "          JOBID PARTITION"
    assert cluster.run("sprio -n").ok().out.splitlines()[0] == f"{head} PRIORITY  "
    assert cluster.run("sprio -w").ok().out == f"{head}   PRIORITY       SITE\n        Weights{' ' * 31}1\n"
    said = cluster.run(f"sprio -u {cluster.me()}").ok().out.splitlines()
    assert said[0] == f"{head}     USER   PRIORITY       SITE" and any(f" {waiting} closed " in line for line in said[1:])
    said = cluster.run("sprio -l -n").ok().out.splitlines()
    assert said[0].split() == "JOBID PARTITION USER ACCOUNT PRIORITY AGE ASSOC FAIRSHARE JOBSIZE PARTITION QOSNAME QOS TRES".split()
    said = cluster.run("sprio -u nosuchuser -h")
    assert (said.code, said.out, said.err) == (0, "", "sprio: error: Invalid user: nosuchuser\n\n")
    cluster.run("sprio -S '!'").ok()
    sluid = cluster.run(f"squeue -h -j {waiting} -O SLUID:").ok().out
    assert cluster.run(f"sacct -n -X -P -j {waiting} -o Flags,OriginalSLUID,Exclusive,OverSubscribe,SegmentSize").ok().out == \
        f"StartReceived|{sluid.strip()}|NO|NO|\n"
    assert cluster.run(f"sprio -h -j {waiting} -o %s").ok().out == sluid
    cluster.run(f"scancel {waiting}").ok()


def test_json_has_what_programs_read(cluster, worked):
    finish(cluster, worked)
    document = json.loads(cluster.run(f"sacct -j {worked} --json").ok().out)
    job = document["jobs"][0]
    assert job["job_id"] == worked and job["state"]["current"] == ["FAILED"]
    assert [s["step"]["id"] for s in job["steps"]] == [f"{worked}.batch", f"{worked}.0", f"{worked}.1"]
    assert job["exit_code"]["return_code"]["number"] == 3
    measured = {t["type"] for t in job["steps"][1]["tres"]["requested"]["max"]}
    assert {"cpu", "mem", "vmem"} <= measured
    yaml = cluster.run(f"sacct -j {worked} --yaml").ok().out
    assert "jobs:" in yaml and "steps:" in yaml


@pytest.mark.skipif(not GOLDEN.is_dir(), reason="no golden files beside the checkout")
def test_what_has_no_accounts_has_the_same_headings(cluster):
    for name in ("sacctmgr-show-assoc", "sacctmgr-show-qos", "sacctmgr-show-account", "sacctmgr-show-user", "sshare-l"):
        expected = Expected(GOLDEN / "busy" / f"{name}.txt")
        assert cluster.run(expected.command).ok().out.splitlines()[0] == expected.out.splitlines()[0], name


@pytest.mark.skipif(not GOLDEN.is_dir(), reason="no golden files beside the checkout")
def test_a_job_that_never_was(cluster):
    unknown = Expected(GOLDEN / "errors" / "sacct-unknown-job.txt")
    said = cluster.run(unknown.command)
    assert (said.out, said.err, said.code) == (unknown.out, unknown.err, unknown.code)


COMPARES = {"busy/sshare-l", "errors/sacct-unknown-job"}


def test_what_ended_long_ago_is_forgotten_by_policy(make_cluster):
    """The clock is not waited for: two jobs' ends are put back in the store while nobody has it open."""
    cluster = make_cluster(names=["n1"], extra="MinJobAge=2\nAccountingStoreFlags=job_script\n")
    jobs = [cluster.wrap("srun true", f"-J kept{i}") for i in range(3)]
    for job in jobs:
        assert cluster.wait_end(job) == "COMPLETED"
    old, middle, young = jobs
    everything = {f"{job}{part}" for job in jobs for part in ("", ".batch", ".0")}
    wait_until(lambda: set(rows(cluster, ",".join(map(str, jobs)))) == everything, what="all to be in the store")
    kill(cluster.controller, signal.SIGTERM)
    with sqlite3.connect(cluster.dir / "state" / "switchyard.db") as database:
        for job, days in ((old, 40), (middle, 2)):
            database.execute("UPDATE jobs SET end_time = end_time - ? WHERE id = ?", (days * 86400, job))
    database.close()
    cluster.conf.write_text(cluster.conf.read_text() + "PurgeStepAfter=24hours\nPurgeJobAfter=30days\n")
    cluster.start_controller()
    cluster.wait_ready()
    wait_until(lambda: set(rows(cluster, ",".join(map(str, jobs)))) ==
               {f"{middle}", f"{young}", f"{young}.batch", f"{young}.0"}, what="the old to be forgotten")
    assert "srun true" in cluster.run(f"sacct -B -j {middle}").ok().out
    assert "srun true" not in cluster.run(f"sacct -B -j {old}").ok().out
    assert "Invalid job id" in cluster.run(f"scontrol show job {old}").err


def test_all_components_of_a_heterogeneous_job(cluster):
    job = cluster.sbatch("-J het -n1 : -n2 --wrap 'srun --het-group=0,1 true'")
    assert cluster.wait_end(job) == "COMPLETED"

    def listed(which, options=""):
        return [r["JobID"] for r in table(cluster, f"sacct -P -j {which} {options}") if r["State"] == "COMPLETED"]

    first, second = [f"{job}+0", f"{job}+0.batch", f"{job}+0.0"], [f"{job}+1", f"{job}+1.0"]
    wait_until(lambda: listed(job) == first + second, what="both components in the store")
    assert listed(f"{job}+1") == second
    assert listed(f"{job}+1", "--whole-hetjob") == first + second
    assert listed(job, "--whole-hetjob=no") == first
    raw = table(cluster, f"sacct -XP -j {job} -o JobID,JobIDRaw,NCPUS")
    assert [(r["JobIDRaw"], r["NCPUS"]) for r in raw] == [(f"{job}", "1"), (f"{job + 1}", "2")]
    assert cluster.run(f"sacct --whole-hetjob=maybe -j {job}").code == 1
    document = json.loads(cluster.run(f"sacct --json -j {job}").ok().out)
    assert [(j["het"]["job_id"], j["het"]["job_offset"]["number"]) for j in document["jobs"]] == [(job, 0), (job, 1)]
