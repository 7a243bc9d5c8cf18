"""Declared memory: shared, local and constant arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.core import ir, types

from wia_lab.simt import stubs
from wia_lab.simt.instructions.tables import call
from wia_lab.simt.machine import contiguous
from wia_lab.simt.semantics import dtype_of
from wia_lab.simt.values import View


@call(stubs.shared.array)
def bind_shared(builder: Any, arguments: list[Any], signature: Any, target: ir.Var) -> Any:
    return _bind_array(builder, "shared", arguments, target)


@call(stubs.local.array)
def bind_local(builder: Any, arguments: list[Any], signature: Any, target: ir.Var) -> Any:
    return _bind_array(builder, "local", arguments, target)


@call(stubs.const.array_like)
def bind_const(builder: Any, arguments: list[Any], signature: Any, target: ir.Var) -> Any:
    slot = builder.read(arguments[0])
    return lambda group: group.slots[slot]


def _bind_array(builder: Any, kind: str, arguments: list[Any], target: ir.Var) -> Any:
    element = builder.type_of(target).dtype
    dtype = dtype_of(element)
    shape = _shape(builder, arguments[0])
    name = _name_of(builder, target)
    line = builder.loc.line
    builder.program.shared_bytes += int(np.prod(shape)) * dtype.itemsize if kind == "shared" else 0
    if kind == "shared" and shape == (0,):
        return lambda group: group.machine.dynamic_shared(dtype, name, line)
    key = object()  # one allocation a call site and function, whatever the number of calls
    strides = contiguous(shape, dtype.itemsize)
    granule = _granule(dtype)
    site = builder.site()

    def declare(group: Any) -> View:
        machine = group.machine
        space = machine.declare(key, kind, name, dtype, shape, line, granule)
        if kind == "local":
            machine.listeners.on_declare(space, group.bits, site)
        return View(space, dtype, 0, shape, strides)

    return declare


def _granule(dtype: np.dtype) -> int:
    """Smallest piece of an element that code can touch: a field of a record."""
    return 1 if dtype.names else dtype.itemsize


def _shape(builder: Any, argument: Any) -> tuple[int, ...]:
    kind = builder.type_of(argument) if isinstance(argument, ir.Var) else None
    if isinstance(kind, types.BaseTuple):
        return tuple(int(each.literal_value) for each in kind)
    if kind is None:
        return (int(argument),) if not isinstance(argument, tuple) else tuple(map(int, argument))
    return (int(kind.literal_value),)


def _name_of(builder: Any, target: ir.Var) -> str:
    """The variable that the source assigns the array to."""
    wanted = target.name
    for block in builder.blocks.values():
        for inst in block.find_insts(ir.Assign):
            if isinstance(inst.value, ir.Var) and inst.value.name == wanted:
                name = inst.target.name
                if not name.startswith("$"):
                    return name.partition(".")[0]
                wanted = name
    return wanted.partition(".")[0] if not wanted.startswith("$") else "array"
