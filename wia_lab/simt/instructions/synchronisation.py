"""Barriers, fences and the grid's barrier."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wia_lab.simt import stubs
from wia_lab.simt.instructions.tables import CALLS, call
from wia_lab.simt.program import Barrier

if TYPE_CHECKING:
    from numba.core import ir


@call(stubs.syncthreads)
def bind_syncthreads(builder: Any, arguments: list[Any], signature: Any, target: ir.Var) -> None:
    builder.count("sync")
    builder.end(Barrier("block", builder.site()))


def _bind_vote(vote: str) -> Any:
    def bind(builder: Any, arguments: list[Any], signature: Any, target: ir.Var) -> None:
        slot, predicate = builder.read_as(arguments[0], signature.args[0])
        builder.count("sync")
        builder.end(
            Barrier("block", builder.site(), builder.slot(target), vote, predicate, (slot,))
        )

    return bind


CALLS[stubs.syncthreads_count] = _bind_vote("count")
CALLS[stubs.syncthreads_and] = _bind_vote("and")
CALLS[stubs.syncthreads_or] = _bind_vote("or")


def _bind_fence(scope: str) -> Any:
    def bind(builder: Any, arguments: list[Any], signature: Any, target: ir.Var) -> Any:
        builder.program.has_fences = True
        builder.count("sync")
        site = builder.site()
        return lambda group: group.machine.listeners.on_fence(site, group.bits, scope)

    return bind


CALLS[stubs.threadfence_block] = _bind_fence("block")
CALLS[stubs.threadfence] = _bind_fence("device")
CALLS[stubs.threadfence_system] = _bind_fence("system")


@call(stubs.cg.this_grid)
def bind_this_grid(builder: Any, arguments: list[Any], signature: Any, target: ir.Var) -> Any:
    return lambda _: stubs.GridGroup


def bind_grid_sync(builder: Any, target: ir.Var) -> None:
    """`cuda.cg.this_grid().sync()`: every thread of the grid; returns 0."""
    builder.program.has_grid_barrier = True
    builder.count("sync")
    builder.program.initial[builder.slot(target)] = 0
    builder.end(Barrier("grid", builder.site()))


@call(stubs.nanosleep)
def bind_nanosleep(builder: Any, arguments: list[Any], signature: Any, target: ir.Var) -> Any:
    """Wait a while: no simulated memory depends on it."""
    builder.count("sync")
    return lambda _: None
