"""What known mistakes of a convolution in a pipeline of four tiles a block compute.

out[i] = sum over k of signal[i + k - 2] * taps[k], zero outside the signal; 1-D, blocks of four
tiles of 256. The sum itself, its rounding and the mistakes inside one tile are puzzle 09's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from wia_lab.puzzles.formulas import async_convolution
from wia_lab.puzzles.formulas.async_convolution import CONV_TILE_SIZE, HALO_SIZE, reference
from wia_lab.puzzles.puzzle import Suspect

if TYPE_CHECKING:
    from collections.abc import Callable

    from wia_lab.puzzles.formulas.async_convolution import Filtered

TILES_PER_BLOCK = 4
OUTPUTS = TILES_PER_BLOCK * CONV_TILE_SIZE  # of a block


def _written(keep: Callable[[np.ndarray], np.ndarray]) -> Callable[..., Filtered]:
    """Formula that writes only the tiles whose number in the block `keep` wants."""

    def formula(signal: np.ndarray, taps: np.ndarray) -> Filtered:
        tile = np.arange(signal.size) % OUTPUTS // CONV_TILE_SIZE
        return {"out": np.where(keep(tile), reference(signal, taps)["out"], np.nan)}

    return formula


def _from_tile(which: Callable[[np.ndarray], np.ndarray]) -> Callable[..., Filtered]:
    """Formula in which the tile of a block with number n holds the outputs of tile `which(n)`."""

    def formula(signal: np.ndarray, taps: np.ndarray) -> Filtered:
        place = np.arange(signal.size)
        tile = which(place % OUTPUTS // CONV_TILE_SIZE)
        source = place // OUTPUTS * OUTPUTS + tile * CONV_TILE_SIZE + place % CONV_TILE_SIZE
        return {"out": reference(signal, taps)["out"][source]}

    return formula


def _blocks_one_tile_apart(signal: np.ndarray, taps: np.ndarray) -> Filtered:
    out = reference(signal, taps)["out"]
    blocks = -(-signal.size // OUTPUTS)
    out[(blocks - 1) * CONV_TILE_SIZE + OUTPUTS :] = np.nan
    return {"out": out}


def _later_tiles_two_on(signal: np.ndarray, taps: np.ndarray) -> Filtered:
    """The copies of all tiles but the first of a block begin HALO_SIZE samples late."""
    out = reference(signal, taps)["out"]
    moved = reference(np.pad(signal, (0, HALO_SIZE))[HALO_SIZE:], taps)["out"]
    later = np.arange(signal.size) % OUTPUTS >= CONV_TILE_SIZE
    return {"out": np.where(later, moved, out)}


SUSPECTS = (
    *async_convolution.SUSPECTS,
    Suspect(
        "first-tile-only",
        "only the first tile of each block is made: a block makes TILES_PER_BLOCK of them.",
        _written(lambda tile: tile == 0),
    ),
    Suspect(
        "last-tile-missing",
        "the last tile of each block is not made: it has no successor to copy, but it is computed "
        "all the same.",
        _written(lambda tile: tile < TILES_PER_BLOCK - 1),
    ),
    Suspect(
        "first-tile-missing",
        "the first tile of each block is not made: it is copied before the loop and computed "
        "inside, with n = 0.",
        _written(lambda tile: tile > 0),
    ),
    Suspect(
        "later-tiles-without-offset",
        "the copies of the later tiles begin at their start: like the first they begin HALO_SIZE "
        "samples before it.",
        _later_tiles_two_on,
    ),
    Suspect(
        "same-tile-again",
        "every copy brings the block's first tile: that of tile n begins at "
        "first + n * CONV_TILE_SIZE - HALO_SIZE.",
        _from_tile(lambda n: 0 * n),
    ),
    Suspect(
        "two-tiles-in-turn",
        "the third and fourth tile hold the outputs of the first and second: each buffer is filled "
        "once, and never again.",
        _from_tile(lambda n: n % 2),
    ),
    Suspect(
        "blocks-one-tile-apart",
        "the blocks begin one tile apart, but each makes TILES_PER_BLOCK tiles: the first sample "
        "of a block is blockIdx.x * TILES_PER_BLOCK * CONV_TILE_SIZE.",
        _blocks_one_tile_apart,
    ),
)
