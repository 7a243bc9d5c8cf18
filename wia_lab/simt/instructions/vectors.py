"""Vector types (`float32x4` and its like) and loads and stores with a cache hint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wia_lab.simt import stubs
from wia_lab.simt.declarations import VectorType
from wia_lab.simt.instructions.arrays import indices_of
from wia_lab.simt.instructions.tables import ATTRIBUTES, CALLS
from wia_lab.simt.semantics import cast, dtype_of

if TYPE_CHECKING:
    from numba.core import ir


def _bind_field(builder: Any, expr: ir.Expr, target: ir.Var) -> Any:
    slot = builder.read(expr.value)
    position = stubs.VECTOR_FIELDS.index(expr.attr)
    return lambda group: group.slots[slot][position]


ATTRIBUTES[VectorType] = _bind_field


def _bind_vector(builder: Any, arguments: list[Any], signature: Any, target: ir.Var) -> Any:
    base = builder.type_of(target).base
    reads = []
    for argument, kind in zip(arguments, signature.args, strict=True):
        if isinstance(kind, VectorType):
            slot = builder.read(argument)
            reads.append(lambda group, slot=slot: group.slots[slot])
        else:
            _, read = builder.read_as(argument, base)
            reads.append(lambda group, read=read: (read(group),))
    return lambda group: tuple(part for read in reads for part in read(group))


for _stub in stubs.vector_types.values():
    CALLS[_stub] = _bind_vector


def _bind_load(builder: Any, arguments: list[Any], signature: Any, target: ir.Var) -> Any:
    array, site = builder.read(arguments[0]), builder.site()
    indices = indices_of(builder, arguments[1])
    builder.count("load")
    return lambda group: group.machine.load(group.slots[array], indices(group), group.bits, site)


def _bind_store(builder: Any, arguments: list[Any], signature: Any, target: ir.Var) -> Any:
    builder.stored.add(arguments[0].name)
    array, site = builder.read(arguments[0]), builder.site()
    indices = indices_of(builder, arguments[1])
    element = builder.type_of(arguments[0]).dtype
    source = builder.type_of(arguments[2])
    slot = builder.read(arguments[2])
    convert = cast(source, element) if dtype_of(source) != dtype_of(element) else None
    builder.count("store")

    def run(group: Any) -> None:
        value = group.slots[slot]
        value = value if convert is None else convert(value)
        group.machine.store(group.slots[array], indices(group), value, group.bits, site)

    return run


for _name, _hint in stubs.cache_hints.items():
    CALLS[_hint] = _bind_load if _name.startswith("ld") else _bind_store
