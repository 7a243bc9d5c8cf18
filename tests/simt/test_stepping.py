"""A warp's walk: lines, lanes, values and addresses, as the kernel's arithmetic gives them."""

from __future__ import annotations

import numpy as np
import pytest
from numba import int32

from wia_lab import cuda, simulate
from wia_lab.errors import WiaLabError


def halves(out, a):
    """Even lanes double, odd lanes add one."""
    i = cuda.grid(1)
    x = a[i]
    if i % 2 == 0:
        x = x * 2
    else:
        x = x + 1
    out[i] = x


def reverse_without_barrier(out):
    tile = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    tile[t] = t
    out[t] = tile[63 - t]


def count_up(out, n):
    total = 0
    for i in range(n):
        total += i
    out[cuda.grid(1)] = total


class TestWalk:
    """`report.step` follows one warp of one block."""

    def test_values_lanes_and_addresses(self) -> None:
        a = np.arange(100, 228, dtype=np.int64)
        report = simulate(halves, 2, 64, np.zeros(128, np.int64), a)
        walk = report.step(block=1, warp=1)
        assert walk.ended
        loads = [touch for step in walk for touch in step.touches if touch.kind == "load"]
        assert [touch.places[0] for touch in loads] == ["a[96]"]
        steps = loads[0].addresses
        assert [b - a for a, b in zip(steps, steps[1:], strict=False)] == [8] * 31
        parted = [step for step in walk if sum(step.active) == 16 and "x" in step.values]
        assert len(parted) == 2
        even, odd = sorted(parted, key=lambda step: step.active.index(True))
        assert even.values["x"][0] == 2 * 196
        assert even.values["x"][1] is None
        assert odd.values["x"][1] == 198

    def test_a_window_is_a_part_of_the_whole(self) -> None:
        report = simulate(count_up, 1, 32, np.zeros(32, np.int64), 50)
        whole, part = report.step(limit=200), report.step(start=20, limit=30)
        assert part.steps == whole.steps[20:50]
        assert not part.ended

    def test_a_long_run_keeps_only_the_window(self) -> None:
        report = simulate(count_up, 1, 32, np.zeros(32, np.int64), 5000)
        assert len(report.step(start=9000, limit=10)) == 10

    def test_the_arguments_are_those_of_the_launch(self) -> None:
        out, a = np.zeros(64, np.int64), np.arange(64)
        report = simulate(halves, 1, 64, out, a)
        a[:] = -1
        first = report.step().steps[1]
        assert first.values["x"][5] == 5
        assert out[2] == 4

    @pytest.mark.parametrize(("block", "warp"), [(2, 0), (-1, 0), (0, 2)])
    def test_a_warp_that_is_not_there_is_refused(self, block: int, warp: int) -> None:
        report = simulate(halves, 2, 64, np.zeros(128, np.int64), np.arange(128))
        with pytest.raises(WiaLabError, match="blocks 0 to 1 and warps 0 to 1"):
            report.step(block, warp)

    def test_a_window_out_of_range_is_refused(self) -> None:
        report = simulate(halves, 1, 64, np.zeros(64, np.int64), np.arange(64))
        with pytest.raises(WiaLabError, match=r"limit=0"):
            report.step(limit=0)


class TestWarpOrder:
    """One warp at a time: a race shows its wrong value, a right kernel none."""

    def test_a_race_gives_another_result(self) -> None:
        lockstep, warps = np.zeros(64, np.int32), np.zeros(64, np.int32)
        simulate(reverse_without_barrier, 1, 64, lockstep)
        report = simulate(reverse_without_barrier, 1, 64, warps, warp_order=0)
        assert lockstep.tolist() == list(range(63, -1, -1))
        assert warps.tolist() != lockstep.tolist()
        assert "race" in {hazard.kind for hazard in report.errors}

    @pytest.mark.parametrize("seed", range(4))
    def test_a_right_kernel_gives_the_same(self, seed: int) -> None:
        a = np.arange(128, dtype=np.int64)
        out, again = np.zeros(128, np.int64), np.zeros(128, np.int64)
        first = simulate(halves, 2, 64, out, a)
        second = simulate(halves, 2, 64, again, a, warp_order=seed)
        assert again.tolist() == out.tolist()
        assert second.counters == first.counters
