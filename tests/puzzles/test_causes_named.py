"""Blind answers whose cause was not named when they came: what tells it now."""

from __future__ import annotations

import re

import pytest

from wia_lab.puzzles import find, judge
from wia_lab.puzzles.mutants import ROOT, load_answer


@pytest.mark.parametrize(
    ("puzzle", "answer", "said"),
    [
        ("first-kernel", "second_2", "cuda.gridDim.x is the number of blocks"),
        ("device-query", "exactly_full_refused", "exactly 7 GiB are left: that is room enough"),
        ("device-query", "second_2", "then choose raises LookupError"),
        ("three-levels", "blind_4", "capability is 8.0, and from 8.0 on includes it"),
        (
            "coalescing",
            "guard_or",
            "is true where one part of it is, so one of them is enough: all must hold, so `and`",
        ),
        ("coalescing", "second_4", "blocks are counted in steps of 32"),
        ("bank-conflicts", "load_guarded_by_out", "what is loaded goes by the shape of a"),
        ("bank-conflicts", "steps_of_one", "nobody fills rows 11 to 31 of columns 0 to 10"),
        ("tiled-matmul", "second_4", "filled from row k + threadIdx.x of b"),
        ("register-tiling", "second_4", "so threads fill the same elements"),
        ("halo-convolution", "right_halo_over_own", "nobody fills elements 258 to 259"),
        ("halo-convolution", "second_3", "begins at -2, and tile at 0"),
        ("async-convolution", "one_thread_asks", "only 1 of the block's 256 threads takes part"),
        ("async-convolution", "only_inside_ask", "only 253 of the block's 256 threads take part"),
        ("async-convolution", "second_5", "thread 253 of block 3 has returned before"),
        ("pipeline", "next_into_same_buffer", "to where nobody has read yet what line 19 brought"),
        ("pipeline", "two_ahead_too_early", "to where nobody has read yet what line 23 brought"),
        ("pipeline", "second_3", "the copies on lines 22 and 27 are in one group"),
        ("pipeline", "second_4", "what has arrived in tiles[0] lies there unread"),
        ("pipeline", "second_6", "in its last turn there is no next tile to ask for"),
        ("reduction-softmax", "cell_by_lane", "the index `lane` goes up to 31 on this line"),
        ("reduction-softmax", "second_6", "as for a number of rounds that is rounded down"),
        ("conv-bn-relu-pool", "own_pixels_only", "nobody fills rows 0 and 33 and columns 0 and 33"),
    ],
)
def test_named(puzzle, answer, said):
    """The message has the words that tell it."""
    record = find(puzzle)
    path = ROOT / "tests" / "mutants" / puzzle / "blind" / f"{answer}.py"
    found = judge(record, load_answer(path, record.function), on_hardware=False).diagnosis
    assert said in found.text


def said_of(puzzle, answer):
    """What a check says of an answer among the mutants."""
    record = find(puzzle)
    path = ROOT / "tests" / "mutants" / puzzle / f"{answer}.py"
    return judge(record, load_answer(path, record.function), on_hardware=False).diagnosis.text


class TestGroups:
    """Puzzle 10: what a wait leaves in flight, and where a group is missing."""

    @pytest.mark.parametrize(
        ("answer", "said"),
        [
            (
                "blind/no_group_in_last_turn",
                "the wait on line 30 leaves the newest group in flight, and as no group was closed "
                "since the wait before, that is still this one; close a group before every wait, "
                "an empty one where nothing is copied",
            ),
            (
                "last_tile_not_waited_for",
                "or let this turn alone wait with cuda.cp_async_wait_group(0)",
            ),
            (
                "next_not_committed",
                "the newer copy on line 25 is in no group, so the wait on line 26 takes this one's "
                "group for the newest",
            ),
            (
                "committed_after_the_wait",
                "the newer copy on line 25 gets its group only on line 27, so the wait on line 26",
            ),
            (
                "no_wait_in_last_turn",
                "the wait on line 27 brought an earlier copy and leaves this one's group, the "
                "newest, in flight; wait once more before this one is used",
            ),
            ("not_committed", "the copy is in no group, so the wait on line 25 cannot see it"),
            (
                "waits_for_all",
                "When line 36 stores, nothing is on its way: the wait on line 27 has waited for "
                "the copy on line 25 too, whose tile nobody has read yet.",
            ),
            (
                "nothing_committed_but_first",
                "the wait on line 26 has waited for the copy on line 25 too",
            ),
        ],
    )
    def test_said(self, answer, said):
        """The message says which group or copy it is, on which line."""
        assert said in said_of("pipeline", answer)

    @pytest.mark.parametrize(
        "answer", ["blind/no_group_in_last_turn", "waits_for_all", "nothing_committed_but_first"]
    )
    def test_no_circle(self, answer):
        """Who is sent from one number to the other hears that the last turn differs."""
        text = said_of("pipeline", answer)
        assert "an empty one" in text
        assert re.search(r"in the last turn alone|this turn alone", text)

    @pytest.mark.parametrize("answer", ["reads_other_buffer", "blind/second_4"])
    def test_wrong_buffer(self, answer):
        """Where another buffer lies ready the wait is not blamed."""
        text = said_of("pipeline", answer)
        assert "has arrived in tiles[0] lies there unread" in text
        assert "wait" not in text

    @pytest.mark.parametrize(
        "answer", ["next_into_same_buffer", "blind/two_ahead_too_early", "blind/second_3"]
    )
    def test_another_cause(self, answer):
        """Where the copy itself is wrong no other number is asked for."""
        assert "cp_async_wait_group" not in said_of("pipeline", answer)


@pytest.mark.parametrize(
    ("puzzle", "answer"),
    [
        ("first-kernel", "guard_off_by_one"),
        ("pipeline", "buffer_for_each_tile"),
        ("reduction-softmax", "blind/cell_by_lane"),
        ("conv-bn-relu-pool", "tile_small"),
    ],
)
def test_no_guard_where_the_cause_is_known(puzzle, answer):
    """An index that leaves its array is told to be guarded only where nothing else is known."""
    text = said_of(puzzle, answer)
    assert "Likely cause: " in text
    assert "guard the access" not in text


def test_a_gate_missed_from_below_says_how_to_reach_it():
    """Too few is told by the gate's advice, too many by its other sentence."""
    record = find("pipeline")
    path = ROOT / "tests" / "mutants" / "pipeline" / "plain_loads.py"
    found = judge(record, load_answer(path, record.function), on_hardware=False).diagnosis
    assert found.cause == "samples copied asynchronously"
    assert found.text.endswith(record.gates[0].advice)
    assert record.gates[0].too_many not in found.text
