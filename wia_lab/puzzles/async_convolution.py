"""09 async-convolution: 5 taps over a signal, the tile copied while the taps are fetched.

out[i] = sum over k of signal[i + k - 2] * taps[k], zero outside the signal: float32, 1-D. A block
of 256 threads computes 256 outputs from 260 samples in shared memory. The source documents (puzzle
28) copy the signal unchanged into the four cells at each tile's edges; here the halo is real.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from wia_lab.puzzles.inputs import cover, distinct, poisoned
from wia_lab.puzzles.puzzle import Case, Gate, Puzzle, Run, Suspect

if TYPE_CHECKING:
    from collections.abc import Callable

CONV_TILE_SIZE = 256
KERNEL_SIZE = 5
HALO_SIZE = KERNEL_SIZE // 2
BLOCK = (CONV_TILE_SIZE,)
WARPS = CONV_TILE_SIZE // 32  # a block

Filtered = dict[str, np.ndarray]


@cache
def eeg() -> np.ndarray:
    """One channel of the electroencephalogram among matplotlib's samples: 800 values, float32."""
    from matplotlib.cbook import get_sample_data  # noqa: PLC0415 - slow, and often not needed

    values = np.fromfile(get_sample_data("eeg.dat", asfileobj=False), np.float64)
    return values.reshape(800, 4)[:, 0].astype(np.float32)


def cases(rng: np.random.Generator) -> list[Case]:
    """Whole tiles, a prime number of samples, a recorded signal, one tile, fewer than taps, one."""
    return [
        _case("1024 samples", distinct(1024, rng), rng, measured=True),
        _case("1021 samples", distinct(1021, rng), rng),
        _case("the EEG, 800 samples", eeg(), rng),
        _case("257 samples", distinct(257, rng), rng),
        _case("3 samples", distinct(3, rng), rng),
        _case("1 sample", distinct(1, rng), rng),
    ]


def _case(
    name: str, signal: np.ndarray, rng: np.random.Generator, *, measured: bool = False
) -> Case:
    return Case(
        name=name,
        arguments={
            "out": poisoned(signal.size),
            "signal": signal,
            "taps": distinct(KERNEL_SIZE, rng),
        },
        outputs=("out",),
        grid=cover(signal.shape, BLOCK),
        block=BLOCK,
        measured=measured,
    )


def reference(signal: np.ndarray, taps: np.ndarray) -> Filtered:
    """The sums in float64."""
    return {"out": _slide(_zeros_around(signal), taps)}


def rounding(signal: np.ndarray, taps: np.ndarray) -> Filtered:
    """Bound on the rounding of 5 products and sums in float32: 6 · 2**-24 · sum of |products|."""
    magnitude = _slide(np.abs(_zeros_around(signal)), np.abs(taps))
    return {"out": (KERNEL_SIZE + 1) * 2.0**-24 * magnitude}


def _zeros_around(signal: np.ndarray) -> np.ndarray:
    return np.pad(signal.astype(np.float64), HALO_SIZE)


def _slide(padded: np.ndarray, taps: np.ndarray) -> np.ndarray:
    """Sum of taps times samples at each place where all taps fit."""
    count = padded.size - taps.size + 1
    terms = [padded[k : k + count] * float(taps[k]) for k in range(taps.size)]
    return np.sum(terms, axis=0)


# What is counted on 1,024 samples, in blocks of 8 warps.


def naive_sectors(case: Case) -> int:
    """Each thread loads its five samples from global memory.

    A warp's 32 samples touch 4 sectors where aligned (the middle tap), else 5. At the signal's ends
    the fifth lies outside, for two taps each.
    """
    return _blocks(case) * WARPS * (4 * 5 + 4) - 4


def ideal_sectors(case: Case) -> int:
    """A block's 260 samples, copied in one sweep from 2 before its tile.

    Eight full warps touch 5 sectors each, and the last four samples 2.
    """
    return _blocks(case) * (WARPS * 5 + 2)


def _blocks(case: Case) -> int:
    return case.grid[0]


def _sectors(run: Run) -> int | None:
    if "signal" not in run.arrays:
        return None
    # As on hardware, an asynchronous copy counts as a global load
    return int(run.arrays["signal"].counters.global_load_sectors)


def _copied(run: Run) -> int:
    return run.flight.elements["signal"]


def _hidden(run: Run) -> int:
    return run.flight.overlapped["taps"]


def _exposed(run: Run) -> int:
    return run.flight.alone["taps"]


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
        "copied",
        "the signal is copied as it is: no taps are applied.",
        lambda signal, taps: {"out": signal.astype(np.float64)},  # noqa: ARG005
    ),
)

HINTS = (
    """\
Order four things: issue the copy of the tile, fetch the taps, wait for the copy, compute. Which one
must come first, so that another can hide behind it? And the tile's first output needs two samples
that belong to the block before.""",
    """\
The copy of the tile and its halo begins HALO_SIZE before the block's first sample and brings
BUFFER_SIZE of them; what lies outside the signal arrives as 0:

    cuda.copy_dram_to_sram_async(tile, signal, start - HALO_SIZE, BUFFER_SIZE)

The first KERNEL_SIZE threads then fetch a tap each. cuda.async_copy_wait_all() makes a thread wait
for its own copies only: for those of the others it takes cuda.syncthreads(), after the wait.""",
    """\
After the copy is issued:

    if t < KERNEL_SIZE:
        weights[t] = taps[t]
    cuda.async_copy_wait_all()
    cuda.syncthreads()

Then thread t computes output i = start + t. As tile[0] holds sample start - HALO_SIZE, it needs
tile[t], tile[t + 1], ... tile[t + 4]: add up tile[t + k] * weights[k] in a float32(0), and store it
only if i < out.size. The barrier stays outside that if.""",
)

PUZZLE = Puzzle(
    number=9,
    id="async-convolution",
    title="Convolution with an asynchronous copy",
    teaches="a copy that nobody waits for yet leaves time to do something else",
    function="async_convolution",
    signature=("out", "signal", "taps"),
    cases=cases,
    reference=reference,
    rounding=rounding,
    suspects=SUSPECTS,
    gates=(
        Gate(
            name="samples copied asynchronously",
            measure=_copied,
            naive=lambda _: 0,
            at_least=lambda case: case.arguments["signal"].size,
            at_most=lambda case: 1.1 * _blocks(case) * (CONV_TILE_SIZE + 2 * HALO_SIZE),
            advice=(
                "Bring each tile and its halo into shared memory once, with "
                "cuda.copy_dram_to_sram_async: an assignment makes the thread wait for the load."
            ),
        ),
        Gate(
            name="tap fetches while the tile is in flight",
            measure=_hidden,
            naive=lambda _: 0,
            at_least=_blocks,
            advice=(
                "Nothing is done while the copy is under way: fetch the taps after the copy is "
                "issued and before it is waited for."
            ),
        ),
        Gate(
            name="tap fetches with nothing in flight",
            measure=_exposed,
            naive=lambda case: _blocks(case) * WARPS * KERNEL_SIZE,
            at_most=lambda _: 0,
            advice=(
                "Taps are fetched from global memory before the copy is issued or after it has "
                "been waited for: fetch them once, in between, and read them from shared memory."
            ),
        ),
        Gate(
            name="sectors of the signal read",
            measure=_sectors,
            naive=naive_sectors,
            at_most=lambda case: 1.1 * ideal_sectors(case),
            advice=(
                "The signal is fetched more than once: copy each sample once, neighbouring threads "
                "copying neighbouring samples, and then read them from the tile in shared memory."
            ),
        ),
    ),
    hints=HINTS,
)
