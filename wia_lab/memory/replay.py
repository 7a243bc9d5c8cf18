"""Run a trace through an allocator, and see what it makes of it."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from wia_lab.errors import OutOfMemoryError
from wia_lab.memory.snapshot import Timeline, save_snapshot
from wia_lab.memory.trace import Trace, TraceEvent

if TYPE_CHECKING:
    from wia_lab.memory.base import Allocator
    from wia_lab.memory.block import Block
    from wia_lab.memory.statistics import Statistics

__all__ = ["Replay", "Sample", "replay"]

SAMPLES = 200  # points of a replay's curves


class Sample(NamedTuple):
    """The books at one event of a replay, in bytes."""

    event: int
    live: int
    reserved: int
    fragmentation: float


@dataclass(frozen=True, slots=True)
class Replay:
    """What an allocator made of a trace.

    Attributes
    ----------
    peak_live_bytes : int
        The trace's own peak: bytes as asked for.
    statistics : Statistics
        The allocator's books at the end.
    seconds : float
        Time in the allocator's calls, with the loop around them and without the samples.
    samples : list of Sample
        Live and reserved bytes and fragmentation over time.
    """

    trace: str
    events: int
    peak_live_bytes: int
    statistics: Statistics
    seconds: float
    samples: list[Sample] = field(repr=False)

    @property
    def overhead(self) -> float:
        """Peak reserved / peak live: 1.0 is perfect."""
        return self.statistics.peak_reserved_bytes / self.peak_live_bytes


def replay(
    trace: Trace | Iterable[TraceEvent],
    allocator: Allocator,
    *,
    samples: int = SAMPLES,
    snapshot: str | Path | None = None,
) -> Replay:
    """Run a trace through an allocator.

    Parameters
    ----------
    trace : Trace or iterable of TraceEvent
        What to run.
    allocator : Allocator
        What to run it on.
    samples : int
        About how many points the curves have; 0 takes none.
    snapshot : str or Path, optional
        Write a file that PyTorch's memory_viz opens.

    Raises
    ------
    OutOfMemoryError
        The allocator has no room; the message names the event. What the replay had allocated is
        freed again.
    """
    if not isinstance(trace, Trace):
        trace = Trace("events", tuple(trace))
    recorder = Timeline(allocator) if snapshot is not None else None
    allocator = recorder or allocator
    events = trace.events
    blocks: dict[int, Block] = {}
    taken: list[Sample] = []
    step = max(1, -(-len(events) // samples)) if samples else max(1, len(events))
    seconds = 0.0
    for start in range(0, len(events), step):
        seconds += _run(trace, allocator, blocks, start, start + step)
        if samples:
            now = allocator.statistics
            end = min(start + step, len(events))
            taken.append(Sample(end, now.live_bytes, now.reserved_bytes, now.fragmentation))
    if recorder is not None and snapshot is not None:
        save_snapshot(recorder.snapshot(), snapshot)
    statistics = allocator.statistics
    return Replay(trace.name, len(events), trace.peak_live_bytes, statistics, seconds, taken)


def _run(
    trace: Trace, allocator: Allocator, blocks: dict[int, Block], start: int, stop: int
) -> float:
    """Run some events; return the seconds they took."""
    allocate, free, pop = allocator.allocate, allocator.free, blocks.pop
    number = start
    began = time.perf_counter()
    try:
        for number, (op, key, size) in enumerate(trace.events[start:stop], start):  # noqa: B007
            if op == "a":
                blocks[key] = allocate(size)
            else:
                free(pop(key))
    except OutOfMemoryError as error:
        for block in blocks.values():
            free(block)
        raise OutOfMemoryError(
            f"trace {trace.name}, event {number:,}: {error}",
            error.requested,
            error.free,
            error.largest_free,
            error.holders,
        ) from error
    return time.perf_counter() - began
