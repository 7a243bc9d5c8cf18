"""Pointer chase and sweep: they visit what they say."""

from __future__ import annotations

import numpy as np
import pytest

from wia_lab import simulate
from wia_lab.kernels import hierarchy


def walk(following, start, steps):
    """Where `steps` links lead from `start`."""
    for _ in range(steps):
        start = following[start]
    return start


class TestRing:
    """The table that a chase follows."""

    def test_is_one_cycle_of_lines(self) -> None:
        """From entry 0 each 128-byte line is met once before entry 0 comes again."""
        following = hierarchy.ring(1024)
        seen = [0]
        while following[seen[-1]] != 0:
            seen.append(int(following[seen[-1]]))
        assert sorted(seen) == list(range(0, 1024, 32))


@pytest.mark.parametrize("kernel", [hierarchy.chase, hierarchy.chase_shared])
def test_chase_goes_on_where_it_ended(kernel) -> None:
    """Two launches of 7 and 12 steps end where 19 links lead."""
    following, out = hierarchy.ring(1024), np.zeros(1, np.uint32)
    for steps in (7, 12):
        assert simulate(kernel, 1, 32 if "shared" in kernel.name else 1, out, following, steps)
    assert out[0] == walk(following, 0, 19) != 0


def test_chase_is_one_request_a_step() -> None:
    """Each step waits for one load of one sector."""
    following, out = hierarchy.ring(1024), np.zeros(1, np.uint32)
    counters = simulate(hierarchy.chase, 1, 1, out, following, 20).counters
    assert counters.global_load_sectors == counters.global_load_requests == 21


def test_sweep_reads_every_part() -> None:
    """As many turns as parts and one block read the whole buffer, coalesced."""
    floats = np.random.default_rng(1).random(4 * hierarchy.SPAN).astype(np.float32)
    out = np.full(hierarchy.BLOCK, np.nan, np.float32)
    report = simulate(hierarchy.sweep, 1, hierarchy.BLOCK, out, floats, 2, 4)
    parts = floats.reshape(4, -1, hierarchy.BLOCK).sum(axis=1, dtype=np.float64)
    assert np.allclose(out, parts[0] + parts[2])  # one block steps by two parts
    assert report.counters.global_load_sectors == 2 * hierarchy.SPAN // 8
    assert report.hazards == ()


def test_sweep_shared_has_no_conflicts() -> None:
    """Lanes stay on 32 banks as the turns move on, and add up what is there."""
    floats = np.random.default_rng(1).random(hierarchy.SPAN).astype(np.float32)
    out = np.full(hierarchy.BLOCK, np.nan, np.float32)
    report = simulate(hierarchy.sweep_shared, 1, hierarchy.BLOCK, out, floats, 3)
    columns = floats.reshape(-1, hierarchy.BLOCK).sum(axis=0, dtype=np.float64)
    assert np.allclose(out, sum(np.roll(columns, -turn) for turn in range(3)))
    assert report.counters.shared_load_bank_conflicts == 0
    assert report.hazards == ()
