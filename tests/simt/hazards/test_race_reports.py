"""What is said of races, and what must not be said."""

from __future__ import annotations

import numpy as np
import pytest

from wia_lab.simt.events import Access

LANE = np.arange(64)


def said(found):
    return [(each.kind, each.severity, each.line, each.other_line) for each in found]


class TestWithinABlock:
    """Shared memory, one block of 64 threads unless it says otherwise."""

    def test_read_before_the_barrier(self, trace):
        """A read of what another thread wrote names both threads, both lines and the element."""
        launch = trace(1, 64)
        tile = launch.space("shared", "tile")
        launch.store(tile, LANE, 8)
        launch.load(tile, 63 - LANE, 9)
        (race,) = launch.end()
        assert race.message == (
            "line 9: thread 0 of block 0 reads tile[63], which thread 63 of block 0 wrote on line "
            "8, with no barrier between: put cuda.syncthreads() between the two lines"
        )
        assert (race.kind, race.severity, race.line, race.other_line) == ("race", "error", 9, 8)
        assert (race.array, race.index, race.file) == ("tile", (63,), "kernel.py")
        assert [each.thread for each in race.threads] == [(0,), (63,)]
        assert race.further == 63

    def test_one_warp_is_no_excuse(self, trace):
        """Lanes of one warp in lockstep race all the same."""
        launch = trace(1, 32)
        tile = launch.space("shared", "tile", 32)
        launch.store(tile, LANE[:32], 8)
        launch.load(tile, 31 - LANE[:32], 9)
        assert said(launch.end()) == [("race", "error", 9, 8)]

    def test_syncwarp_orders_a_warp(self, trace):
        """After a syncwarp, lanes of one warp see each other, those of other warps do not."""
        launch = trace(1, 64)
        tile = launch.space("shared", "tile")
        launch.store(tile, LANE, 8)
        launch.syncwarp(9)
        launch.load(tile, LANE ^ 1, 10)
        assert said(launch.end()) == []
        launch = trace(1, 64)
        tile = launch.space("shared", "tile")
        launch.store(tile, LANE, 8)
        launch.syncwarp(9)
        launch.load(tile, LANE ^ 32, 10)
        assert said(launch.end()) == [("race", "error", 10, 8)]

    def test_write_in_the_next_round(self, trace):
        """A missing barrier at the end of a loop is told with the loop in mind."""
        launch = trace(1, 64)
        tile = launch.space("shared", "tile")
        for _ in range(2):
            launch.store(tile, LANE, 8)
            launch.barrier(9)
            launch.load(tile, LANE ^ 1, 10)
        (race,) = launch.end()
        assert race.message == (
            "line 8: thread 0 of block 0 writes tile[0], which thread 1 of block 0 read on line "
            "10, with no barrier between: put cuda.syncthreads() after line 10, before the loop "
            "comes back to line 8"
        )

    def test_own_read_hides_no_other(self, trace):
        """`s[t] = s[t + 1] + s[t]` races though each thread reads its own cell last."""
        launch = trace(1, 64)
        tile = launch.space("shared", "s", 65)
        launch.store(tile, np.arange(64), 3)
        launch.store(tile, 64, 3, 0)
        launch.barrier(4)
        launch.load(tile, LANE + 1, 5)
        launch.load(tile, LANE, 5)
        launch.store(tile, LANE, 5, value=LANE)
        (race,) = launch.end()
        assert race.message == (
            "line 5: thread 1 of block 0 writes s[1], which thread 0 of block 0 read on the same "
            "line, with no barrier between: use cuda.atomic.add if all threads add to one element; "
            "else read into a variable and put cuda.syncthreads() before the write and after it"
        )

    def test_own_cells_never_race(self, trace):
        """A thread that reads and writes its own cells needs no barrier."""
        launch = trace(1, 64)
        tile = launch.space("shared", "s")
        for _ in range(3):
            launch.store(tile, LANE, 3, value=LANE)
            launch.load(tile, LANE, 4)
            launch.store(tile, LANE, 5, value=LANE + 1)
        assert launch.end() == []

    def test_different_values_in_one_store(self, trace):
        """Two lanes that store different values to one element race."""
        launch = trace(1, 64)
        tile = launch.space("shared", "s")
        launch.store(tile, LANE // 2, 3, value=LANE)
        (race,) = launch.end()
        assert race.message == (
            "line 3: thread 1 of block 0 writes s[0], which thread 0 of block 0 wrote with another "
            "value on the same line, with no barrier between: let one thread write it, or combine "
            "the values with cuda.atomic"
        )
        assert race.further == 31

    def test_before_a_barrier(self, trace):
        """The same, where nothing but that store stands before the barrier."""
        launch = trace(1, 64)
        tile = launch.space("shared", "s")
        launch.store(tile, LANE // 2, 3, value=LANE)
        launch.barrier(4)
        assert said(launch.end()) == [("race", "error", 3, 3)]

    def test_same_value_in_one_store(self, trace):
        """Two lanes that store the same value overlap: a warning."""
        launch = trace(1, 64)
        tile = launch.space("shared", "s")
        launch.store(tile, 0, 3, value=7)
        (overlap,) = launch.end()
        assert overlap.message == (
            "line 3: thread 1 of block 0 writes to s[0] the value that thread 0 of block 0 writes "
            "there on the same line: it does no harm while the values agree, but let one thread "
            "write it, or check that each thread's index is its own"
        )
        assert (overlap.kind, overlap.severity) == ("write-overlap", "warning")

    def test_blocks_pass_barriers_apart(self, trace):
        """A barrier of one block orders nothing in another."""
        launch = trace(2, 64)
        tile = launch.space("shared", "s")
        lane = np.arange(128) % 64
        launch.store(tile, lane, 3)
        launch.barrier(4, range(64))
        launch.load(tile, lane ^ 1, 5, range(64))
        launch.load(tile, lane ^ 1, 6, range(64, 128))
        launch.barrier(4, range(64, 128))
        assert said(launch.end()) == [("race", "error", 6, 3)]

    def test_atomics_among_themselves(self, trace):
        """Atomics do not race with each other; with plain accesses they do."""
        launch = trace(1, 64)
        bins = launch.space("shared", "bins", 4)
        launch.store(bins, LANE, 2, range(4))
        launch.barrier(3)
        launch.atomic(bins, LANE % 4, 4)
        launch.load(bins, LANE % 4, 5, range(4))
        (race,) = launch.end()
        assert race.message == (
            "line 5: thread 0 of block 0 reads bins[0], which thread 32 of block 0 changed with an "
            "atomic on line 4, with no barrier between: put cuda.syncthreads() between the two "
            "lines"
        )

    def test_wide_access_covers_several_cells(self, trace):
        """A two-element read meets a one-element write in its second half."""
        launch = trace(1, 64)
        tile = launch.space("shared", "s", 64, "int64", granule=4)
        launch.store(tile, LANE, 3)
        launch.barrier(4)
        active = launch.lanes(1)
        offsets = np.where(active, 12, 0).astype(np.int64)  # the upper half of tile[1]
        launch.load(tile, 1, 5, 0)
        launch.hazards.on_access(
            Access("store", tile, offsets, 4, active, launch.sites[6], values=np.int32(1))
        )
        assert said(launch.end()) == [("race", "error", 6, 5)]

    def test_a_log_that_overflows_is_still_right(self, trace, monkeypatch):
        """Reads compared early are not forgotten."""
        monkeypatch.setattr("wia_lab.simt.hazards.shadow.LOG_BYTES", 0)
        launch = trace(1, 64)
        tile = launch.space("shared", "s")
        launch.store(tile, LANE, 3)
        launch.barrier(4)
        for _ in range(32):  # as many as two logs hold
            launch.load(tile, LANE ^ 1, 5)
        launch.store(tile, LANE, 6, value=LANE)
        launch.barrier(7)
        for _ in range(40):
            launch.load(tile, LANE ^ 1, 8)
        assert said(launch.end()) == [("race", "error", 6, 5)]

    def test_two_dimensional_names(self, trace):
        """Threads, blocks and elements have as many coordinates as the launch and the array."""
        launch = trace(1, 64, block=(8, 8, 1))
        tile = launch.space("shared", "tile", (8, 8))
        launch.store(tile, LANE, 8)
        launch.load(tile, 63 - LANE, 9)
        (race,) = launch.end()
        assert race.message.startswith(
            "line 9: thread (0, 0) of block 0 reads tile[7, 7], which thread (7, 7) of block 0 "
        )


class TestBetweenBlocks:
    """Global memory: nothing orders blocks."""

    def test_neighbour_block(self, trace):
        """A read of another block's element names both blocks and no barrier."""
        launch = trace(2, 32)
        out = launch.space("global", "out")
        launch.store(out, LANE, 3, value=LANE)
        launch.load(out, 63 - LANE, 4)
        (race,) = launch.end()
        assert race.message == (
            "line 4: thread 0 of block 0 reads out[63], which thread 31 of block 1 wrote on line "
            "3, and nothing orders two blocks: use cuda.atomic where blocks share an element, or "
            "let a second launch do what has to come after"
        )

    def test_a_barrier_orders_only_its_block(self, trace):
        """Through global memory, too, a barrier orders the block's own accesses."""
        launch = trace(2, 32)
        out = launch.space("global", "out")
        launch.store(out, LANE, 3, value=LANE)
        launch.barrier(4)
        launch.load(out, LANE ^ 1, 5)
        assert launch.end() == []

    def test_blocks_of_different_chunks(self, trace):
        """Blocks that the simulator runs one after the other are unordered all the same."""
        launch = trace(2, 32, chunk=1)
        out = launch.space("global", "out")
        launch.store(out, LANE[:32], 3)
        launch.begin_chunk(1)
        launch.load(out, LANE[:32], 4)
        (race,) = launch.end()
        assert "thread 0 of block 1 reads out[0], which thread 0 of block 0 wrote" in race.message

    def test_shared_memory_of_the_next_chunk(self, trace):
        """The next chunk's shared memory is other memory."""
        launch = trace(2, 32, chunk=1)
        launch.store(launch.space("shared", "s"), LANE[:32], 3)
        launch.begin_chunk(1)
        launch._spaces = 0
        tile = launch.space("shared", "s")
        launch.store(tile, 31 - LANE[:32], 4)
        launch.barrier(5)
        launch.load(tile, LANE[:32], 6)
        assert launch.end() == []

    def test_grid_barrier(self, trace):
        """A grid-wide barrier orders all blocks."""
        launch = trace(2, 32)
        out = launch.space("global", "out")
        launch.store(out, LANE, 3, value=LANE)
        launch.grid_barrier(4)
        launch.load(out, 63 - LANE, 5)
        assert launch.end() == []

    def test_same_value_from_two_blocks(self, trace):
        """Blocks that write one value to one element overlap: a warning."""
        launch = trace(2, 32)
        out = launch.space("global", "out")
        launch.store(out, LANE % 48, 3, value=1)
        assert said(launch.end()) == [("write-overlap", "warning", 3, 3)]

    def test_the_worse_covers_the_milder(self, trace):
        """Where one line both races and overlaps, the race alone is told."""
        launch = trace(2, 32)
        out = launch.space("global", "h", 4)
        launch.load(out, LANE % 4, 3)
        launch.store(out, LANE % 4, 3, value=1)
        assert said(launch.end()) == [("race", "error", 3, 3)]

    @pytest.mark.parametrize("kind", ["const", "local"])
    def test_private_and_constant_memory(self, trace, kind):
        """Constant and local memory cannot race."""
        launch = trace(2, 32)
        space = launch.space(kind, "a", 2)
        launch.store(space, 0, 3, value=LANE)
        launch.load(space, 0, 4)
        assert launch.end() == []


class TestConsequences:
    """What follows from another fault is not reported twice."""

    def test_race_around_a_barrier_that_lanes_miss(self, trace):
        """Lanes that go round a barrier race with those that wait: one hazard, the barrier's."""
        launch = trace(1, 32)
        tile = launch.space("shared", "s", 32)
        lane = LANE[:32]
        launch.store(tile, lane, 3)
        launch.store(tile, lane, 5, range(16), value=lane)
        launch.load(tile, 31 - lane, 7, range(16, 32))
        waiting, missing = launch.lanes(range(16)), launch.lanes(range(16, 32))
        launch.hazards.on_divergent_barrier((launch.sites[6],), waiting, missing, "exited")
        launch.barrier(6, range(16))
        launch.load(tile, 31 - lane, 7, range(16))
        assert said(launch.end()) == [("divergent-barrier", "error", 6, None)]
