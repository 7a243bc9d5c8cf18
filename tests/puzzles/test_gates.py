"""A gate that is missed names the line that counts most, or what was done on it."""

from __future__ import annotations

import numpy as np
import pytest

from wia_lab.puzzles import PUZZLES, find, judge
from wia_lab.puzzles.execute import execute
from wia_lab.puzzles.gates import share
from wia_lab.puzzles.mutants import ROOT, load_answer
from wia_lab.puzzles.puzzle import Puzzle


def answer(puzzle, name):
    """An answer among the mutants."""
    return load_answer(ROOT / "tests" / "mutants" / puzzle.id / f"{name}.py", puzzle.function)


class TestShare:
    """Which line has how many of what was counted."""

    @pytest.mark.parametrize(
        ("lines", "said"),
        [
            ({}, ""),
            ({7: 0}, ""),
            ({7: 1, 9: 0}, "It is on line 7."),
            ({7: 5952, 9: 0}, "All of them are on line 7."),
            ({7: 100, 9: 1900}, "Most of them, 1,900 of 2,000, are on line 9."),
            ({7: 3, 9: 4, 12: 3}, "Line 9 has the most of them, 4 of 10."),
            ({9: 32, 7: 32}, "Lines 7 and 9 have 32 each, of 64."),
            ({9: 2, 7: 2, 12: 2, 15: 1}, "Lines 7, 9 and 12 have 2 each, of 7."),
        ],
    )
    def test_said(self, lines, said):
        """All, most, the most, or as many on each of several lines."""
        assert share(lines) == said


@pytest.mark.parametrize(
    ("puzzle", "name", "said"),
    [
        ("first-kernel", "one_thread_adds_all", "All of them are on line 10."),
        ("first-kernel", "stores_twice", "Lines 10 and 11 have 32 each, of 64."),
        (
            "bank-conflicts",
            "padded_rows",
            "All of them are on line 19. tile has the shape (33, 32): 33 rows of 32.",
        ),
        ("bank-conflicts", "stores_by_columns", "All of them are on line 12."),
        ("async-convolution", "not_asynchronous", "Line 21 loads signal by plain loads."),
        ("pipeline", "one_buffer", "When line 29 stores, nothing is on its way: issue the copy"),
        ("pipeline", "blind/second_6", "Most of them, 144 of 180, are on line 27."),
        ("halo-convolution", "no_tile", "All of them are on line 21."),
        ("conv-bn-relu-pool", "tile_for_each_filter", "All of them are on line 18."),
    ],
)
def test_line(puzzle, name, said):
    """The sentence stands before the advice."""
    record = find(puzzle)
    found = judge(record, answer(record, name), on_hardware=False).diagnosis
    assert found.kind == "gate"
    assert found.text.splitlines()[1].startswith(said), found.text


@pytest.mark.parametrize(
    "puzzle", [each for each in PUZZLES.values() if isinstance(each, Puzzle)], ids=lambda p: p.id
)
def test_every_upper_bound_names_a_line(puzzle):
    """Who counts too much can be told where."""
    unnamed = [gate.name for gate in puzzle.gates if gate.at_most and gate.where is None]
    assert unnamed == []


def test_lines_add_up():
    """What lines of the kernel count, of all arrays or of one, is what the launch counts."""
    record = find("async-convolution")
    [case] = [each for each in record.cases(np.random.default_rng(28)) if each.measured]
    run = execute(answer(record, "pass_element_copies").py_func, case)
    for name in ("global_load_sectors", "async_copies", "shared_load_wavefronts"):
        lines = sum(getattr(each, name) for each in run.lines.values())
        assert lines == getattr(run.counters, name) > 0
    for traffic in run.arrays.values():
        lines = sum(each.global_load_sectors for each in traffic.lines.values())
        assert lines == traffic.counters.global_load_sectors
    assert run.shared == {"tile": (260,), "weights": (5,)}


def test_two_naive_kernels_have_names():
    """Where a page's naive figures are of different kernels the check says of which."""
    record = find("bank-conflicts")
    texts = [entry.text for entry in judge(record, answer(record, "padded_by_two")).entries[1:]]
    assert [text.partition(", target")[0] for text in texts] == [
        "global load sectors: naive (no tile) 6,144",
        "global store sectors: naive (no tile) 768",
        "shared load wavefronts: naive (no tile) 0",
        "bank conflicts: naive (rows of 32) 5,952",
    ]
