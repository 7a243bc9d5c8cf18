"""Puzzles whose answer is a class: wrong answers get their diagnosis, right ones pass."""

from __future__ import annotations

import re

import pytest

from wia_lab.puzzles import check, find, judge
from wia_lab.puzzles.checking import passing_text
from wia_lab.puzzles.curriculum import HOST_PUZZLES, every
from wia_lab.puzzles.heap_pictures import heap_strip
from wia_lab.puzzles.host_judge import call
from wia_lab.puzzles.mutants import (
    ROOT,
    Outcome,
    load_answer,
    notebook_answer,
    read_promise,
)
from wia_lab.puzzles.pool_playing import ScriptedHeap
from wia_lab.workbook import form
from wia_lab.workbook.build import read_notebook

FOLDER = ROOT / "tests" / "mutants"
FILES = [path for name in HOST_PUZZLES for path in sorted((FOLDER / name).rglob("*.py"))]
EACH = pytest.mark.parametrize("puzzle", HOST_PUZZLES.values(), ids=HOST_PUZZLES)


def solution(puzzle):
    """The official answer."""
    return notebook_answer(ROOT / "solutions" / f"{puzzle.stem}.ipynb", puzzle.function)


@pytest.mark.parametrize("path", FILES, ids=lambda p: "/".join(p.relative_to(FOLDER).parts))
def test_answer_gets_what_it_must(path):
    """The verdict has the kind, line and cause that the file's docstring promises."""
    puzzle = HOST_PUZZLES[path.relative_to(FOLDER).parts[0]]
    verdict = judge(puzzle, load_answer(path, puzzle.function))
    outcome = Outcome(puzzle.id, path.stem, read_promise(path), verdict)
    assert outcome.kept, f"{outcome}\n{verdict.diagnosis and verdict.diagnosis.text}"


@EACH
class TestEach:
    """What every host puzzle has."""

    def test_enough_wrong_answers(self, puzzle):
        """Many wrong ones, of several kinds and causes, and some that are right in other ways."""
        promises = [read_promise(path) for path in (FOLDER / puzzle.id).glob("*.py")]
        wrong = [promise for promise in promises if not promise.passes]
        assert len(wrong) >= 12
        assert len({promise.kind for promise in wrong}) >= 6
        assert len(promises) - len(wrong) >= 3

    def test_stub_is_refused(self, puzzle):
        """What a learner starts from is refused as a stub."""
        stub = notebook_answer(ROOT / "notebooks" / f"{puzzle.stem}.ipynb", puzzle.function)
        assert judge(puzzle, stub).diagnosis.kind == "stub"

    @pytest.mark.parametrize("seed", [1, 2, 3, 28])
    def test_solution_passes(self, puzzle, seed):
        """The official answer passes whatever the seed of the scripts."""
        verdict = judge(puzzle, solution(puzzle), seed=seed)
        assert verdict.passed, verdict.diagnosis.text
        assert all(entry.passed for entry in verdict.entries)

    def test_not_the_class(self, puzzle):
        """An object, a function or nothing at all is refused by name."""
        for answer in (None, print, 3):
            verdict = judge(puzzle, answer)
            assert verdict.diagnosis.kind == "not-a-class"
            assert puzzle.function in verdict.diagnosis.text
            assert not any(entry.passed for entry in verdict.entries)

    def test_method_missing(self, puzzle):
        """A class without one of the methods is told which."""
        first, second = puzzle.signature[:2]
        half = type(puzzle.function, (), {first: lambda self: 0})
        assert f"has no method {second}" in judge(puzzle, half).diagnosis.text

    def test_notebook(self, puzzle):
        """One answer, one check of this puzzle worth the judge's points, a word about hints."""
        cells = read_notebook(ROOT / "solutions" / f"{puzzle.stem}.ipynb").cells
        assert [cell.id for cell in cells if form.is_answer(cell)] == ["answer"]
        [checked] = [cell for cell in cells if form.checked_puzzles(cell)]
        assert form.checked_puzzles(checked) == [puzzle.id]
        points = puzzle.points + sum(gate.points for gate in puzzle.gates)
        assert checked.metadata.nbgrader.points == points
        assert any(f'hint("{puzzle.id}")' in cell.source for cell in cells)

    def test_hints(self, puzzle):
        """Three, each within the width of a page, none with the whole answer."""
        assert len(puzzle.hints) == 3
        for text in puzzle.hints:
            assert max(map(len, text.splitlines())) <= 100
            assert f"class {puzzle.function}" not in text

    def test_found_by_every_name(self, puzzle):
        """By id, number, notebook; and in order among all puzzles."""
        for name in (puzzle.id, str(puzzle.number), puzzle.stem, f"{puzzle.stem}.ipynb"):
            assert find(name) is puzzle
        numbers = [other.number for other in every()]
        assert numbers == sorted(numbers)
        assert puzzle.number in numbers


