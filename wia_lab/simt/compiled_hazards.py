"""What happened to each cell: the sources of the hazard helpers of `wia_lab.simt.compiled`.

A *cell* is the smallest unit that any access of the launch touches, a power of two of bytes. Its
shadow holds *stamps*, pairs (thread, moment): the thread's number in the launch, padding included,
and the number of the event. Moment 0 marks a free stamp.

- `writer[cell]`: the last plain write. Writes before it are ordered before it, or were reported.
- `stamps[0..3, cell]`: reads that nothing orders yet. Where barriers and whole warps give the
  order, four suffice to find a conflict wherever one exists: the first two differ as much as any
  two do (in block, else in warp, else in thread).
- `stamps[4..7, cell]`: the same for atomics.

Block, warp and lane of a thread follow from its number: blocks are padded to `stride` lanes.
"""

from __future__ import annotations

import numpy as np
from numba import njit

LOAD, STORE, ATOMIC, LANDING = 0, 1, 2, 3
"""How an event touches cells. LANDING: a copy's data arrives; it replaces and checks nothing."""

READ_AFTER_WRITE, WRITE_AFTER_READ, WRITE_AFTER_WRITE, SAME_VALUE = 0, 1, 2, 3
READ_AFTER_ATOMIC, WRITE_AFTER_ATOMIC, ATOMIC_AFTER_WRITE, ATOMIC_AFTER_READ = 4, 5, 6, 7
CONFLICTS = 8
"""Kinds of conflict between an earlier access and the present one."""

ROW = 6
"""Columns of a conflict: kind, cell, lane, the other's thread and moment, the present moment."""

_SHADOW = "int32[:, ::1], int32[:, :, ::1], boolean, boolean, uint8[::1], boolean"
_ORDER = (
    "int64, int64, int64, int64, readonly int32[::1], readonly int32[::1], readonly int32[:, ::1]"
)
_EVENT = "int64, readonly int64[::1], readonly boolean[::1], int64, int64, readonly uint8[:, ::1]"
SIGNATURES = {
    "record": (
        f"void({_EVENT}, {_ORDER}, {_SHADOW}, readonly int32[::1], int64[:, :, ::1],"
        " int32[::1], int64[:, ::1], int64[::1], int32[:, ::1])",
    ),
    "overlaps": (
        "boolean(readonly int64[::1], readonly boolean[::1], int64, int64, int32[::1], int64)",
    ),
    "mark": ("int64(readonly int64[::1], readonly boolean[::1], int64, int64, uint8[::1])",),
    "unmarked": (
        "int64(readonly int64[::1], readonly boolean[::1], int64, int64, uint8[::1], int64[::1])",
    ),
    "in_flight": (
        "int64(readonly int64[::1], readonly boolean[::1], int64, int64, int32[::1],"
        " boolean[::1], int64[:, ::1])",
    ),
}


@njit
def _apart(thread, moment, me, floor, low, high, barrier, sync):
    """Whether what `thread` did at `moment` is unordered with what `me` does now.

    0: ordered. 1: not. 2: not by any operation of the whole warp that they share; some lanes of it
    may have met. Threads [low, high) are the block's; `barrier` is its last, `sync` the warp's.
    """
    if moment <= floor or thread == me:
        return 0
    if thread < low or thread >= high:
        return 1
    if moment < barrier:
        return 0
    if thread >> 5 != me >> 5:
        return 1
    return 0 if moment < sync else 2


@njit
def _shift(granule):
    """The power of two that a cell's size is."""
    shift = 0
    while 1 << shift < granule:
        shift += 1
    return shift


@njit
def _distance(one, other, stride):
    """How far two threads are apart: in different blocks 2, in different warps 1, else 0."""
    if one // stride != other // stride:
        return 2
    return 1 if one >> 5 != other >> 5 else 0


@njit
def _insert(stamps, base, cell, kept, threads, moments, stride):
    """Write back `kept` + 1 stamps: of five one goes, but the two furthest apart stay."""
    second, best = 1, -1
    for place in range(1, kept + 1):
        apart = _distance(threads[0], threads[place], stride)
        if apart > best:
            best, second = apart, place
    if second != 1 and kept:
        threads[1], threads[second] = threads[second], threads[1]
        moments[1], moments[second] = moments[second], moments[1]
    if kept == 4:
        gone = 2 if second == 4 else 3
        for place in range(gone, 4):
            threads[place], moments[place] = threads[place + 1], moments[place + 1]
    for place in range(4):
        stamps[base + place, cell, 0] = threads[place]
        stamps[base + place, cell, 1] = moments[place] if place <= kept else 0


