"""Arrays: attributes, elements, slices, stores."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numba.core import ir, types

from wia_lab.simt.conversions import plain_type
from wia_lab.simt.instructions.iteration import as_int
from wia_lab.simt.instructions.records import bind_record_item, bind_record_store, field_view
from wia_lab.simt.instructions.tables import ATTRIBUTES, attribute, expression, statement
from wia_lab.simt.instructions.tuples import bind_tuple_item
from wia_lab.simt.semantics import cast, dtype_of, is_number
from wia_lab.simt.values import Choice, Record, Slice, View, blend


@expression("getattr")
def bind_getattr(builder: Any, expr: ir.Expr, target: ir.Var) -> Any:
    kind = builder.type_of(expr.value)
    for base in type(kind).__mro__:
        if base in ATTRIBUTES:
            return ATTRIBUTES[base](builder, expr, target)
    if is_number(kind):
        from wia_lab.simt.instructions.numbers import bind_number_attribute

        return bind_number_attribute(builder, expr, target)
    raise builder.refuse(f"the simulator does not know the attribute .{expr.attr} of {kind}")


def on_view(builder: Any, variable: ir.Var, function: Any) -> Any:
    """Apply a function to a view, or to each option of a choice of views."""
    slot = builder.read(variable)
    return lambda group: over_views(group.slots[slot], function)


def over_views(value: Any, function: Any) -> Any:
    """`function(view)`, or that of each option of a choice, joined."""
    if not isinstance(value, Choice):
        return function(value)
    result = function(value.options[0])
    for number in range(1, len(value.options)):
        result = blend(result, function(value.options[number]), value.which == number)
    return result


@attribute(types.Array)
def bind_array_attribute(builder: Any, expr: ir.Expr, target: ir.Var) -> Any:
    name = expr.attr
    kind = builder.type_of(expr.value)
    functions = {
        "shape": lambda view: tuple(as_int(each) for each in view.shape),
        "strides": lambda view: tuple(as_int(each) for each in view.strides),
        "ndim": lambda view: np.int64(view.ndim),
        "size": _size,
        "itemsize": lambda view: np.int64(view.dtype.itemsize),
        "nbytes": lambda view: _size(view) * view.dtype.itemsize,
        "T": lambda view: View(
            view.space, view.dtype, view.offset, view.shape[::-1], view.strides[::-1]
        ),
        "real": _real,
        "imag": _imag,
    }
    if name in functions:
        return on_view(builder, expr.value, functions[name])
    if name == "flat":
        from wia_lab.simt.instructions.whole_arrays import bind_flat

        return bind_flat(builder, expr.value)
    if name in ("dtype", "ctypes"):
        return lambda _: None  # known by its type, or of no use in a kernel
    if isinstance(kind.dtype, types.Record):
        return on_view(builder, expr.value, lambda view: field_view(view, name))
    if isinstance(builder.type_of(target), types.BoundFunction):
        slot = builder.read(expr.value)
        return lambda group: group.slots[slot]
    raise builder.refuse(f"the simulator does not know the attribute .{name} of an array")


def _size(view: View) -> Any:
    size: Any = np.int64(1)
    for extent in view.shape:
        size = size * extent
    return size


def _real(view: View) -> View:
    if view.dtype.kind != "c":
        return view
    half = np.dtype(f"f{view.dtype.itemsize // 2}")
    return View(view.space, half, view.offset, view.shape, view.strides)


def _imag(view: View) -> View:
    half = np.dtype(f"f{view.dtype.itemsize // 2}")
    return View(view.space, half, view.offset + half.itemsize, view.shape, view.strides)


@expression("getitem", "static_getitem", "typed_getitem")
def bind_getitem(builder: Any, expr: ir.Expr, target: ir.Var) -> Any:
    kind = builder.type_of(expr.value)
    if isinstance(kind, types.BaseTuple):
        return bind_tuple_item(builder, expr, target)
    if isinstance(kind, types.Record):
        return bind_record_item(builder, expr, target)
    if not isinstance(kind, types.Array):
        raise builder.refuse(f"the simulator cannot index a value of type {kind}")
    if expr.op == "static_getitem" and isinstance(expr.index, str):
        name = expr.index
        return on_view(builder, expr.value, lambda view: field_view(view, name))
    indices = read_indices(builder, expr)
    array, site = builder.read(expr.value), builder.site()
    if isinstance(builder.type_of(target), types.Array):
        return lambda group: subview(group, group.slots[array], indices(group), group.bits, site)
    builder.count("load")
    return lambda group: group.machine.load(group.slots[array], indices(group), group.bits, site)


def read_indices(builder: Any, inst: Any) -> Any:
    """How the group reads the indices of an instruction, as a tuple."""
    variable = index_variable(inst)
    if variable is None:
        fixed = static_index(inst.index)
        return lambda _: fixed
    return indices_of(builder, variable)


def indices_of(builder: Any, variable: ir.Var) -> Any:
    """How the group reads the indices that a variable holds, one or a tuple, as a tuple."""
    slot = builder.read(variable)
    if isinstance(builder.type_of(variable), types.BaseTuple):
        return lambda group: group.slots[slot]
    return lambda group: (group.slots[slot],)


def index_variable(inst: Any) -> ir.Var | None:
    """The variable that holds an instruction's index, if there is one."""
    if isinstance(inst.index, ir.Var):
        return inst.index
    static = isinstance(inst, ir.StaticSetItem) or inst.op == "static_getitem"
    return inst.index_var if static else None


