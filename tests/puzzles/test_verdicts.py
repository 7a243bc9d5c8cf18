"""From what a kernel left behind to verdict and diagnosis, with made-up runs."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from wia_lab.puzzles import PUZZLES, find
from wia_lab.puzzles.judging import measure, verdict
from wia_lab.puzzles.puzzle import Flight, Gate, Puzzle, Run, Writers

MATMUL, CONVOLUTION, START = map(find, ("tiled-matmul", "async-convolution", "start"))
LINE = 20
KERNELS = [puzzle for puzzle in PUZZLES.values() if isinstance(puzzle, Puzzle)]


def made_up(case, outputs, **changes):
    """A run that left `outputs`; NaN counts as not written, the rest as written on line 20."""
    writers = {}
    for name, array in outputs.items():
        written = ~np.isnan(array.reshape(-1))
        cells = np.arange(array.size) % int(np.prod(case.grid) * np.prod(case.block))
        writers[name] = Writers(np.where(written, cells, -1), np.where(written, LINE, 0))
    run = Run(
        case=case,
        outputs={name: array.astype(np.float32) for name, array in outputs.items()},
        changed=(),
        hazards=(),
        counters=SimpleNamespace(),
        arrays={},
        writers=writers,
        flight=Flight({}, {}, {}),
    )
    return replace(run, **changes)


def runs_of(puzzle, formula):
    """The runs of an answer that computes `formula`."""
    cases = puzzle.cases(np.random.default_rng(28))
    return [made_up(case, formula(**case.inputs)) for case in cases]


def hazard(kind, line, message, severity="error"):
    """A hazard, as far as a judge looks at it."""
    return SimpleNamespace(
        kind=kind, line=line, message=message, severity=severity, array=None, threads=(), file=""
    )


class TestCause:
    """A wrong output is recognised by what known mistakes compute."""

    @pytest.mark.parametrize(
        ("puzzle", "suspect"),
        [(puzzle, suspect) for puzzle in KERNELS for suspect in puzzle.suspects],
        ids=lambda each: getattr(each, "id", None) or each.name,
    )
    def test_every_suspect_is_found(self, puzzle, suspect):
        """An answer that computes a suspect's formula gets that suspect's name and sentence."""
        found = verdict(puzzle, runs_of(puzzle, suspect.formula)).diagnosis
        assert found.cause == suspect.name
        assert found.text.endswith(f"Likely cause: {suspect.sentence}")

    def test_unknown_mistake_names_no_cause(self):
        """A result that no known mistake and no rule explains is described, not explained."""
        runs = runs_of(START, lambda a: {"out": np.exp(a)})
        found = verdict(START, runs).diagnosis
        first = runs[0].case.arguments["a"][0]
        assert found.cause is None
        assert found.text == (
            f"With 512 elements: out[0] is {np.exp(first):.6g} but should be "
            f"{float(first) ** 2:.6g}; 512 of 512 cells of out are wrong.\n"
            "Written on line 20 by thread 0 of block 0."
        )

    def test_added_to_poison(self):
        """Cells that were written and hold NaN all the same were added to."""
        runs = runs_of(START, lambda a: {"out": a.astype(float) ** 2})
        wrong = [replace(run, outputs={"out": run.outputs["out"] * np.nan}) for run in runs]
        assert verdict(START, wrong).diagnosis.cause == "added-to-output"

    def test_negative_index_explains_before_any_suspect(self):
        """A negative index is what happened; a formula is only what it looks like."""
        runs = runs_of(START, lambda a: {"out": a.astype(float)})
        warning = hazard("negative-index", 9, "line 9: a[-1] is its last element", "warning")
        wrong = [replace(run, hazards=(warning,)) for run in runs]
        found = verdict(START, wrong).diagnosis
        assert (found.kind, found.cause) == ("wrong-value", "negative-index")
        assert found.text.endswith("Likely cause: line 9: a[-1] is its last element.")


class TestOrder:
    """What is said first when several things are wrong."""

    def test_nothing_written(self):
        """A kernel that writes nothing is told so, not given a cell."""
        runs = runs_of(START, lambda a: {"out": np.full(a.shape, np.nan)})
        found = verdict(START, runs).diagnosis
        assert (found.kind, found.line, found.cause) == ("unwritten", None, "nothing-stored")
        assert found.text == (
            "With 512 elements: the kernel wrote nothing to out.\n"
            "Likely cause: no thread comes to a line that stores to out: look at the `if`, the "
            "early return or the loop around it, which lets nobody through who has an element."
        )

    def test_hazard_comes_before_wrong_cells(self):
        """The hazard that causes others is named, and the number of the others."""
        [run, *_] = runs_of(START, lambda a: {"out": np.zeros(a.shape)})
        found = (hazard("race", 7, "line 7: two"), hazard("out-of-bounds", 9, "line 9: a[512]"))
        diagnosis = verdict(START, [replace(run, hazards=found)]).diagnosis
        assert (diagnosis.kind, diagnosis.line) == ("out-of-bounds", 9)
        assert diagnosis.text == (
            "With 512 elements: line 9: a[512].\n"
            "There is 1 more hazard: simulate() lists all in report.hazards."
        )

    def test_changed_input(self):
        """A right result is refused when an input was written to."""
        runs = runs_of(START, lambda a: {"out": a.astype(float) ** 2})
        found = verdict(START, [replace(run, changed=("a",)) for run in runs]).diagnosis
        assert found.text == (
            "With 512 elements: the kernel wrote to a, which it may only read: write results "
            "to out."
        )

    def test_gates_of_a_wrong_answer_are_not_measured(self):
        """A wrong answer earns nothing, however little it loads."""
        runs = runs_of(MATMUL, lambda a, b: {"c": np.zeros((len(a), b.shape[1]))})
        found = verdict(MATMUL, runs)
        assert [entry.passed for entry in found.entries] == [False, False, False]
        assert [entry.text for entry in found.entries[1:]] == ["not measured", "not measured"]

    def test_warning_becomes_a_note(self):
        """A right answer passes with its warnings as notes, each once."""
        warning = hazard("float64-arithmetic", 4, "line 4: 1.0 is float64", "warning")
        runs = runs_of(START, lambda a: {"out": a.astype(float) ** 2})
        found = verdict(START, [replace(run, hazards=(warning,)) for run in runs])
        assert found.passed
        assert found.notes == ("line 4: 1.0 is float64",)


class TestGates:
    """Bounds on both sides, and nothing passes unmeasured."""

    [CASE, *_] = START.cases(np.random.default_rng(0))

    def entry(self, value, measured=True, **bounds):
        gate = Gate(
            name="loads", measure=lambda _: value, naive=lambda _: 5000, advice="", **bounds
        )
        case = replace(self.CASE, measured=measured)
        return measure(gate, [made_up(case, {"out": np.zeros(512)})])

    @pytest.mark.parametrize(
        ("value", "passed"), [(99, False), (100, True), (110, True), (111, False)]
    )
    def test_both_sides(self, value, passed):
        """A value passes between its bounds, bounds included."""
        entry = self.entry(value, at_least=lambda _: 100, at_most=lambda _: 1.1 * 100 + 1e-9)
        assert entry.passed is passed
        assert (
            entry.text == f"loads: naive 5,000, target at least 100 and at most 110, yours {value}"
        )

    def test_void_without_a_value(self):
        """What was not counted does not pass."""
        entry = self.entry(None, at_most=lambda _: 10)
        assert (entry.passed, entry.text) == (False, "loads: not measured, so it cannot pass")

    def test_void_without_a_measured_case(self):
        """A gate that no run was measured for does not pass."""
        assert not self.entry(5, measured=False, at_most=lambda _: 10).passed

    @pytest.mark.parametrize("puzzle", [MATMUL, CONVOLUTION], ids=lambda p: p.id)
    def test_every_upper_bound_has_a_lower_one(self, puzzle):
        """Doing nothing satisfies no puzzle: some gate asks for at least so much."""
        assert any(gate.at_most for gate in puzzle.gates)
        [measured] = [c for c in puzzle.cases(np.random.default_rng(0)) if c.measured]
        assert any(gate.at_least and gate.at_least(measured) > 0 for gate in puzzle.gates)

    def test_matmul_targets(self):
        """48×64 times 64×80: 15 blocks of 8 warps, 4 rounds of 2 tiles of 32 sectors."""
        [case] = [c for c in MATMUL.cases(np.random.default_rng(0)) if c.measured]
        loads, shared = MATMUL.gates
        assert loads.naive(case) == 15 * 8 * 64 * 4
        assert loads.at_most(case) == pytest.approx(1.1 * 15 * 4 * 2 * 32)
        assert shared.at_least(case) == 48 * 64 * 80 / 32
