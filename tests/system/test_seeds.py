"""The guides the project grew from: their own scripts and command lines, taken from the documents at test time.

Nothing of theirs stands in this tree. Where the documents are not beside the checkout, these tests are skipped;
test_ddp.py and the other files exercise the same things with scripts of our own.
"""

import pathlib
import re
import textwrap

import pytest

import mnist
from cluster import Cluster
from world import SHARED, is_root, wait_until

SEEDS = SHARED / "seeds"
pytestmark = pytest.mark.skipif(not SEEDS.is_dir(), reason="no seed documents beside the checkout")

NODES = """\
NodeName=gpu[1-2] NodeHostname={host} CPUs=40 RealMemory=64000 Gres=gpu:8
NodeName=control118 NodeHostname={host} CPUs=16 RealMemory=64000 Gres=gpu:Quadro_RTX_4000:2,shard:Quadro_RTX_4000:128
NodeName=control-173 NodeHostname={host} CPUs=16 RealMemory=64000 Gres=gpu:Quadro_RTX_5000:4,shard:Quadro_RTX_5000:256
PartitionName=gpu Nodes=gpu[1-2] Default=YES MaxTime=INFINITE State=UP
PartitionName=debug Nodes=gpu[1-2] MaxTime=INFINITE State=UP
PartitionName=titan Nodes=gpu[1-2] MaxTime=INFINITE State=UP
PartitionName=shared Nodes=control118,control-173 MaxTime=INFINITE State=UP
"""


@pytest.fixture(scope="module")
def cluster():
    made = Cluster(nodes=NODES, names=["gpu1", "gpu2", "control118", "control-173"])
    tools = made.dir / "bin"
    tools.mkdir()
    (tools / "python").symlink_to("/usr/bin/python3")
    yield made
    made.stop()


def document(number):
    return next(SEEDS.glob(f"{number:03d}_*")).read_text()


def blocks(number):
    """The fenced blocks of a document, without their common indentation."""
    found = re.findall(r"^[ \t]*```[^\n]*\n(.*?)^[ \t]*```", document(number), re.M | re.S)
    return [textwrap.dedent(block) for block in found]


def script(number, containing):
    return next(b for b in blocks(number) if b.startswith("#!/bin/bash") and containing in b)


def code(number, containing):
    return next(b for b in blocks(number) if containing in b)


def command_lines(number):
    """Lines a reader is told to type, whatever block they stand in."""
    return [line.strip().removeprefix("$ ") for block in blocks(number) for line in block.splitlines()]


def test_000_the_gpu_job(cluster):
    text = script(0, "torch-test")
    cluster.write("seed0/job.slurm", text)
    cluster.write(".bashrc", "export FROM_BASHRC=1\n")
    cluster.write("install_pytorch/mnist_classify.py",
                  "import os, sys\nprint(sys.argv[1:], os.environ['FROM_BASHRC'], os.environ['CUDA_VISIBLE_DEVICES'])\n")
    said = cluster.run("sbatch job.slurm", cwd=cluster.home() / "seed0").ok()
    job = int(said.out.split()[-1])
    shown = cluster.show(job)
    assert shown["JobName"] == "torch-test" and shown["TimeLimit"] == "00:05:00" and shown["NumNodes"].startswith("1")
    assert cluster.wait_end(job) == "COMPLETED"
    assert cluster.read(f"seed0/slurm-{job}.out") == "['--epochs=3'] 1 0,1,2,3,4,5,6,7\n"


def test_000_watching_and_cancelling(cluster):
    assert "squeue -u $USER" in command_lines(0)
    job = cluster.wrap("sleep 300")
    cluster.wait_state(job, "RUNNING")
    assert str(job) in cluster.run("squeue -u $USER").ok().out
    cancel = next(line for line in command_lines(0) if line.startswith("scancel"))
    cluster.run(cancel.replace("<jobid>", str(job))).ok()
    assert cluster.wait_end(job) == "CANCELLED"
    job = cluster.wrap("trap '' TERM; while :; do sleep 1; done")
    cluster.wait_state(job, "RUNNING")
    force = next(line for line in command_lines(0) if line.startswith("skill"))
    cluster.run(force.replace("<jobid>", str(job))).ok()
    assert cluster.wait_end(job) == "CANCELLED"


