"""From an array and its indices to bytes, for all lanes at once.

Indices may be uniform or one a lane. Lanes whose index leaves the array are reported and taken out;
negative indices of a signed type wrap once by the extent, as in Numba, and are reported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from wia_lab.simt import compiled
from wia_lab.simt.compiled_address import NEGATIVE, OUT_OF_BOUNDS
from wia_lab.simt.events import OutOfBounds, Site

if TYPE_CHECKING:
    from wia_lab.simt.machine import Machine
    from wia_lab.simt.values import Value, View

_INDEX_DTYPES = {np.dtype(name) for name in ("int32", "int64", "uint32", "uint64")}


class Place(NamedTuple):
    """Where lanes touch a space: bytes of `space.data`, uniform or one a lane."""

    offsets: Value  # int, or int64 one a lane
    active: np.ndarray  # bool


def locate(
    machine: Machine,
    view: View,
    indices: tuple[Value, ...],
    active: np.ndarray,
    site: Site,
    *,
    is_store: bool,
) -> Place:
    """Offsets of `view[indices]` in the active lanes; lanes out of bounds leave `active`."""
    start, constant = machine.starts(view.space), 0
    if isinstance(view.offset, np.ndarray):
        start = view.offset if start is None else start + view.offset
    else:
        constant = int(view.offset)
    bad = wrapped = False
    for axis, (index, extent, stride) in enumerate(
        zip(indices, view.shape, view.strides, strict=True)
    ):
        if isinstance(extent, np.ndarray) or isinstance(stride, np.ndarray):
            start, flags = _add_ragged(start, index, extent, stride, active)
        elif isinstance(index, np.ndarray):
            key = (site.number, is_store, axis)
            start, flags = _add_vector(machine, key, start, index, extent, stride, active)
        else:
            position = int(index)
            flags = NEGATIVE if position < 0 else 0
            position += extent if position < 0 else 0
            flags |= 0 if 0 <= position < extent else OUT_OF_BOUNDS
            constant += position * int(stride)
        bad |= bool(flags & OUT_OF_BOUNDS)
        wrapped |= bool(flags & NEGATIVE)
    offsets: Value = constant if start is None else start + constant if constant else start
    if wrapped:
        _report_negative(machine, view, indices, active, site)
    if bad:
        return _report_outside(machine, view, indices, offsets, active, site, is_store)
    return Place(offsets, active)


_ZERO = np.zeros(1, np.int64)


def _add_vector(
    machine: Machine,
    key: tuple[int, bool, int],
    start: np.ndarray | None,
    index: np.ndarray,
    extent: int,
    stride: int,
    active: np.ndarray,
) -> tuple[np.ndarray, int]:
    """Add one dimension; the same arrays as last time at this site give the same result."""
    last = machine.located.get(key)
    if (
        last is not None
        and last[0] is index
        and last[1] is start
        and last[2] is active
        and last[3] == (extent, stride)
    ):
        return last[4]
    kept = index
    if index.dtype not in _INDEX_DTYPES:
        index = index.astype(np.int64)
    out = np.empty(active.size, np.int64)
    flags = compiled.locate(
        out, _ZERO if start is None else start, index, extent, stride, active, machine.fallback
    )
    machine.located[key] = (kept, start, active, (extent, stride), (out, flags))
    return out, flags


def _add_ragged(
    start: np.ndarray | None, index: Value, extent: Value, stride: Value, active: np.ndarray
) -> tuple[np.ndarray, int]:
    """Add a dimension whose extent or stride differs a lane, as a slice's does."""
    position = _lanes(_plain(index), active.size)
    below = position < 0
    position = np.where(below, position + extent, position)
    outside = ((position < 0) | (position >= extent)) & active
    flags = OUT_OF_BOUNDS * bool(outside.any()) | NEGATIVE * bool((below & active).any())
    offsets = (0 if start is None else start) + position * stride
    return np.where(active, offsets, 0), flags


def _plain(index: Value) -> Value:
    """The index as int64; one of uint64 beyond 2**63 is out of bounds whatever it becomes."""
    if isinstance(index, np.ndarray):
        return index.astype(np.int64, copy=False)
    return int(index)


def _lanes(value: Value, lanes: int) -> np.ndarray:
    return np.broadcast_to(np.asarray(value, np.int64), (lanes,))


def _report_negative(
    machine: Machine, view: View, indices: tuple[Value, ...], active: np.ndarray, site: Site
) -> None:
    for index, extent in zip(indices, view.shape, strict=True):
        lanes = _lanes(_plain(index), active.size)
        inside = active & (lanes < 0) & (lanes >= -np.asarray(extent))
        if inside.any():
            machine.listeners.on_negative_index(view.space, inside, lanes, site)


def _report_outside(
    machine: Machine,
    view: View,
    indices: tuple[Value, ...],
    offsets: Value,
    active: np.ndarray,
    site: Site,
    is_store: bool,
) -> Place:
    lanes = tuple(_lanes(_plain(index), active.size) for index in indices)
    inside = np.ones(active.size, bool)
    for index, extent in zip(lanes, view.shape, strict=True):
        wrapped = np.where(index < 0, index + extent, index)
        inside &= (wrapped >= 0) & (wrapped < extent)
    outside = active & ~inside
    machine.listeners.on_out_of_bounds(
        OutOfBounds(view.space, outside, lanes, view.shape, site, is_store)
    )
    safe = np.where(inside & active, offsets, machine.fallback)
    return Place(safe, active & inside)
