"""Pictures of a heap, drawn from a learner's own allocator, each with a text twin."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wia_lab.puzzles.pictures import Picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH = 64  # characters of a row of the text twin


@dataclass(frozen=True)
class Row:
    """The heap after one step: what was done, and blocks as (name, offset, bytes)."""

    step: str
    blocks: tuple[tuple[str, int, int], ...]  # live
    kept: tuple[tuple[str, int, int], ...] = ()  # freed, but not given back to the heap


@dataclass
class HeapStrip(Picture):
    """A heap over a sequence of steps, a row a step."""

    capacity: int
    rows: list[Row]

    def __str__(self) -> str:
        wide = max(len(row.step) for row in self.rows)
        return "\n".join(f"{row.step:{wide}}  {self._line(row)}" for row in self.rows)

    def _line(self, row: Row) -> str:
        """`AAAA....bb......`: a letter for each share of the heap, small where it is kept."""
        cells = ["."] * WIDTH
        kept = [(name.lower(), offset, size) for name, offset, size in row.kept]
        for name, offset, size in (*kept, *row.blocks):
            first = offset * WIDTH // self.capacity
            last = max(first + 1, (offset + size) * WIDTH // self.capacity)
            cells[first:last] = name[0] * (last - first)
        return "|" + "".join(cells) + "|"

    def figure(self) -> Figure:
        """Draw a bar a step, a colour a block; what is free stays grey."""
        from matplotlib import colormaps  # noqa: PLC0415 - slow; only where something is drawn
        from matplotlib.figure import Figure  # noqa: PLC0415 - as above

        figure = Figure(figsize=(8, 0.4 * len(self.rows) + 0.8), layout="constrained")
        axis = figure.subplots()
        names = sorted({name for row in self.rows for name, _, _ in row.blocks})
        colours = {name: colormaps["tab10"](i % 10) for i, name in enumerate(names)}
        for place, row in enumerate(self.rows):
            axis.barh(place, self.capacity, color="0.92", height=0.8)
            for name, offset, size in row.kept:
                axis.barh(place, size, left=offset, color="0.75", height=0.8, hatch="///")
                axis.text(offset + size / 2, place, name.lower(), ha="center", va="center")
            for name, offset, size in row.blocks:
                axis.barh(place, size, left=offset, color=colours[name], height=0.8, edgecolor="w")
                axis.text(offset + size / 2, place, name, ha="center", va="center", color="w")
        axis.set(xlim=(0, self.capacity), xlabel="offset in bytes")
        axis.set_yticks(range(len(self.rows)), [row.step for row in self.rows])
        axis.invert_yaxis()
        return figure


def heap_strip(
    allocator: Any,
    capacity: int,
    steps: Sequence[str],
    *,
    block_of: Callable[[int], int],
    heap: Any = None,
) -> HeapStrip:
    """Run steps on an allocator and draw the heap after each.

    Parameters
    ----------
    allocator
        Anything with `alloc(size) -> offset` and `free(offset)`.
    capacity
        Bytes of its heap.
    steps
        Such as "A = 300" (allocate 300 bytes, call them A) and "free A".
    block_of
        `block_of(size)`: the bytes that a request takes up in the picture.
    heap
        The heap under the allocator, with `blocks()`: what it has lent and is not live is kept.
    """
    live: dict[str, tuple[int, int]] = {}
    last: dict[int, str] = {}  # who had the block at an offset last
    rows = []
    for step in steps:
        verb, _, rest = step.partition(" ")
        if verb == "free":
            allocator.free(live.pop(rest)[0])
        else:
            size = int(rest.removeprefix("="))
            live[verb] = allocator.alloc(size), block_of(size)
            last[live[verb][0]] = verb
        taken = {offset for offset, _ in live.values()}
        lent = heap.blocks() if heap is not None else ()
        kept = tuple((last[o], o, size) for o, size in lent if o not in taken)
        rows.append(Row(step, tuple((name, *place) for name, place in live.items()), kept))
    return HeapStrip(capacity, rows)
