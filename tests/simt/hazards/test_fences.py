"""Protocols of fences and atomics: the correct ones are silent, the broken ones are not."""

from __future__ import annotations

import numpy as np
import pytest

BLOCKS, THREADS = 4, 64
LEADERS = range(0, BLOCKS * THREADS, THREADS)
LANE = np.arange(BLOCKS * THREADS)
BLOCK = LANE // THREADS
LAST = range(192, 256)


def said(found):
    return [(each.kind, each.severity, each.line, each.other_line) for each in found]


def last_block(trace, *, fence=6, scope="device", all_fence=False, barrier=True):
    """Each block leaves a partial result and takes a ticket; the last one reads them all.

    `fence` is the line of the fence (the atomic is on line 8), 0 for none.
    """
    launch = trace(BLOCKS, THREADS, fences=True)
    partial = launch.space("global", "partial", BLOCKS)
    count = launch.space("global", "count", 1)
    ticket = launch.space("shared", "ticket", 1)
    launch.store(partial, BLOCK, 5, LEADERS)
    if all_fence:
        launch.fence(6, None, scope)
        launch.barrier(7)
    elif fence and fence < 8:
        launch.fence(fence, LEADERS, scope)
    launch.atomic(count, 0, 8, LEADERS, "inc")
    if fence > 8:
        launch.fence(fence, LEADERS, scope)
    launch.store(ticket, 0, 10, LEADERS, value=BLOCK)
    if barrier:
        launch.barrier(11)
    launch.load(ticket, 0, 12)
    launch.load(partial, LANE % BLOCKS, 13, LAST)
    return launch, count


class TestLastBlock:
    """The block that takes the last ticket reads what the others left."""

    def test_correct(self, trace):
        """Fence, then atomic, then a barrier: no hazard, and the counter may be reset."""
        launch, count = last_block(trace)
        launch.store(count, 0, 14, LAST[0])
        assert launch.end() == []

    def test_all_threads_fence_before_a_barrier(self, trace):
        """Fences in all threads, a barrier, an atomic by one thread: no hazard."""
        launch, _ = last_block(trace, all_fence=True)
        assert launch.end() == []

    def test_all_threads_publish_through_one(self, trace):
        """The atomic by one thread publishes what all threads wrote before their own fences."""
        for fenced, expected in ((None, []), (LEADERS, [("race", "error", 8, 3)])):
            launch = trace(BLOCKS, THREADS, fences=True)
            out = launch.space("global", "out", 256)
            count = launch.space("global", "count", 1)
            launch.store(out, LANE, 3, value=LANE)
            launch.fence(4, fenced)
            launch.barrier(5)
            launch.atomic(count, 0, 6, LEADERS)
            launch.barrier(7)
            launch.load(out, 255 - LANE, 8, LAST)
            assert said(launch.end()) == expected

    def test_barrier_then_fence_by_one(self, trace):
        """A barrier before one thread's fence covers what the whole block did."""
        launch = trace(BLOCKS, THREADS, fences=True)
        out = launch.space("global", "out", 256)
        count = launch.space("global", "count", 1)
        launch.store(out, LANE, 3, value=LANE)
        launch.barrier(4)
        launch.fence(5, LEADERS)
        launch.atomic(count, 0, 6, LEADERS)
        launch.barrier(7)
        launch.load(out, 255 - LANE, 8, LAST)
        assert launch.end() == []

    def test_no_barrier_before_the_fence(self, trace):
        """Without that barrier, what the other threads of the block did is not covered."""
        launch = trace(BLOCKS, THREADS, fences=True)
        out = launch.space("global", "out", 256)
        count = launch.space("global", "count", 1)
        launch.store(out, LANE, 3, value=LANE)
        launch.fence(5, LEADERS)
        launch.atomic(count, 0, 6, LEADERS)
        launch.barrier(7)
        launch.load(out, 255 - LANE, 8, LAST)
        (race,) = launch.end()
        assert (race.severity, race.line, race.other_line) == ("error", 8, 3)
        assert race.threads[1].thread != (0,)

    @pytest.mark.parametrize(
        "fault",
        [{"fence": 0}, {"fence": 9}, {"scope": "block"}],
        ids=["no fence", "fence after the atomic", "fence of the block's scope"],
    )
    def test_broken(self, trace, fault):
        """A fence that is missing, late or too narrow leaves the partial results unordered."""
        launch, _ = last_block(trace, **fault)
        assert said(launch.end()) == [("race", "error", 13, 5)]

    def test_no_barrier_after_the_ticket(self, trace):
        """Without the barrier only one thread of the last block knows."""
        launch, _ = last_block(trace, barrier=False)
        assert said(launch.end()) == [("race", "error", 12, 10), ("race", "error", 13, 5)]

    def test_across_chunks(self, trace):
        """Blocks that ran in earlier chunks have published too."""
        launch = trace(2, 32, fences=True, chunk=1)
        partial, count = launch.space("global", "partial", 2), launch.space("global", "count", 1)
        for block in range(2):
            if block:
                launch.begin_chunk(1)
            launch.store(partial, block, 3, 0)
            launch.fence(4, 0)
            launch.atomic(count, 0, 5, 0)
        launch.load(partial, 0, 6, 0)
        assert launch.end() == []


