"""00 start: the tools on the smallest kernel, `out[i] = a[i] * a[i]`."""

from __future__ import annotations

import numpy as np

from wia_lab.puzzles.inputs import cover, distinct, poisoned
from wia_lab.puzzles.puzzle import Case, Puzzle, Suspect
from wia_lab.wording import counted

BLOCK = (128,)


def cases(rng: np.random.Generator) -> list[Case]:
    """A length that fills its blocks, one that does not, and a single element."""
    return [_case(size, rng) for size in (512, 307, 1)]


def _case(size: int, rng: np.random.Generator) -> Case:
    return Case(
        name=counted(size, "element"),
        arguments={"out": poisoned(size), "a": distinct(size, rng)},
        outputs=("out",),
        grid=cover((size,), BLOCK),
        block=BLOCK,
    )


def reference(a: np.ndarray) -> dict[str, np.ndarray]:
    """The square of each element."""
    return {"out": a.astype(np.float64) ** 2}


def rounding(a: np.ndarray) -> dict[str, np.ndarray]:
    """One rounding to float32."""
    return {"out": 2.0**-24 * a.astype(np.float64) ** 2}


def _first_block_only(a: np.ndarray) -> dict[str, np.ndarray]:
    wrong = a.astype(np.float64) ** 2
    wrong[BLOCK[0] :] = np.nan
    return {"out": wrong}


HINTS = (
    """\
Thread i computes element i. cuda.grid(1) is the number of a thread in the whole grid.""",
    """\
The grid has whole blocks, so it may have more threads than out has elements. A thread whose i is
not below out.size must do nothing.""",
    """\
The body is

    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] * a[i]""",
)

PUZZLE = Puzzle(
    number=0,
    id="start",
    title="The tools",
    teaches="one thread computes one element, and the last block has threads with no work",
    function="square",
    signature=("out", "a"),
    cases=cases,
    reference=reference,
    rounding=rounding,
    suspects=(
        Suspect(
            "copied",
            "the input is copied as it is: it is not multiplied by itself.",
            lambda a: {"out": a.astype(np.float64)},
        ),
        Suspect(
            "doubled",
            "the element is doubled: multiply it by itself.",
            lambda a: {"out": 2 * a.astype(np.float64)},
        ),
        Suspect(
            "first-block-only",
            "cuda.threadIdx.x starts at 0 in every block, so all blocks write the first "
            f"{BLOCK[0]} elements: cuda.grid(1) counts through the whole grid.",
            _first_block_only,
        ),
    ),
    hints=HINTS,
)
