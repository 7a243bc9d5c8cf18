"""Slabs: objects of one size, cut from arenas that come and go with the need.

The links between free objects are kept out of band, in a list on the host: a device's memory is
no place for pointers that the host must follow. An arena that is wholly free is given back,
except for a few that are kept for the next rise.
"""

from __future__ import annotations

from collections.abc import Iterator

from wia_lab.errors import OutOfMemoryError, SizeError
from wia_lab.memory.base import Allocator, BookKeeper, require
from wia_lab.memory.block import Block, Explanation, Region, Stream
from wia_lab.memory.index import strike
from wia_lab.memory.sizes import align_up, checked_alignment, checked_size
from wia_lab.memory.statistics import Statistics

__all__ = ["Slab"]


class _Arena:
    """One run of objects: the block it lies in, and the numbers of its free objects."""

    __slots__ = ("base", "free")

    def __init__(self, base: Block, objects: int) -> None:
        self.base = base
        self.free = list(reversed(range(objects)))  # popped from the end: lowest first


class Slab(BookKeeper):
    """Hand out objects of one size in constant time.

    Parameters
    ----------
    upstream : Allocator
        Where arenas come from.
    object_size : int
        Bytes of an object, at least `alignment`; rounded up to a multiple of it.
    objects_per_arena : int
        Objects in an arena.
    alignment : int
        What every object's offset is a multiple of, in bytes.
    keep_empty : int
        Wholly free arenas that are kept.
    """

    def __init__(
        self,
        upstream: Allocator,
        object_size: int,
        *,
        objects_per_arena: int = 256,
        alignment: int = 16,
        keep_empty: int = 1,
    ) -> None:
        super().__init__()
        checked_alignment(alignment, "Slab")
        checked_size(object_size, upstream.capacity, "Slab")
        if object_size < alignment:
            raise SizeError(
                f"a slab of objects of {object_size:,} B aligned to {alignment:,}: an object may "
                "not be smaller than its alignment; make it larger or lower alignment="
            )
        if objects_per_arena <= 0 or keep_empty < 0:
            raise SizeError(
                f"a slab with objects_per_arena={objects_per_arena} and keep_empty={keep_empty}: "
                "give at least 1 and at least 0"
            )
        self.upstream = upstream
        self.object_size = align_up(object_size, alignment)
        self.objects_per_arena = objects_per_arena
        self.alignment = alignment
        self.keep_empty = keep_empty
        self._partial: dict[_Arena, None] = {}  # some objects live, some free
        self._empty: dict[_Arena, None] = {}  # all objects free
        self._arenas: dict[_Arena, None] = {}
        self._home: dict[int, _Arena] = {}  # the arena of each live object, by offset
        self._hits = 0
        self._peak_reserved = 0

    @property
    def capacity(self) -> int:
        return self.upstream.capacity

    @property
    def arena_bytes(self) -> int:
        """Bytes of one arena's objects."""
        return self.object_size * self.objects_per_arena

    def allocate(
        self, size: int, *, alignment: int | None = None, stream: Stream | None = None
    ) -> Block:
        checked_size(size, self.object_size, "Slab")
        if alignment is not None and checked_alignment(alignment, "Slab") > self.alignment:
            raise SizeError(
                f"Slab was asked for alignment {alignment:,}, its objects are aligned to "
                f"{self.alignment:,}: make it with alignment={alignment}"
            )
        arena = next(reversed(self._partial or self._empty), None)
        if arena is None:
            arena = self._grow(size)
        else:
            self._hits += 1
        if arena in self._empty:
            strike(self._empty, arena)
        offset = arena.base.offset + arena.free.pop() * self.object_size
        if arena.free:
            self._partial[arena] = None
        else:
            self._lost_last(arena)
        self._home[offset] = arena
        return self._enter(Block(offset, self.object_size, size, self, self.alignment, stream))

    def _lost_last(self, arena: _Arena) -> None:
        """Strike an arena that has become full or empty from those with some objects free."""
        if arena in self._partial:
            strike(self._partial, arena)

    def _grow(self, size: int) -> _Arena:
        """Get another arena from upstream."""
        try:
            base = self.upstream.allocate(self.arena_bytes, alignment=self.alignment)
        except OutOfMemoryError as error:
            raise self._exhausted(
                size, error.free, error.largest_free, f"an arena has {self.arena_bytes:,} B"
            ) from error
        arena = _Arena(base, self.objects_per_arena)
        self._arenas[arena] = None
        self._peak_reserved = max(self._peak_reserved, len(self._arenas) * self.arena_bytes)
        return arena

    def free(self, block: Block | int, *, stream: Stream | None = None) -> None:
        del stream  # as a heap's: idle when freed
        block = self._leave(block)
        arena = self._home.pop(block.offset)
        arena.free.append((block.offset - arena.base.offset) // self.object_size)
        if len(arena.free) < self.objects_per_arena:
            self._partial[arena] = None
            return
        self._lost_last(arena)
        self._empty[arena] = None
        if len(self._empty) > self.keep_empty:
            self._give_back(next(iter(self._empty)))

    def _give_back(self, arena: _Arena) -> None:
        """Return an empty arena to upstream."""
        del self._empty[arena]
        del self._arenas[arena]
        self.upstream.free(arena.base)

    def trim(self) -> int:
        empty = list(self._empty)
        for arena in empty:
            self._give_back(arena)
        return len(empty) * self.arena_bytes

    @property
    def statistics(self) -> Statistics:
        free = sum(len(arena.free) for arena in self._arenas) * self.object_size
        return Statistics(
            **self._counters(),
            reserved_bytes=len(self._arenas) * self.arena_bytes,
            peak_reserved_bytes=self._peak_reserved,
            free_bytes=free,
            largest_free_bytes=self.object_size if free else 0,
            cached_bytes=len(self._empty) * self.arena_bytes,
            hits=self._hits,
            misses=self._allocations - self._hits,
        )

    def explain(self, nbytes: int) -> Explanation:
        checked_size(nbytes, self.object_size, "Slab")
        arena = next(reversed(self._partial or self._empty), None)
        if arena is not None:
            offset = arena.base.offset + arena.free[-1] * self.object_size
            reason = (
                f"{nbytes:,} B take an object of {self.object_size:,} B at {offset:#x}, one of "
                f"{len(arena.free):,} free in that arena"
            )
            return Explanation(nbytes, self.object_size, True, offset, reason)
        below = self.upstream.explain(min(self.arena_bytes, self.upstream.capacity))
        fits = below.fits and self.arena_bytes <= self.upstream.capacity
        reason = f"no object is free; a new arena of {self.arena_bytes:,} B: {below.reason}"
        offset_below = below.offset if fits else None
        return Explanation(nbytes, self.object_size, fits, offset_below, reason)

    def regions(self) -> Iterator[Region]:
        for arena in sorted(self._arenas, key=lambda a: a.base.offset):
            for number in range(self.objects_per_arena):
                offset = arena.base.offset + number * self.object_size
                block = self._live.get(offset)
                yield Region(offset, self.object_size, "live" if block else "free", block)

    def check(self) -> None:
        self._check_books()
        free = 0
        for arena in self._arenas:
            numbers = set(arena.free)
            require(len(numbers) == len(arena.free), "an object is free twice")
            require(numbers <= set(range(self.objects_per_arena)), "an object out of its arena")
            free += len(numbers)
            empty = len(numbers) == self.objects_per_arena
            require((arena in self._empty) == empty, "an arena is wrongly empty or not")
            partial = bool(numbers) and not empty
            require((arena in self._partial) == partial, "an arena is wrongly partial or not")
            for number in numbers:
                offset = arena.base.offset + number * self.object_size
                require(offset not in self._live, f"the object at {offset:#x} is live and free")
        objects = len(self._arenas) * self.objects_per_arena
        require(free + len(self._live) == objects, "objects were lost")
        require(len(self._empty) <= self.keep_empty, "too many empty arenas are kept")
