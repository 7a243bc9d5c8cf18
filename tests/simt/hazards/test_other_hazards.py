"""Bounds, uninitialised reads, barriers, arithmetic, progress: what is said, and when."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

LANE = np.arange(64)


def only(launch):
    (hazard,) = launch.end()
    return hazard


class TestBounds:
    """Indices outside an array."""

    @pytest.mark.parametrize(
        ("shape", "index", "store", "text"),
        [
            (
                64,
                (64,),
                False,
                "line 5: thread 3 of block 0 reads a[64], but a ends at 63: guard the access with "
                "`if i < a.size`, where i is the index",
            ),
            (
                64,
                (-65,),
                True,
                "line 5: thread 3 of block 0 writes a[-65], but a ends at 63: guard the access "
                "with `if 0 <= i < a.size`, where i is the index",
            ),
            (
                (4, 16),
                (2, 16),
                False,
                "line 5: thread 3 of block 0 reads a[2, 16], but a along axis 1 ends at 15: guard "
                "the access with `if i < a.shape[1]`, where i is the index 16 of axis 1",
            ),
            (
                0,
                (0,),
                False,
                "line 5: thread 3 of block 0 reads a[0], but a has no elements: check its shape, "
                "and how it was made",
            ),
        ],
        ids=["past the end", "before the start", "second axis", "empty"],
    )
    def test_message(self, trace, shape, index, store, text):
        """The message names the index as written, the axis, its end and a guard."""
        launch = trace(1, 64)
        launch.outside(launch.space("global", "a", shape), index, 5, [3, 4], store=store)
        hazard = only(launch)
        assert hazard.message == text
        assert (hazard.kind, hazard.severity, hazard.index) == ("out-of-bounds", "error", index)
        assert hazard.further == 1

    def test_one_message_a_line(self, trace):
        """The same line counts on; another line is another cause."""
        launch = trace(1, 64)
        a = launch.space("global", "a")
        for line in (5, 5, 6):
            launch.outside(a, (64,), line, range(8))
        assert [(each.line, each.further) for each in launch.end()] == [(5, 15), (6, 7)]

    def test_negative_index(self, trace):
        """A negative index that wraps is a warning."""
        launch = trace(1, 64)
        a = launch.space("global", "a")
        launch.hazards.on_negative_index(a, launch.lanes([2]), LANE - 3, launch.sites[5])
        hazard = only(launch)
        assert hazard.message == (
            "line 5: thread 2 of block 0 indexes a with -1, which counts from the end: if that is "
            "not meant, guard the access with `if i >= 0`"
        )
        assert (hazard.kind, hazard.severity) == ("negative-index", "warning")


class TestUninitialised:
    """Shared and local memory starts undefined."""

    def test_shared(self, trace):
        """A read of what no thread wrote names thread and element, once a line."""
        launch = trace(2, 64)
        tile = launch.space("shared", "tile")
        launch.store(tile, np.arange(128) % 64, 4, range(100))
        launch.barrier(5)
        for element in range(64):
            launch.load(tile, element, 6, [0, 64])
        hazard = only(launch)
        assert hazard.message == (
            "line 6: thread 0 of block 1 reads tile[36], which no thread of the block has written: "
            "shared memory starts undefined, so write every element before it is read, or leave "
            "out those that were not written"
        )
        assert (hazard.kind, hazard.severity) == ("uninitialised-read", "error")
        assert (hazard.index, hazard.further) == ((36,), 27)

    def test_local(self, trace):
        """Each thread's local array is its own."""
        launch = trace(1, 64)
        acc = launch.space("local", "acc", 4)
        launch.store(acc, 0, 4, range(32))
        launch.load(acc, 0, 5, range(33))
        assert only(launch).message == (
            "line 5: thread 32 of block 0 reads acc[0], which it has not written: "
            "local memory starts undefined, so write every element before it is read, or leave "
            "out those that were not written"
        )

    def test_local_declared_anew(self, trace):
        """A declaration in a loop makes the contents undefined again, in its lanes."""
        launch = trace(1, 64)
        acc = launch.space("local", "acc", 4)
        launch.hazards.on_declare(acc, launch.lanes(None), launch.sites[2])
        launch.store(acc, 0, 3)
        launch.hazards.on_declare(acc, launch.lanes(range(32)), launch.sites[2])
        launch.load(acc, 0, 4, range(32, 64))
        assert launch.hazards.found == []
        launch.load(acc, 0, 5, range(32))
        assert only(launch).line == 5

    def test_shared_declared_anew_keeps_its_data(self, trace):
        """A shared array has one allocation; declaring it again changes nothing."""
        launch = trace(1, 64)
        tile = launch.space("shared", "tile")
        launch.store(tile, LANE, 3)
        launch.hazards.on_declare(tile, launch.lanes(None), launch.sites[2])
        launch.load(tile, LANE, 4)
        assert launch.end() == []

    def test_atomics(self, trace):
        """An atomic reads, so its cell must have been written."""
        launch = trace(1, 64)
        bins = launch.space("shared", "bins", 4)
        launch.atomic(bins, LANE % 4, 5)
        assert only(launch).message.startswith(
            "line 5: thread 0 of block 0 updates bins[0], which no thread of the block has written"
        )

    def test_next_chunk_is_fresh(self, trace):
        """A block does not see what the shared memory of an earlier one held."""
        launch = trace(2, 64, chunk=1)
        launch.store(launch.space("shared", "s"), LANE, 3)
        launch.begin_chunk(1)
        launch._spaces = 0
        launch.load(launch.space("shared", "s"), LANE, 4)
        assert [each.line for each in launch.end()] == [4]

    def test_global_memory_comes_from_the_host(self, trace):
        """Arguments hold what the host put there."""
        launch = trace(1, 64)
        launch.load(launch.space("global", "a"), LANE, 3)
        assert launch.end() == []

    def test_what_went_outside_is_not_missed_twice(self, trace):
        """An element that was meant for a cell but went outside the array is one fault."""
        launch = trace(1, 64)
        tile = launch.space("shared", "s")
        launch.store(tile, LANE + 1, 3, range(63))
        launch.outside(tile, (64,), 3, [63], store=True)
        launch.barrier(4)
        launch.load(tile, LANE, 5)
        assert [(each.kind, each.line) for each in launch.end()] == [("out-of-bounds", 3)]

    def test_variable(self, trace):
        """A variable that some threads never set."""
        launch = trace(1, 64)
        launch.hazards.on_unset(launch.sites[7], launch.lanes([2, 3]), "t")
        hazard = only(launch)
        assert hazard.message == (
            "line 7: thread 2 of block 0 reads the variable t, which no statement that it passed "
            "had set: give t a value before the branch or loop that sets it for some threads only"
        )
        assert (hazard.kind, hazard.severity, hazard.array) == ("uninitialised-read", "error", "t")


