"""Places in words: where the wrong cells of an output lie, and which thread it was."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from wia_lab.puzzles.puzzle import Dim

NEAR = 2  # cells from a tile's edge that still count as at the edge


def thread_name(number: int, grid: Dim, block: Dim) -> str:
    """`thread (5, 0) of block (2, 1)` for a value of `Writers.thread`."""
    place, thread = divmod(number, int(np.prod(block)))
    return f"thread {_coordinates(thread, block)} of block {_coordinates(place, grid)}"


def _coordinates(number: int, extent: Dim) -> str:
    """A number, counted along x first, as x or (x, y, ...)."""
    if len(extent) == 1:
        return str(number)
    places = np.unravel_index(number, extent[::-1])[::-1]
    return f"({', '.join(map(str, places))})"


def whereabouts(cells: np.ndarray, shape: tuple[int, ...], block: Dim) -> str | None:
    """A phrase that holds for all of `cells` (flat, C order) but not for the whole output.

    Parameters
    ----------
    cells
        The wrong cells, at least one.
    shape
        Of the output.
    block
        Threads a block, x first: the width of a tile along each axis.
    """
    if cells.size == int(np.prod(shape)):
        return None
    names = ("column", "row") if len(shape) > 1 else ("cell",)
    for axis, (name, width) in enumerate(zip(names, block, strict=False)):
        places = np.unravel_index(cells, shape)[len(shape) - 1 - axis]
        phrase = _along(places, shape[len(shape) - 1 - axis], width, name)
        if phrase is not None:
            return phrase
    return None


def _along(places: np.ndarray, length: int, width: int, name: str) -> str | None:
    """The phrase for places along one axis of `length` cells in tiles of `width`."""
    within, ragged = places % width, length // width * width
    true = {
        f"in {name} 0": length > 1 and (places == 0).all(),
        f"in the last {name}": length > 1 and (places == length - 1).all(),
        f"in the last tile, which is not full ({name}s {ragged} to {length - 1})": (
            0 < ragged < length and (places >= ragged).all()
        ),
        f"in the first {name} of their tiles": length > width and (within == 0).all(),
        f"in the last {name} of their tiles": length > width and (within == width - 1).all(),
        f"within {NEAR} {name}s of a tile's edge": (
            width > 4 * NEAR and ((within < NEAR) | (within >= width - NEAR)).all()
        ),
        f"from {name} {places.min()} on": (places >= width).all(),
    }
    return next((phrase for phrase, holds in true.items() if holds), None)
