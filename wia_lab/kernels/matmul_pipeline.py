"""The matrix product of `matmul` with the next tiles on their way while this one is multiplied.

Tiles of `a` are kept as they lie in memory, rows of 8 columns, so that asynchronous copies can
fetch them; a thread reads four neighbours of a row at once, and takes every 16th row. Masks
(``half & 1``) show the compiler that an index is not negative: else Numba's test for that stands
before every access, and neighbouring reads are not merged into one of 16 bytes.
"""

from __future__ import annotations

from numba import float32

from wia_lab import cuda

SIDE = 128  # side of a block's part of c
DEPTH = 8  # columns of a, rows of b, in one step
PADDED = DEPTH + 4  # rows stay 16-byte aligned, and four neighbouring rows lie in different banks
PART = 8  # outputs a thread, each way
WIDE = 4  # floats in 16 bytes
MIDDLE = SIDE // 2
ROWS = SIDE // PART  # of threads, which take every 16th row
THREADS = 256
CELLS = SIDE * DEPTH  # of one tile
HALVES = DEPTH // WIDE
BUFFERS, STAGES = 2, 4
AHEAD = STAGES - 1
WAITED = STAGES - 2
REGISTERS = 128  # two blocks of 256 threads fill a multiprocessor's 65,536


@cuda.jit(device=True)
def fetch_cells(ta, tb, a, b, y0, x0, first):
    """Begin to copy the tiles at (y0, first) of `a` and (first, x0) of `b`, a float at a time.

    What lies outside the matrices is stored as zero.
    """
    t = cuda.threadIdx.x
    for e in range(t, CELLS, THREADS):
        y, k = e // DEPTH, e % DEPTH
        if y0 + y < a.shape[0] and first + k < a.shape[1]:
            cuda.cp_async(ta, (y, k), a, (y0 + y, first + k))
        else:
            ta[y, k] = float32(0.0)
        k, x = e // SIDE, e % SIDE
        if first + k < b.shape[0] and x0 + x < b.shape[1]:
            cuda.cp_async(tb, (k, x), b, (first + k, x0 + x))
        else:
            tb[k, x] = float32(0.0)


@cuda.jit(device=True)
def fetch_wide(ta, tb, a, b, y0, x0, first):
    """Begin the same copies, 16 bytes each, where a tile lies inside and its rows are aligned."""
    aligned = a.shape[1] % WIDE == 0 and b.shape[1] % WIDE == 0
    inside = y0 + SIDE <= a.shape[0] and x0 + SIDE <= b.shape[1] and first + DEPTH <= a.shape[1]
    if aligned and inside:
        for e in range(cuda.threadIdx.x * WIDE, CELLS, THREADS * WIDE):
            y, k = e // DEPTH, e % DEPTH
            cuda.cp_async(ta, (y, k), a, (y0 + y, first + k), WIDE)
            k, x = e // SIDE, e % SIDE
            cuda.cp_async(tb, (k, x), b, (first + k, x0 + x), WIDE)
    else:
        fetch_cells(ta, tb, a, b, y0, x0, first)


@cuda.jit
def matmul_double_buffered(c, a, b):
    """Two tiles of each factor in shared memory: one is fetched while the other is multiplied.

    Copies of 4 bytes. Bound by the instructions that issue them. float32 only.
    Launch: 256 threads a part of 128×128 of c.
    """
    ta = cuda.shared.array((BUFFERS, SIDE, PADDED), float32)
    tb = cuda.shared.array((BUFFERS, DEPTH, SIDE), float32)
    sums = cuda.local.array((PART, PART), float32)
    left = cuda.local.array((PART, WIDE), float32)
    right = cuda.local.array(PART, float32)
    t = cuda.threadIdx.x
    tx = ((t >> 5) & 1) * 8 + (t & 7)
    ty = ((t >> 6) & 3) * 4 + ((t >> 3) & 3)
    y0, x0 = cuda.blockIdx.y * SIDE, cuda.blockIdx.x * SIDE
    for i in range(PART):
        for j in range(PART):
            sums[i, j] = float32(0.0)
    steps = (a.shape[1] + DEPTH - 1) // DEPTH
    fetch_cells(ta[0], tb[0], a, b, y0, x0, 0)
    cuda.cp_async_commit_group()
    for step in range(steps):
        cuda.cp_async_wait_group(0)
        cuda.syncthreads()  # this tile has come, and nobody reads the other any more
        if step + 1 < steps:
            other = (step + 1) % BUFFERS
            fetch_cells(ta[other], tb[other], a, b, y0, x0, (step + 1) * DEPTH)
        cuda.cp_async_commit_group()
        rows, columns = ta[step % BUFFERS], tb[step % BUFFERS]
        for half in range(HALVES):
            first = (half & 1) * WIDE
            for i in range(PART):
                for q in range(WIDE):
                    left[i, q] = rows[ty + i * ROWS, first + q]
            for q in range(WIDE):
                for j in range(WIDE):
                    right[j] = columns[first + q, tx * WIDE + j]
                    right[j + WIDE] = columns[first + q, MIDDLE + tx * WIDE + j]
                for i in range(PART):
                    for j in range(PART):
                        sums[i, j] += left[i, q] * right[j]
    store(c, sums, y0 + ty, x0 + tx * WIDE)


