"""Tuples, pairs and slices: values made of values."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.core import ir, types

from wia_lab.simt.instructions.tables import attribute, call, expression
from wia_lab.simt.values import Slice


@expression("build_tuple")
def bind_tuple(builder: Any, expr: ir.Expr, target: ir.Var) -> Any:
    kinds = builder.type_of(target)
    reads = [builder.read_as(item, kind)[1] for item, kind in zip(expr.items, kinds, strict=True)]
    return lambda group: tuple(read(group) for read in reads)


@expression("exhaust_iter")
def bind_exhaust(builder: Any, expr: ir.Expr, target: ir.Var) -> Any:
    slot = builder.read(expr.value)
    if isinstance(builder.type_of(expr.value), types.BaseTuple):
        return lambda group: tuple(group.slots[slot])
    count = expr.count

    def unpack(group: Any) -> Any:
        from wia_lab.simt.instructions.iteration import item

        source = group.slots[slot]
        return tuple(item(group, source, np.int64(i)) for i in range(count))

    return unpack


@expression("pair_first")
def bind_first(builder: Any, expr: ir.Expr, target: ir.Var) -> Any:
    slot = builder.read(expr.value)
    return lambda group: group.slots[slot].first


@expression("pair_second")
def bind_second(builder: Any, expr: ir.Expr, target: ir.Var) -> Any:
    slot = builder.read(expr.value)
    return lambda group: group.slots[slot].second


def bind_tuple_item(builder: Any, expr: ir.Expr, target: ir.Var) -> Any:
    """`parts[i]`, with a constant or, for a tuple of one type, any index."""
    slot = builder.read(expr.value)
    if expr.op == "static_getitem":
        index = expr.index
        return lambda group: group.slots[slot][index]
    at = builder.read(expr.index)

    def pick(group: Any) -> Any:
        parts, index = group.slots[slot], group.slots[at]
        if not isinstance(index, np.ndarray):
            return parts[int(index)] if -len(parts) <= index < len(parts) else parts[0]
        from wia_lab.simt.values import blend

        result = parts[0]
        for number in range(1, len(parts)):
            lanes = (index == number) | (index == number - len(parts))
            result = blend(result, parts[number], lanes)
        return result

    return pick


@attribute(types.NamedTuple, types.NamedUniTuple)
def bind_field(builder: Any, expr: ir.Expr, target: ir.Var) -> Any:
    slot = builder.read(expr.value)
    position = builder.type_of(expr.value).fields.index(expr.attr)
    return lambda group: group.slots[slot][position]


@call(slice)
def bind_slice(builder: Any, arguments: list[Any], signature: Any, target: ir.Var) -> Any:
    reads = []
    for argument, kind in zip(arguments, signature.args, strict=True):
        none = isinstance(kind, types.NoneType)
        reads.append(None if none else builder.read_as(argument, kind)[1])
    if len(reads) == 1:
        reads = [None, reads[0], None]
    reads += [None] * (3 - len(reads))
    return lambda group: Slice(*(None if read is None else read(group) for read in reads))


@call(tuple)
def bind_tuple_call(builder: Any, arguments: list[Any], signature: Any, target: ir.Var) -> Any:
    slot = builder.read(arguments[0])
    return lambda group: tuple(group.slots[slot])
