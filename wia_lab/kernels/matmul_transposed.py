"""The matrix product of `matmul_pipeline` with little in its loop but loads and multiply-adds.

A scheduler starts one warp instruction a cycle, and a multiply-add takes one such start: whatever
else stands in the loop is taken from the arithmetic. So the tile of `a` is turned over while it is
copied: for each k, a thread then finds the 8 rows that it needs in two reads of 16 bytes, and holds
16 numbers for 64 products, where `matmul_pipeline` holds 40. A step's 8 columns are written out
one after another, so that no index is computed, and all tests of what lies outside are made once,
before the loop. For compute capability 9.0, ptxas 13.0 then makes a step of 641 instructions, 512
of them multiply-adds, in 128 registers with nothing in local memory; `matmul_two_blocks` needs
about 770, and fetches 34 spilled numbers.

Nsight Compute saw the difference on an H200 (2026-11-30, driver 580.159.04, 4096³): from
`matmul_two_blocks` to this kernel, the schedulers issue in 83 instead of 72 of 100 cycles, 2.81
instead of 3.35 × 10⁹ warp instructions in all, and the pipe of the multiply-adds is busy for 68
instead of 50 % (`sm__inst_executed_pipe_fma`). cuBLAS keeps it busy for 79 %, with 2.43 × 10⁹.
"""

from __future__ import annotations

from numba import float32

from wia_lab import cuda

SIDE = 128  # side of a block's part of c
DEPTH = 8  # columns of a, rows of b, in one step
PADDED = SIDE + 4  # 8 columns of 4 rows of `a` then lie in 32 different banks
PART = 8  # outputs a thread, each way
WIDE = 4  # floats in 16 bytes
MIDDLE = SIDE // 2
THREADS = 256
CELLS = SIDE * DEPTH  # of one tile
ROWS = THREADS // DEPTH  # of `a` that the block copies at a time
STAGES = 4
AHEAD = STAGES - 1
WAITED = STAGES - 2
LAST = STAGES - 1  # stage & LAST is stage % STAGES, and never negative
REGISTERS = 128  # two blocks of 256 threads fill a multiprocessor's 65,536


@cuda.jit(device=True)
def fetch_whole(ta, tb, a, b, y0, x0, first):
    """Begin to copy the tiles at (y0, first) of `a`, turned over, and (first, x0) of `b`.

    Columns of `a` are 4 bytes each in 8 rows of the tile; a row of `b` goes 16 bytes a copy.
    """
    t = cuda.threadIdx.x & (THREADS - 1)
    k, y = t & (DEPTH - 1), t >> 3
    for i in range(SIDE // ROWS):
        cuda.cp_async(ta, (k, y + i * ROWS), a, (y0 + (y + i * ROWS), first + k))
    k, x = t >> 5, (t & 31) * WIDE
    cuda.cp_async(tb, (k, x), b, (first + k, x0 + x), WIDE)


@cuda.jit(device=True)
def load_ragged(ta, tb, a, b, y0, x0, first):
    """Fill the same tiles, zeros where they reach outside the matrices."""
    for e in range(cuda.threadIdx.x, CELLS, THREADS):
        y, k = e // DEPTH, e % DEPTH
        inside = y0 + y < a.shape[0] and first + k < a.shape[1]
        ta[k, y] = a[y0 + y, first + k] if inside else float32(0.0)
        k, x = e // SIDE, e % SIDE
        inside = first + k < b.shape[0] and x0 + x < b.shape[1]
        tb[k, x] = b[first + k, x0 + x] if inside else float32(0.0)


@cuda.jit(device=True)
def add_products(sums, left, right, rows, columns, k, y, x):
    """Add column k of `rows` times row k of `columns` to a thread's 8×8 sums."""
    for j in range(WIDE):
        left[j] = rows[k, y + j]
        left[j + WIDE] = rows[k, y + (MIDDLE + j)]
        right[j] = columns[k, x + j]
        right[j + WIDE] = columns[k, x + (MIDDLE + j)]
    for i in range(PART):
        for j in range(PART):
            sums[i, j] += left[i] * right[j]


@cuda.jit(max_registers=REGISTERS)
def matmul_transposed(c, a, b):
    """Four tiles on their way as in `matmul_pipeline`; a loop of 512 multiply-adds and 32 reads.

    Two neighbouring lanes read the same columns and every other lane the same rows: the hardware
    answers such a read of 16 bytes in two wavefronts, not four. Bound by arithmetic. float32 only.
    Launch: 256 threads a part of 128×128 of c.
    """
    ta = cuda.shared.array((STAGES, DEPTH, PADDED), float32)
    tb = cuda.shared.array((STAGES, DEPTH, SIDE), float32)
    sums = cuda.local.array((PART, PART), float32)
    left = cuda.local.array(PART, float32)
    right = cuda.local.array(PART, float32)
    t = cuda.threadIdx.x & (THREADS - 1)
    x = (((t >> 5) & 1) * 8 + ((t >> 1) & 7)) * WIDE  # a warp covers 8 × 4 of 16 × 16 threads
    y = ((t >> 6) * 4 + ((t >> 3) & 2) + (t & 1)) * WIDE
    y0, x0 = cuda.blockIdx.y * SIDE, cuda.blockIdx.x * SIDE
    for i in range(PART):
        for j in range(PART):
            sums[i, j] = float32(0.0)
    inside = y0 + SIDE <= c.shape[0] and x0 + SIDE <= c.shape[1]
    if inside and a.shape[1] % DEPTH == 0 and b.shape[1] % WIDE == 0:
        steps = a.shape[1] // DEPTH
        for step in range(AHEAD):
            if step < steps:
                fetch_whole(ta[step], tb[step], a, b, y0, x0, step * DEPTH)
            cuda.cp_async_commit_group()
        for step in range(steps):
            cuda.cp_async_wait_group(WAITED)
            cuda.syncthreads()  # this tile has come, and nobody reads the last one any more
            later = step + AHEAD
            if later < steps:
                free = later & LAST
                fetch_whole(ta[free], tb[free], a, b, y0, x0, later * DEPTH)
            cuda.cp_async_commit_group()
            rows, columns = ta[step & LAST], tb[step & LAST]
            add_products(sums, left, right, rows, columns, 0, y, x)
            add_products(sums, left, right, rows, columns, 1, y, x)
            add_products(sums, left, right, rows, columns, 2, y, x)
            add_products(sums, left, right, rows, columns, 3, y, x)
            add_products(sums, left, right, rows, columns, 4, y, x)
            add_products(sums, left, right, rows, columns, 5, y, x)
            add_products(sums, left, right, rows, columns, 6, y, x)
            add_products(sums, left, right, rows, columns, 7, y, x)
    else:
        for first in range(0, a.shape[1], DEPTH):
            load_ragged(ta[0], tb[0], a, b, y0, x0, first)
            cuda.syncthreads()
            for k in range(DEPTH):
                add_products(sums, left, right, ta[0], tb[0], k, y, x)
            cuda.syncthreads()
    store(c, sums, y0 + y, x0 + x)


@cuda.jit(device=True)
def store(c, sums, y, x):
    """Write a thread's 8×8 sums: four rows and columns from (y, x), and four 64 further on."""
    for i in range(PART):
        row = y + i + (MIDDLE - WIDE if i >= WIDE else 0)
        for j in range(WIDE):
            if row < c.shape[0] and x + j < c.shape[1]:
                c[row, x + j] = sums[i, j]
            if row < c.shape[0] and x + MIDDLE + j < c.shape[1]:
                c[row, x + MIDDLE + j] = sums[i, j + WIDE]
