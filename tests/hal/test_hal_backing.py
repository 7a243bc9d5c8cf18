"""Device memory behind an allocator: what compaction moves is moved on the device."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import wia_lab.hal as wia
from wia_lab import hazards
from wia_lab.errors import DoubleFreeError, RedZoneError
from wia_lab.hal import DeviceBacking
from wia_lab.memory import Compacting, Guard, Heap
from wia_lab.memory.backing import Backing


@pytest.fixture
def backing() -> Iterator[DeviceBacking]:
    """4 KiB of an H100."""
    context = wia.Context(wia.open_machine("1xH100")[0])
    yield DeviceBacking(context.allocate(4096), context.create_stream())
    with hazards("off"):
        context.close()


def test_the_four_methods(backing: DeviceBacking) -> None:
    """They agree with a bytearray, moves that overlap in either direction included."""
    assert isinstance(backing, Backing)
    assert backing.nbytes == 4096
    expected = bytearray(np.random.default_rng(1).bytes(4096))
    backing.write(0, bytes(expected))
    for target, source, count in ((10, 3, 50), (3, 10, 50), (0, 2048, 2048), (7, 7, 9)):
        backing.move(target, source, count)
        expected[target : target + count] = bytes(expected[source : source + count])
    backing.fill(100, 20, 0xAB)
    expected[100:120] = b"\xab" * 20
    assert backing.read(0, 4096) == bytes(expected)
    assert backing.read(99, 3) == bytes(expected[99:102])


def test_compaction(backing: DeviceBacking) -> None:
    """Live blocks slide together, and their bytes with them."""
    heap = Compacting(Heap(4096, backing=backing))
    blocks = [heap.allocate(1024) for _ in range(4)]
    for number, block in enumerate(blocks):
        backing.fill(block.offset, block.size, number)
    heap.free(blocks[0])
    heap.free(blocks[2])
    report = heap.compact()
    assert (report.largest_free_before, report.largest_free_after) == (1024, 2048)
    for number in (1, 3):
        block = blocks[number]
        assert backing.read(block.offset, block.size) == bytes([number]) * 1024


def test_owners(backing: DeviceBacking) -> None:
    """Each hears where its block was and is, when the bytes are already there."""
    heap = Compacting(Heap(4096, backing=backing))
    blocks = [heap.allocate(512) for _ in range(3)]
    for number, block in enumerate(blocks):
        backing.fill(block.offset, block.size, number)
    heard = []
    for block in blocks[1:]:
        heap.on_move(block, lambda b, was, now: heard.append((was, now, backing.read(now, 1))))
    heap.free(blocks[0])
    heap.compact()
    assert heard == [(512, 0, b"\x01"), (1024, 512, b"\x02")]


class TestGuard:
    """Zones of known bytes and poison lie in the device's memory."""

    @pytest.fixture
    def guard(self, backing: DeviceBacking) -> Guard:
        """Over the device's 4 KiB."""
        return Guard(Heap(4096, backing=backing), backing, quarantine=1024)

    @pytest.mark.parametrize(
        ("at", "told"),
        [(100, "overflow: the byte 1 behind the end"), (-1, "underflow: the byte 1 before")],
    )
    def test_zones(self, guard: Guard, backing: DeviceBacking, at: int, told: str) -> None:
        """A byte behind the end or before the start, written on the device."""
        block = guard.allocate(100)
        backing.write(block.offset, bytes(range(100)))
        guard.verify()
        backing.write(block.offset + at, b"\x07")
        with pytest.raises(RedZoneError, match=f"{told} .* with 0x07"):
            guard.free(block)

    def test_freed_twice(self, guard: Guard, backing: DeviceBacking) -> None:
        """Refused, while the freed block's bytes are poison."""
        block = guard.allocate(100)
        backing.fill(block.offset, 100, 1)
        guard.free(block)
        assert 1 not in backing.read(block.offset, 100)
        with pytest.raises(DoubleFreeError, match="test_freed_twice"):
            guard.free(block)

    def test_leaks(self, guard: Guard) -> None:
        """What is live at the end, and none that was freed."""
        guard.allocate(100)
        guard.free(guard.allocate(200))
        assert [(leak.size, leak.site.function) for leak in guard.leaks()] == [
            (100, "TestGuard.test_leaks")
        ]
