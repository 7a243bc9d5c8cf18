"""What a warp's addresses cost: the sources of the counting helpers of `wia_lab.simt.compiled`.

Sectors: a request asks the L1 cache for each 32-byte sector that an active lane touches, once.
Banks: shared memory has 32 banks of 4 bytes; a wavefront serves one word of every bank, so a
request takes as many as the fullest bank has different words. Accesses of 8 bytes go in two phases
of 16 lanes, of 16 bytes in four of 8; for a load where neighbouring lanes, or the next but one,
all share their address, two phases become one. Atomics do not share: lanes that update one cell go
one after another. All this was measured on an H200 (`wia_lab/data/silicon_h200.csv`).

Each function adds to one row of a table, `table[row, column:]`, so that a call allocates and
returns nothing. Offsets are bytes, one a lane; `active` has one bool a lane; both are contiguous
and hold whole warps of 32 lanes.

A warp's lanes are first joined into *runs*, ascending byte ranges that neither touch nor overlap:
one for a coalesced access or a broadcast, 32 for a scattered one. Both counts read the runs.
"""

from __future__ import annotations

import numpy as np
from numba import njit

WARP = 32
SECTOR = 32  # bytes
BANKS = 32
WORD = 4  # bytes

_at = np.uint64  # an unsigned index: no test for a negative one, so that loops vectorise
_ALL = np.uint64(0x0101010101010101)  # eight bools, all true
_FEW = 8  # runs that insertion sorts faster than ranking does

_LANES = "readonly int64[::1]"
_MASK = "readonly boolean[::1]"
SIGNATURES = {
    "sectors": (
        f"void(int64[:, ::1], int64, int64, {_LANES}, int64, int64, {_MASK}, uint8[::1], int64,"
        " int64)",
    ),
    "atomic_sectors": (
        f"void(int64[:, ::1], int64, int64, {_LANES}, int64, int64, {_MASK}, uint8[::1], int64,"
        " int64)",
    ),
    "banks": (f"void(int64[:, ::1], int64, int64, {_LANES}, int64, int64, {_MASK}, boolean)",),
    "atomic_banks": (f"void(int64[:, ::1], int64, int64, {_LANES}, int64, int64, {_MASK})",),
    "active_warps": (f"UniTuple(int64, 2)({_MASK})",),
    "split_warps": (f"int64({_MASK}, {_MASK})",),
    "mark_warps": (f"void({_MASK}, int64[::1], int64)",),
    "count_marks": ("UniTuple(int64, 2)(readonly uint8[::1], int64, int64, int64)",),
}

SECTOR_COLUMNS = ("requests", "sectors", "ideal_sectors", "bytes")
BANK_COLUMNS = ("requests", "wavefronts", "bank_conflicts", "bytes")


@njit
def _active_lanes(octets, warp):
    """Active lanes of a warp; `octets` is the mask, eight bools an element."""
    count = np.uint64(0)
    for place in range(warp * 4, warp * 4 + 4):
        count += (octets[_at(place)] * _ALL) >> np.uint64(56)
    return np.int64(count)


@njit
def _is_shifted(offsets, active, octets, warp, known, shift):
    """Whether a warp has the mask of warp `known`, and its offsets plus `shift`."""
    other = np.uint64(0)
    for place in range(4):
        other |= octets[_at(warp * 4 + place)] ^ octets[_at(known * 4 + place)]
    if other:
        return False
    first, known_first = warp * WARP, known * WARP
    differing = 0
    for lane in range(WARP):
        moved = offsets[_at(first + lane)] - offsets[_at(known_first + lane)]
        differing |= (moved ^ shift) if active[_at(first + lane)] else 0
    return differing == 0


@njit
def _first_active(active, first):
    lane = first
    while not active[_at(lane)]:
        lane += 1
    return lane


@njit
def _insertion_sort(lows, highs, count):
    for place in range(1, count):
        low, high = lows[_at(place)], highs[_at(place)]
        hole = place
        while hole and lows[_at(hole - 1)] > low:
            lows[_at(hole)] = lows[_at(hole - 1)]
            highs[_at(hole)] = highs[_at(hole - 1)]
            hole -= 1
        lows[_at(hole)] = low
        highs[_at(hole)] = high


