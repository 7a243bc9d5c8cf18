"""Numba's implicit conversions between the types of two variables."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba.core import types

from wia_lab.simt.semantics import cast, dtype_of, is_number
from wia_lab.simt.values import Optional, Value

Conversion = Callable[[Value], Value]


def conversion(source: types.Type, target: types.Type) -> Conversion | None:
    """What turns a value of one type into another; None where it stays as it is."""
    if source == target or isinstance(target, types.Omitted):
        return None
    if isinstance(target, types.Optional):
        return _to_optional(source, target)
    if isinstance(source, types.Optional):
        return _from_optional(source, target)
    if is_number(source) and is_number(target):
        if dtype_of(source) == dtype_of(target):
            return None
        return cast(source, target)
    if isinstance(source, types.BaseTuple) and isinstance(target, types.BaseTuple):
        parts = [conversion(a, b) for a, b in zip(source, target, strict=True)]
        if all(part is None for part in parts):
            return None
        return lambda value: tuple(
            each if part is None else part(each) for each, part in zip(value, parts, strict=True)
        )
    return None


def plain_type(kind: types.Type) -> types.Type:
    """The type of a value that may be None, when it is not."""
    return kind.type if isinstance(kind, types.Optional) else kind


def _from_optional(source: types.Optional, target: types.Type) -> Conversion:
    """The value; a zero if every lane holds None, whose value Numba leaves undefined."""
    inner = conversion(source.type, target)
    zero = dtype_of(source.type).type(0) if is_number(source.type) else None

    def unwrap(value: Value) -> Value:
        held = zero if value.value is None else value.value
        return held if inner is None else inner(held)

    return unwrap


def _to_optional(source: types.Type, target: types.Optional) -> Conversion | None:
    if isinstance(source, types.Optional):
        return None
    if isinstance(source, types.NoneType):
        return lambda value: Optional(None, np.bool_(False))
    inner = conversion(source, target.type)
    return lambda value: Optional(value if inner is None else inner(value), np.bool_(True))
