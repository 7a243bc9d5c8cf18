"""06 tiled-matmul: c = a · b, each block fetching tiles that its threads share.

Shapes: a is (M, K), b (K, N), c (M, N), float32, C order. A block of 16 × 16 threads computes one
tile of c; the grid covers c, x along columns. In the source documents it is the example of the
memory hierarchy (chapter 4, 4.1), where the trip count N / 16 loses ragged edges.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from wia_lab.puzzles.inputs import cover, distinct, poisoned
from wia_lab.puzzles.puzzle import Case, Gate, Puzzle, Run, Suspect

if TYPE_CHECKING:
    from collections.abc import Callable

TILE = 16
BLOCK = (TILE, TILE)
WARPS = TILE * TILE // 32  # a block
SECTORS_A_TILE = TILE * TILE * 4 // 32

Product = dict[str, np.ndarray]


def cases(rng: np.random.Generator) -> list[Case]:
    """Whole tiles, ragged tiles of primes, thin matrices, one element.

    Every pair of M, N, K has a case in which each is the greater: a loop that counts tiles along
    the wrong one then runs too few times somewhere.
    """
    shapes = ((48, 64, 80), (37, 53, 41), (61, 7, 29), (1, 67, 1), (1, 1, 1))
    return [_case(*shape, rng) for shape in shapes]


def _case(m: int, k: int, n: int, rng: np.random.Generator) -> Case:
    whole = all(length % TILE == 0 for length in (m, k, n))
    return Case(
        name=f"a {m}×{k}, b {k}×{n}",
        arguments={
            "a": distinct((m, k), rng),
            "b": distinct((k, n), rng),
            "c": poisoned((m, n)),
        },
        outputs=("c",),
        grid=cover((n, m), BLOCK),
        block=BLOCK,
        measured=whole,
    )


def reference(a: np.ndarray, b: np.ndarray) -> Product:
    """The product in float64."""
    return {"c": _wide(a) @ _wide(b)}


def rounding(a: np.ndarray, b: np.ndarray) -> Product:
    """Bound on the rounding of K products and sums in float32, in whatever order.

    (K + 1) · 2**-24 · |a| |b| (Higham, Accuracy and Stability of Numerical Algorithms, 3.1).
    """
    return {"c": (a.shape[1] + 1) * 2.0**-24 * (np.abs(_wide(a)) @ np.abs(_wide(b)))}


def _wide(array: np.ndarray) -> np.ndarray:
    return array.astype(np.float64)


# What is counted on whole tiles: a warp is two rows of 16 threads.


def _warps(case: Case) -> int:
    return case.grid[0] * case.grid[1] * WARPS


def _depth(case: Case) -> int:
    return int(case.arguments["a"].shape[1])


def naive_sectors(case: Case) -> int:
    """For each k a warp asks for two elements of a, and 16 neighbours of b: 2 + 2 sectors."""
    return _warps(case) * _depth(case) * 4


def ideal_sectors(case: Case) -> int:
    """Each block fetches each of its tiles of a and b once."""
    return case.grid[0] * case.grid[1] * (_depth(case) // TILE) * 2 * SECTORS_A_TILE


def _load_sectors(run: Run) -> int:
    return int(run.counters.global_load_sectors)


def _shared_reads(run: Run) -> int:
    return int(run.counters.shared_load_wavefronts)


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


def _clamped(a: np.ndarray, b: np.ndarray) -> Product:
    more = -a.shape[1] % TILE
    return {"c": _wide(a) @ _wide(b) + more * np.outer(_wide(a[:, -1]), _wide(b[-1]))}


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
        "only the first tile of each row and column is used: loop over all tiles along K.",
        _some_k(lambda k: k < TILE),
    ),
    Suspect(
        "last-tile-only",
        "only the last tile counts: the sum is set back to 0 inside the loop over tiles.",
        _last_tile,
    ),
    Suspect(
        "last-product-only",
        "only the last product counts: add to the sum (+=) instead of replacing it (=).",
        _last_product,
    ),
    Suspect(
        "tiles-counted-along-rows",
        "the loop counts tiles along the rows of c: the tiles to add up lie along K, which is "
        "a.shape[1].",
        _tiles_of(lambda a, _: a.shape[0]),
    ),
    Suspect(
        "tiles-counted-along-columns",
        "the loop counts tiles along the columns of c, as cuda.gridDim.x does: the tiles to add "
        "up lie along K, which is a.shape[1].",
        _tiles_of(lambda _, b: b.shape[1]),
    ),
    Suspect(
        "same-tile-again",
        "every round loads the first tile again: the k of the tile's corner, tile * TILE, is "
        "missing from an index.",
        _same_tile_again,
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
        "both-tiles-transposed",
        "both tiles are read (or filled) with their two indices swapped: the first index is the "
        "row, threadIdx.y when filling.",
        _by_tiles(lambda a, b: a.T @ b.T),
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

HINTS = (
    """\
Work out one tile of c by hand. Its 256 threads need 16 whole rows of a and 16 whole columns of b.
They go along K together, 16 at a time: in each round every thread fetches one element of a and one
of b, for all to use. Where a thread's element lies outside the matrix, which value would change
nothing in the sum?""",
    """\
A round is: load, wait, multiply, wait. In round t, thread (x, y) of the block puts

    a[row, t * TILE + x]       into tile_a[y, x]
    b[t * TILE + y, column]    into tile_b[y, x]     or 0 where that lies outside.

Then cuda.syncthreads(), TILE products, and cuda.syncthreads() again: the fastest thread would
otherwise overwrite a tile that others still read. All threads go all rounds, also those outside
c.""",
    """\
The loop, with two lines left to write:

    total = float32(0)
    for t in range((a.shape[1] + TILE - 1) // TILE):
        ka, kb = t * TILE + x, t * TILE + y
        tile_a[y, x] = a[row, ka] if row < a.shape[0] and ka < a.shape[1] else float32(0)
        tile_b[y, x] = ...    # the same for b, with kb and column
        cuda.syncthreads()
        for k in range(TILE):
            total += ...      # row y of tile_a, column x of tile_b
        cuda.syncthreads()

After it, c[row, column] = total, if row and column lie inside c.""",
)

PUZZLE = Puzzle(
    number=6,
    id="tiled-matmul",
    title="Tiled matrix product",
    teaches="threads that need the same numbers should fetch them once and share them",
    function="tiled_matmul",
    signature=("a", "b", "c"),
    cases=cases,
    reference=reference,
    rounding=rounding,
    suspects=SUSPECTS,
    gates=(
        Gate(
            name="global load sectors",
            measure=_load_sectors,
            naive=naive_sectors,
            at_most=lambda case: 1.1 * ideal_sectors(case),
            advice=(
                "Global memory is asked for more than each tile once: let every thread load one "
                "element of each tile, neighbours in x loading neighbours in a row."
            ),
        ),
        Gate(
            name="shared load wavefronts",
            measure=_shared_reads,
            naive=lambda _: 0,
            at_least=lambda case: _warps(case) * _depth(case),
            advice="Read the products' factors from the tiles in shared memory.",
        ),
    ),
    hints=HINTS,
)
