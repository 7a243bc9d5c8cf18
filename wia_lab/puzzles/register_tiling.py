"""07 register-tiling: c = a · b, each thread making 4 × 4 outputs from numbers in its registers.

Shapes: a is (M, K), b (K, N), c (M, N), float32, C order. A block of 16 × 16 threads computes
64 × 64 of c; the grid covers c in such tiles, x along columns. In the source documents the tiled
product ends where this one begins (chapter 4, 4.1).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wia_lab.puzzles.formulas.register_tiling import SIDE, SUSPECTS, TILE
from wia_lab.puzzles.formulas.tiled_matmul import reference, rounding, terms
from wia_lab.puzzles.gates import most
from wia_lab.puzzles.inputs import cover, distinct, poisoned
from wia_lab.puzzles.puzzle import Case, Gate, Puzzle, Run

if TYPE_CHECKING:
    import numpy as np

BLOCK = (TILE, TILE)
SECTORS_A_TILE = SIDE * TILE * 4 // 32  # 64 × 16 of a, or 16 × 64 of b


def cases(rng: np.random.Generator) -> list[Case]:
    """Whole tiles, ragged tiles of primes, thin matrices, one element.

    Every pair of M, N, K has a case in which each is the greater, as in puzzle 06.
    """
    shapes = ((128, 48, 192), (70, 53, 67), (131, 37, 29), (1, 67, 1), (1, 1, 1))
    return [_case(*shape, rng) for shape in shapes]


def _case(m: int, k: int, n: int, rng: np.random.Generator) -> Case:
    whole = m % SIDE == n % SIDE == k % TILE == 0
    return Case(
        name=f"a {m}×{k}, b {k}×{n}",
        arguments={
            "a": distinct((m, k), rng),
            "b": distinct((k, n), rng),
            "c": poisoned((m, n)),
        },
        outputs=("c",),
        grid=cover((n, m), (SIDE, SIDE)),
        block=BLOCK,
        measured=whole,
    )


# What is counted on whole tiles.


def _depth(case: Case) -> int:
    return int(case.arguments["a"].shape[1])


def products(case: Case) -> int:
    """Multiplications of a whole warp: each makes one product for each of 32 lanes."""
    m, n = case.arguments["c"].shape
    return int(m * n * _depth(case)) // 32


def naive_sectors(case: Case) -> int:
    """Puzzle 06's kernel: each 16 × 16 of c fetches 16 × 16 tiles of its own, 64 sectors each."""
    m, n = case.arguments["c"].shape
    return int(m // TILE * (n // TILE)) * (_depth(case) // TILE) * 2 * (TILE * TILE * 4 // 32)


def ideal_sectors(case: Case) -> int:
    """Each block fetches each of its tiles of a and b once."""
    return case.grid[0] * case.grid[1] * (_depth(case) // TILE) * 2 * SECTORS_A_TILE


def naive_reads(case: Case) -> int:
    """Puzzle 06's kernel: for each product a warp reads from both tiles."""
    return 2 * products(case)


def _load_sectors(run: Run) -> int:
    return int(run.counters.global_load_sectors)


def _shared_reads(run: Run) -> int:
    return int(run.counters.shared_load_wavefronts)


HINTS = (
    """\
Take one thread and one k. Its four rows need four numbers of tile_a, its four columns four numbers
of tile_b. With these eight numbers it can make 4 × 4 = 16 products. How many reads of shared memory
would it need if it fetched both factors anew for each product?""",
    """\
Per k, read the eight numbers into small arrays of the thread's own, then multiply:

    for i in range(4):
        left[i] = tile_a[...]         # row i of this thread, column k
    for j in range(4):
        right[j] = tile_b[...]        # row k, column j of this thread
    for i in range(4):
        for j in range(4):
            sums[i, j] += left[i] * right[j]

Which four columns should a thread take? A warp reads tile_b for 16 neighbouring x at once. Let
these be neighbours: thread x takes columns x, x + 16, x + 32, x + 48, and rows likewise.""",
    """\
The tiles have 64 × 16 cells each and the block 256 threads, so a thread fetches four of each:

    for i in range(4):
        row, ka = y0 + y + 16 * i, t * TILE + x
        tile_a[y + 16 * i, x] = a[row, ka] if row < a.shape[0] and ka < a.shape[1] else float32(0)
    for j in range(4):
        kb, column = t * TILE + y, x0 + x + 16 * j
        tile_b[y, x + 16 * j] = ...

Then cuda.syncthreads(), the sums of hint 2 for each k of the tile, and cuda.syncthreads(). At the
end sums[i, j] goes to c[y0 + y + 16 * i, x0 + x + 16 * j], if that lies inside c. Set sums to 0
before the first round.""",
)

PUZZLE = Puzzle(
    number=7,
    id="register-tiling",
    title="Register tiles",
    teaches="a number read once from shared memory can serve several products from a register",
    function="register_matmul",
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
                "Global memory is asked for more than each tile once: let every thread load four "
                "elements of each tile, neighbours in x loading neighbours in a row."
            ),
        ),
        Gate(
            name="shared load wavefronts",
            measure=_shared_reads,
            naive=naive_reads,
            at_least=lambda case: 0.1 * products(case),
            at_most=lambda case: 0.6 * products(case),
            where=most("shared_load_wavefronts"),
            advice=(
                "For each k a thread needs 4 + 4 numbers of the tiles for its 16 products: read "
                "each once into a register, from the tiles in shared memory, and let threads "
                "that are neighbours in x read neighbours in a row, as two reads of one bank take "
                "two turns."
            ),
        ),
    ),
    hints=HINTS,
)
