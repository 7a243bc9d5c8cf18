"""Element by element."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from wia_lab.hal.ops.operation import Operation

Array = np.ndarray[Any, Any]

ROOT_HALF = math.sqrt(0.5)
TANH_SCALE, TANH_CUBE = math.sqrt(2 / math.pi), 0.044715  # Hendrycks and Gimpel, 2016
_erfc = np.frompyfunc(math.erfc, 1, 1)


def add(operation: Operation, a: Array, b: Array | None = None) -> Any:
    """a + b, broadcast; integers wrap round."""
    return np.add(a, _second(operation, b))


def mul(operation: Operation, a: Array, b: Array | None = None) -> Any:
    """a · b, broadcast; integers wrap round."""
    return np.multiply(a, _second(operation, b))


def relu(operation: Operation, a: Array) -> Any:
    """The larger of a and 0; NaN stays NaN."""
    return np.maximum(a, operation.output.dtype.type(0))


def gelu(operation: Operation, a: Array) -> Any:
    """a · Φ(a), with Φ the normal distribution, or its approximation by tanh; 0 at −∞."""
    x = a.astype(operation.accumulate)
    if operation.options["approximate"]:
        share = 0.5 * (1 + np.tanh(TANH_SCALE * (x + TANH_CUBE * x**3)))
    else:
        share = 0.5 * np.asarray(_erfc(-ROOT_HALF * x.astype(np.float64)), np.float64)
    return np.where(x == -np.inf, 0, x * share)


def sigmoid(operation: Operation, a: Array) -> Any:
    """1 / (1 + e⁻ᵃ), by the form that cannot overflow on either side."""
    x = a.astype(operation.accumulate)
    small = np.exp(-np.abs(x))  # at most 1
    return np.where(x < 0, small, x.dtype.type(1)) / (1 + small)


def convert(operation: Operation, a: Array) -> Any:
    """The same values in another type; see `wia_lab.hal.convert`."""
    wanted = operation.output.dtype
    if a.dtype.kind != "f" or wanted.kind == "f":
        return a.astype(wanted)
    # What NumPy makes of floats that the integers do not reach depends on the processor
    x, limits = a.astype(np.float64), np.iinfo(wanted)
    is_high, is_low = x >= float(limits.max), x <= float(limits.min)
    near = np.where(is_high | is_low | np.isnan(x), 0, x).astype(wanted)
    near[is_high] = limits.max
    near[is_low] = limits.min
    return near


def fill(operation: Operation) -> Any:
    """One value everywhere."""
    return np.asarray(operation.options["value"], operation.output.dtype)


def _second(operation: Operation, b: Array | None) -> Any:
    """The other tensor, or the number given in its place."""
    return operation.output.dtype.type(operation.options["number"]) if b is None else b
