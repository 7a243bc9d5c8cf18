"""What 5 taps over a signal are, how far rounding may take them, and what known mistakes compute.

out[i] = sum over k of signal[i + k - 2] * taps[k], zero outside the signal; 1-D, in tiles of 256.
The references are float64.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from wia_lab.puzzles.puzzle import Suspect, Terms

if TYPE_CHECKING:
    from collections.abc import Callable

CONV_TILE_SIZE = 256
KERNEL_SIZE = 5
HALO_SIZE = KERNEL_SIZE // 2

Filtered = dict[str, np.ndarray]


def reference(signal: np.ndarray, taps: np.ndarray) -> Filtered:
    """The sums in float64."""
    return {"out": _slide(_zeros_around(signal), taps)}


def rounding(signal: np.ndarray, taps: np.ndarray) -> Filtered:
    """Bound on the rounding of 5 products and sums in float32: 6 · 2**-24 · sum of |products|."""
    magnitude = _slide(np.abs(_zeros_around(signal)), np.abs(taps))
    return {"out": (KERNEL_SIZE + 1) * 2.0**-24 * magnitude}


def terms(signal: np.ndarray, taps: np.ndarray) -> Terms:
    """The five products of each output."""
    padded = _zeros_around(signal)
    places = [f"i - {-by}" if by < 0 else f"i + {by}" if by else "i" for by in range(-2, 3)]
    return Terms(
        tuple(f"signal[{place}] * taps[{k}]" for k, place in enumerate(places)),
        np.stack([padded[k : k + signal.size] * float(taps[k]) for k in range(KERNEL_SIZE)]),
    )


def _zeros_around(signal: np.ndarray) -> np.ndarray:
    return np.pad(signal.astype(np.float64), HALO_SIZE)


def _slide(padded: np.ndarray, taps: np.ndarray) -> np.ndarray:
    """Sum of taps times samples at each place where all taps fit."""
    count = padded.size - taps.size + 1
    terms = [padded[k : k + count] * float(taps[k]) for k in range(taps.size)]
    return np.sum(terms, axis=0)


# What known mistakes compute.


def _padded_by(mode: str) -> Callable[..., Filtered]:
    """Formula that continues the signal in another way than by zeros: a mode of np.pad."""

    def formula(signal: np.ndarray, taps: np.ndarray) -> Filtered:
        if mode == "reflect" and signal.size <= HALO_SIZE:
            return reference(signal, taps)
        padded = np.pad(signal.astype(np.float64), HALO_SIZE, mode=mode)  # type: ignore[call-overload]
        return {"out": _slide(padded, taps)}

    return formula


def _shifted(by: int) -> Callable[..., Filtered]:
    """Formula whose window starts `by` samples too far to the right."""

    def formula(signal: np.ndarray, taps: np.ndarray) -> Filtered:
        far = np.pad(signal.astype(np.float64), HALO_SIZE + abs(by))
        start = abs(by) + by
        return {"out": _slide(far[start : start + signal.size + 2 * HALO_SIZE], taps)}

    return formula


def _with_taps(change: Callable[[np.ndarray], np.ndarray]) -> Callable[..., Filtered]:
    """Formula with other taps."""

    def formula(signal: np.ndarray, taps: np.ndarray) -> Filtered:
        return {"out": _slide(_zeros_around(signal), change(taps))}

    return formula


def _only(*kept: int) -> Callable[[np.ndarray], np.ndarray]:
    """The taps with all but some put to 0."""
    return lambda taps: np.where(np.isin(np.arange(KERNEL_SIZE), kept), taps, 0)


def _without_halo(*, left: bool, right: bool) -> Callable[..., Filtered]:
    """Formula in which a tile sees zeros where its left or right neighbour should stand."""

    def formula(signal: np.ndarray, taps: np.ndarray) -> Filtered:
        padded, out = _zeros_around(signal), np.empty(signal.size)
        for start in range(0, signal.size, CONV_TILE_SIZE):
            stop = min(start + CONV_TILE_SIZE, signal.size)
            window = padded[start : stop + 2 * HALO_SIZE].copy()
            if left:
                window[:HALO_SIZE] = 0
            if right:
                window[-HALO_SIZE:] = 0
            out[start:stop] = _slide(window, taps)
        return {"out": out}

    return formula


def _at_tile_edges(value: Callable[[np.ndarray], np.ndarray]) -> Callable[..., Filtered]:
    """Formula that puts something else into the first two and last two cells of each tile."""

    def formula(signal: np.ndarray, taps: np.ndarray) -> Filtered:
        place = np.arange(signal.size) % CONV_TILE_SIZE
        edge = (place < HALO_SIZE) | (place >= CONV_TILE_SIZE - HALO_SIZE)
        return {"out": np.where(edge, value(signal), reference(signal, taps)["out"])}

    return formula


def _at_signal_ends(value: float) -> Callable[..., Filtered]:
    """Formula that leaves or zeroes the outputs whose window leaves the signal."""

    def formula(signal: np.ndarray, taps: np.ndarray) -> Filtered:
        out = reference(signal, taps)["out"]
        out[:HALO_SIZE] = out[max(0, out.size - HALO_SIZE) :] = value
        return {"out": out}

    return formula


def _uneven_start(signal: np.ndarray, taps: np.ndarray) -> Filtered:
    """Each thread copies from a start of its own, further on by its number."""
    far = np.pad(signal.astype(np.float64), (HALO_SIZE, 3 * CONV_TILE_SIZE))
    out = np.empty(signal.size)
    cell = np.arange(CONV_TILE_SIZE + 2 * HALO_SIZE)
    for start in range(0, signal.size, CONV_TILE_SIZE):
        tile = far[start + cell + cell % CONV_TILE_SIZE]
        stop = min(start + CONV_TILE_SIZE, signal.size)
        out[start:stop] = _slide(tile, taps)[: stop - start]
    return {"out": out}


def _first_window(signal: np.ndarray, taps: np.ndarray) -> Filtered:
    first = np.arange(signal.size) // CONV_TILE_SIZE * CONV_TILE_SIZE
    return {"out": reference(signal, taps)["out"][first]}


SUSPECTS = (
    Suspect(
        "edges-copied",
        "the first two and last two cells of each tile are copies of the signal: they are outputs "
        "like all others and need their neighbours from the next tile, so the tile needs a halo.",
        _at_tile_edges(lambda signal: signal.astype(np.float64)),
    ),
    Suspect(
        "no-halo",
        "each tile sees zeros where its neighbours' samples should stand: shared memory must hold "
        "BUFFER_SIZE samples, HALO_SIZE more on each side than the tile.",
        _without_halo(left=True, right=True),
    ),
    Suspect(
        "no-left-halo",
        "each tile sees zeros where the two samples before it should stand: copy from "
        "HALO_SIZE before the tile on. Zeros belong only outside the signal.",
        _without_halo(left=True, right=False),
    ),
    Suspect(
        "no-right-halo",
        "each tile sees zeros where the two samples after it should stand: copy BUFFER_SIZE "
        "samples, not CONV_TILE_SIZE. Zeros belong only outside the signal.",
        _without_halo(left=False, right=True),
    ),
    Suspect(
        "taps-reversed",
        "the taps are taken from the last to the first: here out[i] sums "
        "signal[i + k - HALO_SIZE] * taps[k], with no reversal.",
        _with_taps(lambda taps: taps[::-1]),
    ),
    Suspect(
        "halo-offset-missing",
        "the window is two samples too far right: it starts at i - HALO_SIZE, so tile cell 0 "
        "holds the sample HALO_SIZE before the block's first.",
        _shifted(HALO_SIZE),
    ),
    Suspect(
        "halo-offset-twice",
        "the window is two samples too far left: HALO_SIZE is subtracted twice, when copying and "
        "again when reading the tile.",
        _shifted(-HALO_SIZE),
    ),
    Suspect(
        "one-too-far-right",
        "the window is one sample too far right: it starts at i - HALO_SIZE.",
        _shifted(1),
    ),
    Suspect(
        "one-too-far-left",
        "the window is one sample too far left: it starts at i - HALO_SIZE.",
        _shifted(-1),
    ),
    Suspect(
        "last-tap-missing",
        "the last tap is missing: range(KERNEL_SIZE) already ends at KERNEL_SIZE - 1.",
        _with_taps(_only(0, 1, 2, 3)),
    ),
    Suspect(
        "first-tap-missing",
        "the first tap is missing: k starts at 0.",
        _with_taps(_only(1, 2, 3, 4)),
    ),
    Suspect(
        "last-product-only",
        "only the last product counts: add to the sum (+=) instead of replacing it (=).",
        _with_taps(_only(4)),
    ),
    Suspect(
        "edge-repeated",
        "outside the signal its end values are repeated: zeros belong there.",
        _padded_by("edge"),
    ),
    Suspect(
        "wrapped-around",
        "outside the signal its other end is used: zeros belong there.",
        _padded_by("wrap"),
    ),
    Suspect(
        "mirrored",
        "outside the signal it is mirrored: zeros belong there.",
        _padded_by("reflect"),
    ),
    Suspect(
        "ends-not-written",
        "outputs whose window leaves the signal are skipped: they count too, with zeros outside.",
        _at_signal_ends(np.nan),
    ),
    Suspect(
        "ends-zeroed",
        "outputs whose window leaves the signal are set to 0: only the missing samples are 0.",
        _at_signal_ends(0.0),
    ),
    Suspect(
        "tile-edges-not-written",
        "the first two and last two cells of each tile are skipped: with a halo every thread of "
        "the block has all five samples.",
        _at_tile_edges(lambda signal: np.full(signal.shape, np.nan)),
    ),
    Suspect(
        "start-differs-by-thread",
        "each thread passes another start to the copy: all threads of the block copy one tile "
        "together, so start is the same for all and has no threadIdx.x in it.",
        _uneven_start,
    ),
    Suspect(
        "same-window",
        "all threads of a block read the same window: thread t's begins at tile[t].",
        _first_window,
    ),
    Suspect(
        "plain-sum",
        "the taps are not used: each sample is to be multiplied by its tap.",
        _with_taps(np.ones_like),
    ),
    Suspect(
        "plain-mean",
        "the mean of the window is taken: each sample is to be multiplied by its tap.",
        _with_taps(lambda taps: np.full_like(taps, 1 / KERNEL_SIZE)),
    ),
    Suspect(
        "copied",
        "the signal is copied as it is: no taps are applied.",
        lambda signal, taps: {"out": signal.astype(np.float64)},  # noqa: ARG005
    ),
)
