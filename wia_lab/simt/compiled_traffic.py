"""Sectors and masks: sources of the counting helpers of `wia_lab.simt.compiled`.

A request asks the L1 cache for each 32-byte sector that an active lane touches, once. Atomics do
not share: a sector is asked for as often as its most wanted cell has lanes. Measured on an H200
(`wia_lab/data/silicon_h200.csv`).

Each counting function adds to one row of a table, `table[row, column:]`, so that a call allocates
and returns nothing.
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
    merge,
    rank_sort,
    runs_of,
)

SECTOR = 32  # bytes

_COUNT = (
    f"void(int64[:, ::1], int64, int64, {LANES}, int64, int64, {MASK}, uint8[::1], int64, int64)"
)
SIGNATURES = {
    "sectors": (_COUNT,),
    "atomic_sectors": (_COUNT,),
    "active_warps": (f"UniTuple(int64, 2)({MASK})",),
    "split_warps": (f"int64({MASK}, {MASK})",),
    "mark_warps": (f"void({MASK}, int64[::1], int64)",),
    "count_marks": ("UniTuple(int64, 2)(readonly uint8[::1], int64, int64, int64)",),
}

SECTOR_COLUMNS = ("requests", "sectors", "ideal_sectors", "bytes")


@njit
def _mark(marks: np.ndarray, shift: int, mark: int, low: int, high: int) -> None:
    for cell in range(low >> shift, ((high - 1) >> shift) + 1):
        marks[at(cell)] |= mark


@njit
def _sectors_of(lows: np.ndarray, highs: np.ndarray, runs: int, base: int) -> tuple[int, int]:
    """Sectors that ascending runs touch, and ⌈their bytes / 32⌉."""
    total = distinct = 0
    reached = np.int64(-1)
    for run in range(runs):
        low, high = lows[at(run)], highs[at(run)]
        distinct += high - low
        begin = max((base + low) >> 5, reached + 1)
        reached = (base + high - 1) >> 5
        total += reached - begin + 1
    return total, (distinct + SECTOR - 1) >> 5


def sectors(
    table: np.ndarray,
    row: int,
    column: int,
    offsets: np.ndarray,
    nbytes: int,
    base: int,
    active: np.ndarray,
    marks: np.ndarray,
    shift: int,
    mark: int,
) -> None:
    """Add requests, sectors, ideal sectors and bytes (SECTOR_COLUMNS) of one access.

    `base` is the address of offset 0. The ideal is ⌈distinct bytes / 32⌉ a request; bytes count
    every lane. `marks` has one byte for each `1 << shift` bytes of the space: those touched get
    the bits of `mark`. An empty `marks` marks nothing.
    """
    requests = total = ideal = lanes = 0
    lows, highs = np.empty(WARP, np.int64), np.empty(WARP, np.int64)
    octets = active.view(np.uint64)
    known = -1  # the last warp whose runs were made; later ones may be the same, moved
    runs = asked = needed = 0
    for warp in range(offsets.size // WARP):
        count = active_lanes(octets, warp)
        if count == 0:
            continue
        requests += 1
        lanes += count
        shift_of = 0
        moved = False
        if known >= 0:
            lane = first_active(active, warp * WARP)
            shift_of = offsets[at(lane)] - offsets[at(lane + (known - warp) * WARP)]
            moved = shift_of % SECTOR == 0 and is_shifted(
                offsets, active, octets, warp, known, shift_of
            )
        if not moved:
            shift_of, known = 0, warp
            runs = runs_of(offsets, active, warp * WARP, (warp + 1) * WARP, nbytes, lows, highs)
            asked, needed = _sectors_of(lows, highs, runs, base)
        total += asked
        ideal += needed
        if marks.size:
            for run in range(runs):
                _mark(marks, shift, mark, lows[at(run)] + shift_of, highs[at(run)] + shift_of)
    table[row, column] += requests
    table[row, column + 1] += total
    table[row, column + 2] += ideal
    table[row, column + 3] += lanes * nbytes


@njit
def _updates(lows: np.ndarray, count: int, base: int) -> int:
    """Sectors that an atomic asks for: each as often as its most wanted cell has lanes."""
    total = 0
    sector = np.int64(-1)
    most = alike = 0
    for place in range(count):
        address = base + lows[at(place)]
        alike = alike + 1 if place and lows[at(place)] == lows[at(place - 1)] else 1
        if address >> 5 != sector:
            total += most
            sector, most = address >> 5, 0
        most = max(most, alike)
    return total + most


def atomic_sectors(
    table: np.ndarray,
    row: int,
    column: int,
    offsets: np.ndarray,
    nbytes: int,
    base: int,
    active: np.ndarray,
    marks: np.ndarray,
    shift: int,
    mark: int,
) -> None:
    """Add what `sectors` adds, for an atomic operation on global memory.

    Lanes that update one cell need its sector once each.
    """
    requests = total = ideal = lanes = 0
    lows, highs = np.empty(WARP, np.int64), np.empty(WARP, np.int64)
    octets = active.view(np.uint64)
    for warp in range(offsets.size // WARP):
        if active_lanes(octets, warp) == 0:
            continue
        count = 0
        for lane in range(warp * WARP, (warp + 1) * WARP):
            if active[at(lane)]:
                lows[at(count)] = offsets[at(lane)]
                highs[at(count)] = offsets[at(lane)] + nbytes
                count += 1
                if marks.size:
                    _mark(marks, shift, mark, offsets[at(lane)], offsets[at(lane)] + nbytes)
        requests += 1
        lanes += count
        rank_sort(lows, highs, count)
        total += _updates(lows, count, base)
        ideal += _sectors_of(lows, highs, merge(lows, highs, count), base)[1]
    table[row, column] += requests
    table[row, column + 1] += total
    table[row, column + 2] += ideal
    table[row, column + 3] += lanes * nbytes


def active_warps(active: np.ndarray) -> tuple[int, int]:
    """Warps with an active lane, and active lanes."""
    warps = lanes = 0
    octets = active.view(np.uint64)
    for warp in range(active.size // WARP):
        count = active_lanes(octets, warp)
        warps += count > 0
        lanes += count
    return warps, lanes


def split_warps(taken: np.ndarray, fallen: np.ndarray) -> int:
    """Warps that have lanes in both masks."""
    warps = 0
    left, right = taken.view(np.uint64), fallen.view(np.uint64)
    for warp in range(taken.size // WARP):
        warps += active_lanes(left, warp) > 0 and active_lanes(right, warp) > 0
    return warps


def mark_warps(active: np.ndarray, counts: np.ndarray, amount: int) -> None:
    """Add `amount` to `counts` (one a warp) for each warp with an active lane."""
    octets = active.view(np.uint64)
    for warp in range(counts.size):
        counts[at(warp)] += amount if active_lanes(octets, warp) else 0


def count_marks(marks: np.ndarray, shift: int, base: int, mark: int) -> tuple[int, int]:
    """Bytes marked with a bit of `mark`, and different 32-byte sectors that they lie in."""
    cells = found = 0
    reached = -1
    size = 1 << shift
    for cell in range(marks.size):
        if marks[at(cell)] & mark:
            cells += 1
            begin = max((base + (cell << shift)) >> 5, reached + 1)
            reached = (base + (cell << shift) + size - 1) >> 5
            found += reached - begin + 1
    return cells << shift, found
