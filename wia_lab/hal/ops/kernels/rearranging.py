"""Copies between strided layouts: gather, scatter, broadcast, and conversion on the way."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numba

from wia_lab import cuda

if TYPE_CHECKING:
    import numpy as np


@functools.cache
def rearrange(dtype: np.dtype[Any]) -> Any:
    """A kernel that copies `count` elements of one layout to another, as elements of `dtype`.

    Row `axis` of `axes`, int64 of shape (axes, 3), is a length, and the elements from one to the
    next along it in `out` and in `a`. Bound by memory; any number of threads in one dimension.
    """
    kind = numba.from_dtype(dtype)

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

    return rearranged
