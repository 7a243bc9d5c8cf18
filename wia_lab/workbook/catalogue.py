"""The puzzles, imported when one is asked for: the simulator comes with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wia_lab.puzzles.puzzle import Puzzle


def all_puzzles() -> list[Puzzle]:
    """Return every puzzle in the curriculum's order."""
    from wia_lab.puzzles.curriculum import PUZZLES

    return list(PUZZLES.values())


def find(name: str) -> Puzzle:
    """Return the puzzle named by its id, its number or its notebook.

    Raises
    ------
    UnknownPuzzleError
        With the nearest id.
    """
    from wia_lab.puzzles import curriculum

    return curriculum.find(name)


def notebook_name(puzzle: Puzzle) -> str:
    """Return the file name of a puzzle's notebook."""
    return f"{puzzle.stem}.ipynb"
