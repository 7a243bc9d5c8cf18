"""Buddies: blocks of a power of two, split in halves and merged with the half they came from.

A block of order k has `minimum` × 2^k bytes and starts at a multiple of its size, so its buddy's
offset differs from its own in one bit. Splitting stops at the smallest order that holds the
request, and a free block merges only with a buddy that is free *and of the same order*.
"""

from __future__ import annotations

from collections.abc import Iterator

from wia_lab.errors import OutOfMemoryError, SizeError
from wia_lab.memory.base import Allocator, BookKeeper, require
from wia_lab.memory.block import Block, Explanation, Region, Stream
from wia_lab.memory.index import strike
from wia_lab.memory.sizes import GRANULE, checked_alignment, checked_size, parse_size
from wia_lab.memory.statistics import Statistics

__all__ = ["Buddy"]


class Buddy(BookKeeper):
    """Split and merge power-of-two blocks of one range.

    Parameters
    ----------
    upstream : Allocator
        Where the range comes from: one block of `capacity` bytes, given back by `close`.
    capacity : int or str
        Bytes of the range, a power of two times `minimum`.
    minimum : int
        Bytes of the smallest block, a power of two.
    """

    def __init__(self, upstream: Allocator, capacity: int | str, *, minimum: int = GRANULE) -> None:
        super().__init__()
        checked_alignment(minimum, "Buddy")
        self._capacity = parse_size(capacity)
        if self._capacity < minimum or self._capacity & (self._capacity - 1):
            raise SizeError(
                f"a buddy range of {self._capacity:,} B: give a power of two, at least {minimum:,}"
            )
        self.minimum = minimum
        self.upstream = upstream
        self._top = (self._capacity // minimum).bit_length() - 1  # order of the whole range
        self._base = upstream.allocate(self._capacity, alignment=minimum)
        self._free: list[dict[int, None]] = [{} for _ in range(self._top + 1)]
        self._free[self._top][0] = None
        self._orders = 1 << self._top  # a bit for each order that has a free block
        self._highest = 0

    @property
    def capacity(self) -> int:
        return self._capacity

    def order_of(self, size: int) -> int:
        """Return the smallest order whose blocks hold `size` bytes."""
        return (-(-size // self.minimum) - 1).bit_length()

    def allocate(
        self, size: int, *, alignment: int | None = None, stream: Stream | None = None
    ) -> Block:
        checked_size(size, self._capacity, "Buddy")
        if alignment is not None:
            checked_alignment(alignment, "Buddy")
        order = self.order_of(max(size, alignment or 0))
        found = self._smallest_from(order)
        if found is None:
            free, largest = self._holes()
            raise self._exhausted(size, free, largest, "free some, or give it a larger range")
        offset = next(reversed(self._free[found]))
        self._take(found, offset)
        while found > order:
            found -= 1
            self._put(found, offset + (self.minimum << found))  # the upper half stays free
        granted = self.minimum << order
        self._highest = max(self._highest, offset + granted)
        return self._enter(Block(offset, granted, size, self, alignment or self.minimum, stream))

    def free(self, block: Block | int, *, stream: Stream | None = None) -> None:
        del stream  # as a heap's: idle when freed
        block = self._leave(block)
        offset, order = block.offset, self.order_of(block.size)
        while order < self._top and (buddy := offset ^ self.minimum << order) in self._free[order]:
            self._take(order, buddy)
            offset = min(offset, buddy)
            order += 1
        self._put(order, offset)

    def _smallest_from(self, order: int) -> int | None:
        """Return the smallest order, from `order` up, that has a free block."""
        larger = self._orders >> order
        return order + (larger & -larger).bit_length() - 1 if larger else None

    def _take(self, order: int, offset: int) -> None:
        strike(self._free[order], offset)
        if not self._free[order]:
            self._orders &= ~(1 << order)

    def _put(self, order: int, offset: int) -> None:
        self._free[order][offset] = None
        self._orders |= 1 << order

    def _holes(self) -> tuple[int, int]:
        """Return the bytes free in all and those of the largest free block."""
        free = sum(len(blocks) * self.minimum << k for k, blocks in enumerate(self._free))
        return free, self.minimum << self._orders.bit_length() - 1 if self._orders else 0

    def close(self) -> None:
        """Give the range back. Refused while a block is live."""
        if self._live:
            raise OutOfMemoryError(
                f"Buddy closed with {len(self._live):,} live blocks: free them first"
            )
        self.upstream.free(self._base)

    @property
    def statistics(self) -> Statistics:
        free, largest = self._holes()
        return Statistics(
            **self._counters(),
            reserved_bytes=max((b.end for b in self._live.values()), default=0),
            peak_reserved_bytes=self._highest,
            free_bytes=free,
            largest_free_bytes=largest,
        )

    def explain(self, nbytes: int) -> Explanation:
        order = self.order_of(checked_size(nbytes, self._capacity, "Buddy"))
        granted = self.minimum << order
        found = self._smallest_from(order)
        if found is None:
            free, largest = self._holes()
            return Explanation(
                nbytes,
                granted,
                False,
                None,
                f"{nbytes:,} B need a block of {granted:,} B: {free:,} B are free, but no block "
                f"larger than {largest:,} B: free the buddy of one that is",
            )
        offset = next(reversed(self._free[found]))
        splits = found - order
        return Explanation(
            nbytes,
            granted,
            True,
            offset,
            f"{nbytes:,} B take a block of {granted:,} B at {offset:#x}, after {splits} "
            f"split{'' if splits == 1 else 's'} of one of {self.minimum << found:,} B",
        )

    def regions(self) -> Iterator[Region]:
        free = [
            Region(offset, self.minimum << order, "free")
            for order, blocks in enumerate(self._free)
            for offset in blocks
        ]
        live = [Region(b.offset, b.size, "live", b) for b in self._live.values()]
        return iter(sorted(free + live, key=lambda region: region.offset))

    def check(self) -> None:
        self._check_books()
        end = 0
        for region in self.regions():
            require(region.offset == end, f"a gap or overlap at {end:#x}")
            require(region.offset % region.size == 0, f"the block at {end:#x} is misplaced")
            end += region.size
        require(end == self._capacity, f"the map covers {end:,} of {self._capacity:,} B")
        for order, blocks in enumerate(self._free):
            require(bool(blocks) == bool(self._orders >> order & 1), "the order bits are wrong")
            if order < self._top:
                for offset in blocks:
                    buddy = offset ^ self.minimum << order
                    require(buddy not in blocks, f"two free buddies at {offset:#x} not merged")
