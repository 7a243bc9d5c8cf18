"""Guard: find out who writes where nothing of his is.

Each block gets a red zone on both sides, filled with a pattern that is checked when the block
is freed (and whenever `verify` is called). A freed block is filled with poison and kept in
quarantine for a while; poison that has changed was written after the free. Every report names
the lines of the user's program that allocated and freed the block.

Page protection cannot do this on a device: cudaMalloc memory has no pages of its own to protect,
and mapped memory has them at 2 MiB only.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from typing import TYPE_CHECKING

from wia_lab.errors import DoubleFreeError, RedZoneError, SizeError, UseAfterFreeError
from wia_lab.memory.adaptors import Adaptor, Leak
from wia_lab.memory.base import Allocator, refusal, require
from wia_lab.memory.block import Block, Explanation, Region, Stream
from wia_lab.memory.sites import Site, caller_site
from wia_lab.memory.sizes import GRANULE, align_up, checked_alignment, checked_size, parse_size

if TYPE_CHECKING:
    from wia_lab.memory.backing import Backing

__all__ = ["Guard"]

RED, POISON, FRESH = 0xFB, 0xDD, 0xCD


class _Guarded(Block):
    """A block inside its red zones."""

    __slots__ = ("allocated_at", "base", "freed_at")

    def __init__(self, base: Block, offset: int, size: int, owner: Guard, alignment: int) -> None:
        super().__init__(offset, size, size, owner, alignment, base.stream)
        self.base = base
        self.allocated_at = caller_site()
        self.freed_at: Site | None = None


class Guard(Adaptor):
    """Put red zones around blocks, poison in freed ones, and freed ones in quarantine.

    A guarded block has exactly the bytes that were asked for: the red zone starts right behind.

    Parameters
    ----------
    upstream : Allocator
        Where blocks with their zones come from; its offsets must be the backing's.
    backing : Backing
        The bytes.
    red_zone : int
        Bytes of a zone, at least 1; the one before a block is as long as its alignment needs.
    quarantine : int or str
        Bytes of freed blocks that are kept from reuse, oldest leaving first.
    """

    def __init__(
        self,
        upstream: Allocator,
        backing: Backing,
        *,
        red_zone: int = GRANULE,
        quarantine: int | str = "1MiB",
    ) -> None:
        super().__init__(upstream)
        self.backing = backing
        self.red_zone = red_zone
        self.quarantine = parse_size(quarantine)
        if red_zone <= 0 or self.quarantine < 0:
            raise SizeError(
                f"a guard with red_zone={red_zone} and quarantine={quarantine!r}: give at least 1 "
                "and at least 0"
            )
        self._guarded: dict[int, _Guarded] = {}
        self._held: OrderedDict[int, _Guarded] = OrderedDict()  # in quarantine, by offset
        self._held_bytes = 0

    def allocate(
        self, size: int, *, alignment: int | None = None, stream: Stream | None = None
    ) -> Block:
        alignment = GRANULE if alignment is None else checked_alignment(alignment, "Guard")
        front = align_up(self.red_zone, alignment)
        checked_size(size, self.capacity - front - self.red_zone, "Guard")
        base = self.upstream.allocate(
            front + size + self.red_zone, alignment=alignment, stream=stream
        )
        block = _Guarded(base, base.offset + front, size, self, alignment)
        self.backing.fill(base.offset, base.size, RED)
        self.backing.fill(block.offset, size, FRESH)
        self._guarded[block.offset] = block
        return block

    def free(self, block: Block | int, *, stream: Stream | None = None) -> None:
        guarded = self._checked(block)
        self._verify_zones(guarded)
        guarded.freed_at = caller_site()
        del self._guarded[guarded.offset]
        self.backing.fill(guarded.offset, guarded.size, POISON)
        guarded.stream = stream or guarded.stream
        self._held[guarded.offset] = guarded
        self._held_bytes += guarded.base.size
        self._release_until(self.quarantine)

    def _checked(self, block: Block | int) -> _Guarded:
        """Return the live guarded block that is meant, or raise what says why there is none."""
        offset = block.offset if isinstance(block, Block) else block
        live = self._guarded.get(offset)
        if live is not None and (live is block or isinstance(block, int)):
            return live
        if isinstance(block, _Guarded) and block.owner is self:
            raise DoubleFreeError(
                f"{block!r}, allocated at {block.allocated_at}, was freed at {block.freed_at} and "
                f"again at {caller_site()}: free each block once"
            )
        raise refusal(self, block, self._guarded.values())

    def _release_until(self, most: int) -> None:
        """Let the blocks freed longest ago out of quarantine until it holds at most `most` bytes.

        All that must go goes; then the first write after a free that was found is raised.
        """
        found: list[UseAfterFreeError] = []
        while self._held_bytes > most:
            _, block = self._held.popitem(last=False)
            self._held_bytes -= block.base.size
            try:
                self._verify_poison(block)
            except UseAfterFreeError as error:
                found.append(error)
            self.upstream.free(block.base, stream=block.stream)
        if found:
            raise found[0]

    def verify(self) -> None:
        """Check every red zone and every poisoned byte now."""
        for block in self._guarded.values():
            self._verify_zones(block)
        for block in self._held.values():
            self._verify_poison(block)
            self._verify_zones(block)

    def _verify_zones(self, block: _Guarded) -> None:
        """Raise RedZoneError if bytes just before or behind a block have changed."""
        base = block.base
        before = self.backing.read(base.offset, block.offset - base.offset)
        if (at := _last_change(before, RED)) is not None:
            distance = len(before) - at
            raise RedZoneError(
                f"underflow: the byte {distance:,} before the start of {block!r}, allocated at "
                f"{block.allocated_at}, was overwritten with {before[at]:#04x}"
            )
        behind = self.backing.read(block.end, base.end - block.end)
        if (at := _first_change(behind, RED)) is not None:
            raise RedZoneError(
                f"overflow: the byte {at + 1:,} behind the end of {block!r}, allocated at "
                f"{block.allocated_at}, was overwritten with {behind[at]:#04x}"
            )

    def _verify_poison(self, block: _Guarded) -> None:
        """Raise UseAfterFreeError if a freed block's bytes have changed."""
        data = self.backing.read(block.offset, block.size)
        if (at := _first_change(data, POISON)) is not None:
            raise UseAfterFreeError(
                f"use after free: byte {at:,} of {block!r}, allocated at {block.allocated_at} and "
                f"freed at {block.freed_at}, was written with {data[at]:#04x}"
            )

    def trim(self) -> int:
        self._release_until(0)
        return self.upstream.trim()

    def leaks(self) -> list[Leak]:
        """Return what is still live, with the line that allocated it, largest first."""
        found = [Leak(b.offset, b.size, b.allocated_at) for b in self._guarded.values()]
        return sorted(found, key=lambda leak: (-leak.size, leak.offset))

    def explain(self, nbytes: int) -> Explanation:
        checked_size(nbytes, self.capacity, "Guard")
        front = align_up(self.red_zone, GRANULE)
        whole = front + nbytes + self.red_zone
        if whole > self.capacity:
            reason = f"{nbytes:,} B and their red zones make {whole:,} B, more than there is"
            return Explanation(nbytes, nbytes, False, None, reason)
        below = self.upstream.explain(whole)
        offset = None if below.offset is None else below.offset + front
        reason = f"with red zones of {front:,} B and {self.red_zone:,} B, {below.reason}"
        return Explanation(nbytes, nbytes, below.fits, offset, reason)

    @property
    def quarantined_bytes(self) -> int:
        """Bytes in quarantine, red zones included."""
        return self._held_bytes

    def block_at(self, offset: int) -> Block | None:
        return self._guarded.get(offset)

    def blocks(self) -> Iterator[Block]:
        return iter(list(self._guarded.values()))

    def regions(self) -> Iterator[Region]:
        held = {block.base.offset for block in self._held.values()}
        for region in self.upstream.regions():
            deferred = region.state == "live" and region.offset in held
            yield Region(region.offset, region.size, "deferred") if deferred else region

    def check(self) -> None:
        self.upstream.check()
        self.verify()
        require(
            sum(b.base.size for b in self._held.values()) == self._held_bytes,
            "quarantined bytes were lost",
        )
        require(self._held_bytes <= self.quarantine, "the quarantine is too full")
        bases = {b.base for b in (*self._guarded.values(), *self._held.values())}
        require(bases <= set(self.upstream.blocks()), "a guarded block is not live below")


def _first_change(data: bytes, expected: int) -> int | None:
    """Return the index of the first byte that is not `expected`."""
    rest = data.lstrip(bytes([expected]))
    return len(data) - len(rest) if rest else None


def _last_change(data: bytes, expected: int) -> int | None:
    """Return the index of the last byte that is not `expected`."""
    rest = data.rstrip(bytes([expected]))
    return len(rest) - 1 if rest else None
