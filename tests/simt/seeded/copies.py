"""Kernels with asynchronous copies, and what can go wrong in them."""

from __future__ import annotations

import numpy as np
from planting import Original, Said, fault

from wia_lab import cuda


def staged(out, a):
    tile = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    cuda.cp_async(tile, t, a, i)
    cuda.cp_async_commit_group()
    cuda.cp_async_wait_group(0)
    cuda.syncthreads()
    out[i] = tile[63 - t]


def pipeline(out, a):
    tiles = cuda.shared.array((2, 32), np.float32)
    t = cuda.threadIdx.x
    count = a.size // 32
    total = np.float32(0)
    cuda.cp_async(tiles, (0, t), a, t)  # first
    cuda.cp_async_commit_group()  # first group
    for k in range(count):
        if k + 1 < count:
            cuda.cp_async(tiles, ((k + 1) % 2, t), a, (k + 1) * 32 + t)  # next
        cuda.cp_async_commit_group()  # next group
        cuda.cp_async_wait_group(1)
        cuda.syncthreads()  # arrived
        total += tiles[k % 2, 31 - t]
        cuda.syncthreads()  # used
    out[t] = total


def two_groups(out, a, b):
    left = cuda.shared.array(32, np.int32)
    right = cuda.shared.array(32, np.int32)
    t = cuda.threadIdx.x
    cuda.cp_async(left, t, a, t)
    cuda.cp_async_commit_group()  # left
    cuda.cp_async(right, t, b, t)
    cuda.cp_async_commit_group()  # right
    cuda.cp_async_wait_group(1)
    cuda.syncthreads()  # left is there
    mine = left[31 - t]
    cuda.cp_async_wait_all()
    cuda.syncthreads()  # right is there
    out[t] = mine - right[31 - t]


