"""Atomics on global and shared memory: neighbouring cells, one cell, few cells.

Left out, as hardware does not count them twice alike: updates of global cells scattered over many
128-byte lines (one kernel gave 922 sectors, then 919; its addresses lie in 914), and atomics that
shared memory lacks (float32, float64, 64-bit integers), which are a loop of compare-and-swap with
as many rounds as the warps happen to collide.
"""

from __future__ import annotations

import numpy as np

from wia_lab import cuda
from wia_lab.kernels.silicon.case import Topic, shuffled, zeros

CASES = Topic()


def cells(size: int, bound: int, seed: int = 3):
    """Random cells below `bound`."""
    return shuffled(size, bound, seed)


@CASES.case("atomic-add-few", 4, 256, zeros(8, dtype="int32"), cells(1024, 8))
@CASES.case("atomic-add-float32", 4, 256, zeros(64), cells(1024, 64))
@CASES.case("atomic-add-float64", 4, 256, zeros(64, dtype="float64"), cells(1024, 64))
def add_at(o, index):
    i = cuda.grid(1)
    cuda.atomic.add(o, index[i], 1)


@CASES.case("atomic-add-neighbours", 4, 256, zeros(1024, dtype="int32"))
def add_neighbours(o):
    i = cuda.grid(1)
    cuda.atomic.add(o, i, i)


@CASES.case("atomic-add-one-cell", 4, 256, zeros(1, dtype="int32"), cells(1024, 100))
def add_one_cell(o, a):
    cuda.atomic.add(o, 0, a[cuda.grid(1)])


@CASES.case("atomic-max-few", 4, 256, zeros(16, dtype="int32"), cells(1024, 16))
def max_few(o, a):
    i = cuda.grid(1)
    cuda.atomic.max(o, a[i], i)


@CASES.case("atomic-exch-distinct", 4, 256, zeros(1024, dtype="int32"), zeros(1024, dtype="int32"))
def exch_distinct(o, before):
    i = cuda.grid(1)
    before[i] = cuda.atomic.exch(o, i, i)


@CASES.case(
    "atomic-add-old-value",
    4,
    256,
    zeros(64, dtype="int32"),
    cells(1024, 64),
    zeros(1024, dtype="int32"),
)
def add_old_value(o, index, before):
    i = cuda.grid(1)
    before[i] = cuda.atomic.add(o, index[i], 1)


@CASES.case("atomic-cas-distinct", 4, 256, zeros(1024, dtype="int32"), zeros(1024, dtype="int32"))
def cas_distinct(o, before):
    i = cuda.grid(1)
    before[i] = cuda.atomic.cas(o, i, 0, i)


@CASES.case("shared-atomic-distinct", 2, 128, zeros(256, dtype="int32"), shuffled(128, seed=5))
@CASES.case("shared-atomic-few", 2, 128, zeros(256, dtype="int32"), cells(128, 4))
@CASES.case("shared-atomic-random", 2, 128, zeros(256, dtype="int32"), cells(128, 128))
def shared_add(o, index):
    bins = cuda.shared.array(128, np.int32)
    t = cuda.threadIdx.x
    bins[t] = 0
    cuda.syncthreads()
    cuda.atomic.add(bins, index[t], t)
    cuda.syncthreads()
    o[cuda.grid(1)] = bins[t]


@CASES.case("shared-atomic-stride-4", 2, 32, zeros(64, dtype="int32"), 4)
@CASES.case("shared-atomic-one-cell", 2, 32, zeros(64, dtype="int32"), 0)
def shared_add_strided(o, s):
    bins = cuda.shared.array(128, np.int32)
    t = cuda.threadIdx.x
    for i in range(t, 128, 32):
        bins[i] = 0
    cuda.syncthreads()
    cuda.atomic.add(bins, t * s, t)
    cuda.syncthreads()
    o[cuda.grid(1)] = bins[t * s]


@CASES.case("shared-atomic-max-random", 2, 128, zeros(256, dtype="int32"), cells(128, 128))
def shared_max(o, index):
    bins = cuda.shared.array(128, np.int32)
    t = cuda.threadIdx.x
    bins[t] = 0
    cuda.syncthreads()
    cuda.atomic.max(bins, index[t], t)
    cuda.syncthreads()
    o[cuda.grid(1)] = bins[t]


@CASES.case("shared-histogram", 2, 128, zeros(256, dtype="int32"), cells(256, 20))
def shared_histogram(o, a):
    bins = cuda.shared.array(128, np.int32)
    t = cuda.threadIdx.x
    bins[t] = 0
    cuda.syncthreads()
    cuda.atomic.add(bins, a[cuda.grid(1)], 1)
    cuda.syncthreads()
    cuda.atomic.add(o, t, bins[t])


@CASES.case("atomic-add-int64", 4, 256, zeros(64, dtype="int64"), cells(1024, 64))
def add_int64(o, index):
    i = cuda.grid(1)
    cuda.atomic.add(o, index[i], i)