@njit
def _rank_sort(lows, highs, count):
    """Each run goes to the place that the number of smaller ones gives; no branch a pair."""
    low, high = lows[:count].copy(), highs[:count].copy()
    for each in range(count):
        key = low[_at(each)]
        rank = 0
        for other in range(each):
            rank += low[_at(other)] <= key
        for other in range(each + 1, count):
            rank += low[_at(other)] < key
        lows[_at(rank)] = key
        highs[_at(rank)] = high[_at(each)]


@njit
def _merge(lows, highs, count):
    """Join ascending runs that touch or overlap; returns how many are left."""
    kept = 0
    for place in range(1, count):
        if lows[_at(place)] <= highs[_at(kept)]:
            highs[_at(kept)] = max(highs[_at(kept)], highs[_at(place)])
        else:
            kept += 1
            lows[_at(kept)] = lows[_at(place)]
            highs[_at(kept)] = highs[_at(place)]
    return kept + 1


@njit
def _runs(offsets, active, first, last, nbytes, lows, highs):
    """Runs of the active lanes in [first, last) into `lows` and `highs`; returns how many."""
    count = 0
    low = high = np.int64(-1)
    ascending = True
    for lane in range(first, last):
        if not active[_at(lane)]:
            continue
        offset = offsets[_at(lane)]
        if low <= offset <= high:
            high = max(high, offset + nbytes)
            continue
        if high >= 0:
            lows[_at(count)], highs[_at(count)] = low, high
            count += 1
        ascending &= offset > high
        low, high = offset, offset + nbytes
    if high >= 0:
        lows[_at(count)], highs[_at(count)] = low, high
        count += 1
    if ascending or count < 2:
        return count
    if count <= _FEW:
        _insertion_sort(lows, highs, count)
    else:
        _rank_sort(lows, highs, count)
    return _merge(lows, highs, count)


@njit
def _mark(marks, shift, mark, low, high):
    for cell in range(low >> shift, ((high - 1) >> shift) + 1):
        marks[_at(cell)] |= mark


@njit
def _sectors_of(lows, highs, runs, base):
    """Sectors that ascending runs touch, and ⌈their bytes / 32⌉."""
    total = distinct = 0
    reached = np.int64(-1)
    for run in range(runs):
        low, high = lows[_at(run)], highs[_at(run)]
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
        count = _active_lanes(octets, warp)
        if count == 0:
            continue
        requests += 1
        lanes += count
        shift_of = 0
        moved = False
        if known >= 0:
            lane = _first_active(active, warp * WARP)
            shift_of = offsets[_at(lane)] - offsets[_at(lane + (known - warp) * WARP)]
            moved = shift_of % SECTOR == 0 and _is_shifted(
                offsets, active, octets, warp, known, shift_of
            )
        if not moved:
            shift_of, known = 0, warp
            runs = _runs(offsets, active, warp * WARP, (warp + 1) * WARP, nbytes, lows, highs)
            asked, needed = _sectors_of(lows, highs, runs, base)
        total += asked
        ideal += needed
        if marks.size:
            for run in range(runs):
                _mark(marks, shift, mark, lows[_at(run)] + shift_of, highs[_at(run)] + shift_of)
    table[row, column] += requests
    table[row, column + 1] += total
    table[row, column + 2] += ideal
    table[row, column + 3] += lanes * nbytes


@njit
def _updates(lows, count, base):
    """Sectors that an atomic asks for: each as often as its most wanted cell has lanes."""
    total = 0
    sector = np.int64(-1)
    most = alike = 0
    for place in range(count):
        address = base + lows[_at(place)]
        alike = alike + 1 if place and lows[_at(place)] == lows[_at(place - 1)] else 1
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
        if _active_lanes(octets, warp) == 0:
            continue
        count = 0
        for lane in range(warp * WARP, (warp + 1) * WARP):
            if active[_at(lane)]:
                lows[_at(count)] = offsets[_at(lane)]
                highs[_at(count)] = offsets[_at(lane)] + nbytes
                count += 1
                if marks.size:
                    _mark(marks, shift, mark, offsets[_at(lane)], offsets[_at(lane)] + nbytes)
        requests += 1
        lanes += count
        _rank_sort(lows, highs, count)
        total += _updates(lows, count, base)
        ideal += _sectors_of(lows, highs, _merge(lows, highs, count), base)[1]
    table[row, column] += requests
    table[row, column + 1] += total
    table[row, column + 2] += ideal
    table[row, column + 3] += lanes * nbytes