@njit
def _listed(kind, cell, lane, thread, moment, now, listing, seen, before, here, rows, counts):
    """List a conflict: the first of its pair of sites, or each where fences may order it."""
    if not listing:
        if seen[kind, before, here]:
            seen[kind, before, here] += 1
            return
        if counts[1] < rows.shape[0]:
            seen[kind, before, here] = 1
    if counts[1] < rows.shape[0]:
        row = counts[1]
        rows[row, 0], rows[row, 1], rows[row, 2] = kind, cell, lane
        rows[row, 3], rows[row, 4], rows[row, 5] = thread, moment, now
    counts[1] += 1


@njit
def _same_value(low, high, lane, other, offsets, nbytes, values, memory):
    """Whether a store writes to bytes [low, high) what they hold, or what lane `other` writes."""
    if values.shape[0] == 0:
        return False
    row = lane if values.shape[0] > 1 else 0
    for byte in range(max(low, offsets[lane]), min(high, offsets[lane] + nbytes)):
        mine = values[row, byte - offsets[lane]]
        if other < 0:
            if memory[byte] != mine:
                return False
        else:
            place = byte - offsets[other]
            theirs = other if values.shape[0] > 1 else 0
            if place < 0 or place >= nbytes or values[theirs, place] != mine:
                return False
    return True


def record(  # noqa: PLR0912, PLR0915 (one pass: a call a cell costs more than the work)
    mode,
    offsets,
    active,
    nbytes,
    granule,
    values,
    first,
    stride,
    now,
    floor,
    barriers,
    syncs,
    mates,
    writer,
    stamps,
    reads,
    changes,
    memory,
    kept,
    known,
    seen,
    site_at,
    rows,
    counts,
    scratch,
):
    """Check one event of a space against the shadow, and bring the shadow up to date.

    Parameters
    ----------
    mode : int
        LOAD, STORE, ATOMIC or LANDING.
    offsets, active, nbytes, granule, values
        The access; `values` holds what a store writes as bytes, a row a lane, one for all, or none.
    first, stride : int
        Number of the thread at lane 0, and lanes a block.
    now : int
        Number of this event.
    floor : int
        What happened up to this moment is ordered before everything (a grid barrier).
    barriers, syncs : int32, one a block and one a warp
        The moment of the last barrier, and of the last operation of the whole warp.
    mates : int32, shape (lanes, 32) or (0, 32)
        The moment up to which a lane is ordered after each lane of its warp.
    reads, changes : bool
        Whether any read, any atomic has been recorded in this space.
    memory : uint8
        What the cells hold; kept up to date here if `kept`.
    known : int32, one a lane or none
        Not 0 where fences may order more: such a lane's conflicts are all listed.
    seen : int64, shape (CONFLICTS, sites, sites)
        Counts of conflicts by kind and sites; only the first of each is listed.
    rows : int64, shape (some, ROW)
        The conflicts listed.
    counts : int64, shape (2,)
        `counts[1]` is how many were to be listed, also those for which `rows` had no room.
    scratch : int32, shape (2, 5)
        Room for a cell's stamps and one more.
    """
    threads, moments = scratch[0], scratch[1]
    here = site_at[now]
    shift = _shift(granule)
    plain = mode in (STORE, LANDING)
    base = 4 if mode == ATOMIC else 0
    # Stamps that this access may conflict with, or removes: from `checks` up to `ends`.
    checks = 0 if reads and mode != LOAD else 4
    ends = 8 if changes and mode != ATOMIC else 4
    parted = mates.shape[0] > 0
    for block in range(barriers.size):
        low = first + block * stride
        high = low + stride
        barrier = barriers[block]
        for lane in range(block * stride, (block + 1) * stride):
            if not active[lane]:
                continue
            me = first + lane
            sync = syncs[lane >> 5]
            begin = offsets[lane]
            listing = known.size > 0 and known[lane] != 0
            for cell in range(begin >> shift, ((begin + nbytes - 1) >> shift) + 1):
                at = np.uint64(cell)
                thread, moment = writer[at, 0], writer[at, 1]
                apart = _apart(thread, moment, me, floor, low, high, barrier, sync)
                if apart == 2 and parted:
                    apart = moment >= mates[lane, thread & 31]
                if apart and mode != LANDING:
                    kind = READ_AFTER_WRITE if mode == LOAD else ATOMIC_AFTER_WRITE
                    if mode == STORE:
                        other = thread - first if moment == now and not kept else -1
                        same = _same_value(
                            cell << shift,
                            (cell + 1) << shift,
                            lane,
                            other,
                            offsets,
                            nbytes,
                            values,
                            memory,
                        )
                        kind = SAME_VALUE if same else WRITE_AFTER_WRITE
                    _listed(
                        kind,
                        cell,
                        lane,
                        thread,
                        moment,
                        now,
                        listing,
                        seen,
                        site_at[moment],
                        here,
                        rows,
                        counts,
                    )
                place = checks
                while place < ends:
                    thread, moment = stamps[place, at, 0], stamps[place, at, 1]
                    if moment == 0:  # none after a free one, in either four
                        place = (place | 3) + 1
                        continue
                    apart = _apart(thread, moment, me, floor, low, high, barrier, sync)
                    if apart == 2 and parted:
                        apart = moment >= mates[lane, thread & 31]
                    if apart and mode != LANDING:
                        if place < 4:
                            kind = WRITE_AFTER_READ if mode == STORE else ATOMIC_AFTER_READ
                        else:
                            kind = WRITE_AFTER_ATOMIC if mode == STORE else READ_AFTER_ATOMIC
                        _listed(
                            kind,
                            cell,
                            lane,
                            thread,
                            moment,
                            now,
                            listing,
                            seen,
                            site_at[moment],
                            here,
                            rows,
                            counts,
                        )
                    if plain:
                        stamps[place, at, 1] = 0
                    place += 1
                if plain:
                    writer[at, 0] = me
                    writer[at, 1] = now
                    continue
                thread, moment = stamps[base, at, 0], stamps[base, at, 1]
                if moment == 0 or (thread == me and stamps[base + 1, at, 1] == 0):
                    stamps[base, at, 0], stamps[base, at, 1] = me, now
                    continue
                count = 0
                for place in range(base, base + 4):
                    thread, moment = stamps[place, at, 0], stamps[place, at, 1]
                    if moment == 0:
                        break
                    apart = _apart(thread, moment, me, floor, low, high, barrier, sync)
                    if apart == 2 and parted:
                        apart = moment >= mates[lane, thread & 31]
                    if apart:
                        threads[count], moments[count] = thread, moment
                        count += 1
                threads[count], moments[count] = me, now
                _insert(stamps, base, at, count, threads, moments, stride)
            if kept and mode == STORE and values.shape[0]:
                row = lane if values.shape[0] > 1 else 0
                for byte in range(nbytes):
                    memory[begin + byte] = values[row, byte]


