"""Kernels element by element, over contiguous memory. Bound by memory; one dimension of threads."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any

import numba

from wia_lab import cuda

if TYPE_CHECKING:
    import numpy as np

ROOT_HALF = math.sqrt(0.5)
TANH_SCALE, TANH_CUBE = math.sqrt(2 / math.pi), 0.044715  # Hendrycks and Gimpel, 2016


@cuda.jit
def add(out, a, b):
    """out = a + b; integers wrap round as they are stored."""
    for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        out[i] = a[i] + b[i]


@cuda.jit
def mul(out, a, b):
    """out = a · b; integers wrap round as they are stored."""
    for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        out[i] = a[i] * b[i]


@cuda.jit
def fill(out, value):
    """One value, the only element of an array, everywhere."""
    for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        out[i] = value[0]


@functools.cache
def relu(dtype: np.dtype[Any]) -> Any:
    """The larger of a and 0; NaN stays NaN, which it does not in a kernel's `max`."""
    kind = numba.from_dtype(dtype)

    @cuda.jit
    def larger(out, a):
        for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
            x = a[i]
            out[i] = x if x > kind(0) or x != x else kind(0)

    return larger


@functools.cache
def sigmoid(accumulate: np.dtype[Any]) -> Any:
    """1 / (1 + e⁻ᵃ), by the form that cannot overflow on either side."""
    kind = numba.from_dtype(accumulate)

    @cuda.jit
    def curve(out, a):
        for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
            x = kind(a[i])
            small = math.exp(-abs(x))  # at most 1
            out[i] = (small if x < kind(0) else kind(1)) / (kind(1) + small)

    return curve


@functools.cache
def gelu(accumulate: np.dtype[Any], approximate: bool) -> Any:
    """a · Φ(a); the exact form takes the error function in float64. 0 at −∞."""
    kind = numba.from_dtype(accumulate)
    scale, cube = kind(TANH_SCALE), kind(TANH_CUBE)

    @cuda.jit
    def by_tanh(out, a):
        for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
            x = kind(a[i])
            share = kind(0.5) * (kind(1) + math.tanh(scale * (x + cube * x * x * x)))
            out[i] = kind(0) if x == kind(-math.inf) else x * share

    @cuda.jit
    def exact(out, a):
        for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
            x = numba.float64(a[i])
            out[i] = 0.0 if x == -math.inf else x * 0.5 * math.erfc(-ROOT_HALF * x)

    return by_tanh if approximate else exact


@functools.cache
def batch_norm(accumulate: np.dtype[Any]) -> Any:
    """(x − mean) / √(variance + ε) · scale + bias; channel i // inner % channels.

    A variance and ε of zero divide by zero, which IEEE 754 has a value for.
    """
    kind = numba.from_dtype(accumulate)

    @cuda.jit
    def normalised(out, x, scale, bias, mean, variance, epsilon, inner):
        for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
            c = i // inner % scale.size
            root = math.sqrt(kind(variance[c]) + kind(epsilon))
            factor = kind(scale[c]) / root
            out[i] = (kind(x[i]) - kind(mean[c])) * factor + kind(bias[c])

    return normalised
