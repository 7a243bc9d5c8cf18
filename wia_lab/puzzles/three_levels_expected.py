"""What a product at three levels must be, and how the library makes it, worked out from the script.

The judge asks this; nothing of it is where the answer runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

import wia_lab.hal as wia
from wia_lab.puzzles.three_levels_playing import UNTOUCHED, RecordingBackend, numbers, tensor

if TYPE_CHECKING:
    from wia_lab.puzzles.host_puzzle import HostCase

UNIT = 2.0**-24  # unit roundoff of float32
PIPELINE_FROM = (8, 0)  # compute capability

Array = np.ndarray[Any, Any]
Sizes = tuple[int, int, int]


def inputs(case: HostCase) -> Iterator[tuple[Array, Array]]:
    """The values of a and b at each step of a script, in their order."""
    random = np.random.default_rng(case.options["seed"])
    for _, (m, k, n), layout in case.steps:
        a, b = (numbers(random, shape, layout)[1] for shape in ((m, k), (k, n)))
        yield a, b


@lru_cache(maxsize=256)
def way(machine: str, device: int, level: str, sizes: Sizes, layout: str) -> dict[str, Any]:
    """How the library makes the product that level 1 or 2 asks for: it is let do so."""
    backend = RecordingBackend(machine, "")
    context = wia.Context(wia.Machine(backend)[device])
    m, k, n = sizes
    random = np.random.default_rng(0)
    a, b = (tensor(context, random, shape, layout)[0] for shape in ((m, k), (k, n)))
    config = wia.MatmulConfig()
    if level == "configured":
        config = wia.MatmulConfig(algorithm=named(a), precision=wia.Precision.MIXED)
    backend.is_recording = True
    wia.matmul(a, b, config=config)
    return backend.operations[0]


@lru_cache(maxsize=64)
def is_first_with_copies(machine: str, device: int) -> bool:
    """Whether a device has just the compute capability from which the pipeline is possible."""
    context = wia.Context(wia.Machine(RecordingBackend(machine, ""))[device])
    return bool(context.device.info.compute_capability == PIPELINE_FROM)


def named(a: wia.Tensor) -> wia.MatmulAlgorithm:
    """The algorithm of level 2: the fastest for large products that the device has."""
    if a.context.device.info.compute_capability >= PIPELINE_FROM:
        return wia.MatmulAlgorithm.PIPELINE
    return wia.MatmulAlgorithm.DOUBLE_BUFFERED


def bound(a: Array, b: Array) -> Array:
    """How far each element of a float32 product may be from that of a · b.

    k u / (1 − k u) times |a| · |b|, with u the unit roundoff: k products and k − 1 sums, each
    rounded once, in any order. A product of two float16 is exact in float32. Higham, Accuracy and
    Stability of Numerical Algorithms, 2002, (3.13).
    """
    k = a.shape[1]
    return np.asarray(k * UNIT / (1 - k * UNIT) * (abs(a) @ abs(b)))


def compared(level: str, left: Array, right: Array, got: Array) -> dict[str, Any]:
    """The cells that were never written, or the first wrong one and what would explain it.

    Raises
    ------
    TypeError
        `got` is no float32 array of the product's shape.
    """
    shape = left.shape[0], right.shape[1]
    if not isinstance(got, np.ndarray) or (got.shape, got.dtype) != (shape, np.float32):
        raise TypeError(f"the result read is no float32 array of {shape[0]} × {shape[1]}")
    narrow = np.float16 if level == "configured" else np.float32
    a, b = (each.astype(narrow).astype(np.float64) for each in (left, right))
    want, allowed = a @ b, bound(a, b)
    untouched = got == UNTOUCHED
    if untouched.any():
        row, column = (int(each) for each in np.argwhere(untouched)[0])
        written = [int((~untouched).any(axis=1 - axis).sum()) for axis in (0, 1)]
        return {"untouched": [row, column, int(untouched.sum())], "written": written}
    wrong = ~(abs(got - want) <= allowed)
    if not wrong.any():
        return {}
    row, column = (int(each) for each in np.argwhere(wrong)[0])
    return {
        "wrong": [row, column, float(got[row, column]), float(want[row, column])],
        "count": int(wrong.sum()),
        "suspect": _suspect(a, b, got, allowed),
    }


def _suspect(a: Array, b: Array, got: Array, allowed: Array) -> str | None:
    """The known mistake that explains every cell."""
    start, k, square = float(UNTOUCHED), a.shape[1], a.shape[0] == a.shape[1] == b.shape[1]
    want = a @ b
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = want.astype(np.float16).astype(np.float64)
    # A sum that starts from a large number is rounded to that number's steps
    steps = 2 * k * UNIT * (abs(start) + abs(a) @ abs(b))
    suspects = {
        "never-zeroed": (want + start, steps),
        "last-term-only": (a[:, -1:] * b[-1:], allowed),
        "last-term-missing": (a[:, :-1] @ b[:-1], allowed),
        "first-term-missing": (a[:, 1:] @ b[1:], allowed),
        "other-extent": (a[:, : a.shape[0]] @ b[: a.shape[0]], allowed),
        "rounded-result": (rounded, allowed + abs(want) * 2.0**-10),
        "transposed": (want.T if square else np.inf, allowed),
    }
    for name, (values, within) in suspects.items():
        if np.all(abs(got - values) <= within):
            return name
    return None
