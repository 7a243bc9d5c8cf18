"""What a range would cost if only the pages in use were mapped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wia_lab.memory.adaptors import Adaptor
from wia_lab.memory.sizes import PAGE

if TYPE_CHECKING:
    from wia_lab.memory.base import Allocator
    from wia_lab.memory.block import Block, Stream

__all__ = ["PageMeter"]


class PageMeter(Adaptor):
    """Count the pages that live blocks touch, as expandable segments would map and unmap them.

    Attributes
    ----------
    mapped, peak_mapped : int
        Pages with at least one live byte, now and at most.
    """

    def __init__(self, upstream: Allocator, *, page: int = PAGE) -> None:
        super().__init__(upstream)
        self.page = page
        self.mapped = 0
        self.peak_mapped = 0
        self._blocks_in: dict[int, int] = {}

    def allocate(
        self, size: int, *, alignment: int | None = None, stream: Stream | None = None
    ) -> Block:
        block = self.upstream.allocate(size, alignment=alignment, stream=stream)
        for number in self._pages(block):
            blocks = self._blocks_in.get(number, 0)
            self._blocks_in[number] = blocks + 1
            self.mapped += blocks == 0
        self.peak_mapped = max(self.peak_mapped, self.mapped)
        return block

    def free(self, block: Block | int, *, stream: Stream | None = None) -> None:
        found = self._live_block(block)
        pages = range(0) if found is None else self._pages(found)
        self.upstream.free(block, stream=stream)
        for number in pages:
            self._blocks_in[number] -= 1
            if not self._blocks_in[number]:
                del self._blocks_in[number]
                self.mapped -= 1

    def _pages(self, block: Block) -> range:
        return range(block.offset // self.page, (block.end - 1) // self.page + 1)
