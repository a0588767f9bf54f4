"""A small data-parallel training run: each rank fits the same line on its own half of the points."""

import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

rank, size = int(os.environ["SLURM_PROCID"]), int(os.environ["SLURM_NTASKS"])
torch.set_num_threads(1)
dist.init_process_group("gloo", rank=rank, world_size=size)
torch.manual_seed(rank)
model = DistributedDataParallel(torch.nn.Linear(1, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
for _ in range(600):
    x = torch.rand(64, 1)
    loss = ((model(x) - (3 * x + 1)) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
weight, bias = (round(p.item(), 1) for p in model.parameters())
print(f"rank {rank} of {size} on {os.environ['SLURMD_NODENAME']}: {weight} x + {bias}", flush=True)
dist.destroy_process_group()
