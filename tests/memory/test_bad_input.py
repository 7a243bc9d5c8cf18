"""What each allocator says to bad input: its own error, one sentence, nothing changed."""

from __future__ import annotations

import pytest

from wia_lab.errors import (
    AlignmentError,
    AllocatorError,
    DoubleFreeError,
    ForeignBlockError,
    InteriorPointerError,
    OutOfMemoryError,
    SizeError,
    UnknownBlockError,
)
from wia_lab.memory import Buddy, Guard, Heap, HostBacking, PageRing, Pool, SizeClasses, Slab
from wia_lab.memory.sizes import PAGE, parse_size

RANGE = 1 << 20
MAKERS = {
    "best fit": lambda: Heap(RANGE),
    "first fit": lambda: Heap(RANGE, fit="first"),
    "buddy": lambda: Buddy(Heap(RANGE), RANGE),
    "pool": lambda: Pool(Heap(RANGE)),
    "page ring": lambda: PageRing(Heap(4 * PAGE, granule=PAGE)),
    "guard": lambda: Guard(Heap(RANGE), HostBacking(RANGE)),
    "slab": lambda: Slab(Heap(RANGE), 4096),
}


@pytest.fixture(params=MAKERS.values(), ids=MAKERS)
def allocator(request):
    """One allocator with one live block in it."""
    made = request.param()
    made.allocate(1000)
    return made


def state(allocator):
    """Everything that a refusal must leave as it was, but the count of refusals."""
    now = allocator.statistics
    return (
        now.live_blocks,
        now.live_bytes,
        now.free_bytes,
        now.largest_free_bytes,
        now.reserved_bytes,
        now.allocations,
        [(region.offset, region.size, region.state) for region in allocator.regions()],
    )


def refused(allocator, error, action):
    """Assert that `action` raises exactly `error`, in one sentence, and changes nothing."""
    before = state(allocator)
    with pytest.raises(AllocatorError) as caught:
        action()
    assert type(caught.value) is error
    assert "\n" not in str(caught.value)
    allocator.check()
    assert state(allocator) == before
    return str(caught.value)


class TestSizes:
    """A size must be a whole number of bytes that could ever fit."""

    @pytest.mark.parametrize("size", [0, -1, -(2**40), 1.5, "1 KiB", None, True])
    def test_no_size(self, allocator, size):
        """Zero, negative and what is no integer is a SizeError."""
        refused(allocator, SizeError, lambda: allocator.allocate(size))

    def test_over_the_heap(self, allocator):
        """More than the whole range is a SizeError that names both."""
        size = allocator.capacity + 1
        message = refused(allocator, SizeError, lambda: allocator.allocate(size))
        assert f"{size:,} B" in message

    @pytest.mark.parametrize("text", ["", "GiB", "-1 MiB", "1 XB", "1.2.3", 2.5, True])
    def test_no_size_text(self, text):
        """Text that names no size is refused where it is read."""
        with pytest.raises(SizeError, match="2GiB"):
            parse_size(text)

    def test_size_text(self):
        """Text that names a size is bytes."""
        assert parse_size("2GiB") == 2147483648
        assert parse_size(" 1.5 kib") == 1536
        assert parse_size(7) == 7


class TestAlignments:
    """An alignment must be a power of two that makes sense."""

    @pytest.mark.parametrize("alignment", [0, -256, 3, 384, 2**31, 2.0, True])
    def test_bad_alignment(self, allocator, alignment):
        """No power of two, or absurdly large, is an AlignmentError."""
        refused(allocator, AlignmentError, lambda: allocator.allocate(64, alignment=alignment))


class TestFrees:
    """Only a live block of this allocator can be freed, by itself or by its offset."""

    def test_freed_already(self, allocator):
        """A second free of a handle is a DoubleFreeError, also when its place is in use again."""
        block = allocator.allocate(1000)
        allocator.free(block)
        refused(allocator, DoubleFreeError, lambda: allocator.free(block))
        allocator.allocate(1000)
        refused(allocator, DoubleFreeError, lambda: allocator.free(block))

    def test_foreign(self, allocator):
        """A block of another allocator is a ForeignBlockError, also at an offset in use."""
        stranger = Heap(RANGE).allocate(1000)
        refused(allocator, ForeignBlockError, lambda: allocator.free(stranger))

    def test_foreign_of_the_same_kind(self, allocator):
        """A block of another allocator of the same kind is foreign too."""
        for make in MAKERS.values():
            other = make()
            if type(other) is type(allocator):
                stranger = other.allocate(1000)
                refused(allocator, ForeignBlockError, lambda b=stranger: allocator.free(b))

    def test_interior(self, allocator):
        """An offset inside a live block is an InteriorPointerError that names its start."""
        block = next(allocator.blocks())
        message = refused(
            allocator, InteriorPointerError, lambda: allocator.free(block.offset + 16)
        )
        assert f"{block.offset:#x}" in message

    @pytest.mark.parametrize("what", [1 << 40, -1, "block", None, 1.0])
    def test_unknown(self, allocator, what):
        """What was never handed out is an UnknownBlockError."""
        refused(allocator, UnknownBlockError, lambda: allocator.free(what))

    def test_freed_offset(self, allocator):
        """The offset of a freed block is unknown (or, in quarantine, known to be freed)."""
        block = allocator.allocate(1000)
        allocator.free(block.offset)
        with pytest.raises((UnknownBlockError, DoubleFreeError)):
            allocator.free(block.offset)


