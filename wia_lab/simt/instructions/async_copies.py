"""cp.async: copies from global to shared memory that a thread starts and waits for later."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numba.core import ir, types

from wia_lab.simt import stubs
from wia_lab.simt.addressing import locate
from wia_lab.simt.events import AsyncCopy, OutOfBounds
from wia_lab.simt.instructions.arrays import indices_of
from wia_lab.simt.instructions.tables import call

if TYPE_CHECKING:
    from wia_lab.simt.values import View


@call(stubs.cp_async)
def bind_cp_async(builder: Any, arguments: list[Any], signature: Any, target: ir.Var) -> Any:
    destination, source = builder.read(arguments[0]), builder.read(arguments[2])
    to, from_ = indices_of(builder, arguments[1]), indices_of(builder, arguments[3])
    count = _constant(builder, arguments[4]) if len(arguments) > 4 else 1
    site = builder.site()
    builder.count("async")

    def run(group: Any) -> None:
        slots = group.slots
        issue(group, slots[destination], to(group), slots[source], from_(group), count, site)

    return run


def _constant(builder: Any, argument: Any) -> int:
    if isinstance(argument, ir.Var):
        kind = builder.type_of(argument)
        if isinstance(kind, types.Literal):
            return int(kind.literal_value)
        return int(builder.definition(argument).value)
    return int(getattr(argument, "value", argument))


def issue(
    group: Any,
    destination: View,
    to: tuple[Any, ...],
    source: View,
    from_: tuple[Any, ...],
    count: int,
    site: Any,
) -> None:
    """Start a copy of `count` elements a lane; the last of them must be inside both arrays too."""
    machine = group.machine
    active = _inside(group, source, from_, count, group.bits, site, is_store=False)
    active = _inside(group, destination, to, count, active, site, is_store=True)
    if not active.any():
        return
    source_place = locate(machine, source, from_, active, site, is_store=False)
    place = locate(machine, destination, to, active, site, is_store=True)
    copy = AsyncCopy(
        number=machine.copies.issued,
        source=source.space,
        source_offsets=machine.spread(source_place.offsets),
        destination=destination.space,
        destination_offsets=machine.spread(place.offsets),
        nbytes=count * destination.dtype.itemsize,
        active=active,
        zero_filled=np.zeros(machine.lanes, bool),
        site=site,
    )
    machine.copies.issue(copy)


def _inside(
    group: Any,
    view: View,
    indices: tuple[Any, ...],
    count: int,
    active: np.ndarray,
    site: Any,
    *,
    is_store: bool,
) -> np.ndarray:
    """Lanes whose first and last element lie in the array; here a negative index does not wrap."""
    lanes = tuple(
        np.broadcast_to(np.asarray(index).astype(np.int64), active.shape) for index in indices
    )
    good = np.ones(active.shape, bool)
    for axis, (index, extent) in enumerate(zip(lanes, view.shape, strict=True)):
        last = count - 1 if axis == len(lanes) - 1 else 0
        good &= (index >= 0) & (index + last < extent)
    bad = active & ~good
    if bad.any():
        event = OutOfBounds(view.space, bad, lanes, view.shape, site, is_store)
        group.machine.listeners.on_out_of_bounds(event)
    return active & good


@call(stubs.copy_dram_to_sram_async)
def bind_tile_copy(builder: Any, arguments: list[Any], signature: Any, target: ir.Var) -> Any:
    destination, source = builder.read(arguments[0]), builder.read(arguments[1])
    _, start = builder.read_as(arguments[2], types.int64)
    count = _constant(builder, arguments[3])
    width = _constant(builder, arguments[4]) if len(arguments) > 4 else 1
    site = builder.site()
    builder.count("async")

    def run(group: Any) -> None:
        slots = group.slots
        _copy_tile(group, slots[destination], slots[source], start(group), count, width, site)

    return run


def _copy_tile(
    group: Any, destination: View, source: View, start: Any, count: int, width: int, site: Any
) -> None:
    """Thread t copies elements t·width …, then one block of threads further on.

    Elements outside the source arrive as zero. A lane copies its `width` elements one by one: a
    wider instruction needs an alignment that a halo does not have.
    """
    machine = group.machine
    threads = machine.chunk.threads
    extent = source.shape[0]
    for first in range(0, count, threads * width):
        for part in range(width):
            position = first + machine.thread * width + part
            active = group.bits & (position < count)
            if not active.any():
                continue
            element = np.asarray(start).astype(np.int64) + position
            outside = (element < 0) | (element >= extent)
            place = locate(machine, destination, (position,), active, site, is_store=True)
            safe = np.where(outside, 0, element)
            from_ = locate(machine, source, (safe,), active, site, is_store=False)
            copy = AsyncCopy(
                number=machine.copies.issued,
                source=source.space,
                source_offsets=machine.spread(from_.offsets),
                destination=destination.space,
                destination_offsets=machine.spread(place.offsets),
                nbytes=destination.dtype.itemsize,
                active=place.active,
                zero_filled=outside & active,
                site=site,
            )
            machine.copies.issue(copy)


@call(stubs.cp_async_commit_group)
def bind_commit(builder: Any, arguments: list[Any], signature: Any, target: ir.Var) -> Any:
    site = builder.site()
    return lambda group: group.machine.copies.commit(site, group.bits)


@call(stubs.cp_async_wait_group)
def bind_wait_group(builder: Any, arguments: list[Any], signature: Any, target: ir.Var) -> Any:
    site, pending = builder.site(), _constant(builder, arguments[0])
    return lambda group: group.machine.copies.wait(site, group.bits, pending)


@call(stubs.cp_async_wait_all, stubs.async_copy_wait_all)
def bind_wait_all(builder: Any, arguments: list[Any], signature: Any, target: ir.Var) -> Any:
    site = builder.site()
    return lambda group: group.machine.copies.wait(site, group.bits, None)
