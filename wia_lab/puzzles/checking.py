"""`check` and `hint`: what a notebook calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wia_lab.errors import CheckFailed, WiaLabError
from wia_lab.puzzles.curriculum import every, find
from wia_lab.wording import counted

if TYPE_CHECKING:
    from wia_lab.puzzles.host_puzzle import HostPuzzle
    from wia_lab.puzzles.puzzle import Puzzle, Verdict

_seen: dict[str, int] = {}
"""Number of the last hint shown in this process, by puzzle."""


def check(puzzle: str, answer: object) -> None:
    """Judge an answer; print one line when it passes.

    Parameters
    ----------
    puzzle
        The puzzle's id, as in its notebook's name: "tiled-matmul".
    answer
        The kernel: the function under `@cuda.jit`, not called and not configured. In puzzles about
        allocators the class, not an object of it.

    Raises
    ------
    CheckFailed
        An AssertionError whose message is the diagnosis: what is wrong with which input, which
        thread and line did it, and the likely cause.
    """
    from wia_lab.puzzles.judging import judge  # noqa: PLC0415 - brings the simulator

    record = find(puzzle)
    verdict = judge(record, answer)
    if verdict.diagnosis is not None:
        other = _another_puzzle(record, answer)
        raise CheckFailed(f"{record.id} is not right yet.\n{other}{verdict.diagnosis.text}")
    print(passing_text(record, verdict))  # noqa: T201 - the line that a notebook shows


def _another_puzzle(record: Puzzle | HostPuzzle, answer: object) -> str:
    """The line for an answer that has the name of another puzzle's; none for any other."""
    name = getattr(getattr(answer, "py_func", answer), "__name__", None)
    other = next((each for each in every() if each.function == name), record)
    if other is record:
        return ""
    return (
        f"{name} is what {other.id} asks for: pass {record.function} here, or write "
        f'check("{other.id}", {name}). Judged all the same:\n'
    )


def passing_text(puzzle: Puzzle | HostPuzzle, verdict: Verdict) -> str:
    """The line of a passed check, and a line for each note."""
    gates = [entry.text for entry in verdict.entries[1:]]
    first = f"{puzzle.id}: passed on {counted(len(verdict.runs), 'input')}."
    return "\n".join(
        [" ".join([first, *(f"{text}." for text in gates)])]
        + [f"Note: {note}" for note in verdict.notes]
    )


def hint(puzzle: str, number: int | None = None) -> None:
    """Print a hint of a puzzle: number 1, 2 or 3, or the next one that this process has not shown.

    Each says more than the one before; after the last, the last is shown again.
    """
    record = find(puzzle)
    if number is None:
        text, number = next_hint(record, _seen.get(record.id, 0))
    else:
        text = hint_text(record, number)
    _seen[record.id] = number
    print(text)  # noqa: T201 - as above


def next_hint(puzzle: Puzzle | HostPuzzle, seen: int) -> tuple[str, int]:
    """The hint after the first `seen`, and its number; where all were seen, the last once more."""
    count = len(puzzle.hints)
    if seen < count:
        return hint_text(puzzle, seen + 1), seen + 1
    return f"There is no further hint: the last once more.\n{hint_text(puzzle, count)}", count


def hint_text(puzzle: Puzzle | HostPuzzle, number: int) -> str:
    """A hint with its number, counted from 1.

    Raises
    ------
    WiaLabError
        When the puzzle has no hint of that number.
    """
    count = len(puzzle.hints)
    if not 1 <= number <= count:
        raise WiaLabError(f"{puzzle.id} has no hint {number}: it has hints 1 to {count}")
    return f"Hint {number} of {count}\n{puzzle.hints[number - 1]}"
