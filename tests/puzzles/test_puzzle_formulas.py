"""References, rounding bounds and suspects of the puzzles, against independent sums."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from wia_lab.puzzles import PUZZLES
from wia_lab.puzzles.async_convolution import eeg
from wia_lab.puzzles.puzzle import Puzzle

SEEDS = (28, 1, 2)
KERNELS = [puzzle for puzzle in PUZZLES.values() if isinstance(puzzle, Puzzle)]
OUTPUTS_OF_A_BLOCK = {
    "bank-conflicts": (32, 32),
    "conv-bn-relu-pool": (16, 16, 3),  # all filters
    "register-tiling": (64, 64),
    "reduction-softmax": (1,),  # a row
    "pipeline": (1024,),
}  # where a thread makes more than one


def cases(puzzle, seed=28):
    """The inputs of a puzzle."""
    return puzzle.cases(np.random.default_rng(seed))


def exact_product(a, b):
    """The product with each sum rounded once."""
    return [
        [
            math.fsum(float(a[i, k]) * float(b[k, j]) for k in range(a.shape[1]))
            for j in range(b.shape[1])
        ]
        for i in range(a.shape[0])
    ]


class TestMatmulReference:
    """c = a · b."""

    def test_equals_exact_sums(self):
        """Every element is the exactly rounded sum of its products."""
        case = cases(PUZZLES["tiled-matmul"])[1]
        a, b = case.arguments["a"], case.arguments["b"]
        got = PUZZLES["tiled-matmul"].reference(a, b)["c"]
        np.testing.assert_allclose(got, exact_product(a, b), rtol=1e-12, atol=1e-14)

    def test_bound_holds_for_any_order_of_float32_sums(self):
        """Forward, backward and float64 sums all lie within the rounding allowed."""
        puzzle = PUZZLES["tiled-matmul"]
        for case in cases(puzzle):
            a, b = case.arguments["a"], case.arguments["b"]
            want, allowed = puzzle.reference(a, b)["c"], puzzle.rounding(a, b)["c"]
            for order in (range(a.shape[1]), reversed(range(a.shape[1]))):
                total = np.zeros(want.shape, np.float32)
                for k in order:
                    total += np.outer(a[:, k], b[k])
                assert (np.abs(total - want) <= allowed).all()

    def test_bound_is_tight_enough_to_see_one_missing_product(self):
        """Leaving out any single product shows in nearly every cell."""
        puzzle = PUZZLES["tiled-matmul"]
        case = cases(puzzle)[0]
        a, b = case.arguments["a"], case.arguments["b"]
        missing = np.abs(np.outer(a[:, 63].astype(float), b[63].astype(float)))
        assert (missing > puzzle.rounding(a, b)["c"]).mean() > 0.99


class TestConvolutionReference:
    """out[i] = sum of signal[i + k - 2] * taps[k]."""

    def test_equals_numpys_correlation(self):
        """np.correlate in full, cut to the signal, gives the same."""
        puzzle = PUZZLES["async-convolution"]
        for case in cases(puzzle):
            signal, taps = (case.arguments[n].astype(np.float64) for n in ("signal", "taps"))
            want = np.correlate(np.concatenate([[0, 0], signal, [0, 0]]), taps, "valid")
            np.testing.assert_allclose(puzzle.reference(signal, taps)["out"], want, atol=1e-14)

    def test_bound_holds_in_float32(self):
        """Sums in float32, forward and backward, lie within the rounding allowed."""
        puzzle = PUZZLES["async-convolution"]
        for case in cases(puzzle):
            signal, taps = case.arguments["signal"], case.arguments["taps"]
            padded = np.pad(signal, 2)
            want, allowed = (f(signal, taps)["out"] for f in (puzzle.reference, puzzle.rounding))
            for order in (range(5), reversed(range(5))):
                total = np.zeros(signal.size, np.float32)
                for k in order:
                    total += padded[k : k + signal.size] * taps[k]
                assert (np.abs(total - want) <= allowed).all()

    def test_eeg_is_matplotlibs(self):
        """The recording is the first of the four channels of matplotlib's sample."""
        assert eeg().shape == (800,)
        assert eeg().dtype == np.float32
        assert eeg()[0] == pytest.approx(0.04009357, rel=1e-6)