@njit
def _fullest_bank(lows, highs, runs, base, held):
    """Different words of the bank that has most, over ascending runs."""
    if runs == 1:
        words = ((base + highs[0] - 1) >> 2) - ((base + lows[0]) >> 2) + 1
        return (words + BANKS - 1) // BANKS
    held[:] = 0
    worst = 0
    reached = np.int64(-1)
    for place in range(runs):
        begin = max((base + lows[_at(place)]) >> 2, reached + 1)
        reached = (base + highs[_at(place)] - 1) >> 2
        for word in range(begin, reached + 1):
            bank = _at(word & (BANKS - 1))
            held[bank] += 1
            worst = max(worst, held[bank])
    return worst


@njit
def _lanes_together(offsets, active, first, words, shares):
    """Lanes that one phase of a warp serves: twice as many where pairs of lanes share addresses."""
    if words == 1 or not shares:
        return WARP // words
    for distance in (1, 2):
        shared = True
        for lane in range(first, first + WARP):
            partner = first + ((lane - first) ^ distance)
            if active[_at(lane)] and active[_at(partner)]:
                shared &= offsets[_at(lane)] == offsets[_at(partner)]
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
        count = _active_lanes(octets, warp)
        if count == 0:
            continue
        requests += 1
        lanes += count
        moved = False
        if known >= 0:
            lane = _first_active(active, warp * WARP)
            shift = offsets[_at(lane)] - offsets[_at(lane + (known - warp) * WARP)]
            moved = shift % WORD == 0 and _is_shifted(offsets, active, octets, warp, known, shift)
        if not moved:
            known = warp
            served = passes = 0
            together = _lanes_together(offsets, active, warp * WARP, words, shares)
            for lane in range(warp * WARP, (warp + 1) * WARP, together):
                runs = _runs(offsets, active, lane, lane + together, nbytes, lows, highs)
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
        count = _active_lanes(octets, warp)
        if count == 0:
            continue
        requests += 1
        lanes += count
        for first in range(warp * WARP, (warp + 1) * WARP, WARP // words):
            held[:] = 0
            for lane in range(first, first + WARP // words):
                if active[_at(lane)]:
                    word = (base + offsets[_at(lane)]) >> 2
                    for each in range(word, word + words):
                        held[_at(each & (BANKS - 1))] += 1
            wavefronts += held.max()
            phases += held.max() > 0
    table[row, column] += requests
    table[row, column + 1] += wavefronts
    table[row, column + 2] += wavefronts - phases
    table[row, column + 3] += lanes * nbytes


def active_warps(active: np.ndarray) -> tuple[int, int]:
    """Warps with an active lane, and active lanes."""
    warps = lanes = 0
    octets = active.view(np.uint64)
    for warp in range(active.size // WARP):
        count = _active_lanes(octets, warp)
        warps += count > 0
        lanes += count
    return warps, lanes


def split_warps(taken: np.ndarray, fallen: np.ndarray) -> int:
    """Warps that have lanes in both masks."""
    warps = 0
    left, right = taken.view(np.uint64), fallen.view(np.uint64)
    for warp in range(taken.size // WARP):
        warps += _active_lanes(left, warp) > 0 and _active_lanes(right, warp) > 0
    return warps


def mark_warps(active: np.ndarray, counts: np.ndarray, amount: int) -> None:
    """Add `amount` to `counts` (one a warp) for each warp with an active lane."""
    octets = active.view(np.uint64)
    for warp in range(counts.size):
        counts[_at(warp)] += amount if _active_lanes(octets, warp) else 0


def count_marks(marks: np.ndarray, shift: int, base: int, mark: int) -> tuple[int, int]:
    """Bytes marked with a bit of `mark`, and different 32-byte sectors that they lie in."""
    cells = found = 0
    reached = np.int64(-1)
    size = 1 << shift
    for cell in range(marks.size):
        if marks[_at(cell)] & mark:
            cells += 1
            begin = max((base + (cell << shift)) >> 5, reached + 1)
            reached = (base + (cell << shift) + size - 1) >> 5
            found += reached - begin + 1
    return cells << shift, found
