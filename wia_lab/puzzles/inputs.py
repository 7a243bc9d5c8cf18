"""Hostile inputs: what a wrong kernel cannot get right by luck.

Values are distinct, so that a wrong index shows; none is zero, so that a missing term shows.
Outputs are poisoned, so that a cell nobody wrote shows. Sizes are the puzzle's business: odd and
prime ones, one element, an exact multiple of the block, three blocks or more.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def distinct(
    shape: int | tuple[int, ...], rng: np.random.Generator, dtype: Any = np.float32
) -> np.ndarray:
    """Array of `shape` whose values all differ: shuffled, in (-1, 1) and never 0, or 1 … size.

    Integers get 1 … size; floats are exact in float32 up to 2**22 elements.
    """
    size = int(np.prod(shape))
    order = rng.permutation(size).reshape(shape)
    if np.issubdtype(dtype, np.integer):
        return (order + 1).astype(dtype)
    return (2 * (order + 0.25) / size - 1).astype(dtype)


def poisoned(shape: int | tuple[int, ...], dtype: Any = np.float32) -> np.ndarray:
    """An output that nobody has written: NaN, or the least integer of its type."""
    if np.issubdtype(dtype, np.integer):
        return np.full(shape, np.iinfo(dtype).min, dtype)
    return np.full(shape, np.nan, dtype)


def cover(extent: tuple[int, ...], block: tuple[int, ...]) -> tuple[int, ...]:
    """Grid, x first, with which blocks of `block` cover `extent`, given x first as well."""
    return tuple(-(-length // width) for length, width in zip(extent, block, strict=True))
