"""Operations of a warp: shuffles, votes, matches, syncwarp, and masks of lanes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.core import ir, types

from wia_lab.simt import stubs
from wia_lab.simt.barriers import FULL_WARP
from wia_lab.simt.instructions.tables import CALLS, call
from wia_lab.simt.program import WarpOperation

WARP = 32
Rows = np.ndarray  # one row a warp, one column a lane


def _bind(name: str, compute: Any) -> Any:
    def bind(builder: Any, arguments: list[Any], signature: Any, target: ir.Var) -> None:
        if not arguments:
            arguments = [FULL_WARP]
        pairs = []
        for number, argument in enumerate(arguments):
            kind = signature.args[number] if number < len(signature.args) else types.int64
            pairs.append(builder.read_as(argument, kind))
        slots = tuple(slot for slot, _ in pairs)
        reads = tuple(read for _, read in pairs)
        builder.count("sync" if name == "syncwarp" else "logic")
        end = WarpOperation(name, builder.site(), builder.slot(target), reads, slots, compute)
        builder.end(end)

    return bind


def _rows(value: Any, lanes: np.ndarray) -> Rows:
    """A value as one row a warp."""
    return np.broadcast_to(value, lanes.shape).reshape(-1, WARP)


def _shuffle(source: Any) -> Any:
    """A shuffle; `source(lane, operand)` is the lane it reads, itself where there is none."""

    def compute(machine: Any, values: tuple[Any, ...], lanes: np.ndarray, members: Any) -> Any:
        _, value, operand = values
        lane = np.arange(WARP)
        wanted = source(lane, _rows(operand, lanes).astype(np.int64))
        wanted = np.where((wanted < 0) | (wanted >= WARP), lane, wanted)
        return np.take_along_axis(_rows(value, lanes), wanted, axis=1).reshape(-1)

    return compute


def _vote(decide: Any) -> Any:
    def compute(machine: Any, values: tuple[Any, ...], lanes: np.ndarray, members: Any) -> Any:
        true = lanes & (np.broadcast_to(values[1], lanes.shape) != 0)
        inside = _members(lanes, members)
        return decide(true.reshape(-1, WARP), inside)

    return compute


def _members(lanes: np.ndarray, members: np.ndarray) -> np.ndarray:
    """For each lane, which lanes of its warp take part with it: bool, (warps, 32, 32)."""
    bits = (members.reshape(-1, WARP, 1) >> np.arange(WARP, dtype=np.uint32)) & 1
    return (bits != 0) & lanes.reshape(-1, 1, WARP)


def _ballot(true: Rows, inside: np.ndarray) -> np.ndarray:
    bits = np.where(inside & true[:, None, :], np.uint32(1) << np.arange(WARP, dtype=np.uint32), 0)
    return bits.sum(axis=2, dtype=np.uint32).reshape(-1)


def _all(true: Rows, inside: np.ndarray) -> np.ndarray:
    return (~inside | true[:, None, :]).all(axis=2).reshape(-1)


def _any(true: Rows, inside: np.ndarray) -> np.ndarray:
    return (inside & true[:, None, :]).any(axis=2).reshape(-1)


def _equal(true: Rows, inside: np.ndarray) -> np.ndarray:
    return _all(true, inside) | ~_any(true, inside)


def _same(value: Any, lanes: np.ndarray, members: np.ndarray) -> np.ndarray:
    """For each lane, which members hold the same value, bit for bit."""
    rows = np.ascontiguousarray(_rows(value, lanes))
    bits = rows.view(f"u{rows.itemsize}")
    return (bits[:, :, None] == bits[:, None, :]) & _members(lanes, members)


def _pack(same: np.ndarray) -> np.ndarray:
    bits = np.where(same, np.uint32(1) << np.arange(WARP, dtype=np.uint32), 0)
    return bits.sum(axis=2, dtype=np.uint32).reshape(-1)


def _match_any(machine: Any, values: tuple[Any, ...], lanes: np.ndarray, members: Any) -> Any:
    return _pack(_same(values[1], lanes, members)).astype(np.int32)


def _match_all(machine: Any, values: tuple[Any, ...], lanes: np.ndarray, members: Any) -> Any:
    inside = _members(lanes, members)
    every = (_same(values[1], lanes, members) == inside).all(axis=2).reshape(-1)
    mask = np.where(every, _pack(inside), 0).astype(np.uint32).astype(np.int32)
    return (mask, every)


def _with_type(compute: Any, dtype: Any) -> Any:
    return lambda *event: compute(*event).astype(dtype)


CALLS[stubs.shfl_sync] = _bind("shfl_sync", _shuffle(lambda lane, source: source % WARP))
CALLS[stubs.shfl_up_sync] = _bind("shfl_up_sync", _shuffle(lambda lane, delta: lane - delta))
CALLS[stubs.shfl_down_sync] = _bind("shfl_down_sync", _shuffle(lambda lane, delta: lane + delta))
CALLS[stubs.shfl_xor_sync] = _bind("shfl_xor_sync", _shuffle(lambda lane, mask: lane ^ mask))
CALLS[stubs.all_sync] = _bind("all_sync", _vote(_all))
CALLS[stubs.any_sync] = _bind("any_sync", _vote(_any))
CALLS[stubs.eq_sync] = _bind("eq_sync", _vote(_equal))
CALLS[stubs.ballot_sync] = _bind("ballot_sync", _with_type(_vote(_ballot), np.uint32))
CALLS[stubs.match_any_sync] = _bind("match_any_sync", _match_any)
CALLS[stubs.match_all_sync] = _bind("match_all_sync", _match_all)
CALLS[stubs.syncwarp] = _bind("syncwarp", lambda *event: None)


@call(stubs.activemask)
def bind_activemask(builder: Any, arguments: list[Any], signature: Any, target: ir.Var) -> Any:
    """The lanes of the warp that execute this together."""

    def compute(group: Any) -> np.ndarray:
        rows = group.bits.reshape(-1, WARP)
        weights = np.uint32(1) << np.arange(WARP, dtype=np.uint32)
        return np.repeat(np.where(rows, weights, 0).sum(axis=1, dtype=np.uint32), WARP)

    return compute


@call(stubs.lanemask_lt)
def bind_lanemask(builder: Any, arguments: list[Any], signature: Any, target: ir.Var) -> Any:
    """The lanes below this one."""

    def compute(group: Any) -> np.ndarray:
        lane = group.machine.lane_in_warp.astype(np.uint32)
        return (np.uint32(1) << lane) - np.uint32(1)

    return compute
