"""Kernels along one axis of (outer, length, inner): a block of 256 threads makes one result a turn.

Each thread takes every 256th element, then the block's partial results are halved in shared memory.
Between two turns stands a barrier, so that nobody writes what others still read.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any

import numba

from wia_lab import cuda

if TYPE_CHECKING:
    import numpy as np

THREADS = 256


@cuda.jit(device=True)
def sum_up(parts, t):
    """Leave the sum of all threads' parts in the first, which thread 0 may read."""
    half = THREADS // 2
    while half > 0:
        cuda.syncthreads()
        if t < half:
            parts[t] += parts[t + half]
        half //= 2


@cuda.jit(device=True)
def find_largest(parts, t):
    """Leave the largest of all threads' parts in the first, or NaN, for thread 0 to read."""
    half = THREADS // 2
    while half > 0:
        cuda.syncthreads()
        if t < half:
            other = parts[t + half]
            if other > parts[t] or other != other:
                parts[t] = other
        half //= 2


@functools.cache
def total(accumulate: np.dtype[Any]) -> Any:
    """Sums along the axis, kept in `accumulate`; 0 of no elements."""
    kind = numba.from_dtype(accumulate)

    @cuda.jit
    def summed(out, a, length, inner):
        parts = cuda.shared.array(THREADS, kind)
        t = cuda.threadIdx.x
        for row in range(cuda.blockIdx.x, out.size, cuda.gridDim.x):
            start = row // inner * length * inner + row % inner
            mine = kind(0)
            for k in range(t, length, THREADS):
                mine += kind(a[start + k * inner])
            parts[t] = mine
            sum_up(parts, t)
            if t == 0:
                out[row] = parts[0]
            cuda.syncthreads()

    return summed


@functools.cache
def largest(dtype: np.dtype[Any]) -> Any:
    """Maxima along the axis, of at least one element; NaN where there is one."""
    kind = numba.from_dtype(dtype)

    @cuda.jit
    def found(out, a, length, inner):
        parts = cuda.shared.array(THREADS, kind)
        t = cuda.threadIdx.x
        for row in range(cuda.blockIdx.x, out.size, cuda.gridDim.x):
            start = row // inner * length * inner + row % inner
            best = kind(a[start])
            for k in range(t, length, THREADS):
                value = kind(a[start + k * inner])
                if value > best or value != value:
                    best = value
            parts[t] = best
            find_largest(parts, t)
            if t == 0:
                out[row] = parts[0]
            cuda.syncthreads()

    return found


@functools.cache
def softmax(accumulate: np.dtype[Any]) -> Any:
    """Shares of eᵃ along the axis; the maximum is taken off first, so that none overflows."""
    kind = numba.from_dtype(accumulate)

    @cuda.jit
    def shares(out, a, length, inner):
        parts = cuda.shared.array(THREADS, kind)
        t = cuda.threadIdx.x
        for row in range(cuda.blockIdx.x, out.size // length, cuda.gridDim.x):
            start = row // inner * length * inner + row % inner
            best = kind(-math.inf)
            for k in range(t, length, THREADS):
                value = kind(a[start + k * inner])
                if value > best or value != value:
                    best = value
            parts[t] = best
            find_largest(parts, t)
            cuda.syncthreads()
            best = parts[0]
            cuda.syncthreads()
            mine = kind(0)
            for k in range(t, length, THREADS):
                mine += math.exp(kind(a[start + k * inner]) - best)
            parts[t] = mine
            sum_up(parts, t)
            cuda.syncthreads()
            for k in range(t, length, THREADS):
                out[start + k * inner] = math.exp(kind(a[start + k * inner]) - best) / parts[0]
            cuda.syncthreads()

    return shares