def overlaps(offsets, active, nbytes, granule, stamps, now):
    """Whether two active lanes touch one cell. `stamps` is scratch, one a cell."""
    shift = _shift(granule)
    end = np.int64(-1)
    ascending = True
    for lane in range(offsets.size):
        if active[lane]:
            if offsets[lane] < end:
                ascending = False
                break
            end = offsets[lane] + nbytes
    if ascending:
        return False
    for lane in range(offsets.size):
        if active[lane]:
            begin = offsets[lane]
            for cell in range(begin >> shift, ((begin + nbytes - 1) >> shift) + 1):
                if stamps[cell] == now:
                    return True
                stamps[cell] = now
    return False


def mark(offsets, active, nbytes, granule, marks):
    """Set the marks of the cells that active lanes touch; returns how many were not set before."""
    shift = _shift(granule)
    fresh = 0
    for lane in range(offsets.size):
        if active[lane]:
            begin = offsets[lane]
            for cell in range(begin >> shift, ((begin + nbytes - 1) >> shift) + 1):
                fresh += marks[cell] == 0
                marks[cell] = 1
    return fresh


def unmarked(offsets, active, nbytes, granule, marks, where):
    """How many active lanes touch a cell without a mark; `where` gets the first lane and cell."""
    shift = _shift(granule)
    count = 0
    for lane in range(offsets.size):
        if active[lane]:
            begin = offsets[lane]
            for cell in range(begin >> shift, ((begin + nbytes - 1) >> shift) + 1):
                if marks[cell] == 0:
                    if count == 0:
                        where[0] = lane
                        where[1] = cell
                    count += 1
                    break
    return count


def in_flight(offsets, active, nbytes, granule, flights, hit, rows):
    """Active lanes that touch a cell into or from which a copy is under way.

    `flights` has a copy's handle a cell, 0 for none; `hit` gets the lanes, `rows` the first few as
    (lane, cell, handle). Returns how many lanes there are.
    """
    shift = _shift(granule)
    count = 0
    for lane in range(offsets.size):
        hit[lane] = False
        if active[lane]:
            begin = offsets[lane]
            for cell in range(begin >> shift, ((begin + nbytes - 1) >> shift) + 1):
                if flights[cell]:
                    hit[lane] = True
                    if count < rows.shape[0]:
                        rows[count, 0] = lane
                        rows[count, 1] = cell
                        rows[count, 2] = flights[cell]
                    count += 1
                    break
    return count
