"""Indices and edges."""

from __future__ import annotations

import numpy as np
from casebook import Case, register

from wia_lab import cuda

CASES: list[Case] = []
case = register(CASES)

TILE = 8
HALO = TILE + 2


@case(out_of_bounds="error")
def no_guard():
    @cuda.jit
    def kernel(out, a):
        i = cuda.grid(1)
        out[i] = a[i] + 1

    a, out = np.arange(50), np.zeros(50, np.int64)
    kernel[2, 32](out, a)
    return [(out, a + 1)]


@case()
def grid_rounded_down():
    """The last elements are never reached: no hazard, only too little."""

    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = 5

    out = np.zeros(75, np.int32)
    kernel[75 // 16, 16](out)
    return [(out[:64], np.full(64, 5)), (out[64:], np.zeros(11))]


@case(out_of_bounds="error")
def stencil_reads_one_further():
    @cuda.jit
    def kernel(out, a):
        i = cuda.grid(1)
        if i < a.size:
            out[i] = a[i + 1] - a[i]

    a, out = np.arange(40, dtype=np.int32) ** 2, np.zeros(40, np.int32)
    kernel[2, 32](out, a)
    return [(out[:39], np.diff(a))]


@case(write_overlap="warning")
def plus_instead_of_times():
    @cuda.jit
    def kernel(out):
        i = cuda.blockIdx.x + cuda.blockDim.x + cuda.threadIdx.x
        if i < out.size:
            out[i] = 1

    out = np.zeros(40, np.int32)
    kernel[3, 8](out)
    return [(np.flatnonzero(out), np.arange(8, 18))]


@case()
def x_is_the_column():
    @cuda.jit
    def swapped(out):
        x, y = cuda.grid(2)
        if x < out.shape[0] and y < out.shape[1]:
            out[x, y] = 1

    @cuda.jit
    def right(out):
        x, y = cuda.grid(2)
        if y < out.shape[0] and x < out.shape[1]:
            out[y, x] = 1

    a, b = np.zeros((4, 6), np.int32), np.zeros((4, 6), np.int32)
    swapped[1, (6, 4)](a)
    right[1, (6, 4)](b)
    corner = np.zeros((4, 6))
    corner[:, :4] = 1
    return [(a, corner), (b, np.ones((4, 6)))]


@case()
def grid_stride_loop():
    @cuda.jit
    def kernel(out, a):
        for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
            out[i] = a[i] - 7

    @cuda.jit
    def down(out):
        n = 0
        for i in range(9, -2, -4):
            n = n * 10 + i
        out[0] = n

    a, out, number = np.arange(333), np.zeros(333, np.int64), np.zeros(1, np.int64)
    kernel[2, 40](out, a)
    down[1, 1](number)
    return [(out, a - 7), (number, [951])]


@case(negative_index="warning")
def atomic_at_minus_one():
    @cuda.jit
    def kernel(a):
        cuda.atomic.add(a, -1, 2)

    a = np.zeros(3, np.int32)
    kernel[1, 5](a)
    return [(a, [0, 0, 10])]


@case()
def shape_unpacked_and_negative():
    @cuda.jit
    def kernel(out, image):
        height, width = image.shape
        out[0] = height * 10 + width
        out[1] = image.shape[-1] + len(image)
        out[2] = image.size * image.ndim

    out = np.zeros(3, np.int64)
    kernel[1, 1](out, np.zeros((3, 5), np.float32))
    return [(out, [35, 8, 30])]


@case(negative_index="warning")
def row_view_and_slice():
    @cuda.jit
    def kernel(a):
        i = cuda.grid(1)
        if i < a.shape[0]:
            row = a[i]
            row[0] = i
            row[1:4] = 2.5
            a[i, -1] = row[0] + row.size

    a = np.zeros((2, 5))
    kernel[1, 4](a)
    return [(a, [[0, 2.5, 2.5, 2.5, 5], [1, 2.5, 2.5, 2.5, 6]])]


@case(float64_arithmetic="warning")
def chained_comparison_at_a_halo():
    @cuda.jit
    def kernel(out, a):
        tile = cuda.shared.array(HALO, np.float32)
        i, t, n = cuda.grid(1), cuda.threadIdx.x, a.size
        tile[t + 1] = a[i] if 0 <= i < n else np.float32(0)
        if t < 2:
            j = i - 1 if t == 0 else i - 1 + TILE
            tile[t * (TILE + 1)] = a[j] if 0 <= j < n else np.float32(0)
        cuda.syncthreads()
        if i < n:
            out[i] = tile[t] - 2.0 * tile[t + 1] + tile[t + 2]

    a = np.arange(21, dtype=np.float32) ** 2
    out = np.zeros(21, np.float32)
    kernel[3, TILE](out, a)
    padded = np.pad(a, 1)
    return [(out, padded[:-2] - 2 * padded[1:-1] + padded[2:])]


@case()
def ties_round_to_even():
    @cuda.jit
    def kernel(out, x):
        i = cuda.threadIdx.x
        out[i] = int(round(x[i]))

    x = np.array([3.5, 4.5, -3.5, -4.5, 4.49, -4.51])
    out = np.zeros(6, np.int64)
    kernel[1, 6](out, x)
    return [(out, [4, 4, -4, -4, 4, -5])]
