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
    from wia_lab.simt.hazards.order import Order
    from wia_lab.simt.memory import Space

LOG_BYTES = 32 << 20  # a log larger than this is compared early

NO_VALUES = np.zeros((0, 0), np.uint8)
NOTHING_KNOWN = np.zeros(0, np.int32)


def cell_bytes(space: Space) -> int:
    """Bytes of a cell: divides every access, and every place where an array or instance begins."""
    size = gcd(space.granule, space.stride, space.origin)
    return gcd(size, *(abs(stride) for stride in space.strides))


class Event(NamedTuple):
    """One access, with the order it ran under."""

    mode: int
    offsets: np.ndarray
    active: np.ndarray
    nbytes: int
    values: np.ndarray  # uint8: a row a lane, one row for all, or none
    moment: int
    floor: int
    barriers: np.ndarray
    syncs: np.ndarray
    mates: np.ndarray
    known: np.ndarray


class Conflicts(NamedTuple):
    """What comparing found: rows as `compiled_hazards.ROW` says, and the events' lanes' knowledge."""

    rows: np.ndarray
    counts: np.ndarray
    known: np.ndarray


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
        self.folded = False  # the shadow holds accesses that no barrier of all blocks ordered yet

    def _forget(self) -> None:
        self.log.clear()
        self._bytes = 0
        self._reads = self._writes = self._atomics = 0
        self._overlap = False

    def add(self, event: Event) -> list[Conflicts]:
        """Log an access of shared memory; conflicts are found when the log has become too large."""
        self.log.append(event)
        mode = event.mode
        if mode == LOAD:
            self._reads += 1
        elif mode == ATOMIC:
            self._atomics += 1
        else:
            self._writes += 1
            if mode == STORE:
                self._overlap |= compiled.overlaps(
                    event.offsets, event.active, event.nbytes, self.cell, self._stamps, event.moment
                )
        self._bytes += event.offsets.nbytes + event.active.nbytes + event.values.nbytes
        if self._bytes > LOG_BYTES:
            found = self.compare_log()
            self.folded = True
            return found
        return []

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
        return any((event.active & others).any() for event in self.log)

    def compare_log(self) -> list[Conflicts]:
        """Compare all that was logged."""
        found = [conflicts for event in self.log if (conflicts := self.compare(event))]
        self._forget()
        return found

    def compare(self, event: Event) -> Conflicts | None:
        """Compare one event with the shadow and record it there."""
        counts = self._counts
        counts[:] = 0
        if event.known.size:
            cells = -(-event.nbytes // self.cell) + 1
            most = int(np.count_nonzero(event.active)) * cells * 9
            rows = np.zeros((max(64, min(most, 1 << 20)), ROW), np.int64)
        else:
            rows = self._rows
        order = self.order
        compiled.record(
            event.mode, event.offsets, event.active, event.nbytes, self.cell, event.values,
            order.first, order.stride, event.moment, event.floor, event.barriers, event.syncs,
            event.mates, self.writer, self.stamps,  self.memory, self.is_shared, event.known, self.seen, order.site_at, rows, counts,
            self._scratch,
        )
        found = min(int(counts[1]), rows.shape[0])
        return Conflicts(rows[:found].copy(), counts.copy(), event.known) if found else None
