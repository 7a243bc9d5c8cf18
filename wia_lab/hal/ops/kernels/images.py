"""Kernels over batches of images: (images, channels, height, width), contiguous.

Each takes the numbers of its shape and options as one array of int64, in the order that the names
at its beginning give.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any

import numba

from wia_lab import cuda

if TYPE_CHECKING:
    import numpy as np

TILE = 16


@functools.cache
def direct(sums: np.dtype[Any]) -> Any:
    """One output a thread: one tap after the other, each over the channels of the output's group.

    Outside, x is zero, and the zero takes part. Launch: any number of threads in one dimension.
    """
    kind = numba.from_dtype(sums)

    @cuda.jit
    def convolved(out, x, weight, numbers):
        channels, rows, columns = numbers[0], numbers[1], numbers[2]
        outputs, mine, taps_y, taps_x = numbers[3], numbers[4], numbers[5], numbers[6]
        height, width = numbers[7], numbers[8]
        for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
            px, py = i % width, i // width % height
            output, image = i // width // height % outputs, i // width // height // outputs
            first = output // (outputs // (channels // mine)) * mine
            total = kind(0)
            for ty in range(taps_y):
                for tx in range(taps_x):
                    y = py * numbers[11] - numbers[9] + ty * numbers[13]
                    z = px * numbers[12] - numbers[10] + tx * numbers[14]
                    inside = 0 <= y < rows and 0 <= z < columns
                    for c in range(mine):
                        seen = kind(0)
                        if inside:
                            plane = image * channels + first + c
                            seen = kind(x[(plane * rows + y) * columns + z])
                        tap = ((output * mine + c) * taps_y + ty) * taps_x + tx
                        total += kind(weight[tap]) * seen
            out[i] = total

    return convolved


@functools.cache
def implicit_product(sums: np.dtype[Any]) -> Any:
    """A product of the weights with the taps, which are gathered into tiles in shared memory.

    Launch: blocks of 16×16 threads, x over the pixels of an image, y over the outputs of a group,
    each rounded up to whole tiles, and any number along z for images and groups.
    """
    kind = numba.from_dtype(sums)

    @cuda.jit
    def convolved(out, x, weight, numbers):
        channels, rows, columns = numbers[0], numbers[1], numbers[2]
        outputs, mine, taps_y, taps_x = numbers[3], numbers[4], numbers[5], numbers[6]
        height, width = numbers[7], numbers[8]
        groups = channels // mine
        share = outputs // groups
        depth, pixels = mine * taps_y * taps_x, height * width
        factors = cuda.shared.array((TILE, TILE), kind)
        seen = cuda.shared.array((TILE, TILE), kind)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        pixel, output = cuda.grid(2)
        py, px = pixel // width, pixel % width
        for z in range(cuda.blockIdx.z, out.size // (share * pixels), cuda.gridDim.z):
            image, group = z // groups, z % groups
            total = kind(0)
            for first in range(0, depth, TILE):
                factors[ty, tx] = kind(0)
                seen[ty, tx] = kind(0)
                if output < share and first + tx < depth:
                    factors[ty, tx] = kind(weight[(group * share + output) * depth + first + tx])
                k = first + ty
                if pixel < pixels and k < depth:
                    c, tap = k // (taps_y * taps_x), k % (taps_y * taps_x)
                    y = py * numbers[11] - numbers[9] + tap // taps_x * numbers[13]
                    column = px * numbers[12] - numbers[10] + tap % taps_x * numbers[14]
                    if 0 <= y < rows and 0 <= column < columns:
                        plane = image * channels + group * mine + c
                        seen[ty, tx] = kind(x[(plane * rows + y) * columns + column])
                cuda.syncthreads()
                for k in range(min(TILE, depth - first)):
                    total += factors[ty, k] * seen[k, tx]
                cuda.syncthreads()
            if output < share and pixel < pixels:
                out[((image * groups + group) * share + output) * pixels + pixel] = total

    return convolved


@functools.cache
def largest(dtype: np.dtype[Any]) -> Any:
    """The maximum of each window; NaN where there is one, and padding never.

    Launch: any number of threads in one dimension.
    """
    kind = numba.from_dtype(dtype)

    @cuda.jit
    def pooled(out, x, numbers):
        rows, columns, height, width = numbers[0], numbers[1], numbers[2], numbers[3]
        for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
            y0 = i // width % height * numbers[6] - numbers[8]
            x0 = i % width * numbers[7] - numbers[9]
            plane = i // width // height
            found = False
            best = kind(0)
            for y in range(max(y0, 0), min(y0 + numbers[4], rows)):
                for z in range(max(x0, 0), min(x0 + numbers[5], columns)):
                    value = kind(x[(plane * rows + y) * columns + z])
                    if not found or value > best or value != value:
                        best = value
                    found = True
            out[i] = best

    return pooled


@functools.cache
def average(accumulate: np.dtype[Any], count_padding: bool) -> Any:
    """The mean of each window; padding counts as zeros, or not at all. Launch: as `largest`."""
    kind = numba.from_dtype(accumulate)

    @cuda.jit
    def pooled(out, x, numbers):
        rows, columns, height, width = numbers[0], numbers[1], numbers[2], numbers[3]
        for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
            y0 = i // width % height * numbers[6] - numbers[8]
            x0 = i % width * numbers[7] - numbers[9]
            plane = i // width // height
            total = kind(0)
            cells = 0
            for y in range(max(y0, 0), min(y0 + numbers[4], rows)):
                for z in range(max(x0, 0), min(x0 + numbers[5], columns)):
                    total += kind(x[(plane * rows + y) * columns + z])
                    cells += 1
            if count_padding:
                cells = numbers[4] * numbers[5]
            out[i] = total / kind(cells) if cells else kind(math.nan)

    return pooled
