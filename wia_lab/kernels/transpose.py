"""Transpose of a matrix: ``out[x, y] = a[y, x]``, float32, 8 · rows · columns bytes moved.

Bound by memory bandwidth once both sides are coalesced; no arithmetic.
"""

from __future__ import annotations

import numpy as np
from numba import float32

from wia_lab import cuda
from wia_lab.kernels.ladder import Launch, Step, Topic, ceil_div, uniform, unwritten

TILE = 32
ROWS = 8  # rows of threads where each thread moves several elements
MOVED = TILE // ROWS
PADDED = TILE + 1  # columns of a tile whose columns lie in 32 different banks
WIDE = 4  # floats in one 16-byte copy
LARGE = 64  # side of the tile that 16-byte copies fill
WIDE_PADDED = LARGE + WIDE  # rows stay 16-byte aligned, 16-byte reads of a column free of conflicts


@cuda.jit
def transpose_naive(out, a):
    """Read rows, write columns: stores of 32 sectors a request, where 4 would do.

    Bound by store sectors. Launch: tiles of 32×32 threads over `a`, x along its columns.
    """
    x, y = cuda.grid(2)
    if y < a.shape[0] and x < a.shape[1]:
        out[x, y] = a[y, x]


@cuda.jit
def transpose_tile(out, a):
    """Turn a 32×32 tile round in shared memory: both sides coalesced.

    Reading a column of the tile puts 32 lanes on one bank: 31 conflicts a request. Bound by
    shared memory. Launch: as `transpose_naive`.
    """
    tile = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    x, y = cuda.blockIdx.x * TILE, cuda.blockIdx.y * TILE
    if y + ty < a.shape[0] and x + tx < a.shape[1]:
        tile[ty, tx] = a[y + ty, x + tx]
    cuda.syncthreads()
    if x + ty < a.shape[1] and y + tx < a.shape[0]:
        out[x + ty, y + tx] = tile[tx, ty]


@cuda.jit
def transpose_padded(out, a):
    """The tile with one unused column: its columns lie in 32 banks, no conflicts.

    Bound by bytes in flight, 4 a thread. Launch: as `transpose_naive`.
    """
    tile = cuda.shared.array((TILE, PADDED), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    x, y = cuda.blockIdx.x * TILE, cuda.blockIdx.y * TILE
    if y + ty < a.shape[0] and x + tx < a.shape[1]:
        tile[ty, tx] = a[y + ty, x + tx]
    cuda.syncthreads()
    if x + ty < a.shape[1] and y + tx < a.shape[0]:
        out[x + ty, y + tx] = tile[tx, ty]


@cuda.jit
def transpose_independent(out, a):
    """Four rows a thread: four loads in flight, one barrier for four elements.

    Bound by memory bandwidth. Launch: 32×8 threads a tile of 32×32.
    """
    tile = cuda.shared.array((TILE, PADDED), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    x, y = cuda.blockIdx.x * TILE, cuda.blockIdx.y * TILE
    if y + TILE <= a.shape[0] and x + TILE <= a.shape[1]:
        values = cuda.local.array(MOVED, float32)
        for k in range(MOVED):
            values[k] = a[y + ty + k * ROWS, x + tx]
        for k in range(MOVED):
            tile[ty + k * ROWS, tx] = values[k]
        cuda.syncthreads()
        for k in range(MOVED):
            out[x + ty + k * ROWS, y + tx] = tile[tx, ty + k * ROWS]
    else:
        for k in range(ty, TILE, ROWS):
            if y + k < a.shape[0] and x + tx < a.shape[1]:
                out[x + tx, y + k] = a[y + k, x + tx]


@cuda.jit
def transpose_wide(out, a):
    """Tiles of 64×64, fetched by 16-byte asynchronous copies, four a thread.

    A quarter of the load requests, four times the bytes in flight; lanes read four neighbouring
    cells of the tile, which the compiler may merge into one access. Rows of `a` must be 16-byte
    aligned for it: other widths, and tiles at the edge, are moved cell by cell. Bound by memory
    bandwidth. Launch: 32×8 threads a tile of 64×64.
    """
    tile = cuda.shared.array((LARGE, WIDE_PADDED), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    x, y = cuda.blockIdx.x * LARGE, cuda.blockIdx.y * LARGE
    if a.shape[1] % WIDE == 0 and y + LARGE <= a.shape[0] and x + LARGE <= a.shape[1]:
        column = (tx & 15) * WIDE
        for k in range(LARGE // 16):  # 256 threads copy 16 rows at once
            row = ty * 2 + (tx >> 4) + 16 * k
            cuda.cp_async(tile, (row, column), a, (y + row, x + column), WIDE)
        cuda.cp_async_wait_all()
        cuda.syncthreads()
        for k in range(LARGE // TILE):
            row = tx + k * TILE
            for q in range(0, LARGE, ROWS * WIDE):
                for w in range(WIDE):
                    out[x + q + ty * WIDE + w, y + row] = tile[row, q + ty * WIDE + w]
    else:
        for k in range(ty, LARGE, ROWS):
            for column in range(tx, LARGE, TILE):
                if y + k < a.shape[0] and x + column < a.shape[1]:
                    out[x + column, y + k] = a[y + k, x + column]


def _tiles(kernel, rows, side=TILE):
    def plan(out, a):
        grid = (ceil_div(a.shape[1], side), ceil_div(a.shape[0], side))
        return [Launch(kernel, grid, (TILE, rows), (out, a))]

    return plan


TRANSPOSE = Topic(
    name="transpose",
    steps=(
        Step("naive", _tiles(transpose_naive, TILE)),
        Step("tile", _tiles(transpose_tile, TILE)),
        Step("padded tile", _tiles(transpose_padded, TILE)),
        Step("independent loads", _tiles(transpose_independent, ROWS)),
        Step("16-byte copies", _tiles(transpose_wide, ROWS, LARGE)),
    ),
    arguments=lambda rng, rows, columns: (unwritten(columns, rows), uniform(rng, rows, columns)),
    reference=lambda out, a: a.T.astype(np.float64),  # noqa: ARG005 - of all arguments
    sizes=((1, 70), (67, 101), (96, 64), (128, 68)),
)
