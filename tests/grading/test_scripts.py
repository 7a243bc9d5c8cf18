"""Scripts of a host answer are judged as they come: what is settled is not played on."""

from __future__ import annotations

import json

import numpy as np
import pytest

from wia_lab.errors import CannotRun
from wia_lab.grading import plain, sandbox
from wia_lab.grading.limits import Limits
from wia_lab.grading.sandbox import Worker, WorkerDied
from wia_lab.grading.scripts import Scripts
from wia_lab.grading.verdicts import judge_answer
from wia_lab.puzzles.curriculum import find
from wia_lab.puzzles.mutants import ROOT, load_answer

LEVELS, BUDDY = find("three-levels"), find("buddy-allocator")
MUTANTS = ROOT / "tests" / "mutants"


@pytest.fixture(scope="module")
def worker():
    with Worker(sandbox.mode()) as made:
        yield made


def cases(puzzle):
    return list(puzzle.cases(np.random.default_rng(5)))


def record(puzzle, path, number=0):
    """Return what the sandbox tells of a script."""
    case = cases(puzzle)[number]
    run = puzzle.play(load_answer(path, puzzle.function), case)
    return plain.dumps({"replies": run.replies, "facts": dict(run.facts)})


class TestStop:
    """An answer plays no more once a script went wrong."""

    def test_diagnosis_and_no_limit(self, worker):
        """Work that would last for minutes gets the diagnosis of its first script."""
        source = (MUTANTS / "three-levels" / "one_thread.py").read_text()
        found = judge_answer(LEVELS, source, 5, Limits(seconds=60), worker)
        assert found.status == "graded"
        assert found.verdict.diagnosis.cause == "too-few-threads"
        assert len(found.verdict.runs) == 1

    @pytest.mark.parametrize(
        ("name", "status"), [("no_split", "graded"), ("pass_orders", "timeout")]
    )
    def test_what_came_before_a_timeout_counts(self, made, name, status):
        """A script that went wrong is what the student is told, whatever happens later."""

        class Late:
            def ask(self, _request, _seconds, _most, hear):
                for number in range(3):
                    hear(record(BUDDY, MUTANTS / "buddy-allocator" / f"{name}.py", number))
                raise WorkerDied("the worker does not answer")

        found = judge_answer(BUDDY, made.solution("buddy-allocator"), 5, Limits(), Late())
        assert found.status == status
        assert not any(entry.passed for entry in found.verdict.entries)

    def test_worker_goes_on_with_the_next(self, made, worker):
        """Stopped or not, the next answer is judged as ever, by the same process."""
        wrong = (MUTANTS / "three-levels" / "no_guard.py").read_text()
        starts = worker.starts
        for _ in range(3):
            assert not judge_answer(LEVELS, wrong, 5, Limits(seconds=60), worker).verdict.passed
            source = made.solution("buddy-allocator")
            assert judge_answer(BUDDY, source, 5, Limits(seconds=60), worker).verdict.passed
        assert worker.starts <= starts + 1


def test_a_worker_that_cannot_start_is_no_students_fault(made):
    """It is no verdict: the machine is to be mended, and the student graded again."""

    class Broken:
        def ask(self, *_):
            raise CannotRun("no worker can be started")

    with pytest.raises(CannotRun):
        judge_answer(BUDDY, made.solution("buddy-allocator"), 5, Limits(), Broken())


class TestParts:
    """What is told of scripts is as little trusted as a whole reply."""

    def test_one_too_many(self):
        """More scripts than were asked for are no pass."""
        path = MUTANTS / "buddy-allocator" / "pass_orders.py"
        scripts = Scripts(BUDDY, cases(BUDDY)[:1])
        assert scripts.hear(record(BUDDY, path)) is False
        with pytest.raises(ValueError, match="more than 1 script came"):
            scripts.hear(record(BUDDY, path))

    def test_missing(self):
        """Nothing wrong and not everything there: no verdict."""
        with pytest.raises(ValueError, match=r"0 runs of \d+ scripts"):
            Scripts(BUDDY, cases(BUDDY)).verdict()

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "{}",
            "null",
            json.dumps(["d", ["replies", ["t"]], ["facts", ["d"]]]),
            json.dumps(["d", ["replies", ["t", 1]], ["facts", ["d"]]]),
            json.dumps(["d", ["replies", ["t", ["r", "Hazard"]]], ["facts", ["d"]]]),
        ],
    )
    def test_no_record(self, made, text):
        """The answer is stopped, and its student is told so."""

        class Liar:
            def ask(self, _request, _seconds, _most, hear):
                hear(text)
                return {"fate": "ran", "result": plain.encode({"refusal": None})}

        found = judge_answer(BUDDY, made.solution("buddy-allocator"), 5, Limits(), Liar())
        assert found.status == "crashed"
        assert not any(entry.passed for entry in found.verdict.entries)

    @pytest.mark.parametrize("line", [b"\n", b"x" * 70_000 + b"\n", b"[" * 60_000 + b"\n"])
    def test_flood_of_lines(self, worker, line):
        """Lines without end are stopped by their number or their bytes."""
        code = (
            "import os, stat\nfor n in range(3, 40):\n    try:\n"
            "        if stat.S_ISFIFO(os.fstat(n).st_mode):\n"
            f"            while True: os.write(n, {line[:1]!r} * {len(line) - 1} + b'\\n')\n"
            "    except OSError: pass"
        )
        request = {
            "kind": "kernel",
            "source": "",
            "function": "square",
            "setup": code,
            "facts": {"signature": []},
            "cases": ["t"],
            "limits": Limits(seconds=20, output_mib=2).plain(),
        }
        heard = []
        reply = worker.ask(request, 20.0, 2 << 20, lambda part: heard.append(part) or False)
        assert reply["fate"] == "output"
        assert len(heard) <= 1000
        assert sum(map(len, heard)) <= 2 << 20
