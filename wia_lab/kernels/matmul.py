"""Matrix product ``c = a · b``: a is (m, k), b (k, n), c (m, n); 2 m n k operations.

Inputs are float32, or float16 whose products are summed in float32; c is float32. Sizes may be
ragged: what lies outside counts as zero. Each step raises the operations done for every byte that
is fetched: from memory, then from shared memory, then overlapping the two.
"""

from __future__ import annotations

import numpy as np
from numba import float32

from wia_lab import cuda
from wia_lab.kernels.ladder import Launch, Step, Topic, ceil_div, uniform, unwritten
from wia_lab.kernels.matmul_pipeline import (
    matmul_double_buffered,
    matmul_pipeline,
    matmul_two_blocks,
)
from wia_lab.kernels.matmul_transposed import matmul_transposed

TILE = 32  # side of the tile that gives one output a thread
SIDE = 128  # side of a block's part of c in the register-tiled versions
DEPTH = 8  # columns of a, rows of b, in one register tile's step
PART = 8  # outputs a thread, each way
HALF = 4  # columns that are neighbours; the other four lie SIDE / 2 further on
MIDDLE = SIDE // 2
THREADS = 256


@cuda.jit
def matmul_naive(c, a, b):
    """One output a thread; row and column straight from global memory.

    Two loads an operation pair; neighbouring lanes share a row and read neighbouring columns.
    Bound by load requests. Launch: tiles of 32×32 threads over c, x along its columns.
    """
    x, y = cuda.grid(2)
    if y < c.shape[0] and x < c.shape[1]:
        total = float32(0.0)
        for k in range(a.shape[1]):
            total += float32(a[y, k]) * float32(b[k, x])
        c[y, x] = total


@cuda.jit
def matmul_tiled(c, a, b):
    """One output a thread; tiles of 32×32 of both factors are shared by the block.

    Each number is fetched once a block: 32 times fewer global loads. Bound by shared memory, two
    reads an operation pair. Launch: as `matmul_naive`.
    """
    ta = cuda.shared.array((TILE, TILE), float32)
    tb = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    x, y = cuda.grid(2)
    total = float32(0.0)
    for first in range(0, a.shape[1], TILE):
        inside_a = y < a.shape[0] and first + tx < a.shape[1]
        inside_b = first + ty < b.shape[0] and x < b.shape[1]
        ta[ty, tx] = float32(a[y, first + tx]) if inside_a else float32(0.0)
        tb[ty, tx] = float32(b[first + ty, x]) if inside_b else float32(0.0)
        cuda.syncthreads()
        for k in range(TILE):
            total += ta[ty, k] * tb[k, tx]
        cuda.syncthreads()
    if y < c.shape[0] and x < c.shape[1]:
        c[y, x] = total


@cuda.jit
def matmul_registers(c, a, b):
    """Each thread makes 8×8 outputs in registers: 16 shared reads for 64 operation pairs.

    Its eight columns are two groups of four neighbours, so that a warp reads whole rows of the
    tile without conflicts. Bound by the wait for global loads between two barriers.
    Launch: 256 threads a part of 128×128 of c.
    """
    ta = cuda.shared.array((DEPTH, SIDE), float32)
    tb = cuda.shared.array((DEPTH, SIDE), float32)
    sums = cuda.local.array((PART, PART), float32)
    left = cuda.local.array(PART, float32)
    right = cuda.local.array(PART, float32)
    t = cuda.threadIdx.x
    tx = ((t >> 5) & 1) * 8 + (t & 7)  # a warp covers 8 × 4 threads of the block's 16 × 16
    ty = (t >> 6) * 4 + ((t >> 3) & 3)
    y0, x0 = cuda.blockIdx.y * SIDE, cuda.blockIdx.x * SIDE
    for i in range(PART):
        for j in range(PART):
            sums[i, j] = float32(0.0)
    for first in range(0, a.shape[1], DEPTH):
        for e in range(t, SIDE * DEPTH, THREADS):
            y, k = e // DEPTH, e % DEPTH
            inside = y0 + y < a.shape[0] and first + k < a.shape[1]
            ta[k, y] = float32(a[y0 + y, first + k]) if inside else float32(0.0)
        for e in range(t, SIDE * DEPTH, THREADS):
            k, x = e // SIDE, e % SIDE
            inside = first + k < b.shape[0] and x0 + x < b.shape[1]
            tb[k, x] = float32(b[first + k, x0 + x]) if inside else float32(0.0)
        cuda.syncthreads()
        for k in range(DEPTH):
            for i in range(PART):
                left[i] = ta[k, ty * PART + i]
            for j in range(HALF):
                right[j] = tb[k, tx * HALF + j]
                right[j + HALF] = tb[k, MIDDLE + tx * HALF + j]
            for i in range(PART):
                for j in range(PART):
                    sums[i, j] += left[i] * right[j]
        cuda.syncthreads()
    for i in range(PART):
        y = y0 + ty * PART + i
        for j in range(PART):
            x = x0 + tx * HALF + j + (MIDDLE - HALF if j >= HALF else 0)
            if y < c.shape[0] and x < c.shape[1]:
                c[y, x] = sums[i, j]


def _one_each(kernel):
    def plan(c, a, b):
        grid = (ceil_div(c.shape[1], TILE), ceil_div(c.shape[0], TILE))
        return [Launch(kernel, grid, (TILE, TILE), (c, a, b))]

    return plan


def _parts(kernel):
    def plan(c, a, b):
        grid = (ceil_div(c.shape[1], SIDE), ceil_div(c.shape[0], SIDE))
        return [Launch(kernel, grid, THREADS, (c, a, b))]

    return plan


def _reference(c, a, b):  # noqa: ARG001 - of all arguments
    return a.astype(np.float64) @ b.astype(np.float64)


MATMUL = Topic(
    name="matmul",
    steps=(
        Step("naive", _one_each(matmul_naive)),
        Step("tiled", _one_each(matmul_tiled)),
        Step("register tile", _parts(matmul_registers)),
        Step("double-buffered", _parts(matmul_double_buffered)),
        Step("pipeline, 16-byte copies", _parts(matmul_pipeline)),
        Step("two blocks together", _parts(matmul_two_blocks)),
        Step("turned tile, unrolled", _parts(matmul_transposed)),
    ),
    arguments=lambda rng, m, n, k: (unwritten(m, n), uniform(rng, m, k), uniform(rng, k, n)),
    reference=_reference,
    sizes=((37, 45, 29), (130, 133, 36), (128, 132, 40)),
)

HALF_MATMUL = Topic(
    name="matmul-float16",
    steps=(
        Step("naive", _one_each(matmul_naive)),
        Step("tiled", _one_each(matmul_tiled)),
        Step("register tile", _parts(matmul_registers)),
    ),
    arguments=lambda rng, m, n, k: (
        unwritten(m, n),
        uniform(rng, m, k).astype(np.float16),
        uniform(rng, k, n).astype(np.float16),
    ),
    reference=_reference,
    sizes=((37, 45, 29), (130, 133, 36)),
)
