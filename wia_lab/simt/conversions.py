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
        inner = conversion(source.type, target)
        return lambda value: value.value if inner is None else inner(value.value)
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


def _to_optional(source: types.Type, target: types.Optional) -> Conversion | None:
    if isinstance(source, types.Optional):
        return None
    if isinstance(source, types.NoneType):
        return lambda value: Optional(None, np.bool_(False))
    inner = conversion(source, target.type)
    return lambda value: Optional(value if inner is None else inner(value), np.bool_(True))
