"""2-D convolution 3×3 with padding 1 over a batch of images, float32; and a fused block of layers.

``out[n, o, y, x] = Σ weights[i, ky, kx, o] · images[n, i, y + ky − 1, x + kx − 1]``: images are
(batch, inputs, rows, columns), out (batch, outputs, rows, columns), weights
(inputs, 3, 3, outputs), so that one tap's weights of neighbouring outputs are neighbours.
18 · inputs operations an output.
"""

from __future__ import annotations

import numpy as np
from numba import float32

from wia_lab import cuda
from wia_lab.kernels.ladder import Launch, Step, Topic, ceil_div, uniform, unwritten

TAPS = 3
TILE_X, TILE_Y = 32, 8  # pixels of a block
WITH_HALO_X, WITH_HALO_Y = TILE_X + 2, TILE_Y + 2
ODD_X = TILE_X + 3  # an odd row length puts a column's pixels in different banks
OUTPUTS = 64  # channels of a block of the implicit product
INPUTS = 8  # channels in shared memory at a time
PART = 8  # channels, and pixels of a row, of one thread
SPAN = PART + 2  # pixels that those read in one row
THREADS = 256
GROUPS = TILE_X // PART  # of pixels in a row of the tile
PIXEL_CELLS = INPUTS * WITH_HALO_Y * WITH_HALO_X
ALL_TAPS = INPUTS * TAPS * TAPS
WEIGHT_CELLS = ALL_TAPS * OUTPUTS
PLANE = WITH_HALO_Y * WITH_HALO_X
REGISTERS = 128  # two blocks of 256 threads fill a multiprocessor's 65,536


@cuda.jit
def convolve_direct(out, images, weights):
    """One output a thread, all operands from global memory: two loads an operation pair.

    Bound by load requests. Launch: 32×8 threads a tile of pixels; z counts images × outputs.
    """
    x, y = cuda.grid(2)
    image, channel = cuda.blockIdx.z // out.shape[1], cuda.blockIdx.z % out.shape[1]
    if y >= out.shape[2] or x >= out.shape[3]:
        return
    total = float32(0.0)
    for i in range(images.shape[1]):
        for ky in range(TAPS):
            for kx in range(TAPS):
                row, column = y + ky - 1, x + kx - 1
                if 0 <= row < out.shape[2] and 0 <= column < out.shape[3]:
                    total += weights[i, ky, kx, channel] * images[image, i, row, column]
    out[image, channel, y, x] = total


