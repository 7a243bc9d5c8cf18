"""06 tiled-matmul: c = a · b, each block fetching tiles that its threads share.

Shapes: a is (M, K), b (K, N), c (M, N), float32, C order. A block of 16 × 16 threads computes one
tile of c; the grid covers c, x along columns. In the source documents it is the example of the
memory hierarchy (chapter 4, 4.1), where the trip count N / 16 loses ragged edges.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wia_lab.puzzles.formulas.tiled_matmul import SUSPECTS, TILE, reference, rounding, terms
from wia_lab.puzzles.gates import most
from wia_lab.puzzles.inputs import cover, distinct, poisoned
from wia_lab.puzzles.puzzle import Case, Gate, Puzzle, Run

if TYPE_CHECKING:
    import numpy as np

BLOCK = (TILE, TILE)
WARPS = TILE * TILE // 32  # a block
SECTORS_A_TILE = TILE * TILE * 4 // 32


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
    unfilled="Elements outside of a and b count as 0, and are stored to the tile as such.",
    terms=terms,
    gates=(
        Gate(
            name="global load sectors",
            measure=_load_sectors,
            naive=naive_sectors,
            at_most=lambda case: 1.1 * ideal_sectors(case),
            where=most("global_load_sectors"),
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
