"""The table of elementwise operations: what implements which key, and how operands reach it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from wia_lab.simt.semantics.casts import Lanes, between, convert

Compute = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Typed:
    """A call's dtypes: those its signature asks operands to have, and that of its result.

    `result` is a tuple where the call returns one (`math.frexp`).
    """

    args: tuple[np.dtype[Any], ...]
    result: Any


class Plan(NamedTuple):
    """How a call is computed: by `compute`, on operands converted to the dtypes `takes`."""

    compute: Compute
    takes: tuple[np.dtype[Any], ...]


Builder = Callable[[Typed], Plan]

TABLE: dict[Any, Builder] = {}
"""Builder of each operation, by its key; a device operation's key is its stub's dotted name."""


def implements(*keys: Any) -> Callable[[Builder], Builder]:
    """Register the decorated builder for `keys`: functions, types, or names of stubs."""

    def register(builder: Builder) -> Builder:
        TABLE.update(dict.fromkeys(keys, builder))
        return builder

    return register


def in_result(compute: Compute) -> Builder:
    """Return a builder whose operands are all converted to the result's dtype."""
    return lambda typed: Plan(compute, (typed.result,) * len(typed.args))


def in_arguments(compute: Compute) -> Builder:
    """Return a builder whose operands have the signature's own dtypes."""
    return lambda typed: Plan(compute, typed.args)


def select(condition: Lanes, yes: Lanes, no: Lanes) -> Lanes:
    """`numpy.where`, but a NumPy scalar when all three are."""
    chosen: Any = np.where(condition, yes, no)
    return chosen[()]


def bind(plan: Plan, operands: tuple[np.dtype[Any], ...] | None) -> Compute:
    """Return what computes `plan` on raw operands, which it converts where they differ.

    With `operands`, the dtypes that the operands will have, no check is left at run time.
    """
    compute, takes = plan
    widened = _widening(compute, takes) if isinstance(compute, np.ufunc) else None
    if operands is not None:
        return _bind_known(compute, takes, operands, widened)
    if widened is not None and len(takes) == 2:
        return _bind_ufunc(compute, takes, widened)

    def run(*lanes: Lanes) -> Lanes:
        return compute(*map(convert, lanes, takes))

    return run if len(takes) != 1 else _bind_one(compute, *takes)


def _widening(ufunc: np.ufunc, takes: tuple[np.dtype[Any], ...]) -> Compute:
    """Return the ufunc's loop for `takes`, which converts operands itself, a buffer at a time.

    That is far cheaper than converting whole arrays before; it is right only for operands that
    NumPy converts as the device does (`_converts`).
    """
    loop = ufunc.resolve_dtypes((*takes, *(None,) * ufunc.nout))
    return partial(ufunc, signature=loop, casting="unsafe")


_EXACT = {"b": "b", "i": "biu", "u": "biu", "f": "biuf", "c": "biufc"}
"""Kinds of dtype that NumPy converts to each kind with the device's result."""


def _converts(source: np.dtype[Any], target: np.dtype[Any]) -> bool:
    return source.kind in _EXACT.get(target.kind, "")


def _bind_known(
    compute: Compute,
    takes: tuple[np.dtype[Any], ...],
    operands: tuple[np.dtype[Any], ...],
    widened: Compute | None,
) -> Compute:
    if operands == takes:
        return compute
    if widened is not None and all(map(_converts, operands, takes)):
        return widened
    casts = tuple(map(between, operands, takes))
    if len(casts) == 1:
        (only,) = casts
        return lambda lanes: compute(only(lanes))
    return lambda *lanes: compute(*[cast(x) for cast, x in zip(casts, lanes, strict=True)])


def _bind_one(compute: Compute, takes: np.dtype[Any]) -> Compute:
    def run(lanes: Lanes) -> Lanes:
        return compute(lanes if lanes.dtype is takes else convert(lanes, takes))

    return run


def _bind_ufunc(compute: Compute, takes: tuple[np.dtype[Any], ...], widened: Compute) -> Compute:
    takes_left, takes_right = takes
    exact_left, exact_right = (_EXACT.get(dtype.kind, "") for dtype in takes)

    def run(left: Lanes, right: Lanes) -> Lanes:
        left_type, right_type = left.dtype, right.dtype
        if left_type is takes_left and right_type is takes_right:
            return compute(left, right)
        if left_type.kind in exact_left and right_type.kind in exact_right:
            return widened(left, right)
        return compute(convert(left, takes_left), convert(right, takes_right))

    return run
