"""Kernels whose blocks work together through global memory, and what can go wrong in them."""

from __future__ import annotations

import numpy as np
from planting import Original, Said, fault

from wia_lab import cuda


def last_block(out, partial, done, a):
    last = cuda.shared.array(1, np.int32)
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    if t == 0:
        total = 0
        for j in range(32):
            total += a[b * 32 + j]
        partial[b] = total
        cuda.threadfence()
        last[0] = cuda.atomic.add(done, 0, 1) == cuda.gridDim.x - 1
    cuda.syncthreads()
    if last[0] and t == 0:
        total = 0
        for j in range(cuda.gridDim.x):
            total += partial[j]
        out[0] = total


def lock(total, mutex, a):
    if cuda.threadIdx.x == 0:
        while cuda.atomic.cas(mutex, 0, 0, 1) != 0:
            pass
        total[0] += a[cuda.blockIdx.x]
        cuda.threadfence()
        cuda.atomic.exch(mutex, 0, 0)


def flag(out, box, ready):
    t = cuda.threadIdx.x
    if t < 32:
        while cuda.atomic.add(ready, 0, 0) == 0:
            pass
        out[t] = box[t]
    else:
        box[t - 32] = t * t
        cuda.threadfence()
        cuda.syncwarp()
        if t == 32:
            cuda.atomic.exch(ready, 0, 1)


def chained_scan(out, carry, ready, a):
    b = cuda.blockIdx.x
    before = 0
    if b > 0:
        while cuda.atomic.add(ready, b - 1, 0) == 0:
            pass
        before = carry[b - 1]
    total = before + a[b]
    out[b] = total
    carry[b] = total
    cuda.threadfence()
    cuda.atomic.exch(ready, b, 1)


def grid_barrier(out, a):
    grid = cuda.cg.this_grid()
    i = cuda.grid(1)
    a[i] = i * i
    grid.sync()  # written
    value = a[a.size - 1 - i]
    grid.sync()  # read
    a[i] = value
    out[i] = value


def ping_pong(a, b, rounds):
    grid = cuda.cg.this_grid()
    i = cuda.grid(1)
    for _ in range(rounds):
        left = a[i - 1] if i > 0 else 0
        b[i] = a[i] + left
        grid.sync()
        a, b = b, a


def own_cells(out, a):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = a[i] * 2


def _last_block():
    a = np.arange(160, dtype=np.int64)
    arguments = (np.zeros(1, np.int64), np.zeros(5, np.int64), np.zeros(1, np.int32), a)
    return arguments, {0: [a.sum()], 2: [5]}


def _lock():
    a = np.arange(7, dtype=np.int64)
    return (np.zeros(1, np.int64), np.zeros(1, np.int32), a), {0: [21], 1: [0]}


def _flag():
    arguments = (np.zeros(32, np.int64), np.zeros(32, np.int64), np.zeros(1, np.int32))
    return arguments, {0: np.arange(32, 64) ** 2}


def _chained_scan():
    a = np.arange(9, dtype=np.int64) + 1
    return tuple(np.zeros(9, np.int64) for _ in range(3)) + (a,), {0: np.cumsum(a)}


def _grid_barrier():
    out, a = np.zeros(96, np.int64), np.zeros(96, np.int64)
    expected = (np.arange(96) ** 2)[::-1]
    return (out, a), {0: expected, 1: expected}


def _ping_pong():
    a = np.zeros(64, np.int64)
    a[0] = 1
    row = a.copy()
    for _ in range(4):
        row = row + np.concatenate([[0], row[:-1]])
    return (a, np.zeros(64, np.int64), 4), {0: row}


def _own_cells():
    a = np.arange(100)
    return (np.zeros(100, np.int64), a), {0: a * 2}


ORIGINALS = {
    "last block": Original(last_block, 5, 32, _last_block),
    "lock": Original(lock, 7, 32, _lock),
    "flag": Original(flag, 1, 64, _flag),
    "chained scan": Original(chained_scan, 9, 1, _chained_scan),
    "grid barrier": Original(grid_barrier, 3, 32, _grid_barrier),
    "ping-pong": Original(ping_pong, 2, 32, _ping_pong),
    "own cells": Original(own_cells, 4, 32, _own_cells),
}

