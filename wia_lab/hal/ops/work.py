"""What all operations share: checking tensors, and putting work in a stream."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from wia_lab.hal.checks import is_whole, said
from wia_lab.hal.errors import InvalidValue
from wia_lab.hal.kinds import MemoryKind
from wia_lab.hal.ops.operation import Operation
from wia_lab.hal.tensor import Tensor, chosen_stream, empty
from wia_lab.hal.tensor_layout import Layout

if TYPE_CHECKING:
    from wia_lab.hal.ops.choice import Choice
    from wia_lab.hal.stream import Stream


def check_tensors(name: str, **tensors: object) -> None:
    """Refuse what is no tensor, was released, or has another type of elements than the first."""
    first: tuple[str, Tensor] | None = None
    for label, each in tensors.items():
        if not isinstance(each, Tensor):
            raise InvalidValue(
                f"{name}: {label} is a {type(each).__name__}, not a tensor: make one with "
                "from_numpy(context, array)"
            )
        each.check_open()
        first = first or (label, each)
        if each.dtype != first[1].dtype:
            raise InvalidValue(
                f"{name}: {first[0]} is {first[1].dtype} and {label} is {each.dtype}: convert one, "
                f"as in convert({label}, {str(first[1].dtype)!r})"
            )


def check_floats(name: str, tensor: Tensor) -> None:
    """Refuse integers, of which the operation makes no sense."""
    if tensor.dtype.kind != "f":
        raise InvalidValue(
            f"{name}: the elements are {tensor.dtype}, and it is for floating point: "
            "convert(tensor, 'float32') first"
        )


def accumulated(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """In which type sums of `dtype` are kept: float16 in float32, integers in 64 bits."""
    wider = {"f": np.float32 if dtype == np.float16 else dtype, "i": np.int64, "u": np.uint64}
    return np.dtype(wider[dtype.kind])


def checked_axes(name: str, axis: Any, ndim: int) -> tuple[int, ...]:
    """Axes as sorted numbers from 0; None is all of them."""
    given = range(ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    good = all(map(is_whole, given))
    places = [int(each) + ndim if each < 0 else int(each) for each in given] if good else [ndim]
    if any(not 0 <= place < ndim for place in places) or len(set(places)) < len(places):
        ways = f"{-ndim} to {ndim - 1}" if ndim else "None alone"
        raise InvalidValue(f"{name}: axis {said(axis)} of a tensor with {ndim} axes: give {ways}")
    return tuple(sorted(places))


def checked_axis(name: str, axis: Any, ndim: int) -> int:
    """One axis as a number from 0."""
    if axis is None or isinstance(axis, tuple):
        raise InvalidValue(f"{name}: axis is {axis!r}: give one integer")
    if not ndim:
        raise InvalidValue(f"{name}: a tensor of one number has no axis: reshape it to (1,) first")
    return checked_axes(name, axis, ndim)[0]


def planned(
    name: str,
    inputs: Sequence[Tensor],
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    *,
    accumulate: np.dtype[Any] | None = None,
    work: float = 0.0,
    **options: Any,
) -> Operation:
    """The record of an operation whose result is contiguous."""
    return Operation(
        name,
        tuple(each.layout for each in inputs),
        Layout.contiguous(shape, dtype),
        accumulate or dtype,
        options,
        work=work,
    )


def enqueue(
    operation: Operation,
    inputs: Sequence[Tensor],
    stream: Stream | None,
    *,
    choice: Choice | None = None,
) -> Tensor:
    """Put an operation in `stream`, or in the default one of the first input's context.

    The result lies in the stream's context: in device memory, or in memory that migrates if the
    first input does. When the work is refused, nothing is left behind.
    """
    chosen = chosen_stream(stream, inputs[0].context)
    chosen.check_open()
    kind = inputs[0].memory if inputs[0].memory.migrates else MemoryKind.DEVICE
    parts = [each.part for each in inputs]
    result = empty(
        chosen.context,
        operation.output.shape,
        operation.output.dtype,
        memory=kind,
        name=operation.name,
    )
    try:
        chosen.operate(operation, parts, result.part)
    except BaseException:
        result.close()
        raise
    result.choice = choice
    return result
