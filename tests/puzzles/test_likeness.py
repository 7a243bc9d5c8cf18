"""What wrong values look like, where no known mistake computes them."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from wia_lab.puzzles import find
from wia_lab.puzzles.judging import verdict
from wia_lab.puzzles.likeness import likeness
from wia_lab.puzzles.puzzle import Flight, Run, Writers

BARE = {
    name: replace(find(name), suspects=())
    for name in ("start", "first-kernel", "coalescing", "tiled-matmul", "halo-convolution")
} | {name: replace(find(name), suspects=()) for name in ("pipeline", "reduction-softmax")}


def left(puzzle, change, number=0):
    """A run of the puzzle's case of that number in which `change` has spoilt the right output.

    NaN counts as never written.
    """
    case = puzzle.cases(np.random.default_rng(5))[number]
    [name] = case.outputs
    right = puzzle.reference(**case.inputs)[name]
    wrong = np.asarray(change(right.copy(), **case.inputs), np.float32)
    thread = np.where(np.isnan(wrong.reshape(-1)), -1, 0)
    return Run(
        case=case,
        outputs={name: wrong},
        changed=(),
        hazards=(),
        counters=SimpleNamespace(),
        arrays={},
        writers={name: Writers(thread, np.full(thread.shape, 9))},
        flight=Flight({}, {}, {}),
    )


def guess(name, change, number=0):
    """Cause and sentence for a spoilt output."""
    return likeness(BARE[name], left(BARE[name], change, number))


def put(array, where, value):
    """The array with `value` in some places."""
    array[where] = value
    return array


class TestNumbers:
    """One number, factor or difference for all wrong cells."""

    def test_zeros(self):
        """Cells that hold 0 were not added up."""
        found = guess("first-kernel", lambda out, **_: put(out, slice(10, 50), 0))
        assert found[0] == "all-zero"
        assert found[1].startswith("all wrong cells hold 0: ")

    def test_one_number(self):
        """Any other number is named."""
        found = guess("first-kernel", lambda out, **_: put(out, slice(10, 50), 2.5))
        assert found[0] == "one-number"
        assert "the same number, 2.5:" in found[1]

    @pytest.mark.parametrize(
        ("factor", "said"), [(3, "3 times"), (0.25, "1/4 of"), (-1, "-1 times"), (0.3, "0.3 times")]
    )
    def test_factor(self, factor, said):
        """A factor is said as a count, or a share, where it is one."""
        found = guess("tiled-matmul", lambda c, **_: factor * c)
        assert found == ("one-factor", f"every wrong cell is {said} what it should be.")

    @pytest.mark.parametrize(("by", "side"), [(0.5, "large"), (-0.5, "small")])
    def test_difference(self, by, side):
        """A difference has its sign."""
        found = guess("tiled-matmul", lambda c, **_: c + by)
        assert found == ("one-difference", f"every wrong cell is too {side} by 0.5.")

    def test_one_cell_proves_nothing(self):
        """A single wrong cell has a factor of course, and is not said to."""
        assert guess("tiled-matmul", lambda c, **_: put(c, (3, 4), 1.5 * c[3, 4])) is None

    def test_row_by_row(self):
        """A factor of its own for each row is the row's divisor."""
        found = guess(
            "reduction-softmax", lambda out, **_: out * (2 + np.arange(len(out)))[:, None]
        )
        assert found[0] == "a-factor-each-row"
        assert "in row 0 2:" in found[1]

    def test_float16(self):
        """Values rounded to 11 digits are nearly right."""
        found = guess("tiled-matmul", lambda c, **_: c.astype(np.float16))
        assert found[0] == "fewer-digits"

    def test_nothing_fits(self):
        """Numbers out of nowhere get no cause."""
        random = np.random.default_rng(1)
        assert guess("tiled-matmul", lambda c, **_: random.normal(size=c.shape)) is None


