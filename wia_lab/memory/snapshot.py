"""Memory snapshots in PyTorch's schema: written from any allocator, read as traces.

The schema is that of `torch.cuda.memory._snapshot()`: a dictionary with `segments` (what is
reserved, tiled by blocks) and `device_traces` (a list of events for each device). Files are
pickles of plain dictionaries, lists, strings and numbers; reading one here never runs code from
it. https://pytorch.org/memory_viz opens what `save_snapshot` writes.
"""

from __future__ import annotations

import io
import json
import pickle
import time
from bisect import bisect_left
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wia_lab.errors import TraceError
from wia_lab.memory.adaptors import Adaptor
from wia_lab.memory.sites import Site, caller_site
from wia_lab.memory.trace import Trace, TraceEvent

if TYPE_CHECKING:
    from wia_lab.memory.base import Allocator
    from wia_lab.memory.block import Block, Region, Stream

__all__ = ["BASE_ADDRESS", "Timeline", "load_snapshot", "save_snapshot"]

BASE_ADDRESS = 0x7F00_0000_0000  # offset 0 in a snapshot; memory_viz wants addresses, not 0


class Timeline(Adaptor):
    """Record every allocation and free with its address, time and line of the user's program."""

    def __init__(self, upstream: Allocator) -> None:
        super().__init__(upstream)
        self._events: list[dict[str, Any]] = []
        self._sites: dict[int, Site] = {}  # of live blocks, by offset

    def allocate(
        self, size: int, *, alignment: int | None = None, stream: Stream | None = None
    ) -> Block:
        block = self.upstream.allocate(size, alignment=alignment, stream=stream)
        site = self._sites[block.offset] = caller_site()
        self._note("alloc", block, site)
        return block

    def free(self, block: Block | int, *, stream: Stream | None = None) -> None:
        found = self._live_block(block)
        offset, size = (0, 0) if found is None else (found.offset, found.size)
        self.upstream.free(block, stream=stream)
        self._sites.pop(offset, None)
        site = caller_site()
        for action in ("free_requested", "free_completed"):
            self._events.append(_entry(action, offset, size, site))

    def _note(self, action: str, block: Block, site: Site) -> None:
        self._events.append(_entry(action, block.offset, block.size, site))

    def snapshot(self) -> dict[str, Any]:
        """Return the snapshot at this moment, in PyTorch's schema.

        A segment covers all that was ever allocated in one stretch of addresses: memory_viz plays
        the events backwards, and a block that lies in no segment at its time stops it.
        """
        live = sorted(
            (region for region in self.upstream.regions() if region.block is not None),
            key=attrgetter("offset"),
        )
        starts = [region.offset for region in live]
        used = [(region.offset, region.size) for region in live] + [
            (entry["addr"] - BASE_ADDRESS, entry["size"])
            for entry in self._events
            if entry["action"] == "alloc"
        ]
        segments = [
            _segment(start, end, live[bisect_left(starts, start) : bisect_left(starts, end)], self)
            for start, end in _joined(used)
        ]
        opened = [
            {**entry, "action": "segment_alloc", "size": segment["total_size"]}
            for segment in segments
            for entry in [_entry("", segment["address"] - BASE_ADDRESS, 0, None)]
        ]
        return {
            "segments": segments,
            "device_traces": [opened + list(self._events)],
            "allocator_settings": {"allocator": type(self.upstream).__name__},
        }

    def site(self, offset: int) -> Site | None:
        """Return where the live block at `offset` was allocated, if that was recorded."""
        return self._sites.get(offset)


def _entry(action: str, offset: int, size: int, site: Site | None) -> dict[str, Any]:
    return {
        "action": action,
        "addr": BASE_ADDRESS + offset,
        "size": size,
        "stream": 0,
        "frames": _frames(site),
        "time_us": time.time_ns() // 1000,
    }


def _frames(site: Site | None) -> list[dict[str, Any]]:
    if site is None:
        return []
    return [{"filename": site.file, "line": site.line, "name": site.function}]


