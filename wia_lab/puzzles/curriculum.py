"""The order of the puzzles, and how one is found by its id."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from wia_lab.errors import WiaLabError
from wia_lab.puzzles import async_convolution, start, tiled_matmul

if TYPE_CHECKING:
    from wia_lab.puzzles.puzzle import Puzzle

PUZZLES: dict[str, Puzzle] = {
    module.PUZZLE.id: module.PUZZLE for module in (start, tiled_matmul, async_convolution)
}
"""Every puzzle by its id, in the order in which a learner meets them."""


class UnknownPuzzleError(WiaLabError):
    """There is no puzzle of that name."""

    exit_code = 2


def find(name: str) -> Puzzle:
    """The puzzle whose id, notebook or number is `name`: "tiled-matmul", "06-tiled-matmul", "6".

    Raises
    ------
    UnknownPuzzleError
        When there is none; the message names the nearest.
    """
    for puzzle in PUZZLES.values():
        if name in {puzzle.id, puzzle.stem, f"{puzzle.stem}.ipynb", puzzle.function}:
            return puzzle
        if name.isdecimal() and int(name) == puzzle.number:
            return puzzle
    near = difflib.get_close_matches(name, PUZZLES, n=1)
    way_out = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(PUZZLES)}"
    raise UnknownPuzzleError(f"there is no puzzle {name!r}: {way_out}")
