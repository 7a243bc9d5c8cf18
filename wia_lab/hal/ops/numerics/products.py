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
    """Product of matrices, after rounding to the type of `products`.

    Where sums are kept in float16, each partial sum is rounded, one column of a with one row of b
    after the other.
    """
    dtype = operation.options["products"]
    a, b = a.astype(dtype, copy=False), b.astype(dtype, copy=False)
    sums = operation.accumulate
    if sums != np.float16:
        return np.matmul(a.astype(sums, copy=False), b.astype(sums, copy=False))
    shape = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    total = np.zeros((*shape, a.shape[-2], b.shape[-1]), np.float16)
    for k in range(a.shape[-1]):
        total += a[..., :, k, None] * b[..., None, k, :]
    return total
