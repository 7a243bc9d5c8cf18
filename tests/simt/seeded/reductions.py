"""Sums, scans and histograms, and what can go wrong in them."""

from __future__ import annotations

import math

import numpy as np
from planting import Original, Said, fault

from wia_lab import cuda


def tree_sum(out, a):
    part = cuda.shared.array(128, np.int64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    part[t] = a[i] if i < a.size else 0
    cuda.syncthreads()  # filled
    half = 64
    while half > 0:
        if t < half:
            part[t] += part[t + half]
        cuda.syncthreads()  # halved
        half //= 2
    if t == 0:
        cuda.atomic.add(out, 0, part[0])


def scan(out, a):
    rows = cuda.shared.array((2, 64), np.int64)
    t = cuda.threadIdx.x
    source = 0
    rows[source, t] = a[t]
    cuda.syncthreads()  # filled
    step = 1
    while step < 64:
        target = 1 - source
        if t >= step:
            rows[target, t] = rows[source, t] + rows[source, t - step]
        else:
            rows[target, t] = rows[source, t]
        cuda.syncthreads()  # stepped
        source = target
        step *= 2
    out[t] = rows[source, t]


def histogram(counts, a):
    local = cuda.shared.array(10, np.int32)
    t = cuda.threadIdx.x
    if t < 10:
        local[t] = 0
    cuda.syncthreads()  # cleared
    i = cuda.grid(1)
    if i < a.size:
        cuda.atomic.add(local, a[i], 1)
    cuda.syncthreads()  # counted
    if t < 10:
        cuda.atomic.add(counts, t, local[t])


def softmax(out, a):
    part = cuda.shared.array(32, np.float32)
    t = cuda.threadIdx.x
    row = cuda.blockIdx.x
    part[t] = a[row, t]
    cuda.syncthreads()  # loaded
    half = 16
    while half > 0:
        if t < half:
            part[t] = max(part[t], part[t + half])
        cuda.syncthreads()  # greater
        half //= 2
    top = part[0]
    cuda.syncthreads()  # top is read
    part[t] = math.exp(a[row, t] - top)
    cuda.syncthreads()  # exponentials
    total = np.float32(0)
    for j in range(32):
        total += part[j]
    out[row, t] = part[t] / total


def dot(out, a, b):
    i = cuda.grid(1)
    total = 0
    for j in range(i, a.size, cuda.gridsize(1)):
        total += a[j] * b[j]
    cuda.atomic.add(out, 0, total)


def maximum(out, a):
    best = cuda.shared.array(1, np.int32)
    i = cuda.grid(1)
    if cuda.threadIdx.x == 0:
        best[0] = -1
    cuda.syncthreads()  # started
    if i < a.size:
        cuda.atomic.max(best, 0, a[i])
    cuda.syncthreads()  # done
    if cuda.threadIdx.x == 0:
        cuda.atomic.max(out, 0, best[0])


def _tree_sum():
    a = np.arange(300, dtype=np.int64) ** 2
    return (np.zeros(1, np.int64), a), {0: [a.sum()]}


def _scan():
    a = np.arange(64, dtype=np.int64) * 7 % 11
    return (np.zeros(64, np.int64), a), {0: np.cumsum(a)}


def _histogram():
    a = np.arange(500, dtype=np.int64) ** 3 % 10
    return (np.zeros(10, np.int32), a), {0: np.bincount(a, minlength=10)}


def _softmax():
    a = (np.arange(96, dtype=np.float32).reshape(3, 32) * 5 % 7) / 2
    e = np.exp(a - a.max(axis=1, keepdims=True))
    return (np.zeros_like(a), a), {0: e / e.sum(axis=1, keepdims=True)}


def _dot():
    a, b = np.arange(1000), np.arange(1000)[::-1].copy()
    return (np.zeros(1, np.int64), a, b), {0: [a @ b]}


def _maximum():
    a = (np.arange(150, dtype=np.int32) * 37) % 151
    return (np.full(1, -1, np.int32), a), {0: [a.max()]}


ORIGINALS = {
    "tree sum": Original(tree_sum, 3, 128, _tree_sum),
    "scan": Original(scan, 1, 64, _scan),
    "histogram": Original(histogram, 4, 128, _histogram),
    "softmax": Original(softmax, 3, 32, _softmax, rtol=1e-6),
    "dot": Original(dot, 3, 64, _dot),
    "maximum": Original(maximum, 3, 64, _maximum),
}

FAULTS = [
    fault(
        "tree sum",
        "barrier after filling dropped",
        {"    cuda.syncthreads()  # filled\n": ""},
        Said("race", "part[t] +=", "part[t] ="),
    ),
    fault(
        "tree sum",
        "barrier in the loop dropped",
        {"        cuda.syncthreads()  # halved\n": ""},
        Said("race", "part[t] +=", "part[t] +="),
    ),
    fault(
        "tree sum",
        "barrier in the branch",
        {"        cuda.syncthreads()  # halved\n": "            cuda.syncthreads()  # halved\n"},
        Said("divergent-barrier", "# halved"),
    ),
    fault(
        "tree sum",
        "barrier of the warp in the loop",
        {"cuda.syncthreads()  # halved": "cuda.syncwarp()  # halved"},
        Said("race", "part[t] +=", "part[t] +="),
    ),
    fault(
        "tree sum",
        "guard off by one",
        {"if t < half:": "if t <= half:"},
        Said("out-of-bounds", "part[t] +="),
        Said("race", "part[t] +=", "part[t] +="),
    ),
    fault(
        "tree sum",
        "buffer for half the threads",
        {"array(128": "array(64"},
        Said("out-of-bounds", "part[t] ="),
        Said("out-of-bounds", "part[t] +="),
    ),
    fault(
        "tree sum",
        "result without an atomic",
        {"cuda.atomic.add(out, 0, part[0])": "out[0] += part[0]"},
        Said("race", "out[0] +=", "out[0] +="),
    ),
    fault(
        "tree sum",
        "every thread returns the result",
        {"    if t == 0:\n        cuda.atomic.add(out, 0, part[0])": "    out[0] = part[0]"},
        Said("race", "out[0] =", "out[0] ="),
    ),
    fault(
        "scan",
        "one buffer",
        {"target = 1 - source": "target = source"},
        Said("race", "t - step]", "t - step]"),
        Said("race", "rows[target, t] = rows[source, t]\n", "t - step]"),
    ),
    fault(
        "scan",
        "barrier in the loop dropped",
        {"        cuda.syncthreads()  # stepped\n": ""},
        Said("race", "t - step]", "t - step]"),
        Said("race", "t - step]", "rows[target, t] = rows[source, t]\n"),
    ),
    fault(
        "scan",
        "one row of the buffer forgotten",
        {"(2, 64)": "(1, 64)"},
        Said("out-of-bounds", "t - step]"),
        Said("out-of-bounds", "rows[target, t] = rows[source, t]\n"),
    ),
    fault(
        "scan",
        "guard off by one",
        {"if t >= step:": "if t >= step - 1:"},
        Said("negative-index", "t - step]"),
    ),
    fault(
        "scan",
        "last round reads the wrong row",
        {"rows[target, t] = rows[source, t] + rows": "rows[target, t] = rows[target, t] + rows"},
        Said("uninitialised-read", "t - step]"),
    ),
    fault(
        "histogram",
        "barrier after clearing dropped",
        {"    cuda.syncthreads()  # cleared\n": ""},
        Said("race", "(local, a[i], 1)", "local[t] = 0"),
    ),
    fault(
        "histogram",
        "barrier before the end dropped",
        {"    cuda.syncthreads()  # counted\n": ""},
        Said("race", "local[t])", "(local, a[i], 1)"),
    ),
    fault(
        "histogram",
        "shared counts without an atomic",
        {"cuda.atomic.add(local, a[i], 1)": "local[a[i]] += 1"},
        Said("race", "local[a[i]]", "local[a[i]]"),
    ),
    fault(
        "histogram",
        "global counts without an atomic",
        {"cuda.atomic.add(counts, t, local[t])": "counts[t] += local[t]"},
        Said("race", "counts[t]", "counts[t]"),
    ),
    fault(
        "histogram",
        "not cleared",
        {"        local[t] = 0\n": "        pass\n"},
        Said("uninitialised-read", "(local, a[i], 1)"),
    ),
    fault(
        "histogram",
        "one bin too few",
        {"array(10": "array(9"},
        Said("out-of-bounds", "local[t] = 0"),
        Said("out-of-bounds", "(local, a[i], 1)"),
        Said("out-of-bounds", "local[t])"),
    ),
    fault(
        "softmax",
        "barrier between reading and reuse dropped",
        {"    cuda.syncthreads()  # top is read\n": ""},
        Said("race", "math.exp", "top = part"),
    ),
    fault(
        "softmax",
        "barrier before the sum dropped",
        {"    cuda.syncthreads()  # exponentials\n": ""},
        Said("race", "total +=", "math.exp"),
    ),
    fault(
        "softmax",
        "sum begun with an integer",
        {"total = np.float32(0)": "total = 0"},
        Said("float64-arithmetic", "total +="),
        Said("float64-arithmetic", "/ total"),
    ),
    fault(
        "softmax",
        "divides by nothing",
        {"part[t] / total": "part[t] / (total - total)"},
        Said("division-by-zero", "(total - total)"),
    ),
    fault(
        "softmax",
        "one element too many",
        {"range(32)": "range(33)"},
        Said("out-of-bounds", "total +="),
    ),
    fault(
        "dot",
        "result without an atomic",
        {"cuda.atomic.add(out, 0, total)": "out[0] += total"},
        Said("race", "out[0]", "out[0]"),
    ),
    fault(
        "dot",
        "range one too long",
        {"range(i, a.size, ": "range(i, a.size + 1, "},
        Said("out-of-bounds", "total +="),
    ),
    fault(
        "maximum",
        "every thread starts it",
        {"    if cuda.threadIdx.x == 0:\n        best[0] = -1": "    best[0] = -1"},
        Said("write-overlap", "best[0] = -1", "best[0] = -1"),
    ),
    fault(
        "maximum",
        "test and plain store",
        {
            "        cuda.atomic.max(best, 0, a[i])": (
                "        if a[i] > best[0]:\n            best[0] = a[i]"
            )
        },
        Said("race", "best[0] = a[i]", "if a[i]"),
        Said("race", "best[0] = a[i]", "best[0] = a[i]"),
    ),
    fault(
        "maximum",
        "barrier after the start dropped",
        {"    cuda.syncthreads()  # started\n": ""},
        Said("race", "atomic.max(best", "best[0] = -1"),
    ),
]
