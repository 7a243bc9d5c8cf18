"""Allocation traces: load, save, record. `replay.py` runs them.

A trace is what a program asked of its allocator, in program order. As a file it is CSV, plain or
gzip, with the columns op, id, bytes: `a` allocates block `id` of `bytes`, `f` frees it. Blocks
still live at the end are never freed.
"""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from wia_lab.errors import TraceError
from wia_lab.memory.adaptors import Adaptor
from wia_lab.wording import counted

if TYPE_CHECKING:
    from wia_lab.memory.base import Allocator
    from wia_lab.memory.block import Block, Stream

__all__ = [
    "RECORDED",
    "Recorder",
    "Trace",
    "TraceEvent",
    "load_trace",
    "save_trace",
]

COLUMNS = ["op", "id", "bytes"]
RECORDED = ("resnet18_train", "gpt2_train_varlen", "kv_cache_serving")


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
        raise ValueError(f"{counted(len(cells), 'cell')}, not op,id,bytes")
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
