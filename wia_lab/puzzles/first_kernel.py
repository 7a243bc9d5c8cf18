"""01 first-kernel: out = a + b, a thread an element, whatever the length.

Shapes: out, a and b are (n,), float32. A block has 256 threads; the grid covers out. In the source
documents it is the example of a kernel of one's own (chapter 3, 3.6.2).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wia_lab.puzzles.formulas.first_kernel import SUSPECTS, THREADS, reference, rounding
from wia_lab.puzzles.gates import most
from wia_lab.puzzles.inputs import cover, distinct, poisoned
from wia_lab.puzzles.puzzle import Case, Gate, Puzzle
from wia_lab.wording import counted

if TYPE_CHECKING:
    import numpy as np

BLOCK = (THREADS,)
WARP = 32


def cases(rng: np.random.Generator) -> list[Case]:
    """Whole blocks, a prime, one thread in the last block, one too few, part of a warp, one.

    b reaches twice as far as a, so that the two are told apart even where n is 1.
    """
    return [_case(size, rng) for size in (1024, 1021, 513, 255, 67, 1)]


def _case(size: int, rng: np.random.Generator) -> Case:
    return Case(
        name=counted(size, "element"),
        arguments={
            "out": poisoned(size),
            "a": distinct(size, rng),
            "b": 2 * distinct(size, rng),
        },
        outputs=("out",),
        grid=cover((size,), BLOCK),
        block=BLOCK,
        measured=size % THREADS == 0,
    )


# What is counted on whole blocks.


def _size(case: Case) -> int:
    return int(case.arguments["out"].size)


def ideal_stores(case: Case) -> int:
    """A request a warp, and an element a thread."""
    return _size(case) // WARP


def ideal_loads(case: Case) -> int:
    """One of a and one of b."""
    return 2 * ideal_stores(case)


HINTS = (
    """\
Which element is yours? A thread knows its number in its block, cuda.threadIdx.x, the number of its
block, cuda.blockIdx.x, and how many threads a block has, cuda.blockDim.x. How many threads are in
the blocks before yours?""",
    """\
Before block k come k blocks of cuda.blockDim.x threads each. So thread t of block k is number

    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x

of the whole grid. cuda.grid(1) is the same number. Is there an element i? The last block has
threads for which there is none.""",
    """\
All of it but one line:

    i = cuda.grid(1)
    if i < out.size:
        ...    # the sum of element i of a and of b goes to element i of out""",
)

PUZZLE = Puzzle(
    number=1,
    id="first-kernel",
    title="A first kernel",
    teaches="each thread works out which element is its own, and whether there is one",
    function="vector_add",
    signature=("out", "a", "b"),
    cases=cases,
    reference=reference,
    rounding=rounding,
    suspects=SUSPECTS,
    gates=(
        Gate(
            name="global load requests",
            measure=lambda run: int(run.counters.global_load_requests),
            naive=lambda case: 2 * _size(case),  # one thread alone
            at_least=ideal_loads,
            at_most=lambda case: 1.1 * ideal_loads(case),
            where=most("global_load_requests"),
            advice=(
                "Every warp should load twice, once of a and once of b: each thread adds the two "
                "numbers of one element, and no thread adds for the others."
            ),
        ),
        Gate(
            name="global store requests",
            measure=lambda run: int(run.counters.global_store_requests),
            naive=_size,
            at_least=ideal_stores,
            at_most=lambda case: 1.1 * ideal_stores(case),
            where=most("global_store_requests"),
            advice="Every warp should store once: each element of out is written by one thread.",
        ),
    ),
    hints=HINTS,
)