@cuda.jit
def matmul_pipeline(c, a, b):
    """Four tiles of each factor: three are on their way, by 16-byte copies, behind the fourth.

    A quarter of the copy instructions, and three steps' time for each to arrive. Bound by
    arithmetic: the rest of the issue slots goes to shared loads. float32 only.
    Launch: 256 threads a part of 128×128 of c.
    """
    ta = cuda.shared.array((STAGES, SIDE, PADDED), float32)
    tb = cuda.shared.array((STAGES, DEPTH, SIDE), float32)
    sums = cuda.local.array((PART, PART), float32)
    left = cuda.local.array((PART, WIDE), float32)
    right = cuda.local.array(PART, float32)
    t = cuda.threadIdx.x
    tx = ((t >> 5) & 1) * 8 + (t & 7)
    ty = ((t >> 6) & 3) * 4 + ((t >> 3) & 3)
    y0, x0 = cuda.blockIdx.y * SIDE, cuda.blockIdx.x * SIDE
    for i in range(PART):
        for j in range(PART):
            sums[i, j] = float32(0.0)
    steps = (a.shape[1] + DEPTH - 1) // DEPTH
    for step in range(AHEAD):
        if step < steps:
            fetch_wide(ta[step], tb[step], a, b, y0, x0, step * DEPTH)
        cuda.cp_async_commit_group()
    for step in range(steps):
        cuda.cp_async_wait_group(WAITED)
        cuda.syncthreads()  # this tile has come, and nobody reads the last one any more
        if step + AHEAD < steps:
            free = (step + AHEAD) % STAGES
            fetch_wide(ta[free], tb[free], a, b, y0, x0, (step + AHEAD) * DEPTH)
        cuda.cp_async_commit_group()
        rows, columns = ta[step % STAGES], tb[step % STAGES]
        for half in range(HALVES):
            first = (half & 1) * WIDE
            for i in range(PART):
                for q in range(WIDE):
                    left[i, q] = rows[ty + i * ROWS, first + q]
            for q in range(WIDE):
                for j in range(WIDE):
                    right[j] = columns[first + q, tx * WIDE + j]
                    right[j + WIDE] = columns[first + q, MIDDLE + tx * WIDE + j]
                for i in range(PART):
                    for j in range(PART):
                        sums[i, j] += left[i, q] * right[j]
    store(c, sums, y0 + ty, x0 + tx * WIDE)


@cuda.jit(device=True)
def store(c, sums, y, x):
    """Write a thread's 8×8 sums: every 16th row from `y`, columns from `x` and from x + 64."""
    for i in range(PART):
        row = y + i * ROWS
        for j in range(WIDE):
            if row < c.shape[0] and x + j < c.shape[1]:
                c[row, x + j] = sums[i, j]
            if row < c.shape[0] and x + MIDDLE + j < c.shape[1]:
                c[row, x + MIDDLE + j] = sums[i, j + WIDE]


matmul_two_blocks = cuda.jit(max_registers=REGISTERS)(matmul_pipeline.py_func)
"""`matmul_pipeline` held to 128 registers a thread, so that a multiprocessor holds two blocks.

One block's arithmetic hides the other's barriers and waits; a few addresses go to local memory.
Bound by arithmetic. Launch: as `matmul_pipeline`.
"""
