"""Puzzle 02: what must be chosen follows from data sheets and from what others hold."""

from __future__ import annotations

import json

import numpy as np
import pytest

from wia_lab.puzzles import find, judge
from wia_lab.puzzles.device_query_judging import best
from wia_lab.puzzles.device_query_pictures import devices
from wia_lab.puzzles.device_query_playing import GIB, play
from wia_lab.puzzles.host_puzzle import HostCase
from wia_lab.puzzles.mutants import ROOT, notebook_answer

PUZZLE = find("device-query")


@pytest.fixture(scope="module")
def solution():
    """The official answer."""
    return notebook_answer(ROOT / "solutions" / f"{PUZZLE.stem}.ipynb", PUZZLE.function)


@pytest.mark.parametrize(
    ("machine", "before", "gib", "needs", "want"),
    [
        ("T4+L4", [], 4, [], 0),  # 320 GB/s against 300
        ("T4+L4", [], 4, ["supports_bfloat16"], 1),  # sm_75 has none, sm_89 has
        ("T4+L4", [], 20, [], 1),  # 16 GiB against 24
        ("T4+L4", [], 25, [], None),
        ("H100+H200", [("take", 1, 60)], 72, [], 0),  # 131.3 - 60 GiB are left
        ("H100+H200", [("take", 1, 60)], 71, [], 1),
        ("2xA100", [("take", 0, 1)], 4, [], 1),
        ("2xA100", [("seize", 1, 1)], 4, [], 0),
        ("2xT4-pcie-2numa", [], 1, ["supports_peer_to_peer"], None),
        ("2xT4-pcie", [], 1, ["supports_peer_to_peer"], 0),
    ],
)
def test_what_must_be_chosen(solution, machine, before, gib, needs, want):
    """Expected by hand, from the data sheets."""
    case = HostCase("", (*before, ("choose", gib, needs)), {"machine": machine})
    facts = play(solution, case).facts["steps"][-1]
    assert best(facts["seen"], gib * GIB) == want
    assert (facts["got"], facts["opened"]) == (want, 0)


def test_nothing_large_is_held(solution):
    """A script of hundreds of GiB takes little of this computer's memory."""
    import tracemalloc

    tracemalloc.start()
    steps = (("open", 0, 100, 4, 1.0), ("fill", 0, 100))
    run = play(solution, HostCase("", steps, {"machine": "H200"}))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert run.facts["steps"][1] == {"error": None}
    assert peak < 10 << 20


def test_every_seed(solution):
    """No machine drawn turns a right answer wrong."""
    for seed in range(40):
        verdict = judge(PUZZLE, solution, seed=seed)
        assert verdict.passed, (seed, verdict.diagnosis.text)


def test_facts_are_plain_data(solution):
    """Another process can judge them."""
    for case in PUZZLE.cases(np.random.default_rng(2)):
        json.dumps(play(solution, case).facts)


class TestPicture:
    """The text twin has the figure's numbers."""

    def test_text(self, solution):
        """A strip a device, 80 GiB on 48 characters: others' and mine; then the answers."""
        picture = devices(solution, "T4+A100", ("take", 1, 40), ("choose", 20), ("choose", 50))
        assert str(picture).splitlines() == [
            "0 T4          320 GB/s |" + "." * 10 + "|",
            "1 A100      2,039 GB/s |" + "o" * 24 + "#" * 12 + "." * 12 + "|",
            "20 GiB: device 1",
            "50 GiB: none (T4+A100 has no device for 53,687,091,200 bytes)",
        ]

    def test_figure(self, solution):
        """A bar a device, and one for each context."""
        picture = devices(solution, "T4+A100", ("take", 1, 40), ("choose", 20))
        [axis] = picture.figure().axes
        assert [round(bar.get_width()) for bar in axis.patches] == [16, 80, 40, 20]
        assert "image/png" in picture._repr_mimebundle_()
