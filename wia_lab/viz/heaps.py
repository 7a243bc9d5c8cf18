"""A heap over time: every block a trace allocates, from birth to death, and the holes between."""

from __future__ import annotations

import base64
import struct
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from wia_lab.errors import OutOfMemoryError
from wia_lab.memory import format_size
from wia_lab.viz.picture import Picture
from wia_lab.viz.svg import Canvas
from wia_lab.wording import counted

if TYPE_CHECKING:
    from wia_lab.memory import Allocator, Trace

MOST_EVENTS = 100_000  # replayed; a longer trace is shown up to there
COLUMNS, ROWS = 240, 120  # cells of the map
LIVE, FREE = (74, 163, 223, 255), (0, 0, 0, 0)


@dataclass(frozen=True)
class HeapHistory:
    """What an allocator made of a trace, block by block.

    Attributes
    ----------
    offset, size, born, dies : int64 arrays
        Of each block: bytes, and numbers of events; a block never freed dies after the last.
    reserved, fragmentation : arrays
        After each of `sampled` events.
    failed : str
        The sentence with which the allocator refused an event, which ends the history; or "".
    """

    trace: str
    allocator: str
    events: int
    left_out: int
    offset: np.ndarray
    size: np.ndarray
    born: np.ndarray
    dies: np.ndarray
    sampled: np.ndarray
    reserved: np.ndarray
    fragmentation: np.ndarray
    failed: str = ""

    @property
    def top(self) -> int:
        """The highest address that a block reached, in bytes."""
        return int((self.offset + self.size).max(initial=0))

    def live(self, event: int) -> np.ndarray:
        """Numbers of the blocks live after `event` events, by address."""
        found = np.flatnonzero((self.born < event) & (self.dies >= event))
        ordered: np.ndarray = found[np.argsort(self.offset[found], kind="stable")]
        return ordered

    def holes(self, event: int) -> list[tuple[int, int]]:
        """(offset, bytes) of the gaps between live blocks, below the highest of them."""
        found, reached = [], 0
        for block in self.live(event):
            low = int(self.offset[block])
            if low > reached:
                found.append((reached, low - reached))
            reached = max(reached, low + int(self.size[block]))
        return found


