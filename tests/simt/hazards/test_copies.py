"""Asynchronous copies: issued, committed, waited for, published."""

from __future__ import annotations

import numpy as np
import pytest

LANE = np.arange(64)


def said(found):
    return [(each.kind, each.severity, each.line, each.other_line) for each in found]


class TestOneCopy:
    """Each thread copies one element of a tile."""

    def start(self, trace, *, written=False):
        launch = trace(1, 64)
        tile = launch.space("shared", "tile")
        source = launch.space("global", "src", 64, written=written)
        return launch, tile, source, launch.copy(tile, LANE, source, LANE, 3)

    def test_correct(self, trace):
        """Issue, commit, wait, barrier, read: no hazard."""
        launch, tile, _, copy = self.start(trace)
        launch.commit(4, copy)
        launch.wait(5, copy)
        launch.barrier(6)
        launch.load(tile, 63 - LANE, 7)
        assert launch.end() == []

    def test_own_element_needs_no_barrier(self, trace):
        """What a thread copied itself it may read after its wait."""
        launch, tile, _, copy = self.start(trace)
        launch.commit(4, copy)
        launch.wait(5, copy)
        launch.load(tile, LANE, 6)
        assert launch.end() == []

    def test_syncwarp_publishes_to_the_warp(self, trace):
        """A warp operation after the wait publishes within the warp."""
        launch, tile, _, copy = self.start(trace)
        launch.wait(5, copy)
        launch.syncwarp(6)
        launch.load(tile, LANE ^ 1, 7)
        assert launch.end() == []

    def test_other_work_while_under_way(self, trace):
        """Elements that no copy holds may be used meanwhile."""
        launch = trace(1, 64)
        tile, taps = launch.space("shared", "tile"), launch.space("shared", "taps", 5)
        source = launch.space("global", "src", 64, written=False)
        copy = launch.copy(tile, LANE, source, LANE, 3)
        launch.store(taps, LANE, 4, range(5))
        launch.commit(5, copy)
        launch.wait(6, copy)
        launch.barrier(7)
        launch.load(taps, LANE % 5, 8)
        launch.load(tile, 63 - LANE, 9)
        assert launch.end() == []

    def test_read_without_any_wait(self, trace):
        """A read of a committed copy names the wait that would do, and the barrier."""
        launch, tile, _, copy = self.start(trace)
        launch.commit(4, copy)
        launch.barrier(5)
        launch.load(tile, 63 - LANE, 6)
        (hazard,) = launch.end()
        assert hazard.message == (
            "line 6: thread 0 of block 0 reads tile[63] while the copy by thread 63 of block 0 "
            "into it (line 3) is under way: call cuda.cp_async_wait_group(0) or "
            "cuda.cp_async_wait_all() before, and put cuda.syncthreads() after the wait"
        )
        assert (hazard.kind, hazard.severity, hazard.other_line) == ("async-copy", "error", 3)

    def test_own_read_without_any_wait(self, trace):
        """A thread that reads its own uncommitted copy is told to wait."""
        launch, tile, _, _ = self.start(trace)
        launch.load(tile, LANE, 6)
        (hazard,) = launch.end()
        assert hazard.message == (
            "line 6: thread 0 of block 0 reads tile[0] while its own copy into it (line 3) is "
            "under way: call cuda.cp_async_wait_all() before"
        )

    def test_never_committed(self, trace):
        """A wait for groups does not cover a copy that no group holds."""
        launch, tile, _, _ = self.start(trace)
        launch.wait(5)
        launch.barrier(6)
        launch.load(tile, LANE, 7)
        (hazard,) = launch.end()
        assert hazard.message == (
            "line 7: thread 0 of block 0 reads tile[0] while its own copy into it (line 3) is "
            "under way: the copy is in no group, so the wait on line 5 cannot see it, nor can any "
            "other wait for groups; call cuda.cp_async_commit_group() between the copy and the wait"
        )

    def test_barrier_before_the_wait(self, trace):
        """A barrier that stands before the wait publishes nothing."""
        launch, tile, _, copy = self.start(trace)
        launch.commit(4, copy)
        launch.barrier(5)
        launch.wait(6, copy)
        launch.load(tile, 63 - LANE, 7)
        (hazard,) = launch.end()
        assert hazard.message == (
            "line 7: thread 0 of block 0 reads tile[63], which thread 63 of block 0 copied (line "
            "3) and waited for on line 6, with no barrier after the wait: a wait covers a thread's "
            "own copies only, so put cuda.syncthreads() after it"
        )

    def test_overwritten_while_under_way(self, trace):
        """A store into the destination of a copy under way."""
        launch, tile, _, copy = self.start(trace)
        launch.store(tile, LANE, 4)
        launch.wait(5, copy)
        assert said(launch.end()) == [("async-copy", "error", 4, 3)]

    def test_source_written_too_early(self, trace):
        """A store into the source of a copy under way; after the wait it is free."""
        launch, _, source, copy = self.start(trace, written=True)
        launch.store(source, LANE, 4)
        launch.wait(5, copy)
        launch.store(source, LANE, 6)
        (hazard,) = launch.end()
        assert hazard.message == (
            "line 4: thread 0 of block 0 writes src[0] while the copy on line 3 may still read it: "
            "wait for the copy first (cuda.cp_async_wait_all())"
        )

    def test_zero_filled_lanes_read_nothing(self, trace):
        """Lanes whose element arrives as zero leave the source alone."""
        launch = trace(1, 64)
        tile, source = launch.space("shared", "tile"), launch.space("global", "src", 64)
        copy = launch.copy(tile, LANE, source, LANE, 3, zero=range(64))
        launch.store(source, LANE, 4)
        launch.wait(5, copy)
        launch.load(tile, LANE, 6)
        assert launch.end() == []

    def test_never_waited(self, trace):
        """A copy that nobody waits for and nobody reads is a warning."""
        launch, _, _, _ = self.start(trace)
        (hazard,) = launch.end()
        assert hazard.message == (
            "line 3: thread 0 of block 0 copies into tile[0] and ends without waiting for it: call "
            "cuda.cp_async_wait_all() before the data is used, or leave the copy out"
        )
        assert (hazard.severity, hazard.other_line) == ("warning", None)

    @pytest.mark.parametrize(
        ("source", "destination", "way_out"),
        [
            ("shared", "global", "name the shared array first"),
            ("global", "global", "assign the elements instead"),
            ("shared", "shared", "assign the elements instead"),
            ("local", "shared", "assign the elements instead"),
        ],
    )
    def test_only_from_global_to_shared(self, trace, source, destination, way_out):
        """PTX ISA, cp.async: `[dst]` is in shared memory and `[src]` in global."""
        launch = trace(1, 64)
        to = launch.space(destination, "to")
        copy = launch.copy(to, LANE, launch.space(source, "other", 64), LANE, 3)
        launch.wait(4, copy)
        [found] = [each for each in launch.end() if each.kind == "async-copy"]
        assert found.severity == "error"
        assert found.message == (
            f"line 3: thread 0 of block 0 copies from {source} memory (other) into to[0], which is "
            f"{destination}: an asynchronous copy goes from global to shared memory only, so "
            f"{way_out}"
        )

    def test_two_threads_into_one_element(self, trace):
        """Two threads that copy into the same element."""
        launch = trace(1, 64)
        tile = launch.space("shared", "tile")
        source = launch.space("global", "src", 64, written=False)
        copy = launch.copy(tile, LANE // 2, source, LANE, 3)
        launch.wait(4, copy)
        (hazard,) = launch.end()
        assert hazard.message == (
            "line 3: thread 1 of block 0 and thread 0 of block 0 both copy into tile[0]: give each "
            "element one copying thread"
        )

    def test_reading_partly_arrived(self, trace):
        """Lanes that have waited are served; the others' elements are not there."""
        launch, tile, _, copy = self.start(trace)
        launch.commit(4, copy)
        launch.wait(5, copy, who=range(32))
        launch.barrier(6)
        launch.load(tile, LANE, 7, range(32))
        launch.load(tile, LANE, 8, range(32, 64))
        launch.wait(9, copy, who=range(32, 64))
        assert said(launch.end()) == [("async-copy", "error", 8, 3)]


class TestPipeline:
    """Two buffers: the copy of tile n + 1 is under way while tile n is used."""

    def run(self, trace, *, wait_for=1, last_barrier=True, tiles=4):
        launch = trace(1, 64)
        tile = launch.space("shared", "tile", (2, 64))
        source = launch.space("global", "src", 64 * tiles, written=False)
        issued = [launch.copy(tile, LANE, source, LANE, 3)]
        launch.commit(4, issued[0])
        for n in range(tiles):
            if n + 1 < tiles:
                into = 64 * ((n + 1) % 2) + LANE
                issued.append(launch.copy(tile, into, source, 64 * (n + 1) + LANE, 6))
                launch.commit(7, issued[-1])
            pending = wait_for if n + 1 < tiles else 0
            launch.wait(8, *issued[: len(issued) - pending])
            launch.barrier(9)
            launch.load(tile, 64 * (n % 2) + 63 - LANE, 10)
            if last_barrier:
                launch.barrier(11)
        return launch.end()

    def test_correct(self, trace):
        """Wait for all but the newest group, barrier, use, barrier: no hazard."""
        assert self.run(trace) == []

    def test_waiting_for_all_is_right_too(self, trace):
        """Waiting for more than needed is slow, not wrong."""
        assert self.run(trace, wait_for=0) == []

    def test_wrong_group(self, trace):
        """Leaving two groups pending leaves the one that is read: the message says which."""
        (read,) = (
            each for each in self.run(trace, wait_for=2) if (each.line, each.other_line) == (10, 3)
        )
        assert read.message == (
            "line 10: thread 0 of block 0 reads tile[0, 63] while the copy by thread 63 of block 0 "
            "into it (line 3) is under way: the wait on line 8 leaves its group pending, where "
            "cuda.cp_async_wait_group(1) would wait for it, and put cuda.syncthreads() after the "
            "wait"
        )

    def test_early_reuse(self, trace):
        """Without the barrier after the use, the next copy overwrites what others still read."""
        (hazard,) = self.run(trace, last_barrier=False)
        assert hazard.message == (
            "line 6: thread 0 of block 0 starts a copy into tile[0, 0], which thread 63 of block 0 "
            "reads on line 10, with no barrier between: put cuda.syncthreads() before the copy, so "
            "that the buffer is free"
        )


class TestGroups:
    """Why a wait for all but the newest group did not cover the tile that is read."""

    def pipeline(self, trace, *steps):
        """Two copies and what is done between: a list of (name, line, argument).

        Copies are numbered in their order; `commit` and `wait` name those that they close, or
        that land.
        """
        launch = trace(1, 64)
        tile = launch.space("shared", "tile", (2, 64))
        source = launch.space("global", "src", 256, written=False)
        issued = []
        for name, line, *which in steps:
            if name == "copy":
                into = 64 * which[0] + LANE
                issued.append(launch.copy(tile, into, source, 64 * len(issued) + LANE, line))
            elif name == "read":
                launch.load(tile, 64 * which[0] + LANE, line)
            else:
                getattr(launch, name)(line, *(issued[number] for number in which))
        return {(each.line, each.other_line): each for each in launch.end()}

    def test_nothing_closed_since_the_wait_before(self, trace):
        """The last turn of a pipeline closes no group: the newest, which is left, is its own."""
        found = self.pipeline(
            trace,
            ("copy", 3, 0),
            ("commit", 4, 0),
            ("copy", 6, 1),
            ("commit", 7, 1),
            ("wait", 8, 0),
            ("read", 9, 0),
            ("wait", 8),
            ("read", 9, 1),
        )
        assert found.keys() == {(9, 6)}
        assert found[9, 6].message == (
            "line 9: thread 0 of block 0 reads tile[1, 0] while its own copy into it (line 6) is "
            "under way: the wait on line 8 leaves the newest group in flight, and as no group was "
            "closed since the wait before, that is still this one; close a group before every "
            "wait, an empty one where nothing is copied (cuda.cp_async_commit_group() outside of "
            "the `if`), or let this turn alone wait with cuda.cp_async_wait_group(0)"
        )

    def test_an_empty_group_in_between(self, trace):
        """With an empty group closed the same wait covers the tile: no hazard."""
        found = self.pipeline(
            trace,
            ("copy", 3, 0),
            ("commit", 4, 0),
            ("copy", 6, 1),
            ("commit", 7, 1),
            ("wait", 8, 0),
            ("read", 9, 0),
            ("commit", 7),
            ("wait", 8, 1),
            ("read", 9, 1),
        )
        assert found == {}

    def test_two_groups_left_by_every_wait(self, trace):
        """A wait that always leaves too many is told the number, as groups were closed between."""
        found = self.pipeline(
            trace,
            ("copy", 3, 0),
            ("commit", 4, 0),
            ("copy", 6, 1),
            ("commit", 7, 1),
            ("wait", 8),
            ("read", 9, 0),
        )
        assert found[9, 3].way_out == (
            "the wait on line 8 leaves its group pending, where cuda.cp_async_wait_group(1) would "
            "wait for it"
        )

    def test_newer_copy_without_a_group(self, trace):
        """The next tile's copy is never committed, so the wait takes this tile's for the newest."""
        found = self.pipeline(
            trace,
            ("copy", 3, 0),
            ("commit", 4, 0),
            ("copy", 6, 1),
            ("wait", 8),
            ("read", 9, 0),
            ("copy", 6, 0),
        )
        said = (
            "the newer copy on line 6 is in no group, so the wait on line 8 takes this one's group "
            "for the newest and leaves it in flight; call cuda.cp_async_commit_group() between "
            "line 6 and the wait"
        )
        assert found[9, 3].way_out == found[6, 3].way_out == said

    def test_newer_copy_closed_after_the_wait(self, trace):
        """A commit that stands behind the wait comes too late for it."""
        found = self.pipeline(
            trace,
            ("copy", 3, 0),
            ("commit", 4, 0),
            ("copy", 6, 1),
            ("wait", 8),
            ("commit", 9, 1),
            ("read", 10, 0),
        )
        assert found[10, 3].way_out == (
            "the newer copy on line 6 gets its group only on line 9, so the wait on line 8 takes "
            "this one's group for the newest and leaves it in flight; call "
            "cuda.cp_async_commit_group() between line 6 and the wait"
        )

    def test_no_wait_since_an_earlier_copy_was_brought(self, trace):
        """The wait was right for the tile before: the next is used without one, or too soon."""
        found = self.pipeline(
            trace,
            ("copy", 3, 0),
            ("commit", 4, 0),
            ("copy", 6, 1),
            ("commit", 7, 1),
            ("wait", 8, 0),
            ("read", 9, 0),
            ("read", 9, 1),
        )
        assert found[9, 6].way_out == (
            "the wait on line 8 brought an earlier copy and leaves this one's group, the newest, "
            "in flight; wait once more before this one is used, with "
            "cuda.cp_async_wait_group(0), or use what has arrived"
        )

    def test_the_only_copy_left(self, trace):
        """A wait that brought nothing leaves too many."""
        found = self.pipeline(trace, ("copy", 3, 0), ("commit", 4, 0), ("wait", 5), ("read", 6, 0))
        assert found[6, 3].way_out == (
            "the wait on line 5 leaves its group pending, where cuda.cp_async_wait_group(0) would "
            "wait for it"
        )

    def test_closed_after_the_wait(self, trace):
        """So it is for the copy that is read."""
        found = self.pipeline(trace, ("copy", 3, 0), ("wait", 4), ("commit", 5, 0), ("read", 6, 0))
        assert found[6, 3].way_out == (
            "its group is closed on line 5, after the wait on line 4, which so cannot see it; call "
            "cuda.cp_async_commit_group() before the wait"
        )

    def test_fact_and_way_out(self, trace):
        """A message is its fact and its way out."""
        found = self.pipeline(trace, ("copy", 3, 0), ("read", 6, 0))
        [hazard] = [each for each in found.values() if each.severity == "error"]
        assert hazard.message == f"{hazard.fact}: {hazard.way_out}"
        assert hazard.way_out == "call cuda.cp_async_wait_all() before"
