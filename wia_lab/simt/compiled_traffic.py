"""What a warp's addresses cost: the sources of the counting helpers of `wia_lab.simt.compiled`.

Sectors: a request asks the L1 cache for each 32-byte sector that an active lane touches, once.
Banks: shared memory has 32 banks of 4 bytes; a wavefront serves one word of every bank, so a
request takes as many as the fullest bank has different words. Accesses of 8 bytes go in two phases
of 16 lanes, of 16 bytes in four of 8.

Each function adds to one row of a table, `table[row, column:]`, so that a call allocates and
returns nothing. Offsets are bytes, one a lane; `active` has one bool a lane; both are contiguous,
with 32 lanes a warp.
"""

from __future__ import annotations

import numpy as np
from numba import njit

WARP = 32
SECTOR = 32  # bytes
BANKS = 32
WORD = 4  # bytes

_at = np.uint64  # an unsigned index: no test for a negative one, so that loops vectorise

_LANES = "readonly int64[::1]"
_MASK = "readonly boolean[::1]"
SIGNATURES = {
    "sectors": (
        f"void(int64[:, ::1], int64, int64, {_LANES}, int64, int64, {_MASK}, uint8[::1], int64,"
        " int64)",
    ),
    "banks": (f"void(int64[:, ::1], int64, int64, {_LANES}, int64, int64, {_MASK})",),
    "active_warps": (f"UniTuple(int64, 2)({_MASK})",),
    "split_warps": (f"int64({_MASK}, {_MASK})",),
    "mark_warps": (f"void({_MASK}, int64[::1])",),
    "count_marks": (f"UniTuple(int64, 2)(readonly uint8[::1], int64, int64, int64)",),
}

SECTOR_COLUMNS = ("requests", "sectors", "ideal_sectors", "bytes")
BANK_COLUMNS = ("requests", "wavefronts", "bank_conflicts", "bytes")


@njit
def _active_lanes(active, first, last):
    count = 0
    for lane in range(first, last):
        count += active[_at(lane)]
    return count


@njit
def _is_progression(offsets, first):
    """Whether a whole warp's offsets have one common difference."""
    step = offsets[_at(first + 1)] - offsets[_at(first)]
    other = 0
    for lane in range(first + 1, first + WARP - 1):
        other |= (offsets[_at(lane + 1)] - offsets[_at(lane)]) ^ step
    return other == 0


@njit
def _sort(values, count):
    """Insertion sort: short, and quick where values nearly ascend."""
    if values[0] > values[count - 1]:
        values[:count] = values[:count][::-1].copy()
    for place in range(1, count):
        value = values[_at(place)]
        hole = place
        while hole and values[_at(hole - 1)] > value:
            values[_at(hole)] = values[_at(hole - 1)]
            hole -= 1
        values[_at(hole)] = value


@njit
def _mark(marks, shift, mark, first, last):
    for cell in range(first >> shift, ((last - 1) >> shift) + 1):
        marks[_at(cell)] |= mark


@njit
def _collect(offsets, active, first, last, found):
    """Offsets of active lanes into `found`, ascending; returns how many."""
    count = 0
    ascending = True
    for lane in range(first, last):
        if active[_at(lane)]:
            found[_at(count)] = offsets[_at(lane)]
            ascending &= count == 0 or found[_at(count)] >= found[_at(count - 1)]
            count += 1
    if not ascending:
        _sort(found, count)
    return count


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
    found = np.empty(WARP, np.int64)
    keep = marks.size > 0
    for first in range(0, offsets.size, WARP):
        last = min(first + WARP, offsets.size)
        count = _active_lanes(active, first, last)
        if count == 0:
            continue
        requests += 1
        lanes += count
        if count == WARP and _is_progression(offsets, first):
            step = abs(offsets[_at(first + 1)] - offsets[_at(first)])
            if step <= nbytes:  # one run of bytes without a gap
                low = min(offsets[_at(first)], offsets[_at(first + WARP - 1)])
                run = step * (WARP - 1) + nbytes
                total += ((base + low + run - 1) >> 5) - ((base + low) >> 5) + 1
                ideal += (run + SECTOR - 1) >> 5
                if keep:
                    _mark(marks, shift, mark, low, low + run)
                continue
        count = _collect(offsets, active, first, last, found)
        reached = covered = -1  # the last sector and the byte behind the last one counted
        distinct = 0
        for place in range(count):
            low = found[_at(place)]
            high = low + nbytes
            if high <= covered:
                continue
            distinct += high - max(low, covered)
            covered = high
            first_sector = max((base + low) >> 5, reached + 1)
            reached = max((base + high - 1) >> 5, reached)
            total += reached - first_sector + 1
            if keep:
                _mark(marks, shift, mark, low, high)
        ideal += (distinct + SECTOR - 1) >> 5
    table[row, column] += requests
    table[row, column + 1] += total
    table[row, column + 2] += ideal
    table[row, column + 3] += lanes * nbytes