def static_index(index: Any) -> tuple[Any, ...]:
    """A constant index as a tuple of lane values."""
    parts = index if isinstance(index, tuple) else (index,)
    return tuple(_static_part(part) for part in parts)


def _static_part(part: Any) -> Any:
    if isinstance(part, slice):
        return Slice(
            *(None if p is None else np.int64(p) for p in (part.start, part.stop, part.step))
        )
    return part if part is None or part is Ellipsis else np.int64(part)


@statement(ir.SetItem)
@statement(ir.StaticSetItem)
def bind_setitem(builder: Any, inst: Any) -> None:
    kind = builder.type_of(inst.target)
    if isinstance(kind, types.Record):
        bind_record_store(builder, inst)
        return
    if not isinstance(kind, types.Array):
        raise builder.refuse(f"the simulator cannot store into a value of type {kind}")
    builder.stored.add(inst.target.name)
    indices = read_indices(builder, inst)
    array, value, site = builder.read(inst.target), builder.read_plain(inst.value), builder.site()
    source = plain_type(builder.type_of(inst.value))
    scalar = is_number(kind.dtype) and is_number(source)
    convert = None
    if scalar and dtype_of(source) != dtype_of(kind.dtype):
        convert = cast(source, kind.dtype)
    builder.count("store")
    index_type = _index_type(builder, inst)
    if scalar and _all_integers(index_type, kind.ndim):
        builder.emit(-1, _store_one(array, indices, value, convert, site))
    else:
        builder.emit(-1, _store_part(array, indices, value, convert, site))


def _store_one(array: int, indices: Any, value: int, convert: Any, site: Any) -> Any:
    def store(group: Any) -> None:
        slots = group.slots
        element = slots[value] if convert is None else convert(slots[value])
        group.machine.store(slots[array], indices(group), element, group.bits, site)

    return store


def _store_part(array: int, indices: Any, value: int, convert: Any, site: Any) -> Any:
    def store(group: Any) -> None:
        slots = group.slots
        part = subview(group, slots[array], indices(group), group.bits, site)
        element = slots[value] if convert is None else convert(slots[value])
        assign_view(group, part, element, group.bits, site)

    return store


def _index_type(builder: Any, inst: Any) -> Any:
    variable = index_variable(inst)
    return None if variable is None else builder.type_of(variable)


def _all_integers(kind: Any, ndim: int) -> bool:
    parts = tuple(kind) if isinstance(kind, types.BaseTuple) else (kind,)
    return len(parts) == ndim and all(isinstance(p, (types.Integer, types.Boolean)) for p in parts)


