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
from collections.abc import Mapping
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
        """Return the snapshot at this moment, in PyTorch's schema."""
        segments = _segments(sorted(self.upstream.regions(), key=lambda r: r.offset), self._sites)
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


def _segments(regions: list[Region], sites: Mapping[int, Site]) -> list[dict[str, Any]]:
    """Group neighbouring regions into segments; a last hole is not reserved and left out."""
    groups: list[list[Region]] = []
    for region in regions:
        if groups and groups[-1][-1].offset + groups[-1][-1].size == region.offset:
            groups[-1].append(region)
        else:
            groups.append([region])
    if groups and groups[-1][-1].state == "free":
        groups[-1].pop()
    return [_segment(group, sites) for group in groups if group]


def _segment(group: list[Region], sites: Mapping[int, Site]) -> dict[str, Any]:
    blocks = [
        {
            "address": BASE_ADDRESS + region.offset,
            "size": region.size,
            "requested_size": region.block.requested if region.block else 0,
            "state": "active_allocated" if region.block else "inactive",
            "frames": _frames(sites.get(region.offset)),
        }
        for region in group
    ]
    allocated = sum(region.size for region in group if region.block)
    return {
        "device": 0,
        "address": BASE_ADDRESS + group[0].offset,
        "total_size": sum(region.size for region in group),
        "allocated_size": allocated,
        "active_size": allocated,
        "requested_size": sum(r.block.requested for r in group if r.block),
        "stream": 0,
        "segment_type": "large",
        "segment_pool_id": (0, 0),
        "is_expandable": False,
        "frames": [],
        "blocks": blocks,
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
