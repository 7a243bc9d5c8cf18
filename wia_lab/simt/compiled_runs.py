"""A warp's addresses as runs: what `compiled_traffic` and `compiled_banks` share.

A warp's lanes are joined into *runs*, ascending byte ranges that neither touch nor overlap: one for
a coalesced access or a broadcast, 32 for a scattered one. Offsets are bytes, one a lane; `active`
has one bool a lane; both are contiguous and hold whole warps of 32 lanes.
"""

from __future__ import annotations

import numpy as np
from numba import njit

WARP = 32
LANES = "readonly int64[::1]"
MASK = "readonly boolean[::1]"

at = np.uint64  # an unsigned index: no test for a negative one, so that loops vectorise
_ALL = np.uint64(0x0101010101010101)  # eight bools, all true
_FEW = 8  # runs that insertion sorts faster than ranking does


@njit
def active_lanes(octets: np.ndarray, warp: int) -> int:
    """Active lanes of a warp; `octets` is the mask, eight bools an element."""
    count = np.uint64(0)
    for place in range(warp * 4, warp * 4 + 4):
        count += (octets[at(place)] * _ALL) >> np.uint64(56)
    return np.int64(count)  # type: ignore[return-value]


@njit
def is_shifted(
    offsets: np.ndarray, active: np.ndarray, octets: np.ndarray, warp: int, known: int, shift: int
) -> bool:
    """Whether a warp has the mask of warp `known`, and its offsets plus `shift`."""
    other = np.uint64(0)
    for place in range(4):
        other |= octets[at(warp * 4 + place)] ^ octets[at(known * 4 + place)]
    if other:
        return False
    first, known_first = warp * WARP, known * WARP
    differing = 0
    for lane in range(WARP):
        moved = offsets[at(first + lane)] - offsets[at(known_first + lane)]
        differing |= (moved ^ shift) if active[at(first + lane)] else 0
    return differing == 0


@njit
def first_active(active: np.ndarray, first: int) -> int:
    """The first active lane from `first` on; there must be one."""
    lane = first
    while not active[at(lane)]:
        lane += 1
    return lane


@njit
def insertion_sort(lows: np.ndarray, highs: np.ndarray, count: int) -> None:
    """Ascending runs; quick where there are few."""
    for place in range(1, count):
        low, high = lows[at(place)], highs[at(place)]
        hole = place
        while hole and lows[at(hole - 1)] > low:
            lows[at(hole)] = lows[at(hole - 1)]
            highs[at(hole)] = highs[at(hole - 1)]
            hole -= 1
        lows[at(hole)] = low
        highs[at(hole)] = high


@njit
def rank_sort(lows: np.ndarray, highs: np.ndarray, count: int) -> None:
    """Each run goes to the place that the number of smaller ones gives; no branch a pair."""
    low, high = lows[:count].copy(), highs[:count].copy()
    for each in range(count):
        key = low[at(each)]
        rank = 0
        for other in range(each):
            rank += low[at(other)] <= key
        for other in range(each + 1, count):
            rank += low[at(other)] < key
        lows[at(rank)] = key
        highs[at(rank)] = high[at(each)]


@njit
def merge(lows: np.ndarray, highs: np.ndarray, count: int) -> int:
    """Join ascending runs that touch or overlap; returns how many are left."""
    kept = 0
    for place in range(1, count):
        if lows[at(place)] <= highs[at(kept)]:
            highs[at(kept)] = max(highs[at(kept)], highs[at(place)])
        else:
            kept += 1
            lows[at(kept)] = lows[at(place)]
            highs[at(kept)] = highs[at(place)]
    return kept + 1


@njit
def runs_of(
    offsets: np.ndarray,
    active: np.ndarray,
    first: int,
    last: int,
    nbytes: int,
    lows: np.ndarray,
    highs: np.ndarray,
) -> int:
    """Runs of the active lanes in [first, last) into `lows` and `highs`; returns how many."""
    count = 0
    low = high = np.int64(-1)
    ascending = True
    for lane in range(first, last):
        if not active[at(lane)]:
            continue
        offset = offsets[at(lane)]
        if low <= offset <= high:
            high = max(high, offset + nbytes)
            continue
        if high >= 0:
            lows[at(count)], highs[at(count)] = low, high
            count += 1
        ascending &= offset > high
        low, high = offset, offset + nbytes
    if high >= 0:
        lows[at(count)], highs[at(count)] = low, high
        count += 1
    if ascending or count < 2:
        return count
    if count <= _FEW:
        insertion_sort(lows, highs, count)
    else:
        rank_sort(lows, highs, count)
    return merge(lows, highs, count)
