"""The race detector against vector clocks that compare every pair of accesses.

The oracle below shares nothing with the detector: one clock a thread, joined at each
synchronisation, and all pairs of accesses to a cell looked at.
"""

from __future__ import annotations

from collections import defaultdict
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

THREADS, BLOCKS = 64, 2
SEEDS = st.integers(0, 1 << 32)
FULL = 0xFFFFFFFF
CELLS = 8  # the last two are touched by atomics where fences order
MASKS = (FULL, 0b0011, 0b0110, 0b1001, 0b1100)
MANY = (0, 1, 2, 31, 32, 33, 64, 65, 96)


class Oracle:
    """Vector clocks: `clock[t][u]` is the last step of u that t is ordered after."""

    def __init__(self) -> None:
        self.clock = defaultdict(lambda: defaultdict(int))
        self.ready = {scope: defaultdict(dict) for scope in ("device", "block")}
        self.sync = defaultdict(dict)
        self.steps = defaultdict(int)
        self.accesses = defaultdict(list)

    @staticmethod
    def join(*clocks):
        joined = {}
        for clock in clocks:
            for key, step in clock.items():
                joined[key] = max(step, joined.get(key, 0))
        return joined

    def step(self, thread):
        self.steps[thread] += 1
        self.clock[thread][thread] = self.steps[thread]
        return self.steps[thread]

    def meet(self, threads):
        for table in (self.clock, self.ready["device"], self.ready["block"]):
            joined = self.join(*(table[t] for t in threads))
            for t in threads:
                table[t] = defaultdict(int, joined)

    def fence(self, thread, scope):
        self.step(thread)
        self.ready["block"][thread] = dict(self.clock[thread])
        if scope == "device":
            self.ready["device"][thread] = dict(self.clock[thread])

    def access(self, thread, cell, kind):
        step = self.step(thread)
        if kind == "atomic":  # looked at with what was known before it
            self.note(thread, cell, kind, step)
            where = (("device", cell), ("block", cell, thread // THREADS))
            self.clock[thread] = defaultdict(
                int, self.join(self.clock[thread], *(self.sync[each] for each in where))
            )
            for each in where:
                ready = self.ready[each[0]][thread]
                if ready:  # a released atomic is ordered with its own cell's history
                    self.sync[each] = self.join(self.sync[each], ready, {(thread, cell): step})
        else:
            self.note(thread, cell, kind, step)

    def note(self, thread, cell, kind, step):
        self.accesses[cell].append((thread, kind, step, dict(self.clock[thread])))

    def races(self):
        found = set()
        for cell, accesses in self.accesses.items():
            for place, (one, kind, step, _) in enumerate(accesses):
                for other, other_kind, _, clock in accesses[place + 1 :]:
                    plain = {kind, other_kind} & {"store"}
                    mixed = kind != other_kind and "atomic" in (kind, other_kind)
                    known = clock.get(one, 0) >= step or (
                        kind == "atomic" and clock.get((one, cell), 0) >= step
                    )
                    if one != other and (plain or mixed) and not known:
                        found.add(cell)
        return found


def touches(rng, threads):
    """Threads touch three cells, in an order that is often none."""
    told = []
    for _ in range(rng.randrange(4, 40)):
        if rng.random() < 0.6:
            kind = rng.choice(("load", "load", "store", "store", "atomic"))
            told.append((kind, rng.choice(threads), rng.randrange(3)))
        else:
            told.append(order(rng, threads, (FULL,)))
    return told


def order(rng, threads, masks, scopes=()):
    """Something that orders threads."""
    who = rng.choice(threads)
    told = [("barrier", rng.randrange(BLOCKS)), ("warp", who, rng.choice(masks))]
    if scopes:
        told += [("fence", who, rng.choice(scopes))] * 3
        told += [("atomic", who, CELLS - rng.choice((1, 2)))] * 6
    else:
        told += [("grid",)] * (rng.random() < 0.2)
    return rng.choice(told)


def messages(rng, threads, masks, scopes=()):
    """Each of many cells is touched by two threads once, with orders in between.

    So whether a cell races hangs on the order alone: no other race hides a wrong answer.
    """
    told, waiting = [], []
    for cell in range(CELLS - 2):
        told.append(("store", rng.choice(threads), cell))
        waiting.append(cell)
        told += [order(rng, threads, masks, scopes) for _ in range(rng.randrange(1, 7))]
        while waiting and rng.random() < 0.6:
            what = rng.choice(("load", "store", "atomic"))
            told.append((what, rng.choice(threads), waiting.pop(rng.randrange(len(waiting)))))
    return told


def run(trace, told, *, kind, fences):
    """Give a trace to the detector and the oracle; returns the racing cells of each."""
    launch = trace(BLOCKS, THREADS, fences=fences, lines=len(told) + 1)
    oracle = Oracle()
    spaces = [launch.space(kind, f"cell{n}", 1) for n in range(CELLS)]
    for line, (what, *details) in enumerate(told):
        if what == "barrier":
            lanes = range(details[0] * THREADS, (details[0] + 1) * THREADS)
            launch.barrier(line, lanes)
            oracle.meet(list(lanes))
        elif what == "grid":
            launch.grid_barrier(line)
            oracle.meet(list(range(BLOCKS * THREADS)))
        elif what == "warp":
            thread, mask = details
            lanes = [thread - thread % 32 + bit for bit in range(32) if mask >> bit & 1]
            launch.syncwarp(line, lanes, mask)
            oracle.meet(lanes)
        elif what == "fence":
            launch.fence(line, details[0], details[1])
            oracle.fence(details[0], details[1])
        else:
            thread, cell = details
            value = {"value": line + 1} if what == "store" else {}
            getattr(launch, what)(spaces[cell], 0, line, thread, **value)
            place = (cell, thread // THREADS) if kind == "shared" else (cell,)
            oracle.access(thread, place, what)
    found = {each.array for each in launch.end() if each.kind == "race"}
    return found, {f"cell{place[0]}" for place in oracle.races()}


@pytest.mark.parametrize("kind", ["global", "shared"])
class TestAgainstVectorClocks:
    """A cell is reported exactly when some pair of accesses to it is unordered."""

    @given(seed=SEEDS)
    @settings(max_examples=100, deadline=None)
    def test_barriers_and_warps(self, trace, kind, seed):
        """Block and grid barriers and whole warps give the order."""
        found, expected = run(trace, touches(Random(seed), MANY), kind=kind, fences=False)
        assert found == expected

    @given(seed=SEEDS)
    @settings(max_examples=100, deadline=None)
    def test_messages_by_barriers(self, trace, kind, seed):
        """The same, where each cell hangs on one pair of accesses."""
        told = messages(Random(seed), MANY, (FULL,))
        found, expected = run(trace, told, kind=kind, fences=False)
        assert found == expected

    @given(seed=SEEDS)
    @settings(max_examples=100, deadline=None)
    def test_parts_of_a_warp(self, trace, kind, seed):
        """Masks that name a few lanes order those lanes, and what they know of others."""
        told = messages(Random(seed), (0, 1, 2, 3), MASKS)
        found, expected = run(trace, told, kind=kind, fences=False)
        assert found == expected

    @given(seed=SEEDS)
    @settings(max_examples=200, deadline=None)
    def test_fences_and_atomics(self, trace, kind, seed):
        """Fences followed by atomics publish; later atomics on the same cell learn."""
        told = messages(Random(seed), (0, 1, 32, 64), (FULL, 1), ("device", "block"))
        found, expected = run(trace, told, kind=kind, fences=True)
        assert found == expected
