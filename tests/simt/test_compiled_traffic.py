"""Sectors and banks against the definitions, spelt out lane by lane in plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wia_lab.simt import compiled

LANES = st.integers(0, 4000)
NOTHING = np.zeros(0, np.uint8)


def sectors(offsets, nbytes, base=0, active=None, marks=NOTHING, shift=0):
    table = np.zeros((3, 9), np.int64)
    active = np.ones(len(offsets), bool) if active is None else active
    compiled.sectors(table, 1, 4, np.asarray(offsets), nbytes, base, active, marks, shift, 1)
    assert not table[[0, 2]].any()
    assert not table[1, [0, 1, 2, 3, 8]].any()
    return tuple(table[1, 4:8])


def banks(offsets, nbytes, active=None, base=0, shares=True):
    table = np.zeros((1, 4), np.int64)
    active = np.ones(len(offsets), bool) if active is None else active
    compiled.banks(table, 0, 0, np.asarray(offsets), nbytes, base, active, shares)
    return tuple(table[0])


def plain_sectors(offsets, nbytes, base, active):
    requests = total = ideal = lanes = 0
    for first in range(0, len(offsets), 32):
        touched = set()
        for lane in range(first, first + 32):
            if active[lane]:
                lanes += 1
                touched |= {base + offsets[lane] + byte for byte in range(nbytes)}
        requests += bool(touched)
        total += len({byte // 32 for byte in touched})
        ideal += -(-len(touched) // 32)
    return requests, total, ideal, lanes * nbytes


def plain_banks(offsets, nbytes, base, active, shares):
    requests = wavefronts = phases = lanes = 0
    for first in range(0, len(offsets), 32):
        requests += any(active[first : first + 32])
        together = 32 // max(nbytes // 4, 1)
        paired = any(pairs_share(offsets, active, first, apart) for apart in (1, 2))
        if nbytes > 4 and shares and paired:
            together *= 2
        for begin in range(first, first + 32, together):
            words = set()
            for lane in range(begin, begin + together):
                if active[lane]:
                    lanes += 1
                    words |= {(base + offsets[lane] + byte) // 4 for byte in range(nbytes)}
            if words:
                phases += 1
                wavefronts += max(sum(word % 32 == bank for word in words) for bank in range(32))
    return requests, wavefronts, wavefronts - phases, lanes * nbytes


def pairs_share(offsets, active, first, apart):
    """Whether each two active lanes `apart` from each other have one address."""
    return all(
        offsets[first + lane] == offsets[first + (lane ^ apart)]
        for lane in range(32)
        if active[first + lane] and active[first + (lane ^ apart)]
    )


def plain_atomic_sectors(offsets, nbytes, base, active):
    total = 0
    for first in range(0, len(offsets), 32):
        lanes = [base + offsets[k] for k in range(first, first + 32) if active[k]]
        for sector in {address // 32 for address in lanes}:
            inside = [address for address in lanes if address // 32 == sector]
            total += max(inside.count(address) for address in inside)
    return total


def plain_atomic_banks(offsets, active):
    return sum(
        max(
            sum(active[k] and offsets[k] // 4 % 32 == bank for k in range(first, first + 32))
            for bank in range(32)
        )
        for first in range(0, len(offsets), 32)
    )


@st.composite
def accesses(draw):
    """Offsets and masks of a few warps: affine, two-dimensional or scattered; some warps alike."""
    warps = draw(st.integers(1, 4))
    nbytes = draw(st.sampled_from([1, 2, 4, 8, 16]))
    lane = np.arange(32 * warps)
    kind = draw(st.sampled_from(["affine", "tile", "scatter"]))
    if kind == "affine":
        elements = lane * draw(st.integers(-40, 40)) + 6000
    elif kind == "tile":
        width = draw(st.sampled_from([2, 4, 8, 16]))
        elements = lane % width + lane // width * draw(st.integers(0, 40)) + 5
    else:
        elements = np.array(draw(st.lists(LANES, min_size=lane.size, max_size=lane.size)))
    active = np.ones(lane.size, bool)
    if draw(st.booleans()):
        active = np.array(draw(st.lists(st.booleans(), min_size=lane.size, max_size=lane.size)))
    return elements.astype(np.int64) * nbytes, nbytes, active


class TestSectors:
    """A request asks for each 32-byte sector that an active lane touches, once."""

    @settings(deadline=None)
    @given(accesses(), st.integers(0, 64))
    def test_equals_the_definition(self, access, base) -> None:
        """Requests, sectors, ideal sectors and bytes are those of the definition."""
        offsets, nbytes, active = access
        assert sectors(offsets, nbytes, base, active) == plain_sectors(
            offsets, nbytes, base, active
        )

    @pytest.mark.parametrize(("stride", "expected"), [(1, 4), (2, 8), (4, 16), (8, 32), (32, 32)])
    def test_strided_float32(self, stride: int, expected: int) -> None:
        """A warp that loads every s-th float32 asks for 4·s sectors, at most 32."""
        assert sectors(np.arange(32) * 4 * stride, 4)[1] == expected

    def test_marks_each_cell_touched(self) -> None:
        """Each cell that an active lane touches is marked, and no other."""
        marks = np.zeros(64, np.uint8)
        active = np.arange(32) < 3
        sectors(np.arange(32) * 16, 8, active=active, marks=marks, shift=2)
        assert np.flatnonzero(marks).tolist() == [0, 1, 4, 5, 8, 9]

    def test_moved_warps_are_marked_where_they_are(self) -> None:
        """A warp that repeats another one's pattern elsewhere marks its own cells."""
        marks = np.zeros(128, np.uint8)
        sectors(np.arange(64) * 4, 4, marks=marks, shift=2)
        assert np.flatnonzero(marks).tolist() == list(range(64))


