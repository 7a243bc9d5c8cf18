"""Convolution 3×3, batch norm, ReLU and 2×2 maximum pooling: four kernels, or one.

Inference form: batch norm is ``scale[o] · v + shift[o]``. Images have even rows and columns; the
result is (batch, outputs, rows / 2, columns / 2). Fusing saves writing and reading back three
intermediate images of 4 bytes a pixel and channel.
"""

from __future__ import annotations

import numpy as np
from numba import float32

from wia_lab import cuda
from wia_lab.kernels.convolution2d import (
    TAPS,
    TILE_X,
    TILE_Y,
    WITH_HALO_X,
    WITH_HALO_Y,
    convolve_tiled,
    reference,
)
from wia_lab.kernels.ladder import Launch, Step, Topic, ceil_div, uniform, unwritten

BLOCK = 256  # threads
ZERO = float32(0.0)


@cuda.jit
def batch_norm(out, a, scale, shift):
    """``out = scale · a + shift`` by channel; one element a thread, bound by memory bandwidth.

    Arrays are (batch, channels, pixels). Launch: x over pixels, y batch × channels.
    """
    p = cuda.grid(1)
    image, channel = cuda.blockIdx.y // a.shape[1], cuda.blockIdx.y % a.shape[1]
    if p < a.shape[2]:
        out[image, channel, p] = scale[channel] * a[image, channel, p] + shift[channel]


@cuda.jit
def relu(out, a):
    """``out = max(a, 0)`` of a vector; one element a thread, bound by memory bandwidth."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = max(a[i], ZERO)


@cuda.jit
def max_pool(out, a):
    """The greatest of 2×2 pixels: one result a thread, bound by memory bandwidth.

    Launch: 32×8 threads over the result's columns and rows, z batch × channels.
    """
    x, y = cuda.grid(2)
    image, channel = cuda.blockIdx.z // a.shape[1], cuda.blockIdx.z % a.shape[1]
    if y < out.shape[2] and x < out.shape[3]:
        upper = max(a[image, channel, 2 * y, 2 * x], a[image, channel, 2 * y, 2 * x + 1])
        lower = max(a[image, channel, 2 * y + 1, 2 * x], a[image, channel, 2 * y + 1, 2 * x + 1])
        out[image, channel, y, x] = max(upper, lower)


@cuda.jit
def conv_norm_relu_pool(out, images, weights, scale, shift):
    """All four in one: only the pooled result is written.

    A block convolves a tile of 8×32 pixels of one output, one pixel a thread, then pools it through
    shared memory. Bound by shared memory, as the tiled convolution is.
    Launch: 32×8 threads a tile of pixels; z counts images × outputs.
    """
    tile = cuda.shared.array((WITH_HALO_Y, WITH_HALO_X), float32)
    made = cuda.shared.array((TILE_Y, TILE_X), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    x0, y0 = cuda.blockIdx.x * TILE_X, cuda.blockIdx.y * TILE_Y
    image, channel = cuda.blockIdx.z // out.shape[1], cuda.blockIdx.z % out.shape[1]
    total = ZERO
    for i in range(images.shape[1]):
        for row in range(ty, WITH_HALO_Y, TILE_Y):
            for column in range(tx, WITH_HALO_X, TILE_X):
                y, x = y0 + row - 1, x0 + column - 1
                inside = 0 <= y < images.shape[2] and 0 <= x < images.shape[3]
                tile[row, column] = images[image, i, y, x] if inside else ZERO
        cuda.syncthreads()
        for ky in range(TAPS):
            for kx in range(TAPS):
                total += weights[i, ky, kx, channel] * tile[ty + ky, tx + kx]
        cuda.syncthreads()
    made[ty, tx] = max(scale[channel] * total + shift[channel], ZERO)
    cuda.syncthreads()
    if ty < TILE_Y // 2 and tx < TILE_X // 2:
        y, x = y0 // 2 + ty, x0 // 2 + tx
        if y < out.shape[2] and x < out.shape[3]:
            upper = max(made[2 * ty, 2 * tx], made[2 * ty, 2 * tx + 1])
            lower = max(made[2 * ty + 1, 2 * tx], made[2 * ty + 1, 2 * tx + 1])
            out[image, channel, y, x] = max(upper, lower)


def _tiles(shape):
    batch, channels, rows, columns = shape
    return (ceil_div(columns, TILE_X), ceil_div(rows, TILE_Y), batch * channels)


def _separate(out, images, weights, scale, shift, first, second):
    batch, channels, rows, columns = first.shape
    pixels = rows * columns
    block = (TILE_X, TILE_Y)
    flat = [each.reshape(batch, channels, pixels) for each in (first, second)]
    lines = [each.reshape(batch * channels * pixels) for each in (first, second)]
    by_channel = (ceil_div(pixels, BLOCK), batch * channels)
    return [
        Launch(convolve_tiled, _tiles(first.shape), block, (first, images, weights)),
        Launch(batch_norm, by_channel, BLOCK, (flat[1], flat[0], scale, shift)),
        Launch(relu, ceil_div(lines[0].size, BLOCK), BLOCK, (lines[0], lines[1])),
        Launch(max_pool, _tiles(out.shape), block, (out, first)),
    ]


def _fused(out, images, weights, scale, shift, first, second):  # noqa: ARG001 - nothing between
    arguments = (out, images, weights, scale, shift)
    return [Launch(conv_norm_relu_pool, _tiles(first.shape), (TILE_X, TILE_Y), arguments)]


def _arguments(rng, batch, inputs, outputs, rows, columns):
    return (
        unwritten(batch, outputs, rows // 2, columns // 2),
        uniform(rng, batch, inputs, rows, columns),
        uniform(rng, inputs, TAPS, TAPS, outputs),
        uniform(rng, outputs),
        uniform(rng, outputs),
        unwritten(batch, outputs, rows, columns),
        unwritten(batch, outputs, rows, columns),
    )


def _reference(out, images, weights, scale, shift, first, second):  # noqa: ARG001
    made = reference(images, weights) * scale[:, None, None].astype(np.float64)
    made = np.maximum(made + shift[:, None, None], 0)
    batch, channels, rows, columns = made.shape
    return made.reshape(batch, channels, rows // 2, 2, columns // 2, 2).max(axis=(3, 5))


FUSED = Topic(
    name="conv-norm-relu-pool",
    steps=(Step("four kernels", _separate), Step("fused", _fused)),
    arguments=_arguments,
    reference=_reference,
    sizes=((1, 3, 2, 10, 36), (2, 2, 3, 8, 32)),
)