def subview(group: Any, array: Any, indices: tuple[Any, ...], active: np.ndarray, site: Any) -> Any:
    """`array[indices]` where some index is a slice, an ellipsis, None, or left out."""
    if isinstance(array, Choice):
        result = None
        for number, option in enumerate(array.options):
            lanes = active & (array.which == number)
            if lanes.any():
                result = blend(result, subview(group, option, indices, lanes, site), lanes)
        return result
    taken = sum(index is not None and index is not Ellipsis for index in indices)
    rest = [Slice(None, None, None)] * (array.ndim - taken)
    at = next((i for i, index in enumerate(indices) if index is Ellipsis), len(indices))
    full = [*indices[:at], *rest, *indices[at + 1 :]]
    offset, shape, strides, axis = array.offset, [], [], 0
    for index in full:
        if index is None:
            shape.append(1)
            strides.append(0)
            continue
        extent, stride = array.shape[axis], array.strides[axis]
        if isinstance(index, Slice):
            start, length, step = slice_bounds(index, extent)
            offset = offset + start * stride
            shape.append(length)
            strides.append(stride * step)
        else:
            offset = offset + _checked_index(group, array, index, axis, active, site) * stride
        axis += 1
    return View(array.space, array.dtype, offset, tuple(shape), tuple(strides))


def _checked_index(
    group: Any, view: View, index: Any, axis: int, active: np.ndarray, site: Any
) -> Any:
    """An integer index of a partial view: wrapped if negative; reported if it leaves the array."""
    from wia_lab.simt.events import OutOfBounds

    extent = view.shape[axis]
    index = index.astype(np.int64) if isinstance(index, np.ndarray) else int(index)
    negative = index < 0
    lanes = np.broadcast_to(np.asarray(index, np.int64), active.shape)
    if np.any(negative & active):
        inside = active & negative & (lanes >= -np.asarray(extent))
        if inside.any():
            group.machine.listeners.on_negative_index(view.space, inside, lanes, site)
        index = np.where(negative, index + extent, index)
    bad = active & ((index < 0) | (index >= extent))
    if bad.any():
        indices = tuple(lanes if i == axis else np.zeros_like(lanes) for i in range(view.ndim))
        event = OutOfBounds(view.space, bad, indices, view.shape, site, False)
        group.machine.listeners.on_out_of_bounds(event)
        index = np.where(bad, 0, index)
    return index


def slice_bounds(index: Slice, extent: Any) -> tuple[Any, Any, Any]:
    """Start, length and step of a slice over `extent` elements, clipped as Python clips."""
    step = 1 if index.step is None else index.step
    parts = (index.start, index.stop, step, extent)
    if not any(isinstance(part, np.ndarray) for part in parts):
        bounds = slice(*(None if p is None else int(p) for p in (index.start, index.stop, step)))
        start, stop, by = bounds.indices(int(extent))
        return start, len(range(start, stop, by)), by
    forward = np.asarray(step) > 0
    start = (
        np.where(forward, 0, extent - 1)
        if index.start is None
        else _clip(index.start, extent, forward)
    )
    stop = (
        np.where(forward, extent, -1) if index.stop is None else _clip(index.stop, extent, forward)
    )
    span = np.where(forward, stop - start + step - 1, start - stop - step - 1)
    return start, np.maximum(span // np.abs(step), 0), step


def _clip(bound: Any, extent: Any, forward: Any) -> Any:
    bound = np.asarray(bound).astype(np.int64)
    bound = np.where(bound < 0, bound + extent, bound)
    return np.clip(bound, np.where(forward, 0, -1), np.where(forward, extent, extent - 1))


def assign_view(group: Any, view: Any, value: Any, lanes: np.ndarray, site: Any) -> None:
    """Assign a scalar, a record or an array to all of a view, element by element, in every lane."""
    if isinstance(view, Choice):
        for number, option in enumerate(view.options):
            chosen = lanes & (view.which == number)
            if chosen.any():
                assign_view(group, option, value, chosen, site)
        return
    extents = [
        int(np.max(extent[lanes])) if isinstance(extent, np.ndarray) else int(extent)
        for extent in view.shape
    ]
    machine = group.machine
    for index in itertools.product(*(range(extent) for extent in extents)):
        active = lanes
        for position, extent in zip(index, view.shape, strict=True):
            if isinstance(extent, np.ndarray):
                active = active & (position < extent)
        where = tuple(np.int64(each) for each in index)
        element = value
        if isinstance(value, View):
            source = where[len(where) - value.ndim :]
            source = tuple(
                np.int64(0) if not isinstance(n, np.ndarray) and n == 1 else each
                for each, n in zip(source, value.shape, strict=True)
            )
            element = machine.load(value, source, active, site)
            if element.dtype != view.dtype:
                element = element.astype(view.dtype)
        if isinstance(element, Record):
            from wia_lab.simt.instructions.records import copy_record

            copy_record(group, element, view, where, active, site)
        else:
            machine.store(view, where, element, active, site)
