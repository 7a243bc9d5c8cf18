"""A pool: freed blocks are kept by size class and stream, and handed out again at once.

A hit costs one `pop` and an entry in the live table; nothing is asked below. What a pool must
get right is everything around that: the books under threads (one lock, held for the whole step),
the age of what it keeps (least recently freed goes first), its limit, and who may reuse a block
when. A block freed on a stream is reused on that stream at once, because work there runs in
order; on another stream only after the event that was recorded when it was freed.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator

from wia_lab.errors import OutOfMemoryError, SizeError
from wia_lab.memory.base import Allocator, BookKeeper, require
from wia_lab.memory.block import Block, Event, Explanation, Region, Stream
from wia_lab.memory.sizes import SizeClasses, checked_alignment, checked_size, parse_size
from wia_lab.memory.statistics import Statistics

__all__ = ["Pool"]

MOST_MEMOS = 1 << 16  # sizes whose bin is remembered

Kept = tuple[Block, int, Event | None]  # upstream's block, its age, what must be done before reuse


class _Bin:
    """The blocks of one class that were last used on one stream, least recently freed first."""

    __slots__ = ("hits", "kept", "number", "size", "stream")

    def __init__(self, number: int, size: int, stream: Stream | None) -> None:
        self.number = number
        self.size = size
        self.stream = stream
        self.kept: deque[Kept] = deque()
        self.hits = 0


class _Pooled(Block):
    """A block of a pool: it knows upstream's block under it and the bin it came through."""

    __slots__ = ("base", "bin")

    def __init__(self, base: Block, bin_: _Bin, requested: int, owner: Pool) -> None:
        # every slot set here: a call to Block's own constructor would cost a tenth of a hit
        self.offset = base.offset
        self.size = bin_.size
        self.requested = requested
        self.owner = owner
        self.alignment = base.alignment
        self.stream = bin_.stream
        self.base = base
        self.bin = bin_


