"""Places in words: where the wrong cells of an output lie, and which thread it was."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from wia_lab.puzzles.puzzle import Dim

NEAR = 2  # cells from a tile's edge that still count as at the edge
MOST_RUNS = 3  # of neighbouring elements that a phrase lists


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


def places(mask: np.ndarray, shape: tuple[int, ...], needed: np.ndarray) -> str:
    """`elements 256 to 259`, `rows 11 to 31`: the true cells of a mask, at least one.

    Whole rows and columns are named as such; what is strewn is counted, and the first is named.

    Parameters
    ----------
    mask, shape
        The cells (flat, C order), and the array's shape.
    needed
        The cells that matter (flat): a row is whole where all these are.
    """
    if len(shape) == 2:
        counts: Any = needed.reshape(shape)
        table: Any = mask.reshape(shape)
        table = table[: _end(counts.any(axis=1)), : _end(counts.any(axis=0))]
        rows, columns = table.any(axis=1), table.any(axis=0)
        if np.array_equal(table, rows[:, None] & columns[None, :]):
            parts = runs(rows, "row"), "" if columns.all() else runs(columns, "column")
            return " of ".join(part for part in parts if part)
        whole = table.all(axis=1), table[~table.all(axis=1)].all(axis=0)
        if np.array_equal(table, whole[0][:, None] | whole[1][None, :]):
            return f"{runs(whole[0], 'row')} and {runs(whole[1], 'column')}"
    elif len(shape) == 1 and _count_runs(mask) <= MOST_RUNS:
        return runs(mask, "element")
    first = np.unravel_index(int(np.argmax(mask)), shape)
    count = int(mask.sum())
    return f"{count:,} elements, the first at [{', '.join(map(str, first))}]"


def _end(mask: np.ndarray) -> int:
    """One past the last true place."""
    return int(np.flatnonzero(mask)[-1]) + 1


def _count_runs(mask: np.ndarray) -> int:
    return int(np.count_nonzero(np.diff(np.concatenate(([0], mask.astype(np.int8)))) == 1))


def runs(mask: np.ndarray, name: str) -> str:
    """`rows 0 to 3 and 7`: the true places of a mask, at least one."""
    return f"{name}{'s' if mask.sum() > 1 else ''} {numbers(mask)}"


def numbers(mask: np.ndarray) -> str:
    """`0 to 3 and 7`: the true places of a mask, at least one; the first few of many."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], mask.astype(np.int8), [0]))))
    found = [
        (int(start), int(stop) - 1) for start, stop in zip(edges[::2], edges[1::2], strict=True)
    ]
    texts = [str(first) if first == last else f"{first} to {last}" for first, last in found]
    if len(texts) <= MOST_RUNS:
        return " and ".join(texts)
    left = int(mask.sum()) - sum(last - first + 1 for first, last in found[:MOST_RUNS])
    return f"{', '.join(texts[:MOST_RUNS])} and {left:,} more"
