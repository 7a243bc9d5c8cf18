"""The table of elementwise operations: what implements which key, and how operands reach it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from wia_lab.simt.semantics.casts import Lanes, convert

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


Builder = Callable[[Typed], "Plan | None"]

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
    return np.where(condition, yes, no)[()]


def bind(plan: Plan, operands: tuple[np.dtype[Any], ...] | None) -> Compute:
    """Return what computes `plan` on raw operands, which it converts where they differ.

    With `operands`, the dtypes that the operands will have, no check is left at run time.
    """
    compute, takes = plan
    if operands is not None and operands == takes:
        return compute
    if len(takes) == 1:
        return _bind_one(compute, *takes)
    if len(takes) == 2:  # noqa: PLR2004 (the common number of operands)
        return _bind_two(compute, *takes)

    def run(*lanes: Lanes) -> Lanes:
        return compute(*map(convert, lanes, takes))

    return run


def _bind_one(compute: Compute, takes: np.dtype[Any]) -> Compute:
    def run(lanes: Lanes) -> Lanes:
        return compute(lanes if lanes.dtype is takes else convert(lanes, takes))

    return run


def _bind_two(compute: Compute, takes_left: np.dtype[Any], takes_right: np.dtype[Any]) -> Compute:
    def run(left: Lanes, right: Lanes) -> Lanes:
        if left.dtype is not takes_left:
            left = convert(left, takes_left)
        if right.dtype is not takes_right:
            right = convert(right, takes_right)
        return compute(left, right)

    return run