class TestBanks:
    """A wavefront serves one word of each bank; 8 and 16 bytes go in two and four phases."""

    @settings(deadline=None)
    @given(accesses(), st.integers(0, 8), st.booleans())
    def test_equals_the_definition(self, access, words, shares) -> None:
        """Requests, wavefronts, conflicts and bytes are those of the definition."""
        offsets, nbytes, active = access
        base = words * 16
        expected = plain_banks(offsets, nbytes, base, active, shares)
        assert banks(offsets, nbytes, active, base, shares) == expected

    def test_column_of_a_tile(self) -> None:
        """A column of a 32-wide float32 tile takes 32 wavefronts; padded by one, a single one."""
        assert banks(np.arange(32) * 128, 4) == (1, 32, 31, 128)
        assert banks(np.arange(32) * 132, 4) == (1, 1, 0, 128)

    def test_broadcast(self) -> None:
        """One word for all lanes is one wavefront."""
        assert banks(np.zeros(32, np.int64), 4) == (1, 1, 0, 128)

    def test_eight_bytes(self) -> None:
        """Neighbouring 8-byte elements take 2 wavefronts and no conflict."""
        assert banks(np.arange(32) * 8, 8) == (1, 2, 0, 256)


class TestAtomics:
    """Lanes that update one cell go one after another."""

    @settings(deadline=None)
    @given(accesses())
    def test_sectors_equal_the_definition(self, access) -> None:
        """A sector is asked for as often as its most wanted cell has lanes."""
        offsets, nbytes, active = access
        table = np.zeros((1, 4), np.int64)
        compiled.atomic_sectors(table, 0, 0, offsets, nbytes, 0, active, NOTHING, 0, 1)
        assert table[0, 1] == plain_atomic_sectors(offsets, nbytes, 0, active)
        requests, _, ideal, moved = plain_sectors(offsets, nbytes, 0, active)
        assert table[0, [0, 2, 3]].tolist() == [requests, ideal, moved]

    @settings(deadline=None)
    @given(accesses())
    def test_banks_equal_the_definition(self, access) -> None:
        """A bank takes one lane a wavefront."""
        offsets, nbytes, active = access
        offsets = offsets // nbytes * 4
        table = np.zeros((1, 4), np.int64)
        compiled.atomic_banks(table, 0, 0, offsets, 4, 0, active)
        assert table[0, 1] == plain_atomic_banks(offsets, active)

    @pytest.mark.parametrize(("cells", "wavefronts"), [(1, 32), (32, 1)])
    def test_one_cell_and_distinct(self, cells: int, wavefronts: int) -> None:
        """One cell for a warp takes 32 wavefronts, neighbouring cells one."""
        table = np.zeros((1, 4), np.int64)
        active = np.ones(32, bool)
        compiled.atomic_banks(table, 0, 0, np.arange(32) % cells * 4, 4, 0, active)
        assert table[0].tolist() == [1, wavefronts, wavefronts - 1, 128]


class TestMasks:
    """Counts over masks, by warps of 32 lanes."""

    @given(st.lists(st.booleans(), min_size=96, max_size=96))
    def test_active_warps(self, lanes) -> None:
        """Warps with an active lane, and active lanes."""
        active = np.array(lanes)
        expected = (int(active.reshape(3, 32).any(1).sum()), int(active.sum()))
        assert compiled.active_warps(active) == expected

    @given(*[st.lists(st.booleans(), min_size=64, max_size=64)] * 2)
    def test_split_warps(self, one, other) -> None:
        """A warp is split when it has lanes in both masks."""
        taken, fallen = np.array(one), np.array(other)
        both = taken.reshape(2, 32).any(1) & fallen.reshape(2, 32).any(1)
        assert compiled.split_warps(taken, fallen) == both.sum()

    def test_mark_warps(self) -> None:
        """Warps with an active lane get the amount added."""
        counts = np.array([1, 1, 1])
        compiled.mark_warps(np.arange(96) >= 63, counts, 5)
        assert counts.tolist() == [1, 6, 6]

    def test_count_marks(self) -> None:
        """Marked bytes, and the sectors that they lie in, whatever the base."""
        marks = np.array([1, 0, 2, 3, 0, 1], np.uint8)
        assert compiled.count_marks(marks, 3, 0, 1) == (24, 2)
        assert compiled.count_marks(marks, 3, 16, 1) == (24, 2)
        assert compiled.count_marks(marks, 3, 0, 2) == (16, 1)
