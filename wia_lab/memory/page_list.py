"""A ring of pages and the stretches of bytes that tile it: the geometry under `PageRing`.

Pages are linked in a list that starts and ends at a seam. A stretch is a hole or a live block;
its bytes start in one page and run on through the pages that follow. Pages are spliced in where
a hole meets a page's edge, and spliced out when a hole covers them, so the pages under a live
block never change.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from wia_lab.memory.sizes import PAGE

if TYPE_CHECKING:
    from wia_lab.memory.block import Block

__all__ = ["Page", "PageList", "Stretch"]


class Page:
    """One page: its place in the list, its own virtual address, the memory behind it."""

    __slots__ = ("following", "home", "memory", "previous")

    previous: Page
    following: Page

    def __init__(self, home: int, memory: Block | None) -> None:
        self.home = home
        self.memory = memory


class Stretch:
    """`size` bytes that start `start` bytes into `page`; a hole while `block` is None.

    `offset` is what `SizeIndex` asks of a hole; among stretches only their order counts.
    """

    __slots__ = ("block", "following", "offset", "page", "previous", "size", "start", "virtual")

    previous: Stretch
    following: Stretch

    def __init__(self, page: Page, start: int, size: int, block: Block | None = None) -> None:
        self.page = page
        self.start = start
        self.size = size
        self.block = block
        self.offset = 0
        self.virtual: tuple[int, int] | None = None  # an address range of its own: start, pages

    @property
    def meets_edge(self) -> bool:
        """Whether a page's edge lies in the hole or at one of its ends."""
        return self.start == 0 or self.start + self.size >= PAGE

    def last_page(self) -> Page:
        """Return the page in which the last byte lies."""
        page, end = self.page, self.start + self.size
        while end > PAGE:
            page, end = page.following, end - PAGE
        return page

    def pieces(self) -> Iterator[tuple[Page, int, int]]:
        """Yield (page, start in it, bytes) for each page that the stretch touches."""
        page, start, left = self.page, self.start, self.size
        while left:
            count = min(left, PAGE - start)
            yield page, start, count
            page, start, left = page.following, 0, left - count


class PageList:
    """The two lists and their splices. `seam` is a stretch of no bytes, never a hole."""

    def __init__(self) -> None:
        edge = Page(-1, None)
        edge.previous = edge.following = edge
        self.edge = edge
        self.seam = Stretch(edge, 0, 0)
        self.seam.previous = self.seam.following = self.seam
        self.count = 0

    def is_hole(self, stretch: Stretch) -> bool:
        """Whether a stretch is free memory: neither a block nor the seam."""
        return stretch.block is None and stretch is not self.seam

    def splice_in(self, after: Page, pages: list[Page]) -> None:
        """Link `pages` in behind `after`."""
        for page in pages:
            page.previous, page.following = after, after.following
            after.following.previous = page
            after.following = page
            after = page
        self.count += len(pages)

    def splice_out(self, hole: Stretch) -> list[Page]:
        """Unlink and return the pages that `hole` covers whole; shorten it by them."""
        head = -hole.start % PAGE
        count = (hole.size - head) // PAGE
        if count <= 0:
            return []
        page = hole.page if head == 0 else hole.page.following
        before, removed = page.previous, []
        for _ in range(count):
            removed.append(page)
            page = page.following
        before.following, page.previous = page, before
        self.count -= count
        hole.size -= count * PAGE
        if head == 0:
            hole.page = page
        return removed

    def link(self, before: Stretch, stretch: Stretch) -> None:
        """Put `stretch` behind `before`."""
        stretch.previous, stretch.following = before, before.following
        before.following.previous = stretch
        before.following = stretch

    def unlink(self, stretch: Stretch) -> None:
        """Take `stretch` out."""
        stretch.previous.following = stretch.following
        stretch.following.previous = stretch.previous

    def cut(self, hole: Stretch, size: int) -> Stretch:
        """Cut the first `size` bytes off a hole; return them. A hole of that size is used up."""
        if hole.size == size:
            return hole
        taken = Stretch(hole.page, hole.start, size)
        self.link(hole.previous, taken)
        end = hole.start + size
        while end >= PAGE:
            hole.page, end = hole.page.following, end - PAGE
        hole.start, hole.size = end, hole.size - size
        return taken

    def stretches(self) -> Iterator[Stretch]:
        """Yield the stretches from the seam on."""
        stretch = self.seam.following
        while stretch is not self.seam:
            yield stretch
            stretch = stretch.following

    def pages(self) -> Iterator[Page]:
        """Yield the pages from the seam on."""
        page = self.edge.following
        while page is not self.edge:
            yield page
            page = page.following
