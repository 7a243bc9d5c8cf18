"""Asynchronous copies: 4, 8 and 16 bytes, tiles with a halo, a convolution."""

from __future__ import annotations

import numpy as np

from wia_lab import cuda
from wia_lab.kernels.silicon.case import Topic, numbers, zeros

CASES = Topic()
TILE, HALO = 256, 2
BUFFER = TILE + 2 * HALO


@CASES.case("cp-async-4", 4, 128, zeros(512), numbers(512))
def cp_async_4(o, a):
    cells = cuda.shared.array(128, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    cuda.cp_async(cells, t, a, i)
    cuda.cp_async_commit_group()
    cuda.cp_async_wait_group(0)
    cuda.syncthreads()
    o[i] = cells[127 - t]


@CASES.case("cp-async-8", 4, 128, zeros(512, dtype="float64"), numbers(512, dtype="float64"))
def cp_async_8(o, a):
    cells = cuda.shared.array(128, np.float64)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    cuda.cp_async(cells, t, a, i)
    cuda.cp_async_wait_all()
    cuda.syncthreads()
    o[i] = cells[127 - t]


@CASES.case("cp-async-16", 4, 128, zeros(512), numbers(2048))
def cp_async_16(o, a):
    cells = cuda.shared.array(512, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    cuda.cp_async(cells, 4 * t, a, 4 * i, 4)
    cuda.cp_async_commit_group()
    cuda.cp_async_wait_group(0)
    cuda.syncthreads()
    o[i] = cells[t]


@CASES.case("cp-async-column", 1, 64, zeros(64), numbers(64, 20))
def cp_async_column(o, a):
    cells = cuda.shared.array((64, 8), np.float32)
    t = cuda.threadIdx.x
    cuda.cp_async(cells, (t, 3), a, (t, 5))
    cuda.cp_async_wait_all()
    cuda.syncthreads()
    o[t] = cells[63 - t, 3]


@CASES.case("tile-copy", 3, 128, zeros(700), numbers(700))
def tile_copy(o, a):
    cells = cuda.shared.array(BUFFER, np.float32)
    first = cuda.blockIdx.x * TILE
    cuda.copy_dram_to_sram_async(cells, a, first - HALO, BUFFER)
    cuda.cp_async_commit_group()
    cuda.async_copy_wait_all()
    cuda.syncthreads()
    for j in range(cuda.threadIdx.x, TILE, cuda.blockDim.x):
        if first + j < o.size:
            o[first + j] = cells[j] + cells[j + 2 * HALO]


@CASES.case("async-convolution", 4, 256, zeros(1000), numbers(1000), numbers(5))
def async_convolution(o, signal, taps):
    cells = cuda.shared.array(BUFFER, np.float32)
    weights = cuda.shared.array(5, np.float32)
    t = cuda.threadIdx.x
    first = cuda.blockIdx.x * TILE
    cuda.copy_dram_to_sram_async(cells, signal, first - HALO, BUFFER)
    cuda.cp_async_commit_group()
    if t < 5:
        weights[t] = taps[t]
    cuda.async_copy_wait_all()
    cuda.syncthreads()
    if first + t < o.size:
        total = np.float32(0)
        for k in range(5):
            total += weights[k] * cells[t + k]
        o[first + t] = total
