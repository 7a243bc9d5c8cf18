"""The state that a chunk of blocks runs on: thread coordinates, spaces, loads and stores.

The machine knows memory and lanes; control flow is the scheduler's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wia_lab.errors import SimulationLimit
from wia_lab.simt import compiled
from wia_lab.simt.addressing import Place, locate
from wia_lab.simt.copyqueue import CopyQueue
from wia_lab.simt.events import Access, Chunk, Launch, Listener, Site
from wia_lab.simt.memory import POISON, SHARED_ALIGNMENT, Space
from wia_lab.simt.values import Choice, Record, Value, View

MAX_CHUNK_BYTES = 1 << 30  # shared and local memory of one chunk


class Machine:
    """One chunk of blocks, and the memory it sees."""

    fallback = 0  # byte offset that inactive lanes get: inside every space

    def __init__(
        self, launch: Launch, chunk: Chunk, listeners: Listener, shared_bytes: int
    ) -> None:
        self.launch, self.chunk, self.listeners = launch, chunk, listeners
        self.shared_bytes = shared_bytes
        self.lanes = chunk.lanes
        self.version = 0  # how often memory has changed
        self.watchers: list[Any] = []  # groups that spin, and what they watch
        self.spaces: dict[object, Space] = {}
        self.memo: dict[object, Value] = {}
        self.located: dict[tuple[int, bool, int], tuple[Any, ...]] = {}  # last at each site
        self.copies = CopyQueue(self)
        self.output: list[tuple[int, str]] = []  # what print said: (global lane, line)
        self._starts: dict[int, np.ndarray] = {}
        self._typed: dict[tuple[int, np.dtype], np.ndarray] = {}
        self._shared_top = 0
        lane = np.arange(self.lanes)
        self.thread = lane % chunk.stride
        self.block_in_chunk = lane // chunk.stride
        self._coordinates()

    def _coordinates(self) -> None:
        bx, by, bz = self.launch.block
        gx, gy, gz = self.launch.grid
        thread = np.minimum(self.thread, self.chunk.threads - 1)
        block = self.block_in_chunk + self.chunk.first_block
        self.thread_index = _split(thread, bx, by)
        self.block_index = _split(block, gx, gy)
        if self.chunk.blocks == 1:
            self.block_index = tuple(each[0] for each in self.block_index)
        self.block_extent = tuple(np.int32(each) for each in (bx, by, bz))
        self.grid_extent = tuple(np.int32(each) for each in (gx, gy, gz))
        self.thread_index = tuple(
            np.int32(0) if extent == 1 else each
            for each, extent in zip(self.thread_index, (bx, by, bz), strict=True)
        )
        self.block_index = tuple(
            np.int32(0) if extent == 1 else each
            for each, extent in zip(self.block_index, (gx, gy, gz), strict=True)
        )
        self.lane_in_warp = (self.thread % 32).astype(np.int32)

    # Spaces

    def starts(self, space: Space) -> np.ndarray | None:
        """First byte of each lane's instance of a shared or local space; None if there is one."""
        if space.kind in ("global", "const"):
            return None
        starts = self._starts.get(id(space))
        if starts is None:
            owner = self.block_in_chunk if space.kind == "shared" else np.arange(self.lanes)
            starts = self._starts[id(space)] = owner * space.stride
        return starts

    def typed(self, space: Space, dtype: np.dtype) -> np.ndarray:
        """All of a space's data as `dtype`."""
        key = (id(space), dtype)
        view = self._typed.get(key)
        if view is None:
            view = self._typed[key] = space.view(dtype)
        return view

    def declare(
        self,
        key: object,
        kind: str,
        name: str,
        dtype: np.dtype,
        shape: tuple[int, ...],
        line: int,
        granule: int | None = None,
    ) -> Space:
        """The shared or local space of one declaration, made at its first execution."""
        space = self.spaces.get(key)
        if space is not None:
            return space
        nbytes = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        alignment = SHARED_ALIGNMENT if kind == "shared" else 16
        stride = max(alignment, -(-nbytes // alignment) * alignment)
        instances = self.chunk.blocks if kind == "shared" else self.lanes
        self._check_size(kind, name, stride * instances)
        space = Space(
            kind=kind,
            name=name,
            dtype=dtype,
            shape=shape,
            strides=contiguous(shape, dtype.itemsize),
            origin=0,
            data=np.full(stride * instances, POISON, np.uint8),
            stride=stride,
            base=self._shared_top if kind == "shared" else 0,
            granule=granule or dtype.itemsize,
            line=line,
            number=len(self.spaces) + 1000,
        )
        if kind == "shared":
            self._shared_top += stride
        self.spaces[key] = space
        return space

    def _check_size(self, kind: str, name: str, nbytes: int) -> None:
        if nbytes > MAX_CHUNK_BYTES:
            raise SimulationLimit(
                f"{kind} array {name} takes {nbytes:,} bytes in the {self.lanes:,} threads that "
                f"run together, over the limit of {MAX_CHUNK_BYTES:,}: make it smaller, or launch "
                "fewer threads a block."
            )

    def dynamic_shared(self, dtype: np.dtype, name: str, line: int) -> View:
        """The block's dynamic shared memory as an array: all such arrays begin at its start."""
        count = self.shared_bytes // dtype.itemsize
        shape = (self.shared_bytes,)
        space = self.declare("dynamic", "shared", name, np.dtype(np.uint8), shape, line, 1)
        return View(space, dtype, 0, (count,), (dtype.itemsize,))

    def item(self, view: Value, at: Value, active: np.ndarray) -> Value:
        """Element `at` of the first axis, as iteration yields it."""
        if isinstance(view, Choice):
            return self.each_option(view, active, lambda v, m: self.item(v, at, m))
        if view.ndim > 1:
            offset = view.offset + at * view.strides[0]
            return View(view.space, view.dtype, offset, view.shape[1:], view.strides[1:])
        return self.load(view, (at,), active, self.running.segment.site)

    # Loads and stores

    def load(
        self, view: Value, indices: tuple[Value, ...], active: np.ndarray, site: Site
    ) -> Value:
        """`view[indices]` in the active lanes."""
        if isinstance(view, Choice):
            return self.each_option(view, active, lambda v, m: self.load(v, indices, m, site))
        place = locate(self, view, indices, active, site, is_store=False)
        if view.dtype.names or view.dtype.subdtype:
            return Record(view.space, view.dtype, place.offsets)
        return self.load_at(view.space, view.dtype, place, site)

    def load_at(self, space: Space, dtype: np.dtype, place: Place, site: Site) -> Value:
        """The elements at a place already located."""
        offsets = self.spread(place.offsets)
        access = Access("load", space, offsets, dtype.itemsize, place.active, site)
        self.listeners.on_access(access)
        self.note_read(access)
        return self.read(space, dtype, place.offsets)

    def read(self, space: Space, dtype: np.dtype, offsets: Value) -> Value:
        """Elements at byte offsets; no event."""
        size = dtype.itemsize
        if space.granule % size and np.any(offsets % size):
            cells = self.spread(offsets)[:, None] + np.arange(size)
            return space.data.take(cells, mode="clip").view(dtype)[:, 0]
        typed = self.typed(space, dtype)
        if isinstance(offsets, np.ndarray):
            unsigned = _UNSIGNED.get(size)
            if unsigned is None:
                return typed.take(offsets // size, mode="clip")
            out = np.empty(offsets.size, dtype)
            bits = self.typed(space, unsigned)
            compiled.gather(out.view(unsigned), bits, offsets, _SHIFTS[size], bits.size - 1)
            return out
        place = offsets // size
        return typed[place] if place < typed.size else dtype.type(0)

    def store(
        self, view: Value, indices: tuple[Value, ...], value: Value, active: np.ndarray, site: Site
    ) -> None:
        """`view[indices] = value` in the active lanes."""
        if isinstance(view, Choice):
            for number, option in enumerate(view.options):
                self.store(option, indices, value, active & (view.which == number), site)
            return
        place = locate(self, view, indices, active, site, is_store=True)
        self.store_at(view.space, view.dtype, place, value, site)

    def store_at(
        self, space: Space, dtype: np.dtype, place: Place, value: Value, site: Site
    ) -> None:
        """Write elements at a place already located."""
        active = place.active
        if not active.any():
            return
        whole = bool(active.all())
        offsets = self.spread(place.offsets)
        access = Access("store", space, offsets, dtype.itemsize, active, site, values=value)
        self.listeners.on_access(access)
        chosen = offsets if whole else offsets[active]
        values = value if whole or not isinstance(value, np.ndarray) else value[active]
        size = dtype.itemsize
        if space.granule % size and np.any(chosen % size):
            cells = chosen[:, None] + np.arange(size)
            written = np.broadcast_to(np.asarray(values, dtype), chosen.shape)
            space.data[cells] = np.ascontiguousarray(written).view(np.uint8).reshape(-1, size)
        else:
            shift = _SHIFTS.get(size)
            self.typed(space, dtype)[chosen >> shift if shift is not None else chosen // size] = (
                values
            )
        self.changed(space, offsets, active)

    def spread(self, offsets: Value) -> np.ndarray:
        """Offsets as one a lane."""
        if isinstance(offsets, np.ndarray) and offsets.shape == (self.lanes,):
            return offsets
        return np.full(self.lanes, offsets, np.int64)

    def each_option(
        self, choice: Choice, active: np.ndarray, act: Callable[[Value, np.ndarray], Value]
    ) -> Value:
        """Do a load for each option of a `Choice` in its own lanes, and join the results."""
        result: Value = None
        for number, option in enumerate(choice.options):
            lanes = active & (choice.which == number)
            if lanes.any():
                part = act(option, lanes)
                result = part if result is None else np.where(lanes, part, result)
        return result

    # Forward progress

    def changed(self, space: Space, offsets: np.ndarray, lanes: np.ndarray) -> None:
        """Memory has changed: groups that watch these cells may run again."""
        self.version += 1
        for watcher in self.watchers:
            watcher.notice(space, offsets, lanes)

    def note_read(self, access: Access) -> None:
        """Remember a read of a group in a loop that may spin."""
        group = self.running
        if group is not None and group.reads is not None:
            group.reads.append(access)

    running: Any = None  # the group that executes


_SHIFTS = {1: 0, 2: 1, 4: 2, 8: 3, 16: 4}
_UNSIGNED = {size: np.dtype(f"u{size}") for size in (1, 2, 4, 8)}


def contiguous(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """Strides in bytes of a C-ordered array."""
    strides, step = [], itemsize
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))


def _split(linear: np.ndarray, x: int, y: int) -> tuple[np.ndarray, ...]:
    rest = linear // x
    parts = (linear % x, rest % y, rest // y)
    return tuple(part.astype(np.int32) for part in parts)