@njit
def _phase_wavefronts(offsets, base, active, first, last, words, held, seen):
    """Words of the fullest bank among the lanes of one phase; 0 when none is active."""
    held[:] = 0
    worst = 0
    previous = -1
    for lane in range(first, last):
        if not active[_at(lane)]:
            continue
        word = (base + offsets[_at(lane)]) >> 2
        if word == previous:
            continue
        previous = word
        for each in range(word, word + words):
            bank = each & (BANKS - 1)
            known = False
            for place in range(held[_at(bank)]):
                known |= seen[_at(bank), _at(place)] == each
            if not known:
                seen[_at(bank), _at(held[_at(bank)])] = each
                held[_at(bank)] += 1
                worst = max(worst, held[_at(bank)])
    return worst


def banks(
    table: np.ndarray,
    row: int,
    column: int,
    offsets: np.ndarray,
    nbytes: int,
    base: int,
    active: np.ndarray,
) -> None:
    """Add requests, wavefronts, bank conflicts and bytes (BANK_COLUMNS) of one shared access.

    `nbytes` is 1, 2, 4, 8 or 16. Conflicts are the wavefronts beyond one a phase.
    """
    requests = wavefronts = phases = lanes = 0
    words = max(nbytes // WORD, 1)
    together = WARP // words  # lanes a phase
    held = np.zeros(BANKS, np.int64)
    seen = np.empty((BANKS, WARP), np.int64)
    for first in range(0, offsets.size, WARP):
        last = min(first + WARP, offsets.size)
        count = _active_lanes(active, first, last)
        if count == 0:
            continue
        requests += 1
        lanes += count
        step = offsets[_at(first + 1)] - offsets[_at(first)] if count == WARP else 1
        if step % (words * WORD) == 0 and _is_progression(offsets, first):
            step //= words * WORD
            phases += words
            wavefronts += words * (min(step & -step, together) if step else 1)
            continue
        for lane in range(first, last, together):
            found = _phase_wavefronts(
                offsets, base, active, lane, min(lane + together, last), words, held, seen
            )
            wavefronts += found
            phases += found > 0
    table[row, column] += requests
    table[row, column + 1] += wavefronts
    table[row, column + 2] += wavefronts - phases
    table[row, column + 3] += lanes * nbytes


def active_warps(active: np.ndarray) -> tuple[int, int]:
    """Warps with an active lane, and active lanes."""
    warps = lanes = 0
    for first in range(0, active.size, WARP):
        count = _active_lanes(active, first, min(first + WARP, active.size))
        warps += count > 0
        lanes += count
    return warps, lanes


def split_warps(taken: np.ndarray, fallen: np.ndarray) -> int:
    """Warps that have lanes in both masks."""
    warps = 0
    for first in range(0, taken.size, WARP):
        last = min(first + WARP, taken.size)
        warps += _active_lanes(taken, first, last) > 0 and _active_lanes(fallen, first, last) > 0
    return warps


def mark_warps(active: np.ndarray, counts: np.ndarray) -> None:
    """Add one to `counts` (one a warp) for each warp with an active lane."""
    for warp in range(counts.size):
        first = warp * WARP
        counts[warp] += _active_lanes(active, first, min(first + WARP, active.size)) > 0


def count_marks(marks: np.ndarray, shift: int, base: int, mark: int) -> tuple[int, int]:
    """Bytes marked with a bit of `mark`, and different 32-byte sectors that they lie in."""
    cells = found = 0
    reached = -1
    size = 1 << shift
    for cell in range(marks.size):
        if marks[_at(cell)] & mark:
            cells += 1
            first = max((base + (cell << shift)) >> 5, reached + 1)
            reached = (base + (cell << shift) + size - 1) >> 5
            found += reached - first + 1
    return cells << shift, found
