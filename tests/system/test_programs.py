"""Programs that the controller runs for users: MailProg and what strigger names."""

import os
import sys
import time

import pytest

from world import is_root, wait_until

# Holds a write lease on a file until its standard input ends. Whoever opens the file waits for it.
LEASE = """
import fcntl, signal, sys
signal.signal(signal.SIGIO, signal.SIG_IGN)
file = open(sys.argv[1])
fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
print("leased", flush=True)
sys.stdin.read()
"""


def answers_in(cluster, user="bob"):
    """How long squeue takes, at worst of some calls."""
    worst = 0
    for _ in range(5):
        begin = time.monotonic()
        cluster.run("squeue", user=user).ok()
        worst = max(worst, time.monotonic() - begin)
    return worst


def test_a_trigger_program_with_a_lease_freezes_nobody(cluster):
    program = cluster.write("leased.sh", "#!/bin/sh\ntrue\n", mode=0o755)
    holder = cluster.popen(f"{sys.executable} -c '{LEASE}' {program}", stdin=-1, stdout=-1)
    try:
        if holder.stdout.readline() != "leased\n":
            pytest.skip("no leases on this file system")
        job = cluster.wrap("sleep 600")
        cluster.wait_state(job, "RUNNING")
        for offset in range(3):
            cluster.run(f"strigger --set -j {job} --fini --offset={offset} -p {program}").ok()
        cluster.run(f"scancel {job}").ok()
        # It is being started as soon as the trigger is gone from the list.
        wait_until(lambda: str(program) not in cluster.run("strigger --get", user=None).out, 60, "the triggers")
        assert answers_in(cluster) < 5
        other = cluster.wrap("true", user="bob")
        assert cluster.wait_end(other) == "COMPLETED"
    finally:
        holder.communicate()


def test_a_trigger_program_that_is_a_fifo_or_missing_is_told(cluster):
    gone, fifo = (cluster.write(name, "#!/bin/sh\n", mode=0o755) for name in ("gone.sh", "fifo.sh"))
    job = cluster.wrap("sleep 600")
    cluster.wait_state(job, "RUNNING")
    for program in (gone, fifo):
        cluster.run(f"strigger --set -j {job} --fini -p {program}").ok()
        program.unlink()
    os.mkfifo(fifo, 0o777)
    cluster.run(f"scancel {job}").ok()
    log = cluster.dir / "log" / "controller.log"
    wait_until(lambda: f"{gone}: No such file" in log.read_text(), 60, "the line in the log")
    wait_until(lambda: f"{fifo}: Permission denied" in log.read_text(), 60, "the line in the log")


@pytest.mark.skipif(not is_root(), reason="only root runs programs as others")
def test_programs_run_as_their_users_with_nothing_of_the_controller(cluster):
    told = cluster.home("alice") / "told"
    program = cluster.write("who.sh", f"""\
        #!/bin/bash
        {{ id -un; id -Gn; ulimit -Sn; cat /proc/$$/oom_score_adj; pwd; }} > {told}.new
        readlink /proc/$$/fd/* > {told}.files
        mv {told}.new {told}
        """, mode=0o755)
    job = cluster.wrap("sleep 600")
    cluster.wait_state(job, "RUNNING")
    cluster.run(f"strigger --set -j {job} --fini -p {program}").ok()
    cluster.run(f"scancel {job}").ok()
    wait_until(told.exists, 60, "the program")
    who, groups, limit, score, folder = told.read_text().splitlines()
    assert (who, groups.split(), limit, score, folder) == ("alice", ["alice", "lab"], "1024", "0", "/")
    files = (cluster.home("alice") / "told.files").read_text().split()
    # The standard ones, and what bash opens for itself.
    assert all(file == "/dev/null" or str(cluster.home("alice")) in file or file.startswith("/proc/") for file in files), files


@pytest.mark.skipif(not is_root(), reason="only root runs programs as others")
def test_mail_is_sent_by_the_user_and_never_by_root(make_cluster):
    made = make_cluster(names=("n1",))
    log = made.dir / "mail.log"
    (made.dir / "mailprog").write_text(f'#!/bin/sh\necho "$(id -un)|$#|$1|$3|$SLURM_JOB_NAME|$HOME$LD_PRELOAD" >> {log}\n')
    job = made.wrap("true", "--mail-type=END --mail-user=someone -J $'a\\nBcc: bob'")
    wait_until(log.read_text, 60, "the mail")
    assert log.read_text() == "alice|3|-s|someone|a?Bcc: bob|\n", job


@pytest.mark.parametrize("address", ["--exec=!touch\\ {dir}/home/alice/owned", "-s", "a b", "$'a\\nBcc: bob'"])
def test_words_that_are_no_address_reach_no_mail_program(cluster, address):
    address = address.format(dir=cluster.dir)
    log = cluster.dir / "mail.log"
    before = log.read_text()
    quoted = address if address.startswith("$") else f"'{address}'"
    said = cluster.run(f"sbatch --parsable --mail-type=ALL --mail-user={quoted} --wrap true")
    if said.code == 0:  # Refused at submission, or by the mailer.
        job = int(said.out)
        cluster.wait_end(job)
        lines = (cluster.dir / "log" / "controller.log").read_text
        wait_until(lambda: f"job {job}: no mail is sent to " in lines(), 60, lines)
    assert log.read_text() == before
    assert not (cluster.home(cluster.me()) / "owned").exists()
