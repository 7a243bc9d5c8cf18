"""What an addition of two vectors is, and what known mistakes add.

Shapes: out, a and b are (n,); a block has 256 threads, and the grid covers out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from wia_lab.puzzles.puzzle import Suspect

if TYPE_CHECKING:
    from collections.abc import Callable

THREADS = 256

Result = dict[str, np.ndarray]


def reference(a: np.ndarray, b: np.ndarray) -> Result:
    """The sums in float64."""
    return {"out": a.astype(np.float64) + b.astype(np.float64)}


def rounding(a: np.ndarray, b: np.ndarray) -> Result:
    """One rounding to float32."""
    return {"out": 2.0**-24 * np.abs(a.astype(np.float64) + b)}


def _written(keep: Callable[[np.ndarray, int], np.ndarray]) -> Callable[..., Result]:
    """Formula that writes where `keep` is true of the element and n, and nowhere else."""

    def formula(a: np.ndarray, b: np.ndarray) -> Result:
        found = a.astype(np.float64) + b
        found[~keep(np.arange(a.size), a.size)] = np.nan
        return {"out": found}

    return formula


def _blocks(size: int) -> int:
    return -(-size // THREADS)


def _numbered(width: int) -> Callable[..., Result]:
    """Formula in which block k begins at element `width` · k."""

    def reached(element: np.ndarray, size: int) -> np.ndarray:
        first = width * np.arange(_blocks(size))[:, None]
        return np.isin(element, first + np.arange(THREADS))

    return _written(reached)


def _numbered_by_blocks(a: np.ndarray, b: np.ndarray) -> Result:
    return _numbered(_blocks(a.size))(a, b)


_WIDTH = (
    "blocks of {0} threads are counted, but a block has 256: cuda.blockDim.x is the number that "
    "the launch chose."
)

SUSPECTS = (
    Suspect(
        "first-block-only",
        "cuda.threadIdx.x starts at 0 in every block, so all blocks write the first 256 elements: "
        "count the threads of the blocks before it as well, or take cuda.grid(1).",
        _numbered(0),
    ),
    Suspect(
        "block-not-scaled",
        "the number of the block is added as it is: before block k come k * cuda.blockDim.x "
        "threads, not k.",
        _numbered(1),
    ),
    *(
        Suspect("other-block-size", _WIDTH.format(width), _numbered(width))
        for width in (16, 32, 64, 128, 255, 512)
    ),
    Suspect(
        "blocks-counted-by-blocks",
        "cuda.gridDim.x is the number of blocks: before block k come k * cuda.blockDim.x threads.",
        _numbered_by_blocks,
    ),
    Suspect(
        "block-number-only",
        "the element is chosen by the block alone, so all 256 threads of a block do the same one: "
        "add the thread's own number.",
        _written(lambda element, size: element < _blocks(size)),
    ),
    Suspect(
        "block-and-thread-swapped",
        "block and thread have changed places: the number is blockIdx.x * blockDim.x + "
        "threadIdx.x.",
        _written(lambda element, size: element % THREADS < _blocks(size)),
    ),
    Suspect(
        "length-of-the-example",
        "only the first 800 elements get a sum: the vectors may have any length, which is "
        "out.size.",
        _written(lambda element, _size: element < 800),
    ),
    Suspect(
        "last-missing",
        "the guard leaves out the last element: i < out.size already ends at it.",
        _written(lambda element, size: element < size - 1),
    ),
    Suspect(
        "first-missing",
        "the guard leaves out element 0, or 1 is added to the number: threads and elements are "
        "both counted from 0.",
        _written(lambda element, _: element > 0),
    ),
    Suspect(
        "whole-blocks-only",
        "the last block writes nothing as soon as one of its threads has no element: let each "
        "thread look at its own i.",
        _written(lambda element, size: element < size // THREADS * THREADS),
    ),
    Suspect(
        "one-thread-only",
        "only one thread of the grid does anything: every thread whose i is an element has one to "
        "add.",
        _written(lambda element, _: element == 0),
    ),
    Suspect(
        "copied-a",
        "out holds a alone: add b[i] to it.",
        lambda a, b: _sum(a, 0 * b),
    ),
    Suspect(
        "copied-b",
        "out holds b alone: add a[i] to it.",
        lambda a, b: _sum(0 * a, b),
    ),
    Suspect(
        "a-twice",
        "a is added to itself: the other number is b[i].",
        lambda a, b: _sum(2 * a, 0 * b),
    ),
    Suspect(
        "b-twice",
        "b is added to itself: the other number is a[i].",
        lambda a, b: _sum(0 * a, 2 * b),
    ),
    Suspect(
        "subtracted",
        "b is taken away from a: the sign between them is +.",
        lambda a, b: _sum(a, -b),
    ),
    Suspect(
        "subtracted",
        "a is taken away from b: the sign between them is +.",
        lambda a, b: _sum(b, -a),
    ),
    Suspect(
        "multiplied",
        "the numbers are multiplied: the sign between them is +.",
        lambda a, b: {"out": a.astype(np.float64) * b},
    ),
    Suspect(
        "one-turned-round",
        "one of the inputs is taken from its end: element i of out needs a[i] and b[i].",
        lambda a, b: _sum(a, b[::-1]),
    ),
    Suspect(
        "one-turned-round",
        "one of the inputs is taken from its end: element i of out needs a[i] and b[i].",
        lambda a, b: _sum(a[::-1], b),
    ),
    Suspect(
        "both-turned-round",
        "the sums stand in reverse order: element i of out needs a[i] and b[i].",
        lambda a, b: _sum(a[::-1], b[::-1]),
    ),
    Suspect(
        "first-element-for-all",
        "one of the inputs is always read at the same place: element i of out needs a[i] and b[i].",
        lambda a, b: _sum(a, b[:1]),
    ),
    Suspect(
        "first-element-for-all",
        "one of the inputs is always read at the same place: element i of out needs a[i] and b[i].",
        lambda a, b: _sum(a[:1], b),
    ),
    Suspect(
        "cut-to-whole-numbers",
        "the sum is cut to a whole number: leave out int().",
        lambda a, b: {"out": np.trunc(a.astype(np.float64) + b)},
    ),
)


def _sum(a: np.ndarray, b: np.ndarray) -> Result:
    return {"out": a.astype(np.float64) + b}
