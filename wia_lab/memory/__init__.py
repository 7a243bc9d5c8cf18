"""Allocators over a range of bytes: policy in plain Python, for any memory behind it.

A heap is a range; the other allocators stand on it, and adaptors on them:

    heap = Heap("2GiB")
    memory = Limit(Track(Pool(heap)), "1GiB")
    block = memory.allocate(1 << 20)
    memory.free(block)

Every allocator has two verbs, `statistics`, `explain(nbytes)`, an address map (`regions`) and
`check()`, which raises where its books do not agree with themselves.
"""

from wia_lab.memory.adaptors import Adaptor, Leak, Limit, Locked, Log, OnFailure, Track
from wia_lab.memory.backing import Backing, HostBacking, move_in_pieces
from wia_lab.memory.base import Allocator
from wia_lab.memory.block import Block, Event, Explanation, Region, Stream
from wia_lab.memory.buddy import Buddy
from wia_lab.memory.compaction import Compacting, CompactionReport
from wia_lab.memory.guard import Guard
from wia_lab.memory.heap import Heap
from wia_lab.memory.pool import Pool
from wia_lab.memory.refcount import Collected, Counted, Strong, Weak
from wia_lab.memory.replay import Replay, replay
from wia_lab.memory.ring import PageRing
from wia_lab.memory.sizes import SizeClasses, format_size, parse_size
from wia_lab.memory.slab import Slab
from wia_lab.memory.snapshot import Timeline, load_snapshot, save_snapshot
from wia_lab.memory.statistics import Statistics
from wia_lab.memory.streams import StreamOrdered
from wia_lab.memory.trace import Recorder, Trace, load_trace, save_trace

__all__ = [
    "Adaptor",
    "Allocator",
    "Backing",
    "Block",
    "Buddy",
    "Collected",
    "Compacting",
    "CompactionReport",
    "Counted",
    "Event",
    "Explanation",
    "Guard",
    "Heap",
    "HostBacking",
    "Leak",
    "Limit",
    "Locked",
    "Log",
    "OnFailure",
    "PageRing",
    "Pool",
    "Recorder",
    "Region",
    "Replay",
    "SizeClasses",
    "Slab",
    "Statistics",
    "Stream",
    "StreamOrdered",
    "Strong",
    "Timeline",
    "Trace",
    "Track",
    "Weak",
    "format_size",
    "load_snapshot",
    "load_trace",
    "move_in_pieces",
    "parse_size",
    "replay",
    "save_snapshot",
    "save_trace",
]
