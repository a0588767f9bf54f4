#!/usr/bin/env python3
"""What the jobs of tests/gpu/run do on a card. Every command prints "name value" lines.

    info                what torch sees: count, name, memory in MiB, free memory in MiB
    matmul SECONDS [AT] matrix products for so long (starting at the moment AT, in Unix seconds): TFLOP/s
    churn N             rounds of taking memory from the driver and giving it back, and the same past the guard, in turn, N
                        at a time: microseconds a round
    small N             N small kernel launches: microseconds a launch
    fill MIB            takes memory in steps of 64 MiB until MIB are held or it is refused; what was held, in MiB
    hold MIB SECONDS    holds so much for so long while computing, and checks that it stays as it was
    graph N             N replays of a captured graph, with a check of the result
    train EPOCHS        a small convolutional network over pictures of digits made here: accuracy
    lightning EPOCHS    the same by PyTorch Lightning; "missing" if it is not installed
    serve FOLDER        waits for orders: commands like these in files order-1, order-2, ... there, the first answered
                        in answer-1; answer-0 says that torch is up. "end" ends it
    open                tries to open every card's device file: "open" or the error, one line each
"""

import contextlib
import ctypes
import glob
import io
import os
import sys
import time
import traceback


def torch_on_card():
    import torch
    torch.zeros(1, device="cuda")
    return torch


def info():
    import torch
    print("count", torch.cuda.device_count())
    for i in range(torch.cuda.device_count()):
        free, total = torch.cuda.mem_get_info(i)
        properties = torch.cuda.get_device_properties(i)
        print("name", properties.name.replace(" ", "_"))
        print("total_mib", properties.total_memory >> 20)
        print("info_total_mib", total >> 20)
        print("info_free_mib", free >> 20)


def matmul(seconds, at=0.0):
    torch = torch_on_card()
    n = 8192
    a = torch.randn(n, n, device="cuda", dtype=torch.bfloat16)
    b = torch.randn(n, n, device="cuda", dtype=torch.bfloat16)
    c = torch.empty_like(a)
    for _ in range(5):
        torch.mm(a, b, out=c)
    torch.cuda.synchronize()
    if at and time.time() > at:
        print("late", time.time() - at)
    while time.time() < at:
        time.sleep(0.001)
    rounds, begin = 0, time.monotonic()
    while time.monotonic() - begin < seconds:
        for _ in range(10):
            torch.mm(a, b, out=c)
        torch.cuda.synchronize()
        rounds += 10
    spent = time.monotonic() - begin
    print("tflops %.1f" % (2 * n**3 * rounds / spent / 1e12))


def median(values):
    return sorted(values)[len(values) // 2]


def driver_functions(*names):
    """Functions of the CUDA driver, each twice: as this process has them, with the guard before them if there is one,
    and as the driver has them."""
    libc, driver = ctypes.CDLL("libc.so.6"), ctypes.CDLL("libcuda.so.1")
    libc.dlvsym.restype = ctypes.c_void_p
    libc.dlvsym.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p]
    found = None
    for version in (b"GLIBC_2.34", b"GLIBC_2.2.5", b"GLIBC_2.17"):
        found = found or libc.dlvsym(libc._handle, b"dlsym", version)
    real_dlsym = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(found)
    shape = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t)
    return ([shape(ctypes.cast(getattr(driver, name), ctypes.c_void_p).value) for name in names],
            [shape(real_dlsym(driver._handle, name.encode())) for name in names])


def churn(rounds):
    """Taking memory from the driver and giving it back, below torch's cache, of mixed sizes; the same past the guard,
    turn by turn in one process: two processes differ by more than what is measured."""
    torch_on_card()
    kept, free = driver_functions("cuMemAlloc_v2", "cuMemFree_v2")
    sizes = [1 << 12, 1 << 18, 1 << 21, 1 << 24, 1 << 27]
    pointer = ctypes.c_uint64()
    times = {"churn_us": [], "churn_free_us": []}

    def block(take, give_back):
        begin = time.perf_counter()
        for i in range(rounds):
            code = take(ctypes.addressof(pointer), sizes[i % len(sizes)])
            if code != 0:
                sys.exit("cuMemAlloc: error %d" % code)
            give_back(pointer.value, 0)
        return (time.perf_counter() - begin) / rounds * 1e6

    for i in range(30):
        for name, functions in (("churn_us", kept), ("churn_free_us", free))[:: 1 if i % 2 else -1]:
            times[name].append(block(*functions))
    for name, values in times.items():
        print(name, "%.3f" % median(values))
    print("guarded", int(ctypes.cast(kept[0], ctypes.c_void_p).value != ctypes.cast(free[0], ctypes.c_void_p).value))


def small(launches):
    torch = torch_on_card()
    x = torch.zeros(256, device="cuda")
    times = []
    for _ in range(7):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(launches):
            x.add_(1)
        torch.cuda.synchronize()
        times.append((time.perf_counter() - begin) / launches * 1e6)
    print("launch_us %.3f" % median(times))


def fill(mib):
    torch = torch_on_card()
    held, step = [], 64
    try:
        while len(held) * step < mib:
            held.append(torch.empty(step << 20, dtype=torch.uint8, device="cuda"))
            held[-1].fill_(1)
    except torch.OutOfMemoryError as error:
        print("refused", type(error).__name__)
        print("message", str(error).split(". ")[0].replace("\n", " "))
    torch.cuda.synchronize()
    print("held_mib", len(held) * step)


