"""Histogram of n bytes in 256 bins: n bytes read, one count an element.

Bound, version by version, by atomics on global memory, by atomics on shared memory, and by the
instructions that pick bytes apart.
"""

from __future__ import annotations

import numpy as np
from numba import int32, uint32

from wia_lab import cuda
from wia_lab.kernels.ladder import Launch, Step, Topic, ceil_div

BINS = 256
BLOCK = 256  # threads
PERSISTENT_BLOCKS = 132 * 8  # fills an H200's 132 multiprocessors
PRIVATE = 128  # threads where each keeps a histogram of its own
WORDS = BINS // 4  # of a thread's histogram: four bins of one byte in a word
CELLS = WORDS * PRIVATE
COLUMNS = PRIVATE // 2  # of the table that one thread adds up
LOADS = 4  # independent loads a thread, 4 bytes each
TURNS = 15  # of 16 bytes a thread: 240 counts, which fit a byte
PRIVATE_BLOCKS = 132 * 5  # each takes 32 KiB of shared memory and 12,288 registers
EVEN = 0x00FF00FF  # the bytes 0 and 2 of a word


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
def count_byte(counts, value):
    """Add one to this thread's bin `value`, without an atomic: nobody else has the word.

    The word is value // 4 · 128 + t, in unsigned arithmetic, which needs no test of the sign.
    """
    place = uint32((value & uint32(0xFC)) << uint32(5)) + uint32(cuda.threadIdx.x)
    counts[place] += uint32(1) << ((value & uint32(3)) << uint32(3))


@cuda.jit(device=True)
def empty_counts(counts):
    """Set all bins of this thread to zero."""
    for k in range(WORDS):
        counts[k * PRIVATE + cuda.threadIdx.x] = uint32(0)


@cuda.jit(device=True)
def flush_counts(counts, totals):
    """Add half of the threads' counts of four bins to `totals`; then empty them all.

    Thread t adds up word t mod 64 of 64 threads, starting at a column of its own, so that the lanes
    of a warp read 32 different banks. Two sums of 16 bits run side by side in a word.
    """
    t = cuda.threadIdx.x
    word = t % WORDS
    first = (t // WORDS) * COLUMNS
    even = uint32(0)
    odd = uint32(0)
    cuda.syncthreads()
    for k in range(COLUMNS):
        packed = counts[word * PRIVATE + first + (k + t) % COLUMNS]
        even += packed & uint32(EVEN)
        odd += (packed >> uint32(8)) & uint32(EVEN)
    totals[0] += even & uint32(0xFFFF)
    totals[1] += odd & uint32(0xFFFF)
    totals[2] += even >> uint32(16)
    totals[3] += odd >> uint32(16)
    cuda.syncthreads()
    empty_counts(counts)


@cuda.jit
def histogram_private(bins, words):
    """A histogram a thread, one byte a bin, in shared memory: no atomics, no bank conflicts.

    Thread t's words lie 128 words apart, all in bank t mod 32. `words` is the data four bytes at a
    time; the at most three bytes left over are `histogram_global`'s. Before a byte can overflow,
    the block adds its histograms up. Bound by instructions: about ten an element.
    Launch: as many blocks of 128 as the device holds at once; `bins` begins at zero.
    """
    counts = cuda.shared.array(CELLS, uint32)
    totals = cuda.local.array(4, uint32)
    loaded = cuda.local.array(LOADS, uint32)
    for k in range(4):
        totals[k] = uint32(0)
    empty_counts(counts)
    stride = cuda.gridsize(1)
    turn = cuda.blockIdx.x * PRIVATE
    while turn < words.size:  # the same for all threads of a block: they meet at barriers
        for _ in range(TURNS):
            i = turn + cuda.threadIdx.x
            if turn + (LOADS - 1) * stride + PRIVATE <= words.size:
                for k in range(LOADS):
                    loaded[k] = words[i + k * stride]
                for k in range(LOADS):
                    word = loaded[k]
                    for _ in range(4):
                        count_byte(counts, word & uint32(0xFF))
                        word >>= uint32(8)
            else:
                for k in range(LOADS):
                    if i + k * stride < words.size:
                        word = words[i + k * stride]
                        for _ in range(4):
                            count_byte(counts, word & uint32(0xFF))
                            word >>= uint32(8)
            turn += LOADS * stride
        flush_counts(counts, totals)
    t = cuda.threadIdx.x
    for k in range(4):
        if totals[k] > 0:
            cuda.atomic.add(bins, t % WORDS * 4 + k, int32(totals[k]))


def _global(bins, data):
    return [Launch(histogram_global, ceil_div(data.size, BLOCK), BLOCK, (bins, data))]


def _shared(bins, data):
    grid = min(ceil_div(data.size, BLOCK), PERSISTENT_BLOCKS)
    return [Launch(histogram_shared, grid, BLOCK, (bins, data))]


def _private(bins, data):
    whole = data.size // 4 * 4
    words = data[:whole].view(np.uint32)
    grid = min(ceil_div(data.size, 16 * PRIVATE), PRIVATE_BLOCKS)
    launches = [Launch(histogram_private, grid, PRIVATE, (bins, words))]
    if whole < data.size:
        launches.append(Launch(histogram_global, 1, BLOCK, (bins, data[whole:])))
    return launches


HISTOGRAM = Topic(
    name="histogram",
    steps=(
        Step("global atomics", _global),
        Step("privatised a block", _shared),
        Step("privatised a thread", _private),
    ),
    arguments=lambda rng, n: (
        np.zeros(BINS, np.int32),
        rng.integers(0, 256, n, dtype=np.uint8),
    ),
    reference=lambda bins, data: np.bincount(data, minlength=BINS),  # noqa: ARG005
    sizes=((5,), (4099,), (40_003,)),
    tolerance=0.0,
)
