"""Kernels whose warps talk by shuffles, votes and shared memory, and what can go wrong in them."""

from __future__ import annotations

import numpy as np
from planting import Original, Said, fault

from wia_lab import cuda

FULL = 0xFFFFFFFF


def warp_sum(out, a):
    i = cuda.grid(1)
    value = a[i] if i < a.size else 0
    step = 16
    while step > 0:
        value += cuda.shfl_down_sync(FULL, value, step)
        step //= 2
    if cuda.laneid == 0:
        out[i // 32] = value


def row_times_vector(out, a, x):
    lane = cuda.threadIdx.x
    row = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y
    total = np.float32(0)
    if row < a.shape[0]:
        for j in range(lane, a.shape[1], 32):
            total += a[row, j] * x[j]
    for step in (16, 8, 4, 2, 1):
        total += cuda.shfl_xor_sync(FULL, total, step)
    if lane == 0 and row < a.shape[0]:
        out[row] = total


def block_sum(out, a):
    sums = cuda.shared.array(4, np.int64)
    t = cuda.threadIdx.x
    warp, lane = t // 32, t % 32
    value = a[t]
    for step in (16, 8, 4, 2, 1):
        value += cuda.shfl_down_sync(FULL, value, step)
    if lane == 0:
        sums[warp] = value
    cuda.syncthreads()
    if warp == 0:
        value = sums[lane] if lane < 4 else 0
        for step in (2, 1):
            value += cuda.shfl_down_sync(FULL, value, step)  # second
        if lane == 0:
            out[0] = value


def compact(out, count, a):
    lane = cuda.threadIdx.x
    keep = a[lane] > 0
    mask = cuda.ballot_sync(FULL, keep)
    if keep:
        out[cuda.popc(mask & cuda.lanemask_lt())] = a[lane]
    if lane == 0:
        count[0] = cuda.popc(mask)


def neighbours(out, a):
    tile = cuda.shared.array(64, np.int32)
    t = cuda.threadIdx.x
    tile[t] = a[t]
    cuda.syncwarp()  # written
    other = tile[t ^ 1]
    cuda.syncwarp()  # read
    tile[t] = other * 2
    cuda.syncwarp()  # doubled
    out[t] = tile[t ^ 3]


def half_warps(out, a):
    lane = cuda.threadIdx.x
    value = a[lane]
    if lane < 16:
        value += cuda.shfl_xor_sync(0xFFFF, value, 1)  # lower
    else:
        value -= cuda.shfl_xor_sync(0xFFFF0000, value, 1)  # upper
    out[lane] = value


def _warp_sum():
    a = np.arange(150, dtype=np.int64) ** 2
    padded = np.concatenate([a, np.zeros(42, np.int64)])
    return (np.zeros(6, np.int64), a), {0: padded.reshape(6, 32).sum(axis=1)}


def _row_times_vector():
    a = np.arange(7 * 45, dtype=np.float32).reshape(7, 45) % 11
    x = np.arange(45, dtype=np.float32) % 5
    return (np.zeros(7, np.float32), a, x), {0: a @ x}


def _block_sum():
    a = np.arange(128, dtype=np.int64) ** 2
    return (np.zeros(1, np.int64), a), {0: [a.sum()]}


def _compact():
    a = (np.arange(32, dtype=np.int64) * 5) % 7 - 3
    kept = a[a > 0]
    out = np.full(32, -9, np.int64)
    expected = out.copy()
    expected[: kept.size] = kept
    return (out, np.zeros(1, np.int64), a), {0: expected, 1: [kept.size]}


def _neighbours():
    a = np.arange(64, dtype=np.int32) * 3
    t = np.arange(64)
    return (np.zeros(64, np.int32), a), {0: 2 * a[t ^ 2]}


def _half_warps():
    a = np.arange(32, dtype=np.int64) ** 2
    other = a[np.arange(32) ^ 1]
    return (np.zeros(32, np.int64), a), {0: np.where(np.arange(32) < 16, a + other, a - other)}


ORIGINALS = {
    "warp sum": Original(warp_sum, 3, 64, _warp_sum),
    "row times vector": Original(row_times_vector, 2, (32, 4), _row_times_vector),
    "block sum": Original(block_sum, 1, 128, _block_sum),
    "compact": Original(compact, 1, 32, _compact),
    "neighbours": Original(neighbours, 1, 64, _neighbours),
    "half warps": Original(half_warps, 1, 32, _half_warps),
}

FAULTS = [
    fault(
        "warp sum",
        "lanes without an element shuffle not",
        {"        value += cuda": "        if i < a.size:\n            value += cuda"},
        Said("divergent-barrier", "shfl_down"),
    ),
    fault(
        "warp sum",
        "early return before the shuffle",
        {"    step = 16\n": "    if i >= a.size:\n        return\n    step = 16\n"},
        Said("divergent-barrier", "shfl_down", severity="warning"),
    ),
    fault(
        "warp sum",
        "every lane writes its sum",
        {"    if cuda.laneid == 0:\n        out": "    out"},
        Said("race", "out[i // 32]", "out[i // 32]"),
    ),
    fault(
        "warp sum",
        "result too small",
        {"out[i // 32]": "out[i // 16]"},
        Said("out-of-bounds", "out[i // 16]"),
    ),
    fault(
        "row times vector",
        "shuffle by the first lanes only",
        {
            ("    for step in (16, 8, 4, 2, 1):\n        total +="): (
                "    for step in (16, 8, 4, 2, 1):\n        if lane < 16:\n            total +="
            )
        },
        Said("divergent-barrier", "shfl_xor"),
    ),
    fault(
        "row times vector",
        "row unguarded",
        {"if lane == 0 and row < a.shape[0]": "if lane == 0"},
        Said("out-of-bounds", "out[row] ="),
    ),
    fault(
        "row times vector",
        "column unguarded",
        {"range(lane, a.shape[1], 32)": "range(lane, 64, 32)"},
        Said("out-of-bounds", "total += a["),
    ),
    fault(
        "block sum",
        "barrier dropped",
        {"    cuda.syncthreads()\n": ""},
        Said("race", "sums[lane]", "sums[warp] ="),
    ),
    fault(
        "block sum",
        "room for too few warps",
        {"array(4,": "array(3,"},
        Said("out-of-bounds", "sums[warp] ="),
        Said("out-of-bounds", "sums[lane]"),
    ),
    fault(
        "block sum",
        "sums that no warp has written",
        {"if lane < 4": "if lane < 8", "array(4,": "array(8,"},
        Said("uninitialised-read", "sums[lane]"),
    ),
    fault(
        "block sum",
        "second shuffle by four lanes",
        {"    if warp == 0:": "    if t < 4:"},
        Said("divergent-barrier", "# second"),
    ),
    fault(
        "block sum",
        "every lane writes its part",
        {"    if lane == 0:\n        sums": "    if lane >= 0:\n        sums"},
        Said("race", "sums[warp] =", "sums[warp] ="),
    ),
    fault(
        "compact",
        "ballot by those that keep",
        {
            ("    mask = cuda.ballot_sync(FULL, keep)\n    if keep:\n"): (
                "    mask = 0\n    if keep:\n        mask = cuda.ballot_sync(FULL, keep)\n"
            )
        },
        Said("divergent-barrier", "ballot"),
    ),
    fault(
        "compact",
        "count set by every lane",
        {"    if lane == 0:\n        count": "    count"},
        Said("write-overlap", "count[0] =", "count[0] ="),
    ),
    fault(
        "neighbours",
        "first syncwarp dropped",
        {"    cuda.syncwarp()  # written\n": ""},
        Said("race", "other =", "tile[t] = a[t]"),
    ),
    fault(
        "neighbours",
        "second syncwarp dropped",
        {"    cuda.syncwarp()  # read\n": ""},
        Said("race", "tile[t] = other", "other ="),
    ),
    fault(
        "neighbours",
        "partner in another warp",
        {"tile[t ^ 1]": "tile[t ^ 32]"},
        Said("race", "other =", "tile[t] = a[t]"),
        Said("race", "tile[t] = other", "other ="),
    ),
    fault(
        "neighbours",
        "mask too narrow",
        {"cuda.syncwarp()  # doubled": "cuda.syncwarp(1 << (t % 32))  # doubled"},
        Said("race", "out[t] =", "tile[t] = other"),
    ),
    fault(
        "half warps",
        "mask names lanes of the other half",
        {"0xFFFF,": "FULL,"},
        Said("divergent-barrier", "# lower"),
    ),
]
