"""The page ring's own rule."""

from __future__ import annotations

from itertools import pairwise

import pytest

from wia_lab.errors import OutOfMemoryError
from wia_lab.memory import Heap, PageRing
from wia_lab.memory.sizes import PAGE

HALF, QUARTER = PAGE // 2, PAGE // 4


@pytest.fixture
def heap():
    """Eight pages."""
    return Heap(8 * PAGE, granule=PAGE)


@pytest.fixture
def ring(heap):
    """A ring on them."""
    return PageRing(heap)


def test_first_in_first_out_needs_no_more_than_is_live(ring):
    """Blocks of growing size that die in the order of their birth: at most one page is waste."""
    blocks = []
    worst = 0.0
    for step in range(200):
        blocks.append(ring.allocate(100_000 + 256 * (step % 37) * 20))
        if len(blocks) > 40:
            ring.free(blocks.pop(0))
        live = sum(block.size for block in blocks)
        worst = max(worst, ring.statistics.reserved_bytes - live)
    assert worst < 2 * PAGE
    ring.check()


def test_a_block_can_lie_in_pages_that_are_no_neighbours(heap):
    """Blocks begin in the end of one page and end in the front of one mapped elsewhere."""
    ring = PageRing(heap)
    blocks, apart = [], 0
    for step in range(120):
        block = ring.allocate(600_000 + 4096 * (step % 11))
        pieces = ring.pieces(block)
        assert sum(count for _, count in pieces) == block.size
        apart += any(o + n != p for (o, n), (p, _) in pairwise(pieces))
        blocks.append(block)
        if len(blocks) > 12:
            ring.free(blocks.pop(0))
        spans = sorted(piece for live in blocks for piece in ring.pieces(live))
        assert all(o + n <= p for (o, n), (p, _) in pairwise(spans))
    assert apart > 0
    assert 0 < ring.views <= 120


def test_a_free_page_is_given_back_at_once(ring, heap):
    """Nothing live, nothing reserved."""
    block = ring.allocate(3 * PAGE)
    assert heap.statistics.live_bytes == 3 * PAGE
    ring.free(block)
    assert heap.statistics.live_bytes == 0
    assert ring.statistics.peak_reserved_bytes == 3 * PAGE


def test_exact_holes_are_used_first(ring):
    """A hole of exactly the size asked is filled, wherever it is."""
    keep = [ring.allocate(HALF), ring.allocate(768), ring.allocate(HALF)]
    ring.free(keep[1])
    assert ring.allocate(768).offset == keep[1].offset


def test_when_no_page_is_left_holes_serve(ring):
    """With upstream exhausted a block goes to any hole that is large enough; else it is refused."""
    blocks = [ring.allocate(PAGE) for _ in range(8)]
    small = blocks.pop(3)
    ring.free(small)
    first = ring.allocate(HALF)
    second = ring.allocate(QUARTER)
    assert {first.offset // PAGE, second.offset // PAGE} <= set(range(9))
    with pytest.raises(OutOfMemoryError, match="upstream has 0 B left to map"):
        ring.allocate(HALF)
    ring.check()
    assert not ring.explain(HALF).fits


def test_explain_is_where_it_goes(ring):
    """What `explain` says of each of the four rules is what `allocate` does."""
    assert str(ring.explain(1000)).startswith("1 page would be mapped at the cursor for 1,024 B")
    block = ring.allocate(1000)
    assert "to the cursor" in str(ring.explain(500))
    assert ring.explain(500).offset == ring.allocate(500).offset
    ring.free(block)
    assert "exactly that size" in str(ring.explain(1000))
    assert ring.explain(1000).offset == ring.allocate(1000).offset
