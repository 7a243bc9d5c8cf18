"""Puzzle 08: its figures against sums by hand, and the seams that a missing halo leaves."""

from __future__ import annotations

import numpy as np
import pytest

from wia_lab import simulate
from wia_lab.puzzles import PUZZLES, halo_convolution, judge
from wia_lab.puzzles.mutants import ROOT, load_answer

PUZZLE = PUZZLES["halo-convolution"]
FOLDER = ROOT / "tests" / "mutants" / PUZZLE.id


@pytest.fixture
def measured():
    """The case that gates are measured on: 1,024 samples."""
    [case] = [case for case in PUZZLE.cases(np.random.default_rng(28)) if case.measured]
    return case


def counted(name, case):
    """What an answer's launch on the case counts of the signal, and of shared memory."""
    arrays = [array.copy() for array in case.arguments.values()]
    report = simulate(load_answer(FOLDER / f"{name}.py", PUZZLE.function), 4, 256, *arrays)
    [signal] = [each for each in report.arrays if each.name == "signal"]
    return signal.counters.global_load_sectors, report.counters.shared_load_wavefronts


@pytest.mark.parametrize(
    ("answer", "sectors", "wavefronts"),
    [
        # 32 warps; an aligned one touches 4 sectors, one shifted by up to 4 samples 5; at the
        # signal's ends a tap of two warps stays inside the fourth
        ("no_tile", 32 * (4 + 4 * 5) - 4, 0),
        ("pass_left_and_right_apart", 32 * 4 + 3 + 3, 32 * 5),  # halos between four blocks
        ("pass_own_sample_in_register", 32 * 4 + 3 + 3, 32 * 4),
        # the sweep starts 2 early: 5 sectors a warp (4 where the signal begins), and 4 samples
        # more, in 2 sectors (1 where it ends)
        ("pass_sweep_by_while", 32 * 5 - 1 + 4 * 2 - 1, 32 * 5),
    ],
)
def test_counts_by_hand(measured, answer, sectors, wavefronts):
    """Sectors of the signal and reads of the tile, worked out by hand."""
    assert counted(answer, measured) == (sectors, wavefronts)


def test_bounds_by_hand(measured):
    """Naive as counted above; the target one sweep of 42 sectors in each of four blocks."""
    assert halo_convolution.naive_sectors(measured) == 764
    assert halo_convolution.ideal_sectors(measured) == 4 * 42
    assert halo_convolution.neighbours_read(measured) == 32 * 4


def test_the_sources_answer_is_refused_with_its_seams():
    """Two cells at each end of each of four tiles: 16 of 1,024 are wrong, and said to be copies."""
    answer = load_answer(FOLDER / "edges_copied.py", PUZZLE.function)
    text = judge(PUZZLE, answer, on_hardware=False).diagnosis.text
    assert "16 of 1,024 cells of out are wrong" in text
    assert "by thread 0 of block 0" in text
    assert "so the tile needs a halo" in text
