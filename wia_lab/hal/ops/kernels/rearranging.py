"""Copies between strided layouts: gather, scatter, broadcast, and conversion on the way."""

from __future__ import annotations

import functools
from typing import Any

import numba
import numpy as np

from wia_lab import cuda


@functools.cache
def rearrange(dtype: np.dtype[Any], source: np.dtype[Any]) -> Any:
    """A kernel that copies `count` elements of one layout to another, as elements of `dtype`.

    Floats of type `source` that integers do not reach become the nearest, and NaN becomes 0.
    Row `axis` of `axes`, int64 of shape (axes, 3), is a length, and the elements from one to the
    next along it in `out` and in `a`. Bound by memory; any number of threads in one dimension.
    """
    kind = numba.from_dtype(dtype)
    is_rounded = dtype.kind != "f" and source.kind == "f"
    limits = np.iinfo(dtype) if is_rounded else np.iinfo(np.int8)
    least, most = limits.min, limits.max
    bottom, top = float(least), float(most)

    @cuda.jit
    def rounded(out, out_start, a, a_start, axes, count):
        for i in range(cuda.grid(1), count, cuda.gridsize(1)):
            rest = i
            to, at = out_start, a_start
            for axis in range(axes.shape[0] - 1, -1, -1):
                place = rest % axes[axis, 0]
                rest //= axes[axis, 0]
                to += place * axes[axis, 1]
                at += place * axes[axis, 2]
            value = numba.float64(a[at])
            if value >= top:
                out[to] = kind(most)
            elif value <= bottom:
                out[to] = kind(least)
            elif value == value:
                out[to] = kind(value)
            else:
                out[to] = kind(0)

    @cuda.jit
    def rearranged(out, out_start, a, a_start, axes, count):
        for i in range(cuda.grid(1), count, cuda.gridsize(1)):
            rest = i
            to, at = out_start, a_start
            for axis in range(axes.shape[0] - 1, -1, -1):
                place = rest % axes[axis, 0]
                rest //= axes[axis, 0]
                to += place * axes[axis, 1]
                at += place * axes[axis, 2]
            out[to] = kind(a[at])

    return rounded if is_rounded else rearranged
