"""What each operation computes, in NumPy: the arithmetic of virtual devices.

Values follow IEEE 754: no warning is given where NaN or infinity arise, as no device gives any.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from wia_lab.hal.ops.numerics import elements, images, products, rows

if TYPE_CHECKING:
    from wia_lab.hal.ops.operation import Operation

Array = np.ndarray[Any, Any]

NUMERICS: Mapping[str, Callable[..., Array]] = {
    "add": elements.add,
    "mul": elements.mul,
    "relu": elements.relu,
    "gelu": elements.gelu,
    "sigmoid": elements.sigmoid,
    "convert": elements.convert,
    "fill": elements.fill,
    "sum": rows.total,
    "max": rows.largest,
    "softmax": rows.softmax,
    "concat": rows.concat,
    "matmul": products.matmul,
    "batch_matmul": products.matmul,
    "conv2d": images.conv2d,
    "pool2d": images.pool2d,
    "batch_norm": images.batch_norm,
}
"""By name: each takes the operation, then its inputs, and gives what the output is to hold."""


def execute(operation: Operation, *memory: Array) -> None:
    """Compute an operation from the bytes of its inputs into those of its output, the last."""
    *inputs, output = (
        layout.array(each)
        for layout, each in zip((*operation.inputs, operation.output), memory, strict=True)
    )
    if not output.size:
        return
    with np.errstate(all="ignore"):
        output[...] = NUMERICS[operation.name](operation, *inputs)
