"""A listener: which cells of shared arrays each block fills, by which line, and which it misses."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from wia_lab.simt.events import Access, AsyncCopy, Chunk, Lanes, Listener, OutOfBounds, Site

if TYPE_CHECKING:
    from wia_lab.simt.memory import Space

NOBODY = 0  # no source has a line 0


@dataclass(eq=False)
class Fill:
    """One shared array in all blocks of a chunk; cells are flat, in C order, a row a block."""

    shape: tuple[int, ...]
    line: np.ndarray  # int32 (blocks, cells): the line that filled a cell first, or NOBODY
    thread: np.ndarray  # int32 (blocks, cells): the thread of the block that did
    missed: np.ndarray  # bool (blocks, cells): read before it was filled
    unread: np.ndarray  # int32 (blocks, cells): the line whose value nobody has read yet
    flying: np.ndarray  # bool (blocks, cells): a copy is on its way there
    stores: dict[int, np.ndarray] = field(default_factory=dict)  # line: stores of each block
    clashes: dict[int, np.ndarray] = field(default_factory=dict)  # of these: to another's cell
    threads: dict[int, np.ndarray] = field(default_factory=dict)  # line: (blocks, threads), bool
    lost: dict[int, int] = field(default_factory=dict)  # line: line whose unread value it replaced
    waiting: dict[int, int] = field(default_factory=dict)  # line that reads what is in flight: row

    @classmethod
    def of(cls, space: Space, blocks: int) -> Fill:
        """Nothing is filled yet."""
        cells = (blocks, int(np.prod(space.shape)))
        line, thread, unread = (np.zeros(cells, np.int32) for _ in range(3))
        missed, flying = (np.zeros(cells, bool) for _ in range(2))
        return cls(tuple(space.shape), line, thread, missed, unread, flying)

    def line_unread(self, block: int) -> tuple[int, int] | None:
        """A row of which nothing was read since it was filled, and the line that filled it."""
        if not self.shape:
            return None
        rows = self.unread[block].reshape(-1, self.shape[-1])
        untouched = (rows == rows[:, :1]).all(axis=1) & (rows[:, 0] != NOBODY)
        row = int(np.argmax(untouched))
        return (row, int(rows[row, 0])) if untouched[row] else None

    def row_waiting(self, block: int) -> int | None:
        """The row of an array of buffers whose content lies there, landed and unread."""
        if len(self.shape) != 2:
            return None
        ready = (self.unread[block] != NOBODY) & ~self.flying[block]
        rows = ready.reshape(self.shape).any(axis=1)
        return int(np.argmax(rows)) if rows.any() else None


@dataclass(frozen=True, eq=False)
class _Copy:
    """An asynchronous copy, and the buffer that it goes to: name and row of the array."""

    event: AsyncCopy
    fill: Fill
    buffer: tuple[str, int]


class FillRecorder(Listener):
    """Follows the shared arrays of a launch, and the indices that left an array.

    Attributes
    ----------
    fills : dict
        (name of the array, chunk's first block) to its `Fill`.
    farthest : dict
        (line, name of the array) to the greatest index that left it along each axis, and its shape.
    lowest : dict
        (line, name of the array) to the lowest index below 0.
    joined : dict
        Line of a copy to the line of one into another buffer that went into the same group, and the
        line that closed it.
    early : tuple of int or None
        Lines of the first store to global memory that a block makes while nothing is in flight and
        a whole row that a copy brought was not read yet; of that copy; and of the wait for it.
    """

    def __init__(self) -> None:
        self.fills: dict[tuple[str, int], Fill] = {}
        self.farthest: dict[tuple[int, str], tuple[tuple[int, ...], tuple[int, ...]]] = {}
        self.lowest: dict[tuple[int, str], int] = {}
        self.joined: dict[int, tuple[int, int]] = {}
        self.early: tuple[int, int, int] | None = None

    def on_chunk(self, chunk: Chunk) -> None:
        self.chunk = chunk
        lanes = np.arange(chunk.lanes)
        self.block, self.thread = lanes // chunk.stride, lanes % chunk.stride
        self.copies: dict[int, _Copy] = {}
        self.landed: dict[tuple[str, int], int] = {}  # buffer: line of the last wait for it

    def on_access(self, access: Access) -> None:
        space = access.space
        if space.kind == "global" and access.kind == "store" and self.landed and not self.early:
            self._look_for_early(access)
        if space.kind != "shared":
            return
        block, cell = self._cells(space, access.offsets, access.active)
        fill = self._fill(space)
        if access.kind != "store":
            self._read_in_flight(fill, block, cell, access.site.line)
            fill.missed[block, cell] |= fill.line[block, cell] == NOBODY
            fill.unread[block, cell] = NOBODY
        if access.kind != "load":
            self._stored(fill, block, cell, access.active, access.site.line)

    def on_async_copy(self, copy: AsyncCopy) -> None:
        space = copy.destination
        if space.kind != "shared":
            return
        fill, width = self._fill(space), max(1, copy.nbytes // space.dtype.itemsize)
        for part in range(width):
            offsets = copy.destination_offsets + part * space.dtype.itemsize
            block, cell = self._cells(space, offsets, copy.active)
            self._stored(fill, block, cell, copy.active, copy.site.line)
            fill.flying[block, cell] = True
        row = int(cell[0]) // space.shape[-1] if len(space.shape) == 2 else 0
        self.copies[copy.number] = _Copy(copy, fill, (space.name, row))

    def on_async_commit(self, site: Site, lanes: Lanes, copies: dict[int, Lanes]) -> None:  # noqa: ARG002
        group = [self.copies[number] for number in copies if number in self.copies]
        for one in group:
            for other in group:
                if one.buffer != other.buffer:
                    lines = one.event.site.line, other.event.site.line
                    self.joined.setdefault(lines[0], (lines[1], site.line))

    def on_async_wait(self, site: Site, lanes: Lanes, arrived: dict[int, Lanes]) -> None:  # noqa: ARG002
        for number, landed in arrived.items():
            if number in self.copies:
                copy = self.copies[number]
                offsets = copy.event.destination_offsets
                block, cell = self._cells(copy.event.destination, offsets, landed)
                copy.fill.flying[block, cell] = False
                self.landed[copy.buffer] = site.line

    def on_negative_index(self, space: Space, lanes: Lanes, indices: Lanes, site: Site) -> None:
        key = site.line, space.name
        lowest = int(np.broadcast_to(indices, lanes.shape)[lanes].min())
        self.lowest[key] = min(lowest, self.lowest.get(key, 0))

    def on_out_of_bounds(self, event: OutOfBounds) -> None:
        key = event.site.line, event.space.name
        index = tuple(int(each[event.lanes].max()) for each in event.indices)
        shape = tuple(
            int(each[event.lanes].max()) if isinstance(each, np.ndarray) else int(each)
            for each in event.shape
        )
        known = self.farthest.get(key)
        if known is not None:
            index = tuple(max(pair) for pair in zip(known[0], index, strict=True))
        self.farthest[key] = index, shape

    def of_block(self, name: str, block: int) -> tuple[Fill, int] | None:
        """The fill of an array that holds a block of the grid, and the block's row of it."""
        for (array, first), fill in self.fills.items():
            if array == name and first <= block < first + len(fill.line):
                return fill, block - first
        return None

    def _read_in_flight(self, fill: Fill, block: np.ndarray, cell: np.ndarray, line: int) -> None:
        """Remember where a block reads what is on its way while other content waits for it."""
        early = block[fill.flying[block, cell]]
        if early.size and line not in fill.waiting:
            row = fill.row_waiting(int(early[0]))
            if row is not None:
                fill.waiting[line] = row

    def _look_for_early(self, access: Access) -> None:
        """Remember what lies unread in a block that stores its results with nothing in flight."""
        block = int(self.block[int(np.argmax(access.active))])
        fills = {
            name: fill
            for (name, first), fill in self.fills.items()
            if first == self.chunk.first_block
        }
        if not access.active.any() or any(fill.flying[block].any() for fill in fills.values()):
            return
        for name, fill in fills.items():
            found = fill.line_unread(block)
            wait = None if found is None else self.landed.get((name, found[0]))
            if found is not None and wait is not None:
                self.early = access.site.line, found[1], wait

    def _fill(self, space: Space) -> Fill:
        key = space.name, self.chunk.first_block
        if key not in self.fills:
            self.fills[key] = Fill.of(space, self.chunk.blocks)
        return self.fills[key]

    def _cells(self, space: Space, offsets: Lanes, active: Lanes) -> tuple[np.ndarray, np.ndarray]:
        block, byte = np.divmod(offsets[active] - space.origin, space.stride)
        return block, byte // space.dtype.itemsize

    def _stored(
        self, fill: Fill, block: np.ndarray, cell: np.ndarray, active: Lanes, line: int
    ) -> None:
        before = fill.unread[block, cell]
        replaced = before[before != NOBODY]
        if replaced.size:
            fill.lost.setdefault(line, int(replaced[0]))
        fill.unread[block, cell] = line
        threads = self.thread[active]
        new = fill.line[block, cell] == NOBODY
        fill.line[block[new], cell[new]] = line
        fill.thread[block[new], cell[new]] = threads[new]
        if line not in fill.stores:
            fill.stores[line] = np.zeros(self.chunk.blocks, np.int64)
            fill.clashes[line] = np.zeros(self.chunk.blocks, np.int64)
            fill.threads[line] = np.zeros((self.chunk.blocks, self.chunk.stride), bool)
        others = fill.thread[block, cell] != threads
        fill.stores[line] += np.bincount(block, minlength=self.chunk.blocks)
        fill.clashes[line] += np.bincount(block[others], minlength=self.chunk.blocks)
        fill.threads[line][self.block[active], threads] = True
