"""Stream-ordered reuse: a freed block is still in use until its stream has got that far.

On a device, `free` is called when the host has *submitted* the last kernel that uses a block, not
when that kernel has run. So a freed block carries its stream and an event recorded there:

- the same stream may reuse it at once, because its next kernel runs after the last;
- anyone else may reuse it once the event is done.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from wia_lab.errors import OutOfMemoryError
from wia_lab.memory.adaptors import Adaptor
from wia_lab.memory.base import Allocator, refusal, require
from wia_lab.memory.block import Block, Event, Explanation, Region, Stream
from wia_lab.memory.index import SizeIndex
from wia_lab.memory.sizes import GRANULE, checked_alignment, checked_size

if TYPE_CHECKING:
    from wia_lab.memory.statistics import Statistics

__all__ = ["StreamOrdered"]


class _Ordered(Block):
    """A block lent out: a new handle each time, so that a freed one cannot free it again."""

    __slots__ = ("below",)

    def __init__(self, below: Block, requested: int, owner: StreamOrdered, stream: Any) -> None:
        super().__init__(below.offset, below.size, requested, owner, below.alignment, stream)
        self.below = below


class _Deferred:
    """A block freed on a stream that may still be using it."""

    __slots__ = ("below", "event", "offset", "size", "stream")

    def __init__(self, below: Block, stream: Stream, event: Event) -> None:
        self.below = below
        self.stream = stream
        self.event = event
        self.offset = below.offset
        self.size = below.size // GRANULE * GRANULE  # as the index counts


class StreamOrdered(Adaptor):
    """Hold freed blocks until their stream has passed, except from that same stream.

    A block freed without a stream (neither given now nor when it was allocated) is idle and goes
    to upstream at once. The stream given to `free` is the one that last used the block.
    """

    def __init__(self, upstream: Allocator) -> None:
        super().__init__(upstream)
        self._waiting: dict[Stream, OrderedDict[_Deferred, None]] = {}  # oldest event first
        self._reusable: dict[Stream, SizeIndex[_Deferred]] = {}
        self._live: dict[int, _Ordered] = {}
        self._deferred_bytes = 0
        self.reused = 0  # blocks handed out again before their event was done

    def allocate(
        self, size: int, *, alignment: int | None = None, stream: Stream | None = None
    ) -> Block:
        checked_size(size, self.capacity, "StreamOrdered")
        self.collect()
        below = None if stream is None else self._from_stream(size, alignment, stream)
        if below is None:
            try:
                below = self.upstream.allocate(size, alignment=alignment, stream=stream)
            except OutOfMemoryError as error:
                if not self._deferred_bytes:
                    raise
                raise OutOfMemoryError(
                    f"{error}; {self._deferred_bytes:,} B more wait for their streams: "
                    "synchronise one and ask again",
                    error.requested,
                    error.free,
                    error.largest_free,
                    error.holders,
                ) from error
        self._live[below.offset] = block = _Ordered(below, size, self, stream)
        return block

    def _from_stream(self, size: int, alignment: int | None, stream: Stream) -> Block | None:
        """Return a block that the same stream freed and that is not much larger than asked."""
        index = self._reusable.get(stream)
        found = None if index is None else index.find(size)
        if index is None or found is None or found.size > 2 * max(size, GRANULE):
            return None
        if alignment is not None and found.offset % checked_alignment(alignment, "StreamOrdered"):
            return None
        index.remove(found)
        del self._waiting[stream][found]
        self._deferred_bytes -= found.below.size
        self.reused += 1
        return found.below

    def free(self, block: Block | int, *, stream: Stream | None = None) -> None:
        offset = block.offset if isinstance(block, Block) else block
        live = self._live.get(offset) if isinstance(offset, int) else None
        if live is None or (live is not block and isinstance(block, Block)):
            raise refusal(self, block, self._live.values())
        used_on = live.stream if stream is None else stream
        event = None if used_on is None else used_on.record()
        del self._live[live.offset]
        if used_on is None or event is None or event.is_done:
            self.upstream.free(live.below)
            return
        deferred = _Deferred(live.below, used_on, event)
        self._waiting.setdefault(used_on, OrderedDict())[deferred] = None
        self._reusable.setdefault(used_on, SizeIndex(GRANULE)).add(deferred)
        self._deferred_bytes += deferred.below.size

    def collect(self) -> int:
        """Give upstream every deferred block whose event is done; return their bytes."""
        freed = 0
        for stream, waiting in list(self._waiting.items()):
            while waiting and next(iter(waiting)).event.is_done:
                done, _ = waiting.popitem(last=False)
                self._reusable[stream].remove(done)
                self._deferred_bytes -= done.below.size
                freed += done.below.size
                self.upstream.free(done.below)
            if not waiting:
                del self._waiting[stream], self._reusable[stream]
        return freed

    def trim(self) -> int:
        return self.collect() + self.upstream.trim()

    @property
    def deferred_bytes(self) -> int:
        """Bytes that were freed and wait for their stream."""
        return self._deferred_bytes

    @property
    def statistics(self) -> Statistics:
        below = self.upstream.statistics
        waiting = sum(len(w) for w in self._waiting.values())
        return replace(
            below,
            live_blocks=below.live_blocks - waiting,
            requested_bytes=sum(block.requested for block in self._live.values()),
            frees=below.allocations + self.reused - len(self._live),
            allocations=below.allocations + self.reused,
            live_bytes=below.live_bytes - self._deferred_bytes,
            cached_bytes=below.cached_bytes + self._deferred_bytes,
        )

    def explain(self, nbytes: int) -> Explanation:
        below = self.upstream.explain(nbytes)
        if below.fits or not self._deferred_bytes:
            return below
        reason = f"{below.reason}; {self._deferred_bytes:,} B more wait for their streams"
        return replace(below, reason=reason)

    def block_at(self, offset: int) -> Block | None:
        return self._live.get(offset)

    def blocks(self) -> Iterator[Block]:
        return iter(list(self._live.values()))

    def regions(self) -> Iterator[Region]:
        deferred = {d.offset for waiting in self._waiting.values() for d in waiting}
        for region in self.upstream.regions():
            if region.state == "live" and region.offset in deferred:
                yield Region(region.offset, region.size, "deferred")
            elif region.state == "live":
                yield replace(region, block=self._live.get(region.offset))
            else:
                yield region

    def check(self) -> None:
        self.upstream.check()
        deferred = [d.below for waiting in self._waiting.values() for d in waiting]
        lent = [block.below for block in self._live.values()]
        require(len(set(deferred + lent)) == len(deferred + lent), "a block is live and deferred")
        require(set(deferred + lent) == set(self.upstream.blocks()), "a block was lost")
        require(sum(b.size for b in deferred) == self._deferred_bytes, "deferred bytes were lost")