def hold(mib, seconds):
    torch = torch_on_card()
    x = torch.full((mib << 20,), 7, dtype=torch.uint8, device="cuda")
    y = torch.randn(2048, 2048, device="cuda")
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        y = torch.nn.functional.normalize(y @ y)
        torch.cuda.synchronize()
    print("unharmed", int((x == 7).all().item()))


def graph(replays):
    torch = torch_on_card()
    x = torch.zeros(1024, device="cuda")
    x.add_(1)
    torch.cuda.synchronize()
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        for _ in range(20):
            x.add_(1)
    x.zero_()
    for _ in range(replays):
        captured.replay()
    torch.cuda.synchronize()
    print("graph", "right" if x[0].item() == 20 * replays else "wrong")


def digits(torch, count, seed):
    """Pictures like MNIST's without MNIST: ten fixed patterns, shifted and noisy."""
    g = torch.Generator().manual_seed(1)
    patterns = (torch.rand(10, 1, 28, 28, generator=g) > 0.7).float()
    g = torch.Generator().manual_seed(seed)
    labels = torch.randint(0, 10, (count,), generator=g)
    shifts = torch.randint(-2, 3, (count, 2), generator=g)
    images = torch.stack([torch.roll(patterns[label], (int(a), int(b)), (1, 2))
                          for label, (a, b) in zip(labels.tolist(), shifts.tolist())])
    return images + 0.5 * torch.randn(images.shape, generator=g), labels


def network(torch):
    nn = torch.nn
    torch.manual_seed(0)
    return nn.Sequential(nn.Conv2d(1, 32, 3), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Flatten(), nn.Linear(9216, 128), nn.ReLU(), nn.Linear(128, 10))


def train(epochs):
    torch = torch_on_card()
    nn = torch.nn
    model = network(torch).cuda()
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    images, labels = digits(torch, 12800, 2)
    images, labels = images.cuda(), labels.cuda()
    for _ in range(epochs):
        for i in range(0, len(images), 128):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(images[i:i + 128]), labels[i:i + 128]).backward()
            optimizer.step()
    images, labels = digits(torch, 2000, 3)
    with torch.no_grad():
        right = (model(images.cuda()).argmax(1).cpu() == labels).float().mean().item()
    print("accuracy %.3f" % right)


def lightning(epochs):
    try:
        import lightning.pytorch as pl
    except ImportError:
        try:
            import pytorch_lightning as pl
        except ImportError:
            print("missing PyTorch Lightning is not installed")
            return
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    class Digits(pl.LightningModule):
        def __init__(self):
            super().__init__()
            self.network = network(torch)
            self.right = []

        def training_step(self, batch, _):
            return torch.nn.functional.cross_entropy(self.network(batch[0]), batch[1])

        def validation_step(self, batch, _):
            self.right.append((self.network(batch[0]).argmax(1) == batch[1]).float().mean().item())

        def configure_optimizers(self):
            return torch.optim.Adam(self.parameters(), 1e-3)

    model = Digits()
    trainer = pl.Trainer(accelerator="gpu", devices=1, max_epochs=epochs, logger=False, enable_checkpointing=False,
                         enable_progress_bar=False, enable_model_summary=False, num_sanity_val_steps=0)
    trainer.fit(model, DataLoader(TensorDataset(*digits(torch, 12800, 2)), 128),
                DataLoader(TensorDataset(*digits(torch, 2000, 3)), 500))
    print("accuracy %.3f" % (sum(model.right[-4:]) / 4))
    print("card", str(trainer.strategy.root_device))


def open_cards():
    files = sorted(glob.glob("/dev/nvidia[0-9]*"))
    print("files", len(files))
    for path in files:
        try:
            os.close(os.open(path, os.O_RDWR))
            print(path, "open")
        except OSError as error:
            print(path, error.strerror.replace(" ", "_"))


def serve(folder):
    torch = torch_on_card()

    def answer(order, text):
        fresh = os.path.join(folder, "answer")
        with open(fresh, "w") as file:
            file.write(text)
        os.rename(fresh, os.path.join(folder, "answer-%d" % order))

    answer(0, "")
    order = 1
    while True:
        try:
            with open(os.path.join(folder, "order-%d" % order)) as file:
                words = file.read().split()
        except FileNotFoundError:
            time.sleep(0.002)
            continue
        if words[0] == "end":
            return
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            try:
                do(words)
            except Exception:
                print("failed", traceback.format_exc())
        # What torch keeps for later is the job's, too: the next order starts without it.
        torch.cuda.empty_cache()
        answer(order, said.getvalue())
        order += 1


COMMANDS = {"info": info, "open": open_cards, "matmul": matmul, "churn": churn, "small": small, "fill": fill, "hold": hold,
            "graph": graph, "train": train, "lightning": lightning, "serve": serve}


def argument(word):
    try:
        return float(word) if "." in word else int(word)
    except ValueError:
        return word


def do(words):
    COMMANDS[words[0]](*[argument(word) for word in words[1:]])


if __name__ == "__main__":
    do(sys.argv[1:]) if len(sys.argv) > 1 else sys.exit(__doc__)
