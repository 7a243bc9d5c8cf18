"""Atomic operations, with the values that the cells held before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from wia_lab.simt import compiled, stubs
from wia_lab.simt.addressing import locate
from wia_lab.simt.compiled_atomics import OPERATIONS
from wia_lab.simt.events import Access
from wia_lab.simt.instructions.arrays import indices_of
from wia_lab.simt.instructions.tables import CALLS
from wia_lab.simt.values import Choice

if TYPE_CHECKING:
    from numba.core import ir


def _bind(name: str) -> Any:
    def bind(builder: Any, arguments: list[Any], signature: Any, target: ir.Var) -> Any:
        array_type = builder.type_of(arguments[0])
        builder.stored.add(arguments[0].name)
        array, site = builder.read(arguments[0]), builder.site()
        rest = list(arguments[1:])
        if name == "compare_and_swap":
            indices: Any = lambda _: (np.int64(0),)  # noqa: E731
        else:
            indices = indices_of(builder, rest.pop(0))
        reads = [builder.read_as(each, array_type.dtype)[1] for each in rest]
        operation = OPERATIONS[name]
        builder.count("atomic")

        def run(group: Any) -> Any:
            values = [read(group) for read in reads]
            found = group.slots[array]
            where = indices(group)
            if isinstance(found, Choice):
                return group.machine.each_option(
                    found,
                    group.bits,
                    lambda view, lanes: execute(
                        group, operation, name, view, where, values, lanes, site
                    ),
                )
            return execute(group, operation, name, found, where, values, group.bits, site)

        return run

    return bind


def execute(
    group: Any,
    operation: int,
    name: str,
    view: Any,
    indices: tuple[Any, ...],
    values: list[Any],
    active: np.ndarray,
    site: Any,
) -> np.ndarray:
    """Do the operation lane after lane; return the old values, one a lane.

    Hardware leaves the order open; here it is the order of the lanes.
    """
    machine = group.machine
    place = locate(machine, view, indices, active, site, is_store=True)
    offsets = machine.spread(place.offsets)
    data = machine.typed(view.space, view.dtype)
    cells = offsets // view.dtype.itemsize
    operands = [np.broadcast_to(value, (machine.lanes,)) for value in values]
    operand, comparand = operands[-1], operands[0]
    old = np.zeros(machine.lanes, view.dtype)
    new = np.zeros(machine.lanes, view.dtype)
    changed = np.zeros(machine.lanes, bool)
    helper = compiled.atomic_float if view.dtype.kind == "f" else compiled.atomic_integer
    helper(
        data,
        cells,
        place.active,
        operand.astype(view.dtype),
        comparand.astype(view.dtype),
        operation,
        old,
        new,
        changed,
    )
    access = Access(
        "atomic",
        view.space,
        offsets,
        view.dtype.itemsize,
        place.active,
        site,
        operand,
        changed,
        name,
    )
    machine.listeners.on_access(access)
    machine.note_read(access)
    if changed.any():
        machine.changed(view.space, offsets, changed)
    return old


for _name, _stub in vars(stubs.atomic).items():
    if not _name.startswith("__"):
        CALLS[_stub] = _bind(_name)
