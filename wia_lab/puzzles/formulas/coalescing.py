"""What a copy of a matrix is, and what known mistakes copy.

Shapes: a and out are (M, N); a block of 16 × 16 threads copies a tile, the grid covers out, x along
columns. Nothing is computed, so nothing is rounded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from wia_lab.puzzles.puzzle import Suspect

if TYPE_CHECKING:
    from collections.abc import Callable

SIDE = 16

Result = dict[str, np.ndarray]


def reference(a: np.ndarray) -> Result:
    """The same numbers, in float64."""
    return {"out": a.astype(np.float64)}


def rounding(a: np.ndarray) -> Result:
    """None: each element is only moved."""
    return {"out": np.zeros(a.shape)}


def _written(keep: Callable[..., np.ndarray]) -> Callable[..., Result]:
    """Formula that writes where `keep` is true of row, column, M and N, and nowhere else."""

    def formula(a: np.ndarray) -> Result:
        rows, columns = np.indices(a.shape)
        return {"out": np.where(keep(rows, columns, *a.shape), a.astype(np.float64), np.nan)}

    return formula


def _covered(length: int) -> int:
    return -(-length // SIDE) * SIDE


def _apart(down: int, across: int) -> Callable[..., Result]:
    """Formula in which neighbouring blocks begin so many rows, or columns, apart."""

    def reached(element: np.ndarray, length: int, step: int) -> np.ndarray:
        first = step * np.arange(-(-length // SIDE))[:, None]
        return np.isin(element, first + np.arange(SIDE))

    return _written(lambda row, column, m, n: reached(row, m, down) & reached(column, n, across))


_WIDTH = (
    "blocks are counted in steps of {0}, but a block has 16 × 16 threads: before block k come "
    "k * 16 columns (or rows), as cuda.grid(2) counts them."
)


def _transposed(a: np.ndarray) -> Result:
    found = np.full(a.shape, np.nan)
    both = min(a.shape)
    found[:both, :both] = a[:both, :both].T
    return {"out": found}


def _mirrored(a: np.ndarray) -> Result:
    """Element (y, x) of each whole tile is taken from (x, y) of the same tile."""
    found = np.full(a.shape, np.nan)
    rows, columns = np.broadcast_arrays(*np.ogrid[: a.shape[0], : a.shape[1]])
    y0, x0 = rows // SIDE * SIDE, columns // SIDE * SIDE
    from_row, from_column = y0 + columns - x0, x0 + rows - y0
    inside = (from_row < a.shape[0]) & (from_column < a.shape[1])
    found[inside] = a[from_row[inside], from_column[inside]]
    return {"out": found}


SUSPECTS = (
    Suspect(
        "swapped-x-and-y",
        "x and y of the grid are swapped: cuda.grid(2) gives x first, and x runs along the "
        "columns, y along the rows.",
        _written(lambda row, column, m, n: (row < _covered(n)) & (column < _covered(m))),
    ),
    Suspect(
        "first-block-only",
        "all blocks copy the same 16 × 16 elements: the place in the grid is wanted, which "
        "cuda.grid(2) gives, and not the place in the block.",
        _written(lambda row, column, m, n: (row < SIDE) & (column < SIDE)),  # noqa: ARG005
    ),
    Suspect(
        "first-rows-only",
        "all blocks copy rows 0 to 15: the row is counted in the grid, y of cuda.grid(2), and not "
        "in the block.",
        _apart(0, SIDE),
    ),
    Suspect(
        "first-columns-only",
        "all blocks copy columns 0 to 15: the column is counted in the grid, x of cuda.grid(2), "
        "and not in the block.",
        _apart(SIDE, 0),
    ),
    *(
        Suspect("other-block-size", _WIDTH.format(step), _apart(step, step))
        for step in (1, 8, 15, 32)
    ),
    Suspect(
        "guards-swapped",
        "the guard compares the row with the number of columns, and the column with the number "
        "of rows: shape[0] is the number of rows.",
        _written(lambda row, column, m, n: (row < n) & (column < m)),
    ),
    Suspect(
        "last-row-and-column",
        "the guard leaves out the last row and the last column: row < out.shape[0] already ends "
        "at the last one.",
        _written(lambda row, column, m, n: (row < m - 1) & (column < n - 1)),
    ),
    Suspect(
        "transposed",
        "out[i, j] gets a[j, i]: a copy leaves every element where it was.",
        _transposed,
    ),
    Suspect(
        "mirrored-tiles",
        "each 16 × 16 tile is turned round: what is read at (x, y) of the block's tile must be "
        "written at (x, y) of it.",
        _mirrored,
    ),
)