class TestBarriers:
    """Barriers that not all threads come to."""

    @pytest.mark.parametrize(
        ("reason", "lines", "severity", "text"),
        [
            (
                "exited",
                (5,),
                "error",
                "line 5: thread 0 of block 0 waits here, but thread 16 of block 0 never comes: all "
                "threads must come to the same barrier or warp operation, so move it out of the "
                "branch or loop that some threads skip",
            ),
            (
                "elsewhere",
                (5, 8),
                "error",
                "line 5: thread 0 of block 0 waits here, but thread 16 of block 0 waits on line 8: "
                "all threads must come to the same barrier, so move it out of the branches",
            ),
            (
                "returned",
                (5,),
                "warning",
                "line 5: thread 0 of block 0 waits here, but thread 16 of block 0 has returned "
                "before: GPUs let the others go on, yet a barrier is meant for all threads of the "
                "block, and a shuffle gets nothing defined from a lane that has gone; guard the "
                "work with `if` instead of returning, so that all threads come here",
            ),
            (
                "copied",
                (5, 5),
                "warning",
                "line 5: thread 0 of block 0 waits here, where the compiler makes two barriers out "
                "of this one (one for each way of reaching it), and thread 16 of block 0 comes by "
                "the other way: this hung on real GPUs; leave the loop body by one way, with no "
                "`continue` before the barrier",
            ),
        ],
    )
    def test_message(self, trace, reason, lines, severity, text):
        """Each reason has its own words, both threads named."""
        launch = trace(1, 64)
        launch.hazards.on_divergent_barrier(
            tuple(launch.sites[line] for line in lines),
            launch.lanes(range(16)),
            launch.lanes(range(16, 64)),
            reason,
        )
        hazard = only(launch)
        assert (hazard.message, hazard.severity) == (text, severity)
        assert hazard.kind == "divergent-barrier"
        assert hazard.other_line == (8 if reason == "elsewhere" else None)