def test_000_node_states(cluster):
    shown = code(0, "NODELIST   NODES PARTITION")
    header = next(line for line in shown.splitlines() if line.startswith("NODELIST"))
    assert "sinfo -Nl" in command_lines(0)
    said = cluster.run("sinfo -Nl").ok()
    assert said.out.splitlines()[1].split() == header.split()
    row = next(line for line in said.out.splitlines() if line.startswith("gpu1 ") and "gpu*" in line)
    assert row.split()[:5] == ["gpu1", "1", "gpu*", "idle", "40"] and row.split()[-1] == "none"


def test_001_the_template(cluster):
    text = script(1, "bird_classifier_env")
    text = text.replace("<account_name>", "birds").replace("<partition_name>", "gpu").replace("<your_email_adress>", "me")
    cluster.write("seed1/train_classifier.sh", text)
    cluster.write("seed1/path_to_train_bird_classifier_directory/train_bird_classifier.py", "print('trained')\n")
    said = cluster.run("sbatch train_classifier.sh", cwd=cluster.home() / "seed1").ok()
    job = int(said.out.split()[-1])
    shown = cluster.show(job)
    assert (shown["JobName"], shown["Account"], shown["Partition"], shown["Requeue"], shown["TimeLimit"]) == \
        ("bird_classifier_job", "birds", "gpu", "0", "04:00:00")
    assert shown["Exclusive"] == "NO" and "gres" in shown.get("TresPerNode", "")
    assert cluster.wait_end(job) == "COMPLETED"
    out = cluster.read(f"seed1/slurm-{job}.out")
    assert out.count("------------------") == 4 and "trained" in out
    mail = cluster.dir / "mail.log"
    wait_until(lambda: mail.exists() and f"Job_id={job} Name=bird_classifier_job Ended" in mail.read_text(), what="the mail")


def test_001_every_directive_is_understood(cluster):
    directives = set(re.findall(r"^#SBATCH .*$", document(1), re.M))
    assert len(directives) > 8
    for n, line in enumerate(sorted(directives)):
        line = re.sub(r"<partition_name>", "gpu", line)
        line = re.sub(r"<[^>]*>", "value", line)
        cluster.write(f"seed1/d{n}.sh", f"#!/bin/bash\n{line}\ntrue\n")
        said = cluster.run(f"sbatch -H d{n}.sh", cwd=cluster.home() / "seed1")
        assert said.code == 0, (line, said)
    cluster.run("scancel --me").ok()


def test_001_the_commands(cluster):
    job = cluster.wrap("sleep 100", "-J my_job")
    cluster.wait_state(job, "RUNNING")
    for line in command_lines(1):
        if line.startswith(("squeue", "scontrol", "scancel")):
            said = cluster.run(line.replace("[JOB_ID]", str(job)))
            assert said.code == 0, (line, said)
            if line.startswith("scontrol"):
                assert f"JobId={job}" in said.out
            if "grep" in line:
                assert str(job) in said.out
    assert cluster.wait_end(job) == "CANCELLED"


