"""Programs that cannot be installed here: their exact command lines, read by their own expressions."""

import re
import shutil

import pytest

from world import wait_until

NEXTFLOW_SCRIPT = """\
    #!/bin/bash
    #SBATCH -J nf-hello_(1)
    #SBATCH -o .command.log
    #SBATCH --no-requeue
    #SBATCH --signal B:USR2@30
    #SBATCH -c 1
    #SBATCH -t 00:10:00
    #SBATCH --mem 100M
    #SBATCH -p debug
    trap 'echo warned; exit 7' USR2
    echo begun
    while [ ! -e go ]; do sleep 0.05; done
    echo over
"""


def nextflow_states(cluster):
    said = cluster.run("squeue --noheader -o '%i %t' -t all -p debug -u alice").ok()
    return dict(line.split(" ") for line in said.out.splitlines())


def test_nextflow_submits_polls_and_cancels(cluster):
    cluster.write("nf/.command.run", NEXTFLOW_SCRIPT)
    said = cluster.run("sbatch .command.run", cwd=cluster.home() / "nf").ok()
    job = re.search(r"Submitted batch job (\d+)", said.out).group(1)
    wait_until(lambda: nextflow_states(cluster).get(job) == "R", 60, "R")
    only = cluster.run("squeue --noheader -o '%i %t' -t all -p debug -u alice --only-job-state").ok()
    assert f"{job} R" in only.out.splitlines()
    cluster.write("nf/go", "")
    wait_until(lambda: nextflow_states(cluster).get(job) == "CD", 60, "CD")
    assert cluster.read("nf/.command.log") == "begun\nover\n"
    array = cluster.run("sbatch --array 0-2 -o /dev/null --wrap 'sleep 600'").ok()
    first = re.search(r"Submitted batch job (\d+)", array.out).group(1)
    wait_until(lambda: {nextflow_states(cluster).get(f"{first}_{k}") for k in range(3)} == {"R"}, 60, "three elements")
    cluster.run(f"scancel {first}_0 {first}_1 {first}_2").ok()
    wait_until(lambda: {nextflow_states(cluster).get(f"{first}_{k}") for k in range(3)} == {"CA"}, 60, "three ends")


@pytest.fixture(scope="module")
def busy(cluster):
    """A running job, a waiting one and a finished one."""
    running = cluster.wrap("sleep 600", "-J busy --gres=gpu:1 -n 2")
    waiting = cluster.wrap("true", "-J waits --hold")
    over = cluster.wrap("true", "-J over")
    cluster.wait_state(running, "RUNNING")
    cluster.wait_end(over)
    yield running, waiting, over
    cluster.run(f"scancel {running} {waiting}")


# Command line, and the expression that every line of the answer must match.
LINES = [
    # The Prometheus exporter that reads text.
    ("squeue -a -r -h '-o %A|%a|%T|%C'", r" \d+\|\S+\|[A-Z_]+\|\d+"),
    ("squeue -a -r -h '-o %A|%u|%T|%C'", r" \d+\|\w+\|[A-Z_]+\|\d+"),
    ("squeue -a -r -h -o%P --states=PENDING", r"\w+"),
    ("squeue -h '-o %A,%T,%r' --states=all", r" \d+,[A-Z_]+,\w+"),
    ("sinfo -h '-o %C'", r" \d+/\d+/\d+/\d+"),
    ("sinfo -h '-o %D,%T'", r" \d+,[a-z]+"),
    ("sinfo -h -o%R,%C", r"\w+,\d+/\d+/\d+/\d+"),
    ("sinfo -h -N -O NodeList,AllocMem,Memory,CPUsState,StateLong", r"n\d +\d+ +\d+ +\d+/\d+/\d+/\d+ +\w+ *"),
    ("""sinfo -h '-o "%n %G"'""", r' "\S+ gpu:rtx4000:2\S*"'),
    ("sacct -a -X --format=Allocgres --state=RUNNING --noheader --parsable2", r"(gres[:/])?gpu\S*|"),
    ("sshare -n -P -o account,fairshare", r"[^|]*\|[^|]*"),
    # Open OnDemand.
    ("sinfo -aho %F/%C", r"\d+/\d+/\d+/\d+/\d+/\d+/\d+/\d+"),
    ("sinfo -ahNO nodehost:100,gres:512,gresused:512,statelong", r"\S+ +gpu:\S+ +gpu:\S+ +\w+ *"),
    ("scontrol show part -o", r"(\w+=\S* ?)+"),
    # SkyPilot and dstack.
    (r"""sinfo -h --Node -o "%N\x1f%t\x1f%G\x1f%c\x1f%m\x1f%P" """, r"n\d\\x1f\w+\\x1fgpu\S+\\x1f8\\x1f4000\\x1f\w+\*?"),
    (r"""squeue -h --states=running,completing -o "%i\x1f%j\x1f%u\x1f%N\x1f%b" """, r"\d+\\x1f\S+"),
    ("squeue --me -h -o %i --states RUNNING --name busy", r"\d+"),
    ("scontrol ping", r"Slurmctld\(primary\) at \S+ is UP"),
    ("scontrol show -o node", r"NodeName=n\d .*CPUEfctv=\d+ CPUTot=8 .*RealMemory=4000.*"),
    ("sinfo -h -o '%P'", r"\w+\*?"),
    # datatrove.
    ("squeue --me --format=%j --noheader", r"\w+"),
]