def test_check_prints_the_gates(capsys):
    """A passed check has naive, target and own figure of each gate."""
    puzzle = HOST_PUZZLES["buddy-allocator"]
    check(puzzle.id, solution(puzzle))
    said = capsys.readouterr().out
    assert re.search(r"naive 4,096, target at most 200, yours \d+\.", said)
    assert "requests served: naive 0, target at least 4,161, yours 4,161." in said
    assert said.strip() == passing_text(puzzle, judge(puzzle, solution(puzzle)))


class TestCall:
    """What a method of the learner's does becomes plain data."""

    def test_value_and_lines(self):
        """The value, and the lines executed in the learner's own file."""

        def three():
            first = 1
            second = 2
            return first + second

        reply = call(three)
        assert (reply.value, reply.error, reply.lines) == (3, None, 3)

    def test_error(self):
        """Class, message and line of an exception, however deep below it was raised."""

        def fails():
            return int("no number")

        reply = call(fails)
        assert reply.error == "ValueError"
        assert "no number" in reply.text
        assert reply.line == fails.__code__.co_firstlineno + 1

    def test_loop_without_end(self):
        """It is stopped, although it catches every Exception."""

        def loops():
            while True:
                try:
                    pass
                except Exception:
                    continue

        assert call(loops).error == "TooManyLines"


class TestPictures:
    """The heap, as the learner's own allocator lays it out."""

    def test_text_twin(self):
        """A row a step; capitals are live, small letters are kept by the pool."""
        heap = ScriptedHeap(4096)
        pool = solution(HOST_PUZZLES["memory-pool"])(heap, 1024)
        picture = heap_strip(
            pool, 1024, ["A =256", "B =512", "free A"], block_of=lambda n: n, heap=heap
        )
        assert str(picture).splitlines() == [
            "A =256  |" + "A" * 16 + "." * 48 + "|",
            "B =512  |" + "A" * 16 + "B" * 32 + "." * 16 + "|",
            "free A  |" + "a" * 16 + "B" * 32 + "." * 16 + "|",
        ]

    def test_figure_has_a_bar_a_block(self):
        """The image shows the same: a bar for the heap and one for each block, step by step."""
        buddy = solution(HOST_PUZZLES["buddy-allocator"])(1024, 64)
        picture = heap_strip(buddy, 1024, ["A =500", "B =60", "free A"], block_of=lambda n: n)
        [axis] = picture.figure().axes
        assert len(axis.patches) == (1 + 1) + (1 + 2) + (1 + 1)
        assert [text.get_text() for text in axis.texts] == ["A", "A", "B", "B"]
        assert "image/png" in picture._repr_mimebundle_()


class TestMisspelt:
    """A name that is not known is told with the one that is near it."""

    class Pool:
        """An object with two attributes."""

        def __init__(self):
            self.lock, self.kept = None, {}

        def attribute(self):
            """Asks for an attribute of its own."""
            return self.lokc

        def method(self):
            """Asks for a method of a dictionary."""
            return self.kept.itmes()

        def name(self, size):
            """Asks for a parameter."""
            return size + sizes  # noqa: F821

        def unlike(self):
            """Asks for what nothing is near."""
            return self.xyzzy

    @pytest.mark.parametrize(
        ("method", "args", "said"),
        [
            ("attribute", (), "'Pool' object has no attribute 'lokc' (did you mean lock?)"),
            ("method", (), "'dict' object has no attribute 'itmes' (did you mean items?)"),
            ("name", (1,), "name 'sizes' is not defined (did you mean size?)"),
            ("unlike", (), "'Pool' object has no attribute 'xyzzy'"),
        ],
    )
    def test_near(self, method, args, said):
        """The reply's text ends with the question."""
        assert call(getattr(self.Pool(), method), *args).text == said
