"""A small data set in MNIST's file format: ten easily told patterns with noise, made here."""

import random
import struct


def _image(digit, rng):
    """28 x 28 grey values: a bar whose place and direction belong to the digit, with a little noise."""
    pixels = bytearray(28 * 28)
    at = 2 + (digit % 5) * 5
    for along in range(3, 25):
        for across in range(at, at + 3):
            row, column = (along, across) if digit < 5 else (across, along)
            pixels[row * 28 + column] = 200 + rng.randrange(56)
    for _ in range(20):
        pixels[rng.randrange(784)] = rng.randrange(120)
    return bytes(pixels)


def make(folder, train=640, test=200, seed=7):
    rng = random.Random(seed)
    raw = folder / "MNIST" / "raw"
    raw.mkdir(parents=True)
    for prefix, count in (("train", train), ("t10k", test)):
        labels = bytes(rng.randrange(10) for _ in range(count))
        images = b"".join(_image(digit, rng) for digit in labels)
        (raw / f"{prefix}-images-idx3-ubyte").write_bytes(struct.pack(">IIII", 2051, count, 28, 28) + images)
        (raw / f"{prefix}-labels-idx1-ubyte").write_bytes(struct.pack(">II", 2049, count) + labels)
