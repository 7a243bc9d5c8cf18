"""Row softmax and layer norm of a matrix of float32: 8 bytes an element if each is read once.

``softmax[r, x] = exp(a[r, x] − max_r) / Σ exp(a[r, ·] − max_r)``;
``layer_norm[r, x] = (a[r, x] − mean_r) / √(var_r + ε) · gamma[x] + beta[x]``. Bound by memory
bandwidth when a row is read once and stays in registers.
"""

from __future__ import annotations

import math

import numpy as np
from numba import float32

from wia_lab import cuda
from wia_lab.kernels.ladder import Launch, Step, Topic, ceil_div, uniform, unwritten
from wia_lab.kernels.reduction import ALL, warp_sum

BLOCK = 512  # threads: sixteen warps
WARPS = BLOCK // 32
HELD = 16  # elements of a row that a thread keeps in registers
LONGEST = BLOCK * HELD  # columns of the widest row that fits
LOWEST = float32(-math.inf)
EPSILON = float32(1e-5)


@cuda.jit(device=True)
def warp_max(value):
    """Greatest `value` of the 32 lanes of a full warp; every lane gets it."""
    for bit in range(5):
        value = max(value, cuda.shfl_xor_sync(ALL, value, 1 << bit))
    return value


@cuda.jit(device=True)
def block_sum(value, cells):
    """Sum of `value` over a block of 512; `cells` holds 16. Every thread gets it."""
    t = cuda.threadIdx.x
    value = warp_sum(value)
    if t % 32 == 0:
        cells[t // 32] = value
    cuda.syncthreads()
    value = warp_sum(cells[t % WARPS]) * float32(0.5)  # each cell is read by two lanes
    cuda.syncthreads()
    return value


@cuda.jit(device=True)
def block_max(value, cells):
    """Greatest `value` of a block of 512; `cells` holds 16. Every thread gets it."""
    t = cuda.threadIdx.x
    value = warp_max(value)
    if t % 32 == 0:
        cells[t // 32] = value
    cuda.syncthreads()
    value = warp_max(cells[t % WARPS])
    cuda.syncthreads()
    return value


@cuda.jit(device=True)
def load_row(held, row, t, outside):
    """Load thread t's elements of a row, every 512th; `outside` where the row has ended."""
    if row.size == LONGEST:
        for k in range(HELD):
            held[k] = row[t + k * BLOCK]
    else:
        for k in range(HELD):
            x = t + k * BLOCK
            held[k] = row[x] if x < row.size else outside


@cuda.jit(device=True)
def store_row(row, held, t):
    """Store thread t's elements of a row, every 512th."""
    if row.size == LONGEST:
        for k in range(HELD):
            row[t + k * BLOCK] = held[k]
    else:
        for k in range(HELD):
            x = t + k * BLOCK
            if x < row.size:
                row[x] = held[k]


@cuda.jit
def softmax_thread(out, a):
    """A thread a row, three passes: lanes are a row apart, a sector for every lane.

    Bound by sectors. Launch: ⌈rows / 64⌉ blocks of 64.
    """
    r = cuda.grid(1)
    if r >= a.shape[0]:
        return
    highest = LOWEST
    for x in range(a.shape[1]):
        highest = max(highest, a[r, x])
    total = float32(0.0)
    for x in range(a.shape[1]):
        total += math.exp(a[r, x] - highest)
    for x in range(a.shape[1]):
        out[r, x] = math.exp(a[r, x] - highest) / total


@cuda.jit
def softmax_block(out, a):
    """A block a row, three passes over it: coalesced, the row read three times.

    Bound by the bytes that caches do not hold, and by latency. Launch: a block of 512 a row.
    """
    cells = cuda.shared.array(WARPS, float32)
    r, t = cuda.blockIdx.x, cuda.threadIdx.x
    highest = LOWEST
    for x in range(t, a.shape[1], BLOCK):
        highest = max(highest, a[r, x])
    highest = block_max(highest, cells)
    total = float32(0.0)
    for x in range(t, a.shape[1], BLOCK):
        total += math.exp(a[r, x] - highest)
    total = block_sum(total, cells)
    for x in range(t, a.shape[1], BLOCK):
        out[r, x] = math.exp(a[r, x] - highest) / total


@cuda.jit
def softmax_online(out, a):
    """Maximum and sum in one pass: the sum is rescaled whenever the maximum grows. Two passes.

    After Milakov and Gimelshein, "Online normalizer calculation for softmax" (2018). Bound by
    bytes and latency. Launch: a block of 512 a row.
    """
    cells = cuda.shared.array(WARPS, float32)
    r, t = cuda.blockIdx.x, cuda.threadIdx.x
    highest, total = LOWEST, float32(0.0)
    for x in range(t, a.shape[1], BLOCK):
        value = a[r, x]
        if value > highest:
            total *= math.exp(highest - value)
            highest = value
        total += math.exp(value - highest)
    top = block_max(highest, cells)
    total = block_sum(
        total * math.exp(highest - top) if total > float32(0.0) else float32(0.0), cells
    )
    for x in range(t, a.shape[1], BLOCK):
        out[r, x] = math.exp(a[r, x] - top) / total


@cuda.jit
def softmax_registers(out, a):
    """Each thread keeps its 16 elements of the row in registers: one pass, 16 loads in flight.

    Rows of at most 8,192 columns; one of just so many is loaded and stored without a test an
    element. Bound by memory bandwidth. Launch: a block of 512 a row.
    """
    cells = cuda.shared.array(WARPS, float32)
    held = cuda.local.array(HELD, float32)
    r, t = cuda.blockIdx.x, cuda.threadIdx.x & (BLOCK - 1)
    load_row(held, a[r], t, LOWEST)
    highest = held[0]
    for k in range(1, HELD):
        highest = max(highest, held[k])
    highest = block_max(highest, cells)
    total = float32(0.0)
    for k in range(HELD):
        held[k] = math.exp(held[k] - highest)
        total += held[k]
    factor = float32(1.0) / block_sum(total, cells)
    for k in range(HELD):
        held[k] *= factor
    store_row(out[r], held, t)


@cuda.jit
def layer_norm_thread(out, a, gamma, beta):
    """A thread a row, three passes: lanes are a row apart, a sector for every lane.

    Bound by sectors. Launch: ⌈rows / 64⌉ blocks of 64.
    """
    r = cuda.grid(1)
    if r >= a.shape[0]:
        return
    total = float32(0.0)
    for x in range(a.shape[1]):
        total += a[r, x]
    mean = total / float32(a.shape[1])
    squares = float32(0.0)
    for x in range(a.shape[1]):
        squares += (a[r, x] - mean) * (a[r, x] - mean)
    factor = float32(1.0) / math.sqrt(squares / float32(a.shape[1]) + EPSILON)
    for x in range(a.shape[1]):
        out[r, x] = (a[r, x] - mean) * factor * gamma[x] + beta[x]


@cuda.jit
def layer_norm_block(out, a, gamma, beta):
    """A block a row, three passes over it: coalesced, the row read three times.

    Bound by the bytes that caches do not hold, and by latency. Launch: a block of 512 a row.
    """
    cells = cuda.shared.array(WARPS, float32)
    r, t = cuda.blockIdx.x, cuda.threadIdx.x
    total = float32(0.0)
    for x in range(t, a.shape[1], BLOCK):
        total += a[r, x]
    mean = block_sum(total, cells) / float32(a.shape[1])
    squares = float32(0.0)
    for x in range(t, a.shape[1], BLOCK):
        squares += (a[r, x] - mean) * (a[r, x] - mean)
    factor = float32(1.0) / math.sqrt(block_sum(squares, cells) / float32(a.shape[1]) + EPSILON)
    for x in range(t, a.shape[1], BLOCK):
        out[r, x] = (a[r, x] - mean) * factor * gamma[x] + beta[x]


@cuda.jit
def layer_norm_registers(out, a, gamma, beta):
    """Each thread keeps its 16 elements in registers: one pass, 16 loads in flight.

    The variance is that of differences from the mean, so nothing cancels. Rows of at most 8,192
    columns; gamma and beta stay in the caches. Bound by memory bandwidth.
    Launch: a block of 512 a row.
    """
    cells = cuda.shared.array(WARPS, float32)
    held = cuda.local.array(HELD, float32)
    r, t = cuda.blockIdx.x, cuda.threadIdx.x & (BLOCK - 1)
    load_row(held, a[r], t, float32(0.0))
    total = float32(0.0)
    for k in range(HELD):
        total += held[k]
    mean = block_sum(total, cells) / float32(a.shape[1])
    squares = float32(0.0)
    for k in range(HELD):
        held[k] -= mean
        if t + k * BLOCK < a.shape[1]:
            squares += held[k] * held[k]
    factor = float32(1.0) / math.sqrt(block_sum(squares, cells) / float32(a.shape[1]) + EPSILON)
    row = out[r]
    if row.size == LONGEST:
        for k in range(HELD):
            row[t + k * BLOCK] = held[k] * factor * gamma[t + k * BLOCK] + beta[t + k * BLOCK]
    else:
        for k in range(HELD):
            x = t + k * BLOCK
            if x < row.size:
                row[x] = held[k] * factor * gamma[x] + beta[x]


def _thread_a_row(kernel):
    return lambda out, *rest: [Launch(kernel, ceil_div(out.shape[0], 64), 64, (out, *rest))]


def _block_a_row(kernel):
    return lambda out, *rest: [Launch(kernel, out.shape[0], BLOCK, (out, *rest))]


def _softmax(out, a):  # noqa: ARG001 - of all arguments
    raised = np.exp(a - a.max(axis=1, keepdims=True).astype(np.float64))
    return raised / raised.sum(axis=1, keepdims=True)


def _layer_norm(out, a, gamma, beta):  # noqa: ARG001 - of all arguments
    wide = a.astype(np.float64)
    centred = wide - wide.mean(axis=1, keepdims=True)
    return centred / np.sqrt(wide.var(axis=1, keepdims=True) + float(EPSILON)) * gamma + beta


SOFTMAX = Topic(
    name="softmax",
    steps=(
        Step("a thread a row", _thread_a_row(softmax_thread)),
        Step("a block a row", _block_a_row(softmax_block)),
        Step("online", _block_a_row(softmax_online)),
        Step("row in registers", _block_a_row(softmax_registers)),
    ),
    arguments=lambda rng, rows, columns: (
        unwritten(rows, columns),
        uniform(rng, rows, columns) * np.float32(20),
    ),
    reference=_softmax,
    sizes=((3, 1), (5, 1009), (2, LONGEST)),
    tolerance=1e-4,
)

LAYER_NORM = Topic(
    name="layer-norm",
    steps=(
        Step("a thread a row", _thread_a_row(layer_norm_thread)),
        Step("a block a row", _block_a_row(layer_norm_block)),
        Step("row in registers", _block_a_row(layer_norm_registers)),
    ),
    arguments=lambda rng, rows, columns: (
        unwritten(rows, columns),
        uniform(rng, rows, columns) + np.float32(3),
        uniform(rng, columns),
        uniform(rng, columns),
    ),
    reference=_layer_norm,
    sizes=((5, 1009), (2, LONGEST)),
    tolerance=1e-4,
)
