"""The shadow of one space, and the accesses that were not compared with it yet.

Memory that only a block sees is compared lazily: a barrier of all blocks orders all that came
before, so what was logged since the last one needs a look only if it held a write and something
else. That is rare in correct kernels: a tile is filled, a barrier, then it is read. Global memory
is compared at once, as nothing orders blocks for the whole launch.
"""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from wia_lab.simt import compiled
from wia_lab.simt.compiled_hazards import ATOMIC, CONFLICTS, LOAD, ROW, STORE

if TYPE_CHECKING:
    from wia_lab.simt.events import Access
    from wia_lab.simt.hazards.order import Order, When
    from wia_lab.simt.memory import Space

LOG_BYTES = 32 << 20  # what a log may hold before it is compared early

NO_VALUES = np.zeros((0, 0), np.uint8)


def cell_bytes(space: Space) -> int:
    """Bytes of a cell: the largest power of two that divides every access and every start."""
    size = gcd(space.granule, space.stride, space.origin, *map(abs, space.strides))
    return size & -size


class Event(NamedTuple):
    """One access, with the order it ran under."""

    mode: int
    access: Access
    moment: int
    when: When


class Conflicts(NamedTuple):
    """What comparing an event found: rows as `compiled_hazards.ROW` says."""

    rows: np.ndarray
    known: np.ndarray  # as in `When`


class Shadow:
    """Stamps of all cells of one space."""

    def __init__(self, space: Space, order: Order, sites: int) -> None:
        self.space, self.order = space, order
        self.is_shared = space.kind == "shared"
        self.cell = cell_bytes(space)
        cells = -(-space.data.nbytes // self.cell)
        self.writer = np.zeros((cells, 2), np.int32)
        self.stamps = np.zeros((8, cells, 2), np.int32)  # pages stay unmapped until touched
        self.seen = np.zeros((CONFLICTS, sites, sites), np.int64)
        self.memory = np.zeros(space.data.nbytes, np.uint8) if self.is_shared else space.data
        self._stamps = np.zeros(cells if self.is_shared else 0, np.int32)
        self._rows = np.zeros((64, ROW), np.int64)
        self._counts = np.zeros(2, np.int64)
        self._scratch = np.zeros((2, 5), np.int32)
        self.log: list[Event] = []
        self._forget()
        self._has_reads = self._has_atomics = False
        self.floor = 0  # older accesses were another chunk's, to other memory
        self.folded = False  # the shadow holds accesses that no barrier of all blocks ordered yet

    def _forget(self) -> None:
        self.log.clear()
        self._reads = self._writes = self._atomics = 0
        self._overlap = False

    def begin_chunk(self, space: Space) -> None:
        """The next chunk's memory of the same array."""
        self.space = space
        self.floor = self.order.chunk_floor
        self.folded = False
        self._longest = max(16, LOG_BYTES // (9 * self.order.blocks * self.order.stride))

    def add(self, event: Event) -> list[Conflicts]:
        """Log an access of shared memory; conflicts are found when the log has become too long."""
        self.log.append(event)
        mode = event.mode
        if mode == LOAD:
            self._reads += 1
        elif mode == ATOMIC:
            self._atomics += 1
        else:
            self._writes += 1
            if mode == STORE:
                access = event.access
                self._overlap |= compiled.overlaps(
                    access.offsets,
                    access.active,
                    access.nbytes,
                    self.cell,
                    self._stamps,
                    event.moment,
                )
        if len(self.log) < self._longest:
            return []
        self.folded = True
        return self.compare_log()

    def passed(self, blocks: np.ndarray) -> list[Conflicts] | None:
        """A barrier of `blocks`: compare and forget if it orders all that the log holds.

        Returns None, and keeps the log, if some other block has accesses in it.
        """
        if not blocks.all() and self._others_in_log(blocks):
            return None
        kinds = bool(self._reads) + bool(self._writes) + bool(self._atomics)
        harmless = kinds == 1 and self._writes <= 1 and not (self._overlap or self.folded)
        found = [] if harmless else self.compare_log()
        self._forget()
        if blocks.all():
            self.folded = False
        return found

    def _others_in_log(self, blocks: np.ndarray) -> bool:
        order = self.order
        others = np.repeat(~blocks, order.stride)
        return any((event.access.active & others).any() for event in self.log)

    def compare_log(self) -> list[Conflicts]:
        """Compare all that was logged."""
        found = [conflicts for event in self.log if (conflicts := self.compare(event))]
        self._forget()
        return found

    def compare(self, event: Event) -> Conflicts | None:
        """Compare one event with the shadow and record it there."""
        access, when, order = event.access, event.when, self.order
        counts = self._counts
        counts[:] = 0
        rows = self._rows
        if when.known.size and when.known.any():
            cells = -(-access.nbytes // self.cell) + 1
            most = int(np.count_nonzero(access.active)) * cells * 9
            rows = np.zeros((max(64, min(most, 1 << 20)), ROW), np.int64)
        compiled.record(
            event.mode,
            access.offsets,
            access.active,
            access.nbytes,
            self.cell,
            value_bytes(access) if event.mode == STORE else NO_VALUES,
            order.first,
            order.stride,
            event.moment,
            max(when.floor, self.floor),
            when.barriers,
            when.syncs,
            when.mates,
            self.writer,
            self.stamps,
            self._has_reads,
            self._has_atomics,
            self.memory,
            self.is_shared,
            when.known,
            self.seen,
            order.site_at,
            rows,
            counts,
            self._scratch,
        )
        self._has_reads |= event.mode == LOAD
        self._has_atomics |= event.mode == ATOMIC
        found = min(int(counts[1]), rows.shape[0])
        return Conflicts(rows[:found].copy(), when.known) if found else None


def value_bytes(access: Access) -> np.ndarray:
    """What a store writes, as bytes: a row a lane, or one row for all; none where unknown."""
    if access.values is None:
        return NO_VALUES
    values = np.asarray(access.values)
    if values.dtype.itemsize != access.nbytes:
        if values.dtype.kind not in "iuf" or access.nbytes > 8:
            return NO_VALUES
        values = values.astype(f"{values.dtype.kind}{access.nbytes}")
    rows = 1 if values.size == 1 else access.offsets.size
    return np.ascontiguousarray(values).view(np.uint8).reshape(rows, access.nbytes)
