"""08 halo-convolution: 5 taps over a signal, through a tile that holds its neighbours' edges too.

out[i] = sum over k of signal[i + k - 2] * taps[k], zero outside the signal: float32, 1-D. A block
of 256 threads computes 256 outputs from 260 samples in shared memory. The source documents (puzzle
28) explain the halo, then leave it out of their answer; here it is the point.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wia_lab.puzzles import async_convolution
from wia_lab.puzzles.async_convolution import WARPS, ideal_sectors, naive_sectors
from wia_lab.puzzles.formulas.async_convolution import reference, rounding, terms
from wia_lab.puzzles.formulas.halo_convolution import SUSPECTS
from wia_lab.puzzles.gates import most
from wia_lab.puzzles.puzzle import Gate, Puzzle

if TYPE_CHECKING:
    from wia_lab.puzzles.puzzle import Case, Run


def _sectors(run: Run) -> int | None:
    signal = run.arrays.get("signal")
    return None if signal is None else int(signal.counters.global_load_sectors)


def _shared_reads(run: Run) -> int:
    return int(run.counters.shared_load_wavefronts)


def neighbours_read(case: Case) -> int:
    """An output's four neighbours come from the tile; its own sample may still be in a register."""
    return case.grid[0] * WARPS * 4


HINTS = (
    """\
Draw block 1. Its outputs are 256 … 511. Which samples does output 256 need, and which 511?
Count all that the block needs: 260, but there are 256 threads. So some threads load a second one.
Which cell of the tile should sample start - HALO_SIZE stand in, so that no index is negative?""",
    """\
tile[j] holds sample start - HALO_SIZE + j, for j from 0 to BUFFER_SIZE - 1. Thread t fills cells t,
t + 256, … as long as they exist:

    for j in range(t, BUFFER_SIZE, CONV_TILE_SIZE):
        i = start - HALO_SIZE + j
        tile[j] = ...         # sample i, or 0 where i lies outside the signal

A thread reads cells that others filled, so all must have filled theirs: cuda.syncthreads(), outside
of every if.""",
    """\
The loading, in full:

    for j in range(t, BUFFER_SIZE, CONV_TILE_SIZE):
        i = start - HALO_SIZE + j
        tile[j] = signal[i] if i >= 0 and i < signal.size else float32(0)
    cuda.syncthreads()

Then output i = start + t needs tile[t], tile[t + 1], … tile[t + 4]: add up tile[t + k] * taps[k] in
a float32(0), and store it if i < out.size.""",
)

PUZZLE = Puzzle(
    number=8,
    id="halo-convolution",
    title="Convolution with a halo",
    teaches="a tile whose outputs need neighbours must bring the neighbours' edges along",
    function="halo_convolution",
    signature=("out", "signal", "taps"),
    cases=async_convolution.cases,
    reference=reference,
    rounding=rounding,
    suspects=SUSPECTS,
    unfilled="Samples outside the signal count as 0, and are stored to the tile as such.",
    terms=terms,
    gates=(
        Gate(
            name="sectors of the signal read",
            measure=_sectors,
            naive=naive_sectors,
            at_most=lambda case: 1.1 * ideal_sectors(case),
            where=most("global_load_sectors", of="signal"),
            advice=(
                "Samples are fetched from global memory more than once: load each of the block's "
                "260 into the tile once, neighbouring threads loading neighbours, and compute "
                "from the tile."
            ),
        ),
        Gate(
            name="shared load wavefronts",
            measure=_shared_reads,
            naive=lambda _: 0,
            at_least=neighbours_read,
            advice="Read the neighbours' samples from the tile in shared memory.",
        ),
    ),
    hints=HINTS,
)