class TestInputs:
    """Hostile inputs, whatever the seed."""

    @pytest.mark.parametrize("seed", SEEDS)
    @pytest.mark.parametrize("puzzle", KERNELS, ids=lambda p: p.id)
    def test_values_are_distinct_and_nonzero(self, puzzle, seed):
        """No made-up input holds a value twice, or a zero."""
        for case in cases(puzzle, seed):
            for name, array in case.inputs.items():
                if "EEG" in case.name and name == "signal":
                    continue
                assert np.unique(array).size == array.size
                assert (array != 0).all()

    @pytest.mark.parametrize("puzzle", KERNELS, ids=lambda p: p.id)
    def test_outputs_are_poisoned_and_covered(self, puzzle):
        """Outputs start as NaN; the grid covers them; a case has three blocks, one an element."""
        for case in cases(puzzle):
            for name in case.outputs:
                output = case.arguments[name]
                assert np.isnan(output).all()
                made = OUTPUTS_OF_A_BLOCK.get(puzzle.id, case.block)
                covered = [g * b for g, b in zip(case.grid, made, strict=True)][::-1]
                lengths = output.shape[: len(covered)]
                assert all(c >= length for c, length in zip(covered, lengths, strict=True))
        sizes = [int(np.prod(case.grid)) for case in cases(puzzle)]
        assert max(sizes) >= 3
        assert any(case.arguments[case.outputs[0]].size == 1 for case in cases(puzzle))

    @pytest.mark.parametrize("puzzle", KERNELS, ids=lambda p: p.id)
    def test_arguments_follow_the_signature(self, puzzle):
        """Arguments stand in call order."""
        for case in cases(puzzle):
            assert tuple(case.arguments) == puzzle.signature

    @pytest.mark.parametrize("puzzle", KERNELS, ids=lambda p: p.id)
    def test_the_same_seed_gives_the_same_inputs(self, puzzle):
        """Regrading sees what grading saw; another seed gives others."""
        first, again, other = (
            cases(puzzle, seed)[0].arguments[puzzle.signature[1]] for seed in (3, 3, 4)
        )
        assert (first == again).all()
        assert (first != other).any()


def results(suspect, puzzle):
    """What a suspect computes on every case, poison where it writes nothing, as flat bytes."""
    with np.errstate(invalid="ignore"):
        return [suspect.formula(**case.inputs)[case.outputs[0]] for case in cases(puzzle)]


def differ(one, other, puzzle):
    """Whether two results differ by more than rounding on some case."""
    for first, second, case in zip(one, other, cases(puzzle), strict=True):
        allowed = 4 * puzzle.rounding(**case.inputs)[case.outputs[0]]
        with np.errstate(invalid="ignore"):
            same = (np.abs(first - second) <= allowed) | (np.isnan(first) & np.isnan(second))
        if not same.all():
            return True
    return False


class TestSuspects:
    """Known mistakes: all wrong, all different, all of the output's shape."""

    @pytest.mark.parametrize("puzzle", KERNELS, ids=lambda p: p.id)
    def test_each_is_wrong_somewhere(self, puzzle):
        """No suspect computes the reference on every case."""
        right = [puzzle.reference(**case.inputs)[case.outputs[0]] for case in cases(puzzle)]
        for suspect in puzzle.suspects:
            found = results(suspect, puzzle)
            assert [r.shape for r in found] == [r.shape for r in right], suspect.name
            assert differ(found, right, puzzle), suspect.name

    @pytest.mark.parametrize("puzzle", KERNELS, ids=lambda p: p.id)
    def test_no_two_are_the_same(self, puzzle):
        """The cases tell every pair of suspects apart."""
        found = {suspect.name: results(suspect, puzzle) for suspect in puzzle.suspects}
        for one, other in itertools.combinations(found, 2):
            assert differ(found[one], found[other], puzzle), f"{one} and {other}"
