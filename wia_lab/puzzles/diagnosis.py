"""From a run that went wrong to the sentences that a learner can act on.

The order is by what explains most: a hazard, then a cell that nobody wrote or that is wrong, then
an input that was written to. For a wrong cell the text says who wrote it and on which line, and
names the likely cause by comparing the output with what known mistakes compute.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from wia_lab.puzzles.agreement import ROUNDED, agrees, wrong_cells
from wia_lab.puzzles.likeness import likeness
from wia_lab.puzzles.puzzle import Diagnosis
from wia_lab.puzzles.remarks import first_error
from wia_lab.puzzles.slips import PLAIN
from wia_lab.puzzles.whereabouts import thread_name, whereabouts
from wia_lab.wording import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wia_lab.puzzles.puzzle import Arrays, Puzzle, Run, Suspect
    from wia_lab.simt.hazards.found import Hazard

TELLING = ("negative-index", "division-by-zero")
"""Warnings that explain a wrong cell better than what it looks like."""


def diagnose(puzzle: Puzzle, runs: Sequence[Run]) -> Diagnosis | None:
    """Say what is wrong with the first run that went wrong; None when all are right."""
    for run in runs:
        if run.errors:
            return _hazard(puzzle, run)
        wrong = wrong_cells(puzzle, run)
        for name, cells in wrong.items():
            if cells.any():
                return _cell(puzzle, runs, run, name, np.flatnonzero(cells))
        if run.changed:
            return _changed(run)
    return None


def _hazard(puzzle: Puzzle, run: Run) -> Diagnosis:
    """The error that explains most, and how many there are."""
    first = first_error(run.errors)
    assert first is not None
    likely, cause = _cause_of(puzzle, run, first)
    if likely:  # it has the way out: the message's own, of one access, may lead elsewhere
        text = f"With {run.case.name}: {_sentence(first.fact)}\nLikely cause: {likely}"
    else:
        text = f"With {run.case.name}: {_sentence(first.message)}"
    if more := len(run.errors) - 1:
        text += (
            f"\nThere {'is' if more == 1 else 'are'} {more} more "
            f"{'hazard' if more == 1 else 'hazards'}: simulate() lists all in report.hazards."
        )
    return Diagnosis(first.kind, text, first.line, cause)


def _cause_of(puzzle: Puzzle, run: Run, first: Hazard) -> tuple[str, str | None]:
    """What most likely brought about an error, and its name where it has one; or nothing."""
    left_early = [each for each in run.hazards if each.kind == "divergent-barrier"]
    if first.kind in {"uninitialised-read", "async-copy"} and left_early:  # who returned is missed
        return _sentence(left_early[0].message), None
    if place := _of_whole_array(run, first):
        return place, None
    if run.remark is None:
        return "", None
    more = puzzle.unfilled if run.remark.cause == "left-out-by-a-condition" else ""
    return f"{run.remark.sentence} {more}".strip(), run.remark.cause


def _of_whole_array(run: Run, hazard: Hazard) -> str:
    """What to say of an index past a shared array that was good in the first block; or nothing."""
    name = hazard.array
    if hazard.kind != "out-of-bounds" or name is None or not hazard.threads:
        return ""
    if name in run.case.inputs or name in run.outputs or not any(hazard.threads[0].block):
        return ""
    return (
        f"{name} belongs to one block, and the first block's indices fit: index it by the place in "
        "the block, which begins at 0 in every block, and not by the place in the whole array."
    )


def _cell(puzzle: Puzzle, runs: Sequence[Run], run: Run, name: str, cells: np.ndarray) -> Diagnosis:
    """The first wrong cell of an output: who wrote it, what it should be, and the likely cause."""
    writers, first = run.writers[name], cells[0]
    got = run.outputs[name]
    place = f"{name}[{', '.join(map(str, np.unravel_index(first, got.shape)))}]"
    lie = whereabouts(cells, got.shape, run.case.block)
    verb = "is" if cells.size == 1 else "are"
    share = f"{cells.size:,} of {counted(got.size, 'cell')} of {name} {verb} wrong" + (
        f", all {lie}" if lie and cells.size > 1 else ""
    )
    want = puzzle.reference(**run.case.inputs)[name].reshape(-1)[first]
    cause = _cause(puzzle, runs, run)
    if writers.thread[first] < 0:
        kind, line = "unwritten", None
        text = f"With {run.case.name}: nobody wrote {place}; {share}."
        if (writers.thread < 0).all():
            text = f"With {run.case.name}: the kernel wrote nothing to {name}."
            if run.changed:
                text += f" It wrote to {' and '.join(run.changed)} instead, which it may only read."
            elif cause is None or cause[0] == "kept-out":
                kept = "" if cause is None else f" Here {cause[1]}"
                cause = (
                    "nothing-stored",
                    f"no thread comes to a line that stores to {name}: look at the `if`, the early "
                    "return or the loop around it, which lets nobody through who has an element"
                    f"{_unlike(puzzle, runs, run)}.{kept}",
                )
    else:
        kind, line = "wrong-value", int(writers.line[first])
        who = thread_name(int(writers.thread[first]), run.case.grid, run.case.block)
        text = (
            f"With {run.case.name}: {place} is {got.reshape(-1)[first]:.6g} but should be "
            f"{want:.6g}; {share}.\nWritten on line {line} by {who}."
        )
    if cause is None:
        return Diagnosis(kind, text, line)
    return Diagnosis(kind, f"{text}\nLikely cause: {cause[1]}", line, cause[0])


def _unlike(puzzle: Puzzle, runs: Sequence[Run], run: Run) -> str:
    """What to add where nothing is stored though it was with another input."""
    right = (each for each in runs if each is not run and not each.errors)
    other = next(
        (r for r in right if not any(w.any() for w in wrong_cells(puzzle, r).values())), None
    )
    if other is None:
        return ""
    return (
        f"; with {other.case.name} it does let them. A number of rounds that is rounded down, or a "
        "condition about a whole block, does so"
    )


def _cause(puzzle: Puzzle, runs: Sequence[Run], run: Run) -> tuple[str, str] | None:
    """Name and sentence of what most likely went wrong in `run`, where anything tells."""
    if run.remark is not None and run.remark.cause in PLAIN:
        return run.remark.cause, run.remark.sentence
    for hazard in run.hazards:
        if hazard.kind in TELLING:
            if run.remark is not None and run.remark.cause == hazard.kind:
                return run.remark.cause, run.remark.sentence
            return hazard.kind, _sentence(hazard.message)
    matching = [each for each in puzzle.suspects if _explains(puzzle, each, run)]
    # A mistake explains every launch, not only this one; where two kinds agree here, others decide
    best = max(matching, default=None, key=lambda each: _matches(puzzle, each, runs))
    if best is not None:
        return best.name, best.sentence
    if (name := _written_nan(run)) is not None:
        return _of_nan(run, name)
    if run.remark is not None and run.remark.cause == "cut-to-whole":
        return run.remark.cause, run.remark.sentence
    alike = likeness(puzzle, run)
    if alike is not None:
        return alike
    if run.remark is not None:
        return run.remark.cause, run.remark.sentence
    overlap = next((each for each in run.hazards if each.kind == "write-overlap"), None)
    return None if overlap is None else (overlap.kind, _sentence(overlap.message))


def _matches(puzzle: Puzzle, suspect: Suspect, runs: Sequence[Run]) -> int:
    return sum(_same(puzzle, suspect.formula(**run.case.inputs), run) for run in runs)


def _explains(puzzle: Puzzle, suspect: Suspect, run: Run) -> bool:
    """Whether the suspect computes what this wrong run holds, and something wrong at all."""
    return _same(puzzle, suspect.formula(**run.case.inputs), run)


def _same(puzzle: Puzzle, suspected: Arrays, run: Run) -> bool:
    """Whether all outputs are the suspected ones, up to four times the rounding allowed.

    That is for right values; wrong ones may be much larger, and are rounded as such.
    """
    allowed = puzzle.rounding(**run.case.inputs)
    return all(
        agrees(got, suspected[name], 4 * allowed[name] + ROUNDED * np.abs(suspected[name])).all()
        for name, got in run.outputs.items()
    )


def _written_nan(run: Run) -> str | None:
    """The output of which cells that somebody wrote hold NaN, though no input does."""
    if any(np.isnan(array).any() for array in run.case.inputs.values()):
        return None
    return next(
        (
            name
            for name, got in run.outputs.items()
            if np.isnan(got.reshape(-1)[run.writers[name].thread >= 0]).any()
        ),
        None,
    )


def _of_nan(run: Run, name: str) -> tuple[str, str]:
    """Where a NaN comes from: the output's first content, if it was read, or a computation."""
    traffic = run.arrays.get(name)
    if traffic is not None and not traffic.counters.global_load_requests:
        return "not-a-number", (
            "the result is nan, no number, though no input is: that comes of inf - inf, 0 * inf, "
            "inf / inf or 0 / 0. Which of them can happen here, and for which elements?"
        )
    return "added-to-output", (
        "the kernel adds to what the output held before. Outputs start with arbitrary values: keep "
        "the sum in a variable and store it with =."
    )


def _changed(run: Run) -> Diagnosis:
    names = " and ".join(run.changed)
    return Diagnosis(
        "input-changed",
        f"With {run.case.name}: the kernel wrote to {names}, which it may only read: "
        f"write results to {' and '.join(run.case.outputs)}.",
    )


def _sentence(message: str) -> str:
    """The message with a full stop."""
    return message if message.endswith((".", "!", "?")) else f"{message}."
