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
from typing import TYPE_CHECKING

from wia_lab.errors import DoubleFreeError, OutOfMemoryError
from wia_lab.memory.adaptors import Adaptor
from wia_lab.memory.base import Allocator, require
from wia_lab.memory.block import Block, Event, Explanation, Region, Stream
from wia_lab.memory.index import SizeIndex
from wia_lab.memory.sizes import GRANULE, checked_alignment, checked_size

if TYPE_CHECKING:
    from wia_lab.memory.statistics import Statistics

__all__ = ["StreamOrdered"]


class _Deferred:
    """A block freed on a stream that may still be using it."""

    __slots__ = ("block", "event", "offset", "size", "stream")

    def __init__(self, block: Block, stream: Stream, event: Event) -> None:
        self.block = block
        self.stream = stream
        self.event = event
        self.offset = block.offset
        self.size = block.size // GRANULE * GRANULE


class StreamOrdered(Adaptor):
    """Hold freed blocks until their stream has passed, except from that same stream.

    A block freed without a stream (neither given now nor when it was allocated) is idle and goes
    to upstream at once. The stream given to `free` is the one that last used the block.
    """

    def __init__(self, upstream: Allocator) -> None:
        super().__init__(upstream)
        self._waiting: dict[Stream, OrderedDict[_Deferred, None]] = {}  # oldest event first
        self._reusable: dict[Stream, SizeIndex[_Deferred]] = {}
        self._used_on: dict[Block, Stream | None] = {}  # live blocks
        self._deferred_bytes = 0
        self.reused = 0  # blocks handed out again before their event was done

    def allocate(
        self, size: int, *, alignment: int | None = None, stream: Stream | None = None
    ) -> Block:
        checked_size(size, self.capacity, "StreamOrdered")
        self.collect()
        block = None if stream is None else self._from_stream(size, alignment, stream)
        if block is None:
            try:
                block = self.upstream.allocate(size, alignment=alignment, stream=stream)
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
        self._used_on[block] = stream
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
        self._deferred_bytes -= found.block.size
        self.reused += 1
        old = found.block
        # A new handle, so that the freed one cannot free what it no longer owns
        return _Relent(old, size, stream)

    def free(self, block: Block | int, *, stream: Stream | None = None) -> None:
        live = self._live_block(block) if isinstance(block, int) else block
        if live not in self._used_on:
            if any(live is d.block for waiting in self._waiting.values() for d in waiting):
                raise DoubleFreeError(f"{live!r} was freed before and waits for its stream")
            if isinstance(live, _Relent):
                raise DoubleFreeError(f"{live!r} was freed before: free each block once")
            self.upstream.free(block, stream=stream)  # refuses it and says why
            return
        used_on = stream if stream is not None else self._used_on[live]
        event = None if used_on is None else used_on.record()
        del self._used_on[live]
        below = live.below if isinstance(live, _Relent) else live
        if used_on is None or event is None or event.is_done:
            self.upstream.free(below)
            return
        deferred = _Deferred(below, used_on, event)
        self._waiting.setdefault(used_on, OrderedDict())[deferred] = None
        self._reusable.setdefault(used_on, SizeIndex(GRANULE)).add(deferred)
        self._deferred_bytes += below.size

    def collect(self) -> int:
        """Give upstream every deferred block whose event is done; return their bytes."""
        freed = 0
        for stream, waiting in list(self._waiting.items()):
            while waiting and next(iter(waiting)).event.is_done:
                done, _ = waiting.popitem(last=False)
                self._reusable[stream].remove(done)
                self._deferred_bytes -= done.block.size
                freed += done.block.size
                self.upstream.free(done.block)
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
            live_bytes=below.live_bytes - self._deferred_bytes,
            cached_bytes=below.cached_bytes + self._deferred_bytes,
        )

    def explain(self, nbytes: int) -> Explanation:
        below = self.upstream.explain(nbytes)
        if below.fits or not self._deferred_bytes:
            return below
        reason = f"{below.reason}; {self._deferred_bytes:,} B more wait for their streams"
        return replace(below, reason=reason)

    def blocks(self) -> Iterator[Block]:
        return iter(list(self._used_on))

    def regions(self) -> Iterator[Region]:
        deferred = {d.offset for waiting in self._waiting.values() for d in waiting}
        for region in self.upstream.regions():
            if region.state == "live" and region.offset in deferred:
                yield Region(region.offset, region.size, "deferred")
            else:
                yield region

    def check(self) -> None:
        self.upstream.check()
        deferred = [d.block for waiting in self._waiting.values() for d in waiting]
        held = [b.below if isinstance(b, _Relent) else b for b in self._used_on]
        require(len(set(deferred + held)) == len(deferred + held), "a block is live and deferred")
        require(set(deferred + held) <= set(self.upstream.blocks()), "a held block is not live")
        require(sum(b.size for b in deferred) == self._deferred_bytes, "deferred bytes were lost")


class _Relent(Block):
    """A new handle on a block that its stream freed and took again."""

    __slots__ = ("below",)

    def __init__(self, below: Block, requested: int, stream: Stream) -> None:
        super().__init__(below.offset, below.size, requested, below.owner, below.alignment, stream)
        self.below: Block = below
