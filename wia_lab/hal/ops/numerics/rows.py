"""Along axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from wia_lab.hal.ops.operation import Operation

Array = np.ndarray[Any, Any]


def total(operation: Operation, a: Array) -> Array:
    """Sum along the axes, kept in the type of `accumulate`; 0 of no elements."""
    found = np.sum(a, axis=operation.options["axes"], dtype=operation.accumulate)
    return np.reshape(found, operation.output.shape)


def largest(operation: Operation, a: Array) -> Array:
    """Maximum along the axes; NaN if there is one."""
    return np.reshape(np.max(a, axis=operation.options["axes"]), operation.output.shape)


def softmax(operation: Operation, a: Array) -> Array:
    """Shares of eᵃ along one axis, with the maximum taken off first, so that none overflows."""
    axis = operation.options["axis"]
    x = a.astype(operation.accumulate)
    powers = np.exp(x - np.max(x, axis=axis, keepdims=True))
    shares: Array = powers / np.sum(powers, axis=axis, keepdims=True)
    return shares


def concat(operation: Operation, *tensors: Array) -> Array:
    """One after the other along an axis."""
    return np.concatenate(tensors, axis=operation.options["axis"])
