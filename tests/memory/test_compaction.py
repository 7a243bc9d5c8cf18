"""Compaction over real bytes."""

from __future__ import annotations

import numpy as np
import pytest

from wia_lab.errors import InvariantError, OutOfMemoryError, UnknownBlockError
from wia_lab.memory import Compacting, Heap, HostBacking, move_in_pieces


def fragmented(sizes, free, alignment=None, capacity=1 << 14):
    """A heap with a distinct pattern in each block, and holes where blocks were freed."""
    backing = HostBacking(capacity)
    memory = Compacting(Heap(capacity, backing=backing))
    blocks, data = [], {}
    for number, size in enumerate(sizes):
        block = memory.allocate(size, alignment=alignment)
        rng = np.random.default_rng(number)
        data[block] = rng.integers(0, 256, block.size, dtype=np.uint8).tobytes()
        backing.write(block.offset, data[block])
        blocks.append(block)
    for number in free:
        memory.free(blocks[number])
        del data[blocks[number]]
    return memory, backing, blocks, data


def unchanged(backing, data):
    """Whether every block has its bytes at its present place."""
    return all(backing.read(block.offset, block.size) == bytes_ for block, bytes_ in data.items())


def test_overlapping_moves_keep_the_bytes():
    """A 256 B hole before a 4 KiB block: old and new place share 3,840 B."""
    memory, backing, blocks, data = fragmented([256, 4096, 4096], free=[0])
    report = memory.compact()
    assert (report.moved_blocks, report.overlapping_moves) == (2, 2)
    assert [block.offset for block in blocks[1:]] == [0, 4096]
    assert unchanged(backing, data)
    memory.check()


def test_largest_hole_before_and_after():
    """Free memory does not change; its largest piece becomes all of it."""
    memory, backing, _, data = fragmented([1024] * 16, free=range(0, 16, 2))
    report = memory.compact()
    assert (report.largest_free_before, report.largest_free_after) == (1024, 8192)
    assert report.free_bytes == 8192
    assert memory.statistics.fragmentation == 0
    assert unchanged(backing, data)


def test_alignment_is_kept():
    """Blocks slide to multiples of their own alignment, not to the next byte."""
    memory, backing, blocks, data = fragmented([256] * 4, free=[0, 2], alignment=1024)
    memory.compact()
    assert [blocks[1].offset, blocks[3].offset] == [0, 1024]
    assert unchanged(backing, data)


def test_owners_are_told_after_the_move():
    """Each owner hears where its block was and is, when the bytes are already there."""
    memory, backing, blocks, data = fragmented([256, 512, 512], free=[0])
    heard = []
    for block in blocks[1:]:
        memory.on_move(
            block,
            lambda b, was, now: heard.append((was, now, backing.read(now, b.size) == data[b])),
        )
    memory.compact()
    assert heard == [(256, 0, True), (768, 512, True)]


def test_pinned_blocks_stay():
    """A pinned block keeps its place, and what comes after it does not pass it."""
    memory, backing, blocks, data = fragmented([1024] * 6, free=[0, 2, 4])
    with memory.pinned(blocks[3]):
        report = memory.compact()
        assert [blocks[n].offset for n in (1, 3, 5)] == [0, 3072, 4096]
        assert report.pinned_blocks == 1
    memory.compact()
    assert [blocks[n].offset for n in (1, 3, 5)] == [0, 1024, 2048]
    assert unchanged(backing, data)


def test_a_request_that_fits_nowhere_compacts():
    """It is served when there is enough in all, and refused when there is not."""
    memory, backing, _, data = fragmented([1024] * 16, free=range(0, 16, 2))
    assert not memory.heap.explain(8192).fits
    assert memory.explain(8192).fits
    block = memory.allocate(8192)
    assert block.offset == 8192
    assert unchanged(backing, data)
    with pytest.raises(OutOfMemoryError):
        memory.allocate(256)


def test_strangers_cannot_be_pinned_or_watched():
    """Only live blocks of this heap."""
    memory, *_ = fragmented([256], free=[])
    stranger = Heap(4096).allocate(256)
    with pytest.raises(UnknownBlockError), memory.pinned(stranger):
        pass
    with pytest.raises(UnknownBlockError):
        memory.on_move(stranger, print)


def test_heap_refuses_a_move_onto_a_live_block():
    """`relocate` into anything but the hole just before is refused and changes nothing."""
    heap = Heap(4096)
    heap.allocate(256)
    block = heap.allocate(256)
    with pytest.raises(InvariantError):
        heap.relocate(block, 0)
    heap.check()


@pytest.mark.parametrize("distance", [1, 3, 7, 64, 100, -1, -3, -7, -64, -100])
def test_pieces_never_overlap(distance):
    """Every piece is copied between ranges that share no byte, and the result is memmove's."""
    memory = np.arange(300, dtype=np.uint16)
    source, count = 120, 64
    expected = memory.copy()
    expected[source + distance : source + distance + count] = memory[source : source + count]

    def copy(target, start, nbytes):
        assert abs(target - start) >= nbytes
        memory[target : target + nbytes] = memory[start : start + nbytes]

    copies = move_in_pieces(copy, source + distance, source, count)
    assert (memory == expected).all()
    assert copies == -(-count // abs(distance))
