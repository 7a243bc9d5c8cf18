"""Five-point stencil of a matrix of float32: one step of heat flow, 8 bytes moved a cell.

``out[y, x] = a[y, x] + 0.2 · (a[y−1, x] + a[y+1, x] + a[y, x−1] + a[y, x+1] − 4 a[y, x])``; cells
outside count as zero. Bound by memory bandwidth: six operations a cell.
"""

from __future__ import annotations

import numpy as np
from numba import float32

from wia_lab import cuda
from wia_lab.kernels.ladder import Launch, Step, Topic, ceil_div, uniform, unwritten

ALPHA = float32(0.2)
FOUR = float32(4.0)
TILE_X, TILE_Y = 32, 8
WITH_HALO_X, WITH_HALO_Y = TILE_X + 2, TILE_Y + 2
COLUMNS = 128  # threads, and columns, of a block that marches
MARCH = 32  # rows that it goes through


@cuda.jit(device=True)
def cell(a, y, x):
    """``a[y, x]``, or zero outside."""
    return a[y, x] if 0 <= y < a.shape[0] and 0 <= x < a.shape[1] else float32(0.0)


@cuda.jit
def stencil_direct(out, a):
    """Five loads a cell from global memory, most of which the L1 answers.

    Bound by load requests and bytes in flight. Launch: 32×8 threads a tile.
    """
    x, y = cuda.grid(2)
    if y < a.shape[0] and x < a.shape[1]:
        around = cell(a, y - 1, x) + cell(a, y + 1, x) + cell(a, y, x - 1) + cell(a, y, x + 1)
        out[y, x] = a[y, x] + ALPHA * (around - FOUR * a[y, x])


@cuda.jit
def stencil_tile(out, a):
    """A tile with its halo in shared memory: 340 loads for 256 cells, and a barrier.

    Bound by latency and by the instructions that stage the halo: on an H200 slower than
    `stencil_direct`, whose neighbours the L1 holds anyway (4.3 against 1.2 ms for 2²⁸ cells).
    Launch: as `stencil_direct`.
    """
    tile = cuda.shared.array((WITH_HALO_Y, WITH_HALO_X), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    x0, y0 = cuda.blockIdx.x * TILE_X, cuda.blockIdx.y * TILE_Y
    for row in range(ty, WITH_HALO_Y, TILE_Y):
        for column in range(tx, WITH_HALO_X, TILE_X):
            tile[row, column] = cell(a, y0 + row - 1, x0 + column - 1)
    cuda.syncthreads()
    if y0 + ty < a.shape[0] and x0 + tx < a.shape[1]:
        middle = tile[ty + 1, tx + 1]
        around = tile[ty, tx + 1] + tile[ty + 2, tx + 1] + tile[ty + 1, tx] + tile[ty + 1, tx + 2]
        out[y0 + ty, x0 + tx] = middle + ALPHA * (around - FOUR * middle)


@cuda.jit
def stencil_march(out, a):
    """A thread goes down a column: the row above and the middle stay in registers.

    Three loads a cell instead of five, two of them answered by the L1; no barrier, and the next
    row's load does not wait for this row's sum. Bound by memory bandwidth.
    Launch: 128 threads over the columns; y counts strips of 32 rows.
    """
    x = cuda.grid(1)
    first = cuda.blockIdx.y * MARCH
    if x >= a.shape[1]:
        return
    above = cell(a, first - 1, x)
    middle = a[first, x]
    for y in range(first, min(first + MARCH, a.shape[0])):
        below = cell(a, y + 1, x)
        around = above + below + cell(a, y, x - 1) + cell(a, y, x + 1)
        out[y, x] = middle + ALPHA * (around - FOUR * middle)
        above = middle
        middle = below


def _tiles(kernel):
    def plan(out, a):
        grid = (ceil_div(a.shape[1], TILE_X), ceil_div(a.shape[0], TILE_Y))
        return [Launch(kernel, grid, (TILE_X, TILE_Y), (out, a))]

    return plan


def _march(out, a):
    grid = (ceil_div(a.shape[1], COLUMNS), ceil_div(a.shape[0], MARCH))
    return [Launch(stencil_march, grid, COLUMNS, (out, a))]


def _reference(out, a):  # noqa: ARG001 - of all arguments
    wide = np.pad(a.astype(np.float64), 1)
    around = wide[:-2, 1:-1] + wide[2:, 1:-1] + wide[1:-1, :-2] + wide[1:-1, 2:]
    return a + float(ALPHA) * (around - 4 * a.astype(np.float64))


STENCIL = Topic(
    name="stencil",
    steps=(
        Step("direct", _tiles(stencil_direct)),
        Step("tile", _tiles(stencil_tile)),
        Step("marching registers", _march),
    ),
    arguments=lambda rng, rows, columns: (
        unwritten(rows, columns),
        uniform(rng, rows, columns),
    ),
    reference=_reference,
    sizes=((1, 37), (67, 101), (64, 128)),
)
