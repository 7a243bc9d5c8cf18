"""Who wrote what: the threads of each block and the elements that they stored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from wia_lab.puzzles.execute import DEVICE
from wia_lab.puzzles.pictures import Extent, Picture
from wia_lab.puzzles.recorders import StepLimit, WriterRecorder
from wia_lab.simt import launch
from wia_lab.wording import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_BLOCKS = 12  # drawn and told
MOST_RUNS = 4  # told a block


@dataclass
class WriteMap(Picture):
    """Which thread wrote each element of a 1-D array last.

    Attributes
    ----------
    array : str
        Its name in the kernel.
    blocks, threads : int
        Of the launch: blocks, and threads a block.
    writers : numpy.ndarray
        int64, for each element block · threads + thread, or -1 where nobody wrote.
    """

    array: str
    blocks: int
    threads: int
    writers: np.ndarray

    def runs(self, block: int) -> list[tuple[int, int, int]]:
        """(thread, element, length): neighbours of a block that wrote neighbouring elements."""
        elements = np.flatnonzero(self.writers // self.threads == block)
        threads = self.writers[elements] % self.threads
        if not elements.size:
            return []
        ends = np.flatnonzero((np.diff(elements) != 1) | (np.diff(threads) != 1)) + 1
        starts, stops = [0, *ends.tolist()], [*ends.tolist(), elements.size]
        return [
            (int(threads[start]), int(elements[start]), stop - start)
            for start, stop in zip(starts, stops, strict=True)
        ]

    def __str__(self) -> str:
        lines = [f"block {block}: {self._told(block)}" for block in self._shown]
        if more := self.blocks - len(self._shown):
            lines.append(f"and {counted(more, 'more block')}")
        nobody = int((self.writers < 0).sum())
        lines.append(f"{nobody:,} of {counted(self.writers.size, 'element')} written by nobody")
        return "\n".join(lines)

    @property
    def _shown(self) -> range:
        return range(min(self.blocks, MOST_BLOCKS))

    def _told(self, block: int) -> str:
        runs = self.runs(block)
        parts = [
            f"{_several('thread', thread, length)} wrote {self._elements(element, length)}"
            for thread, element, length in runs[:MOST_RUNS]
        ]
        if len(runs) > MOST_RUNS:
            parts.append(f"{len(runs) - MOST_RUNS:,} more such")
        busy = len({thread + k for thread, _, length in runs for k in range(length)})
        if idle := self.threads - busy:
            parts.append(f"{counted(idle, 'thread')} left nothing")
        return ", ".join(parts)

    def _elements(self, first: int, length: int) -> str:
        last = first + length - 1
        return f"{self.array}[{first}]" + (f" to {self.array}[{last}]" if length > 1 else "")

    def figure(self) -> Figure:
        """A row a block, its threads from left to right; grey where a thread left nothing."""
        from matplotlib.figure import Figure  # noqa: PLC0415 - slow; only where something is drawn

        figure = Figure(figsize=(7.2, 0.9 + 0.45 * len(self._shown)), layout="constrained")
        axis = figure.subplots()
        for block in self._shown:
            axis.broken_barh([(0, self.threads)], (block - 0.36, 0.72), color="0.88")
            runs = self.runs(block)
            bars = [(thread, length) for thread, _, length in runs]
            axis.broken_barh(bars, (block - 0.36, 0.72), color="#7aa6d6")
            for thread, element, length in runs:
                if length > self.threads // 3:
                    words = self._elements(element, length)
                    axis.text(thread + length / 2, block, words, ha="center", va="center")
                elif len(runs) == 1:
                    words = self._elements(element, length)
                    axis.text(thread + length + 3, block, words, ha="left", va="center")
        axis.set_yticks(list(self._shown), [f"block {block}" for block in self._shown])
        axis.set(xlabel="thread of the block; grey: it left nothing", xlim=(0, self.threads))
        axis.invert_yaxis()
        for side in ("top", "right", "left"):
            axis.spines[side].set_visible(False)
        return figure


def _several(what: str, first: int, length: int) -> str:
    """`thread 7`, or `threads 0 to 31`."""
    return f"{what} {first}" if length == 1 else f"{what}s {first} to {first + length - 1}"


def write_map(kernel: Any, grid: Extent, block: Extent, *args: np.ndarray) -> WriteMap:
    """Run a kernel and show which thread wrote each element of its first argument.

    Parameters
    ----------
    kernel, grid, block, args
        As for `simulate`; the arrays are left as they were. A stray access is left out.
    """
    function = getattr(kernel, "py_func", kernel)
    name, copies = function.__code__.co_varnames[0], tuple(array.copy() for array in args)
    recorder = WriterRecorder([(name, copies[0].size)])
    launch.run(
        function,
        grid,
        block,
        copies,
        shared_bytes=0,
        device=DEVICE,
        listeners=[recorder, StepLimit()],
    )
    return WriteMap(
        name, int(np.prod(grid)), int(np.prod(block)), recorder.writers[name].thread.copy()
    )
