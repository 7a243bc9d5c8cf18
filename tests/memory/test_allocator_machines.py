"""Each allocator against a model that knows nothing of it: an array with an owner a byte.

Hypothesis drives allocations and frees of every kind; after each step the allocator's own
`check()` must hold, and the model must agree: no byte has two owners, offsets are aligned, bytes
are neither lost nor made, and once all is freed the memory is one piece again.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from wia_lab.errors import DoubleFreeError, OutOfMemoryError
from wia_lab.memory import (
    Buddy,
    Compacting,
    Guard,
    Heap,
    HostBacking,
    Limit,
    PageRing,
    Pool,
    Slab,
    StreamOrdered,
    Track,
)
from wia_lab.memory.sizes import PAGE

SMALL = 1 << 16  # bytes of the range under the small allocators
PAGES = 12  # pages under the ring
EXAMPLES = 12 if settings().max_examples <= 50 else 2000  # few on every run, all in CI


class AllocatorMachine(RuleBasedStateMachine):
    """Steps that fit every allocator; a subclass makes one and says how large requests get."""

    largest = 6000
    alignments: tuple[int | None, ...] = (None, 256, 1024, 4096)

    def __init__(self):
        super().__init__()
        self.allocator = self.make()
        self.owner = np.zeros(self.model_bytes(), dtype=np.int64)
        self.live = {}
        self.number = 0

    def make(self):
        raise NotImplementedError

    def model_bytes(self):
        return SMALL

    def pieces(self, block):
        """Where a block lies in the model: (offset, bytes) of each piece."""
        return [(block.offset, block.size)]

    @rule(data=st.data())
    def allocate(self, data):
        size = data.draw(st.integers(1, self.largest), label="bytes")
        alignment = data.draw(st.sampled_from(self.alignments), label="alignment")
        before = self.allocator.statistics
        explained = self.allocator.explain(size)
        try:
            block = self.allocator.allocate(size, alignment=alignment)
        except OutOfMemoryError:
            after = self.allocator.statistics
            assert (after.live_bytes, after.allocations) == (before.live_bytes, before.allocations)
            return
        if alignment is None and explained.offset is not None:
            assert explained.fits
            assert block.offset == explained.offset
        assert block.requested == size
        assert block.size >= size
        assert block.offset % (alignment or 1) == 0
        self.number += 1
        for offset, count in self.pieces(block):
            taken = self.owner[offset : offset + count]
            assert taken.size == count
            assert not taken.any(), f"{block} overlaps block {taken[taken != 0][0]}"
            taken[:] = self.number
        self.live[self.number] = block

    @precondition(lambda self: self.live)
    @rule(data=st.data(), by_offset=st.booleans())
    def free(self, data, by_offset):
        number = data.draw(st.sampled_from(sorted(self.live)), label="block")
        block = self.live.pop(number)
        pieces = self.pieces(block)
        self.allocator.free(block.offset if by_offset else block)
        for offset, count in pieces:
            mine = self.owner[offset : offset + count]
            assert (mine == number).all()
            mine[:] = 0
        with pytest.raises(DoubleFreeError):
            self.allocator.free(block)

    @invariant()
    def books_agree(self):
        self.allocator.check()
        if type(self).own_statistics:
            now = self.allocator.statistics
            assert now.live_blocks == len(self.live)
            assert now.live_bytes == sum(block.size for block in self.live.values())
            assert now.requested_bytes == sum(b.requested for b in self.live.values())
            assert now.reserved_bytes <= now.peak_reserved_bytes
            assert 0 <= now.fragmentation <= 1
            assert now.allocations - now.frees == len(self.live)
        assert {b.offset for b in self.allocator.blocks()} == {b.offset for b in self.live.values()}

    own_statistics = True  # whether statistics count this allocator's blocks or upstream's

    def teardown(self):
        for block in self.live.values():
            self.allocator.free(block)
        self.live.clear()
        self.allocator.check()
        self.allocator.trim()
        self.all_is_free()

    def all_is_free(self):
        now = self.allocator.statistics
        assert now.live_bytes == 0
        assert now.free_bytes == now.largest_free_bytes == self.allocator.capacity


class BestFitMachine(AllocatorMachine):
    def make(self):
        return Heap(SMALL)


class FirstFitMachine(AllocatorMachine):
    def make(self):
        return Heap(SMALL, fit="first")

    @invariant()
    def lowest_hole_is_taken(self):
        holes = [r for r in self.allocator.regions() if r.state == "free" and r.size >= 512]
        assert self.allocator.explain(512).offset == (holes[0].offset if holes else None)


class BuddyMachine(AllocatorMachine):
    def make(self):
        return Buddy(Heap(SMALL), SMALL, minimum=64)

    @invariant()
    def split_is_tight(self):
        for block in self.live.values():
            assert block.size < 2 * max(block.requested, block.alignment, 64)


class SlabMachine(AllocatorMachine):
    largest = 96
    alignments = (None, 16)

    def make(self):
        self.heap = Heap(SMALL)
        return Slab(self.heap, 90, objects_per_arena=7, keep_empty=1)

    def all_is_free(self):
        assert self.allocator.statistics.reserved_bytes == 0
        assert self.heap.statistics.largest_free_bytes == SMALL


class PoolMachine(AllocatorMachine):
    largest = 3000

    def make(self):
        self.heap = Heap(SMALL)
        return Pool(self.heap, keep=8192, limit=SMALL * 3 // 4)

    @invariant()
    def keeps_within_its_bounds(self):
        now = self.allocator.statistics
        assert now.cached_bytes <= 8192
        assert now.reserved_bytes <= SMALL * 3 // 4
        assert now.reserved_bytes == self.heap.statistics.live_bytes

    def all_is_free(self):
        assert self.allocator.statistics.reserved_bytes == 0
        assert self.heap.statistics.largest_free_bytes == SMALL


class PageRingMachine(AllocatorMachine):
    largest = 3 * PAGE
    alignments = (None, 256, 1024, 65536)

    def make(self):
        self.heap = Heap(PAGES * PAGE, granule=PAGE)
        return PageRing(self.heap)

    def model_bytes(self):
        return PAGES * PAGE // 256

    def pieces(self, block):
        """The model has a cell for each 256 bytes; a block's stretch covers whole ones."""
        return [(offset // 256, count // 256) for offset, count in self.allocator.pieces(block)]

    @invariant()
    def no_free_page_is_kept(self):
        reserved = self.allocator.statistics.reserved_bytes
        assert reserved == self.heap.statistics.live_bytes

    def all_is_free(self):
        assert self.allocator.statistics.reserved_bytes == 0
        assert self.heap.statistics.largest_free_bytes == PAGES * PAGE


class CompactingMachine(AllocatorMachine):
    """Blocks move here, so the model looks at bytes: each block keeps the pattern written to it."""

    def make(self):
        self.backing = HostBacking(SMALL)
        self.pinned = {}
        return Compacting(Heap(SMALL, backing=self.backing))

    def pieces(self, block):
        del block
        return []

    @rule(data=st.data())
    def write(self, data):
        if self.live:
            number = data.draw(st.sampled_from(sorted(self.live)))
            self.backing.fill(self.live[number].offset, self.live[number].size, number % 251 + 1)
            self.written = {**getattr(self, "written", {}), number: number % 251 + 1}

    @rule()
    def compact(self):
        total = self.allocator.statistics.free_bytes
        report = self.allocator.compact()
        assert report.free_bytes == total
        assert report.largest_free_after >= report.largest_free_before

    @invariant()
    def bytes_followed_their_block(self):
        for number, value in getattr(self, "written", {}).items():
            if number in self.live:
                block = self.live[number]
                assert set(self.backing.read(block.offset, block.size)) == {value}


class GuardMachine(AllocatorMachine):
    own_statistics = False

    def make(self):
        self.heap = Heap(SMALL)
        return Guard(self.heap, HostBacking(SMALL), quarantine=4096)

    def all_is_free(self):
        assert self.heap.statistics.largest_free_bytes == SMALL


class LimitedMachine(AllocatorMachine):
    """Adaptors over a heap: the limit is held and every live block has its site."""

    def make(self):
        return Limit(Track(Heap(SMALL)), 20_000)

    @invariant()
    def limit_and_sites_hold(self):
        assert sum(block.size for block in self.live.values()) <= 20_000
        for block in self.live.values():
            site = self.allocator.upstream.site_of(block)
            assert site.file == __file__
            assert site.function.endswith("AllocatorMachine.allocate")

    def all_is_free(self):
        assert self.allocator.statistics.largest_free_bytes == SMALL


class OrderedMachine(AllocatorMachine):
    """Without a stream, stream-ordered memory is plain memory."""

    def make(self):
        return StreamOrdered(Heap(SMALL))


MACHINES = (
    BestFitMachine,
    FirstFitMachine,
    BuddyMachine,
    SlabMachine,
    PoolMachine,
    PageRingMachine,
    CompactingMachine,
    GuardMachine,
    LimitedMachine,
    OrderedMachine,
)

for machine in MACHINES:
    machine.TestCase.settings = settings(
        max_examples=min(settings().max_examples, EXAMPLES), stateful_step_count=20, deadline=None
    )

TestBestFit = BestFitMachine.TestCase
TestFirstFit = FirstFitMachine.TestCase
TestBuddy = BuddyMachine.TestCase
TestSlab = SlabMachine.TestCase
TestPool = PoolMachine.TestCase
TestPageRing = PageRingMachine.TestCase
TestCompacting = CompactingMachine.TestCase
TestGuard = GuardMachine.TestCase
TestLimited = LimitedMachine.TestCase
TestOrdered = OrderedMachine.TestCase
