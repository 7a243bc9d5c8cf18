"""`check` and `hint` as a notebook calls them: judged by the puzzles, remembered in the folder.

Where the current folder is no learner's folder (a test, a grader, a bare script) nothing is
written; hints are then counted within the process.
"""

from __future__ import annotations

from pathlib import Path

from wia_lab.errors import CheckFailed
from wia_lab.workbook import progress
from wia_lab.workbook.catalogue import find

NOTHING = object()
"""Stands for an answer that was not given."""


def check(puzzle: str, answer: object = NOTHING) -> None:
    """Judge an answer: print one line when it is right, raise CheckFailed with a diagnosis if not.

    Parameters
    ----------
    puzzle : str
        The puzzle's id, as in `check("tiled-matmul", tiled_matmul)`.
    answer : object
        The learner's kernel, function or class, itself and not its name.
    """
    if answer is NOTHING:
        raise CheckFailed(_incomplete(puzzle))
    from wia_lab import puzzles  # the simulator comes with it: only when something is judged

    puzzles.check(puzzle, answer)
    if (folder := learner_folder()) is not None:
        state = progress.load(folder)
        state.solve(find(puzzle).id)
        progress.remember(folder, state)


def _incomplete(given: object) -> str:
    """What to write where check got one thing alone."""
    if not isinstance(given, str):
        return 'check takes the puzzle\'s name first, as in check("first-kernel", vector_add)'
    record = find(given)
    return f'check takes your answer too: write check("{record.id}", {record.function})'


def hint(puzzle: str, number: int | None = None) -> None:
    """Print a hint of a puzzle: number 1, 2 or 3, or the next that was not shown yet."""
    from wia_lab import puzzles  # as above

    if (folder := learner_folder()) is not None:
        print(seen_hint(puzzle, folder, number))
    else:
        puzzles.hint(puzzle, number)


def learner_folder() -> Path | None:
    """Return the current folder if it is a learner's, else None."""
    folder = Path.cwd()
    return folder if (folder / progress.STATE_FILE).exists() else None


def seen_hint(puzzle: str, folder: Path, number: int | None = None) -> str:
    """Return a hint, the next one unless `number` says which, and remember it in `folder`.

    After the last hint the last is given again, which it says.
    """
    from wia_lab.puzzles.checking import hint_text, next_hint

    record = find(puzzle)
    state = progress.load(folder)
    seen = state.hints.get(record.id, 0)
    text, number = (
        next_hint(record, seen) if number is None else (hint_text(record, number), number)
    )
    state.hints[record.id] = max(seen, number)
    progress.remember(folder, state)
    return text
