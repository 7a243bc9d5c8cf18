"""1-D convolution of n float32 with five taps, zero outside: 8 n bytes moved, 10 n operations.

``out[i] = Σ taps[k] · signal[i + k − 2]``, as signal processing's correlation has it. Bound by
memory bandwidth: five additions and products an element are little for 8 bytes.
"""

from __future__ import annotations

import numpy as np
from numba import float32

from wia_lab import cuda
from wia_lab.kernels.ladder import Step, Topic, flat, uniform, unwritten

TAPS = 5
HALO = TAPS // 2
BLOCK = 256  # threads
BUFFER = BLOCK + 2 * HALO
OUTPUTS = 8  # of a thread
TILE = BLOCK * OUTPUTS  # outputs of a block, or of a turn of the pipeline
WIDE = 4  # floats in 16 bytes
MARGIN = WIDE  # the halo, rounded up so that copies of 16 bytes stay aligned
SKIPPED = MARGIN - HALO
WIDE_BUFFER = TILE + 2 * MARGIN
STAGES = 2
AHEAD = STAGES - 1
WAITED = STAGES - 2
LAST = STAGES - 1  # turn & LAST is turn % STAGES, and never negative
LARGEST = (1 << 62) - 1  # of the indices that a mask leaves as they are
RUN = 4  # neighbouring tiles that a block of the pipeline walks
SPAN = RUN * TILE


@cuda.jit
def convolve_direct(out, signal, taps):
    """Each thread reads its five neighbours from global memory, which the L1 mostly holds.

    Five times the sectors that the data needs. Bound by load requests and bytes in flight.
    Launch: ⌈n / 256⌉ blocks of 256.
    """
    i = cuda.grid(1)
    if i < out.size:
        total = float32(0.0)
        for k in range(TAPS):
            j = i + k - HALO
            if 0 <= j < signal.size:
                total += taps[k] * signal[j]
        out[i] = total


@cuda.jit
def convolve_tile(out, signal, taps):
    """A tile with its halo in shared memory: each number is asked for once a block.

    Bound by bytes in flight: one load a thread, then a barrier. On an H200 slower than
    `convolve_direct`, whose neighbours the L1 holds (1.6 against 0.9 ms for 2²⁸ samples): the tile
    pays once a thread has several loads in flight. Launch: as `convolve_direct`.
    """
    tile = cuda.shared.array(BUFFER, float32)
    t = cuda.threadIdx.x
    first = cuda.blockIdx.x * BLOCK - HALO
    for j in range(t, BUFFER, BLOCK):
        i = first + j
        tile[j] = signal[i] if 0 <= i < signal.size else float32(0.0)
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < out.size:
        total = float32(0.0)
        for k in range(TAPS):
            total += taps[k] * tile[t + k]
        out[i] = total


@cuda.jit(device=True)
def make_whole(out, tile, weights, begin):
    """Write all outputs of one tile, from ``out[begin]`` on.

    Tap by tap over the thread's outputs: loops so small are unrolled, and each access is an address
    and a constant. `begin` must be masked: Numba's tests for negative indices would else stand
    before every access, and cost more than the sums.
    """
    t = cuda.threadIdx.x & (BLOCK - 1)
    totals = cuda.local.array(OUTPUTS, float32)
    for k in range(OUTPUTS):
        totals[k] = float32(0.0)
    for q in range(TAPS):
        for k in range(OUTPUTS):
            totals[k] += weights[q] * tile[t + (SKIPPED + k * BLOCK + q)]
    for k in range(OUTPUTS):
        out[begin + (t + k * BLOCK)] = totals[k]


@cuda.jit(device=True)
def make_ragged(out, tile, weights, begin):
    """Write the outputs of a tile that reaches past the end, as many as there are."""
    for j in range(cuda.threadIdx.x, TILE, BLOCK):
        if begin + j < out.size:
            total = float32(0.0)
            for q in range(TAPS):
                total += weights[q] * tile[SKIPPED + j + q]
            out[begin + j] = total


@cuda.jit(device=True)
def make_outputs(out, tile, weights, begin):
    """Write the outputs of one tile, a whole one without a test a cell."""
    if begin + TILE <= out.size:
        make_whole(out, tile, weights, begin & LARGEST)
    else:
        make_ragged(out, tile, weights, begin)


@cuda.jit
def convolve_outputs(out, signal, taps):
    """Eight outputs a thread: eight independent loads before the barrier, weights in registers.

    Bound by memory bandwidth. Launch: ⌈n / 2048⌉ blocks of 256.
    """
    tile = cuda.shared.array(WIDE_BUFFER, float32)
    loaded = cuda.local.array(OUTPUTS, float32)
    weights = cuda.local.array(TAPS, float32)
    t = cuda.threadIdx.x
    begin = cuda.blockIdx.x * TILE
    first = begin - MARGIN
    for k in range(TAPS):
        weights[k] = taps[k]
    if begin >= MARGIN and begin + TILE + MARGIN <= signal.size:
        for k in range(OUTPUTS):
            loaded[k] = signal[first + (t + k * BLOCK)]
        if t < 2 * MARGIN:
            tile[TILE + t] = signal[first + TILE + t]
        for k in range(OUTPUTS):
            tile[t + k * BLOCK] = loaded[k]
    else:
        for j in range(t, WIDE_BUFFER, BLOCK):
            i = first + j
            tile[j] = signal[i] if 0 <= i < signal.size else float32(0.0)
    cuda.syncthreads()
    make_outputs(out, tile, weights, begin)


