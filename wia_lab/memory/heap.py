"""A heap: one range of bytes, its holes kept by size or by address, neighbours merged.

The heap is what the other allocators stand on. It never moves a block (compaction.py does) and
its cost does not grow with the number of blocks: each free looks at two neighbours, each
allocation asks an index.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from wia_lab.errors import InvariantError, SizeError
from wia_lab.memory.base import BookKeeper, require
from wia_lab.memory.block import Block, Explanation, Region, Stream
from wia_lab.memory.index import AddressIndex, SizeIndex
from wia_lab.memory.sizes import GRANULE, align_up, checked_alignment, checked_size, parse_size
from wia_lab.memory.statistics import Statistics

if TYPE_CHECKING:
    from wia_lab.memory.backing import Backing

__all__ = ["Extent", "Heap"]

Fit = Literal["best", "first"]


class Extent:
    """A stretch of the heap: a hole, or a live block; linked to its neighbours in memory."""

    __slots__ = ("block", "following", "offset", "previous", "size")

    def __init__(self, offset: int, size: int) -> None:
        self.offset = offset
        self.size = size
        self.block: Block | None = None  # None: a hole
        self.previous: Extent | None = None
        self.following: Extent | None = None


class Heap(BookKeeper):
    """A range of bytes from which blocks are cut.

    Parameters
    ----------
    capacity : int or str
        Bytes in the range, such as "2GiB".
    granule : int
        Sizes and offsets are multiples of it, in bytes.
    fit : {"best", "first"}
        Best fit takes the smallest hole that is large enough, first fit the lowest in memory.
    backing : Backing, optional
        The bytes behind the range; must have at least `capacity` bytes.
    """

    def __init__(
        self,
        capacity: int | str,
        *,
        granule: int = GRANULE,
        fit: Fit = "best",
        backing: Backing | None = None,
    ) -> None:
        super().__init__()
        checked_alignment(granule, "Heap")
        self._capacity = parse_size(capacity) // granule * granule
        if self._capacity <= 0:
            raise SizeError(f"a heap of {capacity!r}: give at least one granule, {granule:,} B")
        if backing is not None and backing.nbytes < self._capacity:
            raise SizeError(
                f"a heap of {self._capacity:,} B over a backing of {backing.nbytes:,} B: "
                "make the backing larger or the heap smaller"
            )
        if fit not in {"best", "first"}:
            raise SizeError(f"fit={fit!r}: give 'best' or 'first'")
        self.granule = granule
        self.backing = backing
        self.fit = fit
        self._holes: SizeIndex[Extent] | AddressIndex[Extent] = (
            SizeIndex(granule) if fit == "best" else AddressIndex(granule, self._capacity)
        )
        self._first = Extent(0, self._capacity)
        self._last = self._first
        self._holes.add(self._first)
        self._extents: dict[int, Extent] = {}  # live ones, by offset
        self._free_bytes = self._capacity
        self._peak_top = 0

    @property
    def capacity(self) -> int:
        return self._capacity

    @property
    def free_bytes(self) -> int:
        """Bytes in holes."""
        return self._free_bytes

    @property
    def peak_top(self) -> int:
        """The highest that `top` has been."""
        return self._peak_top

    def would_go(self, size: int) -> int | None:
        """Return the offset at which a request of `size` bytes would be placed, if anywhere."""
        hole = self._holes.find(align_up(size, self.granule))
        return None if hole is None else hole.offset

    @property
    def top(self) -> int:
        """The end of the last live block: what a plain range has had to reserve."""
        return self._last.offset if self._last.block is None else self._capacity

    def allocate(
        self, size: int, *, alignment: int | None = None, stream: Stream | None = None
    ) -> Block:
        granule = self.granule
        granted = -(-checked_size(size, self._capacity, "Heap") // granule) * granule
        if alignment is None:
            alignment, hole = granule, self._holes.find(granted)
        else:
            hole = self._hole_for(granted, checked_alignment(alignment, "Heap"))
        if hole is None:
            raise self._exhausted(
                size, self._free_bytes, self._holes.largest(), "free some, or compact the heap"
            )
        start = hole.offset if alignment <= granule else align_up(hole.offset, alignment)
        extent = self._cut(hole, start, granted)
        block = Block(extent.offset, granted, size, self, alignment, stream)
        extent.block = block
        self._extents[extent.offset] = extent
        self._free_bytes -= granted
        if block.end > self._peak_top:  # noqa: PLR1730  a call to max costs more
            self._peak_top = block.end
        return self._enter(block)

    def free(self, block: Block | int, *, stream: Stream | None = None) -> None:
        del stream  # a heap's blocks are idle when freed; StreamOrdered holds them until then
        block = self._leave(block)
        extent = self._extents.pop(block.offset)
        extent.block = None
        self._free_bytes += extent.size
        self._holes.add(self._merge(extent))

    def is_live(self, block: Block) -> bool:
        """Whether `block` was handed out by this heap and not freed."""
        return self._live.get(block.offset) is block

    def relocate(self, block: Block, target: int) -> None:
        """Enter in the books that a live block's bytes now start at `target`.

        The hole just before the block must reach down to `target`; the hole then lies behind the
        block. Moving the bytes is the caller's business, and comes first.
        """
        extent = self._extents.pop(self._find(block.offset).offset)
        hole = extent.previous
        if hole is None or hole.block is not None or target < hole.offset:
            self._extents[extent.offset] = extent
            raise InvariantError(f"{block!r} cannot move to {target:#x}: that is not a hole")
        extent.block = None
        extent = self._cut_from(self._merge(extent), target, block)
        del self._live[block.offset]
        block.offset = extent.offset
        self._live[block.offset] = block
        self._extents[block.offset] = extent

    def _cut_from(self, hole: Extent, start: int, block: Block) -> Extent:
        """Cut an extent for `block` from a hole that is in no index yet."""
        self._holes.add(hole)
        extent = self._cut(hole, start, block.size)
        extent.block = block
        return extent

    def _hole_for(self, granted: int, alignment: int) -> Extent | None:
        """Return a hole in which `granted` bytes fit at that alignment."""
        hole = self._holes.find(granted)
        if hole is None or alignment <= self.granule:
            return hole
        if align_up(hole.offset, alignment) + granted <= hole.offset + hole.size:
            return hole
        return self._holes.find(granted + alignment - self.granule)

    def _cut(self, hole: Extent, start: int, size: int) -> Extent:
        """Turn [start, start + size) of a hole into an extent of its own; return it."""
        self._holes.remove(hole)
        if start > hole.offset:
            before = hole
            hole = self._split(before, start - before.offset)
            self._holes.add(before)
        if hole.size > size:
            self._holes.add(self._split(hole, size))
        return hole

    def _split(self, extent: Extent, size: int) -> Extent:
        """Shorten `extent` to `size` bytes; return the new extent behind it."""
        rest = Extent(extent.offset + size, extent.size - size)
        rest.previous, rest.following = extent, extent.following
        if extent.following is None:
            self._last = rest
        else:
            extent.following.previous = rest
        extent.following, extent.size = rest, size
        return rest

    def _merge(self, extent: Extent) -> Extent:
        """Join a new hole with the holes beside it; return what they became."""
        before, behind = extent.previous, extent.following
        if behind is not None and behind.block is None:
            self._holes.remove(behind)
            self._absorb(extent, behind)
        if before is not None and before.block is None:
            self._holes.remove(before)
            self._absorb(before, extent)
            return before
        return extent

    def _absorb(self, extent: Extent, behind: Extent) -> None:
        """Lengthen `extent` by the one behind it."""
        extent.size += behind.size
        extent.following = behind.following
        if behind.following is None:
            self._last = extent
        else:
            behind.following.previous = extent

    @property
    def statistics(self) -> Statistics:
        return Statistics(
            **self._counters(),
            reserved_bytes=self.top,
            peak_reserved_bytes=self._peak_top,
            free_bytes=self._free_bytes,
            largest_free_bytes=self._holes.largest(),
        )

    def explain(self, nbytes: int) -> Explanation:
        granted = align_up(checked_size(nbytes, self._capacity, "Heap"), self.granule)
        hole = self._hole_for(granted, self.granule)
        if hole is None:
            return Explanation(
                nbytes,
                granted,
                False,
                None,
                f"{granted:,} B fit in no hole: {self._free_bytes:,} B are free, the largest hole "
                f"has {self._holes.largest():,} B; "
                + (
                    "compacting would make room"
                    if self._free_bytes >= granted
                    else "free some blocks first"
                ),
            )
        rest = hole.size - granted
        left = f"and leave {rest:,} B of it" if rest else "and fill it"
        return Explanation(
            nbytes,
            granted,
            True,
            hole.offset,
            f"{self.fit} fit: {granted:,} B would go to {hole.offset:#x}, a hole of "
            f"{hole.size:,} B, {left}",
        )

    def extents(self) -> Iterator[Extent]:
        """Yield holes and live extents in order of address."""
        extent: Extent | None = self._first
        while extent is not None:
            yield extent
            extent = extent.following

    def regions(self) -> Iterator[Region]:
        for extent in self.extents():
            state: Literal["free", "live"] = "free" if extent.block is None else "live"
            yield Region(extent.offset, extent.size, state, extent.block)

    def check(self) -> None:
        self._check_books()
        end, free, holes, previous = 0, 0, [0], None
        for extent in self.extents():
            require(extent.offset == end, f"a gap or overlap at {end:#x}")
            require(extent.previous is previous, f"the link back at {end:#x} is wrong")
            if extent.block is None:
                hole_before = previous is not None and previous.block is None
                require(not hole_before, f"two holes side by side at {end:#x}")
                free += extent.size
                holes.append(extent.size)
            else:
                require(self._live.get(extent.offset) is extent.block, "a live extent is unknown")
                require(extent.block.size == extent.size, "a block and its extent differ")
            end, previous = end + extent.size, extent
        require(end == self._capacity, f"the map covers {end:,} of {self._capacity:,} B")
        require(self._last is previous, "the last extent is not the last")
        require(free == self._free_bytes, f"{free:,} B are free, not {self._free_bytes:,}")
        require(max(holes) == self._holes.largest(), "the index and the map differ")
        require(free + self._live_bytes == self._capacity, "bytes were lost")
