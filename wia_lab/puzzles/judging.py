"""The judge: an answer in, a `Verdict` out. It raises nothing for a learner's mistake."""

from __future__ import annotations

import contextlib
import io
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numba
import numpy as np

from wia_lab.errors import LaunchError, SimulationLimit
from wia_lab.puzzles import hardware
from wia_lab.puzzles.answer import RefusedError, kernel_function
from wia_lab.puzzles.compiler import compiler_sentence
from wia_lab.puzzles.diagnosis import diagnose
from wia_lab.puzzles.execute import execute
from wia_lab.puzzles.host_judge import judge_host
from wia_lab.puzzles.host_puzzle import HostPuzzle
from wia_lab.puzzles.puzzle import Diagnosis, Entry, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FunctionType

    from wia_lab.puzzles.puzzle import Case, Gate, Puzzle, Run

SEED = 28
"""Inputs of a check in a notebook are the same each time, so that its text is."""

SHOWN = 32
"""Lines of what a kernel prints that a check shows."""

ANSWER = "right answer"
NOTED = ("float64-arithmetic", "write-overlap", "divergent-barrier")
"""Warnings that a passing learner should still hear."""

NUMBA = str(Path(numba.__file__).parent)
"""Where functions stand that Numba wrote in Python, such as `sum`: a learner cannot mend those."""


def judge(
    puzzle: Puzzle | HostPuzzle,
    answer: object,
    *,
    seed: int = SEED,
    on_hardware: bool | None = None,
) -> Verdict:
    """Judge an answer on all of the puzzle's inputs, then on its gates.

    Parameters
    ----------
    puzzle, answer
        The puzzle, and the learner's kernel, neither called nor configured, or class.
    seed
        Seed of the inputs.
    on_hardware
        Whether a GPU judges too what the simulator passed; by default where launches go to one.
    """
    if isinstance(puzzle, HostPuzzle):
        return judge_host(puzzle, answer, seed=seed)
    try:
        function = kernel_function(puzzle, answer)
    except RefusedError as refused:
        return verdict(puzzle, (), refused.diagnosis)
    runs: list[Run] = []
    for case in puzzle.cases(np.random.default_rng(seed)):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            outcome = run_case(function, case)
        if not runs:
            _show(said.getvalue().splitlines(), case)
        if isinstance(outcome, Diagnosis):
            return verdict(puzzle, runs, outcome)
        runs.append(outcome)
        if outcome.errors:
            break
    found = verdict(puzzle, runs)
    if not found.passed or not (hardware.is_present() if on_hardware is None else on_hardware):
        return found
    second = hardware.second_opinion(puzzle, answer, runs)
    if isinstance(second, Diagnosis):
        return replace(found, diagnosis=second)
    return replace(found, notes=(*found.notes, second))


def _show(lines: Sequence[str], case: Case) -> None:
    """Show what the kernel's print said with the first input: with all, it would fill the page."""
    for line in lines[:SHOWN]:
        print(line)  # noqa: T201 (what the kernel prints)
    if len(lines) > SHOWN:
        print(  # noqa: T201
            f"… and {len(lines) - SHOWN:,} more lines with {case.name}: simulate(kernel, grid, "
            "block, …) shows all that a launch prints."
        )


def verdict(puzzle: Puzzle, runs: Sequence[Run], refusal: Diagnosis | None = None) -> Verdict:
    """Judge what an answer left behind; `refusal` is why it was not run (any further).

    Gates of a wrong answer get no points: what it counted is not worth counting.
    """
    wrong = refusal or diagnose(puzzle, runs)
    entries = [Entry(ANSWER, wrong is None, puzzle.points, wrong.text if wrong else "right")]
    if wrong is not None:
        entries += [Entry(gate.name, False, gate.points, "not measured") for gate in puzzle.gates]
        return Verdict(puzzle.id, tuple(entries), wrong, runs=tuple(runs))
    entries += [measure(gate, runs) for gate in puzzle.gates]
    missed = next((i for i, entry in enumerate(entries) if not entry.passed), None)
    return Verdict(
        puzzle.id,
        tuple(entries),
        None if missed is None else _missed(puzzle.gates[missed - 1], entries[missed], runs),
        notes=_notes(runs),
        runs=tuple(runs),
    )


def measure(gate: Gate, runs: Sequence[Run]) -> Entry:
    """Hold a gate against the measured runs; the entry's text has naive, target and yours."""
    passed = True
    texts: list[str] = []
    for run in runs:
        if not run.case.measured:
            continue
        yours = gate.measure(run)
        if yours is None:
            texts = []
            break
        naive, kept, target = _number(gate.naive(run.case)), *_bounds(gate, run.case, yours)
        passed = passed and kept
        which = f" ({gate.naive_is})" if gate.naive_is else ""
        texts.append(f"{gate.name}: naive{which} {naive}, target {target}, yours {_number(yours)}")
    if not texts:
        return Entry(gate.name, False, gate.points, f"{gate.name}: not measured, so it cannot pass")
    return Entry(gate.name, passed, gate.points, "; ".join(texts))


def _bounds(gate: Gate, case: Case, yours: float) -> tuple[bool, str]:
    """Whether a value keeps a gate's bounds, and the bounds in words."""
    kept = True
    words: list[str] = []
    if gate.at_least is not None:
        least = gate.at_least(case)
        kept, words = kept and yours >= least, [*words, f"at least {_number(least)}"]
    if gate.at_most is not None:
        most = gate.at_most(case)
        kept, words = kept and yours <= most, [*words, f"at most {_number(most)}"]
    return kept, " and ".join(words)


def _number(value: float) -> str:
    """A count; a bound that is no whole number is cut, as no count lies between."""
    return f"{int(value):,}"


def _missed(gate: Gate, entry: Entry, runs: Sequence[Run]) -> Diagnosis:
    advice = gate.too_many if gate.too_many and _above(gate, runs) else gate.advice
    measured = next((run for run in runs if run.case.measured), None)
    where = gate.where(measured) if gate.where is not None and measured is not None else ""
    text = f"The answer is right, but {entry.text}.\n{f'{where} {advice}'.strip()}"
    return Diagnosis("gate", text, cause=gate.name)


def _above(gate: Gate, runs: Sequence[Run]) -> bool:
    """Whether a measured run counts more than the gate allows."""
    pairs = [(gate.measure(run), run.case) for run in runs if run.case.measured]
    return gate.at_most is not None and any(
        yours is not None and yours > gate.at_most(case) for yours, case in pairs
    )


def _notes(runs: Sequence[Run]) -> tuple[str, ...]:
    """One sentence for each kind of warning and line, over all runs."""
    found = {
        (hazard.kind, hazard.line): hazard.message
        for run in reversed(runs)
        for hazard in run.hazards
        if hazard.kind in NOTED and not hazard.file.startswith(NUMBA)
    }
    return tuple(found[key] for key in sorted(found))


def run_case(function: FunctionType, case: Case) -> Run | Diagnosis:
    """Run one case; whatever stops a launch becomes a diagnosis."""
    try:
        return execute(function, case)
    except RefusedError as error:
        return replace(error.diagnosis, text=f"With {case.name}: {error.diagnosis.text}")
    except SimulationLimit as error:
        return Diagnosis("limit", f"With {case.name}: {error}")
    except LaunchError as error:
        return Diagnosis("launch", f"With {case.name}: {error}")
    except Exception as error:  # the front end's, of several classes: a learner wants the sentence
        text, line = compiler_sentence(error, function.__code__.co_filename)
        where = function.__name__ if line is None else f"Line {line}"
        return Diagnosis("typing", f"{where} cannot be compiled: {text}.", line)
