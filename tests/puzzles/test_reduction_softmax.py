"""Puzzle 11: its figures against sums by hand, its bound against float32, and its shuffles."""

from __future__ import annotations

import math

import numpy as np
import pytest

from wia_lab.puzzles import PUZZLES, judge, reduction_softmax
from wia_lab.puzzles.execute import execute
from wia_lab.puzzles.mutants import ROOT, load_answer

PUZZLE = PUZZLES["reduction-softmax"]
FOLDER = ROOT / "tests" / "mutants" / PUZZLE.id


def cases():
    """The inputs of a check."""
    return PUZZLE.cases(np.random.default_rng(28))


@pytest.fixture
def measured():
    """The case that gates are measured on: 5 rows of 256."""
    [case] = [case for case in cases() if case.measured]
    return case


def run(name, case):
    """An answer's run of the case."""
    answer = load_answer(FOLDER / f"{name}.py", PUZZLE.function)
    return execute(answer.py_func, case)


def test_reference_equals_exact_sums():
    """Each share is exp over the exactly rounded sum, and a masked element's is 0."""
    for case in cases():
        a = case.arguments["a"]
        for row, got in zip(a, PUZZLE.reference(a)["out"], strict=True):
            powers = [math.exp(float(x) - float(row.max())) for x in row]
            np.testing.assert_allclose(got, np.array(powers) / math.fsum(powers), rtol=1e-12)
            assert (got[np.isinf(row)] == 0).all()


def test_bound_holds_in_float32_and_sees_a_missing_element():
    """A sum in float32 from left to right is right; without its greatest element it is not."""
    for case in cases():
        a = case.arguments["a"]
        want, allowed = PUZZLE.reference(a)["out"], PUZZLE.rounding(a)["out"]
        powers = np.exp(a - a.max(axis=1, keepdims=True))
        total = np.zeros((a.shape[0], 1), np.float32)
        for column in powers.T:
            total += column[:, None]
        assert (np.abs(powers / total - want) <= allowed).all()
        if a.shape[1] > 1:
            short = powers / (total - 1)
            assert (np.abs(short - want) > allowed).any(axis=1).all()


def test_bounds_by_hand(measured):
    """A row of 256 is 32 sectors; 4 warps walk it twice, a sector a step; 4 · 5 · 2 shuffles."""
    assert reduction_softmax.ideal_sectors(measured) == 5 * 3 * 32
    assert reduction_softmax.naive_sectors(measured) == 5 * (4 * 2 * 256 + 32)
    assert reduction_softmax.needed_shuffles(measured) == 5 * 4 * 5 * 2


@pytest.mark.parametrize(
    ("answer", "full", "partial"),
    [
        ("pass_while_loops", 5 * 40, 0),
        ("pass_warps_joined_by_shuffles", 5 * (40 + 4 * 2 * 2), 0),
        ("halves_shuffle", 5 * 4 * (5 + 1), 5 * 4 * 4),  # of the sum's steps, only 16 is full
        ("tree_in_shared_memory", 0, 0),
    ],
)
def test_shuffles_are_counted(measured, answer, full, partial):
    """Warps that shuffle with all 32 lanes, and with fewer."""
    shuffles = run(answer, measured).shuffles
    assert (shuffles.full, shuffles.partial) == (full, partial)


def test_naive_sectors_are_those_of_a_row_walked_by_every_thread(measured):
    """The kernel without any reduction counts what the gate calls naive."""
    counters = run("every_thread_walks_the_row", measured).arrays["a"].counters
    assert counters.global_load_sectors == reduction_softmax.naive_sectors(measured)


def test_overflow_is_explained():
    """Without the maximum, the rows of large numbers are named, and why."""
    answer = load_answer(FOLDER / "maximum_not_subtracted.py", PUZZLE.function)
    text = judge(PUZZLE, answer, on_hardware=False).diagnosis.text
    assert text.startswith("With 3 rows of 257, numbers up to 500: ")
    assert "maximum is not subtracted" in text
