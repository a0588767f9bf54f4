"""Two ranks on two nodes meet by the name of the first node and train together; modules are plain shell to us."""

import shutil

import pytest

from world import HERE


@pytest.mark.slow
def test_two_ranks_meet_over_gloo(cluster):
    pytest.importorskip("torch")
    shutil.copy(HERE / "ddp_program.py", cluster.home(cluster.me()) / "train.py")
    (cluster.home(cluster.me()) / "train.py").chmod(0o644)
    cluster.write("ddp.sh", """\
        #!/bin/bash
        #SBATCH --job-name=ddp
        #SBATCH --nodes=2                # two of them
        #SBATCH --ntasks-per-node=1
        #SBATCH --cpus-per-task=4
        #SBATCH --mem=2G
        #SBATCH -o logs/out%j.log
        #SBATCH -e logs/err%j.log
        export MASTER_PORT=$((20000 + SLURM_JOB_ID % 10000))
        export MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
        echo "at $MASTER_ADDR with $(($SLURM_NNODES * $SLURM_NTASKS_PER_NODE))"
        srun /usr/bin/python3 train.py
        """)
    cluster.write("logs/.keep", "")
    job = cluster.sbatch("ddp.sh")
    state = cluster.wait_end(job, timeout=300)
    out, err = cluster.read(f"logs/out{job}.log"), cluster.read(f"logs/err{job}.log")
    assert state == "COMPLETED", out + err
    assert "at n1 with 2" in out
    assert "rank 0 of 2 on n1: 3.0 x + 1.0" in out and "rank 1 of 2 on n2: 3.0 x + 1.0" in out


def test_environment_modules(cluster):
    init = "/usr/share/modules/init/bash"
    if not __import__("os").path.exists(init):
        pytest.skip("environment-modules is not installed")
    cluster.write("modulefiles/tool/1.0", "#%Module1.0\nsetenv TOOL_HOME /opt/tool\n")
    cluster.write("modules.sh", f"""\
        #!/bin/bash
        #SBATCH -o modules.out
        source {init}
        module use $HOME/modulefiles
        module load tool/1.0
        echo "loaded $TOOL_HOME"
        srun -n1 bash -c 'echo "step sees $TOOL_HOME"'
        """)
    job = cluster.sbatch("modules.sh")
    assert cluster.wait_end(job) == "COMPLETED", cluster.read("modules.out")
    assert cluster.read("modules.out") == "loaded /opt/tool\nstep sees /opt/tool\n"
