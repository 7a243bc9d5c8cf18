"""Listeners of the judge: who wrote each output cell, what was in flight when, what never ends."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from wia_lab.puzzles.answer import RefusedError
from wia_lab.puzzles.puzzle import Flight, Writers
from wia_lab.simt.events import Access, AsyncCopy, Chunk, Lanes, Listener, Site

if TYPE_CHECKING:
    from wia_lab.simt.program import Segment

WARP = 32
MOST_STEPS = 20_000
"""Straight pieces of code that one launch of a check may run: seconds. Answers need hundreds."""


class WriterRecorder(Listener):
    """Keeps the thread and the line that last wrote each cell of some outputs.

    Parameters
    ----------
    outputs
        Each output's parameter name in the answer, and its number of elements.
    """

    def __init__(self, outputs: Iterable[tuple[str, int]]) -> None:
        self.writers = {
            name: Writers(np.full(size, -1, np.int64), np.zeros(size, np.int32))
            for name, size in outputs
        }

    def on_chunk(self, chunk: Chunk) -> None:
        lanes = np.arange(chunk.lanes)
        block, thread = chunk.first_block + lanes // chunk.stride, lanes % chunk.stride
        self.thread = block * chunk.threads + thread

    def on_access(self, access: Access) -> None:
        space = access.space
        if access.kind == "load" or space.kind != "global" or space.name not in self.writers:
            return
        active = access.active
        cells = (access.offsets[active] - space.origin) // space.dtype.itemsize
        writers = self.writers[space.name]
        writers.thread[cells] = self.thread[active]
        writers.line[cells] = access.site.line


class FlightRecorder(Listener):
    """Counts asynchronous copies, and the fetches that they hide or fail to hide."""

    def __init__(self) -> None:
        self.elements: Counter[str] = Counter()
        self.overlapped: Counter[str] = Counter()
        self.alone_on: dict[str, Counter[int]] = defaultdict(Counter)
        self.idle_on: Counter[int] = Counter()
        self.stored = 0

    def on_chunk(self, chunk: Chunk) -> None:
        self.chunk = chunk
        self.copies: dict[int, tuple[str, Lanes]] = {}  # number: source, lanes still in flight

    def on_access(self, access: Access) -> None:
        if access.kind == "load" and access.space.kind == "global":
            self._count(access.space.name, access.active, access.site)
        elif access.kind == "store" and access.space.kind == "global":
            lanes = access.active.reshape(self.chunk.blocks, -1)
            busy = self._in_flight_beside("")
            self.stored += int(lanes[busy].sum())
            self.idle_on[access.site.line] += int(lanes[~busy].sum())

    def on_async_copy(self, copy: AsyncCopy) -> None:
        self.copies[copy.number] = (copy.source.name, copy.active.copy())
        per_lane = copy.nbytes // copy.source.dtype.itemsize
        self.elements[copy.source.name] += int(copy.active.sum()) * per_lane

    def on_async_wait(self, site: Site, lanes: Lanes, arrived: dict[int, Lanes]) -> None:  # noqa: ARG002
        for number, landed in arrived.items():
            self._count(self.copies[number][0], landed, site)
        for number, landed in arrived.items():
            self.copies[number] = (self.copies[number][0], self.copies[number][1] & ~landed)

    def _count(self, array: str, lanes: Lanes, site: Site) -> None:
        """Count the warps of `lanes` as fetching `array`, hidden or not."""
        hidden = self._in_flight_beside(array)[np.arange(self.chunk.lanes) // self.chunk.stride]
        self.overlapped[array] += _warps(lanes & hidden)
        if alone := _warps(lanes & ~hidden):
            self.alone_on[array][site.line] += alone

    def _in_flight_beside(self, array: str) -> np.ndarray:
        """Blocks of the chunk in which a copy of another array is in flight."""
        blocks = np.zeros(self.chunk.blocks, bool)
        for source, lanes in self.copies.values():
            if source != array:
                blocks |= lanes.reshape(self.chunk.blocks, -1).any(axis=1)
        return blocks

    def result(self, names: dict[str, str], early: tuple[int, int, int] | None) -> Flight:
        """What was counted, under the puzzle's names (`names` maps the answer's to them)."""

        def renamed(counter: Counter[str]) -> dict[str, int]:
            return {to: counter[of] for of, to in names.items()}

        alone_on = {to: dict(self.alone_on[of]) for of, to in names.items()}

        return Flight(
            elements=renamed(self.elements),
            overlapped=renamed(self.overlapped),
            alone={name: sum(lines.values()) for name, lines in alone_on.items()},
            stored=self.stored,
            alone_on=alone_on,
            idle_on={line: stored for line, stored in self.idle_on.items() if stored},
            early=early,
        )


def _warps(lanes: Lanes) -> int:
    """Warps with an active lane."""
    return int(lanes.reshape(-1, WARP).any(axis=1).sum())


class StepLimit(Listener):
    """Stops a launch that goes on for longer than an answer can need."""

    def __init__(self, most: int = MOST_STEPS) -> None:
        self.most = self.left = most

    def on_segment(self, segment: Segment, active: Lanes) -> None:  # type: ignore[override]  # noqa: ARG002
        self.left -= 1
        if self.left < 0:
            line = segment.lines[-1] if segment.lines else segment.site.line
            raise RefusedError(
                "no-progress",
                f"line {line} still runs after {self.most:,} steps: look for a loop that never "
                "ends. What in it makes its condition false?",
                line,
            )


class ShuffleRecorder(Listener):
    """Counts the shuffles that warps executed: with all 32 lanes, and with fewer."""

    def __init__(self) -> None:
        self.full = 0
        self.partial_on: dict[int, int] = {}

    def on_warp_sync(self, site: Site, lanes: Lanes, members: Lanes, name: str) -> None:  # noqa: ARG002
        if not name.startswith("shfl"):
            return
        active = lanes.reshape(-1, WARP)
        full = int(active.all(axis=1).sum())
        self.full += full
        if partial := int(active.any(axis=1).sum()) - full:
            self.partial_on[site.line] = self.partial_on.get(site.line, 0) + partial
