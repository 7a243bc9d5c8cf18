"""Puzzle 07: its figures against the kernel of puzzle 06 and against sums by hand."""

from __future__ import annotations

import numpy as np
import pytest

from wia_lab import simulate
from wia_lab.puzzles import PUZZLES, register_tiling
from wia_lab.puzzles.mutants import ROOT, load_answer, notebook_answer

PUZZLE = PUZZLES["register-tiling"]


@pytest.fixture
def measured():
    """The case that gates are measured on: a 128 × 48, b 48 × 192."""
    [case] = [case for case in PUZZLE.cases(np.random.default_rng(28)) if case.measured]
    return case


def test_naive_figures_are_those_of_puzzle_06(measured):
    """Its solution, on the same matrices, counts what the gates call naive."""
    kernel = notebook_answer(ROOT / "solutions" / "06-tiled-matmul.ipynb", "tiled_matmul")
    arrays = [array.copy() for array in measured.arguments.values()]
    counters = simulate(kernel, (12, 8), (16, 16), *arrays).counters
    assert counters.global_load_sectors == register_tiling.naive_sectors(measured)
    assert counters.shared_load_wavefronts == register_tiling.naive_reads(measured)


def test_bounds_by_hand(measured):
    """6 blocks, 3 rounds, two tiles of 1,024 float32 = 128 sectors; 36,864 products of a warp."""
    assert register_tiling.ideal_sectors(measured) == 6 * 3 * 2 * 128
    assert register_tiling.products(measured) == 128 * 192 * 48 // 32 == 36_864


@pytest.mark.parametrize(
    ("answer", "wavefronts"),
    [
        ("pass_while_loop", 8),  # 4 rows of a, 4 columns of b, each one wavefront
        ("pass_rows_side_by_side", 8),
        ("neighbours_a_thread", 4 + 2 * 4),  # columns 0, 4, … 60: two of each bank
        ("only_left_in_registers", 4 + 16),
        ("no_registers", 16 + 16),
    ],
)
def test_wavefronts_of_sixteen_products(measured, answer, wavefronts):
    """What a warp reads of shared memory for 4 × 4 products, worked out by hand."""
    path = ROOT / "tests" / "mutants" / PUZZLE.id / f"{answer}.py"
    kernel = load_answer(path, PUZZLE.function)
    arrays = [array.copy() for array in measured.arguments.values()]
    counters = simulate(kernel, measured.grid, measured.block, *arrays).counters
    assert 16 * counters.shared_load_wavefronts == wavefronts * register_tiling.products(measured)
