"""A class made up of what learners really write, end to end; and every known answer judged."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from wia_lab.cli import main
from wia_lab.grading import sandbox
from wia_lab.grading.limits import Limits
from wia_lab.grading.sandbox import Worker
from wia_lab.grading.verdicts import judge_answer
from wia_lab.puzzles.curriculum import every, find
from wia_lab.puzzles.judging import judge
from wia_lab.puzzles.mutants import load_answer, read_promise

ROOT = Path(__file__).resolve().parents[2]
MUTANTS = ROOT / "tests" / "mutants"
CHROMIUM = "/usr/bin/chromium"
PUZZLES = [p for p in every() if (ROOT / "solutions" / f"{p.stem}.ipynb").exists()]


@pytest.mark.slow
def test_class_on_one_machine_and_its_pages(made, tmp_path):
    """Twelve students, nbval included; feedback and the view of the class open in a browser."""
    made.put_class(tmp_path / "in", PUZZLES)
    out = Path(os.environ.get("CLASS_OUT", tmp_path / "out"))
    assert main(["grade", str(tmp_path / "in"), "-o", str(out), "--seed", "12"]) == 0
    csv = (out / "gradebook.csv").read_text(encoding="utf-8-sig")
    assert len(csv.splitlines()) == 13
    assert csv.count(",agrees") == 12
    if not Path(CHROMIUM).exists():
        pytest.skip(f"{CHROMIUM} is not here, so no page was opened")
    from playwright.sync_api import sync_playwright

    pages = [out / "classroom.html", *sorted((out / "feedback").glob("*.html"))]
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1000, "height": 1400})
        said = []
        page.on("console", lambda message: said.append(message.text))
        for path in pages:
            page.goto(path.as_uri())
            assert "x" != page.title()
            wide = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
            assert not page.evaluate(wide), path
            page.screenshot(path=out / f"{path.stem}.png")
        browser.close()
    assert said == []


@pytest.mark.slow
@pytest.mark.parametrize("puzzle", [p.id for p in PUZZLES])
def test_every_known_answer_gets_what_its_gates_allow(puzzle):
    """In the sandbox each mutant passes the entries that it passes at the desk, and no other."""
    record = find(puzzle)
    with Worker(sandbox.mode()) as worker:
        for path in sorted((MUTANTS / puzzle).rglob("*.py")):
            desk = judge(record, load_answer(path, record.function), seed=77, on_hardware=False)
            found = judge_answer(record, path.read_text(), 77, Limits(seconds=60), worker)
            there = [(entry.name, entry.passed) for entry in found.verdict.entries]
            assert there == [(entry.name, entry.passed) for entry in desk.entries], path.name
            assert found.verdict.passed == read_promise(path).passes, path.name


@pytest.mark.slow
@pytest.mark.parametrize("puzzle", [p.id for p in PUZZLES])
def test_mutants_are_refused_on_twenty_seeds(puzzle):
    """No wrong answer has the luck of its inputs, and no right one their bad luck."""
    record = find(puzzle)
    for path in sorted((MUTANTS / puzzle).rglob("*.py")):
        answer = load_answer(path, record.function)
        wanted = read_promise(path).passes
        for seed in range(20):
            found = judge(record, answer, seed=seed, on_hardware=False)
            assert found.passed == wanted, (path.name, seed)
