"""The puzzles, imported when one is asked for: the simulator comes with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wia_lab.puzzles.host_puzzle import HostPuzzle
    from wia_lab.puzzles.puzzle import Puzzle

    AnyPuzzle = Puzzle | HostPuzzle


def all_puzzles() -> list[AnyPuzzle]:
    """Return every puzzle in the curriculum's order."""
    from wia_lab.puzzles.curriculum import every

    return every()


def find(name: str) -> AnyPuzzle:
    """Return the puzzle named by its id, its number or its notebook.

    Raises
    ------
    UnknownPuzzleError
        With the nearest id.
    """
    from wia_lab.puzzles import curriculum

    return curriculum.find(name)


def notebook_name(puzzle: AnyPuzzle) -> str:
    """Return the file name of a puzzle's notebook."""
    return f"{puzzle.stem}.ipynb"
