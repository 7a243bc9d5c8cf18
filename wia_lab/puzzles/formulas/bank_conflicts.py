"""What a transpose is, and what known mistakes make of one that goes through 32 × 32 tiles.

Shapes: a is (M, N), out (N, M). Nothing is computed, so nothing is rounded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from wia_lab.puzzles.puzzle import Suspect

if TYPE_CHECKING:
    from collections.abc import Callable

TILE = 32
ROWS = 8  # rows of threads in a block

Result = dict[str, np.ndarray]


def reference(a: np.ndarray) -> Result:
    """The transpose in float64."""
    return {"out": a.astype(np.float64).T}


def rounding(a: np.ndarray) -> Result:
    """None: each element is only moved."""
    return {"out": np.zeros(a.shape[::-1])}


def _places(a: np.ndarray) -> tuple[np.ndarray, ...]:
    """Corner of the tile and place in it of each element of out: y0, x0, y, x."""
    rows, columns = np.arange(a.shape[1])[:, None], np.arange(a.shape[0])[None, :]
    return rows // TILE * TILE, columns // TILE * TILE, rows % TILE, columns % TILE


def _taken(where: Callable[..., tuple[np.ndarray, np.ndarray]]) -> Callable[..., Result]:
    """Formula that takes each element of out from another place of a, NaN where a has none."""

    def formula(a: np.ndarray) -> Result:
        row, column = np.broadcast_arrays(*where(*_places(a)))
        inside = (row < a.shape[0]) & (column < a.shape[1])
        found = np.full(a.shape[::-1], np.nan)
        found[inside] = a[row[inside], column[inside]]
        return {"out": found}

    return formula


def _written(keep: Callable[..., np.ndarray]) -> Callable[..., Result]:
    """Formula that writes where `keep` is true of row, column and shape of out, and only there."""

    def formula(a: np.ndarray) -> Result:
        right = a.astype(np.float64).T
        return {"out": np.where(keep(*np.indices(right.shape), *right.shape), right, np.nan)}

    return formula


def _tiles(length: int) -> int:
    return -(-length // TILE)


SUSPECTS = (
    Suspect(
        "not-transposed",
        "this is a copy: out[i, j] is a[j, i], so both the tiles' places and the elements inside "
        "each tile change rows for columns.",
        _taken(lambda y0, x0, y, x: (y0 + y, x0 + x)),
    ),
    Suspect(
        "tile-not-moved",
        "each tile is turned round but stays where it was: the tile of out at row y0, column x0 "
        "comes from the tile of a at row x0, column y0.",
        _taken(lambda y0, x0, y, x: (y0 + x, x0 + y)),
    ),
    Suspect(
        "inside-not-turned",
        "the tiles change places, but inside each the elements are not turned round: what was "
        "written to the tile along rows is read from it along columns.",
        _taken(lambda y0, x0, y, x: (x0 + y, y0 + x)),
    ),
    Suspect(
        "eight-rows-of-32",
        "only the first 8 rows of each tile are written to out: a block has 8 rows of threads for "
        "32 rows of the tile, so each thread moves 4 elements.",
        _written(lambda row, *_: row % TILE < ROWS),
    ),
    Suspect(
        "rows-counted-by-threads",
        "cuda.grid(2) counts 8 rows a block, as many as it has rows of threads, but its tile has "
        "32: the tile of out begins at row blockIdx.y * 32, and each thread moves 4 elements.",
        _written(lambda row, _column, n, _m: row < ROWS * _tiles(n)),
    ),
    Suspect(
        "blocks-counted-over-a",
        "the blocks are laid over a, but the grid covers out: blockIdx.x runs along the columns of "
        "out, and those are the rows of a.",
        _written(lambda row, column, n, m: (row < TILE * _tiles(m)) & (column < TILE * _tiles(n))),
    ),
)