@pytest.mark.parametrize("command,expression", LINES)
def test_every_line_is_read_by_the_clients_expression(cluster, busy, command, expression):
    said = cluster.run(command).ok()
    assert said.err == ""
    for line in said.out.splitlines():
        assert re.fullmatch(expression, line), f"{command}: {line!r} is not {expression}"


SDIAG = [r"^Server thread", r"^Agent queue", r"^DBD Agent", r"^\s+Last cycle", r"^\s+Mean cycle", r"^\s+Cycles per",
         r"^\s+Depth Mean", r"^\s+Total backfilled jobs \(since last slurm start\)",
         r"^\s+Total backfilled jobs \(since last stats cycle start\)",
         r"^\s+Total backfilled heterogeneous job components"]


def test_sdiag_has_the_lines_that_exporters_look_for(cluster):
    text = cluster.run("sdiag", user=None).ok().out
    for expression in SDIAG:
        assert re.search(expression, text, re.M), f"{expression} in\n{text}"


def test_parsl_and_monarch_use_prefixes_of_options(cluster, busy):
    running, _, over = busy
    assert "RUNNING" in cluster.run(f"sacct -X --noheader --format=jobid,state --job '{running}'").ok().out
    assert "COMPLETED" in cluster.run(f"sacct -X --noheader --format=jobid,state --job '{over}'").ok().out
    assert str(running) in cluster.run(f"squeue --noheader --format='%i %t' --job '{running}'").ok().out


def test_jobstats_reads_what_sacct_says(cluster, busy):
    _, _, over = busy
    said = cluster.run("SLURM_TIME_FORMAT=%s sacct -P -X -o jobidraw,start,end,cluster,alloctres,admincomment,user,account,"
                       f"state,nnodes,ncpus,reqmem,qos,partition,timelimitraw,jobname -j {over}").ok()
    header, row = [line.split("|") for line in said.out.splitlines()]
    assert header[:3] == ["JobIDRaw", "Start", "End"] and header[-2:] == ["TimelimitRaw", "JobName"]
    fields = dict(zip(header, row))
    assert fields["JobIDRaw"] == str(over) and fields["Start"].isdigit() and fields["JobName"] == "over"
    assert "billing=" in fields["AllocTRES"] and fields["State"] == "COMPLETED"


def test_aiida_asks_for_two_ids_so_that_an_unknown_one_is_no_error(cluster):
    assert cluster.run("squeue --noheader --jobs=99999,99999 -o '%i %t'").ok().out == ""
    alone = cluster.run("squeue --noheader --jobs=99999 -o '%i %t'")
    assert alone.code == 1 and "slurm_load_jobs error: Invalid job id specified" in alone.err


@pytest.mark.skipif(not shutil.which("jq"), reason="jq is not installed")
def test_json_is_json(cluster, busy):
    for command in ("squeue --json", "sinfo --json", "sdiag --json", "scontrol show lic --json"):
        said = cluster.run(f"{command} | jq -e '.errors == [] and (.meta.slurm.version.major | length > 0)'")
        assert said.code == 0, f"{command}: {said}"
