"""Structured dtypes: records by attribute or by field name, and arrays of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numba.core import ir, types

from wia_lab.simt.addressing import Place, locate
from wia_lab.simt.instructions.tables import attribute, statement
from wia_lab.simt.semantics import cast, dtype_of, is_number
from wia_lab.simt.values import Choice, Record, View, blend

if TYPE_CHECKING:
    import numpy as np


def field_view(view: View, name: str) -> View:
    """One field of an array of records, as an array."""
    dtype, offset = view.dtype.fields[name][:2]
    return _as_view(View(view.space, dtype, view.offset + offset, view.shape, view.strides))


def _as_view(view: View) -> View:
    """A field that is itself an array gives its axes to the view."""
    if view.dtype.subdtype is None:
        return view
    from wia_lab.simt.machine import contiguous

    base, shape = view.dtype.subdtype
    strides = contiguous(shape, base.itemsize)
    return View(view.space, base, view.offset, view.shape + shape, view.strides + strides)


def _of(value: Any, lanes: np.ndarray, function: Any) -> Any:
    """`function(record, lanes)`, for each option of a choice in its own lanes."""
    if not isinstance(value, Choice):
        return function(value, lanes)
    result = None
    for number, option in enumerate(value.options):
        chosen = lanes & (value.which == number)
        if chosen.any():
            result = blend(result, function(option, chosen), chosen)
    return result


@attribute(types.Record)
def bind_record_attribute(builder: Any, expr: ir.Expr, target: ir.Var) -> Any:
    return _bind_field(builder, expr.value, expr.attr)


def bind_record_item(builder: Any, expr: ir.Expr, target: ir.Var) -> Any:
    """`record["field"]`."""
    kind = builder.type_of(expr.value)
    name = expr.index if isinstance(expr.index, (str, int)) else _literal_name(builder, expr.index)
    if isinstance(name, int):
        name = list(kind.fields)[name]
    return _bind_field(builder, expr.value, name)


def _literal_name(builder: Any, variable: ir.Var) -> Any:
    kind = builder.type_of(variable)
    return getattr(kind, "literal_value", None)


def _bind_field(builder: Any, variable: ir.Var, name: str) -> Any:
    slot, site = builder.read(variable), builder.site()
    builder.count("load")

    def read(group: Any) -> Any:
        return _of(
            group.slots[slot],
            group.bits,
            lambda record, lanes: _read_field(group, record, name, lanes, site),
        )

    return read


def _read_field(group: Any, record: Record, name: str, lanes: np.ndarray, site: Any) -> Any:
    dtype, offset = record.dtype.fields[name][:2]
    if dtype.subdtype is not None:
        return _as_view(View(record.space, dtype, _relative(group, record) + offset, (), ()))
    place = Place(record.offset + offset, lanes)
    if dtype.names:
        return Record(record.space, dtype, place.offsets)
    return group.machine.load_at(record.space, dtype, place, site)


def _relative(group: Any, record: Record) -> Any:
    starts = group.machine.starts(record.space)
    return record.offset if starts is None else record.offset - starts


@statement(ir.SetAttr)
def bind_setattr(builder: Any, inst: ir.SetAttr) -> None:
    if not isinstance(builder.type_of(inst.target), types.Record):
        raise builder.refuse(f"the simulator cannot set .{inst.attr}: only records have fields")
    _bind_field_store(builder, inst.target, inst.attr, inst.value)


def bind_record_store(builder: Any, inst: Any) -> None:
    """`record["field"] = value`."""
    name = inst.index if isinstance(inst.index, (str, int)) else _literal_name(builder, inst.index)
    if isinstance(name, int):
        name = list(builder.type_of(inst.target).fields)[name]
    _bind_field_store(builder, inst.target, name, inst.value)


def _bind_field_store(builder: Any, target: ir.Var, name: str, value: ir.Var) -> None:
    builder.stored.add(target.name)
    record, source, site = builder.read(target), builder.read(value), builder.site()
    field_type = builder.type_of(target).typeof(name)
    kind = builder.type_of(value)
    convert = None
    if is_number(field_type) and is_number(kind) and dtype_of(kind) != dtype_of(field_type):
        convert = cast(kind, field_type)
    builder.count("store")

    def store(group: Any) -> None:
        element = group.slots[source]
        element = element if convert is None else convert(element)
        found = group.slots[record]
        options = found.options if isinstance(found, Choice) else (found,)
        for number, option in enumerate(options):
            lanes = group.bits
            if isinstance(found, Choice):
                lanes = lanes & (found.which == number)
            dtype, offset = option.dtype.fields[name][:2]
            place = Place(option.offset + offset, lanes)
            group.machine.store_at(option.space, dtype, place, element, site)

    builder.emit(-1, store)


def copy_record(
    group: Any, record: Record, view: View, where: tuple[Any, ...], active: np.ndarray, site: Any
) -> None:
    """Store a whole record into an element of an array."""
    place = locate(group.machine, view, where, active, site, is_store=True)
    for name in record.dtype.names:
        dtype, offset = record.dtype.fields[name][:2]
        source = Place(record.offset + offset, place.active)
        element = group.machine.load_at(record.space, dtype, source, site)
        target = Place(place.offsets + offset, place.active)
        group.machine.store_at(view.space, dtype, target, element, site)
