"""Kernels with a tile in shared memory, and what can go wrong in them."""

from __future__ import annotations

import numpy as np
from planting import Original, Said, fault

from wia_lab import cuda

ZERO = np.float32(0)


def reverse(out, a):
    tile = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    if i < a.size:
        tile[t] = a[i]
    cuda.syncthreads()
    count = min(64, a.size - cuda.blockIdx.x * 64)
    if t < count:
        out[i] = tile[count - 1 - t]


def matmul(c, a, b):
    left = cuda.shared.array((8, 8), np.float32)
    right = cuda.shared.array((8, 8), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    total = np.float32(0)
    for tile in range((a.shape[1] + 7) // 8):
        k = tile * 8
        left[y, x] = a[row, k + x] if row < a.shape[0] and k + x < a.shape[1] else ZERO
        right[y, x] = b[k + y, column] if k + y < b.shape[0] and column < b.shape[1] else ZERO
        cuda.syncthreads()  # full
        for j in range(8):
            total += left[y, j] * right[j, x]
        cuda.syncthreads()  # read
    if row < c.shape[0] and column < c.shape[1]:
        c[row, column] = total


def convolve(out, a, w):
    tile = cuda.shared.array(36, np.float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[t + 2] = a[i] if i < a.size else np.float32(0)
    if t < 2:
        left = i - 2
        tile[t] = a[left] if left >= 0 else np.float32(0)
        right = i + 32
        tile[t + 34] = a[right] if right < a.size else np.float32(0)
    cuda.syncthreads()
    if i < a.size:
        total = np.float32(0)
        for k in range(5):
            total += tile[t + k] * w[k]
        out[i] = total


def transpose(out, a):
    tile = cuda.shared.array((16, 17), np.int32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    if row < a.shape[0] and column < a.shape[1]:
        tile[y, x] = a[row, column]
    cuda.syncthreads()
    column = cuda.blockIdx.y * 16 + x
    row = cuda.blockIdx.x * 16 + y
    if row < out.shape[0] and column < out.shape[1]:
        out[row, column] = tile[x, y]


def stencil(out, a):
    row, column = cuda.grid(2)
    if 0 < row < a.shape[0] - 1 and 0 < column < a.shape[1] - 1:
        around = a[row - 1, column] + a[row + 1, column] + a[row, column - 1] + a[row, column + 1]
        out[row, column] = around * np.float32(0.25)


def two_arrays(out, a):
    dynamic = cuda.shared.array(0, np.int32)
    first, second = dynamic[:32], dynamic[32:64]
    t = cuda.threadIdx.x
    first[t] = a[t]
    second[t] = a[t + 32]
    cuda.syncthreads()
    out[t] = first[31 - t] + second[31 - t]


def _reverse():
    a = np.arange(150, dtype=np.float32)
    parts = [a[start : start + 64][::-1] for start in (0, 64, 128)]
    return (np.zeros(150, np.float32), a), {0: np.concatenate(parts)}


def _matmul():
    rng = np.random.default_rng(1)
    a, b = rng.integers(-9, 9, (21, 19)), rng.integers(-9, 9, (19, 35))
    c = np.zeros((21, 35), np.float32)
    return (c, a.astype(np.float32), b.astype(np.float32)), {0: a @ b}


def _convolve():
    a = np.arange(97, dtype=np.float32) % 13
    w = np.array([1, 2, 3, -2, -1], np.float32)
    return (np.zeros_like(a), a, w), {0: np.convolve(np.pad(a, 2), w[::-1], "valid")}


def _transpose():
    a = np.arange(21 * 37, dtype=np.int32).reshape(21, 37)
    return (np.zeros((37, 21), np.int32), a), {0: a.T}


def _stencil():
    a = np.arange(19 * 21, dtype=np.float32).reshape(19, 21) % 7
    expected = np.zeros_like(a)
    expected[1:-1, 1:-1] = (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:]) / 4
    return (np.zeros_like(a), a), {0: expected}


def _two_arrays():
    a = np.arange(64, dtype=np.int32)
    return (np.zeros(32, np.int32), a), {0: (a[:32] + a[32:])[::-1]}


ORIGINALS = {
    "reverse": Original(reverse, 3, 64, _reverse),
    "matmul": Original(matmul, (5, 3), (8, 8), _matmul),
    "convolve": Original(convolve, 4, 32, _convolve),
    "transpose": Original(transpose, (3, 2), (16, 16), _transpose),
    "stencil": Original(stencil, (3, 3), (8, 8), _stencil),
    "two arrays": Original(two_arrays, 1, 32, _two_arrays, shared_bytes=256),
}

SYNC = "    cuda.syncthreads()\n"

FAULTS = [
    fault("reverse", "barrier dropped", {SYNC: ""}, Said("race", "tile[count", "tile[t] =")),
    fault(
        "reverse",
        "barrier in the branch",
        {SYNC: "        cuda.syncthreads()\n"},
        Said("divergent-barrier", "syncthreads"),
    ),
    fault(
        "reverse",
        "early return before the barrier",
        {
            ("    if i < a.size:\n        tile"): (
                "    if i >= a.size:\n        return\n    if t >= 0:\n        tile"
            )
        },
        Said("divergent-barrier", "syncthreads", severity="warning"),
    ),
    fault(
        "reverse",
        "index one too high",
        {"count - 1 - t": "count - t"},
        Said("out-of-bounds", "tile[count"),
        Said("uninitialised-read", "tile[count"),
    ),
    fault(
        "reverse",
        "index counts from the end",
        {"count - 1 - t": "-1 - t"},
        Said("negative-index", "tile[-1"),
        Said("uninitialised-read", "tile[-1"),
    ),
    fault(
        "reverse",
        "buffer half as large",
        {"array(64": "array(32"},
        Said("out-of-bounds", "tile[t] ="),
        Said("out-of-bounds", "tile[count"),
    ),
    fault(
        "reverse",
        "guard off by one",
        {"i < a.size": "i <= a.size"},
        Said("out-of-bounds", "= a[i]"),
    ),
    fault(
        "reverse",
        "guard forgotten",
        {"if t < count:": "if t < 64:"},
        Said("out-of-bounds", "out[i]"),
        Said("negative-index", "out[i]"),
        Said("uninitialised-read", "out[i]"),
    ),
    fault(
        "matmul",
        "barrier after filling dropped",
        {"        cuda.syncthreads()  # full\n": ""},
        Said("race", "total +=", "left[y, x] ="),
        Said("race", "total +=", "right[y, x] ="),
    ),
    fault(
        "matmul",
        "barrier after reading dropped",
        {"        cuda.syncthreads()  # read\n": ""},
        Said("race", "left[y, x] =", "total +="),
        Said("race", "right[y, x] =", "total +="),
    ),
    fault(
        "matmul",
        "barrier for some rows only",
        {
            "        cuda.syncthreads()  # read": (
                "        if row < c.shape[0]:\n            cuda.syncthreads()  # read"
            )
        },
        Said("divergent-barrier", "# read", "# full"),
    ),
    fault(
        "matmul",
        "as many rounds as the row asks",
        {"range((a.shape[1] + 7) // 8)": "range(1 + y // 4)"},
        Said("divergent-barrier", "# full"),
        Said("divergent-barrier", "# read"),
    ),
    fault(
        "matmul",
        "indices of the result swapped",
        {"c[row, column] =": "c[column, row] ="},
        Said("out-of-bounds", "c[column"),
    ),
    fault(
        "matmul",
        "row unguarded",
        {"row < a.shape[0] and k + x": "k + x"},
        Said("out-of-bounds", "left[y, x] ="),
    ),
    fault(
        "matmul",
        "edge of the tile left as it was",
        {
            ("left[y, x] = a[row, k + x] if row < a.shape[0] and k + x < a.shape[1] else ZERO"): (
                "if row < a.shape[0] and k + x < a.shape[1]:\n"
                "            left[y, x] = a[row, k + x]"
            )
        },
        Said("uninitialised-read", "total +="),
    ),
    fault(
        "matmul",
        "sum begun with a Python float",
        {"total = np.float32(0)": "total = 0.0"},
        Said("float64-arithmetic", "total +="),
    ),
    fault(
        "convolve",
        "barrier dropped",
        {SYNC: ""},
        Said("race", "total +=", "tile[t + 2] ="),
        Said("race", "total +=", "tile[t] ="),
        Said("race", "total +=", "tile[t + 34] ="),
    ),
    fault(
        "convolve",
        "left halo unguarded",
        {"left >= 0": "left >= -2"},
        Said("negative-index", "a[left]"),
    ),
    fault(
        "convolve",
        "right halo off by one",
        {"right < a.size": "right <= a.size"},
        Said("out-of-bounds", "a[right]"),
    ),
    fault(
        "convolve",
        "no room for the right halo",
        {"array(36": "array(34"},
        Said("out-of-bounds", "tile[t + 34]"),
        Said("out-of-bounds", "total +="),
    ),
    fault(
        "convolve",
        "one tap too many",
        {"range(5)": "range(6)"},
        Said("out-of-bounds", "total +="),
    ),
    fault(
        "convolve",
        "half the halo loaded",
        {"if t < 2:": "if t < 1:"},
        Said("uninitialised-read", "total +="),
    ),
    fault(
        "convolve",
        "halo loaded by one thread too many",
        {"if t < 2:": "if t < 3:"},
        Said("out-of-bounds", "tile[t + 34]"),
        Said("write-overlap", "tile[t] =", "tile[t + 2]"),
    ),
    fault("transpose", "barrier dropped", {SYNC: ""}, Said("race", "tile[x, y]", "tile[y, x]")),
    fault(
        "transpose",
        "barrier for the warp only",
        {"cuda.syncthreads()": "cuda.syncwarp()"},
        Said("race", "tile[x, y]", "tile[y, x]"),
    ),
    fault(
        "transpose",
        "tile read as it was written",
        {"= tile[x, y]": "= tile[y, x]"},
        Said("uninitialised-read", "= tile[y, x]"),
    ),
    fault(
        "transpose",
        "guard off by one",
        {"row < out.shape[0]": "row <= out.shape[0]"},
        Said("out-of-bounds", "= tile[x, y]"),
        Said("uninitialised-read", "= tile[x, y]"),
    ),
    fault(
        "stencil",
        "done in place",
        {"out[row, column] =": "a[row, column] ="},
        Said("race", "a[row, column] =", "around ="),
    ),
    fault(
        "stencil",
        "guard off by one",
        {"row < a.shape[0] - 1": "row < a.shape[0]"},
        Said("out-of-bounds", "around ="),
    ),
    fault(
        "stencil",
        "no guard below",
        {"0 < row <": "row <"},
        Said("negative-index", "around ="),
    ),
    fault(
        "stencil",
        "weight is a Python float",
        {"np.float32(0.25)": "0.25"},
        Said("float64-arithmetic", "0.25"),
    ),
    fault(
        "two arrays",
        "views of the dynamic array overlap",
        {"dynamic[32:64]": "dynamic[16:48]"},
        Said("race", "second[t] =", "first[t] ="),
    ),
    fault(
        "two arrays",
        "second view past the dynamic memory",
        {"dynamic[32:64]": "dynamic[40:]"},
        Said("out-of-bounds", "second[t] ="),
        Said("out-of-bounds", "out[t] ="),
    ),
    fault(
        "two arrays",
        "barrier dropped",
        {SYNC: ""},
        Said("race", "out[t] =", "first[t] ="),
        Said("race", "out[t] =", "second[t] ="),
    ),
]