class TestArithmetic:
    """What a GPU does without a word."""

    def test_division_by_zero(self, trace):
        """A warning that names the first thread."""
        launch = trace(1, 64)
        launch.hazards.on_arithmetic_fault(launch.sites[4], launch.lanes([5, 6]))
        hazard = only(launch)
        assert hazard.message == (
            "line 4: thread 5 of block 0 divides by zero, which a GPU does without a word (inf, "
            "nan, or for integers an undefined number): test the divisor first"
        )
        assert (hazard.kind, hazard.severity) == ("division-by-zero", "warning")

    def test_float64(self, trace):
        """Each widened line is told once, however often the segment runs."""
        launch = trace(1, 64)
        segment = SimpleNamespace(widened={4, 7})
        for _ in range(3):
            launch.hazards.on_segment(segment, launch.lanes(None))
        launch.hazards.on_segment(SimpleNamespace(widened=set()), launch.lanes(None))
        found = launch.end()
        assert [(each.kind, each.severity, each.line, each.further) for each in found] == [
            ("float64-arithmetic", "warning", 4, 0),
            ("float64-arithmetic", "warning", 7, 0),
        ]
        assert found[0].message == (
            "line 4: thread 0 of block 0 computes in float64 here, as a literal or an integer "
            "widens float32, which is slow on many GPUs: write np.float32(...) around the literal "
            "or the integer"
        )


class TestProgress:
    """Threads that spin."""

    @pytest.mark.parametrize(
        ("rescued", "severity", "words"),
        [(True, "warning", "sm_70"), (False, "error", "a GPU would hang")],
    )
    def test_severity(self, trace, rescued, severity, words):
        """A spinner freed by its own warp is a warning that names sm_70; else an error."""
        launch = trace(1, 64)
        launch.hazards.on_no_progress(launch.sites[4], launch.lanes([1]), rescued)
        hazard = only(launch)
        assert (hazard.kind, hazard.severity) == ("no-progress", severity)
        assert hazard.message.startswith("line 4: thread 1 of block 0 spins in this loop ")
        assert words in hazard.message


class TestFindings:
    """What is found is ordered for a reader."""

    def test_errors_first_then_by_line(self, trace):
        """Errors stand before warnings, then by line."""
        launch = trace(1, 64)
        a = launch.space("global", "a")
        launch.hazards.on_arithmetic_fault(launch.sites[2], launch.lanes([0]))
        launch.outside(a, (64,), 9, [0])
        launch.outside(a, (64,), 5, [0])
        assert [(each.severity, each.line) for each in launch.end()] == [
            ("error", 5),
            ("error", 9),
            ("warning", 2),
        ]

    def test_another_file_is_named(self, trace):
        """A line in a device function of another file carries that file's name."""
        launch = trace(1, 64)
        site = type(launch.sites[0])(3, 12, "/home/learner/helpers.py", "helper")
        launch.hazards.on_arithmetic_fault(site, launch.lanes([0]))
        assert only(launch).message.startswith("helpers.py line 12: thread 0 of block 0 divides")

    def test_a_new_launch_forgets(self, trace):
        """One listener can hear several launches."""
        launch = trace(1, 64)
        launch.hazards.on_arithmetic_fault(launch.sites[2], launch.lanes([0]))
        assert len(launch.end()) == 1
        other = trace(1, 64)
        launch.hazards.on_launch(
            SimpleNamespace(
                file="kernel.py",
                grid=(1, 1, 1),
                block=(64, 1, 1),
                sites=other.sites,
                has_fences=False,
            )
        )
        assert launch.hazards.found == []
