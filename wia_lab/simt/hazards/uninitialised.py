"""Reads of shared and local memory that nobody has written, and of variables never set."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from wia_lab.simt import compiled
from wia_lab.simt.hazards.found import Findings, Hazard
from wia_lab.simt.hazards.shadow import cell_bytes

if TYPE_CHECKING:
    from wia_lab.simt.events import Access, Site
    from wia_lab.simt.hazards.order import Order
    from wia_lab.simt.memory import Space


class _Marks:
    """Which cells of a space hold something."""

    __slots__ = ("cell", "missing", "set")

    def __init__(self, space: Space) -> None:
        self.cell = cell_bytes(space)
        self.set = np.zeros(-(-space.data.nbytes // self.cell), np.uint8)
        self.missing = self.set.size


class Uninitialised:
    """Marks what is written, and looks at what is read."""

    def __init__(self, findings: Findings, order: Order) -> None:
        self.findings, self.order = findings, order
        self._marks: dict[Space, _Marks] = {}
        self._where = np.zeros(2, np.int64)

    def begin_chunk(self) -> None:
        """Shared and local memory is fresh."""
        self._marks.clear()

    def access(self, access: Access, active: np.ndarray) -> None:
        """A load or atomic needs its cells written; a store or atomic writes them."""
        space = access.space
        marks = self._marks.get(space)
        if marks is None:
            marks = self._marks[space] = _Marks(space)
        if marks.missing == 0:
            return
        if access.kind != "store":
            self._check(access, active, marks)
        if access.kind != "load":
            self.written(space, access.offsets, access.active, access.nbytes)

    def written(self, space: Space, offsets: np.ndarray, active: np.ndarray, nbytes: int) -> None:
        """Cells hold something from now on."""
        marks = self._marks.get(space)
        if marks is None:
            marks = self._marks[space] = _Marks(space)
        if marks.missing:
            marks.missing -= compiled.mark(offsets, active, nbytes, marks.cell, marks.set)

    def declared(self, space: Space, lanes: np.ndarray) -> None:
        """Lanes declare a local array anew: what it held is undefined from here on."""
        marks = self._marks.get(space)
        if marks is not None and space.kind == "local":
            cells = marks.set[: lanes.size * (space.stride // marks.cell)]
            cells.reshape(lanes.size, -1)[lanes] = 0
            marks.missing = int(marks.set.size - np.count_nonzero(marks.set))

    def _check(self, access: Access, active: np.ndarray, marks: _Marks) -> None:
        space, where = access.space, self._where
        count = compiled.unmarked(
            access.offsets, active, access.nbytes, marks.cell, marks.set, where
        )
        if not count:
            return
        lane, offset = int(where[0]), int(where[1]) * marks.cell
        thread = self.findings.thread(self.order.first + lane)
        verb = "reads" if access.kind == "load" else "updates"
        unwritten = (
            "no thread of the block has written" if space.kind == "shared" else "it has not written"
        )
        way_out = (
            f"{space.kind} memory starts undefined, so write every element before it is read, or "
            "leave out those that were not written"
        )
        self.findings.add(
            Hazard(
                "uninitialised-read",
                "error",
                access.site.line,
                None,
                f"{self.findings.at(access.site)}: {thread} {verb} {space.place(offset)}, which "
                f"{unwritten}: {way_out}",
                (thread,),
                space.name,
                space.index_of(offset),
                access.site.file,
                way_out=way_out,
            ),
            times=int(count),
        )

    def unset(self, site: Site, lanes: np.ndarray, variable: str) -> None:
        """Lanes read a variable that no statement they passed had set."""
        thread = self.findings.thread(self.order.first + int(np.argmax(lanes)))
        self.findings.add(
            Hazard(
                "uninitialised-read",
                "error",
                site.line,
                None,
                f"{self.findings.at(site)}: {thread} reads the variable {variable}, which no "
                f"statement that it passed had set: give {variable} a value before the branch or "
                "loop that sets it for some threads only",
                (thread,),
                variable,
                None,
                site.file,
            ),
            times=int(np.count_nonzero(lanes)),
        )
