"""What known mistakes of a convolution through a tile with a halo compute.

out[i] = sum over k of signal[i + k - 2] * taps[k], zero outside the signal; 1-D, in tiles of 256.
The sum itself, its rounding and the mistakes that do not depend on how the tile is filled are
puzzle 09's.
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

Window = np.ndarray
"""The samples that a tile needs: its own, and the halo on each side."""


def _each_window(change: Callable[[Window], None]) -> Callable[..., Filtered]:
    """Formula in which `change` has spoilt the window of each tile."""

    def formula(signal: np.ndarray, taps: np.ndarray) -> Filtered:
        padded, out = np.pad(signal.astype(np.float64), HALO_SIZE), np.empty(signal.size)
        padded = np.pad(padded, (0, CONV_TILE_SIZE))
        for start in range(0, signal.size, CONV_TILE_SIZE):
            window = padded[start : start + CONV_TILE_SIZE + 2 * HALO_SIZE].copy()
            change(window)
            made = reference(window, taps)["out"][HALO_SIZE:-HALO_SIZE]
            out[start : start + CONV_TILE_SIZE] = made[: signal.size - start]
        return {"out": out}

    return formula


def _edges_repeated(window: Window) -> None:
    window[:HALO_SIZE] = window[HALO_SIZE]
    window[-HALO_SIZE:] = window[-HALO_SIZE - 1]


def _wrapped(window: Window) -> None:
    own = window[HALO_SIZE:-HALO_SIZE].copy()
    window[:HALO_SIZE], window[-HALO_SIZE:] = own[-HALO_SIZE:], own[:HALO_SIZE]


def _swapped(window: Window) -> None:
    left = window[:HALO_SIZE].copy()
    window[:HALO_SIZE], window[-HALO_SIZE:] = window[-HALO_SIZE:], left


def _left_reversed(window: Window) -> None:
    window[:HALO_SIZE] = window[:HALO_SIZE][::-1].copy()


def _both_reversed(window: Window) -> None:
    _left_reversed(window)
    window[-HALO_SIZE:] = window[-HALO_SIZE:][::-1].copy()


def _right_from_own(window: Window) -> None:
    window[-HALO_SIZE:] = window[-2 * HALO_SIZE : -HALO_SIZE].copy()


def _left_from_own(window: Window) -> None:
    window[:HALO_SIZE] = window[HALO_SIZE : 2 * HALO_SIZE].copy()


def _ends_rescaled(signal: np.ndarray, taps: np.ndarray) -> Filtered:
    """Each sum divided by the share of the taps that lies inside the signal."""
    inside = reference(np.ones(signal.size), taps)["out"]
    return {"out": reference(signal, taps)["out"] * taps.sum(dtype=np.float64) / inside}


def _sample_0_outside(signal: np.ndarray, taps: np.ndarray) -> Filtered:
    rest = signal.copy()
    rest[0] = 0
    return reference(rest, taps)


_SHARED = (
    "edges-copied",
    "no-halo",
    "no-left-halo",
    "no-right-halo",
    "taps-reversed",
    "halo-offset-missing",
    "halo-offset-twice",
    "one-too-far-right",
    "one-too-far-left",
    "last-tap-missing",
    "first-tap-missing",
    "last-product-only",
    "edge-repeated",
    "wrapped-around",
    "mirrored",
    "ends-not-written",
    "ends-zeroed",
    "tile-edges-not-written",
    "same-window",
    "plain-sum",
    "plain-mean",
    "copied",
)

_SENTENCES = {
    "no-left-halo": (
        "each tile sees zeros where the two samples before it should stand: cells 0 and 1 hold "
        "samples start - 2 and start - 1. Zeros belong only outside the signal."
    ),
    "no-right-halo": (
        "each tile sees zeros where the two samples after it should stand: cells 258 and 259 hold "
        "samples start + 256 and start + 257. Zeros belong only outside the signal."
    ),
}

SUSPECTS = (
    *(
        Suspect(each.name, _SENTENCES.get(each.name, each.sentence), each.formula)
        for each in async_convolution.SUSPECTS
        if each.name in _SHARED
    ),
    Suspect(
        "tile-edge-repeated",
        "each tile repeats its own first and last sample where the halo should stand: the halo "
        "holds the samples of the tiles before and after.",
        _each_window(_edges_repeated),
    ),
    Suspect(
        "tile-wrapped-around",
        "each tile takes its halo from its own other end: the halo holds the samples of the tiles "
        "before and after.",
        _each_window(_wrapped),
    ),
    Suspect(
        "halos-swapped",
        "the two halos stand in each other's place: the samples before the tile belong into the "
        "first cells, those after it into the last.",
        _each_window(_swapped),
    ),
    Suspect(
        "left-halo-reversed",
        "the left halo stands in reverse: cell 0 holds sample start - 2 and cell 1 sample "
        "start - 1, so thread t loads start - HALO_SIZE + t.",
        _each_window(_left_reversed),
    ),
    Suspect(
        "both-halos-reversed",
        "both halos stand in reverse: samples follow each other in the tile as in the signal.",
        _each_window(_both_reversed),
    ),
    Suspect(
        "right-halo-from-own",
        "the right halo holds the tile's own last two samples again: it begins at sample "
        "start + CONV_TILE_SIZE.",
        _each_window(_right_from_own),
    ),
    Suspect(
        "left-halo-from-own",
        "the left halo holds the tile's own first two samples again: it begins at sample "
        "start - HALO_SIZE.",
        _each_window(_left_from_own),
    ),
    Suspect(
        "ends-rescaled",
        "at the signal's ends the sum is scaled up for the taps that lie outside: there the "
        "samples count as 0, and nothing more.",
        _ends_rescaled,
    ),
    Suspect(
        "sample-0-outside",
        "sample 0 counts as 0, as if it lay outside: index 0 is inside, so the guard is j >= 0.",
        _sample_0_outside,
    ),
)
