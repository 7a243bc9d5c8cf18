"""Counters under Nsight Compute's definitions, of warp-level executions.

A *request* is one warp executing one memory instruction with at least one active lane. *Sectors*
are the 32-byte pieces that the L1 cache is asked for: an upper bound on what DRAM delivers, since
L1 and L2 may hold them. A *wavefront* is one pass through shared memory; *bank conflicts* are the
wavefronts beyond those that the width of the access needs. As in Nsight Compute, asynchronous
copies are among the global loads. What a compiler would merge (two loads of one cell, neighbouring
loads) is counted as the source has it.

Counts are kept in one table of int64, a row for each pair of source place and array, and summed
when the launch has ended.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from wia_lab.simt import compiled
from wia_lab.simt.counts import ArrayTraffic, Counts
from wia_lab.simt.events import Access, AsyncCopy, Chunk, Lanes, Launch, Listener, Site

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wia_lab.simt.memory import Space

LOADED, STORED, UPDATED = 1, 2, 4  # bits of a space's marks
WORD = 4  # bytes
WIDTHS = (16, 8, 4, 2, 1)  # bytes that one lane can access in one instruction


NAMES = tuple(field.name for field in fields(Counts))
COLUMN = {name: number for number, name in enumerate(NAMES)}
FIRST_COLUMN = {
    ("global", "load"): COLUMN["global_load_requests"],
    ("global", "store"): COLUMN["global_store_requests"],
    ("global", "atomic"): COLUMN["global_atomic_requests"],
    ("shared", "load"): COLUMN["shared_load_requests"],
    ("shared", "store"): COLUMN["shared_store_requests"],
    ("shared", "atomic"): COLUMN["shared_atomic_requests"],
    ("local", "load"): COLUMN["local_loads"],
    ("local", "store"): COLUMN["local_stores"],
    ("local", "atomic"): COLUMN["local_stores"],
    ("const", "load"): COLUMN["constant_loads"],
}
LOADS = slice(COLUMN["global_load_requests"], COLUMN["global_load_requests"] + 4)
COPIES = slice(COLUMN["async_copy_requests"], COLUMN["async_copy_requests"] + 4)
MARKS = {"load": LOADED, "store": STORED, "atomic": UPDATED}
ARITHMETIC = (
    "integer",
    "float16",
    "float32",
    "float64",
    "special",
    "conversion",
    "logic",
    "control",
)
"""Kinds of operation that are counted a lane; loads, stores and syncs count as instructions."""


class Counters(Listener):
    """Counts a launch. After `on_end`: `total()`, `by_line()` and `arrays()`."""

    def __init__(self) -> None:
        self._table = np.zeros((64, len(NAMES)), np.int64)
        self._rows: dict[tuple[int, int], int] = {}
        self._sites: list[Site] = []  # one a row
        self._spaces: dict[int, Space] = {}
        self._marks: dict[int, tuple[np.ndarray, int]] = {}
        self._segments: dict[int, list[Any]] = {}  # id → [segment, warps, lanes]
        self._mask: Lanes | None = None  # the last mask counted: segments often share one
        self._mask_counts = (0, 0)
        self.launch: Launch | None = None

    def on_launch(self, launch: Launch) -> None:
        """Remember what is counted."""
        self.launch = launch

    def on_chunk(self, chunk: Chunk) -> None:
        """Forget the last chunk's mask: it need not live on."""
        self._mask = None

    def on_segment(self, segment: Any, active: Lanes) -> None:
        """Count how often, and by how many lanes, a straight piece of code was executed."""
        warps, lanes = self._count(active)
        entry = self._segments.get(id(segment))
        if entry is None:
            entry = self._segments[id(segment)] = [segment, 0, 0]
        entry[1] += warps
        entry[2] += lanes

    def on_access(self, access: Access) -> None:
        """Count the sectors or wavefronts of one access."""
        space = access.space
        row = self._row(access.site, space)
        column = FIRST_COLUMN[space.kind, access.kind]
        if access.kind == "atomic":
            self._table[row, COLUMN["atomics"]] += self._count(access.active)[0]
        if space.kind == "global":
            self._sectors(row, column, access, MARKS[access.kind])
        elif space.kind == "shared" and access.kind == "atomic" and not is_increment(access):
            compiled.atomic_banks(
                self._table, row, column, access.offsets, access.nbytes, space.base, access.active
            )
        elif space.kind == "shared":
            self._banks(
                row,
                column,
                space,
                access.offsets,
                access.nbytes,
                access.active,
                shares=access.kind == "load",
            )
        else:
            self._table[row, column] += self._count(access.active)[0]

    def on_async_copy(self, copy: AsyncCopy) -> None:
        """Count both ends of a copy: sectors read, wavefronts written."""
        row = self._row(copy.site, copy.source)
        reading = np.logical_and(copy.active, np.logical_not(copy.zero_filled))
        loaded = Access("load", copy.source, copy.source_offsets, copy.nbytes, reading, copy.site)
        self._sectors(row, COLUMN["async_copy_requests"], loaded, LOADED)
        self._banks(
            row,
            COLUMN["async_copies"],
            copy.destination,
            copy.destination_offsets,
            copy.nbytes,
            copy.active,
        )

    def on_branch(self, site: Site, taken: Lanes, fallen: Lanes) -> None:
        """Count warps whose lanes went both ways."""
        self._add(site, "divergent_branches", compiled.split_warps(taken, fallen))

    def on_barrier(self, site: Site, lanes: Lanes) -> None:
        """Count warps at a block barrier."""
        self._add(site, "barriers", self._count(lanes)[0])

    def on_grid_barrier(self, site: Site, lanes: Lanes) -> None:
        """Count warps at a grid barrier."""
        self._add(site, "barriers", self._count(lanes)[0])

    def on_warp_sync(self, site: Site, lanes: Lanes, members: Lanes, name: str) -> None:
        """Count warps that executed a warp operation."""
        self._add(site, "warp_syncs", self._count(lanes)[0])

    def on_fence(self, site: Site, lanes: Lanes, scope: str) -> None:
        """Count warps that executed a fence."""
        self._add(site, "fences", self._count(lanes)[0])

    def total(self) -> Counts:
        """Counts of the whole launch."""
        rows = self._finished().sum(axis=0)
        for operations in self._operations().values():
            rows += operations
        return counts_of(rows)

    def by_line(self) -> dict[tuple[str, int], Counts]:
        """Counts of each source line that did anything, by file and line."""
        lines, rows = self._operations(), self._finished()
        for row, site in enumerate(self._sites):
            key = (site.file, site.line)
            lines[key] = lines.get(key, 0) + rows[row]
        return {key: counts_of(lines[key]) for key in sorted(lines)}

    def arrays(self) -> tuple[ArrayTraffic, ...]:
        """Traffic of each global array that was touched, in the order of the arguments."""
        return tuple(
            self._traffic(space)
            for number, space in sorted(self._spaces.items())
            if space.kind == "global"
        )

    def _finished(self) -> np.ndarray:
        """The rows in use, asynchronous copies counted among the global loads too."""
        table = self._table[: len(self._sites)].copy()
        table[:, LOADS] += table[:, COPIES]
        return table

    def _traffic(self, space: Space) -> ArrayTraffic:
        marks, shift = self._marks[space.number]
        rows = [row for (_, number), row in self._rows.items() if number == space.number]
        finished = self._finished()
        lines: dict[int, Any] = {}
        for row in rows:
            site = self._sites[row]
            if self.launch is not None and site.file == self.launch.file:
                lines[site.line] = lines.get(site.line, 0) + finished[row]
        return ArrayTraffic(
            space.name,
            int(np.prod(space.shape, dtype=np.int64)) * space.dtype.itemsize,
            *compiled.count_marks(marks, shift, space.base, LOADED),
            *compiled.count_marks(marks, shift, space.base, STORED),
            counts_of(finished[rows].sum(axis=0)),
            {line: counts_of(lines[line]) for line in sorted(lines)},
        )

    def _operations(self) -> dict[tuple[str, int], Any]:
        """Instructions and arithmetic of each line, as rows of the table."""
        lines: dict[tuple[str, int], Any] = {}
        for segment, warps, lanes in self._segments.values():
            for line, kinds in segment.operations.items():
                key = (segment.site.file, line)
                row = lines.setdefault(key, np.zeros(len(NAMES), np.int64))
                instructions = sum(kinds.values())
                row[COLUMN["warp_instructions"]] += instructions * warps
                row[COLUMN["thread_instructions"]] += instructions * lanes
                for kind in ARITHMETIC:
                    row[COLUMN[f"{kind}_operations"]] += kinds.get(kind, 0) * lanes
        return lines

    def _sectors(self, row: int, column: int, access: Access, mark: int) -> None:
        space = access.space
        marks, shift = self._marks_of(space)
        count = compiled.atomic_sectors if access.kind == "atomic" else compiled.sectors
        for offsets, width in pieces(access.offsets, access.nbytes, widest_global(space)):
            count(
                self._table,
                row,
                column,
                offsets,
                width,
                space.base,
                access.active,
                marks,
                shift,
                mark,
            )

    def _banks(
        self,
        row: int,
        column: int,
        space: Space,
        offsets: Lanes,
        nbytes: int,
        active: Lanes,
        *,
        shares: bool = False,
    ) -> None:
        for part, width in pieces(offsets, nbytes, WIDTHS[0]):
            compiled.banks(self._table, row, column, part, width, space.base, active, shares)

    def _count(self, active: Lanes) -> tuple[int, int]:
        """Warps with an active lane, and active lanes."""
        if active is not self._mask:
            self._mask, self._mask_counts = active, compiled.active_warps(active)
        return self._mask_counts

    def _add(self, site: Site, name: str, amount: int) -> None:
        self._table[self._row(site, None), COLUMN[name]] += amount

    def _row(self, site: Site, space: Space | None) -> int:
        key = (site.number, -1 if space is None else space.number)
        row = self._rows.get(key)
        if row is None:
            row = self._rows[key] = len(self._sites)
            self._sites.append(site)
            if space is not None:
                self._spaces[space.number] = space
            if row == len(self._table):
                self._table = np.concatenate([self._table, np.zeros_like(self._table)])
        return row

    def _marks_of(self, space: Space) -> tuple[np.ndarray, int]:
        found = self._marks.get(space.number)
        if found is None:
            shift = (space.granule & -space.granule).bit_length() - 1
            marks = np.zeros((space.data.nbytes >> shift) + 1, np.uint8)
            found = self._marks[space.number] = (marks, shift)
        return found


