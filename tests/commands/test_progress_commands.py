"""`wia-lab check`, `hint`, `progress` and `reset` in a learner's folder."""

from __future__ import annotations

import shutil

import pytest

from wia_lab.cli import main
from wia_lab.puzzles import mutants
from wia_lab.workbook import catalogue, progress


@pytest.fixture
def folder(in_folder, small_workbook, capsys):
    """Return a learner's folder, just started, in the current folder."""
    main(["start", "--no-lab"])
    capsys.readouterr()
    return in_folder / "my-notebooks"


class TestCheck:
    """Exit code 0 when solved, 1 when not, 3 when there is nothing to judge."""

    @pytest.mark.parametrize("name", ["tiled-matmul", "6", "06", "06-tiled-matmul.ipynb"])
    def test_solved(self, name, folder, notebook_with, capsys):
        """A right answer is told with the check's own line, by whichever name it is asked for."""
        notebook_with(
            folder / "06-tiled-matmul.ipynb", "def answer():\n    return 42", "tiled-matmul"
        )
        assert main(["check", name]) == 0
        assert capsys.readouterr().out == "06-tiled-matmul: solved\n  tiled-matmul: passed\n"

    def test_stub(self, folder, capsys):
        """An answer not begun is not solved."""
        assert main(["check", "tiled-matmul"]) == 1
        assert capsys.readouterr().out == (
            "06-tiled-matmul: not solved\n"
            "  the cell that begins with `def answer():`, line 3: NotImplementedError: \n"
        )

    def test_all(self, folder, capsys):
        """Without a name every notebook is judged and counted; one that cannot be is no success."""
        assert main(["check", "--dir", str(folder)]) == 1
        out = capsys.readouterr().out
        assert "00-start: not judged\n  00-start.ipynb has no cell that starts with check" in out
        assert out.endswith("0 of 2 puzzles solved\n")

    def test_notebook_deleted(self, folder, capsys):
        """A notebook that is not there is named, with the way to bring it back."""
        (folder / "06-tiled-matmul.ipynb").unlink()
        assert main(["check", "6"]) == 3
        assert "06-tiled-matmul.ipynb is not in my-notebooks" in capsys.readouterr().err.replace(
            str(folder), "my-notebooks"
        )

    def test_notebook_broken(self, folder, capsys):
        """A file that is no notebook is told in one sentence."""
        (folder / "06-tiled-matmul.ipynb").write_text("{")
        assert main(["check", "6"]) == 1
        said = capsys.readouterr().out
        assert "is not a notebook that Jupyter can read (Expecting property name" in said
        assert said.endswith(
            "wia-lab reset tiled-matmul brings a fresh one and keeps this as a backup\n"
        )

    def test_notebook_that_may_not_be_read(self, folder, capsys, monkeypatch):
        """One notebook without the right to read it does not keep the others from being judged."""

        def refuse(_path):
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr("wia_lab.workbook.build.read_notebook", refuse)
        assert main(["check"]) == 1
        said = capsys.readouterr().out
        assert said.count("cannot be read (Permission denied): give yourself the right") == 2
        assert said.endswith("0 of 2 puzzles solved\n")

    def test_by_its_path(self, folder, notebook_with, capsys):
        """A notebook's path names the puzzle and the folder."""
        notebook_with(
            folder / "06-tiled-matmul.ipynb", "def answer():\n    return 42", "tiled-matmul"
        )
        assert main(["check", "my-notebooks/06-tiled-matmul.ipynb"]) == 0

    @pytest.mark.parametrize(
        ("line", "said"),
        [
            ("check my-notebooks", "my-notebooks is a folder, no puzzle: try --dir my-notebooks"),
            (
                "hint my-notebooks/06-tiled-matmul.ipynb --dir .",
                "its folder itself: leave --dir out",
            ),
        ],
    )
    def test_a_folder_in_the_puzzles_place(self, line, said, folder, capsys):
        """What stands in the wrong place is told where it belongs."""
        assert main(line.split()) == 2
        assert said in capsys.readouterr().err

    def test_copied_without_state(self, folder, in_folder, capsys):
        """Notebooks alone are judged, and what is solved is remembered from then on."""
        copy = in_folder / "elsewhere"
        copy.mkdir()
        shutil.copy(folder / "06-tiled-matmul.ipynb", copy)
        assert main(["check", "6", "--dir", "elsewhere"]) == 1
        assert "elsewhere has no .wia-lab.json" in capsys.readouterr().err
        assert (copy / ".wia-lab.json").exists()


