"""What each level of the memory hierarchy takes: a pointer chase for latency, a sweep for bytes.

A chase follows ``next[i]`` with one thread: every load waits for the one before, so time over steps
is the latency of the level that holds the table. A sweep reads a buffer again and again with the
whole device: bytes over time is the bandwidth of the level that holds it.
"""

from __future__ import annotations

import numpy as np
from numba import float32, uint32

from wia_lab import cuda

CHASED = 4096  # entries that a chase in shared memory holds: 16 KiB
BLOCK = 256  # threads of a sweep
LOADS = 8  # independent loads a thread and turn
SPAN = BLOCK * LOADS


@cuda.jit
def chase(out, following, steps):
    """Follow `following`, uint32, for `steps` loads from entry `out[0]`, which becomes the last.

    The next launch goes on where this one ended, so that no cache holds what comes. Bound by
    latency alone. Launch: one thread.
    """
    i = out[0]
    for _ in range(steps):
        i = following[i]
    out[0] = i


@cuda.jit
def chase_shared(out, following, steps):
    """The same through a table of at most 4,096 entries in shared memory.

    Launch: one block; all its threads fill the table, the first one follows it.
    """
    cells = cuda.shared.array(CHASED, uint32)
    for k in range(cuda.threadIdx.x, following.size, cuda.blockDim.x):
        cells[k] = following[k]
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        i = out[0]
        for _ in range(steps):
            i = cells[i]
        out[0] = i


@cuda.jit
def sweep(out, a, repeats, parts):
    """Add up a buffer of float32 `repeats` times; `out[thread]` is each thread's sum.

    The buffer is `parts` parts of a multiple of 2,048 floats; each turn a block reads another one,
    so that no block finds its own last part in the L1. With one part of 16 KiB each L1 holds it;
    with a part a block the L2 must hold the buffer. Bound by the bandwidth of the level that does.
    Launch: blocks of 256.
    """
    held = cuda.local.array(LOADS, float32)
    size = a.size // parts
    total = float32(0.0)
    part = cuda.blockIdx.x % parts
    advance = (cuda.gridDim.x + 1) % parts
    for _ in range(repeats):
        first = part * size + cuda.threadIdx.x
        for begin in range(first, first + size, SPAN):
            for k in range(LOADS):
                held[k] = a[begin + k * BLOCK]
            for k in range(LOADS):
                total += held[k]
        part += advance
        if part >= parts:
            part -= parts
    out[cuda.grid(1)] = total


@cuda.jit
def sweep_shared(out, a, repeats):
    """Add up 2,048 floats in shared memory `repeats` times, lanes on 32 banks: 8 KiB a turn.

    Bound by shared memory's 128 bytes a cycle. Launch: blocks of 256.
    """
    cells = cuda.shared.array(SPAN, float32)
    t = cuda.threadIdx.x
    for k in range(LOADS):
        cells[t + k * BLOCK] = a[t + k * BLOCK]
    cuda.syncthreads()
    total = float32(0.0)
    for turn in range(repeats):
        place = (t + turn) & (BLOCK - 1)  # another cell each turn, or the compiler reads once
        for k in range(LOADS):
            total += cells[place + k * BLOCK]
    out[cuda.grid(1)] = total


def ring(entries: int, stride: int = 32, seed: int = 0) -> np.ndarray:
    """A random cycle through every `stride`-th of `entries` uint32: one a 128-byte line.

    Entries between are unused. From entry 0 it comes back after `entries` / `stride` steps.
    """
    lines = entries // stride
    order = np.random.default_rng(seed).permutation(lines - 1) + 1
    order = np.concatenate(([0], order)) * stride
    following = np.zeros(entries, np.uint32)
    following[order] = np.roll(order, -1)
    return following