@cuda.jit(device=True)
def fetch_whole(tile, signal, first):
    """Begin to copy a tile with its margins from ``signal[first]`` on, 16 bytes a copy."""
    t = cuda.threadIdx.x & (BLOCK - 1)
    for k in range(OUTPUTS // WIDE):
        j = (t + k * BLOCK) * WIDE
        cuda.cp_async(tile, j, signal, first + j, WIDE)
    if t < 2 * MARGIN // WIDE:
        j = TILE + t * WIDE
        cuda.cp_async(tile, j, signal, first + j, WIDE)


@cuda.jit(device=True)
def fetch(tile, signal, first):
    """Begin the same copies; a tile that reaches outside goes 4 bytes a copy, with zeros there."""
    if first >= 0 and first + WIDE_BUFFER <= signal.size:
        fetch_whole(tile, signal, first)
    else:
        cuda.copy_dram_to_sram_async(tile, signal, first, WIDE_BUFFER)


@cuda.jit
def convolve_async(out, signal, taps):
    """Asynchronous copies of 16 bytes: data reaches shared memory without passing registers.

    Weights are read while the tile is on its way. Bound by memory bandwidth.
    Launch: ⌈n / 2048⌉ blocks of 256.
    """
    tile = cuda.shared.array(WIDE_BUFFER, float32)
    weights = cuda.local.array(TAPS, float32)
    begin = cuda.blockIdx.x * TILE
    fetch(tile, signal, begin - MARGIN)
    cuda.cp_async_commit_group()
    for k in range(TAPS):
        weights[k] = taps[k]
    cuda.cp_async_wait_group(0)
    cuda.syncthreads()
    make_outputs(out, tile, weights, begin)


@cuda.jit
def convolve_pipeline(out, signal, taps):
    """Each block walks 4 neighbouring tiles, one tile on its way behind the one in use.

    One barrier a tile: it publishes the tile that has come and frees the one used last. What lies
    outside is tested once, before the loop, which then needs 32 registers a thread: a
    multiprocessor holds 2,048 threads. Runs that reach past an end go one tile at a time. Bound by
    memory bandwidth. Launch: ⌈n / 8192⌉ blocks of 256.
    """
    tiles = cuda.shared.array((STAGES, WIDE_BUFFER), float32)
    weights = cuda.local.array(TAPS, float32)
    begin = (cuda.blockIdx.x & LARGEST) * SPAN
    for k in range(TAPS):
        weights[k] = taps[k]
    if begin >= MARGIN and begin + (SPAN + MARGIN) <= out.size:
        for stage in range(AHEAD):
            fetch_whole(tiles[stage], signal, begin + (stage * TILE - MARGIN))
            cuda.cp_async_commit_group()
        for turn in range(RUN):
            cuda.cp_async_wait_group(WAITED)
            cuda.syncthreads()
            later = turn + AHEAD
            if later < RUN:
                fetch_whole(tiles[later & LAST], signal, begin + (later * TILE - MARGIN))
            cuda.cp_async_commit_group()
            make_whole(out, tiles[turn & LAST], weights, begin + turn * TILE)
    else:
        for turn in range(RUN):
            first = begin + turn * TILE
            if first < out.size:
                cuda.copy_dram_to_sram_async(tiles[0], signal, first - MARGIN, WIDE_BUFFER)
                cuda.cp_async_wait_all()
                cuda.syncthreads()
                make_ragged(out, tiles[0], weights, first)
                cuda.syncthreads()


def _reference(out, signal, taps):  # noqa: ARG001 - of all arguments
    return np.convolve(signal.astype(np.float64), taps.astype(np.float64)[::-1], "full")[
        HALO : HALO + signal.size
    ]


CONVOLUTION = Topic(
    name="convolution",
    steps=(
        Step("direct", flat(convolve_direct)),
        Step("halo tile", flat(convolve_tile)),
        Step("eight outputs a thread", flat(convolve_outputs, OUTPUTS)),
        Step("async, 16-byte copies", flat(convolve_async, OUTPUTS)),
        Step("pipeline", flat(convolve_pipeline, OUTPUTS * RUN)),
    ),
    arguments=lambda rng, n: (unwritten(n), uniform(rng, n), uniform(rng, TAPS)),
    reference=_reference,
    sizes=((3,), (1009,), (8192,), (15013,), (25589,)),
)