def halo(out, a):
    tile = cuda.shared.array(34, np.float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    cuda.copy_dram_to_sram_async(tile, a, cuda.blockIdx.x * 32 - 1, 34)
    cuda.async_copy_wait_all()
    cuda.syncthreads()
    if i < a.size:
        out[i] = tile[t] + tile[t + 1] + tile[t + 2]


def back(out, a):
    tile = cuda.shared.array(32, np.int32)
    t = cuda.threadIdx.x
    cuda.cp_async(tile, t, a, t)
    cuda.cp_async_commit_group()
    cuda.cp_async_wait_all()
    a[t] = tile[t] + 1
    out[t] = tile[t]


def _staged():
    a = np.arange(128, dtype=np.float32)
    return (np.zeros(128, np.float32), a), {0: np.concatenate([a[63::-1], a[:63:-1]])}


def _pipeline():
    a = np.arange(160, dtype=np.float32)
    return (np.zeros(32, np.float32), a), {0: a.reshape(5, 32).sum(axis=0)[::-1]}


def _two_groups():
    a, b = np.arange(32, dtype=np.int32) ** 2, np.arange(32, dtype=np.int32)
    return (np.zeros(32, np.int32), a, b), {0: (a - b)[::-1]}


def _halo():
    a = np.arange(90, dtype=np.float32)
    padded = np.pad(a, 1)
    return (np.zeros(90, np.float32), a), {0: padded[:-2] + padded[1:-1] + padded[2:]}


def _back():
    a = np.arange(32, dtype=np.int32)
    return (np.zeros(32, np.int32), a), {0: np.arange(32), 1: np.arange(32) + 1}


ORIGINALS = {
    "staged": Original(staged, 2, 64, _staged),
    "pipeline": Original(pipeline, 1, 32, _pipeline),
    "two groups": Original(two_groups, 1, 32, _two_groups),
    "halo": Original(halo, 3, 32, _halo),
    "back": Original(back, 1, 32, _back),
}

FAULTS = [
    fault(
        "staged",
        "wait forgotten",
        {"    cuda.cp_async_wait_group(0)\n": ""},
        Said("async-copy", "out[i] =", "cuda.cp_async("),
    ),
    fault(
        "staged",
        "commit forgotten",
        {"    cuda.cp_async_commit_group()\n": ""},
        Said("async-copy", "out[i] =", "cuda.cp_async("),
    ),
    fault(
        "staged",
        "wait leaves the group pending",
        {"wait_group(0)": "wait_group(1)"},
        Said("async-copy", "out[i] =", "cuda.cp_async("),
    ),
    fault(
        "staged",
        "barrier after the wait forgotten",
        {"    cuda.syncthreads()\n": ""},
        Said("async-copy", "out[i] =", "cuda.cp_async("),
    ),
    fault(
        "staged",
        "barrier before the wait",
        {
            ("    cuda.cp_async_wait_group(0)\n    cuda.syncthreads()\n"): (
                "    cuda.syncthreads()\n    cuda.cp_async_wait_group(0)\n"
            )
        },
        Said("async-copy", "out[i] =", "cuda.cp_async("),
    ),
    fault(
        "staged",
        "tile not used",
        {"    cuda.cp_async_wait_group(0)\n": "", "tile[63 - t]": "a[63 - t]"},
        Said("async-copy", "cuda.cp_async(", severity="warning"),
    ),
    fault(
        "staged",
        "copies past the tile",
        {"(tile, t,": "(tile, t + 1,"},
        Said("out-of-bounds", "cuda.cp_async("),
    ),
    fault(
        "staged",
        "copies from before the source",
        {"a, i)": "a, i - 1)"},
        Said("out-of-bounds", "cuda.cp_async("),
    ),
    fault(
        "staged",
        "all copy into one element",
        {"(tile, t,": "(tile, t // 2,"},
        Said("async-copy", "cuda.cp_async(", "cuda.cp_async("),
        Said("uninitialised-read", "out[i] ="),
    ),
    fault(
        "pipeline",
        "waits for one group too few",
        {"wait_group(1)": "wait_group(2)"},
        Said("async-copy", "total +=", "# first\n"),
        Said("async-copy", "total +=", "# next\n"),
        Said("async-copy", "# next\n", "# first\n"),
        Said("async-copy", "# next\n", "# next\n"),
    ),
    fault(
        "pipeline",
        "barrier before reuse dropped",
        {"        cuda.syncthreads()  # used\n": ""},
        Said("async-copy", "# next\n", "total +="),
    ),
    fault(
        "pipeline",
        "barrier after the wait dropped",
        {"        cuda.syncthreads()  # arrived\n": ""},
        Said("async-copy", "total +=", "# first\n"),
    ),
    fault(
        "pipeline",
        "copies into the buffer in use",
        {"((k + 1) % 2, t)": "(k % 2, t)"},
        Said("async-copy", "total +=", "# next\n"),
        Said("async-copy", "# next\n", "# first\n"),
    ),
    fault(
        "pipeline",
        "one tile too many",
        {"if k + 1 < count:": "if k < count:"},
        Said("out-of-bounds", "# next\n"),
    ),
    fault(
        "two groups",
        "right group not waited for",
        {"    cuda.cp_async_wait_all()\n": ""},
        Said("async-copy", "out[t] =", "(right, t"),
    ),
    fault(
        "two groups",
        "reads the newer group",
        {"mine = left[31 - t]": "mine = right[31 - t]", "mine - right": "mine - left"},
        Said("async-copy", "mine =", "(right, t"),
    ),
    fault(
        "two groups",
        "one group instead of two",
        {"    cuda.cp_async_commit_group()  # left\n": ""},
        Said("async-copy", "mine =", "(left, t"),
    ),
    fault(
        "two groups",
        "tile written while a copy is under way",
        {"    cuda.cp_async_wait_all()\n": "    right[t] = 0\n    cuda.cp_async_wait_all()\n"},
        Said("async-copy", "right[t] = 0", "(right, t"),
    ),
    fault(
        "halo",
        "wait forgotten",
        {"    cuda.async_copy_wait_all()\n": ""},
        Said("async-copy", "out[i] =", "copy_dram"),
    ),
    fault(
        "halo",
        "barrier forgotten",
        {"    cuda.syncthreads()\n": ""},
        Said("async-copy", "out[i] =", "copy_dram"),
    ),
    fault(
        "halo",
        "one element too few",
        {"- 1, 34)": "- 1, 33)"},
        Said("uninitialised-read", "out[i] ="),
    ),
    fault(
        "halo",
        "tile without a halo",
        {"array(34": "array(32"},
        Said("out-of-bounds", "copy_dram"),
        Said("out-of-bounds", "out[i] ="),
    ),
    fault(
        "back",
        "source written while it is copied",
        {
            ("    cuda.cp_async_wait_all()\n    a[t] = tile[t] + 1\n"): (
                "    a[t] = t + 1\n    cuda.cp_async_wait_all()\n"
            )
        },
        Said("async-copy", "a[t] = t", "cuda.cp_async("),
    ),
]
