"""04 coalescing: out = a, with the lanes of a warp on neighbouring addresses.

Shapes: a and out are (M, N), float32, C order. A block of 16 × 16 threads copies a 16 × 16 tile;
the grid covers out, x along columns. In the source documents it is an example of bandwidth
(chapter 4, 4.9), which promises 32 to 128 times.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wia_lab.puzzles.formulas.coalescing import SIDE, SUSPECTS, reference, rounding
from wia_lab.puzzles.gates import most
from wia_lab.puzzles.inputs import cover, distinct, poisoned
from wia_lab.puzzles.puzzle import Case, Gate, Puzzle

if TYPE_CHECKING:
    import numpy as np

BLOCK = (SIDE, SIDE)


def cases(rng: np.random.Generator) -> list[Case]:
    """A square, aligned rows, ragged ones of primes, more rows than columns, a row, an element.

    Rows of the measured case are a multiple of 32 bytes: at other widths even the best copy
    touches sectors twice.
    """
    shapes = ((48, 48), (48, 80), (37, 53), (71, 19), (1, 67), (1, 1))
    return [_case(*shape, rng) for shape in shapes]


def _case(m: int, n: int, rng: np.random.Generator) -> Case:
    return Case(
        name=f"a {m}×{n}",
        arguments={"out": poisoned((m, n)), "a": distinct((m, n), rng)},
        outputs=("out",),
        grid=cover((n, m), BLOCK),
        block=BLOCK,
        measured=m % SIDE == n % SIDE == 0 and m != n,
    )


# What is counted on whole tiles.


def _size(case: Case) -> int:
    return int(case.arguments["a"].size)


def ideal_sectors(case: Case) -> int:
    """8 elements of 4 bytes a sector: 4 sectors for a request of 32 lanes."""
    return _size(case) // 8


def strided_sectors(case: Case) -> int:
    """Lanes go down 16 rows and take 2 neighbours of each: 16 sectors a request."""
    return _size(case) // 32 * 16


HINTS = (
    """\
Threads with the same y and neighbouring x are neighbours in a warp. Elements of one row that are
neighbours in columns are neighbours in memory. So which of row and column should x choose?""",
    """\
cuda.grid(2) gives x and y of the thread in the whole grid, x first. The grid covers out with x
along its columns:

    column, row = cuda.grid(2)

Is that thread's element inside? Rows are counted by out.shape[0], columns by out.shape[1].""",
    """\
All of it but one line:

    column, row = cuda.grid(2)
    if row < out.shape[0] and column < out.shape[1]:
        ...    # one element of a goes to its place in out""",
)

PUZZLE = Puzzle(
    number=4,
    id="coalescing",
    title="Coalescing",
    teaches="a warp's 32 lanes should ask for neighbouring bytes, as memory comes in sectors",
    function="strided_copy",
    signature=("out", "a"),
    cases=cases,
    reference=reference,
    rounding=rounding,
    suspects=SUSPECTS,
    gates=(
        Gate(
            name="bytes loaded",
            measure=lambda run: int(run.counters.global_load_bytes),
            naive=lambda case: 4 * _size(case),
            at_least=lambda case: 4 * _size(case),
            at_most=lambda case: 1.1 * 4 * _size(case),
            where=most("global_load_bytes"),
            advice=(
                "Every element of a is to be read once: no thread should read it twice, and no two "
                "threads the same one."
            ),
        ),
        Gate(
            name="global load sectors",
            measure=lambda run: int(run.counters.global_load_sectors),
            naive=strided_sectors,
            at_most=lambda case: 1.1 * ideal_sectors(case),
            where=most("global_load_sectors"),
            advice=(
                "A warp's reads are strewn over more sectors than they fill: let x, in which lanes "
                "are neighbours, run along the row of a."
            ),
        ),
        Gate(
            name="global store sectors",
            measure=lambda run: int(run.counters.global_store_sectors),
            naive=strided_sectors,
            at_most=lambda case: 1.1 * ideal_sectors(case),
            where=most("global_store_sectors"),
            advice=(
                "A warp's writes are strewn over more sectors than they fill: let x, in which "
                "lanes are neighbours, run along the row of out."
            ),
        ),
    ),
    hints=HINTS,
)
