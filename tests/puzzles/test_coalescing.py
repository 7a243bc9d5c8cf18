"""Puzzle 04: its figures against plain kernels and against sums by hand."""

from __future__ import annotations

import numpy as np
import pytest

from wia_lab import simulate
from wia_lab.puzzles import PUZZLES, coalescing
from wia_lab.puzzles.mutants import ROOT, load_answer

PUZZLE = PUZZLES["coalescing"]


def counted(answer, shape):
    """Counters of an answer for a matrix of a shape."""
    path = ROOT / "tests" / "mutants" / PUZZLE.id / f"{answer}.py"
    kernel = load_answer(path, PUZZLE.function)
    a = np.random.default_rng(0).random(shape, dtype=np.float32)
    grid = (-(-shape[1] // 16), -(-shape[0] // 16))
    return simulate(kernel, grid, (16, 16), np.zeros_like(a), a).counters


def test_best_copy_of_odd_rows_is_what_an_h200_counts():
    """100 × 130: 450 requests and 2,300 sectors, in Nsight Compute."""
    counters = counted("pass_by_hand", (100, 130))
    assert counters.global_load_requests == 450
    assert counters.global_load_sectors == 2_300


def test_figures_by_hand():
    """Whole tiles: a warp takes 2 rows of 16 (2 sectors each), or 16 rows of 2 (1 each)."""
    [case] = [case for case in PUZZLE.cases(np.random.default_rng(28)) if case.measured]
    warps = 48 * 80 // 32
    assert coalescing.ideal_sectors(case) == warps * 4
    assert coalescing.strided_sectors(case) == warps * 16
    strided = counted("strided", (48, 80))
    assert strided.global_load_sectors == strided.global_store_sectors == warps * 16


@pytest.mark.parametrize("answer", ["a_row_a_thread", "four_neighbours_a_thread"])
def test_loops_of_neighbours_ask_for_each_sector_again(answer):
    """What one thread takes one after the other is four sectors' worth or more each time."""
    assert counted(answer, (48, 80)).global_load_sectors >= 4 * 480


def test_who_copies_the_wrong_way_is_told():
    """The message says where the numbers went."""
    from wia_lab.puzzles import judge

    path = ROOT / "tests" / "mutants" / PUZZLE.id / "other_direction.py"
    found = judge(PUZZLE, load_answer(path, PUZZLE.function), on_hardware=False).diagnosis
    assert found.text.endswith("It wrote to a instead, which it may only read.")
