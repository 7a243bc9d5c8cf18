"""Shared memory: strides, widths, broadcasts, transposes, reductions."""

from __future__ import annotations

import numpy as np

from wia_lab import cuda
from wia_lab.kernels.silicon.case import Topic, numbers, shuffled, zeros

CASES = Topic()


@CASES.case("transpose-tile-32", (8, 8), (32, 32), zeros(256, 256), numbers(256, 256))
def transpose_tile_32(o, a):
    tile = cuda.shared.array((32, 32), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    x, y = cuda.blockIdx.x * 32, cuda.blockIdx.y * 32
    tile[ty, tx] = a[y + ty, x + tx]
    cuda.syncthreads()
    o[x + ty, y + tx] = tile[tx, ty]


@CASES.case("transpose-tile-33", (8, 8), (32, 32), zeros(256, 256), numbers(256, 256))
def transpose_tile_33(o, a):
    tile = cuda.shared.array((32, 33), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    x, y = cuda.blockIdx.x * 32, cuda.blockIdx.y * 32
    tile[ty, tx] = a[y + ty, x + tx]
    cuda.syncthreads()
    o[x + ty, y + tx] = tile[tx, ty]


@CASES.case("shared-load-stride-1", 2, 128, zeros(256), numbers(4096), 1)
@CASES.case("shared-load-stride-2", 2, 128, zeros(256), numbers(4096), 2)
@CASES.case("shared-load-stride-3", 2, 128, zeros(256), numbers(4096), 3)
@CASES.case("shared-load-stride-8", 2, 128, zeros(256), numbers(4096), 8)
@CASES.case("shared-load-stride-32", 2, 128, zeros(256), numbers(4096), 32)
@CASES.case("shared-load-broadcast", 2, 128, zeros(256), numbers(4096), 0)
def shared_load_strided(o, a, s):
    cells = cuda.shared.array(4096, np.float32)
    t = cuda.threadIdx.x
    for i in range(t, 4096, cuda.blockDim.x):
        cells[i] = a[i]
    cuda.syncthreads()
    o[cuda.grid(1)] = cells[t * s]


@CASES.case("shared-store-stride-2", 2, 128, zeros(256), 2)
@CASES.case("shared-store-stride-4", 2, 100, zeros(256), 4)
def shared_store_strided(o, s):
    cells = cuda.shared.array(1024, np.float32)
    t = cuda.threadIdx.x
    cells[t * s] = np.float32(t)
    cuda.syncthreads()
    o[cuda.grid(1)] = cells[t * s]


@CASES.case("shared-float64-stride-1", 2, 128, zeros(256, dtype="float64"), 1)
@CASES.case("shared-float64-stride-2", 2, 128, zeros(256, dtype="float64"), 2)
@CASES.case("shared-float64-stride-16", 2, 64, zeros(256, dtype="float64"), 16)
@CASES.case("shared-float64-half-warps", 2, 16, zeros(256, dtype="float64"), 1)
def shared_float64(o, s):
    cells = cuda.shared.array(1024, np.float64)
    t = cuda.threadIdx.x
    cells[t * s] = np.float64(t)
    cuda.syncthreads()
    o[cuda.grid(1)] = cells[t * s]


@CASES.case("shared-float64-groups-2", 2, 128, zeros(256, dtype="float64"), 2)
@CASES.case("shared-float64-groups-16", 2, 128, zeros(256, dtype="float64"), 16)
@CASES.case("shared-float64-broadcast", 2, 128, zeros(256, dtype="float64"), 128)
def shared_float64_groups(o, group):
    cells = cuda.shared.array(128, np.float64)
    t = cuda.threadIdx.x
    cells[t] = np.float64(t)
    cuda.syncthreads()
    o[cuda.grid(1)] = cells[t // group]


@CASES.case("shared-float64-gather", 2, 128, zeros(256, dtype="float64"), shuffled(256, 512))
def shared_float64_gather(o, index):
    cells = cuda.shared.array(512, np.float64)
    t = cuda.threadIdx.x
    for i in range(t, 512, cuda.blockDim.x):
        cells[i] = np.float64(i)
    cuda.syncthreads()
    i = cuda.grid(1)
    o[i] = cells[index[i]]


@CASES.case("shared-float32-gather", 2, 128, zeros(256), shuffled(256, 512))
def shared_float32_gather(o, index):
    cells = cuda.shared.array(512, np.float32)
    t = cuda.threadIdx.x
    for i in range(t, 512, cuda.blockDim.x):
        cells[i] = np.float32(i)
    cuda.syncthreads()
    i = cuda.grid(1)
    o[i] = cells[index[i]]


@CASES.case("shared-int8", 2, 128, zeros(256, dtype="int8"), 1)
@CASES.case("shared-int8-stride-3", 2, 128, zeros(256, dtype="int8"), 3)
@CASES.case("shared-int8-stride-128", 2, 32, zeros(256, dtype="int8"), 128)
def shared_int8(o, s):
    cells = cuda.shared.array(4096, np.int8)
    t = cuda.threadIdx.x
    cells[t * s] = np.int8(t)
    cuda.syncthreads()
    o[cuda.grid(1)] = cells[t * s]


@CASES.case("shared-complex128", 2, 128, zeros(256, dtype="complex128"), 1)
@CASES.case("shared-complex128-stride-3", 2, 64, zeros(256, dtype="complex128"), 3)
@CASES.case("shared-complex128-broadcast", 2, 64, zeros(256, dtype="complex128"), 0)
def shared_complex128(o, s):
    cells = cuda.shared.array(256, np.complex128)
    t = cuda.threadIdx.x
    for i in range(t, 256, cuda.blockDim.x):
        cells[i] = complex(i, 1)
    cuda.syncthreads()
    o[cuda.grid(1)] = cells[t * s]


@CASES.case("shared-complex64", 2, 64, zeros(128, dtype="complex64"), 1)
@CASES.case("shared-complex64-stride-2", 2, 64, zeros(128, dtype="complex64"), 2)
def shared_complex64(o, s):
    cells = cuda.shared.array(128, np.complex64)
    t = cuda.threadIdx.x
    for i in range(t, 128, cuda.blockDim.x):
        cells[i] = np.complex64(complex(i, 1))
    cuda.syncthreads()
    o[cuda.grid(1)] = cells[t * s]


@CASES.case("shared-float64-rows", 2, (16, 8), zeros(256, dtype="float64"))
def shared_float64_rows(o):
    cells = cuda.shared.array((16, 16), np.float64)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    cells[ty, tx] = np.float64(tx)
    cells[ty + 8, tx] = np.float64(ty)
    cuda.syncthreads()
    o[cuda.blockIdx.x * 128 + ty * 16 + tx] = cells[ty, 3] * cells[tx, ty]


@CASES.case("shared-float64-swapped-pairs", 2, 64, zeros(128, dtype="float64"))
def shared_float64_swapped_pairs(o):
    cells = cuda.shared.array(64, np.float64)
    t = cuda.threadIdx.x
    cells[t] = np.float64(t)
    cuda.syncthreads()
    o[cuda.grid(1)] = cells[(t // 4) * 2 + t % 2]


@CASES.case("shared-float64-ragged", 2, 64, zeros(128, dtype="float64"), 5, 3)
@CASES.case("shared-float64-ragged-wide", 2, 64, zeros(128, dtype="float64"), 2, 1)
def shared_float64_ragged(o, modulus, stride):
    cells = cuda.shared.array(256, np.float64)
    t = cuda.threadIdx.x
    for i in range(t, 256, cuda.blockDim.x):
        cells[i] = np.float64(i)
    cuda.syncthreads()
    if t % modulus == 0:
        o[cuda.grid(1)] = cells[t * stride]


@CASES.case("shared-float64-store-pairs", 2, 64, zeros(128, dtype="float64"))
def shared_float64_store_pairs(o):
    cells = cuda.shared.array(64, np.float64)
    t = cuda.threadIdx.x
    cells[t] = np.float64(0)
    cuda.syncthreads()
    cells[t // 2] = np.float64(1)
    cuda.syncthreads()
    o[cuda.grid(1)] = cells[t]


@CASES.case("reduce-interleaved", 4, 128, zeros(4), numbers(512))
def reduce_interleaved(o, a):
    cells = cuda.shared.array(128, np.float32)
    t = cuda.threadIdx.x
    cells[t] = a[cuda.grid(1)]
    cuda.syncthreads()
    s = 1
    while s < cuda.blockDim.x:
        i = 2 * s * t
        if i + s < cuda.blockDim.x:
            cells[i] += cells[i + s]
        cuda.syncthreads()
        s *= 2
    if t == 0:
        o[cuda.blockIdx.x] = cells[0]


@CASES.case("reduce-halving", 4, 128, zeros(4), numbers(500))
def reduce_halving(o, a):
    cells = cuda.shared.array(128, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    cells[t] = a[i] if i < a.size else np.float32(0)
    cuda.syncthreads()
    s = cuda.blockDim.x // 2
    while s > 0:
        if t < s:
            cells[t] += cells[t + s]
        cuda.syncthreads()
        s //= 2
    if t == 0:
        o[cuda.blockIdx.x] = cells[0]


@CASES.case("reduce-shuffle", 4, 128, zeros(4), numbers(512))
def reduce_shuffle(o, a):
    partial = cuda.shared.array(4, np.float32)
    t = cuda.threadIdx.x
    value = a[cuda.grid(1)]
    for offset in (16, 8, 4, 2, 1):
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, offset)
    if t % 32 == 0:
        partial[t // 32] = value
    cuda.syncthreads()
    if t == 0:
        total = np.float32(0)
        for warp in range(cuda.blockDim.x // 32):
            total += partial[warp]
        o[cuda.blockIdx.x] = total


@CASES.case("tiled-matmul", (4, 5), (16, 16), numbers(70, 50), numbers(50, 60), zeros(70, 60))
def tiled_matmul(a, b, c):
    left = cuda.shared.array((16, 16), np.float32)
    right = cuda.shared.array((16, 16), np.float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = np.float32(0)
    for first in range(0, a.shape[1], 16):
        left[ty, tx] = np.float32(0)
        right[ty, tx] = np.float32(0)
        if y < a.shape[0] and first + tx < a.shape[1]:
            left[ty, tx] = a[y, first + tx]
        if first + ty < b.shape[0] and x < b.shape[1]:
            right[ty, tx] = b[first + ty, x]
        cuda.syncthreads()
        for k in range(16):
            total += left[ty, k] * right[k, tx]
        cuda.syncthreads()
    if y < c.shape[0] and x < c.shape[1]:
        c[y, x] = total
