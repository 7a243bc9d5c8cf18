"""What one block does between two barriers: the base of the tile stepper."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from wia_lab.viz.access import hear
from wia_lab.viz.picture import Picture, Sentence
from wia_lab.viz.svg import Canvas
from wia_lab.viz.tiles import BlockTouches
from wia_lab.wording import counted

if TYPE_CHECKING:
    from wia_lab.simt.events import Access, AsyncCopy, Site
    from wia_lab.simt.report import Report

MOST_PHASES = 400


@dataclass
class Phase:
    """All executions of one block between two barriers.

    `reads` and `writes` count by array and element; `shared` counts (stores, loads) by array.
    `barrier` is the line of the barrier that ends it, None for the last.
    """

    barrier: int | None = None
    reads: dict[str, np.ndarray] = field(default_factory=dict)
    writes: dict[str, np.ndarray] = field(default_factory=dict)
    shared: dict[str, list[int]] = field(default_factory=dict)


class _Phases(BlockTouches):
    """Cuts what a block touches at its barriers."""

    def __init__(self, block: int) -> None:
        super().__init__(block)
        self.phases: list[Phase] = []
        self._shared: dict[str, list[int]] = {}

    def on_access(self, access: Access) -> None:
        super().on_access(access)
        if access.space.kind == "shared":
            self._note(access.space.name, int(access.kind == "load"), access.active)

    def on_async_copy(self, copy: AsyncCopy) -> None:
        super().on_async_copy(copy)
        self._note(copy.destination.name, 0, copy.active)

    def on_barrier(self, site: Site, lanes: np.ndarray) -> None:
        if lanes[self.lanes].any() and len(self.phases) < MOST_PHASES:
            self.cut(site.line)

    def cut(self, line: int | None) -> None:
        """A phase ends."""
        self.phases.append(Phase(line, self.reads, self.writes, self._shared))
        self.reads, self.writes, self._shared = {}, {}, {}

    def _note(self, name: str, place: int, active: np.ndarray) -> None:
        count = int(active[self.lanes].sum())
        if count:
            self._shared.setdefault(name, [0, 0])[place] += count


@dataclass(frozen=True)
class PhaseMap(Picture):
    """One phase of a block, over the arrays, with what came before."""

    block: int
    number: int
    phases: tuple[Phase, ...]

    @property
    def phase(self) -> Phase:
        """The one shown."""
        return self.phases[self.number]

    def headline(self) -> str:
        """Which phase it is and what ends it."""
        end = f"up to the barrier on line {self.phase.barrier}" if self.phase.barrier else "the end"
        return f"block {self.block}, step {self.number + 1} of {len(self.phases)}: {end}"

    def told(self) -> list[str]:
        """What is read, written and shared in it."""
        rows = []
        for verb, counts in (("reads", self.phase.reads), ("writes", self.phase.writes)):
            for name, each in counts.items():
                cells = int((each > 0).sum())
                if cells:
                    often = counted(int(each.sum()), "time")
                    rows.append(f"{verb} {counted(cells, 'element')} of {name}, {often}")
        for name, (stores, loads) in self.phase.shared.items():
            rows.append(
                f"{name} in shared memory: {counted(stores, 'element')} put in, {loads:,} read"
            )
        return rows or ["touches no memory"]

    def __str__(self) -> str:
        return "\n".join([self.headline(), *self.told()])

    def drawing(self) -> str:
        """The arrays side by side; now filled, before grey; below, what is shared."""
        names = list(dict.fromkeys(n for p in self.phases for n in (*p.reads, *p.writes)))
        shapes = {n: c.shape for p in self.phases for n, c in (*p.reads.items(), *p.writes.items())}
        canvas = Canvas(1000, 420 + 24 * len(self.told()))
        canvas.text(20, 24, self.headline(), size=18, bold=True)
        room = 960 / max(len(names), 1)
        for place, name in enumerate(names):
            rows, columns = (
                np.atleast_2d(np.zeros(shapes[name])).reshape(-1, shapes[name][-1]).shape
            )
            side = min((room - 30) / columns, 290 / rows)
            x, y = 20 + place * room, 70.0
            canvas.text(x, y - 10, f"{name}, {rows} × {columns}", size=16)
            canvas.rect(x, y, columns * side, rows * side, "s")
            for number, phase in enumerate(self.phases[: self.number + 1]):
                for counts, kind in ((phase.reads, "a"), (phase.writes, "b")):
                    if name in counts:
                        plane = counts[name].reshape(rows, columns) > 0
                        shown = kind if number == self.number else "f"
                        for box in _boxes(plane):
                            canvas.rect(
                                x + box[0] * side, y + box[1] * side, box[2] * side, side, shown
                            )
        for place, words in enumerate(self.told()):
            canvas.text(20, 396 + 24 * place, words, size=17)
        words = "blue, darker: read in this step; orange, lighter: written in it; grey: before"
        canvas.text(20, 400 + 24 * len(self.told()), words, size=14)
        return canvas.render(self.headline())


def _boxes(plane: np.ndarray) -> list[tuple[int, int, int]]:
    """(column, row, width) of the runs of true cells, row by row."""
    found = []
    for row, cells in enumerate(plane):
        edges = np.flatnonzero(np.diff(np.concatenate(([False], cells, [False])).astype(np.int8)))
        found += [(int(a), row, int(b - a)) for a, b in edges.reshape(-1, 2)]
    return found


def phases(report: Report, *, block: int = 0) -> tuple[Phase, ...]:
    """What one block does between its barriers, in order; the first 400 of them."""
    listener = _Phases(block)
    hear(report, listener)
    listener.cut(None)
    return tuple(listener.phases)


def phase_map(found: tuple[Phase, ...], number: int, *, block: int = 0) -> PhaseMap | Sentence:
    """Draw step `number` of what `phases` found."""
    if not any(each.reads or each.writes or each.shared for each in found):
        return Sentence(f"Block {block} touches no memory: there is nothing to draw.")
    return PhaseMap(block, min(max(number, 0), len(found) - 1), found)
