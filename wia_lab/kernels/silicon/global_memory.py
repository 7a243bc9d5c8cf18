"""Loads and stores of global memory: widths, strides, alignment, gathers."""

from __future__ import annotations

from typing import Any

import numpy as np

from wia_lab import cuda
from wia_lab.kernels.silicon.case import Topic, numbers, shuffled, zeros

CASES = Topic()
N = 8192
FIELDS = [("x", np.float32), ("y", np.float32), ("z", np.float32)]


def points(align: bool) -> Any:
    """Records of three float32, packed (no alignment promised) or aligned."""
    return lambda: np.zeros(4096, np.dtype(FIELDS, align=align))


@CASES.case("strided-1", 32, 256, zeros(N), numbers(N), 1)
@CASES.case("strided-2", 32, 256, zeros(N), numbers(2 * N), 2)
@CASES.case("strided-4", 32, 256, zeros(N), numbers(4 * N), 4)
@CASES.case("strided-8", 32, 256, zeros(N), numbers(8 * N), 8)
@CASES.case("strided-32", 32, 256, zeros(N), numbers(32 * N), 32)
@CASES.case(
    "strided-3-float64",
    16,
    256,
    zeros(4096, dtype="float64"),
    numbers(3 * 4096, dtype="float64"),
    3,
)
def strided(o, a, s):
    i = cuda.grid(1)
    o[i] = a[i * s]


@CASES.case("copy-int8", 9, 256, zeros(2100, dtype="int8"), numbers(2100, dtype="int8"))
@CASES.case("copy-int16", 9, 256, zeros(2100, dtype="int16"), numbers(2100, dtype="int16"))
@CASES.case("copy-float32-partial", 22, 48, zeros(1001), numbers(1001))
@CASES.case("copy-float64", 9, 256, zeros(2100, dtype="float64"), numbers(2100, dtype="float64"))
@CASES.case(
    "copy-complex64", 9, 256, zeros(2100, dtype="complex64"), numbers(2100, dtype="complex64")
)
@CASES.case(
    "copy-complex128", 9, 256, zeros(2100, dtype="complex128"), numbers(2100, dtype="complex128")
)
def copy(o, a):
    i = cuda.grid(1)
    if i < a.size:
        o[i] = a[i]


@CASES.case("shifted-1", 9, 256, zeros(2100), numbers(2200), 1)
@CASES.case("shifted-7", 9, 256, zeros(2100), numbers(2200), 7)
@CASES.case("shifted-3-int8", 9, 256, zeros(2100, dtype="int8"), numbers(2200, dtype="int8"), 3)
@CASES.case(
    "shifted-1-float64", 9, 256, zeros(2100, dtype="float64"), numbers(2200, dtype="float64"), 1
)
def shifted(o, a, shift):
    i = cuda.grid(1)
    if i < o.size:
        o[i] = a[i + shift]


@CASES.case("copy2d-odd-width", (9, 7), (16, 16), zeros(100, 130), numbers(100, 130))
@CASES.case(
    "copy2d-narrow",
    (2, 5),
    (32, 8),
    zeros(37, 53, dtype="float64"),
    numbers(37, 53, dtype="float64"),
)
@CASES.case("copy2d-tall-blocks", (20, 3), (8, 32), zeros(80, 160), numbers(80, 160))
def copy2d(o, a):
    x, y = cuda.grid(2)
    if y < a.shape[0] and x < a.shape[1]:
        o[y, x] = a[y, x]


@CASES.case("copy2d-columns", (5, 5), (16, 16), zeros(80, 80), numbers(80, 80))
def copy2d_columns(o, a):
    x, y = cuda.grid(2)
    if x < a.shape[0] and y < a.shape[1]:
        o[x, y] = a[x, y]


@CASES.case("transpose-naive", (5, 9), (32, 8), zeros(150, 70), numbers(70, 150))
def transpose_naive(o, a):
    x, y = cuda.grid(2)
    if y < a.shape[0] and x < a.shape[1]:
        o[x, y] = a[y, x]


@CASES.case("broadcast-warp", 8, 256, zeros(2048), numbers(64))
def broadcast_warp(o, a):
    i = cuda.grid(1)
    o[i] = a[i // 32]


@CASES.case("broadcast-pairs", 8, 256, zeros(2048), numbers(1024))
def broadcast_pairs(o, a):
    i = cuda.grid(1)
    o[i] = a[i // 2]


@CASES.case("gather", 16, 256, zeros(4096), numbers(4096), shuffled(4096))
def gather(o, a, index):
    i = cuda.grid(1)
    o[i] = a[index[i]]


@CASES.case("scatter", 16, 256, zeros(4096), numbers(4096), shuffled(4096, seed=2))
def scatter(o, a, index):
    i = cuda.grid(1)
    o[index[i]] = a[i]


@CASES.case("reverse", 8, 250, zeros(1999), numbers(1999))
def reverse(o, a):
    i = cuda.grid(1)
    if i < a.size:
        o[i] = a[a.size - 1 - i]


@CASES.case("every-third-byte", 8, 256, zeros(2048, dtype="uint8"), numbers(6144, dtype="uint8"))
def every_third(o, a):
    i = cuda.grid(1)
    o[i] = a[3 * i]


@CASES.case("saxpy", 9, 256, zeros(2100), numbers(2100), numbers(2100))
def saxpy(o, a, b):
    i = cuda.grid(1)
    if i < o.size:
        o[i] = np.float32(2) * a[i] + b[i]


@CASES.case("three-point-sum", 9, 256, zeros(2100), numbers(2100))
def three_point_sum(o, a):
    i = cuda.grid(1)
    if 0 < i < a.size - 1:
        o[i] = a[i - 1] + a[i] + a[i + 1]


@CASES.case("record-field-packed", 16, 256, zeros(4096), points(False))
@CASES.case("record-field-aligned", 16, 256, zeros(4096), points(True))
def record_field(o, a):
    i = cuda.grid(1)
    o[i] = a[i].y


@CASES.case("grid-stride", 3, 96, zeros(960), numbers(960))
def grid_stride(o, a):
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        o[i] = a[i] + np.float32(1)


@CASES.case("row-sums", 4, 64, zeros(250), numbers(250, 40))
def row_sums(o, a):
    i = cuda.grid(1)
    if i < o.size:
        total = np.float32(0)
        for j in range(a.shape[1]):
            total += a[i, j]
        o[i] = total


@CASES.case("column-sums", 4, 64, zeros(250), numbers(40, 250))
def column_sums(o, a):
    i = cuda.grid(1)
    if i < o.size:
        total = np.float32(0)
        for j in range(a.shape[0]):
            total += a[j, i]
        o[i] = total