FAULTS = [
    fault(
        "last block",
        "fence forgotten",
        {"        cuda.threadfence()\n": ""},
        Said("race", "total += partial", "partial[b] ="),
    ),
    fault(
        "last block",
        "fence of the block only",
        {"cuda.threadfence()": "cuda.threadfence_block()"},
        Said("race", "total += partial", "partial[b] ="),
    ),
    fault(
        "last block",
        "barrier dropped",
        {"    cuda.syncthreads()\n": ""},
        Said("race", "if last[0]", "last[0] ="),
    ),
    fault(
        "last block",
        "ticket before the sum is stored",
        {
            (
                "        partial[b] = total\n        cuda.threadfence()\n"
            ): "        cuda.threadfence()\n",
            "== cuda.gridDim.x - 1\n": "== cuda.gridDim.x - 1\n        partial[b] = total\n",
        },
        Said("race", "total += partial", "partial[b] ="),
    ),
    fault(
        "lock",
        "never freed",
        {"        cuda.atomic.exch(mutex, 0, 0)\n": ""},
        Said("no-progress", "while"),
    ),
    fault(
        "lock",
        "fence forgotten",
        {"        cuda.threadfence()\n": ""},
        Said("race", "total[0] +=", "total[0] +="),
    ),
    fault(
        "lock",
        "not taken",
        {"        while cuda.atomic.cas(mutex, 0, 0, 1) != 0:\n            pass\n": ""},
        Said("race", "total[0] +=", "total[0] +="),
    ),
    fault(
        "lock",
        "freed by a plain store",
        {"cuda.atomic.exch(mutex, 0, 0)": "mutex[0] = 0"},
        Said("race", "mutex[0] = 0", "while", severity="warning"),
        Said("race", "total[0] +=", "total[0] +=", severity="warning"),
    ),
    fault(
        "lock",
        "taken by every thread of a warp",
        {"if cuda.threadIdx.x == 0:": "if cuda.threadIdx.x < 4:"},
        Said("no-progress", "while", severity="warning"),
    ),
    fault(
        "flag",
        "never set",
        {"cuda.atomic.exch(ready, 0, 1)": "pass"},
        Said("no-progress", "while"),
    ),
    fault(
        "flag",
        "fence forgotten",
        {"        cuda.threadfence()\n": ""},
        Said("race", "out[t] =", "box[t - 32] ="),
    ),
    fault(
        "flag",
        "other lanes not waited for",
        {"        cuda.syncwarp()\n": ""},
        Said("race", "out[t] =", "box[t - 32] ="),
    ),
    fault(
        "flag",
        "not waited for",
        {"        while cuda.atomic.add(ready, 0, 0) == 0:\n            pass\n": ""},
        Said("race", "box[t - 32] =", "out[t] ="),
    ),
    fault(
        "chained scan",
        "fence forgotten",
        {"    cuda.threadfence()\n": ""},
        Said("race", "before = carry", "carry[b] ="),
    ),
    fault(
        "chained scan",
        "waits for its own flag",
        {"(ready, b - 1, 0)": "(ready, b, 0)"},
        Said("no-progress", "while"),
    ),
    fault(
        "chained scan",
        "flag set too early",
        {
            "    carry[b] = total\n": "",
            "(ready, b, 1)\n": "(ready, b, 1)\n    carry[b] = total\n",
        },
        Said("race", "before = carry", "carry[b] ="),
    ),
    fault(
        "grid barrier",
        "barrier of the block only",
        {"grid.sync()  # written": "cuda.syncthreads()  # written"},
        Said("race", "value =", "a[i] = i"),
    ),
    fault(
        "grid barrier",
        "second barrier dropped",
        {"    grid.sync()  # read\n": ""},
        Said("race", "a[i] = value", "value ="),
    ),
    fault(
        "grid barrier",
        "barrier for the first block only",
        {"    grid.sync()  # read": "    if i < 32:\n        grid.sync()  # read"},
        Said("divergent-barrier", "# read"),
    ),
    fault(
        "ping-pong",
        "buffers not exchanged",
        {"        a, b = b, a\n": "        a, b = a, a\n"},
        Said("race", "b[i] =", "left ="),
    ),
    fault(
        "ping-pong",
        "barrier dropped",
        {"        grid.sync()\n": ""},
        Said("race", "left =", "b[i] ="),
        Said("race", "b[i] =", "left ="),
    ),
    fault(
        "ping-pong",
        "left edge unguarded",
        {"a[i - 1] if i > 0 else 0": "a[i - 1]"},
        Said("negative-index", "left ="),
    ),
    fault(
        "own cells",
        "block index forgotten",
        {"i = cuda.grid(1)": "i = cuda.threadIdx.x"},
        Said("write-overlap", "out[i] =", "out[i] ="),
    ),
    fault(
        "own cells",
        "blocks overlap by half",
        {
            "i = cuda.grid(1)": "i = cuda.blockIdx.x * 16 + cuda.threadIdx.x",
            "a[i] * 2": "cuda.threadIdx.x",
        },
        Said("race", "out[i] =", "out[i] ="),
    ),
    fault(
        "own cells",
        "guard forgotten",
        {"if i < a.size:": "if i >= 0:"},
        Said("out-of-bounds", "out[i] ="),
    ),
    fault(
        "own cells",
        "set on one path only",
        {
            "        out[i] = a[i] * 2": (
                "        if i > 3:\n            value = a[i]\n        out[i] = value * 2"
            )
        },
        Said("uninitialised-read", "out[i] ="),
    ),
]
