"""05 bank-conflicts: out = transpose of a, through a padded tile in shared memory.

Shapes: a is (M, N), out (N, M), float32, C order. A block of 32 × 8 threads moves one 32 × 32 tile;
the grid covers out in such tiles, x along its columns. In the source documents padding is an
example of bandwidth (chapter 4, 4.9).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wia_lab.puzzles.formulas.bank_conflicts import ROWS, SUSPECTS, TILE, reference, rounding
from wia_lab.puzzles.gates import most, rows_of_tiles
from wia_lab.puzzles.inputs import cover, distinct, poisoned
from wia_lab.puzzles.puzzle import Case, Gate, Puzzle, Run

if TYPE_CHECKING:
    import numpy as np

BLOCK = (TILE, ROWS)


def cases(rng: np.random.Generator) -> list[Case]:
    """A square, whole tiles that are not one, ragged ones of primes, a row, a column, an element.

    On the square a mistake in the tiles' places gives wrong values, and not only stray accesses.
    """
    shapes = ((64, 64), (96, 64), (37, 71), (1, 67), (97, 1), (1, 1))
    return [_case(*shape, rng) for shape in shapes]


def _case(m: int, n: int, rng: np.random.Generator) -> Case:
    return Case(
        name=f"a {m}×{n}",
        arguments={"out": poisoned((n, m)), "a": distinct((m, n), rng)},
        outputs=("out",),
        grid=cover((m, n), (TILE, TILE)),
        block=BLOCK,
        measured=m % TILE == n % TILE == 0 and m != n,
    )


# What is counted on whole tiles.


def _size(case: Case) -> int:
    return int(case.arguments["a"].size)


def ideal_sectors(case: Case) -> int:
    """8 elements of 4 bytes a sector."""
    return _size(case) // 8


def unpadded_conflicts(case: Case) -> int:
    """Through a 32 × 32 tile: each read of a column has 32 lanes in one bank, 31 too many."""
    return _size(case) // 32 * 31


CONFLICTS = "shared_load_bank_conflicts", "shared_store_bank_conflicts"


def _conflicts(run: Run) -> int:
    return sum(int(getattr(run.counters, name)) for name in CONFLICTS)


def _conflicting(run: Run) -> str:
    """The line, and how long the tile's rows are: a shape is easily turned round."""
    return f"{most(*CONFLICTS)(run)} {rows_of_tiles(run)}".strip()


HINTS = (
    """\
Leave the banks aside at first. The block's tile of out begins at row y0 = blockIdx.y * 32 and
column x0 = blockIdx.x * 32. Which tile of a belongs there? Threads that are neighbours in x should
read neighbours in a row of a, and write neighbours in a row of out. So between reading and writing
the tile must be turned round: in shared memory that costs no sectors.""",
    """\
A block has 32 × 8 threads for 32 × 32 elements, so each thread moves four, 8 rows apart:

    for i in range(0, 32, 8):
        tile[y + i, x] = a[x0 + y + i, y0 + x]       if that lies inside a
    cuda.syncthreads()
    for i in range(0, 32, 8):
        out[y0 + y + i, x0 + x] = tile[x, y + i]     if that lies inside out

In the last line 32 lanes read one column of the tile. With rows of 32, in which banks do they lie?
What if each row were one element longer?""",
    """\
Element [r, s] of a tile with rows of w elements lies in bank (r * w + s) % 32. Down a column r goes
from 0 to 31: with w = 32 that is one bank, with w = 33 it is all 32. So the tile is declared as

    tile = cuda.shared.array((32, 33), float32)

and its last column is never used. The rest stands in hint 2; add the two guards:

    if x0 + y + i < a.shape[0] and y0 + x < a.shape[1]:
    if y0 + y + i < out.shape[0] and x0 + x < out.shape[1]:""",
)

PUZZLE = Puzzle(
    number=5,
    id="bank-conflicts",
    title="Bank conflicts",
    teaches="a warp reads shared memory at full speed when its lanes ask 32 different banks",
    function="transpose",
    signature=("out", "a"),
    cases=cases,
    reference=reference,
    rounding=rounding,
    suspects=SUSPECTS,
    unfilled=(
        "Where out has an element, a has one too: what is loaded goes by the "
        "shape of a, whose rows are the columns of out."
    ),
    gates=(
        Gate(
            name="global load sectors",
            measure=lambda run: int(run.counters.global_load_sectors),
            naive=_size,  # rows of out are written, so columns of a are read: a sector an element
            at_most=lambda case: 1.1 * ideal_sectors(case),
            naive_is="no tile",
            where=most("global_load_sectors"),
            advice="Read a along its rows: threads that are neighbours in x read neighbours.",
        ),
        Gate(
            name="global store sectors",
            measure=lambda run: int(run.counters.global_store_sectors),
            naive=ideal_sectors,
            at_most=lambda case: 1.1 * ideal_sectors(case),
            naive_is="no tile",
            where=most("global_store_sectors"),
            advice="Write out along its rows: threads that are neighbours in x write neighbours.",
        ),
        Gate(
            name="shared load wavefronts",
            measure=lambda run: int(run.counters.shared_load_wavefronts),
            naive=lambda _: 0,
            at_least=lambda case: _size(case) // 32,
            naive_is="no tile",
            advice="Turn the tile round in shared memory: all elements go through it.",
        ),
        Gate(
            name="bank conflicts",
            measure=_conflicts,
            naive=unpadded_conflicts,
            at_most=lambda _: 0,
            naive_is="rows of 32",
            where=_conflicting,
            advice=(
                "Lanes of a warp still ask one bank for different words: with rows of 33 elements, "
                "which is the shape (32, 33), a column of the tile lies in 32 banks."
            ),
        ),
    ),
    hints=HINTS,
)
