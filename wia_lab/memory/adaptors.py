"""Policies that stack: each owns its upstream and adds one thing.

    Limit(Track(Pool(heap)), "1GiB")

An adaptor is an allocator itself; a block belongs to the allocator that made it, and passes
through the adaptors unchanged.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from wia_lab.errors import OutOfMemoryError, SizeError
from wia_lab.memory.base import Allocator, require
from wia_lab.memory.block import Block, Explanation, Region, Stream
from wia_lab.memory.sites import Site, caller_site
from wia_lab.memory.sizes import checked_size, parse_size

if TYPE_CHECKING:
    from wia_lab.memory.statistics import Statistics

__all__ = ["Adaptor", "Entry", "Leak", "Limit", "Locked", "Log", "OnFailure", "Track"]


NEAR_THE_LIMIT = 4096
"""Bytes left under which rounding alone may pass a limit, whatever the size asked for."""


class Adaptor(Allocator):
    """Pass everything on to `upstream`; a policy overrides what it changes."""

    def __init__(self, upstream: Allocator) -> None:
        self.upstream = upstream

    @property
    def capacity(self) -> int:
        return self.upstream.capacity

    def allocate(
        self, size: int, *, alignment: int | None = None, stream: Stream | None = None
    ) -> Block:
        return self.upstream.allocate(size, alignment=alignment, stream=stream)

    def free(self, block: Block | int, *, stream: Stream | None = None) -> None:
        self.upstream.free(block, stream=stream)

    @property
    def statistics(self) -> Statistics:
        return self.upstream.statistics

    def explain(self, nbytes: int) -> Explanation:
        return self.upstream.explain(nbytes)

    def check(self) -> None:
        self.upstream.check()

    def blocks(self) -> Iterator[Block]:
        return self.upstream.blocks()

    def block_at(self, offset: int) -> Block | None:
        return self.upstream.block_at(offset)

    def regions(self) -> Iterator[Region]:
        return self.upstream.regions()

    def trim(self) -> int:
        return self.upstream.trim()

    def _live_block(self, block: Block | int) -> Block | None:
        """Return the live block that `block` names, or None when upstream will refuse it."""
        if isinstance(block, Block):
            return block
        return self.upstream.block_at(block) if isinstance(block, int) else None


class Limit(Adaptor):
    """Refuse an allocation that would take the live bytes past `limit`.

    Parameters
    ----------
    upstream : Allocator
        What serves the requests within the limit.
    limit : int or str
        Bytes, as granted, that may be live at once through this adaptor.
    """

    def __init__(self, upstream: Allocator, limit: int | str) -> None:
        super().__init__(upstream)
        self.limit = parse_size(limit)
        self.live = 0
        if self.limit <= 0:
            raise SizeError(f"a limit of {limit!r}: give at least 1 B")

    def allocate(
        self, size: int, *, alignment: int | None = None, stream: Stream | None = None
    ) -> Block:
        left = self.limit - self.live
        if checked_size(size, self.capacity, "Limit") > left:
            raise self._refused(size, left)
        if left < max(2 * size, NEAR_THE_LIMIT):  # ask first: a refusal must leave no trace
            granted = self.upstream.explain(size).granted
            if granted > left:
                raise self._refused(granted, left)
        block = self.upstream.allocate(size, alignment=alignment, stream=stream)
        if block.size > left:  # rounded for the alignment too
            self.upstream.free(block)
            raise self._refused(block.size, left)
        self.live += block.size
        return block

    def free(self, block: Block | int, *, stream: Stream | None = None) -> None:
        found = self._live_block(block)
        size = 0 if found is None else found.size
        self.upstream.free(block, stream=stream)
        self.live -= size

    def _refused(self, size: int, left: int) -> OutOfMemoryError:
        return OutOfMemoryError(
            f"{size:,} B asked, {left:,} B left of the limit of {self.limit:,} B: free some, or "
            "raise limit=",
            size,
            left,
            left,
        )

    def explain(self, nbytes: int) -> Explanation:
        left = self.limit - self.live
        below = self.upstream.explain(nbytes)
        granted = max(nbytes, below.granted)
        if granted > left:
            reason = f"{granted:,} B would pass the limit: {left:,} B are left of {self.limit:,} B"
            return Explanation(nbytes, granted, False, None, reason)
        return below

    def check(self) -> None:
        self.upstream.check()
        require(0 <= self.live <= self.limit, f"{self.live:,} B are live, limit {self.limit:,}")


@dataclass(frozen=True, slots=True)
class Leak:
    """A block that is still live, and the line of the user's program that allocated it."""

    offset: int
    size: int
    site: Site

    def __str__(self) -> str:
        return f"{self.size:,} B at {self.offset:#x}, allocated at {self.site}"


