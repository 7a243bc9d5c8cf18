"""09 async-convolution: 5 taps over a signal, the tile copied while the taps are fetched.

out[i] = sum over k of signal[i + k - 2] * taps[k], zero outside the signal: float32, 1-D. A block
of 256 threads computes 256 outputs from 260 samples in shared memory. The source documents (puzzle
28) copy the signal unchanged into the four cells at each tile's edges; here the halo is real.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from wia_lab.puzzles.formulas.async_convolution import (
    CONV_TILE_SIZE,
    HALO_SIZE,
    KERNEL_SIZE,
    SUSPECTS,
    reference,
    rounding,
    terms,
)
from wia_lab.puzzles.gates import copied, fetched_alone, most
from wia_lab.puzzles.inputs import cover, distinct, poisoned
from wia_lab.puzzles.puzzle import Case, Gate, Puzzle, Run

BLOCK = (CONV_TILE_SIZE,)
WARPS = CONV_TILE_SIZE // 32  # a block


@cache
def eeg() -> np.ndarray:
    """One channel of the electroencephalogram among matplotlib's samples: 800 values, float32."""
    from matplotlib.cbook import get_sample_data  # noqa: PLC0415 - slow, and often not needed

    values = np.fromfile(get_sample_data("eeg.dat", asfileobj=False), np.float64)
    return values.reshape(800, 4)[:, 0].astype(np.float32)


def cases(rng: np.random.Generator) -> list[Case]:
    """Whole tiles, a prime number of samples, a recorded signal, one tile, fewer than taps, one."""
    return [
        one_case("1024 samples", distinct(1024, rng), rng, measured=True),
        one_case("1021 samples", distinct(1021, rng), rng),
        one_case("the EEG, 800 samples", eeg(), rng),
        one_case("257 samples", distinct(257, rng), rng),
        one_case("3 samples", distinct(3, rng), rng),
        one_case("1 sample", distinct(1, rng), rng),
    ]


def one_case(
    name: str,
    signal: np.ndarray,
    rng: np.random.Generator,
    *,
    outputs: int = CONV_TILE_SIZE,
    measured: bool = False,
) -> Case:
    """A signal with taps of its own, and as many blocks as it needs if each makes `outputs`."""
    return Case(
        name=name,
        arguments={
            "out": poisoned(signal.size),
            "signal": signal,
            "taps": distinct(KERNEL_SIZE, rng),
        },
        outputs=("out",),
        grid=cover(signal.shape, (outputs,)),
        block=BLOCK,
        measured=measured,
    )


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
    unfilled="Samples outside the signal count as 0, and are stored to the tile as such.",
    terms=terms,
    gates=(
        Gate(
            name="samples copied asynchronously",
            measure=_copied,
            naive=lambda _: 0,
            at_least=lambda case: case.arguments["signal"].size,
            at_most=lambda case: 1.1 * _blocks(case) * (CONV_TILE_SIZE + 2 * HALO_SIZE),
            where=copied("signal"),
            advice=(
                "Bring each tile and its halo into shared memory once, with "
                "cuda.copy_dram_to_sram_async: an assignment makes the thread wait for the load."
            ),
            too_many=(
                "More is copied than the tile needs: 260 samples, once a block, and not once a "
                "thread or once more."
            ),
        ),
        Gate(
            name="tap fetches while the tile is in flight",
            measure=_hidden,
            naive=lambda _: 0,
            at_least=_blocks,
            where=fetched_alone("taps"),
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
            where=fetched_alone("taps"),
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
            where=most("global_load_sectors", of="signal"),
            advice=(
                "The signal is fetched more than once: copy each sample once, neighbouring threads "
                "copying neighbouring samples, and then read them from the tile in shared memory."
            ),
        ),
    ),
    hints=HINTS,
)
