"""PyTorch Lightning: its Slurm environment is found, two ranks meet, and USR1 checkpoints and requeues."""

import re

from world import wait_until

PROGRAM = """
    import os, pathlib, sys, time
    import torch
    import pytorch_lightning as pl
    from pytorch_lightning.plugins.environments import SLURMEnvironment

    class Model(pl.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(4, 1)
        def _register_sharded_tensor_state_dict_hooks_if_available(self):
            pass  # Debian's PyTorch 1.13 cannot import its sharded tensors under Python 3.11.
        def training_step(self, batch, index):
            if self.trainer.is_global_zero and os.environ.get("SLURM_RESTART_COUNT", "0") == "0":
                pathlib.Path("stepping-" + os.environ["SLURM_JOB_ID"]).write_text("yes\\n")
            if "slow" in sys.argv and os.environ.get("SLURM_RESTART_COUNT", "0") == "0":
                time.sleep(0.05)
            return self.layer(batch).pow(2).mean()
        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), 0.01)

    steps = int(sys.argv[1])
    data = torch.utils.data.DataLoader(torch.randn(64, 4), batch_size=4)
    trainer = pl.Trainer(accelerator="cpu", devices=2, num_nodes=1, strategy="ddp", max_steps=steps, max_epochs=-1,
                         logger=False, enable_checkpointing=False, enable_progress_bar=False, default_root_dir=".")
    assert SLURMEnvironment.detect()
    trainer.fit(Model(), data)
    total = torch.ones(1)
    torch.distributed.all_reduce(total)
    print(f"rank {trainer.global_rank} of {trainer.world_size} sum {int(total)} step {trainer.global_step} "
          f"restarts {os.environ.get('SLURM_RESTART_COUNT', 0)}", flush=True)
"""

SCRIPT = """\
    #!/bin/bash
    #SBATCH --job-name=lit --nodes=1 --ntasks-per-node=2 --cpus-per-task=1 --mem=1500M --time=30
    #SBATCH --output=lit-%j.out --open-mode=append --requeue
    export OMP_NUM_THREADS=1
    srun {python} lit.py {arguments}
"""


def submit(cluster, lightning, arguments):
    cluster.write("lit.py", PROGRAM)
    cluster.write("lit.sh", SCRIPT.format(python=lightning / "bin" / "python", arguments=arguments))
    return cluster.sbatch("lit.sh")


def ranks(cluster, job):
    return sorted(re.findall(r"rank (\d) of (\d) sum (\d) step (\d+) restarts (\d)", cluster.read(f"lit-{job}.out")))


def test_two_ranks_find_each_other_through_the_slurm_environment(cluster, lightning):
    job = submit(cluster, lightning, "8")
    assert cluster.wait_end(job, timeout=240) == "COMPLETED", cluster.read(f"lit-{job}.out")
    assert ranks(cluster, job) == [("0", "2", "2", "8", "0"), ("1", "2", "2", "8", "0")]


def test_usr1_saves_and_requeues_and_the_second_run_goes_on(cluster, lightning):
    job = submit(cluster, lightning, "4000 slow")
    wait_until(lambda: (cluster.home() / f"stepping-{job}").exists(), 240, "the first training step")
    cluster.run(f"scancel -s USR1 {job}").ok()
    wait_until(lambda: cluster.show(job)["Restarts"] == "1", 120, "the requeue")
    assert cluster.wait_end(job, timeout=240) == "COMPLETED", cluster.read(f"lit-{job}.out")
    assert [(r[0], r[3], r[4]) for r in ranks(cluster, job)] == [("0", "4000", "1"), ("1", "4000", "1")]
    assert "Restored all states from the checkpoint" in cluster.read(f"lit-{job}.out")
