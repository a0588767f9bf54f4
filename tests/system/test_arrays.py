"""Job arrays and dependencies."""

import re

from world import wait_until


def test_array_elements_run_and_name_their_files(cluster):
    job = cluster.wrap("echo $SLURM_ARRAY_JOB_ID $SLURM_ARRAY_TASK_ID $SLURM_ARRAY_TASK_COUNT "
                       "$SLURM_ARRAY_TASK_MIN $SLURM_ARRAY_TASK_MAX", "--array=1-7:3 -o arr-%A_%a.out")
    for element in (1, 4, 7):
        assert cluster.wait_end(f"{job}_{element}") == "COMPLETED"
        assert cluster.read(f"arr-{job}_{element}.out") == f"{job} {element} 3 1 7\n"


def test_throttle_and_pending_block(cluster):
    job = cluster.wrap("sleep 300", "--array=1-8%2")
    wait_until(lambda: cluster.run(f"squeue -h -j {job} -t R -o %i").out.split() == [f"{job}_1", f"{job}_2"], what="two to run")
    wait_until(lambda: cluster.run(f"squeue -h -j {job} -t PD -o '%i %r'").out ==
               f"{job}_[3-8%2] JobArrayTaskLimit\n", what="the block")
    cluster.run(f"scancel {job}_[4-5]").ok()
    assert cluster.run(f"squeue -h -j {job} -t PD -o %i").out == f"{job}_[3,6-8%2]\n"
    cluster.run(f"scancel {job}_1").ok()
    wait_until(lambda: f"{job}_3" in cluster.run(f"squeue -h -j {job} -t R -o %i").out, what="the next")
    cluster.run(f"scancel {job}").ok()
    wait_until(lambda: cluster.run(f"squeue -h -j {job},{job} -o %i").out == "", what="all gone")


def test_only_the_states(cluster):
    running = cluster.wrap("sleep 300", "--array=1-3%1 -J states")
    cluster.wait_state(f"{running}_1", "RUNNING")
    held = cluster.wrap("true", "-H -J states -N2")
    ask = "squeue -h -n states -o '%i %A %t %T %j %u %P %r'"
    wait_until(lambda: "JobArrayTaskLimit" in cluster.run(ask).out, what="the reason")
    whole = sorted(cluster.run(ask).ok().out.splitlines())
    assert len(whole) == 3 and sorted(cluster.run(f"{ask} --only-job-state").ok().out.splitlines()) == whole
    # What it runs on was not asked for, and not sent.
    assert cluster.run(f"squeue -h -j {running}_1 -o '<%N>' --only-job-state").out == "<>\n"
    assert cluster.run(f"squeue -h -t all -j {held} -o %t --only-job-state").out == "PD\n"
    cluster.run(f"scancel {running} {held}").ok()


def test_array_of_many_is_one_line(cluster):
    job = cluster.wrap("true", "-H --array=0-9999")
    assert cluster.run(f"squeue -h -j {job} -o %i").out == f"{job}_[0-9999]\n"
    assert len(cluster.run(f"squeue -h -r -j {job} -o %i").out.splitlines()) == 10000
    cluster.run(f"scancel {job}").ok()


def test_dependencies(cluster):
    good, bad = cluster.wrap("true", "-H"), cluster.wrap("exit 1", "-H")
    after_good = cluster.wrap("true", f"-d afterok:{good}")
    after_bad = cluster.wrap("true", f"-d afternotok:{bad}")
    never = cluster.wrap("true", f"-d afterok:{bad}")
    anyway = cluster.wrap("true", f"-d afterany:{good}:{bad}")
    wait_until(lambda: cluster.show(anyway)["Reason"] == "Dependency", what="Dependency")
    assert re.match(rf"afterok:{good}\(unfulfilled\)", cluster.show(after_good)["Dependency"])
    cluster.run(f"scontrol release {good} {bad}").ok()
    for job in (after_good, after_bad, anyway):
        assert cluster.wait_end(job) == "COMPLETED"
    wait_until(lambda: cluster.show(never)["Reason"] == "DependencyNeverSatisfied", what="never")
    cluster.run(f"scancel {never}")


def test_after_and_singleton(cluster):
    first = cluster.wrap("sleep 300", "-J one")
    cluster.wait_state(first, "RUNNING")
    started = cluster.wrap("true", f"-d after:{first}")
    assert cluster.wait_end(started) == "COMPLETED"
    alone = cluster.wrap("true", "-J one -d singleton")
    wait_until(lambda: cluster.show(alone)["Reason"] == "Dependency", what="singleton waits")
    cluster.run(f"scancel {first}").ok()
    assert cluster.wait_end(alone) == "COMPLETED"


def test_aftercorr(cluster):
    first = cluster.wrap("[ $SLURM_ARRAY_TASK_ID != 2 ]", "-H --array=1-3")
    second = cluster.wrap("true", f"--array=1-3 -d aftercorr:{first}")
    cluster.run(f"scontrol release {first}").ok()
    assert cluster.wait_end(f"{second}_1") == "COMPLETED"
    assert cluster.wait_end(f"{second}_3") == "COMPLETED"
    assert cluster.state(f"{second}_2") == "PENDING"
    cluster.run(f"scancel {second}")


def test_ranges_of_elements_are_cancelled_held_and_changed(cluster):
    job = cluster.wrap("true", "-H -a 1-9:2%4 -J ranges")

    def ids():
        return sorted(cluster.run("squeue -h -r -n ranges -o %K").ok().out.split())

    assert ids() == ["1", "3", "5", "7", "9"]
    cluster.run(f"scancel {job}_[1-3]").ok()
    assert ids() == ["5", "7", "9"]
    cluster.run(f"scontrol update JobId={job}_[5,7] TimeLimit=7").ok()
    limits = dict(line.split() for line in cluster.run("squeue -h -r -n ranges -o '%K %l'").ok().out.splitlines())
    assert limits["5"] == limits["7"] == "7:00" and limits["9"] != "7:00"
    cluster.run(f"scontrol release {job}_[7-9]").ok()
    wait_until(lambda: ids() == ["5"], what="two of them to run")
    cluster.run(f"scancel {job}_5").ok()
    assert ids() == []
    said = cluster.run(f"scancel {job}_[1-3]")
    assert said.code == 0 or "Job/step already completing or completed" in said.err
