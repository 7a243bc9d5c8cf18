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
from collections.abc import Iterator, Mapping
from itertools import pairwise

from wia_lab.errors import OutOfMemoryError, SizeError
from wia_lab.memory.base import Allocator, BookKeeper, require
from wia_lab.memory.block import Block, Explanation, Region, State, Stream
from wia_lab.memory.pieces import Bin, Piece, Pooled, new
from wia_lab.memory.sizes import SizeClasses, checked_alignment, checked_size, parse_size
from wia_lab.memory.statistics import Statistics

__all__ = ["Pool"]

MOST_MEMOS = 1 << 16  # sizes whose bin is remembered


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
        self._acquire, self._release = self._lock.acquire, self._lock.release
        self._pieces: dict[int, Piece] = {}  # all that is held from upstream, by offset
        self._bins: dict[int, dict[Stream | None, Bin]] = {}  # by class, then by stream
        self._plain: dict[int, Bin] = {}  # by size, without a stream
        self._memo: dict[Stream | None, dict[int, Bin]] = {None: self._plain}
        self._later: deque[Block] = deque()
        self._clock = 0  # counts frees
        self._reserved = 0  # live and kept, in bytes of their classes
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
            bin_ = self._plain[size] if stream is None else self._memo[stream][size]
        except (KeyError, TypeError):
            bin_ = self._bin_for(size, stream)
        if alignment is not None and checked_alignment(alignment, "Pool") > self.classes.granule:
            return self._allocate_aligned(size, alignment, stream)
        self._acquire()  # `with` would cost twice as much
        try:
            try:
                piece = bin_.kept.pop()
            except IndexError:
                piece = self._miss(bin_, size)
            self._live_bytes = live = self._live_bytes + bin_.size
            if live > self._peak_live:  # noqa: PLR1730  a call to max costs a tenth of a hit
                self._peak_live = live
            piece.lent = block = new(Pooled)
            block.piece = piece
            block.requested = size
        finally:
            self._release()
        return block

    def free(self, block: Block | int, *, stream: Stream | None = None) -> None:
        """Take a block back; `stream` is the one that last used it, by default its own."""
        try:
            piece = block.piece  # type: ignore[union-attr]
        except AttributeError:
            piece = self._find_pooled(block).piece
            block = piece.lent  # type: ignore[assignment]
        bin_ = piece.bin
        used_on = bin_.stream if stream is None else stream
        event = None if used_on is None else used_on.record()
        self._acquire()
        try:
            if piece.lent is not block or bin_.pool is not self:
                raise self._not_live(block)
            if used_on is not bin_.stream:
                piece.bin = bin_ = self._bin(bin_.number, used_on)
            piece.lent = None
            piece.event = event
            self._clock = piece.age = self._clock + 1
            self._live_bytes = live = self._live_bytes - bin_.size
            kept = bin_.kept
            kept.append(piece)
            if self._reserved - live > self.keep or len(kept) > self.keep_blocks:
                self._shrink(bin_)
        finally:
            self._release()

    # -- what a hit does not need -----------------------------------------------------------

    def _bin_for(self, size: int, stream: Stream | None) -> Bin:
        """Return the bin of a size on a stream, and remember it."""
        number = self.classes.index(checked_size(size, self.capacity, "Pool"))
        with self._lock:
            memo = self._memo.setdefault(stream, {})
            if len(memo) >= MOST_MEMOS:
                memo.clear()
            memo[size] = bin_ = self._bin(number, stream)
        return bin_

    def _bin(self, number: int, stream: Stream | None) -> Bin:
        streams = self._bins.setdefault(number, {})
        if (found := streams.get(stream)) is None:
            streams[stream] = found = Bin(self, number, self.classes.size(number), stream)
        return found

    def _find_pooled(self, block: Block | int) -> Pooled:
        """Return the pool's block for an offset, or raise what says why there is none."""
        with self._lock:
            if isinstance(block, Block):
                raise self._not_live(block)
            found = self._find(block)
        assert isinstance(found, Pooled)
        return found

    def _miss(self, bin_: Bin, size: int) -> Piece:
        """Take a piece of another stream whose event is done, or get one from upstream."""
        self._drain()
        for other in self._bins[bin_.number].values():
            if other.kept and other.kept[0].is_idle:
                piece = other.kept.popleft()
                piece.bin = bin_
                self._stolen += 1
                return piece
        self._make_room(bin_.size, size)
        return self._obtain(self._from_upstream(bin_.size, size), bin_)

    def _obtain(self, base: Block, bin_: Bin) -> Piece:
        """Enter a block of upstream in the books."""
        self._pieces[base.offset] = piece = Piece(base, bin_)
        self._misses += 1
        self._reserved += bin_.size
        self._peak_reserved = max(self._peak_reserved, self._reserved)
        return piece

    def _make_room(self, granted: int, size: int) -> None:
        """Give kept blocks back until `granted` more bytes stay within the limit."""
        while self._reserved + granted > self.limit:
            if not self._evict():
                free = self.limit - self._reserved + self._kept_bytes
                raise self._exhausted(size, free, free, f"free some, or raise limit={self.limit:,}")

    def _from_upstream(self, granted: int, size: int, alignment: int | None = None) -> Block:
        """Ask upstream; where it has no room, give kept blocks back and ask again."""
        while True:
            try:
                return self.upstream.allocate(granted, alignment=alignment)
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
            piece = next((p for p in reversed(kept) if p.base.offset % alignment == 0), None)
            if piece is not None:
                kept.remove(piece)
            else:
                self._make_room(bin_.size, size)
                piece = self._obtain(self._from_upstream(bin_.size, size, alignment), bin_)
            self._live_bytes += bin_.size
            self._peak_live = max(self._peak_live, self._live_bytes)
            piece.lent = block = new(Pooled)
            block.piece = piece
            block.requested = size
        return block

    def _evict(self) -> bool:
        """Give the least recently freed idle block back to upstream; tell whether there was one."""
        oldest: Bin | None = None
        for streams in self._bins.values():
            for bin_ in streams.values():
                kept = bin_.kept
                older = kept and (oldest is None or kept[0].age < oldest.kept[0].age)
                if older and kept[0].is_idle:
                    oldest = bin_
        if oldest is None:
            return False
        self._drop(oldest)
        return True

    def _drop(self, bin_: Bin) -> None:
        """Give the least recently freed block of one bin back to upstream."""
        piece = bin_.kept.popleft()
        self._reserved -= bin_.size
        del self._pieces[piece.base.offset]
        self.upstream.free(piece.base)

    def _shrink(self, bin_: Bin) -> None:
        """Keep within `keep` and `keep_blocks`; blocks still in use on a stream are kept longer."""
        while len(bin_.kept) > self.keep_blocks and bin_.kept[0].is_idle:
            self._drop(bin_)
        while self._kept_bytes > self.keep and self._evict():
            pass

    def free_later(self, block: Block) -> None:
        """Free `block` before the pool next goes below or is trimmed. Takes no lock.

        For finalisers: the garbage collector may run one while this thread holds the lock.
        """
        self._later.append(block)

    def _drain(self) -> None:
        """Free what finalisers left. Called with the lock held and the books in order."""
        while self._later:
            block = self._later.popleft()
            self._release()
            try:
                self.free(block)
            finally:
                self._acquire()

    def trim(self) -> int:
        """Give every idle kept block back to upstream; return their bytes."""
        with self._lock:
            self._drain()
            before = self._reserved
            while self._evict():
                pass
            return before - self._reserved

    # -- books ------------------------------------------------------------------------------

    def block_at(self, offset: int) -> Block | None:
        piece = self._pieces.get(offset)
        return None if piece is None else piece.lent

    def _table(self) -> Mapping[int, Block]:
        return {offset: p.lent for offset, p in self._pieces.items() if p.lent is not None}

    @property
    def _kept_bytes(self) -> int:
        """What is kept for reuse: the rest of what was taken from upstream."""
        return self._reserved - self._live_bytes

    @property
    def stolen(self) -> int:
        """Blocks reused on another stream than the one they were freed on."""
        return self._stolen

    @property
    def statistics(self) -> Statistics:
        with self._lock:
            live = sum(piece.lent is not None for piece in self._pieces.values())
            self._allocations = self._clock + live  # each allocation was freed or is live
            hits = self._allocations - self._misses
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
                offset = own.kept[-1].base.offset
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
        """Yield what the pool holds, in order of address; the gaps between are upstream's."""
        with self._lock:
            for offset in sorted(self._pieces):
                piece = self._pieces[offset]
                kept: State = "cached" if piece.is_idle else "deferred"
                state: State = "live" if piece.lent else kept
                yield Region(offset, piece.bin.size, state, piece.lent)

    def check(self) -> None:
        with self._lock:
            self._check_books()
            bins = [b for streams in self._bins.values() for b in streams.values()]
            kept = [piece for bin_ in bins for piece in bin_.kept]
            require(len(set(kept)) == len(kept), "a piece is kept twice")
            require(all(p.lent is None for p in kept), "a piece is kept and lent")
            lent = [p for p in self._pieces.values() if p.lent is not None]
            require(len(kept) + len(lent) == len(self._pieces), "a piece was lost")
            held = sum(p.bin.size for p in kept) + self._live_bytes
            require(held == self._reserved, f"{held:,} B are held, not {self._reserved:,}")
            for bin_ in bins:
                ages = [piece.age for piece in bin_.kept]
                require(ages == sorted(ages), "a bin is not in order of age")
                require(all(p.bin is bin_ for p in bin_.kept), "a piece is in the wrong bin")
            require(self._reserved <= self.limit, "the limit is passed")
        regions = list(self.regions())
        for region, behind in pairwise(regions):
            require(region.offset + region.size <= behind.offset, "two blocks overlap")