class TestTerms:
    """Sums whose terms are missing, or count more than once."""

    def test_some_k(self):
        """Products of a matrix product are named by their k."""
        found = guess("tiled-matmul", lambda _, a, b: a[:, :40].astype(float) @ b[:40])
        assert found == ("terms", "the products with k = 40 to 63 are missing from each sum.")

    def test_k_counted_again(self):
        """So are those that count three times."""
        found = guess("tiled-matmul", lambda c, a, b: c + 2 * np.outer(a[:, 7].astype(float), b[7]))
        assert found == ("terms", "the products with k = 7 count 3 times.")

    @pytest.mark.parametrize("name", ["halo-convolution", "pipeline"])
    def test_a_tap(self, name):
        """A product of five is named as the page writes it."""

        def without(out, signal, taps):
            return out - np.pad(signal.astype(float), 2)[3 : 3 + out.size] * taps[3]

        found = guess(name, without)
        assert found[0] == "terms"
        assert found[1].endswith("signal[i + 1] * taps[3] is missing from the sum.")

    def test_a_tap_twice_in_some_cells(self):
        """How many of the wrong cells it holds for is counted."""

        def doubled(out, signal, taps):
            return put(out, slice(100, 140), out[100:140] + signal[98:138].astype(float) * taps[0])

        assert guess("halo-convolution", doubled) == (
            "terms",
            "signal[i - 2] * taps[0] counts twice.",
        )


class TestPlaces:
    """Values that belong to other cells, or to the inputs."""

    def test_shifted(self):
        """One step for all is said as such."""
        found = guess("halo-convolution", lambda out, **_: np.roll(out, -3), number=1)
        assert found[0] == "another-cell"
        assert "the one at [+3]: out[0] holds what belongs in out[3]" in found[1]

    def test_transposed(self):
        """Else two examples are given."""
        found = guess("coalescing", lambda out, **_: out.T)
        assert found[0] == "another-cell"
        assert "out[0, 1] holds what belongs in out[1, 0]" in found[1]

    @pytest.mark.parametrize(
        ("change", "held"),
        [
            (lambda _, a, b: a - 2.0 * b, "a - 2 * b"),  # noqa: ARG005
            (lambda _, a, b: -a.astype(float), "- a"),  # noqa: ARG005
        ],
    )
    def test_inputs(self, change, held):
        """A sum of inputs is written out."""
        assert guess("first-kernel", change) == (
            "of-inputs",
            f"every wrong cell holds {held}, element by element.",
        )


class TestStripes:
    """Cells that nobody wrote, with a period."""

    def test_blocks_apart(self):
        """Blocks of 256 threads that begin 512 apart."""
        found = guess(
            "first-kernel", lambda out, **_: put(out, np.arange(out.size) % 512 >= 256, np.nan)
        )
        assert found[0] == "stripes"
        assert found[1].startswith(
            "of every 512 elements only elements 0 to 255 are written: the blocks lie 512 apart"
        )

    def test_threads_of_a_block(self):
        """The same threads of each block do not store."""
        found = guess(
            "first-kernel", lambda out, **_: put(out, np.arange(out.size) % 256 >= 32, np.nan)
        )
        assert "only elements 0 to 31 are written: of a block's 256 threads" in found[1]

    def test_every_second(self):
        """A step of two needs no more words."""
        found = guess("first-kernel", lambda out, **_: put(out, slice(1, None, 2), np.nan))
        assert found[1] == "of every 2 elements only element 0 is written."

    def test_rows(self):
        """Along the second axis they are rows."""
        found = guess("coalescing", lambda out, **_: put(out, slice(1, None, 3), np.nan))
        assert found[1].startswith("of every 3 rows only rows 0 and 2 are written")

    def test_no_period(self):
        """A block of cells is no pattern."""
        assert guess("first-kernel", lambda out, **_: put(out, slice(600, None), np.nan)) is None


class TestNan:
    """A result that is no number."""

    @pytest.mark.parametrize(("requests", "cause"), [(0, "not-a-number"), (3, "added-to-output")])
    def test_read_or_computed(self, requests, cause):
        """What was never read from the output was computed."""
        puzzle = BARE["first-kernel"]
        run = left(puzzle, lambda out, **_: put(out, 5, np.nan))
        counters = SimpleNamespace(global_load_requests=requests)
        run = replace(
            run,
            arrays={"out": SimpleNamespace(counters=counters)},
            writers={"out": Writers(np.zeros(run.outputs["out"].size, int), np.full(1024, 9))},
        )
        assert verdict(puzzle, [run]).diagnosis.cause == cause
