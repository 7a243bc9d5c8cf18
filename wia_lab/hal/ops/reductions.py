"""Along axes (§3.7): sum, max, softmax."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from wia_lab.hal.checks import checked_flag
from wia_lab.hal.errors import InvalidValue
from wia_lab.hal.ops.elementwise import EXPONENTIAL
from wia_lab.hal.ops.work import (
    accumulated,
    check_floats,
    check_tensors,
    checked_axes,
    checked_axis,
    enqueue,
    planned,
)

if TYPE_CHECKING:
    from wia_lab.hal.stream import Stream
    from wia_lab.hal.tensor import Tensor

Axes = int | tuple[int, ...] | None


def sum(  # noqa: A001 - the standard's name
    a: Tensor, axis: Axes = None, *, keepdims: bool = False, stream: Stream | None = None
) -> Tensor:
    """Sum along one axis, several, or all; 0 of no elements.

    float16 is summed in float32 and rounded once, at the end; integers give int64 or uint64.
    """
    check_tensors("sum", a=a)
    checked_flag("sum: keepdims", keepdims)
    axes = checked_axes("sum", axis, a.ndim)
    wide = accumulated(a.dtype)
    operation = planned(
        "sum",
        [a],
        _without(a, axes, keepdims),
        a.dtype if a.dtype.kind == "f" else wide,
        accumulate=wide,
        work=a.size,
        axes=axes,
    )
    return enqueue(operation, [a], stream)


def max(  # noqa: A001 - the standard's name
    a: Tensor, axis: Axes = None, *, keepdims: bool = False, stream: Stream | None = None
) -> Tensor:
    """Maximum along one axis, several, or all; NaN where there is one, as in NumPy.

    Raises
    ------
    InvalidValue
        For the maximum of no elements.
    """
    check_tensors("max", a=a)
    checked_flag("max: keepdims", keepdims)
    axes = checked_axes("max", axis, a.ndim)
    shape = _without(a, axes, keepdims)
    if math.prod(shape) and not a.size:
        raise InvalidValue(
            f"max: {a.shape} has no elements along axis {axis}, and no elements have no maximum: "
            "reduce along another axis"
        )
    operation = planned("max", [a], shape, a.dtype, work=a.size, axes=axes)
    return enqueue(operation, [a], stream)


def softmax(a: Tensor, axis: int = -1, *, stream: Stream | None = None) -> Tensor:
    """eᵃ divided by its sum along one axis; the maximum is taken off first, so none overflows.

    A row with NaN or +∞, or of nothing but −∞, is NaN.
    """
    check_tensors("softmax", a=a)
    check_floats("softmax", a)
    place = checked_axis("softmax", axis, a.ndim)
    operation = planned(
        "softmax",
        [a],
        a.shape,
        a.dtype,
        accumulate=accumulated(a.dtype),
        work=(EXPONENTIAL + 3) * a.size,
        axis=place,
    )
    return enqueue(operation, [a], stream)


def _without(a: Tensor, axes: tuple[int, ...], keepdims: bool) -> tuple[int, ...]:
    return tuple(
        1 if axis in axes else n for axis, n in enumerate(a.shape) if keepdims or axis not in axes
    )
