"""What known mistakes of a register-tiled product compute.

Shapes: a is (M, K), b (K, N), c (M, N); a block of 16 × 16 threads makes 64 × 64 of c, each thread
4 × 4 of it. A thread's four rows (and columns) may lie 16 apart or side by side: both are right,
so a mistake has a formula for each. The product itself, its rounding and the mistakes along K are
puzzle 06's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from wia_lab.puzzles.formulas import tiled_matmul
from wia_lab.puzzles.puzzle import Suspect

if TYPE_CHECKING:
    from collections.abc import Callable

TILE = 16
PART = 4  # outputs a thread, each way
SIDE = TILE * PART

Product = dict[str, np.ndarray]
Places = np.ndarray
"""For each row (or column) of the output, the one that is used in its place."""


def _apart(first: Places, number: Places) -> Places:
    """Row of the block's tile that a thread calls its `number`: 16 apart."""
    return first + TILE * number


def _beside(first: Places, number: Places) -> Places:
    """Row of the block's tile that a thread calls its `number`: side by side."""
    return PART * first + number


def _split(length: int, *, apart: bool) -> tuple[Places, Places, Places]:
    """Start of the block's tile, thread and number of each of `length` rows, padded to tiles."""
    places = np.arange(-(-length // SIDE) * SIDE)
    start, local = places // SIDE * SIDE, places % SIDE
    if apart:
        return start, local % TILE, local // TILE
    return start, local // PART, local % PART


def _padded(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The product, zeros added to whole 64 × 64 tiles."""
    c = a.astype(np.float64) @ b.astype(np.float64)
    return np.pad(c, [(0, -length % SIDE) for length in c.shape])


def _moved(
    rows: Callable[[int], Places] | None, columns: Callable[[int], Places] | None
) -> Callable[..., Product]:
    """Formula that has the product of other rows, or columns, in its place."""

    def formula(a: np.ndarray, b: np.ndarray) -> Product:
        c = _padded(a, b)
        if rows is not None:
            c = c[rows(a.shape[0])]
        if columns is not None:
            c = c[:, columns(b.shape[1])]
        return {"c": c[: a.shape[0], : b.shape[1]]}

    return formula


def _first_again(*, apart: bool) -> Callable[[int], Places]:
    """Every row of a thread is its first."""

    def places(length: int) -> Places:
        start, thread, number = _split(length, apart=apart)
        return start + (_apart if apart else _beside)(thread, 0 * number)

    return places


def _read_beside_stored_apart(length: int) -> Places:
    """Rows are taken side by side from the tile, and stored 16 apart."""
    start, thread, number = _split(length, apart=True)
    return start + _beside(thread, number)


def _read_apart_stored_beside(length: int) -> Places:
    """Rows are taken 16 apart from the tile, and stored side by side."""
    start, thread, number = _split(length, apart=False)
    return start + _apart(thread, number)


def _numbers_swapped(*, apart: bool) -> Callable[..., Product]:
    """Formula in which sum (j, i) is stored where (i, j) belongs."""
    place = _apart if apart else _beside

    def formula(a: np.ndarray, b: np.ndarray) -> Product:
        c = _padded(a, b)
        y0, ty, i = (part[:, None] for part in _split(a.shape[0], apart=apart))
        x0, tx, j = (part[None, :] for part in _split(b.shape[1], apart=apart))
        swapped = c[y0 + place(ty, j), x0 + place(tx, i)]
        return {"c": swapped[: a.shape[0], : b.shape[1]]}

    return formula


def _written(keep: Callable[[Places], Places]) -> Callable[..., Product]:
    """Formula that never writes the outputs outside of `keep`, given a row's place."""

    def formula(a: np.ndarray, b: np.ndarray) -> Product:
        c = a.astype(np.float64) @ b.astype(np.float64)
        c[~keep(np.arange(c.shape[0]))] = np.nan
        c[:, ~keep(np.arange(c.shape[1]))] = np.nan
        return {"c": c}

    return formula


def _corners_16_apart(a: np.ndarray, b: np.ndarray) -> Product:
    """Blocks begin 16 rows and columns apart, so the last ones are reached by none."""
    c = a.astype(np.float64) @ b.astype(np.float64)
    c[(-(-c.shape[0] // SIDE) - 1) * TILE + SIDE :] = np.nan
    c[:, (-(-c.shape[1] // SIDE) - 1) * TILE + SIDE :] = np.nan
    return {"c": c}


def _corners_swapped(a: np.ndarray, b: np.ndarray) -> Product:
    """As many blocks down as belong across, and across as belong down."""
    c = a.astype(np.float64) @ b.astype(np.float64)
    rows, columns = (-(-length // SIDE) * SIDE for length in c.shape)
    c[columns:] = np.nan
    c[:, rows:] = np.nan
    return {"c": c}


def _first_k_again(a: np.ndarray, b: np.ndarray) -> Product:
    """All 16 products of a round are made from its first column of a and row of b."""
    firsts = np.arange(0, a.shape[1], TILE)
    return {"c": TILE * (a[:, firsts].astype(np.float64) @ b[firsts].astype(np.float64))}


_ALONG_K = (
    "whole-tiles-only",
    "first-tile-only",
    "last-tile-only",
    "last-product-only",
    "tiles-counted-along-rows",
    "tiles-counted-along-columns",
    "same-tile-again",
    "one-tile-too-few",
    "tile-of-a-stays",
    "tile-of-b-stays",
    "added-instead",
    "corner-not-scaled",
    "edge-repeated",
    "last-k-missing",
    "first-k-missing",
)

_FIRST_ROW = (
    "the four rows of a thread are all computed from one row of the tile of a: row i of its part "
    "is another row of the tile."
)
_FIRST_COLUMN = (
    "the four columns of a thread are all computed from one column of the tile of b: column j of "
    "its part is another column of the tile."
)
_SWAPPED = (
    "sum (i, j) is stored at (j, i) of the thread's part, or left and right are swapped in the "
    "product: i counts rows and takes from a, j counts columns and takes from b."
)
_TWO_WAYS = (
    "the {0} are taken from the tile one way and stored another: if a thread's {0} lie 16 apart, "
    "they do so where it reads and where it stores."
)

SUSPECTS = (
    *(suspect for suspect in tiled_matmul.SUSPECTS if suspect.name in _ALONG_K),
    Suspect(
        "first-of-each-part",
        "only the first of the 16 outputs of each thread is stored: all 4 × 4 sums go to c.",
        _written(lambda place: place % SIDE < TILE),
    ),
    Suspect(
        "first-of-each-part",
        "only the first of the 16 outputs of each thread is stored: all 4 × 4 sums go to c.",
        _written(lambda place: place % PART == 0),
    ),
    Suspect(
        "corners-16-apart",
        "the blocks' corners lie 16 apart, but a block makes 64 × 64 outputs: row and column of "
        "its corner are blockIdx.y * 64 and blockIdx.x * 64.",
        _corners_16_apart,
    ),
    Suspect(
        "corners-swapped",
        "the blocks' corners are swapped: blockIdx.x runs along the columns of c, blockIdx.y along "
        "its rows.",
        _corners_swapped,
    ),
    Suspect("same-row-again", _FIRST_ROW, _moved(_first_again(apart=True), None)),
    Suspect("same-row-again", _FIRST_ROW, _moved(_first_again(apart=False), None)),
    Suspect("same-column-again", _FIRST_COLUMN, _moved(None, _first_again(apart=True))),
    Suspect("same-column-again", _FIRST_COLUMN, _moved(None, _first_again(apart=False))),
    Suspect("part-transposed", _SWAPPED, _numbers_swapped(apart=True)),
    Suspect("part-transposed", _SWAPPED, _numbers_swapped(apart=False)),
    Suspect("rows-two-ways", _TWO_WAYS.format("rows"), _moved(_read_beside_stored_apart, None)),
    Suspect("rows-two-ways", _TWO_WAYS.format("rows"), _moved(_read_apart_stored_beside, None)),
    Suspect(
        "both-two-ways",
        _TWO_WAYS.format("rows and columns"),
        _moved(_read_beside_stored_apart, _read_beside_stored_apart),
    ),
    Suspect(
        "both-two-ways",
        _TWO_WAYS.format("rows and columns"),
        _moved(_read_apart_stored_beside, _read_apart_stored_beside),
    ),
    Suspect(
        "first-k-again",
        "the eight numbers in registers are those of the round's first k all the time: read them "
        "inside the loop over k, anew for each k.",
        _first_k_again,
    ),
    Suspect(
        "columns-two-ways", _TWO_WAYS.format("columns"), _moved(None, _read_beside_stored_apart)
    ),
    Suspect(
        "columns-two-ways", _TWO_WAYS.format("columns"), _moved(None, _read_apart_stored_beside)
    ),
)
