"""Ranges, iterators and len."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np
from numba.core import ir, types

from wia_lab.simt.instructions.tables import call, expression
from wia_lab.simt.semantics import dtype_of
from wia_lab.simt.values import Choice, Items, Pair, Range, View


@call(range)
def bind_range(builder: Any, arguments: list[Any], signature: Any, target: ir.Var) -> Any:
    dtype = dtype_of(builder.type_of(target).dtype)
    kind = builder.type_of(target).dtype
    reads = [builder.read_as(argument, kind)[1] for argument in arguments]
    zero, one = dtype.type(0), dtype.type(1)
    if len(reads) == 1:
        return lambda group: _range(zero, reads[0](group), one, dtype)
    if len(reads) == 2:
        return lambda group: _range(reads[0](group), reads[1](group), one, dtype)
    return lambda group: _range(*(read(group) for read in reads), dtype)


def _range(start: Any, stop: Any, step: Any, dtype: np.dtype) -> Range:
    parts = (start, stop, step)
    if not any(isinstance(part, np.ndarray) for part in parts):
        length = len(builtins.range(int(start), int(stop), int(step))) if step else 0
        return Range(start, step, np.int64(length), dtype)
    first, last, by = (np.asarray(part).astype(np.int64) for part in parts)
    by = np.where(by == 0, 1, by)
    length = np.where(by > 0, -((first - last) // by), -((last - first) // -by))
    return Range(start, step, np.maximum(length, 0), dtype)


@expression("getiter")
def bind_getiter(builder: Any, expr: ir.Expr, target: ir.Var) -> Any:
    slot = builder.read(expr.value)
    return lambda group: _iterator(group.slots[slot])


def _iterator(source: Any) -> Any:
    if isinstance(source, (Range, Items)):
        return source.copy()
    return Items(source, np.int64(0), length_of(source))


@expression("iternext")
def bind_iternext(builder: Any, expr: ir.Expr, target: ir.Var) -> Any:
    slot = builder.read(expr.value)
    kind = builder.type_of(expr.value)
    builder.count("integer")

    def advance(group: Any) -> Pair:
        iterator = group.slots[slot]
        if slot in group.merge:
            iterator = group.slots[slot] = iterator.copy()
            return _next(group, iterator, kind, group.bits)
        return _next(group, iterator, kind, None)

    return advance


def _next(group: Any, iterator: Any, kind: types.Type, mask: np.ndarray | None) -> Pair:
    if isinstance(iterator, Range):
        more, value = iterator.left > 0, iterator.next
        iterator.next = _advance(value, iterator.step, more, mask, iterator.dtype)
        iterator.left = _advance(iterator.left, np.int64(-1), more, mask, None)
        return Pair(value, more)
    at, more = iterator.at, iterator.at < iterator.length
    value = None
    if np.any(more & group.bits):
        value = _value(group, iterator, at, more)
    iterator.at = _advance(at, np.int64(1), more, mask, None)
    return Pair(value, more)


def _value(group: Any, iterator: Items, at: Any, more: Any) -> Any:
    source = iterator.source
    active = group.bits & more
    if iterator.extra == "zip":
        return tuple(item(group, each, at, active) for each in source)
    found = item(group, source, at, active)
    return found if iterator.extra is None else (iterator.extra + at, found)


def _advance(value: Any, step: Any, more: Any, mask: np.ndarray | None, dtype: Any) -> Any:
    """`value + step` where there is more, in the lanes of `mask` (all lanes without one)."""
    if mask is None and not isinstance(more, np.ndarray):
        return value + step if more else value
    moved = value + step
    if dtype is not None and moved.dtype != dtype:
        moved = moved.astype(dtype)
    return np.where(more if mask is None else more & mask, moved, value)


def item(group: Any, source: Any, at: Any, active: np.ndarray | None = None) -> Any:
    """Element `at` of what is iterated over."""
    active = group.bits if active is None else active
    if isinstance(source, (View, Choice)):
        return group.machine.item(source, at, active)
    if isinstance(source, Range):
        return (source.next + source.step * at).astype(source.dtype)
    if isinstance(source, Items):
        return _value(group, source, at, np.bool_(True))
    if hasattr(source, "item") and not isinstance(source, tuple):
        return source.item(group, at, active)
    if not isinstance(at, np.ndarray):
        return source[min(int(at), len(source) - 1)]
    from wia_lab.simt.values import blend

    result = source[0]
    for number in range(1, len(source)):
        result = blend(result, source[number], at == number)
    return result


def length_of(source: Any) -> Any:
    """Number of items, uniform or one a lane."""
    if isinstance(source, View):
        return as_int(source.shape[0])
    if isinstance(source, Choice):
        lengths = [length_of(option) for option in source.options]
        return np.choose(source.which, lengths)
    if isinstance(source, Range):
        return source.left
    if isinstance(source, Items):
        return source.length
    return np.int64(len(source))


def as_int(value: Any) -> Any:
    """A size as int64, uniform or one a lane."""
    return value if isinstance(value, np.ndarray) else np.int64(value)


@call(iter)
def bind_iter(builder: Any, arguments: list[Any], signature: Any, target: ir.Var) -> Any:
    slot = builder.read(arguments[0])
    return lambda group: _iterator(group.slots[slot])


@call(len)
def bind_len(builder: Any, arguments: list[Any], signature: Any, target: ir.Var) -> Any:
    slot = builder.read(arguments[0])
    return lambda group: length_of(group.slots[slot])


@call(enumerate)
def bind_enumerate(builder: Any, arguments: list[Any], signature: Any, target: ir.Var) -> Any:
    slot = builder.read(arguments[0])
    start = builder.read_as(arguments[1], types.int64)[1] if len(arguments) > 1 else None

    def make(group: Any) -> Items:
        source = group.slots[slot]
        first = np.int64(0) if start is None else start(group)
        return Items(source, np.int64(0), length_of(source), first)

    return make


@call(zip)
def bind_zip(builder: Any, arguments: list[Any], signature: Any, target: ir.Var) -> Any:
    slots = [builder.read(argument) for argument in arguments]

    def make(group: Any) -> Items:
        sources = tuple(group.slots[slot] for slot in slots)
        length = length_of(sources[0])
        for source in sources[1:]:
            length = np.minimum(length, length_of(source))
        return Items(sources, np.int64(0), length, "zip")

    return make
