"""Nextflow with its slurm executor: processes as jobs, one that is tried again, and an interrupt that cancels what runs."""

import re
import signal
import subprocess

import pytest

from world import wait_until

# What Nextflow's launcher gives the virtual machine, for it reaches into classes of Java's own.
OPENED = ("java.lang", "java.io", "java.nio", "java.nio.file.spi", "java.net", "java.util", "java.util.concurrent.locks",
          "java.util.concurrent.atomic", "java.util.regex", "sun.nio.ch", "sun.nio.fs", "sun.net.www.protocol.http",
          "sun.net.www.protocol.https", "jdk.internal.misc", "jdk.internal.vm")

CONFIG = """\
    process { executor = 'slurm'; queue = 'debug'; cpus = 1; memory = '100 MB'; time = '10 min' }
    executor { pollInterval = '500 ms'; queueStatInterval = '1 sec'; dumpInterval = '1 min' }
"""

FLOW = """\
    process make {
        input: val n
        output: path 'part.txt'
        script: "echo $n > part.txt"
    }
    process twice {
        cpus 2
        clusterOptions '--comment=doubled'
        errorStrategy 'retry'
        maxRetries 1
        input: path part
        output: path 'twice.txt'
        script:
        if (task.attempt == 1) "exit 9"
        else "echo \\$(( 2 * \\$(cat $part) )) on \\$SLURM_CPUS_ON_NODE > twice.txt"
    }
    workflow { Channel.of(3, 4) | make | twice | view { 'got ' + it.text.trim() } }
"""

LONG = """\
    process wait_for_ever { script: "sleep 600" }
    workflow { wait_for_ever() }
"""


@pytest.fixture
def command(cluster, nextflow):
    """Nextflow's command line."""
    opened = " ".join(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in OPENED)
    cluster.write("flow/nextflow.config", CONFIG)
    return (f"env NXF_HOME={cluster.home()}/nxf NXF_OFFLINE=true java -Xmx256m {opened} -cp '{nextflow}/jars/*' "
            "nextflow.cli.Launcher run main.nf -ansi-log false")


def test_processes_run_as_jobs_and_one_is_tried_again(cluster, command):
    cluster.write("flow/main.nf", FLOW)
    said = cluster.run(command, cwd=cluster.home() / "flow", timeout=300).ok()
    assert {"got 6 on 2", "got 8 on 2"} <= set(said.out.splitlines()), repr(said)
    assert said.out.count("Execution is retried") == 2, repr(said)
    states = cluster.run("sacct -X -n -P --format=JobName,State,Comment").ok().out.splitlines()
    names = sorted(re.sub(r"_\(\d\)", "", row) for row in states)
    assert names == ["nf-make|COMPLETED|"] * 2 + ["nf-twice|COMPLETED|doubled"] * 2 + ["nf-twice|FAILED|doubled"] * 2, states


def test_an_interrupt_cancels_what_runs(cluster, command):
    cluster.write("flow/main.nf", LONG)
    running = cluster.popen(command, cwd=cluster.home() / "flow", stdout=subprocess.DEVNULL)
    wait_until(lambda: cluster.run("squeue -h -t R -n nf-wait_for_ever -o %i").out.strip(), 120, "the job to run")
    running.send_signal(signal.SIGINT)
    wait_until(lambda: "CANCELLED" in cluster.run("sacct -X -n -P --name=nf-wait_for_ever --format=State").out, 120, "its end")
    running.wait(60)
