"""PageRing: memory as a ring of pages, for programs whose blocks die about as they were born.

A cursor goes round the ring and new blocks are placed at it, so blocks that were born together
lie together. They tend to die together (one training step, one round of requests), so holes
open in front of the cursor and join, instead of being strewn among survivors.

What first fit cannot do, pages can. Memory comes in 2 MiB pages mapped into virtual addresses:

1. a hole of exactly the size asked is used first, wherever it is;
2. else the block goes to the hole at the cursor;
3. where that is too short and more pages would set a new peak, the largest hole serves, if it has
   a page or more (a hole left by a program that ended early);
4. else fresh pages are spliced in at the cursor, as long as a page's edge is there: one page may be
   mapped at several virtual addresses, so a block can begin in the last bytes of one page and end
   in the first bytes of another that is no neighbour of it;
5. else the smallest hole that is large enough; else pages at the ring's seam.

A page that becomes wholly free is spliced out and given back at once. After each step of the
cursor the ring makes sure that the next block will find an edge or room, but never by mapping
more pages than it has had before: that costs nothing in peak memory.

The rule looks only at the past and has one setting for all programs. Its price is the mapping:
`maps` and `views` count the pages mapped and the blocks that needed an address range of their
own. Offsets are virtual addresses.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from wia_lab.errors import OutOfMemoryError
from wia_lab.memory.base import Allocator, BookKeeper, require
from wia_lab.memory.block import Block, Explanation, Region, Stream
from wia_lab.memory.index import SizeIndex
from wia_lab.memory.page_list import Page, PageList, Stretch
from wia_lab.memory.sizes import GRANULE, PAGE, align_up, checked_alignment, checked_size
from wia_lab.memory.statistics import Statistics

__all__ = ["PageRing"]

MEMORY_OF_SIZES = 0.99  # what the largest recent size keeps of itself at each step


class PageRing(BookKeeper):
    """Cut blocks from a ring of 2 MiB pages that grows and shrinks at the cursor.

    Parameters
    ----------
    upstream : Allocator
        Where pages come from, 2 MiB each.

    Attributes
    ----------
    maps : int
        Pages mapped so far; each costs one map and one unmap on a device.
    views : int
        Blocks so far that lay in pages whose own addresses are not consecutive, and so needed an
        address range mapped for them alone.
    """

    def __init__(self, upstream: Allocator) -> None:
        super().__init__()
        self.upstream = upstream
        self._capacity = upstream.capacity
        self.maps = 0
        self.views = 0
        self._list = PageList()
        self._cursor = self._list.seam  # the live block behind which the next one goes
        self._holes: SizeIndex[Stretch] = SizeIndex(GRANULE)
        self._stretch: dict[int, Stretch] = {}  # live ones, by the block's offset
        self._peak_pages = 0
        self._recent = 0.0  # bytes: about the largest block of late
        self._ranges: dict[int, list[int]] = {}  # unused address ranges, by their pages
        self._end_of_addresses = 0

    @property
    def capacity(self) -> int:
        return self._capacity

    # -- allocate ---------------------------------------------------------------------------

    def allocate(
        self, size: int, *, alignment: int | None = None, stream: Stream | None = None
    ) -> Block:
        granted = -(-checked_size(size, self._capacity, "PageRing") // GRANULE) * GRANULE
        slack = 0
        if alignment is not None and checked_alignment(alignment, "PageRing") > GRANULE:
            slack = alignment - GRANULE
        stretch = self._place(granted + slack)
        if stretch is None:
            raise self._exhausted(
                size,
                self._list.count * PAGE - self._live_bytes,
                self._holes.largest(),
                f"free some: upstream has {self.upstream.statistics.free_bytes:,} B left to map",
            )
        start = self._address(stretch)
        offset = align_up(start, alignment) if slack and alignment else start
        block = Block(offset, granted, size, self, alignment or GRANULE, stream)
        stretch.block = block
        self._stretch[offset] = stretch
        return self._enter(block)

    def _place(self, size: int) -> Stretch | None:
        """Choose a hole by the five rules and cut `size` bytes from it."""
        if (hole := self._holes.exact(size)) is not None:
            return self._cut(hole, size)
        cursor = self._cursor
        hole = self._hole_behind(cursor)
        if hole is None or hole.size < size:
            if (bubble := self._bubble(hole, size)) is not None:
                return self._cut(bubble, size)
            hole = self._widen(cursor, hole, size) if self._edge_behind(cursor, hole) else None
        if hole is None:
            if (elsewhere := self._holes.find(size)) is not None:
                return self._cut(elsewhere, size)
            seam = self._list.seam
            hole = self._widen(seam, self._hole_behind(seam), size)
        return None if hole is None else self._step(self._cut(hole, size))

    def _bubble(self, hole: Stretch | None, size: int) -> Stretch | None:
        """Return the largest hole, if it has a page or more and new pages would set a new peak."""
        pages = -(-(size - (hole.size if hole else 0)) // PAGE)
        if self._list.count + pages <= self._peak_pages:
            return None
        largest = self._holes.largest()
        return self._holes.exact(largest) if largest >= max(size, PAGE) else None

    def _hole_behind(self, stretch: Stretch) -> Stretch | None:
        """Return the hole that follows a live block or the seam, if one does."""
        hole = stretch.following
        return hole if hole.block is None and hole is not self._list.seam else None

    def _edge_behind(self, stretch: Stretch, hole: Stretch | None) -> bool:
        """Whether pages can be spliced in behind a stretch that `hole` follows, or no hole."""
        return hole.meets_edge if hole else (stretch.start + stretch.size) % PAGE == 0

    def _widen(self, before: Stretch, hole: Stretch | None, size: int) -> Stretch | None:
        """Splice pages into `hole`, or into a new one behind `before`, until `size` fits.

        Return None, and change nothing, when upstream has too few pages.
        """
        pages = self._map(-(-(size - (hole.size if hole else 0)) // PAGE))
        if not pages:
            return None
        if hole is None:
            last = before.page if before is self._list.seam else before.last_page()
            self._list.splice_in(last, pages)
            hole = Stretch(pages[0], 0, len(pages) * PAGE)
            self._list.link(before, hole)
        else:
            self._holes.remove(hole)
            if hole.start + hole.size >= PAGE:
                self._list.splice_in(hole.page, pages)
            else:
                self._list.splice_in(hole.page.previous, pages)
                hole.page = pages[0]
            hole.size += len(pages) * PAGE
        self._holes.add(hole)
        self._peak_pages = max(self._peak_pages, self._list.count)
        return hole

    def _cut(self, hole: Stretch, size: int) -> Stretch:
        """Take the first `size` bytes of a hole."""
        self._holes.remove(hole)
        taken = self._list.cut(hole, size)
        if taken is not hole:
            self._holes.add(hole)
        return taken

    def _step(self, taken: Stretch) -> Stretch:
        """Move the cursor behind `taken`; keep an edge or room there if that sets no new peak."""
        self._cursor = taken
        recent = self._recent * MEMORY_OF_SIZES
        self._recent = max(taken.size, recent)
        if self._list.count < self._peak_pages:
            hole = self._hole_behind(taken)
            room = hole.size if hole else 0
            if room < self._recent and self._edge_behind(taken, hole):
                self._widen(taken, hole, room + 1)
        return taken

    # -- free -------------------------------------------------------------------------------

    def free(self, block: Block | int, *, stream: Stream | None = None) -> None:
        del stream  # as a heap's: idle when freed
        block = self._leave(block)
        stretch = self._stretch.pop(block.offset)
        if stretch.virtual is not None:
            self._recycle(*stretch.virtual)
            stretch.virtual = None
        stretch.block = None
        if self._cursor is stretch:
            before = stretch.previous
            self._cursor = before.previous if self._list.is_hole(before) else before
        self._merge(stretch)
        if stretch.size >= PAGE:
            for page in self._list.splice_out(stretch):
                self._unmap(page)
        if stretch.size:
            self._holes.add(stretch)
        else:
            self._list.unlink(stretch)

    def _merge(self, stretch: Stretch) -> None:
        """Join a new hole with the holes beside it."""
        seam, behind, before = self._list.seam, stretch.following, stretch.previous
        if behind.block is None and behind is not seam:
            self._holes.remove(behind)
            self._list.unlink(behind)
            stretch.size += behind.size
        if before.block is None and before is not seam:
            self._holes.remove(before)
            self._list.unlink(before)
            stretch.page, stretch.start = before.page, before.start
            stretch.size += before.size

    # -- pages and addresses ----------------------------------------------------------------

    def _map(self, count: int) -> list[Page]:
        """Get `count` pages from upstream: all of them, or none when it has too few."""
        memory: list[Block] = []
        try:
            memory.extend(self.upstream.allocate(PAGE, alignment=PAGE) for _ in range(count))
        except OutOfMemoryError:
            for block in memory:
                self.upstream.free(block)
            return []
        self.maps += count
        home = self._range(count)
        return [Page(home + i * PAGE, block) for i, block in enumerate(memory)]

    def _unmap(self, page: Page) -> None:
        """Give a page back to upstream."""
        assert page.memory is not None
        self.upstream.free(page.memory)
        self._recycle(page.home, 1)

    def _address(self, stretch: Stretch) -> int:
        """Return the virtual address of a stretch, with a range of its own where it needs one."""
        first = stretch.page
        if stretch.start + stretch.size <= PAGE:
            return first.home + stretch.start
        pages = [page for page, _, _ in stretch.pieces()]
        if all(page.home == first.home + i * PAGE for i, page in enumerate(pages)):
            return first.home + stretch.start
        self.views += 1
        stretch.virtual = self._range(len(pages)), len(pages)
        return stretch.virtual[0] + stretch.start

    def _range(self, pages: int) -> int:
        """Return the start of an unused range of addresses."""
        if unused := self._ranges.get(pages):
            return unused.pop()
        start = self._end_of_addresses
        self._end_of_addresses += pages * PAGE
        return start

    def _recycle(self, start: int, pages: int) -> None:
        """Let a range of addresses be used again."""
        self._ranges.setdefault(pages, []).append(start)

    # -- books ------------------------------------------------------------------------------

    @property
    def address_range(self) -> int:
        """Bytes of virtual addresses used so far: the high-water mark of the address space."""
        return self._end_of_addresses

    @property
    def statistics(self) -> Statistics:
        used = sum(stretch.size for stretch in self._stretch.values())
        return Statistics(
            **self._counters(),
            reserved_bytes=self._list.count * PAGE,
            peak_reserved_bytes=self._peak_pages * PAGE,
            free_bytes=self._list.count * PAGE - used,
            largest_free_bytes=self._holes.largest(),
        )

    def explain(self, nbytes: int) -> Explanation:
        granted = align_up(checked_size(nbytes, self.capacity, "PageRing"), GRANULE)
        hole = self._hole_behind(self._cursor)
        room = hole.size if hole else 0
        if exact := self._holes.exact(granted):
            where = exact.page.home + exact.start
            reason = f"{granted:,} B fill a hole of exactly that size at {where:#x}"
            return Explanation(nbytes, granted, True, self._settled(exact, granted), reason)
        if hole and room >= granted:
            where = hole.page.home + hole.start
            reason = f"{granted:,} B go to the cursor at {where:#x}, a hole of {room:,} B"
            return Explanation(nbytes, granted, True, self._settled(hole, granted), reason)
        if bubble := self._bubble(hole, granted):
            where = bubble.page.home + bubble.start
            reason = (
                f"{granted:,} B go to {where:#x}, the largest hole: pages at the cursor, where "
                f"{room:,} B are free, would set a new peak"
            )
            return Explanation(nbytes, granted, True, self._settled(bubble, granted), reason)
        edge = self._edge_behind(self._cursor, hole)
        pages = -(-(granted - (room if edge else 0)) // PAGE)
        below = self.upstream.statistics
        fits = pages * PAGE <= below.free_bytes
        if not (edge and fits) and (elsewhere := self._holes.find(granted)):
            where = elsewhere.page.home + elsewhere.start
            reason = (
                f"{granted:,} B do not fit at the cursor ({room:,} B, no page to splice in): "
                f"they go to {where:#x}, the smallest hole that is large enough"
            )
            return Explanation(nbytes, granted, True, self._settled(elsewhere, granted), reason)
        place = "the cursor" if edge else "the seam"
        verb = "would be" if fits else "cannot be"
        reason = (
            f"{pages:,} page{'' if pages == 1 else 's'} {verb} mapped at {place} for "
            f"{granted:,} B: upstream has {below.free_bytes:,} B free"
        )
        return Explanation(nbytes, granted, fits, None, reason)

    def _settled(self, hole: Stretch, size: int) -> int | None:
        """Return a hole's address if a block of `size` bytes keeps it.

        None where its pages' addresses are not consecutive: the block gets a range of its own,
        which is chosen after the cursor has moved.
        """
        page = hole.page
        for i in range(-(-(hole.start + size) // PAGE)):
            if page.home != hole.page.home + i * PAGE:
                return None
            page = page.following
        return hole.page.home + hole.start

    def regions(self) -> Iterator[Region]:
        """Yield the stretches in ring order; their offsets are virtual addresses."""
        for stretch in self._list.stretches():
            if stretch.block is None:
                yield Region(stretch.page.home + stretch.start, stretch.size, "free")
            else:
                yield Region(stretch.block.offset, stretch.size, "live", stretch.block)

    def pieces(self, block: Block) -> list[tuple[int, int]]:
        """Return where a live block lies in upstream's range: (offset, bytes) of each piece."""
        stretch = self._stretch[self._find(block.offset).offset]
        return [
            (page.memory.offset + start, count)
            for page, start, count in stretch.pieces()
            if page.memory is not None
        ]

    def check(self) -> None:
        self._check_books()
        page, start, holes = self._list.edge.following, 0, [0]
        for stretch in self._list.stretches():
            require(stretch.page is page and stretch.start == start, "the stretches do not tile")
            if self._list.is_hole(stretch):
                holes.append(stretch.size)
                require(not self._list.is_hole(stretch.previous), "two holes side by side")
                whole = stretch.size - (-stretch.start % PAGE)
                fresh = stretch.previous is self._cursor
                require(whole < PAGE or fresh, "a free page was kept away from the cursor")
            start += stretch.size
            while start >= PAGE:
                page, start = page.following, start - PAGE
        require(page is self._list.edge and start == 0, "the last page is not tiled")
        require(len(list(self._list.pages())) == self._list.count, "the pages are miscounted")
        require(max(holes) == self._holes.largest(), "the index and the ring differ")
        require(not self._list.is_hole(self._cursor), "the cursor is behind a hole")
        used = sum(stretch.size for stretch in self._stretch.values())
        require(used + sum(holes) == self._list.count * PAGE, "bytes were lost")
        pieces = sorted(piece for block in self._live.values() for piece in self.pieces(block))
        for (offset, count), (next_offset, _) in pairwise(pieces):
            require(offset + count <= next_offset, "two blocks share bytes of one page")
