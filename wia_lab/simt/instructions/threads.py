"""Who a thread is: its indices, its lane, and the sizes of block and grid."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.core import ir, types

from wia_lab.simt import stubs
from wia_lab.simt.declarations import Dim3Type, GridGroupType
from wia_lab.simt.instructions.tables import ATTRIBUTES, call

_DIMENSIONS = {
    "threadIdx": lambda machine: machine.thread_index,
    "blockIdx": lambda machine: machine.block_index,
    "blockDim": lambda machine: machine.block_extent,
    "gridDim": lambda machine: machine.grid_extent,
}


def bind_module_attribute(builder: Any, expr: ir.Expr, target: ir.Var) -> Any:
    """`cuda.threadIdx`, `cuda.laneid`, `math.pi`: what a module or namespace holds."""
    module = builder.type_of(expr.value).pymod
    if isinstance(builder.type_of(target), types.Module):
        return lambda _: None  # a namespace: what is read from it is told by its type
    module = stubs.CUDA if _is_cuda(module) else module
    return bind_module_value(builder, getattr(module, expr.attr, None), target)


def bind_module_value(builder: Any, value: Any, target: ir.Var) -> Any:
    """The value of a name: a stub that varies by lane, or a constant."""
    from wia_lab.simt.constants import literal

    if value is stubs.laneid:
        return lambda group: group.machine.lane_in_warp
    if value is stubs.warpsize:
        return lambda _: np.int32(32)
    kind = builder.type_of(target)
    if isinstance(kind, (types.Number, types.Boolean, types.BaseTuple, types.Array)):
        constant = literal(value, kind)
        return lambda _: constant
    return lambda _: value


def _is_cuda(module: Any) -> bool:
    return getattr(module, "__name__", "") in ("numba.cuda", "wia_lab.cuda")


def bind_dim3(builder: Any, expr: ir.Expr, target: ir.Var) -> Any:
    """`cuda.threadIdx.x` and its kin."""
    slot = builder.read(expr.value)
    axis = "xyz".index(expr.attr)

    def read(group: Any) -> Any:
        return _DIMENSIONS[group.slots[slot].__qualname__](group.machine)[axis]

    return read


ATTRIBUTES[types.Module] = bind_module_attribute
ATTRIBUTES[Dim3Type] = bind_dim3
ATTRIBUTES[GridGroupType] = lambda builder, expr, target: lambda _: None


@call(stubs.grid)
def bind_grid(builder: Any, arguments: list[Any], signature: Any, target: ir.Var) -> Any:
    builder.count("integer")
    return _bind_axes(builder, target, _position)


@call(stubs.gridsize)
def bind_gridsize(builder: Any, arguments: list[Any], signature: Any, target: ir.Var) -> Any:
    builder.count("integer")
    return _bind_axes(builder, target, _extent)


def _bind_axes(builder: Any, target: ir.Var, axis: Any) -> Any:
    kind = builder.type_of(target)
    if not isinstance(kind, types.BaseTuple):
        return lambda group: axis(group.machine, 0)
    count = len(kind)
    return lambda group: tuple(axis(group.machine, number) for number in range(count))


def _position(machine: Any, axis: int) -> Any:
    key = ("grid", axis)
    found = machine.memo.get(key)
    if found is None:
        block = np.multiply(machine.block_index[axis], machine.block_extent[axis], dtype=np.int64)
        found = machine.memo[key] = np.add(block, machine.thread_index[axis], dtype=np.int64)
    return found


def _extent(machine: Any, axis: int) -> Any:
    return np.int64(machine.block_extent[axis]) * np.int64(machine.grid_extent[axis])
