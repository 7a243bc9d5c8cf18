"""Puzzle 05: its figures against counters of an H200 and against plain kernels."""

from __future__ import annotations

import numpy as np
import pytest

from wia_lab import simulate
from wia_lab.puzzles import PUZZLES, bank_conflicts
from wia_lab.puzzles.mutants import ROOT, load_answer

PUZZLE = PUZZLES["bank-conflicts"]


def counted(answer, m, n):
    """Counters of an answer for an a of m × n."""
    kernel = load_answer(ROOT / "tests" / "mutants" / PUZZLE.id / f"{answer}.py", "transpose")
    a = np.random.default_rng(0).random((m, n), dtype=np.float32)
    return simulate(kernel, (m // 32, n // 32), (32, 8), np.zeros((n, m), np.float32), a).counters


@pytest.mark.parametrize(
    ("answer", "wavefronts", "conflicts"),
    [("no_padding", 65_536, 63_488), ("pass_other_odd_width", 2_048, 0)],
)
def test_256_by_256_counts_what_an_h200_counts(answer, wavefronts, conflicts):
    """Nsight Compute's figures for a transpose through tiles with rows of 32 and of 33."""
    counters = counted(answer, 256, 256)
    assert counters.shared_load_wavefronts == wavefronts
    assert counters.shared_load_bank_conflicts == conflicts
    assert counters.global_load_sectors == counters.global_store_sectors == 8_192


@pytest.mark.parametrize(
    ("answer", "ways"), [("no_padding", 32), ("padded_rows", 32), ("padded_by_two", 2)]
)
def test_conflicts_by_hand(answer, ways):
    """A column of rows of w words asks gcd(w, 32) lanes of each bank: all but one wait."""
    counters = counted(answer, 96, 64)
    assert counters.shared_load_bank_conflicts == 96 * 64 // 32 * (ways - 1)


def test_naive_figures():
    """Sectors are those of the kernel without a tile, conflicts those of one without padding."""
    [case] = [case for case in PUZZLE.cases(np.random.default_rng(28)) if case.measured]
    [loads, stores, reads, conflicts] = [gate.naive(case) for gate in PUZZLE.gates]
    plain = counted("no_tile", 96, 64)
    assert (loads, stores) == (plain.global_load_sectors, plain.global_store_sectors)
    assert reads == plain.shared_load_wavefronts
    assert conflicts == counted("no_padding", 96, 64).shared_load_bank_conflicts
    assert bank_conflicts.ideal_sectors(case) == 96 * 64 * 4 // 32
