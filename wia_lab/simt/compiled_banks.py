"""Shared-memory banks: sources of the counting helpers of `wia_lab.simt.compiled`.

Shared memory has 32 banks of 4 bytes; a wavefront serves one word of every bank, so a request takes
as many as the fullest bank has different words. Accesses of 8 bytes go in two phases of 16 lanes,
of 16 bytes in four of 8; for a load where neighbouring lanes, or the next but one, all share their
address, two phases become one. Atomics do not share: lanes that update one cell go one after
another. All this was measured on an H200 (`wia_lab/data/silicon_h200.csv`).

Each function adds to one row of a table, `table[row, column:]`, so that a call allocates and
returns nothing.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from wia_lab.simt.compiled_runs import (
    LANES,
    MASK,
    WARP,
    active_lanes,
    at,
    first_active,
    is_shifted,
    runs_of,
)

BANKS = 32
WORD = 4  # bytes

_COUNT = f"void(int64[:, ::1], int64, int64, {LANES}, int64, int64, {MASK}"
SIGNATURES = {"banks": (f"{_COUNT}, boolean)",), "atomic_banks": (f"{_COUNT})",)}

BANK_COLUMNS = ("requests", "wavefronts", "bank_conflicts", "bytes")


@njit
def _fullest_bank(
    lows: np.ndarray, highs: np.ndarray, runs: int, base: int, held: np.ndarray
) -> int:
    """Different words of the bank that has most, over ascending runs."""
    if runs == 1:
        words = ((base + highs[0] - 1) >> 2) - ((base + lows[0]) >> 2) + 1
        return (words + BANKS - 1) // BANKS
    held[:] = 0
    worst = 0
    reached = np.int64(-1)
    for place in range(runs):
        begin = max((base + lows[at(place)]) >> 2, reached + 1)
        reached = (base + highs[at(place)] - 1) >> 2
        for word in range(begin, reached + 1):
            bank = at(word & (BANKS - 1))
            held[bank] += 1
            worst = max(worst, held[bank])
    return worst


@njit
def _lanes_together(
    offsets: np.ndarray, active: np.ndarray, first: int, words: int, shares: bool
) -> int:
    """Lanes that one phase of a warp serves: twice as many where pairs of lanes share addresses."""
    if words == 1 or not shares:
        return WARP // words
    for distance in (1, 2):
        shared = True
        for lane in range(first, first + WARP):
            partner = first + ((lane - first) ^ distance)
            if active[at(lane)] and active[at(partner)]:
                shared &= offsets[at(lane)] == offsets[at(partner)]
        if shared:
            return 2 * WARP // words
    return WARP // words


def banks(
    table: np.ndarray,
    row: int,
    column: int,
    offsets: np.ndarray,
    nbytes: int,
    base: int,
    active: np.ndarray,
    shares: bool,
) -> None:
    """Add requests, wavefronts, bank conflicts and bytes (BANK_COLUMNS) of one shared access.

    `nbytes` is 1, 2, 4, 8 or 16. `shares`: pairs of lanes with one address may share a phase (a
    load). Conflicts are the wavefronts beyond one a phase.
    """
    requests = wavefronts = phases = lanes = 0
    words = max(nbytes // WORD, 1)
    lows, highs = np.empty(WARP, np.int64), np.empty(WARP, np.int64)
    held = np.empty(BANKS, np.int64)
    octets = active.view(np.uint64)
    known = -1  # the last warp that was counted; later ones may be the same, moved
    served = passes = 0
    for warp in range(offsets.size // WARP):
        count = active_lanes(octets, warp)
        if count == 0:
            continue
        requests += 1
        lanes += count
        moved = False
        if known >= 0:
            lane = first_active(active, warp * WARP)
            shift = offsets[at(lane)] - offsets[at(lane + (known - warp) * WARP)]
            moved = shift % WORD == 0 and is_shifted(offsets, active, octets, warp, known, shift)
        if not moved:
            known = warp
            served = passes = 0
            together = _lanes_together(offsets, active, warp * WARP, words, shares)
            for lane in range(warp * WARP, (warp + 1) * WARP, together):
                runs = runs_of(offsets, active, lane, lane + together, nbytes, lows, highs)
                if runs:
                    passes += 1
                    served += _fullest_bank(lows, highs, runs, base, held)
        wavefronts += served
        phases += passes
    table[row, column] += requests
    table[row, column + 1] += wavefronts
    table[row, column + 2] += wavefronts - phases
    table[row, column + 3] += lanes * nbytes


def atomic_banks(
    table: np.ndarray,
    row: int,
    column: int,
    offsets: np.ndarray,
    nbytes: int,
    base: int,
    active: np.ndarray,
) -> None:
    """Add what `banks` adds, for an atomic operation: each lane takes its own turn at its bank."""
    requests = wavefronts = phases = lanes = 0
    words = max(nbytes // WORD, 1)
    held = np.empty(BANKS, np.int64)
    octets = active.view(np.uint64)
    for warp in range(offsets.size // WARP):
        count = active_lanes(octets, warp)
        if count == 0:
            continue
        requests += 1
        lanes += count
        for first in range(warp * WARP, (warp + 1) * WARP, WARP // words):
            held[:] = 0
            worst = 0
            for lane in range(first, first + WARP // words):
                if active[at(lane)]:
                    word = (base + offsets[at(lane)]) >> 2
                    for each in range(word, word + words):
                        bank = at(each & (BANKS - 1))
                        held[bank] += 1
                        worst = max(worst, held[bank])
            wavefronts += worst
            phases += worst > 0
    table[row, column] += requests
    table[row, column + 1] += wavefronts
    table[row, column + 2] += wavefronts - phases
    table[row, column + 3] += lanes * nbytes