@pytest.fixture
def public_home():
    """The document sources a file of its author's home; it has to be there."""
    folder = pathlib.Path("/public/home/lili")
    made = [p for p in (pathlib.Path("/public"), pathlib.Path("/public/home"), folder) if not p.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for part in made:
        part.chmod(0o755)
    rc = folder / ".bashrc"
    rc.write_text("conda() { echo conda \"$@\"; }\n")
    rc.chmod(0o644)
    yield
    rc.unlink()
    for part in reversed(made):
        part.rmdir()


@pytest.mark.slow
@pytest.mark.skipif(not is_root(), reason="needs /public")
def test_002_two_node_ddp(cluster, public_home):
    pytest.importorskip("torchvision")
    cluster.write("seed2/mnist_classify_ddp.py", code(2, "DistributedDataParallel"))
    cluster.write("seed2/ddp.job", next(b for b in blocks(2) if "ddp-torch" in b))
    mnist.make(cluster.home() / "seed2" / "data")
    (cluster.home() / "seed2" / "logs").mkdir()
    cluster.run(f"chown -R alice: {cluster.home()}/seed2", user=None).ok()
    said = cluster.run(". /usr/share/modules/init/bash; export -f module _module_raw 2>/dev/null; sbatch ddp.job",
                       cwd=cluster.home() / "seed2").ok()
    job = int(said.out.split()[-1])
    state = cluster.wait_end(job, timeout=400)
    out, err = cluster.read(f"seed2/logs/out{job}.log"), cluster.read(f"seed2/logs/err{job}.log")
    assert state == "COMPLETED", out + err
    assert "WORLD_SIZE=2" in out and "MASTER_ADDR=gpu1" in out
    assert "Hello from rank 0 of 2" in out and "Hello from rank 1 of 2" in out
    assert "Group initialized? True" in out
    assert re.search(r"Accuracy: \d+/\d+ \(\d+%\)", out)


def test_003_cpu_and_gpu_and_shard_jobs(cluster):
    lines = [line for line in command_lines(3) if line.startswith("sbatch")]
    assert len(lines) == 6
    for line in lines:
        cluster.write(f"seed3/{line.split()[-1]}", "#!/bin/bash\n#SBATCH -p shared\necho ran $CUDA_VISIBLE_DEVICES\n")
    for line in lines:
        said = cluster.run(line, cwd=cluster.home() / "seed3").ok()
        job = int(said.out.split()[-1])
        assert cluster.wait_end(job) == "COMPLETED", line
        expected = "ran 0\n" if "gres" in line else "ran\n"
        assert cluster.read(f"seed3/slurm-{job}.out") == expected, line


def test_003_the_gres_table(cluster):
    whole = cluster.wrap("sleep 300", "-w control118 --gres=gpu:1 -p shared")
    two = cluster.wrap("sleep 300", "-w control-173 --gres=gpu:2 -p shared")
    cluster.wait_state(whole, "RUNNING")
    cluster.wait_state(two, "RUNNING")
    shard = cluster.wrap("sleep 300", "-w control118 --gres=shard:32 -p shared")
    cluster.wait_state(shard, "RUNNING")
    block = code(3, "GRES_USED")
    line = next(row.strip().removeprefix("$ ") for row in block.splitlines() if "sinfo" in row)
    want = {tuple(row.split()) for row in block.splitlines() if row.startswith(("NODELIST", "control"))}
    said = cluster.run(line).ok()
    got = {tuple(row.split()) for row in said.out.splitlines() if row.startswith(("NODELIST", "control"))}
    assert got == want
    cluster.run("scancel --me").ok()
    cluster.wait_end(shard)


def test_004_sixteen_tasks(cluster):
    text = script(4, "pytorch-example")
    cluster.write("seed4/test.sh", text)
    cluster.write("seed4/pytorch_test.py", "print('tested')\n")
    cluster.write("seed4/activate", "echo activated $1\n")
    said = cluster.run("sbatch test.sh", cwd=cluster.home() / "seed4",
                       env={"PATH": f"{cluster.home()}/seed4:{cluster.path()}"}).ok()
    job = int(said.out.split()[-1])
    shown = cluster.show(job)
    assert (shown["JobName"], shown["Partition"], shown["NumTasks"]) == ("pytorch-example", "titan", "16")
    assert cluster.wait_end(job) == "COMPLETED"
    assert cluster.read(f"seed4/slurm-{job}.out") == "0\nactivated torch\ntested\n"
