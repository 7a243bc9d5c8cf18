"""What odd files once did to the grader or to honest students: told too much, or nothing."""

from __future__ import annotations

import json
import zipfile

import pytest

from wia_lab.grading import grade, records, similar
from wia_lab.grading.layouts import DEEPEST
from wia_lab.grading.submission import MOST_MEMBERS, read_files, text_of

LONG = 2_000_000


def put_cells(made, folder, *cells):
    """Write the notebook of `start` with a wrong answer and cells of a student's own."""
    path = made.put(folder, "start", made.wrong_square)
    notebook = json.loads(path.read_text())
    notebook["cells"] += [{"cell_type": "code", "metadata": {}, **cell} for cell in cells]
    path.write_text(json.dumps(notebook))


class TestFindings:
    """What is told of a file is short, however long the file's names are."""

    def test_long_and_many(self, made, tmp_path):
        """Ids of megabytes and markers by the thousand fill neither gradebook nor pages."""
        twice = [{"id": "i" * LONG, "source": "x"}] * 2
        marked = "\n".join(f"# NBVAL_{number}" for number in range(50_000))
        put_cells(made, tmp_path / "in" / "eve", *twice, {"id": "m", "source": marked})
        [row] = made.grade(tmp_path / "in", tmp_path / "out", course=made.course("start"))
        assert max(map(len, row["findings"])) <= 300
        for path in (tmp_path / "out").rglob("*"):
            assert path.is_dir() or path.stat().st_size < 100_000, path

    def test_number_of_them(self):
        """Of many the first are shown, and how many more there are."""
        found = grade.shown([f"finding {number}" for number in range(100)])
        assert len(found) == grade.MOST_FINDINGS + 1
        assert found[-1] == f"and {100 - grade.MOST_FINDINGS} more"
        assert grade.shown(["once", "once"]) == ["once"]

    def test_folders_too_deep(self, made, tmp_path):
        """What lies deeper than is read is said to."""
        made.put(tmp_path.joinpath("in", "dov", *["deep"] * (DEEPEST + 2)), "start")
        [row] = made.grade(tmp_path / "in", tmp_path / "out", course=made.course("start"))
        assert row["findings"] == [f"folders more than {DEEPEST} deep, which are not read"]


class TestArchives:
    """Archives without a notebook, and with more members than anybody sends."""

    @pytest.mark.parametrize(
        ("members", "words"), [(3, "holds no notebook"), (MOST_MEMBERS + 1, "members")]
    )
    def test_is_said(self, tmp_path, members, words):
        """The reason stands in the findings."""
        with zipfile.ZipFile(tmp_path / "zoe.zip", "w") as archive:
            for number in range(members):
                archive.writestr(zipfile.ZipInfo(f"{number}.txt"), b"")
        read = read_files([(tmp_path / "zoe.zip", 0)])
        assert read.notebooks == []
        assert words in read.findings[0]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("nonlocal x", "nonlocal"),
        ("break", "outside loop"),
        ("x = 1; global x", "global declaration"),
    ],
)
@pytest.mark.parametrize("puzzle", ["start", "buddy-allocator"])
def test_what_only_the_compiler_refuses(made, tmp_path, puzzle, line, words):
    """It is told with its line, as any other mistake of grammar, and the process does not end."""
    source = made.solution(puzzle)
    head = next(each for each in source.split("\n") if each.lstrip().startswith("def "))
    indent = len(head) - len(head.lstrip()) + 4
    made.put(tmp_path / "in" / "sam", puzzle, source.replace(head, f"{head}\n{' ' * indent}{line}"))
    [row] = made.grade(tmp_path / "in", tmp_path / "out", course=made.course(puzzle))
    assert row["total"] == 0
    assert row["status"] == "graded"
    assert row["puzzles"][puzzle]["kind"] == "syntax"
    page = next((tmp_path / "out" / "feedback").glob("sam*.html")).read_text()
    assert words in page


class TestLines:
    """Signs that some programs take for the end of a line."""

    @pytest.mark.parametrize(
        "change",
        [
            lambda source: source.replace("\n", "\r"),
            lambda source: source.replace("\n", "\r\n"),
            lambda source: f"\x0c\n\x0c\n{source}",
            lambda source: f"# from the web:\u2028 and\x85 so\x0b on\x1c\n{source}",
        ],
        ids=["old Mac", "Windows", "form feed", "separators in a comment"],
    )
    @pytest.mark.parametrize("puzzle", ["start", "buddy-allocator"])
    def test_honest_answer_has_its_points(self, made, tmp_path, puzzle, change):
        """The official answer is full, however its lines end."""
        made.put(tmp_path / "in" / "ida", puzzle, change(made.solution(puzzle)))
        [row] = made.grade(tmp_path / "in", tmp_path / "out", course=made.course(puzzle))
        assert row["total"] == row["possible"], row["puzzles"]

    def test_text(self):
        """A source has one kind of line end, whether a text or a list."""
        assert text_of("a\r\nb\rc") == text_of(["a\r", "\nb\r", "c"]) == "a\nb\nc"
        assert text_of(7) == text_of(None) == ""


def test_names_of_files_are_far_apart():
    """Nobody finds a name whose record lies where another's does: 64 bits tell them apart."""
    assert len(records.file_stem("ada").rpartition("-")[2]) == 16


def test_long_answer_is_compared_by_its_beginning():
    """Of thousands of lines the first are hashed, of fewer all; the digest is of the whole."""

    def functions(count, last):
        lines = [f"def f{n}(x):\n    return x + {n}" for n in range(count)]
        return similar.sketch("a", "\n".join([*lines, f"def g(x):\n    return x - {last} * x"]))

    long, other = functions(4000, 1), functions(4000, 2)
    assert long.hashes == other.hashes
    assert long.digest != other.digest
    assert functions(20, 1).digest != functions(20, 2).digest
