"""Methods of arrays and numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.core import ir, types

from wia_lab.simt.instructions.arrays import assign_view, on_view, over_views
from wia_lab.simt.instructions.tables import METHODS, method
from wia_lab.simt.machine import contiguous
from wia_lab.simt.semantics import dtype_of
from wia_lab.simt.values import View


def method_name(key: Any) -> str:
    """`fill` of the key of `array.fill`."""
    return str(key[-1] if isinstance(key, tuple) else key).rpartition(".")[2]


def is_method(key: Any) -> bool:
    """Whether a method is executed here, and not by an implementation in Python."""
    return method_name(key) in METHODS


def bind_method(
    builder: Any, this: ir.Var, key: Any, arguments: list[Any], signature: Any, target: ir.Var
) -> Any:
    """`this.method(arguments)`."""
    name = method_name(key)
    if name in METHODS:
        return METHODS[name](builder, this, arguments, signature, target)
    raise builder.refuse(f"the simulator does not know the method .{name}()")


@method("conjugate")
def bind_conjugate(
    builder: Any, this: ir.Var, arguments: list[Any], signature: Any, target: ir.Var
) -> Any:
    slot = builder.read(this)
    return lambda group: np.conjugate(group.slots[slot])


@method("item")
def bind_item(
    builder: Any, this: ir.Var, arguments: list[Any], signature: Any, target: ir.Var
) -> Any:
    slot, site = builder.read(this), builder.site()
    if not isinstance(builder.type_of(this), types.Array):
        return lambda group: group.slots[slot]
    ndim = builder.type_of(this).ndim
    where = (np.int64(0),) * ndim
    return lambda group: group.machine.load(group.slots[slot], where, group.bits, site)


@method("fill")
def bind_fill(
    builder: Any, this: ir.Var, arguments: list[Any], signature: Any, target: ir.Var
) -> Any:
    builder.stored.add(this.name)
    array, site = builder.read(this), builder.site()
    _, read = builder.read_as(arguments[0], builder.type_of(this).dtype)
    builder.count("store")

    def fill(group: Any) -> None:
        assign_view(group, group.slots[array], read(group), group.bits, site)

    return fill


@method("view")
def bind_view(
    builder: Any, this: ir.Var, arguments: list[Any], signature: Any, target: ir.Var
) -> Any:
    dtype = dtype_of(builder.type_of(target).dtype)
    builder.program.reinterprets = True

    def reinterpret(view: View) -> View:
        last = view.shape[-1] * view.dtype.itemsize // dtype.itemsize
        return View(
            view.space,
            dtype,
            view.offset,
            (*view.shape[:-1], last),
            (*view.strides[:-1], dtype.itemsize),
        )

    return on_view(builder, this, reinterpret)


@method("reshape")
def bind_reshape(
    builder: Any, this: ir.Var, arguments: list[Any], signature: Any, target: ir.Var
) -> Any:
    slots = [builder.read(argument) for argument in arguments if isinstance(argument, ir.Var)]
    array = builder.read(this)

    def reshape(group: Any) -> Any:
        parts = [group.slots[slot] for slot in slots]
        wanted = parts[0] if len(parts) == 1 and isinstance(parts[0], tuple) else tuple(parts)
        shape = [int(np.max(part)) for part in wanted]
        return over_views(group.slots[array], lambda view: _reshaped(view, shape))

    return reshape


def _reshaped(view: View, shape: list[int]) -> View:
    size = int(np.prod([int(np.max(extent)) for extent in view.shape]))
    known = int(np.prod([extent for extent in shape if extent != -1]))
    full = tuple(size // known if extent == -1 else extent for extent in shape)
    return View(view.space, view.dtype, view.offset, full, contiguous(full, view.dtype.itemsize))


@method("ravel", "flatten")
def bind_ravel(
    builder: Any, this: ir.Var, arguments: list[Any], signature: Any, target: ir.Var
) -> Any:
    def flat(view: View) -> View:
        size = int(np.prod([int(extent) for extent in view.shape]))
        return View(view.space, view.dtype, view.offset, (size,), (view.dtype.itemsize,))

    return on_view(builder, this, flat)


@method("transpose")
def bind_transpose(
    builder: Any, this: ir.Var, arguments: list[Any], signature: Any, target: ir.Var
) -> Any:
    return on_view(
        builder,
        this,
        lambda v: View(v.space, v.dtype, v.offset, v.shape[::-1], v.strides[::-1]),
    )
