"""Shapes (§3.7): reshape, transpose and slice are views; concat copies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wia_lab.hal.errors import InvalidValue
from wia_lab.hal.ops.work import check_tensors, checked_axis, enqueue, planned
from wia_lab.hal.tensor_layout import several
from wia_lab.wording import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wia_lab.hal.stream import Stream
    from wia_lab.hal.tensor import Tensor

_builtin_slice = slice


def reshape(a: Tensor, shape: int | Sequence[int]) -> Tensor:
    """A view of another shape, elements in the same order; one length may be -1.

    Raises
    ------
    InvalidValue
        Another number of elements, or an order that needs a copy: reshape `contiguous(a)`.
    """
    check_tensors("reshape", a=a)
    return a.view(a.layout.reshaped(shape))


def transpose(a: Tensor, axes: Sequence[int] | None = None) -> Tensor:
    """A view whose axis i is axis `axes[i]` of a; without `axes`, all in reverse."""
    check_tensors("transpose", a=a)
    return a.view(a.layout.transposed(axes))


def slice(  # noqa: A001 - the standard's name
    a: Tensor, start: int | Sequence[int], end: int | Sequence[int]
) -> Tensor:
    """A view of the elements from `start` to `end`, the last not included.

    One number each for the first axes; the axes that are not named stay whole. `a[2:5, ::2]` is
    the shorter way, and knows steps.

    Raises
    ------
    InvalidValue
        When the range is not within the tensor.
    """
    check_tensors("slice", a=a)
    starts, ends = several("slice: start", start), several("slice: end", end)
    if len(starts) != len(ends) or len(starts) > a.ndim:
        given = f"{counted(len(starts), 'start')} and {counted(len(ends), 'end')}"
        raise InvalidValue(
            f"slice: {given} for {counted(a.ndim, 'axis', 'axes')}: give as many of each, at most "
            f"{a.ndim}"
        )
    for axis, (low, high, n) in enumerate(zip(starts, ends, a.shape, strict=False)):
        if not 0 <= low <= high <= n:
            raise InvalidValue(
                f"slice: {low} to {high} along axis {axis}, which has {n} elements: give "
                f"0 <= start <= end <= {n}"
            )
    return a[tuple(_builtin_slice(low, high) for low, high in zip(starts, ends, strict=True))]


def concat(tensors: Sequence[Tensor], axis: int = 0, *, stream: Stream | None = None) -> Tensor:
    """Tensors one after the other along an axis; their other lengths are equal."""
    if not isinstance(tensors, list | tuple):
        raise InvalidValue(f"concat: a {type(tensors).__name__}: give a list, as in [a, b]")
    given = list(tensors)
    if not given:
        raise InvalidValue("concat: no tensors: give at least one")
    check_tensors("concat", **{f"tensors[{i}]": each for i, each in enumerate(given)})
    first = given[0]
    place = checked_axis("concat", axis, first.ndim)
    for number, each in enumerate(given):
        if _but(each.shape, place) != _but(first.shape, place) or each.ndim != first.ndim:
            raise InvalidValue(
                f"concat: tensors[0] is {first.shape} and tensors[{number}] is {each.shape}: all "
                f"lengths but those along axis {place} must be equal"
            )
    length = sum(each.shape[place] for each in given)
    shape = (*first.shape[:place], length, *first.shape[place + 1 :])
    return enqueue(planned("concat", given, shape, first.dtype, axis=place), given, stream)


def _but(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return shape[:axis] + shape[axis + 1 :]