@cuda.jit
def convolve_tiled(out, images, weights):
    """A tile of pixels with its halo in shared memory: each is asked for once a block, not 9 times.

    Bound by shared memory, one read an operation pair, and by two barriers a channel: on an H200
    slower than `convolve_direct`, whose pixels the L1 holds (85 against 55 ms, 64 → 64 channels,
    224², batch 32). Launch: as `convolve_direct`.
    """
    tile = cuda.shared.array((WITH_HALO_Y, WITH_HALO_X), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    x0, y0 = cuda.blockIdx.x * TILE_X, cuda.blockIdx.y * TILE_Y
    image, channel = cuda.blockIdx.z // out.shape[1], cuda.blockIdx.z % out.shape[1]
    total = float32(0.0)
    for i in range(images.shape[1]):
        for row in range(ty, WITH_HALO_Y, TILE_Y):
            for column in range(tx, WITH_HALO_X, TILE_X):
                y, x = y0 + row - 1, x0 + column - 1
                inside = 0 <= y < out.shape[2] and 0 <= x < out.shape[3]
                tile[row, column] = images[image, i, y, x] if inside else float32(0.0)
        cuda.syncthreads()
        for ky in range(TAPS):
            for kx in range(TAPS):
                total += weights[i, ky, kx, channel] * tile[ty + ky, tx + kx]
        cuda.syncthreads()
    if y0 + ty < out.shape[2] and x0 + tx < out.shape[3]:
        out[image, channel, y0 + ty, x0 + tx] = total


@cuda.jit(device=True)
def load_pixels(pixels, images, image, first, y0, x0):
    """Store eight channels of a tile with its halo, from channel `first`; zeros outside."""
    for e in range(cuda.threadIdx.x, PIXEL_CELLS, THREADS):
        i, rest = e // PLANE, e % PLANE
        row, column = rest // WITH_HALO_X, rest % WITH_HALO_X
        y, x = y0 + row - 1, x0 + column - 1
        inside = 0 <= y < images.shape[2] and 0 <= x < images.shape[3]
        if inside and first + i < images.shape[1]:
            pixels[i, row, column] = images[image, first + i, y, x]
        else:
            pixels[i, row, column] = float32(0.0)


@cuda.jit(device=True)
def load_weights(factors, weights, first, channel):
    """Store the weights of eight inputs from `first` and 64 outputs from `channel`."""
    for e in range(cuda.threadIdx.x, WEIGHT_CELLS, THREADS):
        tap, o = e // OUTPUTS, e % OUTPUTS
        i, place = tap // (TAPS * TAPS), tap % (TAPS * TAPS)
        if first + i < weights.shape[0] and channel + o < weights.shape[3]:
            value = weights[first + i, place // TAPS, place % TAPS, channel + o]
            factors[tap, o] = value
        else:
            factors[tap, o] = float32(0.0)


@cuda.jit(max_registers=REGISTERS)
def convolve_product(out, images, weights):
    """The convolution as a matrix product whose left factor is never written down.

    A block makes 64 outputs of 8×32 pixels: each thread eight outputs of eight pixels in a row, in
    registers. A row of ten pixels and three taps' weights serve 192 operation pairs: one shared
    read for more than five of them. Bound by arithmetic and the wait for each eight channels.
    Launch: 256 threads; x counts tiles of an image, y groups of 64 outputs, z images.
    """
    pixels = cuda.shared.array((INPUTS, WITH_HALO_Y, ODD_X), float32)
    factors = cuda.shared.array((ALL_TAPS, OUTPUTS), float32)
    sums = cuda.local.array((PART, PART), float32)
    span = cuda.local.array(SPAN, float32)
    factor = cuda.local.array(PART, float32)
    t = cuda.threadIdx.x
    across = (out.shape[3] + TILE_X - 1) // TILE_X
    x0, y0 = cuda.blockIdx.x % across * TILE_X, cuda.blockIdx.x // across * TILE_Y
    channel, image = cuda.blockIdx.y * OUTPUTS, cuda.blockIdx.z
    o = ((t >> 5) & 7) * PART  # a warp shares its outputs, so their weights are broadcast
    row, column = (t & 31) // GROUPS, (t & 3) * PART
    for p in range(PART):
        for q in range(PART):
            sums[p, q] = float32(0.0)
    for first in range(0, images.shape[1], INPUTS):
        load_pixels(pixels, images, image, first, y0, x0)
        load_weights(factors, weights, first, channel)
        cuda.syncthreads()
        for i in range(INPUTS):
            for ky in range(TAPS):
                for q in range(SPAN):
                    span[q] = pixels[i, row + ky, column + q]
                for kx in range(TAPS):
                    for p in range(PART):
                        factor[p] = factors[(i * TAPS + ky) * TAPS + kx, o + p]
                    for p in range(PART):
                        for q in range(PART):
                            sums[p, q] += factor[p] * span[kx + q]
        cuda.syncthreads()
    y, x = y0 + row, x0 + column
    for p in range(PART):
        for q in range(PART):
            if channel + o + p < out.shape[1] and y < out.shape[2] and x + q < out.shape[3]:
                out[image, channel + o + p, y, x + q] = sums[p, q]


def _one_each(kernel):
    def plan(out, images, weights):
        batch, channels, rows, columns = out.shape
        grid = (ceil_div(columns, TILE_X), ceil_div(rows, TILE_Y), batch * channels)
        return [Launch(kernel, grid, (TILE_X, TILE_Y), (out, images, weights))]

    return plan


def _product(out, images, weights):
    batch, channels, rows, columns = out.shape
    tiles = ceil_div(columns, TILE_X) * ceil_div(rows, TILE_Y)
    grid = (tiles, ceil_div(channels, OUTPUTS), batch)
    return [Launch(convolve_product, grid, THREADS, (out, images, weights))]


def reference(images: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The convolution by NumPy, in float64."""
    rows, columns = images.shape[2:]
    padded = np.pad(images.astype(np.float64), ((0, 0), (0, 0), (1, 1), (1, 1)))
    total = np.zeros((images.shape[0], weights.shape[3], rows, columns))
    for ky in range(TAPS):
        for kx in range(TAPS):
            window = padded[:, :, ky : ky + rows, kx : kx + columns]
            total += np.einsum("nihw,io->nohw", window, weights[:, ky, kx].astype(np.float64))
    return total


CONVOLUTION_2D = Topic(
    name="convolution-2d",
    steps=(
        Step("direct", _one_each(convolve_direct)),
        Step("tiled", _one_each(convolve_tiled)),
        Step("implicit product", _product),
    ),
    arguments=lambda rng, batch, inputs, outputs, rows, columns: (
        unwritten(batch, outputs, rows, columns),
        uniform(rng, batch, inputs, rows, columns),
        uniform(rng, inputs, TAPS, TAPS, outputs),
    ),
    reference=lambda out, images, weights: reference(images, weights),  # noqa: ARG005
    sizes=((1, 3, 5, 11, 37), (2, 8, 4, 8, 32)),
)