def _joined(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join (offset, size) that touch or overlap into (start, end)."""
    joined: list[tuple[int, int]] = []
    for start, size in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(joined[-1][1], start + size)
        else:
            joined.append((start, start + size))
    return joined


def _segment(start: int, end: int, live: list[Region], sites: Timeline) -> dict[str, Any]:
    """Describe one stretch of addresses; `live` are its blocks, in order of address."""
    blocks: list[dict[str, Any]] = []
    at = start
    for region in live:
        assert region.block is not None
        if region.offset > at:
            blocks.append(_block(at, region.offset - at, 0, None))
        site = sites.site(region.offset)
        blocks.append(_block(region.offset, region.size, region.block.requested, site))
        at = region.offset + region.size
    if end > at:
        blocks.append(_block(at, end - at, 0, None))
    allocated = sum(region.size for region in live)
    return {
        "device": 0,
        "address": BASE_ADDRESS + start,
        "total_size": end - start,
        "allocated_size": allocated,
        "active_size": allocated,
        "requested_size": sum(block["requested_size"] for block in blocks),
        "stream": 0,
        "segment_type": "large",
        "segment_pool_id": (0, 0),
        "is_expandable": False,
        "frames": [],
        "blocks": blocks,
    }


def _block(offset: int, size: int, requested: int, site: Site | None) -> dict[str, Any]:
    """Describe a stretch of a segment: a live block, or a hole when nothing is requested."""
    return {
        "address": BASE_ADDRESS + offset,
        "size": size,
        "requested_size": requested,
        "state": "active_allocated" if requested else "inactive",
        "frames": _frames(site),
    }


def save_snapshot(snapshot: dict[str, Any], path: str | Path) -> None:
    """Write a snapshot: JSON when the name ends in .json, else a pickle for memory_viz."""
    path = Path(path)
    if path.suffix == ".json":
        path.write_text(json.dumps(snapshot))
    else:
        path.write_bytes(pickle.dumps(snapshot, protocol=2))


class _Plain(pickle.Unpickler):
    """An unpickler that makes no objects but the built-in ones, so that no file runs code."""

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"it wants to build {module}.{name}")


def load_snapshot(source: str | Path | dict[str, Any], *, device: int = 0) -> Trace:
    """Return the trace in a PyTorch memory snapshot.

    Frees of blocks that were allocated before the recording began are left out: the trace starts
    with nothing live.

    Parameters
    ----------
    source : str, Path or dict
        A file from `torch.cuda.memory._dump_snapshot` or `save_snapshot`, or its contents.
    device : int
        Whose events.

    Raises
    ------
    TraceError
        The file is no snapshot; the message names the event and why.
    """
    name, snapshot = ("snapshot", source) if isinstance(source, dict) else _read(Path(source))
    traces = snapshot.get("device_traces") if isinstance(snapshot, dict) else None
    if not isinstance(traces, list):
        raise TraceError(f"snapshot {name}: it has no list 'device_traces'")
    if not 0 <= device < len(traces):
        raise TraceError(f"snapshot {name}: device {device} asked for, it has {len(traces)}")
    if not traces[device]:
        raise TraceError(
            f"snapshot {name}: device {device} has no events; start the recording before the "
            "program allocates, with torch.cuda.memory._record_memory_history()"
        )
    events: list[TraceEvent] = []
    live: dict[int, tuple[int, int]] = {}
    for number, entry in enumerate(traces[device]):
        try:
            action, address, size = entry["action"], entry.get("addr"), entry.get("size")
            if action == "alloc":
                _allocation(events, live, int(address), int(size))
            elif action == "free_completed" and int(address) in live:
                key, size = live.pop(int(address))
                events.append(TraceEvent("f", key, size))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise TraceError(
                f"snapshot {name}, device {device}, event {number}: {error}"
            ) from error
    return Trace(name, tuple(events))


def _allocation(
    events: list[TraceEvent], live: dict[int, tuple[int, int]], address: int, size: int
) -> None:
    """Append one allocation; ValueError says why it cannot be."""
    if size <= 0:
        raise ValueError(f"an allocation of {size} B")
    if address in live:
        raise ValueError(f"address {address:#x} is allocated twice")
    key = len(events)  # unique, and that is all an id must be
    live[address] = key, size
    events.append(TraceEvent("a", key, size))


def _read(path: Path) -> tuple[str, Any]:
    """Return a snapshot file's name and contents."""
    try:
        data = path.read_bytes()
        if path.suffix == ".json":
            return path.stem, json.loads(data)
        return path.stem, _Plain(io.BytesIO(data)).load()
    except OSError as error:
        raise TraceError(f"snapshot {path}: {error.strerror or error}") from error
    except Exception as error:  # a pickle that is none fails in many ways
        raise TraceError(f"snapshot {path}: it is no snapshot: {error}") from error
