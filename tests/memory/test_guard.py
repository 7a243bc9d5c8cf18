"""The guard names what was done and where, in the user's own lines."""

from __future__ import annotations

import inspect
import re

import pytest

from wia_lab.errors import DoubleFreeError, RedZoneError, UseAfterFreeError
from wia_lab.memory import Guard, Heap, HostBacking

RANGE = 1 << 16


def here():
    """The caller's line as reports write it."""
    frame = inspect.currentframe().f_back
    return f"test_guard.py:{frame.f_lineno} in {frame.f_code.co_qualname}"


@pytest.fixture
def backing():
    """The bytes behind the guard."""
    return HostBacking(RANGE)


@pytest.fixture
def guard(backing):
    """A guard over a heap on these bytes."""
    return Guard(Heap(RANGE, backing=backing), backing, quarantine=4096)


class TestRedZones:
    """Writes just outside a block are found when it is freed, and by `verify`."""

    def test_overflow(self, guard, backing):
        """One byte behind the end, with the line that allocated the block."""
        block, site = guard.allocate(100), here()
        backing.write(block.offset + 100, b"\x07")
        message = rf"overflow: the byte 1 behind the end of .*{re.escape(site)}.* with 0x07"
        with pytest.raises(RedZoneError, match=message):
            guard.free(block)

    def test_underflow(self, guard, backing):
        """The byte nearest to the start is named."""
        block = guard.allocate(100)
        backing.write(block.offset - 3, b"\x01\x02")
        with pytest.raises(RedZoneError, match="underflow: the byte 2 before the start"):
            guard.verify()

    def test_every_byte_of_a_zone_counts(self, guard, backing):
        """Each byte of both zones is watched; each byte of the block is free to write."""
        block = guard.allocate(100)
        backing.write(block.offset, bytes(range(100)))
        guard.verify()
        for at in (*range(-256, 0), *range(100, 356)):
            place = block.offset + at
            old = backing.read(place, 1)
            backing.write(place, b"\x00")
            with pytest.raises(RedZoneError):
                guard.verify()
            backing.write(place, old)
        guard.free(block)


class TestFreed:
    """A freed block is poisoned and kept for a while."""

    def test_use_after_free(self, guard, backing):
        """A write after the free is found; both lines are named."""
        block, allocated = guard.allocate(1000), here()
        _, freed = guard.free(block), here()
        backing.write(block.offset + 17, b"\x2a")
        with pytest.raises(UseAfterFreeError) as caught:
            guard.verify()
        assert "byte 17 of" in str(caught.value)
        assert allocated in str(caught.value)
        assert freed in str(caught.value)
        assert "with 0x2a" in str(caught.value)

    def test_double_free_names_three_lines(self, guard):
        """Allocation, first free, second free."""
        block = guard.allocate(1000)
        first = inspect.currentframe().f_lineno + 1
        guard.free(block)
        with pytest.raises(DoubleFreeError) as caught:
            guard.free(block)
        assert re.findall(r"test_guard\.py:(\d+)", str(caught.value)) == [
            str(first - 2),
            str(first),
            str(first + 2),
        ]

    def test_quarantine_delays_reuse(self, guard):
        """A freed block's bytes are not handed out while it is in quarantine."""
        block = guard.allocate(256)
        offset = block.offset
        guard.free(block)
        assert guard.allocate(256).offset != offset
        assert guard.quarantined_bytes == 768
        guard.trim()
        assert guard.allocate(256).offset == offset

    def test_quarantine_is_bounded(self, guard):
        """The oldest leave first, and are checked as they go."""
        for _ in range(20):
            guard.free(guard.allocate(256))
        assert guard.quarantined_bytes <= 4096
        guard.check()

    def test_write_is_found_when_the_block_leaves(self, guard, backing):
        """A later free that pushes the block out of quarantine reports the write."""
        block = guard.allocate(256)
        guard.free(block)
        backing.write(block.offset, b"\x00")

        def push_out():
            for _ in range(10):
                guard.free(guard.allocate(256))

        with pytest.raises(UseAfterFreeError, match="byte 0 of"):
            push_out()
        guard.check()


class TestLeaks:
    """What is live at the end, with the line that allocated it."""

    def test_report(self, guard):
        """Largest first; freed blocks are not in it."""
        small, line = guard.allocate(100), inspect.currentframe().f_lineno
        guard.allocate(200)
        guard.free(guard.allocate(300))
        assert [(leak.size, leak.site.line) for leak in guard.leaks()] == [
            (200, line + 1),
            (100, line),
        ]
        where = f"test_guard.py:{line} in TestLeaks.test_report"
        assert str(guard.leaks()[1]) == f"100 B at {small.offset:#x}, allocated at {where}"
