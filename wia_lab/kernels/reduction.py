"""Sum of n float32: 4 n bytes read, one addition an element.

Every version leaves one sum a block in `partial`; one more block adds those up. Bound by memory
bandwidth once threads have enough loads in flight; before that by idle lanes and shared memory.
"""

from __future__ import annotations

import numpy as np
from numba import float32

from wia_lab import cuda
from wia_lab.kernels.ladder import Launch, Step, Topic, ceil_div, uniform, unwritten

BLOCK = 256  # threads: eight warps
WARPS = BLOCK // 32
LOADS = 8  # independent loads a thread
PERSISTENT_BLOCKS = 132 * 8  # fills an H200's 132 multiprocessors
ALL = 0xFFFFFFFF


@cuda.jit(device=True)
def warp_sum(value):
    """Sum of `value` over the 32 lanes of a full warp; every lane gets it."""
    for bit in range(5):
        value += cuda.shfl_xor_sync(ALL, value, 1 << bit)
    return value


@cuda.jit
def sum_interleaved(partial, a):
    """A tree whose active threads lie further and further apart: warps diverge at each level.

    Bound by instructions: all warps run every level for ever fewer lanes.
    Launch: ⌈n / 256⌉ blocks of 256.
    """
    cells = cuda.shared.array(BLOCK, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    cells[t] = a[i] if i < a.size else 0.0
    cuda.syncthreads()
    step = 1
    while step < BLOCK:
        if t % (2 * step) == 0:
            cells[t] += cells[t + step]
        cuda.syncthreads()
        step *= 2
    if t == 0:
        partial[cuda.blockIdx.x] = cells[0]


@cuda.jit
def sum_sequential(partial, a):
    """A tree whose active threads are the first ones: whole warps fall idle, none diverges.

    Down to the last warp. Bound by barriers and shared memory. Launch: ⌈n / 256⌉ blocks of 256.
    """
    cells = cuda.shared.array(BLOCK, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    cells[t] = a[i] if i < a.size else 0.0
    cuda.syncthreads()
    step = BLOCK // 2
    while step > 0:
        if t < step:
            cells[t] += cells[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        partial[cuda.blockIdx.x] = cells[0]


@cuda.jit
def sum_shuffle(partial, a):
    """Warps add up through registers; shared memory holds one number a warp; one barrier.

    Bound by bytes in flight, 4 a thread. Launch: ⌈n / 256⌉ blocks of 256.
    """
    cells = cuda.shared.array(WARPS, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    value = a[i] if i < a.size else float32(0.0)
    value = warp_sum(value)
    if t % 32 == 0:
        cells[t // 32] = value
    cuda.syncthreads()
    if t < 32:
        value = warp_sum(cells[t] if t < WARPS else float32(0.0))
        if t == 0:
            partial[cuda.blockIdx.x] = value


@cuda.jit
def sum_two_stage(partial, a):
    """A fixed grid walks the vector, eight independent loads a thread and turn; then shuffles.

    One sum for every 256 · (n / grid) elements. Bound by memory bandwidth.
    Launch: as many blocks of 256 as the device holds at once.
    """
    cells = cuda.shared.array(WARPS, float32)
    values = cuda.local.array(LOADS, float32)
    t = cuda.threadIdx.x
    stride = cuda.gridsize(1)
    value = float32(0.0)
    i = cuda.grid(1)
    while i + (LOADS - 1) * stride < a.size:
        for k in range(LOADS):
            values[k] = a[i + k * stride]
        for k in range(LOADS):
            value += values[k]
        i += LOADS * stride
    while i < a.size:
        value += a[i]
        i += stride
    value = warp_sum(value)
    if t % 32 == 0:
        cells[t // 32] = value
    cuda.syncthreads()
    if t < 32:
        value = warp_sum(cells[t] if t < WARPS else float32(0.0))
        if t == 0:
            partial[cuda.blockIdx.x] = value


def _a_block_each(kernel):
    def plan(out, a, partial):
        blocks = ceil_div(a.size, BLOCK)
        sums = partial[:blocks]
        return [
            Launch(kernel, blocks, BLOCK, (sums, a)),
            Launch(sum_two_stage, 1, BLOCK, (out, sums)),
        ]

    return plan


def _two_stage(out, a, partial):
    blocks = min(ceil_div(a.size, BLOCK), PERSISTENT_BLOCKS)
    sums = partial[:blocks]
    return [
        Launch(sum_two_stage, blocks, BLOCK, (sums, a)),
        Launch(sum_two_stage, 1, BLOCK, (out, sums)),
    ]


REDUCTION = Topic(
    name="reduction",
    steps=(
        Step("interleaved", _a_block_each(sum_interleaved)),
        Step("sequential", _a_block_each(sum_sequential)),
        Step("warp shuffle", _a_block_each(sum_shuffle)),
        Step("two-stage", _two_stage),
    ),
    arguments=lambda rng, n: (unwritten(1), uniform(rng, n), unwritten(ceil_div(n, BLOCK))),
    reference=lambda out, a, partial: np.array([a.sum(dtype=np.float64)]),  # noqa: ARG005
    sizes=((1,), (1009,), (4096,)),
    tolerance=1e-4,
)
