"""What an answer should give is known outside its process only."""

from __future__ import annotations

import ast
import inspect
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from wia_lab.grading import plain, sandbox
from wia_lab.grading.limits import Limits
from wia_lab.grading.sandbox import Worker
from wia_lab.grading.scripts import Scripts
from wia_lab.grading.staging import STAGED
from wia_lab.grading.verdicts import judge_answer, play_source
from wia_lab.puzzles.curriculum import HOST_PUZZLES, every, find
from wia_lab.puzzles.mutants import ROOT, notebook_answer

HOSTS = sorted(HOST_PUZZLES)
EXPECTED = ("judging", "expected", "formulas")


@pytest.mark.parametrize("puzzle", HOSTS)
def test_what_plays_a_script_knows_no_expected_value(puzzle):
    """Its source holds no function of a judge, and imports only what a worker has."""
    play = find(puzzle).play
    source = play_source(puzzle, inspect.getsourcefile(play) or "", play.__name__)
    tree = ast.parse(source)
    theirs = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    stem = puzzle.replace("-", "_")
    folder = ROOT / "wia_lab" / "puzzles"
    judges = [*folder.glob("*_judging.py"), *folder.glob(f"{stem}_expected.py")]
    ours = {
        node.name
        for path in judges
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
    }
    assert ours
    assert not theirs & ours
    puzzles = {each.id.replace("-", "_") for each in every()} | {"curriculum", "inputs"}
    for name in STAGED:
        kept = name.endswith("puzzles/judging.py") or not any(word in name for word in EXPECTED)
        assert kept, name
        assert not name.startswith("puzzles/") or Path(name).stem not in puzzles, name
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("wia_lab.puzzles."):
            assert f"puzzles/{node.module.rpartition('.')[2]}.py" in STAGED, node.module


@pytest.mark.parametrize("puzzle", HOSTS)
def test_a_script_that_comes_back_in_part_is_no_pass(puzzle):
    """A step whose reply or facts are left out would go unjudged."""
    record = find(puzzle)
    answer = notebook_answer(ROOT / "solutions" / f"{record.stem}.ipynb", record.function)
    case = record.cases(np.random.default_rng(3))[0]
    run = record.play(answer, case)

    def told(replies, facts):
        row = {"replies": replies, "facts": facts}
        return Scripts(record, [replace(case, measured=False)]).hear(plain.dumps(row))

    with pytest.raises(ValueError, match="came back in part"):
        told(run.replies[:-1], dict(run.facts))
    if "steps" in run.facts:
        with pytest.raises(ValueError, match="came back in part"):
            told(run.replies, {"steps": run.facts["steps"][:-1]})


def test_a_kernel_in_c_is_compiled_in_the_sandbox():
    """The library makes its own function of a text; an answer makes none."""
    path = ROOT / "tests" / "mutants" / "three-levels" / "pass_kernel_in_c.py"
    with Worker(sandbox.mode()) as worker:
        found = judge_answer(find("three-levels"), path.read_text(), 5, Limits(seconds=60), worker)
    assert (found.status, found.verdict.passed) == ("graded", True)
