"""What root does on a node below folders that users can write: a hostile user gains nothing by it."""

import os
import stat

import pytest

from world import USERS, is_root, wait_until

pytestmark = pytest.mark.skipif(not is_root(), reason="needs root to be two users")


def job_folder(cluster, job, node):
    found = list((cluster.dir / "spool" / node).glob(f"job{job}.*"))
    assert len(found) == 1
    return found[0]


def test_a_spool_is_listed_by_nobody(cluster):
    spool = cluster.dir / "spool" / "n1"
    assert stat.S_IMODE(spool.stat().st_mode) == 0o711 and spool.stat().st_uid == 0
    assert cluster.run(f"ls {spool}", user="bob").code != 0


def test_a_spool_that_others_could_write_is_closed_at_the_start(make_cluster):
    cluster = make_cluster(start=False)
    spool = cluster.dir / "spool" / "n1"
    spool.mkdir()
    spool.chmod(0o777)
    os.chown(spool, USERS["bob"], USERS["bob"])
    cluster.start()
    assert stat.S_IMODE(spool.stat().st_mode) == 0o711 and spool.stat().st_uid == 0


def test_the_folder_of_a_script_is_roots_and_nothing_can_be_put_there(cluster):
    job = cluster.wrap('ls "$(dirname "$0")"; cd "$(dirname "$0")"; touch more; mkdir below; ln -s /etc link; mv slurm_script x; '
                       'mv $PWD ../y; touch ~/done; sleep 300', "-w n1 -o script.out", user="alice")
    cluster.wait_state(job, "RUNNING")
    wait_until(lambda: (cluster.home("alice") / "done").exists(), 60, "the script to have tried")
    folder = job_folder(cluster, job, "n1")
    assert folder.stat().st_uid == 0 and stat.S_IMODE(folder.stat().st_mode) == 0o711
    assert [each.name for each in folder.iterdir()] == ["slurm_script"]
    script = (folder / "slurm_script").lstat()
    assert script.st_uid == USERS["alice"] and stat.S_IMODE(script.st_mode) == 0o700
    cluster.run(f"scancel {job}", user="alice").ok()
    cluster.wait_end(job)
    wait_until(lambda: not folder.exists(), 60, "the folder to be removed")


def test_root_joins_a_users_job_and_the_step_is_the_users(cluster):
    """The stepd reaches its srun with the user's rights: root's own socket it cannot, and takes the encrypted way."""
    job = cluster.wrap("sleep 300", "-w n1", user="alice")
    cluster.wait_state(job, "RUNNING")
    assert cluster.run(f"srun --jobid={job} --overlap id -un", user=None).ok().out == "alice\n"
    cluster.run(f"scancel {job}", user="alice").ok()