class Pool(BookKeeper):
    """Keep freed blocks by size class for reuse. Any number of threads may use it.

    Parameters
    ----------
    upstream : Allocator
        Asked on a miss, always with the pool's lock held.
    classes : SizeClasses, optional
        The spacing of sizes; 4 to a doubling by default, so at most a fifth is rounding.
    keep : int or str
        Most bytes kept for reuse; beyond them the least recently freed go back.
    keep_blocks : int
        Most blocks kept in one class for one stream.
    limit : int or str, optional
        Most bytes taken from upstream, live and kept together.
    """

    def __init__(
        self,
        upstream: Allocator,
        *,
        classes: SizeClasses | None = None,
        keep: int | str | None = None,
        keep_blocks: int = 1 << 20,
        limit: int | str | None = None,
    ) -> None:
        super().__init__()
        self.upstream = upstream
        self.classes = classes or SizeClasses()
        self.keep = upstream.capacity if keep is None else parse_size(keep)
        self.keep_blocks = keep_blocks
        self.limit = upstream.capacity if limit is None else parse_size(limit)
        if self.keep < 0 or keep_blocks < 0 or self.limit <= 0:
            raise SizeError(
                f"a pool with keep={keep!r}, keep_blocks={keep_blocks} and limit={limit!r}: "
                "give none of them below 0, and a limit above it"
            )
        self._lock = threading.Lock()
        self._bins: dict[int, dict[Stream | None, _Bin]] = {}  # by class, then by stream
        self._memo: dict[Stream | None, dict[int, _Bin]] = {None: {}}  # by stream, then by size
        self._later: deque[Block] = deque()
        self._clock = 0
        self._kept_bytes = 0
        self._reserved = 0
        self._peak_reserved = 0
        self._misses = 0
        self._stolen = 0

    @property
    def capacity(self) -> int:
        return min(self.limit, self.upstream.capacity)

    # -- the fast path ----------------------------------------------------------------------

    def allocate(
        self, size: int, *, alignment: int | None = None, stream: Stream | None = None
    ) -> Block:
        try:
            bin_ = self._memo[stream][size]
        except (KeyError, TypeError):
            bin_ = self._bin_for(size, stream)
        if alignment is not None and checked_alignment(alignment, "Pool") > self.classes.granule:
            return self._allocate_aligned(size, alignment, stream)
        with self._lock:
            try:
                base, _, _ = bin_.kept.pop()
            except IndexError:
                base = self._miss(bin_, size)
            else:
                bin_.hits += 1
                self._kept_bytes -= bin_.size
            self._live_bytes = live = self._live_bytes + bin_.size
            if live > self._peak_live:
                self._peak_live = live
            self._live[base.offset] = block = _Pooled(base, bin_, size, self)
        return block

    def free(self, block: Block | int, *, stream: Stream | None = None) -> None:
        """Take a block back; `stream` is the one that last used it, by default its own."""
        if block.__class__ is not _Pooled:
            block = self._find_pooled(block)
        used_on = block.stream if stream is None else stream
        event = None if used_on is None else used_on.record()
        with self._lock:
            if self._live.get(block.offset) is not block:
                raise self._not_live(block)
            del self._live[block.offset]
            bin_ = block.bin
            size = bin_.size
            self._live_bytes -= size
            self._clock = age = self._clock + 1
            if used_on is not bin_.stream:
                bin_ = self._bin(bin_.number, used_on)
            bin_.kept.append((block.base, age, event))
            self._kept_bytes = kept = self._kept_bytes + size
            if kept > self.keep or len(bin_.kept) > self.keep_blocks:
                self._shrink(bin_)

    # -- what a hit does not need -----------------------------------------------------------

    def _bin_for(self, size: int, stream: Stream | None) -> _Bin:
        """Return the bin of a size on a stream, and remember it."""
        number = self.classes.index(checked_size(size, self.capacity, "Pool"))
        with self._lock:
            memo = self._memo.setdefault(stream, {})
            if len(memo) >= MOST_MEMOS:
                memo.clear()
            memo[size] = bin_ = self._bin(number, stream)
        return bin_

    def _bin(self, number: int, stream: Stream | None) -> _Bin:
        streams = self._bins.setdefault(number, {})
        if (found := streams.get(stream)) is None:
            streams[stream] = found = _Bin(number, self.classes.size(number), stream)
        return found

    def _find_pooled(self, block: Block | int) -> _Pooled:
        """Return the pool's block for an offset, or raise what says why there is none."""
        with self._lock:
            if isinstance(block, Block):
                raise self._not_live(block)
            found = self._find(block)
        assert isinstance(found, _Pooled)
        return found

    def _miss(self, bin_: _Bin, size: int) -> Block:
        """Take a block of another stream whose event is done, or get one from upstream."""
        self._drain()
        for other in self._bins[bin_.number].values():
            if other.kept and self._idle(other.kept[0]):
                base, _, _ = other.kept.popleft()
                self._stolen += 1
                self._kept_bytes -= bin_.size
                return base
        self._make_room(bin_.size, size)
        base = self._from_upstream(bin_.size, size)
        self._misses += 1
        self._reserved += base.size
        self._peak_reserved = max(self._peak_reserved, self._reserved)
        return base

    def _make_room(self, granted: int, size: int) -> None:
        """Give kept blocks back until `granted` more bytes stay within the limit."""
        while self._reserved + granted > self.limit:
            if not self._evict():
                free = self.limit - self._reserved + self._kept_bytes
                raise self._exhausted(size, free, free, f"free some, or raise limit={self.limit:,}")

    def _from_upstream(self, granted: int, size: int) -> Block:
        """Ask upstream; where it has no room, give kept blocks back and ask again."""
        while True:
            try:
                return self.upstream.allocate(granted, alignment=self.classes.granule)
            except (OutOfMemoryError, SizeError) as error:
                below = self.upstream.statistics
                if not self._evict():
                    raise self._exhausted(
                        size,
                        below.free_bytes + self._kept_bytes,
                        below.largest_free_bytes,
                        f"free some; a block of its class has {granted:,} B",
                    ) from error

    def _allocate_aligned(self, size: int, alignment: int, stream: Stream | None) -> Block:
        """Allocate so much that an aligned block lies in it; nothing below knows of it."""
        checked_size(size, self.capacity, "Pool")
        bin_ = self._bin_for(max(size, alignment), stream)
        with self._lock:
            kept = bin_.kept
            found = next((k for k in reversed(kept) if k[0].offset % alignment == 0), None)
            if found is not None:
                kept.remove(found)
                bin_.hits += 1
                self._kept_bytes -= bin_.size
                base = found[0]
            else:
                self._make_room(bin_.size, size)
                base = self.upstream.allocate(bin_.size, alignment=alignment)
                self._misses += 1
                self._reserved += base.size
                self._peak_reserved = max(self._peak_reserved, self._reserved)
            self._live_bytes += bin_.size
            self._peak_live = max(self._peak_live, self._live_bytes)
            self._live[base.offset] = block = _Pooled(base, bin_, size, self)
            block.alignment = alignment
        return block

    @staticmethod
    def _idle(kept: Kept) -> bool:
        """Whether the work that last used a kept block is done."""
        return kept[2] is None or kept[2].is_done

    def _evict(self) -> bool:
        """Give the least recently freed idle block back to upstream; tell whether there was one."""
        oldest: _Bin | None = None
        for streams in self._bins.values():
            for bin_ in streams.values():
                kept = bin_.kept
                if kept and (oldest is None or kept[0][1] < oldest.kept[0][1]) and self._idle(kept[0]):
                    oldest = bin_
        if oldest is None:
            return False
        self._drop(oldest)
        return True

    def _drop(self, bin_: _Bin) -> None:
        """Give the least recently freed block of one bin back to upstream."""
        base, _, _ = bin_.kept.popleft()
        self._kept_bytes -= bin_.size
        self._reserved -= base.size
        self.upstream.free(base)

    def _shrink(self, bin_: _Bin) -> None:
        """Keep within `keep` and `keep_blocks`; blocks still in use on a stream are kept longer."""
        while len(bin_.kept) > self.keep_blocks and self._idle(bin_.kept[0]):
            self._drop(bin_)
        while self._kept_bytes > self.keep and self._evict():
            pass

    def free_later(self, block: Block) -> None:
        """Free `block` before the pool next goes below or is trimmed. Takes no lock.

        For finalisers: the garbage collector may run one while this thread holds the lock.
        """
        self._later.append(block)

    def _drain(self) -> None:
        """Free what finalisers left."""
        while self._later:
            block = self._later.popleft()
            if self._live.get(block.offset) is block and isinstance(block, _Pooled):
                del self._live[block.offset]
                self._live_bytes -= block.size
                self._clock += 1
                event = None if block.stream is None else block.stream.record()
                block.bin.kept.append((block.base, self._clock, event))
                self._kept_bytes += block.size

    def trim(self) -> int:
        """Give every idle kept block back to upstream; return their bytes."""
        with self._lock:
            self._drain()
            before = self._reserved
            while self._evict():
                pass
            return before - self._reserved

    # -- books ------------------------------------------------------------------------------

    @property
    def stolen(self) -> int:
        """Blocks reused on another stream than the one they were freed on."""
        return self._stolen

    @property
    def statistics(self) -> Statistics:
        with self._lock:
            hits = self._stolen + sum(b.hits for s in self._bins.values() for b in s.values())
            self._allocations = hits + self._misses
            sizes = [b.size for s in self._bins.values() for b in s.values() if b.kept]
            room = max(0, self.limit - self._reserved)
            return Statistics(
                **self._counters(),
                reserved_bytes=self._reserved,
                peak_reserved_bytes=self._peak_reserved,
                free_bytes=self._kept_bytes + room,
                largest_free_bytes=max([room, *sizes]),
                cached_bytes=self._kept_bytes,
                hits=hits,
                misses=self._misses,
            )

    def explain(self, nbytes: int) -> Explanation:
        checked_size(nbytes, self.capacity, "Pool")
        with self._lock:
            number = self.classes.index(nbytes)
            granted = self.classes.size(number)
            own = self._bins.get(number, {}).get(None)
            if own and own.kept:
                offset = own.kept[-1][0].offset
                reason = f"a hit: {nbytes:,} B reuse the block of {granted:,} B at {offset:#x}"
                return Explanation(nbytes, granted, True, offset, reason)
            if self._reserved - self._kept_bytes + granted > self.limit:
                reason = (
                    f"{granted:,} B more than the {self._live_bytes:,} B that are live would pass "
                    f"the limit of {self.limit:,} B: free some, or raise limit="
                )
                return Explanation(nbytes, granted, False, None, reason)
            below = self.upstream.explain(min(granted, self.upstream.capacity))
            reason = f"a miss in the class of {granted:,} B: {below.reason}"
            if not below.fits and self._kept_bytes:
                reason += f"; {self._kept_bytes:,} B kept for reuse would be given back first"
            return Explanation(nbytes, granted, below.fits, below.offset, reason)

    def regions(self) -> Iterator[Region]:
        with self._lock:
            regions = [Region(b.offset, b.size, "live", b) for b in self._live.values()]
            for streams in self._bins.values():
                for bin_ in streams.values():
                    for kept in bin_.kept:
                        state = "cached" if self._idle(kept) else "deferred"
                        regions.append(Region(kept[0].offset, bin_.size, state))  # type: ignore[arg-type]
        return iter(sorted(regions, key=lambda region: region.offset))

    def check(self) -> None:
        with self._lock:
            self._check_books()
            bins = [b for streams in self._bins.values() for b in streams.values()]
            kept = sum(b.size * len(b.kept) for b in bins)
            require(kept == self._kept_bytes, f"{kept:,} B are kept, not {self._kept_bytes:,}")
            taken = [k[0] for b in bins for k in b.kept]
            taken += [b.base for b in self._live.values() if isinstance(b, _Pooled)]
            require(len({b.offset for b in taken}) == len(taken), "a block is kept twice or live")
            require(sum(b.size for b in taken) == self._reserved, "reserved bytes were lost")
            for bin_ in bins:
                ages = [age for _, age, _ in bin_.kept]
                require(ages == sorted(ages), "a bin is not in order of age")
            require(self._reserved <= self.limit, "the limit is passed")
        for region, behind in zip(regions := list(self.regions()), regions[1:], strict=False):
            require(region.offset + region.size <= behind.offset, "two blocks overlap")
