"""What every allocator is: two verbs, a live table, statistics, an explanation, a check."""

from __future__ import annotations

import heapq
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from wia_lab.errors import (
    AllocatorError,
    DoubleFreeError,
    ForeignBlockError,
    InteriorPointerError,
    InvariantError,
    OutOfMemoryError,
    UnknownBlockError,
)
from wia_lab.memory.block import Block, Explanation, Region, Stream

if TYPE_CHECKING:
    from wia_lab.memory.statistics import Statistics

__all__ = ["Allocator", "BookKeeper", "refusal", "require"]

HOLDERS_NAMED = 5


def require(condition: bool, message: str) -> None:
    """Raise InvariantError with `message` unless `condition` holds."""
    if not condition:
        raise InvariantError(message)


def refusal(owner: Allocator, block: Block | int, live: Iterable[Block]) -> AllocatorError:
    """Return the error for freeing with `owner` a `block` that is not among the `live` ones.

    Looks through all live blocks for one that encloses an offset; called on the way to an error.
    """
    name = type(owner).__name__
    if isinstance(block, Block):
        if block.owner is not owner:
            return ForeignBlockError(
                f"{block!r} freed with {name}: free it with the allocator that returned it"
            )
        return DoubleFreeError(f"{block!r} was freed before: free each block once")
    if isinstance(block, bool) or not isinstance(block, int):
        return UnknownBlockError(
            f"{block!r} freed with {name}: free what allocate returned, or its offset"
        )
    for other in live:
        if other.offset < block < other.end:
            return InteriorPointerError(
                f"offset {block:#x} is {block - other.offset:,} B inside {other!r}: "
                f"free its start, {other.offset:#x}"
            )
    return UnknownBlockError(
        f"offset {block:#x} starts no live block of {name}: it was never allocated, or it was "
        "freed before"
    )


class Allocator(ABC):
    """Two verbs over a range of bytes. Offsets count from the start of that range.

    `stream` is the stream that will use, or that last used, the block; allocators that do not
    order reuse by stream take every block as idle when it is freed, and say so by refusing one.
    """

    @abstractmethod
    def allocate(
        self, size: int, *, alignment: int | None = None, stream: Stream | None = None
    ) -> Block:
        """Return a block of at least `size` bytes, its offset a multiple of `alignment`."""

    @abstractmethod
    def free(self, block: Block | int, *, stream: Stream | None = None) -> None:
        """Take back a block, or the block that starts at this offset."""

    @property
    @abstractmethod
    def statistics(self) -> Statistics:
        """The books at this moment."""

    @abstractmethod
    def explain(self, nbytes: int) -> Explanation:
        """Say where the next request of `nbytes` would go, or why it would fail."""

    @abstractmethod
    def check(self) -> None:
        """Raise InvariantError unless the allocator's books agree with themselves."""

    @abstractmethod
    def blocks(self) -> Iterator[Block]:
        """Yield the live blocks, in no particular order."""

    @abstractmethod
    def block_at(self, offset: int) -> Block | None:
        """Return the live block that starts at `offset`, without a search."""

    @abstractmethod
    def regions(self) -> Iterator[Region]:
        """Yield the address map: every byte managed, in order of address."""

    @property
    @abstractmethod
    def capacity(self) -> int:
        """Bytes that it could hand out in all."""

    def trim(self) -> int:
        """Give back what is held and not live; return how many bytes that was."""
        return 0


class BookKeeper(Allocator):
    """The live table and the counters, shared by the allocators that hand out their own blocks."""

    def __init__(self) -> None:
        self._live: dict[int, Block] = {}
        self._live_bytes = 0
        self._peak_live = 0
        self._allocations = 0
        self._failures = 0

    def blocks(self) -> Iterator[Block]:
        return iter(tuple(self._table().values()))

    def block_at(self, offset: int) -> Block | None:
        return self._live.get(offset)

    def _table(self) -> Mapping[int, Block]:
        """Return the live blocks by offset."""
        return self._live

    def _enter(self, block: Block) -> Block:
        """Write a new block into the books."""
        self._live[block.offset] = block
        self._allocations += 1
        self._live_bytes = live = self._live_bytes + block.size
        if live > self._peak_live:  # noqa: PLR1730  a call to max costs more
            self._peak_live = live
        return block

    def _leave(self, block: Block | int) -> Block:
        """Strike a live block from the books, or raise the error that says why it is not one."""
        if isinstance(block, Block):
            if self._live.get(block.offset) is not block:
                raise self._not_live(block)
        else:
            block = self._find(block)
        del self._live[block.offset]
        self._live_bytes -= block.size
        return block

    def _find(self, offset: int) -> Block:
        """Return the live block that starts at `offset`."""
        block = self.block_at(offset) if isinstance(offset, int) else None
        if block is None:
            raise self._not_live(offset)
        return block

    def _not_live(self, block: Block | int) -> AllocatorError:
        """Return the error for a free of what is not live."""
        return refusal(self, block, self._table().values())

    def _exhausted(self, requested: int, free: int, largest: int, advice: str) -> OutOfMemoryError:
        """Count a failure and return its error, with the largest live blocks in it."""
        self._failures += 1
        largest_live = heapq.nlargest(HOLDERS_NAMED, self._table().values(), key=lambda b: b.size)
        holders = tuple((b.offset, b.size, "") for b in largest_live)
        held = ", ".join(f"{size:,} B at {offset:#x}" for offset, size, _ in holders) or "nobody"
        return OutOfMemoryError(
            f"{type(self).__name__} has no room for {requested:,} B: {free:,} B are free, the "
            f"largest hole has {largest:,} B; the largest holders are {held}: {advice}",
            requested,
            free,
            largest,
            holders,
        )

    def _check_books(self) -> None:
        """Check the live table against the counters, and that no two live blocks overlap."""
        total, end = 0, 0
        for block in sorted(self._table().values(), key=lambda b: b.offset):
            require(block.offset >= end, f"{block!r} overlaps the live block before it")
            require(block.offset % block.alignment == 0, f"{block!r} lost its alignment")
            require(0 < block.requested <= block.size, f"{block!r} is smaller than was asked")
            total, end = total + block.size, block.end
        require(total == self._live_bytes, f"{total} B are live, the books say {self._live_bytes}")
        require(self._peak_live >= self._live_bytes, "the peak is below the present")

    def _counters(self) -> dict[str, int]:
        """Return the fields of Statistics that the live table knows."""
        live = self._table()
        return {
            "live_blocks": len(live),
            "live_bytes": self._live_bytes,
            "requested_bytes": sum(b.requested for b in live.values()),
            "peak_live_bytes": self._peak_live,
            "allocations": self._allocations,
            "frees": self._allocations - len(live),
            "failures": self._failures,
        }
