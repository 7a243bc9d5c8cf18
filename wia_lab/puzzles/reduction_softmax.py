"""11 reduction-softmax: the softmax of each row, reduced by warp shuffles.

out[r, x] = exp(a[r, x] - max_r) / sum of exp(a[r, ·] - max_r): float32, 2-D, C order; a block of
128 threads a row. An element may be -inf, as a masked score is, and gives 0; a row of nothing else
has no softmax and is not asked. In the source documents it is an operation of the library
(chapter 3, 3.7), with no word on how rows of large numbers stay finite.
"""

from __future__ import annotations

import numpy as np

from wia_lab.puzzles.formulas.row_softmax import SUSPECTS, THREADS, WARP, reference, rounding
from wia_lab.puzzles.gates import most, share
from wia_lab.puzzles.inputs import distinct, poisoned
from wia_lab.puzzles.puzzle import Case, Gate, Puzzle, Run

WARPS = THREADS // WARP
STEPS = 5  # 16, 8, 4, 2, 1


def cases(rng: np.random.Generator) -> list[Case]:
    """Whole warps, what overflows, what underflows, a masked element, a column, an element."""
    masked = 10 * distinct((4, 101), rng)
    masked[1, 7] = -np.inf
    return [
        _case("5 rows of 256", 8 * distinct((5, 256), rng)),
        _case("3 rows of 1", distinct((3, 1), rng)),
        _case("3 rows of 257, numbers up to 500", 500 * distinct((3, 257), rng)),
        _case("3 rows of 300, numbers near -98", 5 * distinct((3, 300), rng) - 98),
        _case("4 rows of 101, one element -inf", masked),
        _case("1 row of 1", distinct((1, 1), rng)),
    ]


def _case(name: str, a: np.ndarray) -> Case:
    return Case(
        name=name,
        arguments={"out": poisoned(a.shape), "a": a.astype(np.float32)},
        outputs=("out",),
        grid=(a.shape[0],),
        block=(THREADS,),
        measured=a.shape[1] % THREADS == 0,
    )


# What is counted on whole warps.


def _size(case: Case) -> int:
    return int(case.arguments["a"].size)


def naive_sectors(case: Case) -> int:
    """Each thread walks the whole row twice, for maximum and sum: a warp reads a sector a step."""
    return _size(case) * WARPS * 2 + _size(case) // 8


def ideal_sectors(case: Case) -> int:
    """The row is read three times, side by side: for maximum, sum and result."""
    return 3 * _size(case) // 8


def needed_shuffles(case: Case) -> int:
    """Maximum and sum, five steps in each warp."""
    return case.grid[0] * WARPS * STEPS * 2


def _sectors(run: Run) -> int | None:
    a = run.arrays.get("a")
    return None if a is None else int(a.counters.global_load_sectors)


HINTS = (
    """\
Two reductions a row, the maximum and the sum, and they go the same way: each thread over its own
elements t, t + 128, …; then the 32 lanes of a warp; then the four warps. What should the maximum
start with, so that a row of negative numbers is right? And what should a thread with no element at
all bring along?""",
    """\
After its own elements each thread holds `value`. Five shuffles join the warp, and every lane has
the result:

    for step in (16, 8, 4, 2, 1):
        value = max(value, cuda.shfl_xor_sync(ALL, value, step))

They stand outside of every if: all 32 lanes take part, also those without an element. Then lane 0
of each warp stores value in cells[t // 32], and after cuda.syncthreads() every thread reads the
four cells. The sum goes the same way. But cells must not be written anew while others still
read.""",
    """\
In full, with the sum's part left to write:

    value = float32(-math.inf)
    for x in range(t, a.shape[1], THREADS):
        value = max(value, a[r, x])
    for step in (16, 8, 4, 2, 1):
        value = max(value, cuda.shfl_xor_sync(ALL, value, step))
    if t % 32 == 0:
        cells[t // 32] = value
    cuda.syncthreads()
    highest = max(max(cells[0], cells[1]), max(cells[2], cells[3]))
    cuda.syncthreads()
    ...          # the same with float32(0), + and math.exp(a[r, x] - highest), into total
    for x in range(t, a.shape[1], THREADS):
        out[r, x] = math.exp(a[r, x] - highest) / total""",
)

PUZZLE = Puzzle(
    number=11,
    id="reduction-softmax",
    title="Softmax by warp shuffles",
    teaches="32 lanes can join their numbers without shared memory, if all 32 take part",
    function="row_softmax",
    signature=("out", "a"),
    cases=cases,
    reference=reference,
    rounding=rounding,
    suspects=SUSPECTS,
    gates=(
        Gate(
            name="sectors of a read",
            measure=_sectors,
            naive=naive_sectors,
            at_most=lambda case: 1.1 * ideal_sectors(case),
            where=most("global_load_sectors", of="a"),
            advice=(
                "A row is read more often than three times, or not side by side: let thread t take "
                "elements t, t + 128, … and join the threads' results."
            ),
        ),
        Gate(
            name="shuffles with lanes missing",
            measure=lambda run: run.shuffles.partial,
            naive=lambda _: 0,
            at_most=lambda _: 0,
            where=lambda run: share(run.shuffles.partial_on),
            advice=(
                "A lane that is not there has nothing to give: let all 32 lanes of the warp "
                "execute each shuffle, outside of every if and of loops that some leave earlier."
            ),
        ),
        Gate(
            name="shuffles with all 32 lanes",
            measure=lambda run: run.shuffles.full,
            naive=lambda _: 0,
            at_least=lambda case: 0.9 * needed_shuffles(case),
            advice=(
                "Join the 32 lanes of each warp by five shuffles, for the maximum and for the sum: "
                "no shared memory and no barrier is needed for that."
            ),
        ),
    ),
    hints=HINTS,
)