class TestLock:
    """A spin lock: compare-and-swap, work, fence, exchange."""

    @staticmethod
    def critical(launch, lock, value, lane, others=()):
        launch.atomic(lock, 0, 3, [lane, *others], "cas", changed=lane)
        launch.load(value, 0, 4, lane)
        launch.store(value, 0, 4, lane, value=lane)

    def start(self, trace):
        launch = trace(1, 64, fences=True)
        return launch, launch.space("global", "lock", 1), launch.space("global", "value", 1)

    def test_correct(self, trace):
        """Each holder sees what the holders before it did."""
        launch, lock, value = self.start(trace)
        for lane in range(5):
            self.critical(launch, lock, value, lane, range(lane + 1, 5))
            launch.fence(5, lane)
            launch.atomic(lock, 0, 6, lane, "exch")
        assert launch.end() == []

    def test_without_a_fence(self, trace):
        """Freed without a fence, the lock publishes nothing."""
        launch, lock, value = self.start(trace)
        launch.fence(1, 63)
        for lane in range(2):
            self.critical(launch, lock, value, lane)
            launch.atomic(lock, 0, 6, lane, "exch")
        assert ("race", "error", 4, 4) in said(launch.end())

    def test_a_failed_swap_publishes_nothing(self, trace):
        """A compare-and-swap that changed nothing tells others nothing."""
        launch, lock, value = self.start(trace)
        launch.store(value, 0, 2, 0)
        launch.fence(3, 0)
        launch.atomic(lock, 0, 4, 0, "cas", changed=())
        launch.atomic(lock, 0, 5, 40, "cas")
        launch.load(value, 0, 6, 40)
        assert said(launch.end()) == [("race", "error", 6, 2)]

    def test_freed_with_a_plain_store(self, trace):
        """A lock freed with a plain store after a fence cannot be followed: two warnings."""
        launch, lock, value = self.start(trace)
        for lane in (0, 40):
            self.critical(launch, lock, value, lane)
            launch.fence(5, lane)
            launch.store(lock, 0, 6, lane)
        flag, data = launch.end()
        assert flag.message == (
            "line 3: thread 40 of block 0 changes with an atomic lock[0], which thread 0 of block "
            "0 wrote on line 6: a flag that is set with a plain store after a fence cannot be "
            "followed here, and the compiler may move it; set it with cuda.atomic.exch"
        )
        assert data.message == (
            "line 4: thread 40 of block 0 reads value[0], which thread 0 of block 0 wrote on the "
            "same line, with no barrier between: their order hangs on a flag that is set with a "
            "plain store after a fence, which cannot be followed here; set the flag with "
            "cuda.atomic.exch"
        )
        assert {flag.severity, data.severity} == {"warning"}


class TestFlags:
    """One thread sets a flag, another waits for it."""

    def test_between_warps(self, trace):
        """A warp fills a tile, syncs, and its first lane raises the flag."""
        launch = trace(1, 64, fences=True)
        tile, flag = launch.space("shared", "tile", 32), launch.space("shared", "flag", 1)
        launch.store(flag, 0, 2, 0)
        launch.barrier(3)
        launch.store(tile, LANE[:64], 4, range(32))
        launch.syncwarp(5, range(32))
        launch.fence(6, 0, "block")
        launch.atomic(flag, 0, 7, 0, "exch")
        launch.atomic(flag, 0, 8, range(32, 64))
        launch.load(tile, 63 - LANE[:64], 9, range(32, 64))
        assert launch.end() == []

    def test_between_warps_without_syncwarp(self, trace):
        """Without the syncwarp, the other lanes' cells are not covered."""
        launch = trace(1, 64, fences=True)
        tile, flag = launch.space("shared", "tile", 32), launch.space("shared", "flag", 1)
        launch.store(flag, 0, 2, 0)
        launch.barrier(3)
        launch.store(tile, LANE[:64], 4, range(32))
        launch.fence(6, 0, "block")
        launch.atomic(flag, 0, 7, 0, "exch")
        launch.atomic(flag, 0, 8, range(32, 64))
        launch.load(tile, 63 - LANE[:64], 9, range(32, 64))
        assert said(launch.end()) == [("race", "error", 9, 4)]

    def test_chained(self, trace):
        """A chain of blocks, each waiting for the one before: knowledge is handed on."""
        launch = trace(BLOCKS, THREADS, fences=True)
        flags = launch.space("global", "flags", BLOCKS)
        prefix = launch.space("global", "prefix", BLOCKS)
        for block in range(BLOCKS):
            lane = block * THREADS
            if block:
                launch.atomic(flags, block - 1, 4, lane)
                launch.load(prefix, 0, 5, lane)  # the first block's, by every block
            launch.store(prefix, block, 6, lane)
            launch.fence(7, lane)
            launch.atomic(flags, block, 8, lane, "exch")
        assert launch.end() == []

    def test_reader_that_does_not_look(self, trace):
        """A thread that never touches the flag is ordered after nothing."""
        launch = trace(1, 64, fences=True)
        data, flag = launch.space("global", "data", 1), launch.space("global", "flag", 1)
        launch.store(data, 0, 2, 0)
        launch.fence(3, 0)
        launch.atomic(flag, 0, 4, 0, "exch")
        launch.load(data, 0, 5, 32)
        assert said(launch.end()) == [("race", "error", 5, 2)]

    def test_fence_instead_of_barrier(self, trace):
        """A fence alone waits for nobody."""
        launch = trace(1, 64, fences=True)
        tile = launch.space("shared", "tile")
        launch.store(tile, LANE[:64], 3)
        launch.fence(4)
        launch.load(tile, LANE[:64] ^ 1, 5)
        assert said(launch.end()) == [("race", "error", 5, 3)]