def is_increment(access: Access) -> bool:
    """Whether an atomic adds 1 to 32-bit integers in all lanes.

    In shared memory that is an instruction of its own, which serves lanes with one cell together.
    """
    added = access.values
    return (
        access.operation == "add"
        and access.space.dtype.kind in "iu"
        and access.nbytes == WORD
        and isinstance(added, np.ndarray)
        and added.strides == (0,)  # uniform
        and bool(added[0] == 1)
    )


def widest_global(space: Space) -> int:
    """Bytes that one lane can load from a global array in one instruction.

    Numba promises the compiler no more than the alignment of the element's parts: a complex number
    is loaded part by part, a field of a packed record byte by byte. Shared arrays need no such
    rule: the compiler sees their alignment.
    """
    if space.dtype.kind == "c":
        return space.dtype.itemsize // 2
    if space.dtype.names and not space.dtype.isalignedstruct:
        return 1
    return WIDTHS[0]


def pieces(offsets: Lanes, nbytes: int, widest: int) -> Iterable[tuple[Lanes, int]]:
    """The instructions that an access of `nbytes` a lane needs, at most `widest` bytes each."""
    if nbytes <= widest and nbytes in WIDTHS:
        return ((offsets, nbytes),)
    width = next(width for width in WIDTHS if width <= widest and nbytes % width == 0)
    return ((offsets + part, width) for part in range(0, nbytes, width))


def counts_of(row: Iterable[int]) -> Counts:
    """Counts from one row of the table."""
    return Counts(*map(int, row))