class TestMutants:
    """`check --mutants` judges the judge: exit code 1 when one answer gets what it must not."""

    @pytest.fixture
    def clone(self, tmp_path, monkeypatch):
        """Make a clone whose only puzzle is the first, with two of its known wrong answers."""
        root = tmp_path / "clone"
        wrong = root / "tests" / "mutants" / "start"
        wrong.mkdir(parents=True)
        for kind in ("notebooks", "solutions"):
            (root / kind).mkdir()
            shutil.copy(mutants.ROOT / kind / "00-start.ipynb", root / kind)
        for name in ("copies.py", "pass_by_hand.py"):
            shutil.copy(mutants.ROOT / "tests" / "mutants" / "start" / name, wrong)
        monkeypatch.setattr(mutants.check_mutants, "__kwdefaults__", {"root": root})
        return wrong

    def test_all_refused(self, clone, capsys):
        """The kill rate is printed, and all is well at 100 %."""
        assert main(["check", "start", "--mutants"]) == 0
        said = capsys.readouterr().out
        assert "start: 2 of 2 wrong answers refused with their diagnosis (100%)" in said

    def test_one_survives(self, clone, capsys):
        """A right answer that is promised a refusal survives: the rate falls, the exit is 1."""
        right = (clone / "pass_by_hand.py").read_text()
        (clone / "survivor.py").write_text(right.replace("MUST PASS.", "MUST GET: race."))
        assert main(["check", "0", "--mutants"]) == 1
        said = capsys.readouterr().out
        assert "BAD start/survivor: pass, but must get: race" in said
        assert "start: 2 of 3 wrong answers refused with their diagnosis (67%)" in said

    def test_no_clone(self, clone, capsys):
        """The wheel has no wrong answers: the sentence says where they are."""
        shutil.rmtree(clone.parent)
        assert main(["check", "start", "--mutants"]) == 3
        assert "run this from a clone of the project" in capsys.readouterr().err


class TestHintProgressReset:
    """What was seen is listed, and forgotten when a puzzle is begun anew."""

    def test_hint_counts_on(self, folder, capsys):
        """Two hints are two different ones, and progress lists them."""
        for number, name in ((1, "tiled-matmul"), (2, "6")):
            assert main(["hint", name]) == 0
            shown = capsys.readouterr().out
            assert shown.startswith(f"Hint {number} of 3")
            assert catalogue.find("tiled-matmul").hints[number - 1].strip() in shown
        main(["progress"])
        assert "06  tiled-matmul           open               2 of 3 hints seen\n" in (
            capsys.readouterr().out
        )

    def test_the_last_hint_again(self, folder, capsys):
        """After the last hint it is shown again, and the first line says so."""
        for _ in range(3):
            main(["hint", "6"])
        capsys.readouterr()
        assert main(["hint", "6"]) == 0
        assert capsys.readouterr().out.startswith(
            "There is no further hint: the last once more.\nHint 3 of 3\n"
        )

    def test_progress_lists_every_puzzle(self, folder, capsys):
        """One line a puzzle, and the sum."""
        state = progress.Progress(solved={"tiled-matmul": "2026-11-29T20:00:00+00:00"})
        progress.save(folder, state)
        assert main(["progress", "--dir", str(folder)]) == 0
        lines = capsys.readouterr().out.splitlines()
        count = len(catalogue.all_puzzles())
        assert len(lines) == count + 1
        assert "06  tiled-matmul           solved 2026-11-29" in lines
        assert lines[-1] == f"1 of {count} solved"

    def test_reset(self, folder, capsys):
        """The old notebook is kept and named, and the puzzle is open again."""
        progress.save(folder, progress.Progress(solved={"tiled-matmul": "then"}))
        (folder / "06-tiled-matmul.ipynb").write_text("my work")
        assert main(["reset", "tiled-matmul"]) == 0
        backup = folder / "06-tiled-matmul.backup-1.ipynb"
        assert backup.read_text() == "my work"
        assert capsys.readouterr().out == (
            f"{folder / '06-tiled-matmul.ipynb'} is fresh; your old one is {backup}\n"
        )
        assert progress.load(folder).solved == {}
