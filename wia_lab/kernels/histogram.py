"""Histogram of n bytes in 256 bins: n bytes read, one count an element.

Bound, version by version, by atomics on global memory, by lanes that meet in shared memory, and by
the rate of shared atomics. (A histogram a thread, in bytes and without atomics, was slower than the
second version on an H200: 0.46 ms for 2²⁸ bytes where that one took 0.29 ms.)
"""

from __future__ import annotations

import numpy as np
from numba import int32, uint32

from wia_lab import cuda
from wia_lab.kernels.ladder import Launch, Step, Topic, ceil_div

BINS = 256
BLOCK = 256  # threads
PERSISTENT_BLOCKS = 132 * 8  # fills an H200's 132 multiprocessors
LANES = 32  # each with a histogram of its own, in a bank of its own
CELLS = BINS * LANES
LOADS = 4  # independent loads a thread, 4 bytes each
LANE_BLOCKS = 132 * 6  # each takes 32 KiB of shared memory


@cuda.jit
def histogram_global(bins, data):
    """One atomic on global memory an element.

    Bound by the L2's atomic units: all blocks update the same 256 cells.
    Launch: ⌈n / 256⌉ blocks of 256; `bins` begins at zero.
    """
    i = cuda.grid(1)
    if i < data.size:
        cuda.atomic.add(bins, data[i], 1)


@cuda.jit
def histogram_shared(bins, data):
    """A histogram a block in shared memory; one global atomic a block and bin.

    Bound by shared atomics: lanes that meet in a bin wait for each other.
    Launch: as many blocks of 256 as the device holds at once; `bins` begins at zero.
    """
    counts = cuda.shared.array(BINS, int32)
    t = cuda.threadIdx.x
    counts[t] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), data.size, cuda.gridsize(1)):
        cuda.atomic.add(counts, data[i], 1)
    cuda.syncthreads()
    cuda.atomic.add(bins, t, counts[t])


@cuda.jit(device=True)
def count_bytes(counts, word):
    """Count the four bytes of a word in this lane's column of the table.

    Bin b of lane l is cell 32 b + l, in bank l. Unsigned indices need no test of the sign.
    """
    lane = uint32(cuda.threadIdx.x & (LANES - 1))
    for _ in range(4):
        cuda.atomic.add(counts, uint32((word & uint32(0xFF)) << uint32(5)) | lane, 1)
        word >>= uint32(8)


@cuda.jit
def histogram_lanes(bins, words):
    """A histogram a lane in shared memory, shared by a block's eight warps; 16 bytes a turn.

    The lanes of a warp never meet, neither in a bin nor in a bank. `words` is the data four bytes
    at a time, four independent loads a thread; the at most three bytes left over are
    `histogram_global`'s. Bound by shared atomics and by instructions, about four an element.
    Launch: as many blocks of 256 as the device holds at once; `bins` begins at zero.
    """
    counts = cuda.shared.array(CELLS, int32)
    loaded = cuda.local.array(LOADS, uint32)
    t = cuda.threadIdx.x
    for k in range(t, CELLS, BLOCK):
        counts[k] = 0
    cuda.syncthreads()
    stride = cuda.gridsize(1)
    i = cuda.grid(1)
    while i + (LOADS - 1) * stride < words.size:
        for k in range(LOADS):
            loaded[k] = words[i + k * stride]
        for k in range(LOADS):
            count_bytes(counts, loaded[k])
        i += LOADS * stride
    while i < words.size:
        count_bytes(counts, words[i])
        i += stride
    cuda.syncthreads()
    total = 0
    for k in range(LANES):
        total += counts[t * LANES + ((t + k) & (LANES - 1))]  # turned, so that banks differ
    cuda.atomic.add(bins, t, int32(total))


def _global(bins, data):
    return [Launch(histogram_global, ceil_div(data.size, BLOCK), BLOCK, (bins, data))]


def _shared(bins, data):
    grid = min(ceil_div(data.size, BLOCK), PERSISTENT_BLOCKS)
    return [Launch(histogram_shared, grid, BLOCK, (bins, data))]


def _lanes(bins, data):
    whole = data.size // 4 * 4
    words = data[:whole].view(np.uint32)
    grid = min(ceil_div(words.size, BLOCK), LANE_BLOCKS)
    launches = [Launch(histogram_lanes, grid, BLOCK, (bins, words))]
    if whole < data.size:
        launches.append(Launch(histogram_global, 1, BLOCK, (bins, data[whole:])))
    return launches


HISTOGRAM = Topic(
    name="histogram",
    steps=(
        Step("global atomics", _global),
        Step("privatised a block", _shared),
        Step("privatised a lane", _lanes),
    ),
    arguments=lambda rng, n: (
        np.zeros(BINS, np.int32),
        rng.integers(0, 256, n, dtype=np.uint8),
    ),
    reference=lambda bins, data: np.bincount(data, minlength=BINS),  # noqa: ARG005
    sizes=((5,), (4099,), (40_003,)),
    tolerance=0.0,
)
