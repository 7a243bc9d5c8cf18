"""Matrix products."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from wia_lab.hal.ops.operation import Operation

Array = np.ndarray[Any, Any]


def matmul(operation: Operation, a: Array, b: Array) -> Any:
    """a · b over the last two axes, summed in the type of `accumulate`; integers wrap round."""
    return multiply(operation, a, b)


def multiply(operation: Operation, a: Array, b: Array) -> Any:
    """Product of matrices, after rounding to the type of `inputs`, where the operation has one.

    NumPy keeps sums of float16 in float32; where `accumulate` is float16 itself, each partial sum
    is rounded, one column of a with one row of b after the other.
    """
    dtype = operation.options.get("inputs")
    if dtype is not None:
        a, b = a.astype(dtype), b.astype(dtype)
    if operation.accumulate != np.float16:
        return np.matmul(a.astype(operation.accumulate), b.astype(operation.accumulate))
    shape = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    sums = np.zeros((*shape, a.shape[-2], b.shape[-1]), np.float16)
    for k in range(a.shape[-1]):
        sums += a[..., :, k, None] * b[..., None, k, :]
    return sums