def heap_history(trace: Trace, allocator: Allocator) -> HeapHistory:
    """Run a trace through an allocator and write down where each block lay, and how long.

    A trace of more than 100,000 events is run up to there. An allocator that runs out of memory
    ends the history, which says so.
    """
    events = trace.events[:MOST_EVENTS]
    step = max(1, len(events) // COLUMNS)
    blocks: dict[int, tuple[object, int]] = {}
    rows: list[list[int]] = []
    samples: list[tuple[int, int, float]] = []
    failed, number = "", 0
    for number, (op, key, size) in enumerate(events, 1):
        if op == "a":
            try:
                block = allocator.allocate(size)
            except OutOfMemoryError as error:
                failed = f"event {number:,}: {error}"
                break
            blocks[key] = (block, len(rows))
            rows.append([block.offset, block.size, number - 1, len(events)])
        else:
            freed, row = blocks.pop(key)
            allocator.free(freed)  # type: ignore[arg-type]
            rows[row][3] = number - 1
        if number % step == 0 or number == len(events):
            now = allocator.statistics
            samples.append((number, now.reserved_bytes, now.fragmentation))
    table = np.array(rows, np.int64).reshape(-1, 4).T
    sampled = np.array(samples or [(0, 0, 0.0)])
    return HeapHistory(
        trace.name,
        type(allocator).__name__,
        number,
        len(trace.events) - len(events),
        table[0],
        table[1],
        table[2],
        table[3],
        sampled[:, 0].astype(np.int64),
        sampled[:, 1].astype(np.int64),
        sampled[:, 2],
        failed,
    )


@dataclass(frozen=True)
class HeapMap(Picture):
    """A history's map up to an event, and the heap as it is then."""

    history: HeapHistory
    event: int

    def headline(self) -> str:
        """The figures in one line."""
        live = self.history.live(self.event)
        holes = self.history.holes(self.event)
        total = format_size(int(self.history.size[live].sum()))
        free = sum(size for _, size in holes)
        largest = max((size for _, size in holes), default=0)
        blocks, gaps = counted(live.size, "live block"), counted(len(holes), "hole")
        return (
            f"after event {self.event:,} of {self.history.events:,}: {blocks}, "
            f"{total}; {gaps}, {format_size(free)}, largest {format_size(largest)}"
        )

    def books(self) -> str:
        """Reserved bytes and fragmentation by the allocator's own books, at the sample before."""
        place = int(np.searchsorted(self.history.sampled, self.event, side="right")) - 1
        if place < 0:
            return "the allocator's books: nothing yet"
        return (
            f"the allocator's books at event {self.history.sampled[place]:,}: "
            f"{format_size(int(self.history.reserved[place]))} reserved, "
            f"fragmentation {self.history.fragmentation[place]:.2f}"
        )

    def __str__(self) -> str:
        rows = [
            f"{self.history.trace} on {self.history.allocator}, {self.headline()}",
            self.books(),
            f"the highest address reached in all: {format_size(self.history.top)}",
        ]
        if self.history.failed:
            rows.append(self.history.failed)
        if self.history.left_out:
            rows.append(f"not replayed: {counted(self.history.left_out, 'more event')}")
        return "\n".join(rows)

    def drawing(self) -> str:
        """Time to the right, addresses upwards; below, the heap at the event."""
        history = self.history
        canvas = Canvas(1000, 560)
        canvas.text(20, 22, f"{history.trace} on {history.allocator}", size=17, bold=True)
        canvas.text(20, 46, self.headline(), size=15)
        canvas.text(20, 68, self.books(), size=15)
        left, top, wide, high = 110, 84, 870, 330
        canvas.rect(left, top, wide, high, "f")
        canvas.image(left, top, wide, high, _png(_cells(history)))
        canvas.rect(left, top, wide, high, "s")
        x = left + wide * self.event / max(history.events, 1)
        canvas.line(x, top - 6, x, top + high + 6, "h")
        for part in (0, 0.5, 1):
            label = format_size(int(history.top * part))
            canvas.text(left - 6, top + high * (1 - part) + 5, label, size=13, anchor="end")
            event = f"event {int(history.events * part):,}"
            anchor = {0: "start", 0.5: "middle", 1: "end"}[part]
            canvas.text(left + wide * part, top + high + 20, event, size=14, anchor=anchor)
        self._strip(canvas, left, top + high + 40, wide)
        words = history.failed or (
            "filled: live; empty: free. Above: addresses upwards, time to the right. "
            "The strip: the heap at the mark, addresses to the right"
        )
        canvas.text(20, 540, words[:128], size=14)
        return canvas.render(str(self).splitlines()[0])

    def _strip(self, canvas: Canvas, left: float, top: float, wide: float) -> None:
        history = self.history
        canvas.text(left - 6, top + 30, "now", size=15, anchor="end")
        canvas.rect(left, top, wide, 46, "f")
        live, scale = history.live(self.event), wide / max(history.top, 1)
        reached, drawn = -1.0, None
        for block in live:  # neighbours that no eye can part become one
            low = history.offset[block] * scale
            high = low + history.size[block] * scale
            if drawn is not None and low - reached < 0.8:
                reached = max(reached, high)
                continue
            if drawn is not None:
                canvas.rect(left + drawn, top, reached - drawn, 46, "a")
            drawn, reached = low, high
        if drawn is not None:
            canvas.rect(left + drawn, top, reached - drawn, 46, "a")
        canvas.rect(left, top, wide, 46, "s")


def _cells(history: HeapHistory) -> np.ndarray:
    """bool (ROWS, COLUMNS), highest address first: whether a live block touches the cell."""
    deltas = np.zeros((ROWS + 1, COLUMNS + 1), np.int64)
    unit = max(history.top, 1) / ROWS
    span = max(history.events, 1) / COLUMNS
    low = np.minimum((history.offset / unit).astype(np.int64), ROWS - 1)
    high = np.clip(np.ceil((history.offset + history.size) / unit).astype(np.int64), low + 1, ROWS)
    start = np.minimum((history.born / span).astype(np.int64), COLUMNS - 1)
    end = np.clip(np.ceil(history.dies / span).astype(np.int64), start + 1, COLUMNS)
    # A block that lives for an instant would fill its column: only what lasts at least half a
    # column is drawn.
    lasting = history.dies - history.born >= span / 2
    for rows, columns, sign in ((low, start, 1), (low, end, -1), (high, start, -1), (high, end, 1)):
        np.add.at(deltas, (rows[lasting], columns[lasting]), sign)
    covered = deltas.cumsum(0).cumsum(1)[:ROWS, :COLUMNS]
    return covered[::-1] > 0


def _png(cells: np.ndarray) -> str:
    """A PNG of two colours, base64-encoded."""
    height, width = cells.shape
    raw = np.zeros((height, width + 1), np.uint8)  # a filter byte before each row
    raw[:, 1:] = cells

    def chunk(name: bytes, data: bytes) -> bytes:
        checksum = zlib.crc32(name + data)
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", checksum)

    png = (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0))
        + chunk(b"PLTE", bytes((*FREE[:3], *LIVE[:3])))
        + chunk(b"tRNS", bytes((FREE[3], LIVE[3])))
        + chunk(b"IDAT", zlib.compress(raw.tobytes(), 9))
        + chunk(b"IEND", b"")
    )
    return base64.b64encode(png).decode()


def heap_map(history: HeapHistory, *, event: int | None = None) -> HeapMap:
    """Draw a heap's map over time, and the heap after `event` events (None: at the end)."""
    last = history.events
    return HeapMap(history, last if event is None else min(max(event, 0), last))