class Track(Adaptor):
    """Remember which line of the user's program allocated each live block."""

    def __init__(self, upstream: Allocator) -> None:
        super().__init__(upstream)
        self._sites: dict[Block, Site] = {}

    def allocate(
        self, size: int, *, alignment: int | None = None, stream: Stream | None = None
    ) -> Block:
        try:
            block = self.upstream.allocate(size, alignment=alignment, stream=stream)
        except OutOfMemoryError as error:
            held = "; ".join(f"{size:,} B from {site}" for site, size in self.holders()[:5])
            message = f"{error}; held by {held or 'nobody'}"
            sites = {block.offset: str(site) for block, site in self._sites.items()}
            holders = tuple((o, n, sites.get(o, label)) for o, n, label in error.holders)
            raise OutOfMemoryError(
                message, error.requested, error.free, error.largest_free, holders
            ) from error
        self._sites[block] = caller_site()
        return block

    def free(self, block: Block | int, *, stream: Stream | None = None) -> None:
        found = self._live_block(block)
        self.upstream.free(block, stream=stream)
        if found is not None:
            self._sites.pop(found, None)

    def site_of(self, block: Block) -> Site:
        """Return the line that allocated a live block."""
        return self._sites[block]

    def leaks(self) -> list[Leak]:
        """Return what is still live, largest first."""
        found = [Leak(block.offset, block.size, site) for block, site in self._sites.items()]
        return sorted(found, key=lambda leak: (-leak.size, leak.offset))

    def holders(self) -> list[tuple[Site, int]]:
        """Return the lines that hold most, with their live bytes, largest first."""
        held: Counter[Site] = Counter()
        for block, site in self._sites.items():
            held[site] += block.size
        return held.most_common()

    def check(self) -> None:
        self.upstream.check()
        live = set(self.upstream.blocks())
        require(set(self._sites) <= live, "a site is kept for a block that is not live")


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a log."""

    action: Literal["allocate", "free", "refuse"]
    offset: int
    size: int

    def __str__(self) -> str:
        return f"{self.action:8} {self.size:>14,} B at {self.offset:#x}"


class Log(Adaptor):
    """Keep a line for every allocation, free and refusal, in order."""

    def __init__(self, upstream: Allocator) -> None:
        super().__init__(upstream)
        self.entries: list[Entry] = []

    def allocate(
        self, size: int, *, alignment: int | None = None, stream: Stream | None = None
    ) -> Block:
        try:
            block = self.upstream.allocate(size, alignment=alignment, stream=stream)
        except OutOfMemoryError:
            self.entries.append(Entry("refuse", 0, size))
            raise
        self.entries.append(Entry("allocate", block.offset, block.size))
        return block

    def free(self, block: Block | int, *, stream: Stream | None = None) -> None:
        found = self._live_block(block)
        entry = None if found is None else Entry("free", found.offset, found.size)
        self.upstream.free(block, stream=stream)
        if entry is not None:
            self.entries.append(entry)


class OnFailure(Adaptor):
    """When upstream has no room, call back and ask again while the callback says so.

    Parameters
    ----------
    upstream : Allocator
        What serves the requests.
    callback : callable
        `callback(nbytes) -> bool`: frees something and returns whether to ask again.
    retries : int
        The most times that one request asks again.
    """

    def __init__(
        self, upstream: Allocator, callback: Callable[[int], bool], *, retries: int = 2
    ) -> None:
        super().__init__(upstream)
        self.callback = callback
        self.retries = retries

    def allocate(
        self, size: int, *, alignment: int | None = None, stream: Stream | None = None
    ) -> Block:
        for _ in range(self.retries):
            try:
                return self.upstream.allocate(size, alignment=alignment, stream=stream)
            except OutOfMemoryError:
                if not self.callback(size):
                    raise
        return self.upstream.allocate(size, alignment=alignment, stream=stream)


class Locked(Adaptor):
    """Let any number of threads use an allocator that takes no lock itself, one at a time."""

    def __init__(self, upstream: Allocator) -> None:
        super().__init__(upstream)
        self._lock = threading.RLock()

    def allocate(
        self, size: int, *, alignment: int | None = None, stream: Stream | None = None
    ) -> Block:
        with self._lock:
            return self.upstream.allocate(size, alignment=alignment, stream=stream)

    def free(self, block: Block | int, *, stream: Stream | None = None) -> None:
        with self._lock:
            self.upstream.free(block, stream=stream)

    @property
    def statistics(self) -> Statistics:
        with self._lock:
            return self.upstream.statistics

    def explain(self, nbytes: int) -> Explanation:
        with self._lock:
            return self.upstream.explain(nbytes)

    def check(self) -> None:
        with self._lock:
            self.upstream.check()

    def blocks(self) -> Iterator[Block]:
        with self._lock:
            return iter(list(self.upstream.blocks()))

    def regions(self) -> Iterator[Region]:
        with self._lock:
            return iter(list(self.upstream.regions()))

    def trim(self) -> int:
        with self._lock:
            return self.upstream.trim()