class TestExhaustion:
    """Out of memory says what was asked, what is free, the largest hole, and who holds the rest."""

    def test_heap(self):
        """The error carries the figures and names the holders, largest first."""
        heap = Heap(4096)
        blocks = [heap.allocate(n) for n in (1024, 512, 1024, 512, 1024)]
        heap.free(blocks[0])
        heap.free(blocks[2])
        before = state(heap)
        with pytest.raises(OutOfMemoryError) as caught:
            heap.allocate(2048)
        error = caught.value
        assert (error.requested, error.free, error.largest_free) == (2048, 2048, 1024)
        assert error.holders == ((3072, 1024, ""), (1024, 512, ""), (2560, 512, ""))
        assert str(error) == (
            "Heap has no room for 2,048 B: 2,048 B are free, the largest hole has 1,024 B; the "
            "largest holders are 1,024 B at 0xc00, 512 B at 0x400, 512 B at 0xa00: free some, or "
            "compact the heap"
        )
        assert state(heap) == before
        assert heap.statistics.failures == 1

    def test_every_allocator(self, allocator):
        """Each allocator can be filled up, refuses more, and serves again after a free."""
        size = 4096 if isinstance(allocator, Slab) else allocator.capacity // 16
        blocks = []

        def fill():
            while True:
                blocks.append(allocator.allocate(size))

        with pytest.raises(OutOfMemoryError) as caught:
            fill()
        assert caught.value.requested > 0
        allocator.check()
        allocator.free(blocks.pop())
        if isinstance(allocator, Guard):
            allocator.trim()
        allocator.allocate(size)
        allocator.check()

    def test_explain_says_no_where_allocate_would(self):
        """`explain` of a request that fails says so and why."""
        heap = Heap(1024)
        heap.allocate(256)
        middle = heap.allocate(256)
        heap.allocate(256)
        heap.free(middle)
        assert not heap.explain(512).fits
        assert str(heap.explain(512)) == (
            "512 B fit in no hole: 512 B are free, the largest hole has 256 B; compacting would "
            "make room"
        )


class TestMaking:
    """Allocators that could not work are not made."""

    @pytest.mark.parametrize(
        ("make", "error"),
        [
            (lambda: Heap(0), SizeError),
            (lambda: Heap(-4096), SizeError),
            (lambda: Heap(100), SizeError),
            (lambda: Heap(4096, granule=100), AlignmentError),
            (lambda: Heap(4096, fit="worst"), SizeError),
            (lambda: Heap(8192, backing=HostBacking(4096)), SizeError),
            (lambda: HostBacking(0), SizeError),
            (lambda: Buddy(Heap(4096), 3000), SizeError),
            (lambda: Buddy(Heap(4096), 128), SizeError),
            (lambda: Buddy(Heap(4096), 4096, minimum=48), AlignmentError),
            (lambda: Slab(Heap(4096), 8), SizeError),
            (lambda: Slab(Heap(4096), 0), SizeError),
            (lambda: Slab(Heap(4096), 64, objects_per_arena=0), SizeError),
            (lambda: Pool(Heap(4096), limit=0), SizeError),
            (lambda: Pool(Heap(4096), keep=-1), SizeError),
            (lambda: SizeClasses(0), SizeError),
            (lambda: SizeClasses(steps=3), SizeError),
            (lambda: Guard(Heap(4096), HostBacking(4096), red_zone=0), SizeError),
        ],
    )
    def test_refused(self, make, error):
        """Each impossible allocator is refused where it is made."""
        with pytest.raises(error):
            make()

    def test_slab_object_smaller_than_it_may_be(self):
        """The refusal of a too small object names its size and the way out."""
        with pytest.raises(SizeError, match=r"objects of 8 B aligned to 16: .* lower alignment="):
            Slab(Heap(4096), 8)
