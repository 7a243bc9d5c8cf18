"""Vector operations: ``out = a + b`` over n float32, 12 n bytes moved, one addition an element.

Bound by memory bandwidth on every device. What a version changes is how few sectors the warps ask
for and how many bytes they have in flight.
"""

from __future__ import annotations

import numpy as np
from numba import float32

from wia_lab import cuda
from wia_lab.kernels.ladder import Launch, Step, Topic, ceil_div, flat, uniform, unwritten

BLOCK = 256  # threads
LOADS = 4  # independent loads a thread and array
SPAN = BLOCK * LOADS
PERSISTENT_BLOCKS = 132 * 8  # fills an H200's 132 multiprocessors


@cuda.jit
def add_chunks(out, a, b):
    """Each thread adds four neighbouring elements.

    Lanes are 16 bytes apart: a request asks for 16 sectors where 4 hold its data. Bound by sectors.
    Launch: ⌈n / 1024⌉ blocks of 256.
    """
    first = cuda.grid(1) * LOADS
    for i in range(first, min(first + LOADS, out.size)):
        out[i] = a[i] + b[i]


@cuda.jit
def add(out, a, b):
    """Each thread adds one element: coalesced, 4 sectors a request.

    Bound by bytes in flight: one load an array and thread. Launch: ⌈n / 256⌉ blocks of 256.
    """
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + b[i]


@cuda.jit
def add_grid_stride(out, a, b):
    """A fixed grid walks the vector: no block is started for a few elements.

    Bound by bytes in flight, as `add`. Launch: as many blocks of 256 as the device holds at once.
    """
    for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        out[i] = a[i] + b[i]


@cuda.jit
def add_independent(out, a, b):
    """Each thread loads eight numbers, four an array, before it uses the first.

    Blocks inside the vector test their bounds once. Bound by memory bandwidth.
    Launch: ⌈n / 1024⌉ blocks of 256.
    """
    i = cuda.blockIdx.x * SPAN + cuda.threadIdx.x
    if (cuda.blockIdx.x + 1) * SPAN <= out.size:
        x = cuda.local.array(LOADS, float32)
        y = cuda.local.array(LOADS, float32)
        for k in range(LOADS):
            x[k] = a[i + k * BLOCK]
            y[k] = b[i + k * BLOCK]
        for k in range(LOADS):
            out[i + k * BLOCK] = x[k] + y[k]
    else:
        for j in range(i, out.size, BLOCK):
            out[j] = a[j] + b[j]


@cuda.jit
def scale(out, a, factor):
    """``out = factor · a``, one element a thread; the first half of an unfused axpy."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = factor * a[i]


@cuda.jit
def axpy(out, a, b, factor):
    """``out = factor · a + b`` in one pass: 12 n bytes, where `scale` and `add` move 20 n."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = factor * a[i] + b[i]


def _grid_stride(out, a, b):
    grid = min(ceil_div(out.size, BLOCK), PERSISTENT_BLOCKS)
    return [Launch(add_grid_stride, grid, BLOCK, (out, a, b))]


ADD = Topic(
    name="vector-add",
    steps=(
        Step("four neighbours a thread", flat(add_chunks, LOADS)),
        Step("one element a thread", flat(add)),
        Step("grid-stride loop", _grid_stride),
        Step("independent loads", flat(add_independent, LOADS)),
    ),
    arguments=lambda rng, n: (unwritten(n), uniform(rng, n), uniform(rng, n)),
    reference=lambda out, a, b: a.astype(np.float64) + b,  # noqa: ARG005 - of all arguments
    sizes=((1,), (1009,), (4096,), (5003,)),
)

FACTOR = np.float32(1.75)


def _unfused(out, a, b, between):
    grid = ceil_div(out.size, BLOCK)
    return [
        Launch(scale, grid, BLOCK, (between, a, FACTOR)),
        Launch(add, grid, BLOCK, (out, between, b)),
    ]


def _fused(out, a, b, between):  # noqa: ARG001 - nothing is kept between
    return [Launch(axpy, ceil_div(out.size, BLOCK), BLOCK, (out, a, b, FACTOR))]


AXPY = Topic(
    name="axpy",
    steps=(Step("two kernels", _unfused), Step("fused", _fused)),
    arguments=lambda rng, n: (unwritten(n), uniform(rng, n), uniform(rng, n), unwritten(n)),
    reference=lambda out, a, b, between: float(FACTOR) * a.astype(np.float64) + b,  # noqa: ARG005
    sizes=((1009,), (2048,)),
)
