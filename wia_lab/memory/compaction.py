"""Compaction: slide the live blocks together so that what is free becomes one piece.

Planning is apart from moving: `plan` only reads the heap, `compact` carries the plan out. Blocks
keep their order and their alignment, pinned blocks stay where they are, and a block whose old
and new places overlap is moved in pieces that do not. Owners are told after the bytes have moved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wia_lab.errors import OutOfMemoryError, UnknownBlockError
from wia_lab.memory.adaptors import Adaptor
from wia_lab.memory.base import require
from wia_lab.memory.block import Block, Explanation, Stream
from wia_lab.memory.sizes import align_up
from wia_lab.wording import counted

if TYPE_CHECKING:
    from wia_lab.memory.heap import Heap

__all__ = ["Compacting", "CompactionReport", "Move", "plan"]

OnMove = Callable[[Block, int, int], None]  # block, where it was, where it is


@dataclass(frozen=True, slots=True)
class Move:
    """One block's move, in bytes from the start of the heap."""

    block: Block
    source: int
    target: int

    @property
    def overlaps(self) -> bool:
        """Whether the old and the new place share bytes."""
        return abs(self.source - self.target) < self.block.size


@dataclass(frozen=True, slots=True)
class CompactionReport:
    """What a compaction did. Free memory as a whole does not change; its largest piece does."""

    moved_blocks: int
    moved_bytes: int
    overlapping_moves: int
    pinned_blocks: int
    largest_free_before: int
    largest_free_after: int
    free_bytes: int

    def __str__(self) -> str:
        return (
            f"{counted(self.moved_blocks, 'block')} ({self.moved_bytes:,} B) moved, "
            f"{self.overlapping_moves:,} onto themselves, {self.pinned_blocks:,} pinned; the "
            f"largest hole went from {self.largest_free_before:,} B to "
            f"{self.largest_free_after:,} B of {self.free_bytes:,} B free"
        )


def plan(heap: Heap, pinned: frozenset[Block] | set[Block] = frozenset()) -> list[Move]:
    """Return the moves that slide every unpinned block as low as its order allows.

    The hole before a pinned block stays a hole.
    """
    moves, cursor = [], 0
    for block in sorted(heap.blocks(), key=lambda block: block.offset):
        target = align_up(cursor, block.alignment)
        # The cursor never passes the block that comes next, so nothing pinned is in the way
        if block in pinned or target >= block.offset:
            cursor = block.end
        else:
            moves.append(Move(block, block.offset, target))
            cursor = target + block.size
    return moves


class Compacting(Adaptor):
    """A heap that can be compacted, and compacts itself when a request fits in no hole.

    Parameters
    ----------
    heap : Heap
        The range. With a backing, bytes are moved; without one, only offsets.
    eager : bool
        Compact also when a request would only fit above the highest address used so far, so
        that the range in use never grows beyond what is live.
    """

    def __init__(self, heap: Heap, *, eager: bool = False) -> None:
        super().__init__(heap)
        self.heap = heap
        self.eager = eager
        self.moved_bytes = 0
        self.compactions = 0
        self._pins: dict[Block, int] = {}
        self._told: dict[Block, list[OnMove]] = {}

    def allocate(
        self, size: int, *, alignment: int | None = None, stream: Stream | None = None
    ) -> Block:
        if self.eager and self._would_grow(size):
            self.compact()
        try:
            return self.heap.allocate(size, alignment=alignment, stream=stream)
        except OutOfMemoryError as error:
            if error.free < size:
                raise
            self.compact()
            return self.heap.allocate(size, alignment=alignment, stream=stream)

    def _would_grow(self, size: int) -> bool:
        """Whether the request would raise the peak although there are holes below it."""
        heap = self.heap
        offset = heap.would_go(size)
        has_holes = heap.top > heap.capacity - heap.free_bytes
        return has_holes and offset is not None and offset + size > heap.peak_top

    def free(self, block: Block | int, *, stream: Stream | None = None) -> None:
        found = self._live_block(block)
        self.heap.free(block, stream=stream)
        if found is not None:
            self._pins.pop(found, None)
            self._told.pop(found, None)

    def on_move(self, block: Block, tell: OnMove) -> None:
        """Call `tell(block, was, now)` after each move of a live block."""
        self._known(block)
        self._told.setdefault(block, []).append(tell)

    @contextmanager
    def pinned(self, block: Block) -> Iterator[Block]:
        """Keep a block where it is while the context lasts; contexts nest."""
        self._known(block)
        self._pins[block] = self._pins.get(block, 0) + 1
        try:
            yield block
        finally:
            left = self._pins.get(block, 1) - 1
            if left:
                self._pins[block] = left
            else:
                self._pins.pop(block, None)

    def compact(self) -> CompactionReport:
        """Slide the blocks together, tell their owners, and say what it was good for.

        The device must be idle, or the moves ordered behind all work that uses the blocks.
        """
        before = self.heap.statistics
        moves = plan(self.heap, set(self._pins))
        for move in moves:
            if self.heap.backing is not None:
                self.heap.backing.move(move.target, move.source, move.block.size)
            self.heap.relocate(move.block, move.target)
        for move in moves:
            for tell in self._told.get(move.block, ()):
                tell(move.block, move.source, move.target)
        moved = sum(move.block.size for move in moves)
        self.moved_bytes += moved
        self.compactions += 1
        after = self.heap.statistics
        return CompactionReport(
            moved_blocks=len(moves),
            moved_bytes=moved,
            overlapping_moves=sum(move.overlaps for move in moves),
            pinned_blocks=len(self._pins),
            largest_free_before=before.largest_free_bytes,
            largest_free_after=after.largest_free_bytes,
            free_bytes=after.free_bytes,
        )

    def explain(self, nbytes: int) -> Explanation:
        here = self.heap.explain(nbytes)
        if here.fits or self.heap.free_bytes < here.granted:
            return here
        pins = len(self._pins)
        movable = counted(pins, "block stays", "blocks stay") if pins else "nothing is pinned"
        return Explanation(nbytes, here.granted, not self._pins, None, f"{here.reason}; {movable}")

    def _known(self, block: Block) -> None:
        if not self.heap.is_live(block):
            raise UnknownBlockError(f"{block!r} is not live in this heap: allocate it here first")

    def check(self) -> None:
        self.heap.check()
        live = set(self.heap.blocks())
        require(set(self._pins) <= live, "a pinned block is not live")
        require(set(self._told) <= live, "an owner waits for a block that is not live")
