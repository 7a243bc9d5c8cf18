"""What one block reads of each array: its tile, the halo around it, and what it reads again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from wia_lab.errors import WiaLabError
from wia_lab.simt.stepping import Enough, Follower
from wia_lab.viz.access import hear
from wia_lab.viz.picture import Picture, Sentence
from wia_lab.viz.svg import Canvas
from wia_lab.wording import counted

if TYPE_CHECKING:
    from wia_lab.simt.events import Access, AsyncCopy, Chunk, Launch
    from wia_lab.simt.memory import Space
    from wia_lab.simt.report import Report

MOST_CELLS = 64  # along an axis: of a larger array, each cell drawn stands for several elements


class BlockTouches(Follower):
    """Counts how often one block reads and writes each element of the global arrays."""

    def __init__(self, block: int) -> None:
        self.block = block
        self.reads: dict[str, np.ndarray] = {}
        self.writes: dict[str, np.ndarray] = {}

    def on_launch(self, launch: Launch) -> None:
        blocks = int(np.prod(launch.grid))
        if not 0 <= self.block < blocks:
            raise WiaLabError(f"block {self.block}: the launch has blocks 0 to {blocks - 1}")

    def on_chunk(self, chunk: Chunk) -> None:
        place = self.block - chunk.first_block
        inside = 0 <= place < chunk.blocks
        self.lanes = slice(place * chunk.stride, (place + 1) * chunk.stride) if inside else slice(0)

    def on_chunk_end(self, chunk: Chunk) -> None:  # noqa: ARG002 - a hook
        if self.lanes != slice(0):
            raise Enough  # the block has ended

    def on_access(self, access: Access) -> None:
        if access.space.kind == "global":
            counts = self.reads if access.kind == "load" else self.writes
            self._count(counts, access.space, access.offsets, access.active)

    def on_async_copy(self, copy: AsyncCopy) -> None:
        reading = copy.active & ~copy.zero_filled
        for byte in range(0, copy.nbytes, copy.source.dtype.itemsize):
            self._count(self.reads, copy.source, copy.source_offsets + byte, reading)

    def _count(
        self, counts: dict[str, np.ndarray], space: Space, offsets: np.ndarray, active: np.ndarray
    ) -> None:
        shape, strides = space.shape or (1,), space.strides or (space.dtype.itemsize,)
        known = counts.setdefault(space.name, np.zeros(shape, np.int64))
        ours = offsets[self.lanes][active[self.lanes]]
        if not ours.size:
            return
        rest, index = ours - space.origin, [np.zeros(0, np.int64)] * len(shape)
        for axis in sorted(range(len(shape)), key=lambda each: -abs(strides[each])):
            index[axis] = rest // max(strides[axis], 1)
            rest = rest - index[axis] * strides[axis]
        np.add.at(known, tuple(index), 1)


@dataclass(frozen=True)
class TileMap(Picture):
    """One block's reads of each array.

    Attributes
    ----------
    arrays : tuple
        (name, reads, own): how often each element is read, and which of them lie where the block
        writes its output; `own` is None where no output has the array's shape.
    """

    block: int
    arrays: tuple[tuple[str, np.ndarray, np.ndarray | None], ...]

    def told(self, name: str, reads: np.ndarray, own: np.ndarray | None) -> str:
        """`a: 34 of 100 elements read, 1 to 3 times each; 32 in its own tile, 2 in the halo`."""
        read = reads[reads > 0]
        if not read.size:
            return f"{name}: none of {counted(reads.size, 'element')} read"
        low, high = int(read.min()), int(read.max())
        often = f"{low:,} to {high:,} times each" if low < high else f"{high:,} times each"
        text = f"{name}: {read.size:,} of {counted(reads.size, 'element')} read, "
        text += "once each" if high == 1 else often
        if own is not None:
            inside = int((own & (reads > 0)).sum())
            text += f"; {inside:,} in its own tile, {read.size - inside:,} in the halo"
        return text

    def __str__(self) -> str:
        return "\n".join(
            [f"what block {self.block} reads", *(self.told(*array) for array in self.arrays)]
        )

    def drawing(self) -> str:
        """An array a panel: its tile, the halo, how often each cell is read."""
        panels = [(*array, _reduced(array[1])) for array in self.arrays]
        heights = [_panel_size(cells)[1] + 62 for *_, cells in panels]
        canvas = Canvas(1000, 34 + sum(heights) + 30)
        canvas.text(20, 22, f"what block {self.block} reads", size=17, bold=True)
        top = 44.0
        for (name, reads, own, cells), height in zip(panels, heights, strict=True):
            each = -(-reads.size // cells.size)
            share = f" (a cell: {each:,} elements)" if each > 1 else ""
            canvas.text(20, top + 12, self.told(name, reads, own) + share, size=15)
            self._panel(canvas, top + 22, cells, None if own is None else _reduced(own))
            top += height
        canvas.text(
            20,
            top + 8,
            "blue, darker: its own tile, or no halo; orange, lighter: halo; the number: times read",
            size=15,
        )
        return canvas.render(str(self).splitlines()[0])

    def _panel(self, canvas: Canvas, top: float, cells: np.ndarray, own: np.ndarray | None) -> None:
        side, _ = _panel_size(cells)
        rows, columns = cells.shape
        canvas.rect(20, top, columns * side, rows * side, "f")
        for row, column in zip(*np.nonzero(cells), strict=True):
            halo = own is not None and not own[row, column]
            x, y = 20 + column * side, top + row * side
            canvas.rect(x + 0.5, y + 0.5, side - 1, side - 1, "b" if halo else "a")
            if side >= 15:
                words = int(cells[row, column])
                if len(str(words)) * 9 <= side:
                    canvas.text(
                        x + side / 2, y + side / 2 + 5, words, size=13, anchor="middle", black=True
                    )
        canvas.rect(20, top, columns * side, rows * side, "s")


def _panel_size(cells: np.ndarray) -> tuple[float, float]:
    """Side of a cell, and height of the panel."""
    rows, columns = cells.shape
    side = min(22.0, 900 / columns, 300 / rows)
    return max(side, 3.0), rows * max(side, 3.0)


def _reduced(values: np.ndarray) -> np.ndarray:
    """A plane of at most 64 × 64 cells, each the largest of the elements it stands for."""
    plane = np.atleast_2d(values) if values.ndim < 3 else values.reshape(-1, values.shape[-1])
    for axis in (0, 1):
        size = plane.shape[axis]
        every = -(-size // MOST_CELLS)
        if every > 1:
            plane = np.maximum.reduceat(plane, np.arange(0, size, every), axis=axis)
    return plane


def tile(report: Report, *, block: int = 0) -> TileMap | Sentence:
    """Draw what one block reads of each array that it does not write, its own tile and the halo.

    An element belongs to the block's tile when the block writes the element of the same index in
    an output of the same shape.

    Raises
    ------
    WiaLabError
        For a block that the launch has not.
    """
    touches = BlockTouches(block)
    hear(report, touches)
    written = list(touches.writes.values())
    arrays = []
    for name, reads in touches.reads.items():
        if name not in touches.writes:
            own = next((each > 0 for each in written if each.shape == reads.shape), None)
            arrays.append((name, reads, own))
    if not arrays:
        return Sentence(f"Block {block} reads no array that it does not write.")
    return TileMap(block, tuple(arrays))
