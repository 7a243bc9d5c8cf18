"""Inclusive prefix sum of n float32: ``out[i] = a[0] + … + a[i]``; 8 n bytes would do.

Each version scans blocks, then the blocks' totals, then adds to each block what stands before it,
and so moves 16 n bytes. `totals` holds one number a block.
"""

from __future__ import annotations

import numpy as np
from numba import float32

from wia_lab import cuda
from wia_lab.kernels.ladder import Launch, Step, Topic, ceil_div, uniform, unwritten
from wia_lab.kernels.reduction import ALL

BLOCK = 256  # threads
WARPS = BLOCK // 32
EACH = 8  # elements of a thread in the last version
SPAN = BLOCK * EACH
PADDED = SPAN + SPAN // 32  # a cell for every 32 keeps threads that are 8 cells apart off one bank


@cuda.jit
def scan_steps(out, totals, a):
    """Hillis and Steele: log₂ 256 turns, in each of which every thread adds a neighbour.

    n log n additions, two barriers a turn. Bound by shared memory and barriers.
    Launch: ⌈n / 256⌉ blocks of 256.
    """
    cells = cuda.shared.array(BLOCK, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    value = a[i] if i < a.size else float32(0.0)
    cells[t] = value
    cuda.syncthreads()
    step = 1
    while step < BLOCK:
        if t >= step:
            value += cells[t - step]
        cuda.syncthreads()
        cells[t] = value
        cuda.syncthreads()
        step *= 2
    if i < a.size:
        out[i] = value
    if t == BLOCK - 1:
        totals[cuda.blockIdx.x] = value


@cuda.jit
def scan_tree(out, totals, a):
    """Blelloch: sums go up a tree and prefixes come down it, 2 n additions.

    Strides that are powers of two meet in a bank. Bound by barriers and bank conflicts.
    Launch: ⌈n / 256⌉ blocks of 256.
    """
    cells = cuda.shared.array(BLOCK, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    value = a[i] if i < a.size else float32(0.0)
    cells[t] = value
    step = 1
    while step < BLOCK:
        cuda.syncthreads()
        right = (t + 1) * 2 * step - 1
        if right < BLOCK:
            cells[right] += cells[right - step]
        step *= 2
    step = BLOCK // 4
    while step > 0:
        cuda.syncthreads()
        right = (t + 1) * 2 * step - 1
        if right + step < BLOCK:
            cells[right + step] += cells[right]
        step //= 2
    cuda.syncthreads()
    if i < a.size:
        out[i] = cells[t]
    if t == BLOCK - 1:
        totals[cuda.blockIdx.x] = cells[t]


@cuda.jit(device=True)
def block_prefix(value, sums):
    """Sum of `value` over this thread and those before it in the block; `sums` holds 8.

    Each warp scans through registers, then the warps' totals are scanned in the same way.
    """
    t = cuda.threadIdx.x
    lane, warp = t & 31, t >> 5
    for bit in range(5):
        before = cuda.shfl_up_sync(ALL, value, 1 << bit)
        if lane >= 1 << bit:
            value += before
    if lane == 31:
        sums[warp] = value
    cuda.syncthreads()
    if warp > 0:
        for k in range(WARPS):
            if k < warp:
                value += sums[k]
    cuda.syncthreads()
    return value


@cuda.jit
def scan_shuffle(out, totals, a):
    """Warps scan through registers: no shared memory but a number a warp, two barriers.

    Bound by bytes in flight, 4 a thread. Launch: ⌈n / 256⌉ blocks of 256.
    """
    sums = cuda.shared.array(WARPS, float32)
    i = cuda.grid(1)
    value = block_prefix(a[i] if i < a.size else float32(0.0), sums)
    if i < a.size:
        out[i] = value
    if cuda.threadIdx.x == BLOCK - 1:
        totals[cuda.blockIdx.x] = value


@cuda.jit
def scan_registers(out, totals, a):
    """Eight neighbours a thread, summed in registers: an eighth of the shuffles and barriers.

    Loads and stores go through a padded tile, so that both sides are coalesced and no bank is hit
    twice. Bound by memory bandwidth: 16 n bytes. Launch: ⌈n / 2048⌉ blocks of 256.
    """
    cells = cuda.shared.array(PADDED, float32)
    sums = cuda.shared.array(WARPS, float32)
    held = cuda.local.array(EACH, float32)
    t = cuda.threadIdx.x
    first = cuda.blockIdx.x * SPAN
    for k in range(EACH):
        i = first + t + k * BLOCK
        held[k] = a[i] if i < a.size else float32(0.0)
    for k in range(EACH):
        j = t + k * BLOCK
        cells[j + (j >> 5)] = held[k]
    cuda.syncthreads()
    total = float32(0.0)
    for k in range(EACH):
        j = t * EACH + k
        total += cells[j + (j >> 5)]
        held[k] = total
    before = block_prefix(total, sums) - total
    for k in range(EACH):
        j = t * EACH + k
        cells[j + (j >> 5)] = held[k] + before
    cuda.syncthreads()
    for k in range(EACH):
        j = t + k * BLOCK
        if first + j < a.size:
            out[first + j] = cells[j + (j >> 5)]
    if t == BLOCK - 1:
        totals[cuda.blockIdx.x] = before + total


@cuda.jit
def scan_totals(totals):
    """Scan the blocks' totals in place, 256 at a time. Launch: one block of 256."""
    sums = cuda.shared.array(WARPS, float32)
    carried = cuda.shared.array(1, float32)
    t = cuda.threadIdx.x
    if t == 0:
        carried[0] = float32(0.0)
    for first in range(0, totals.size, BLOCK):
        i = first + t
        value = block_prefix(totals[i] if i < totals.size else float32(0.0), sums)
        value += carried[0]
        if i < totals.size:
            totals[i] = value
        cuda.syncthreads()
        if t == BLOCK - 1:
            carried[0] = value
        cuda.syncthreads()


@cuda.jit
def add_before(out, totals, span):
    """Add to each element what the blocks of `span` elements before its own hold together.

    Launch: ⌈n / 256⌉ blocks of 256.
    """
    i = cuda.grid(1)
    if span <= i < out.size:
        out[i] += totals[i // span - 1]


def _scan(kernel, span):
    def plan(out, a, totals):
        blocks = ceil_div(a.size, span)
        ends = totals[:blocks]
        return [
            Launch(kernel, blocks, BLOCK, (out, ends, a)),
            Launch(scan_totals, 1, BLOCK, (ends,)),
            Launch(add_before, ceil_div(a.size, BLOCK), BLOCK, (out, ends, span)),
        ]

    return plan


SCAN = Topic(
    name="scan",
    steps=(
        Step("Hillis–Steele", _scan(scan_steps, BLOCK)),
        Step("work-efficient tree", _scan(scan_tree, BLOCK)),
        Step("warp shuffle", _scan(scan_shuffle, BLOCK)),
        Step("eight a thread", _scan(scan_registers, SPAN)),
    ),
    arguments=lambda rng, n: (
        unwritten(n),
        uniform(rng, n),
        unwritten(ceil_div(n, BLOCK)),
    ),
    reference=lambda out, a, totals: np.cumsum(a, dtype=np.float64),  # noqa: ARG005
    sizes=((1,), (1009,), (4096,), (5003,)),
    tolerance=1e-4,
)
