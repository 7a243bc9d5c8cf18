"""10 pipeline: 5 taps over a signal, the next tile copied while this one is computed.

out[i] = sum over k of signal[i + k - 2] * taps[k], zero outside the signal: float32, 1-D. A block
of 256 threads makes four tiles of 256 outputs, in two buffers of 260 samples. The source documents
copy one tile a block (puzzle 28), so nothing travels while it is computed; their double buffering
(chapter 4, 4.9) is the host's, and puzzle 14's.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from wia_lab.puzzles.async_convolution import WARPS, eeg, one_case
from wia_lab.puzzles.formulas.async_convolution import (
    CONV_TILE_SIZE,
    HALO_SIZE,
    reference,
    rounding,
    terms,
)
from wia_lab.puzzles.formulas.pipeline_convolution import OUTPUTS, SUSPECTS, TILES_PER_BLOCK
from wia_lab.puzzles.gates import copied, most, stored_idle
from wia_lab.puzzles.inputs import distinct
from wia_lab.puzzles.puzzle import Case, Gate, Puzzle, Run

if TYPE_CHECKING:
    import numpy as np


def cases(rng: np.random.Generator) -> list[Case]:
    """Whole blocks, a prime number of samples, a recorded signal, one more than a block, few."""
    case = partial(one_case, rng=rng, outputs=OUTPUTS)
    return [
        case("4096 samples", distinct(4096, rng), measured=True),
        case("4093 samples", distinct(4093, rng)),
        case("the EEG, 800 samples", eeg()),
        case("1025 samples", distinct(1025, rng)),
        case("3 samples", distinct(3, rng)),
        case("1 sample", distinct(1, rng)),
    ]


# What is counted on 4,096 samples: 4 blocks of 4 tiles.


def _tiles(case: Case) -> int:
    return case.grid[0] * TILES_PER_BLOCK


def naive_sectors(case: Case) -> int:
    """Each thread loads its five samples, as puzzle 09's plain kernel does."""
    return _tiles(case) * WARPS * (4 * 5 + 4) - 4


def ideal_sectors(case: Case) -> int:
    """A tile's 260 samples in one sweep: 5 sectors a warp, and 2 for the last four samples."""
    return _tiles(case) * (WARPS * 5 + 2)


def overlapping_outputs(case: Case) -> int:
    """Of each block's four tiles all but the last have a successor to copy meanwhile."""
    return case.grid[0] * (TILES_PER_BLOCK - 1) * CONV_TILE_SIZE


def _sectors(run: Run) -> int | None:
    if "signal" not in run.arrays:
        return None
    return int(run.arrays["signal"].counters.global_load_sectors)


HINTS = (
    """\
Write down for each of the four tiles: when is its copy issued, when is it waited for, when is it
computed? The copy of tile 1 should be on its way while tile 0 is computed. So it is issued before
tile 0 is waited for. And the copy of tile 2 goes into the buffer of tile 0: who must have finished
with that first?""",
    """\
Before the loop the copy of tile 0 is issued, and its group closed. Then, for n = 0, 1, 2, 3:

    if there is a tile n + 1: issue its copy into the other buffer, and close its group
    wait until the group of tile n has landed
    barrier: all threads' copies have landed
    compute tile n
    barrier: all threads have finished with its buffer

cuda.cp_async_wait_group(1) waits until at most 1 group, the newest, is still in flight. For the
last tile there is no newer one: cuda.cp_async_wait_group(0).""",
    """\
The loop, with its middle left to write:

    cuda.copy_dram_to_sram_async(tiles[0], signal, first - HALO_SIZE, BUFFER_SIZE)
    cuda.cp_async_commit_group()
    for n in range(TILES_PER_BLOCK):
        start = first + n * CONV_TILE_SIZE
        if n + 1 < TILES_PER_BLOCK:
            following = start + CONV_TILE_SIZE - HALO_SIZE
            cuda.copy_dram_to_sram_async(tiles[(n + 1) % 2], signal, following, BUFFER_SIZE)
            cuda.cp_async_commit_group()
            cuda.cp_async_wait_group(1)
        else:
            cuda.cp_async_wait_group(0)
        cuda.syncthreads()
        ...      # output start + t, from tiles[n % 2, t + k], if it lies inside out
        cuda.syncthreads()""",
)

PUZZLE = Puzzle(
    number=10,
    id="pipeline",
    title="A pipeline of tiles",
    teaches="with two buffers the next tile travels while this one is computed",
    function="pipeline_convolution",
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
            measure=lambda run: run.flight.elements["signal"],
            naive=lambda _: 0,
            at_least=lambda case: case.arguments["signal"].size,
            at_most=lambda case: 1.1 * _tiles(case) * (CONV_TILE_SIZE + 2 * HALO_SIZE),
            where=copied("signal"),
            advice=(
                "Bring each tile and its halo into shared memory once, with "
                "cuda.copy_dram_to_sram_async."
            ),
            too_many=(
                "More is copied than the tiles need: a block copies each of its four tiles once, "
                "and in its last turn there is no next tile to ask for."
            ),
        ),
        Gate(
            name="outputs stored while a tile is in flight",
            measure=lambda run: run.flight.stored,
            naive=lambda _: 0,
            at_least=lambda case: 0.9 * overlapping_outputs(case),
            where=stored_idle,
            advice=(
                "Close a group for each copy, and an empty one in the last turn, which asks "
                "for nothing, so that cuda.cp_async_wait_group(1) leaves the next tile in flight "
                "in every turn and never this one; or wait for 0 in the last turn alone."
            ),
        ),
        Gate(
            name="sectors of the signal read",
            measure=_sectors,
            naive=naive_sectors,
            at_most=lambda case: 1.1 * ideal_sectors(case),
            where=most("global_load_sectors", of="signal"),
            advice=(
                "The signal is fetched more than once: copy each sample once, and then read it "
                "from the tile in shared memory."
            ),
        ),
    ),
    hints=HINTS,
)
