"""What a product of matrices is, how far rounding may take it, and what known mistakes compute.

Shapes: a is (M, K), b (K, N), c (M, N); tiles are 16 × 16, as is the block. The references are
float64.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from wia_lab.puzzles.puzzle import Suspect, Terms

if TYPE_CHECKING:
    from collections.abc import Callable

TILE = 16

Product = dict[str, np.ndarray]


def reference(a: np.ndarray, b: np.ndarray) -> Product:
    """The product in float64."""
    return {"c": _wide(a) @ _wide(b)}


def rounding(a: np.ndarray, b: np.ndarray) -> Product:
    """Bound on the rounding of K products and sums in float32, in whatever order.

    (K + 1) · 2**-24 · |a| |b| (Higham, Accuracy and Stability of Numerical Algorithms, 3.1).
    """
    return {"c": (a.shape[1] + 1) * 2.0**-24 * (np.abs(_wide(a)) @ np.abs(_wide(b)))}


def terms(a: np.ndarray, b: np.ndarray) -> Terms:
    """The product of each k."""
    return Terms(("k",), np.einsum("mk,kn->kmn", _wide(a), _wide(b)))


def _wide(array: np.ndarray) -> np.ndarray:
    return array.astype(np.float64)


# What known mistakes compute. `keep` and the like choose the k that a mistaken loop adds up.


def _some_k(keep: Callable[[np.ndarray], np.ndarray]) -> Callable[..., Product]:
    """Formula of a loop that adds up only the k for which `keep` is true."""

    def formula(a: np.ndarray, b: np.ndarray) -> Product:
        chosen = keep(np.arange(a.shape[1]))
        return {"c": _wide(a[:, chosen]) @ _wide(b[chosen])}

    return formula


def _whole_tiles(a: np.ndarray, b: np.ndarray) -> Product:
    k = a.shape[1] // TILE * TILE
    return {"c": _wide(a[:, :k]) @ _wide(b[:k])}


def _last_tile(a: np.ndarray, b: np.ndarray) -> Product:
    start = (a.shape[1] - 1) // TILE * TILE
    return {"c": _wide(a[:, start:]) @ _wide(b[start:])}


def _last_product(a: np.ndarray, b: np.ndarray) -> Product:
    # The tile's last k; beyond the edge both tiles hold 0
    if a.shape[1] % TILE:
        return {"c": np.zeros((a.shape[0], b.shape[1]))}
    return {"c": np.outer(_wide(a[:, -1]), _wide(b[-1]))}


def _tiles_of(extent: Callable[[np.ndarray, np.ndarray], int]) -> Callable[..., Product]:
    """Formula of a loop that counts tiles along the wrong extent."""

    def formula(a: np.ndarray, b: np.ndarray) -> Product:
        k = min(a.shape[1], -(-extent(a, b) // TILE) * TILE)
        return {"c": _wide(a[:, :k]) @ _wide(b[:k])}

    return formula


def _padded(array: np.ndarray) -> np.ndarray:
    """The array in whole tiles, zeros added below and to the right."""
    rows, columns = (-length % TILE for length in array.shape)
    return np.pad(_wide(array), ((0, rows), (0, columns)))


def _by_tiles(product: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Callable[..., Product]:
    """Formula that multiplies each pair of tiles by `product` and adds up."""

    def formula(a: np.ndarray, b: np.ndarray) -> Product:
        wide_a, wide_b = _padded(a), _padded(b)
        c = np.zeros((wide_a.shape[0], wide_b.shape[1]))
        for y in range(0, c.shape[0], TILE):
            for x in range(0, c.shape[1], TILE):
                for k in range(0, wide_a.shape[1], TILE):
                    pair = wide_a[y : y + TILE, k : k + TILE], wide_b[k : k + TILE, x : x + TILE]
                    c[y : y + TILE, x : x + TILE] += product(*pair)
        return {"c": c[: a.shape[0], : b.shape[1]]}

    return formula


def _same_tile_again(a: np.ndarray, b: np.ndarray) -> Product:
    rounds = -(-a.shape[1] // TILE)
    return {"c": rounds * (_wide(a[:, :TILE]) @ _wide(b[:TILE]))}


def _corner_not_scaled(a: np.ndarray, b: np.ndarray) -> Product:
    starts = range(-(-a.shape[1] // TILE))
    tiles = [_wide(a[:, t : t + TILE]) @ _wide(b[t : t + TILE]) for t in starts]
    return {"c": np.sum(tiles, axis=0)}


def _clamped(a: np.ndarray, b: np.ndarray) -> Product:
    more = -a.shape[1] % TILE
    return {"c": _wide(a) @ _wide(b) + more * np.outer(_wide(a[:, -1]), _wide(b[-1]))}


def _tile_too_few(a: np.ndarray, b: np.ndarray) -> Product:
    k = (a.shape[1] - 1) // TILE * TILE
    return {"c": _wide(a[:, :k]) @ _wide(b[:k])}


def _first_tile_of(*, left: bool) -> Callable[..., Product]:
    """Formula in which one matrix's tile moves along K and the other's (a's if `left`) does not."""

    def formula(a: np.ndarray, b: np.ndarray) -> Product:
        c = np.zeros((a.shape[0], b.shape[1]))
        for k in range(0, a.shape[1], TILE):
            rest = min(TILE, a.shape[1] - k)
            own, other = slice(k, k + rest), slice(0, rest)
            c += _wide(a[:, other if left else own]) @ _wide(b[own if left else other])
        return {"c": c}

    return formula


def _place_in_block(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.arange(a.shape[0]) % TILE, np.arange(b.shape[1]) % TILE


def _row_in_block(a: np.ndarray, b: np.ndarray) -> Product:
    return {"c": _wide(a[_place_in_block(a, b)[0]]) @ _wide(b)}


def _column_in_block(a: np.ndarray, b: np.ndarray) -> Product:
    return {"c": _wide(a) @ _wide(b[:, _place_in_block(a, b)[1]])}


def _other_row_of_tile(a: np.ndarray, b: np.ndarray) -> Product:
    """The sum reads row threadIdx.x of the tile of a."""
    y, x = _place_in_block(a, b)
    full = _padded(a) @ _padded(b)
    rows, columns = np.arange(a.shape[0]), np.arange(b.shape[1])
    return {"c": full[(rows - y)[:, None] + x[None, :], columns[None, :]]}


def _other_column_of_tile(a: np.ndarray, b: np.ndarray) -> Product:
    """The sum reads column threadIdx.y of the tile of b."""
    y, x = _place_in_block(a, b)
    full = _padded(a) @ _padded(b)
    rows, columns = np.arange(a.shape[0]), np.arange(b.shape[1])
    return {"c": full[rows[:, None], (columns - x)[None, :] + y[:, None]]}


def _added(a: np.ndarray, b: np.ndarray) -> Product:
    return {"c": _wide(a).sum(axis=1)[:, None] + _wide(b).sum(axis=0)[None, :]}


def _swapped_grid(a: np.ndarray, b: np.ndarray) -> Product:
    """x taken for the row: the grid then covers as many rows as c has columns, and reversely."""
    c = _wide(a) @ _wide(b)
    c[-(-c.shape[1] // TILE) * TILE :] = np.nan
    c[:, -(-a.shape[0] // TILE) * TILE :] = np.nan
    return {"c": c}


SUSPECTS = (
    Suspect(
        "swapped-x-and-y",
        "x and y are swapped: cuda.grid(2) gives x first, and x runs along the columns of c, y "
        "along its rows.",
        _swapped_grid,
    ),
    Suspect(
        "whole-tiles-only",
        "the loop over tiles runs K // TILE times and loses the last, partial tile: round up, "
        "(K + TILE - 1) // TILE.",
        _whole_tiles,
    ),
    Suspect(
        "first-tile-only",
        "only the first tile of each row and column is used: round t takes the tiles at "
        "k = t * TILE, for t = 0, 1, 2, … until K is reached.",
        _some_k(lambda k: k < TILE),
    ),
    Suspect(
        "last-tile-only",
        "only the last tile counts: the sum is set back to 0 in each round, or its products stand "
        "behind the loop over tiles instead of inside.",
        _last_tile,
    ),
    Suspect(
        "last-product-only",
        "only the last product counts: add to the sum (+=) instead of replacing it (=).",
        _last_product,
    ),
    Suspect(
        "tiles-counted-along-rows",
        "the sum runs over the number of rows of c: rounds and guards along the sum go by K, which "
        "is a.shape[1].",
        _tiles_of(lambda a, _: a.shape[0]),
    ),
    Suspect(
        "tiles-counted-along-columns",
        "the sum runs over the number of columns of c, as cuda.gridDim.x counts them: rounds and "
        "guards along the sum go by K, which is a.shape[1].",
        _tiles_of(lambda _, b: b.shape[1]),
    ),
    Suspect(
        "same-tile-again",
        "every round loads the first tile again: the k of the tile's corner, tile * TILE, is "
        "missing from an index.",
        _same_tile_again,
    ),
    Suspect(
        "one-tile-too-few",
        "the loop runs one round too few: (K + TILE - 1) // TILE tiles cover K.",
        _tile_too_few,
    ),
    Suspect(
        "tile-of-a-stays",
        "the tile of a stays at the first in every round: its column moves on with the round.",
        _first_tile_of(left=True),
    ),
    Suspect(
        "tile-of-b-stays",
        "the tile of b stays at the first in every round: its row moves on with the round.",
        _first_tile_of(left=False),
    ),
    Suspect(
        "row-in-block",
        "a is read at the row within the block, so all blocks use its first rows: the row in the "
        "whole grid is y of cuda.grid(2).",
        _row_in_block,
    ),
    Suspect(
        "column-in-block",
        "b is read at the column within the block, so all blocks use its first columns: the "
        "column in the whole grid is x of cuda.grid(2).",
        _column_in_block,
    ),
    Suspect(
        "other-row-of-tile",
        "the sum reads row threadIdx.x of the tile of a: this thread's row of it is threadIdx.y.",
        _other_row_of_tile,
    ),
    Suspect(
        "other-column-of-tile",
        "the sum reads column threadIdx.y of the tile of b: this thread's column of it is "
        "threadIdx.x.",
        _other_column_of_tile,
    ),
    Suspect(
        "added-instead",
        "the elements are added to each other instead of multiplied.",
        _added,
    ),
    Suspect(
        "corner-not-scaled",
        "each round moves on by one element instead of one tile: round t begins at k = t * TILE.",
        _corner_not_scaled,
    ),
    Suspect(
        "tile-of-b-transposed",
        "the tile of b is read (or filled) with its two indices swapped: the sum needs row k, "
        "column threadIdx.x of it.",
        _by_tiles(lambda a, b: a @ b.T),
    ),
    Suspect(
        "tile-of-a-transposed",
        "the tile of a is read (or filled) with its two indices swapped: the sum needs row "
        "threadIdx.y, column k of it.",
        _by_tiles(lambda a, b: a.T @ b),
    ),
    Suspect(
        "tiles-swapped",
        "the product walks down a column of the tile of a and along a row of the tile of b: it is "
        "row y of a's tile times column x of b's.",
        _by_tiles(lambda a, b: b @ a),
    ),
    Suspect(
        "both-tiles-transposed",
        "both tiles are read (or filled) with their two indices swapped: the first index is the "
        "row, threadIdx.y when filling.",
        _by_tiles(lambda a, b: a.T @ b.T),
    ),
    Suspect(
        "b-counted-along-x",
        "the tile of b is filled from row k + threadIdx.x of b, as if it were a's column: a thread "
        "that fills row y of the tile takes row k + y of b.",
        _by_tiles(lambda a, b: a @ np.broadcast_to(np.diag(b), b.shape)),
    ),
    Suspect(
        "a-counted-along-y",
        "the tile of a is filled from column k + threadIdx.y of a, as if it were b's row: a thread "
        "that fills column x of the tile takes column k + x of a.",
        _by_tiles(lambda a, b: np.broadcast_to(np.diag(a)[:, None], a.shape) @ b),
    ),
    Suspect(
        "edge-repeated",
        "beyond the edge the last row and column are repeated: a cell outside the matrix must "
        "put 0 into the tile, so that it adds nothing.",
        _clamped,
    ),
    Suspect(
        "last-k-missing",
        "the last k of each tile is missing: range(TILE) already ends at TILE - 1.",
        _some_k(lambda k: k % TILE != TILE - 1),
    ),
    Suspect(
        "first-k-missing",
        "the first k of each tile is missing: k starts at 0.",
        _some_k(lambda k: k % TILE != 0),
    ),
)
