"""Running a notebook in a kernel, and reading the verdict of its check."""

from __future__ import annotations

import sys

import pytest
from nbformat.v4 import new_code_cell, new_notebook

from wia_lab.errors import NotebookError
from wia_lab.workbook import runner
from wia_lab.workbook.build import read_notebook
from wia_lab.workbook.runner import judge_notebook, run_notebook


@pytest.fixture
def verdict(tmp_path, notebook_with):
    """Return what the check says of an answer."""

    def judge(answer, puzzle="tiled-matmul"):
        path = tmp_path / "06-tiled-matmul.ipynb"
        notebook_with(path, answer, puzzle)
        return judge_notebook(read_notebook(path), "tiled-matmul", tmp_path, path.name)

    return judge


class TestVerdict:
    """What the check cell said, in the words of the check."""

    def test_right_answer(self, verdict):
        """A right answer passes with the line that the check printed; later cells do not run."""
        outcome = verdict("def answer():\n    return 42")
        assert (outcome.passed, outcome.said) == (True, "tiled-matmul: passed")

    def test_wrong_answer(self, verdict):
        """A wrong answer fails with the diagnosis, its lines kept, without a traceback."""
        outcome = verdict("def answer():\n    return 41")
        assert not outcome.passed
        assert outcome.said == "tiled-matmul is not right yet.\nanswer() gave 41, not 42"

    def test_cell_that_does_not_run(self, verdict):
        """The first error is the cause, not the NameError that follows from it."""
        outcome = verdict("def answer():\n    return 42 +")
        assert not outcome.passed
        assert outcome.said == (
            "the cell that begins with `def answer():`, line 2: SyntaxError: invalid syntax"
        )

    def test_answer_under_another_name(self, verdict):
        """A name that no cell defines is the answer's: it was renamed, or stands below."""
        outcome = verdict("def result():\n    return 42")
        assert "NameError: name 'answer' is not defined: your answer keeps the name" in outcome.said

    def test_error_of_the_package_in_a_cell(self, verdict):
        """Its short traceback still says which cell, and which of its lines."""
        source = "from wia_lab.errors import WiaLabError\n\nraise WiaLabError('no')"
        assert verdict(source).said == (
            "the cell that begins with `from wia_lab.errors import WiaLabError`, line 3: "
            "WiaLabError: no"
        )

    def test_error_inside_the_answer(self, verdict):
        """An exception of the learner's own code is told with its class, cell and line."""
        outcome = verdict("def answer():\n    return 1 / 0")
        assert outcome.said == (
            "the cell that begins with `def answer():`, line 2: ZeroDivisionError: division by zero"
        )

    def test_answer_cell(self, tmp_path, notebook_with):
        """The cell that a learner is to fill in is called the answer cell."""
        path = tmp_path / "06-tiled-matmul.ipynb"
        notebook_with(path, "def answer():\nreturn 42", "tiled-matmul")
        notebook = read_notebook(path)
        [cell] = [each for each in notebook.cells if each.source.startswith("def answer")]
        cell.metadata.nbgrader = {"solution": True}
        outcome = judge_notebook(notebook, "tiled-matmul", tmp_path, path.name)
        assert outcome.said == (
            "the answer cell, line 2: IndentationError: expected an indented block after function "
            "definition on line 1"
        )

    def test_check_cell_removed(self, verdict):
        """A notebook without its check is no success, and the sentence says how to mend it."""
        with pytest.raises(NotebookError, match=r'has no cell that starts with check\("tiled-mat'):
            verdict("def answer():\n    return 42", puzzle="another")


class TestKernel:
    """Where the cells run."""

    def test_is_this_environments(self, tmp_path):
        """The kernel has this interpreter and the notebook's folder."""
        source = "import os, sys\nprint(sys.executable, os.getcwd())"
        notebook = new_notebook(cells=[new_code_cell(source)])
        run_notebook(notebook, tmp_path, "here.ipynb")
        assert notebook.cells[0].outputs[0].text == f"{sys.executable} {tmp_path}\n"

    def test_loop_that_never_ends(self, tmp_path, monkeypatch):
        """A cell over its time is stopped and named as such."""
        monkeypatch.setattr(runner, "SECONDS_A_CELL", 1)
        notebook = new_notebook(cells=[new_code_cell("while True:\n    pass")])
        with pytest.raises(NotebookError, match="x.ipynb: a cell ran for more than 1 s"):
            run_notebook(notebook, tmp_path, "x.ipynb")

    def test_kernel_that_dies(self, tmp_path):
        """A cell that ends its process is told, and nothing waits for it."""
        notebook = new_notebook(cells=[new_code_cell("import os; os._exit(1)")])
        with pytest.raises(NotebookError, match="x.ipynb: a cell ended its own kernel"):
            run_notebook(notebook, tmp_path, "x.ipynb")
