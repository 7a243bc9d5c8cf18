"""Puzzle 10: its figures against sums by hand, and what is in flight while outputs are stored."""

from __future__ import annotations

import numpy as np
import pytest

from wia_lab.puzzles import PUZZLES, pipeline
from wia_lab.puzzles.execute import execute
from wia_lab.puzzles.mutants import ROOT, load_answer

PUZZLE = PUZZLES["pipeline"]


@pytest.fixture
def measured():
    """The case that gates are measured on: 4,096 samples, 4 blocks of 4 tiles."""
    [case] = [case for case in PUZZLE.cases(np.random.default_rng(28)) if case.measured]
    return case


def test_bounds_by_hand(measured):
    """16 tiles of 42 sectors; a plain kernel's 128 warps ask 24 each, but for the signal's ends."""
    assert pipeline.ideal_sectors(measured) == 16 * 42
    assert pipeline.naive_sectors(measured) == 128 * 24 - 4
    assert pipeline.overlapping_outputs(measured) == 4 * 3 * 256


@pytest.mark.parametrize(
    ("answer", "stored", "copied"),
    [
        ("pass_empty_groups", 3 * 1024, 16 * 260),
        ("pass_one_barrier", 3 * 1024, 16 * 260),
        ("pass_three_buffers", 3 * 1024, 16 * 260),
        ("one_buffer", 0, 16 * 260),
        ("waits_for_all", 0, 16 * 260),
        ("plain_loads", 0, 0),
    ],
)
def test_outputs_stored_while_a_tile_is_in_flight(measured, answer, stored, copied):
    """Three of four tiles are computed while the next one travels; without a pipeline none is."""
    path = ROOT / "tests" / "mutants" / PUZZLE.id / f"{answer}.py"
    flight = execute(load_answer(path, PUZZLE.function).py_func, measured).flight
    assert (flight.stored, flight.elements["signal"]) == (stored, copied)
