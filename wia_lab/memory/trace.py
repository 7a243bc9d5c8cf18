"""Allocation traces: load, save, record, replay.

A trace is what a program asked of its allocator, in program order. As a file it is CSV, plain or
gzip, with the columns op, id, bytes: `a` allocates block `id` of `bytes`, `f` frees it. Blocks
still live at the end are never freed.
"""

from __future__ import annotations

import csv
import gzip
import io
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from wia_lab.errors import OutOfMemoryError, TraceError
from wia_lab.memory.adaptors import Adaptor

if TYPE_CHECKING:
    from wia_lab.memory.base import Allocator
    from wia_lab.memory.block import Block, Stream
    from wia_lab.memory.statistics import Statistics

__all__ = [
    "RECORDED",
    "Recorder",
    "Replay",
    "Sample",
    "Trace",
    "TraceEvent",
    "load_trace",
    "replay",
    "save_trace",
]

COLUMNS = ["op", "id", "bytes"]
RECORDED = ("resnet18_train", "gpt2_train_varlen", "kv_cache_serving")
SAMPLES = 200  # points of a replay's curves


class TraceEvent(NamedTuple):
    """One allocation ("a") or free ("f") of block `id`."""

    op: Literal["a", "f"]
    id: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Trace:
    """A program's allocations and frees, checked: every free is of a live block."""

    name: str
    events: Sequence[TraceEvent]

    @property
    def peak_live_bytes(self) -> int:
        """The most bytes that were live at once, as asked for."""
        live = peak = 0
        for op, _, size in self.events:
            live += size if op == "a" else -size
            peak = max(peak, live)
        return peak


def load_trace(source: str | Path) -> Trace:
    """Load a trace: one of `RECORDED` by name, or a CSV file, plain or gzip, by path.

    Raises
    ------
    TraceError
        The file cannot be read, or a line is wrong; the message names the line and why.
    """
    if str(source) in RECORDED:
        resource = files("wia_lab.data") / "alloc_traces" / f"{source}.csv.gz"
        raw, name = resource.read_bytes(), str(source)
    else:
        path = Path(source)
        name = path.name.removesuffix(".gz").removesuffix(".csv")
        try:
            raw = path.read_bytes()
        except OSError as error:
            names = ", ".join(RECORDED)
            raise TraceError(
                f"trace {str(source)!r}: {error.strerror or error}; give a CSV file, or one of "
                f"{names}"
            ) from error
    try:
        text = (gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw).decode()
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise TraceError(f"trace {name}: no CSV, plain or gzip: {error}") from error
    return Trace(name, _parse(name, text))


def _parse(name: str, text: str) -> list[TraceEvent]:
    """Return the events of CSV text, every line checked."""
    lines = csv.reader(io.StringIO(text))
    if (header := next(lines, [])) != COLUMNS:
        raise TraceError(
            f"trace {name}, line 1: the columns are {','.join(header)!r}, not 'op,id,bytes'"
        )
    events: list[TraceEvent] = []
    live: set[int] = set()
    seen: set[int] = set()
    for number, cells in enumerate(lines, 2):
        try:
            event = _event(cells)
            _follow(event, live, seen)
        except ValueError as error:
            raise TraceError(f"trace {name}, line {number}: {error}") from error
        events.append(event)
    return events


def _event(cells: list[str]) -> TraceEvent:
    """Return the event of one line; ValueError says what is wrong with it."""
    if len(cells) != len(COLUMNS):
        raise ValueError(f"{len(cells)} cells, not op,id,bytes")
    op, number, size = cells
    if op not in {"a", "f"}:
        raise ValueError(f"op is {op!r}, not 'a' or 'f'")
    if not number.isdecimal() or not size.isdecimal():
        raise ValueError(f"id {number!r} and bytes {size!r} must be whole numbers")
    if int(size) == 0:
        raise ValueError("a block of 0 bytes")
    return TraceEvent("a" if op == "a" else "f", int(number), int(size))


def _follow(event: TraceEvent, live: set[int], seen: set[int]) -> None:
    """Keep track of what is live; ValueError says why an event cannot come now."""
    if event.op == "a":
        if event.id in seen:
            raise ValueError(f"block {event.id} was allocated before")
        seen.add(event.id)
        live.add(event.id)
    elif event.id in live:
        live.remove(event.id)
    else:
        was = "freed before" if event.id in seen else "never allocated"
        raise ValueError(f"block {event.id} is freed, but was {was}")


def save_trace(trace: Trace, path: str | Path) -> None:
    """Write a trace as CSV, gzip when the name ends in .gz. The same trace, the same bytes."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(trace.events)
    data = out.getvalue().encode()
    path = Path(path)
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)


class Recorder(Adaptor):
    """Record what passes through: `recorder.trace(name)` is the trace so far."""

    def __init__(self, upstream: Allocator) -> None:
        super().__init__(upstream)
        self._events: list[TraceEvent] = []
        self._ids: dict[Block, int] = {}
        self._next = 0

    def allocate(
        self, size: int, *, alignment: int | None = None, stream: Stream | None = None
    ) -> Block:
        block = self.upstream.allocate(size, alignment=alignment, stream=stream)
        self._ids[block] = self._next
        self._events.append(TraceEvent("a", self._next, size))
        self._next += 1
        return block

    def free(self, block: Block | int, *, stream: Stream | None = None) -> None:
        found = self._live_block(block)
        size = 0 if found is None else found.requested
        self.upstream.free(block, stream=stream)
        if found is not None:
            self._events.append(TraceEvent("f", self._ids.pop(found), size))

    def trace(self, name: str = "recorded") -> Trace:
        """Return what was recorded so far."""
        return Trace(name, tuple(self._events))


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
    trace: Trace | Iterable[TraceEvent], allocator: Allocator, *, samples: int = SAMPLES
) -> Replay:
    """Run a trace through an allocator.

    Raises
    ------
    OutOfMemoryError
        The allocator has no room; the message names the event. What the replay had allocated is
        freed again.
    """
    if not isinstance(trace, Trace):
        trace = Trace("events", tuple(trace))
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
