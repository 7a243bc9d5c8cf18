"""Element by element (§3.7): add, mul, relu, gelu, sigmoid; and conversions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from wia_lab.hal.checks import checked_flag
from wia_lab.hal.errors import InvalidValue
from wia_lab.hal.kinds import MemoryKind
from wia_lab.hal.ops.work import accumulated, check_floats, check_tensors, enqueue, planned
from wia_lab.hal.tensor import Tensor, chosen_stream, empty
from wia_lab.hal.tensor_layout import checked_dtype

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wia_lab.hal.context import Context
    from wia_lab.hal.stream import Stream

EXPONENTIAL = 8.0
"""Operations that an exponential, or an error function, is reckoned as."""


def add(a: Tensor, b: Tensor | float, *, stream: Stream | None = None) -> Tensor:
    """a + b, a number or a tensor, broadcast as NumPy does. Integers wrap round."""
    return _pair("add", a, b, stream)


def mul(a: Tensor, b: Tensor | float, *, stream: Stream | None = None) -> Tensor:
    """a · b, a number or a tensor, broadcast as NumPy does. Integers wrap round."""
    return _pair("mul", a, b, stream)


def relu(a: Tensor, *, stream: Stream | None = None) -> Tensor:
    """The larger of a and 0; NaN stays NaN."""
    check_tensors("relu", a=a)
    return enqueue(planned("relu", [a], a.shape, a.dtype, work=a.size), [a], stream)


def gelu(a: Tensor, *, approximate: bool = False, stream: Stream | None = None) -> Tensor:
    """a · Φ(a), with Φ the distribution function of the normal distribution.

    `approximate` takes the form with tanh, which is up to 5 · 10⁻⁴ off.
    """
    checked_flag("gelu: approximate", approximate)
    return _curve("gelu", a, stream, approximate=approximate)


def sigmoid(a: Tensor, *, stream: Stream | None = None) -> Tensor:
    """1 / (1 + e⁻ᵃ)."""
    return _curve("sigmoid", a, stream)


def convert(a: Tensor, dtype: Any, *, stream: Stream | None = None) -> Tensor:
    """A copy with elements of another type.

    Integers wrap round. Floats become integers by leaving out what stands behind the point; those
    beyond the type become its largest or smallest, and NaN becomes 0, as a GPU's conversion has it.
    """
    check_tensors("convert", a=a)
    return enqueue(planned("convert", [a], a.shape, checked_dtype(dtype)), [a], stream)


def contiguous(a: Tensor, *, stream: Stream | None = None) -> Tensor:
    """A copy whose elements follow each other in C's order, or a view if they do already."""
    check_tensors("contiguous", a=a)
    if stream is not None:
        chosen_stream(stream, a.context)
    return a.view(a.layout) if a.is_contiguous else convert(a, a.dtype, stream=stream)


def full(
    context: Context,
    shape: int | Sequence[int],
    value: float,
    dtype: Any = np.float32,
    *,
    memory: MemoryKind = MemoryKind.DEVICE,
    stream: Stream | None = None,
) -> Tensor:
    """A tensor with one value everywhere, written on the turn of the stream."""
    made = empty(context, shape, dtype, memory=memory, name="full")
    try:
        way = "give a number that it has, or another dtype="
        number = checked_number("full", value, made.dtype, way)
        chosen = chosen_stream(stream, context)
        chosen.operate(planned("fill", [], made.shape, made.dtype, value=number), [], made.part)
    except BaseException:
        made.close()
        raise
    return made


def zeros(
    context: Context,
    shape: int | Sequence[int],
    dtype: Any = np.float32,
    *,
    memory: MemoryKind = MemoryKind.DEVICE,
    stream: Stream | None = None,
) -> Tensor:
    """A tensor of zeros; as `full`."""
    return full(context, shape, 0, dtype, memory=memory, stream=stream)


def checked_number(
    name: str,
    number: object,
    dtype: np.dtype[Any],
    way: str = "convert the tensor first, as in convert(a, 'float64')",
) -> Any:
    """A number as an element; refuse one that the type does not reach."""
    if isinstance(number, bool) or not isinstance(number, int | float | np.integer | np.floating):
        raise InvalidValue(
            f"{name}: {type(number).__name__} is neither a tensor nor a number: make a tensor of "
            "it with from_numpy(context, array)"
        )
    if not _fits(number, dtype):
        raise InvalidValue(f"{name}: {number!r} is no {dtype}: {way}")
    return dtype.type(number)


def _fits(number: Any, dtype: np.dtype[Any]) -> bool:
    """Whether the type has the number: integers exactly, others without becoming infinite."""
    finite = isinstance(number, int) or bool(np.isfinite(number))
    if dtype.kind == "f":
        return not finite or abs(number) <= float(np.finfo(dtype).max)
    limits = np.iinfo(dtype)
    return finite and limits.min <= int(number) == number <= limits.max


def _pair(name: str, a: Tensor, b: Tensor | float, stream: Stream | None) -> Tensor:
    if not isinstance(b, Tensor):
        check_tensors(name, a=a)
        number = checked_number(name, b, a.dtype)
        operation = planned(name, [a], a.shape, a.dtype, work=a.size, number=number)
        return enqueue(operation, [a], stream)
    check_tensors(name, a=a, b=b)
    try:
        shape = np.broadcast_shapes(a.shape, b.shape)
    except ValueError:
        raise InvalidValue(
            f"{name}: shapes {a.shape} and {b.shape} do not broadcast: from the right, lengths "
            "must be equal, or one of them 1"
        ) from None
    operation = planned(name, [a, b], shape, a.dtype, work=math.prod(shape))
    return enqueue(operation, [a, b], stream)


def _curve(name: str, a: Tensor, stream: Stream | None, **options: Any) -> Tensor:
    check_tensors(name, a=a)
    check_floats(name, a)
    operation = planned(
        name,
        [a],
        a.shape,
        a.dtype,
        accumulate=accumulated(a.dtype),
        work=EXPONENTIAL * a.size,
        **options,
    )
    return enqueue(operation, [a], stream)
