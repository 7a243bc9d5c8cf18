"""The canonical form of a notebook: one text for one content."""

from __future__ import annotations

import json

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from wia_lab.workbook import form

ANSWER = "def f():\n    ### BEGIN SOLUTION\n    return 1\n    ### END SOLUTION"


def messy():
    """Return a notebook as JupyterLab might leave it after a session."""
    code = new_code_cell("f()", id="1a2b3c4d", execution_count=17)
    code.outputs = [
        new_output("execute_result", {"text/plain": "1"}, execution_count=17, metadata={"x": 1})
    ]
    code.metadata = {
        "collapsed": True,
        "tags": ["hardware", "nbval-ignore-output"],
        "trusted": True,
    }
    cells = [
        new_markdown_cell("# Tiles & shared memory!", id="0123abcd"),
        new_code_cell(ANSWER, id="d9428888-122b-11e1-b85c-61cd3cbb3210", execution_count=9),
        code,
        new_code_cell('check("tiled-matmul", f)', id="deadbeef"),
        new_code_cell("again()", id="kept-name"),
    ]
    return new_notebook(
        cells=cells, metadata={"widgets": {}, "language_info": {"name": "python", "version": "3.9"}}
    )


class TestCells:
    """Names, tags and nbgrader's metadata follow from what a cell is."""

    def test_random_ids_become_names(self):
        """Role, heading or place name a cell; a name given by hand stays."""
        names = [cell.id for cell in form.canonical(messy(), outputs=True).cells]
        assert names == [
            "tiles-shared-memory",
            "answer",
            "code-2",
            "check-tiled-matmul",
            "kept-name",
        ]

    def test_names_are_unique(self):
        """A cell pasted twice gets a name of its own, as nbgrader demands of a grade_id."""
        notebook = new_notebook(cells=[new_code_cell(ANSWER) for _ in range(3)])
        for cell in notebook.cells:
            cell.id = "answer"
        names = [cell.id for cell in form.canonical(notebook, outputs=True).cells]
        assert names == ["answer", "answer-2", "answer-3"]

    def test_answer_and_check_carry_nbgraders_metadata(self):
        """An answer is an unlocked solution cell, a check a locked test worth one point."""
        _, answer, _, check, other = form.canonical(messy(), outputs=True).cells
        assert answer.metadata == {
            "nbgrader": {
                "grade": False,
                "grade_id": "answer",
                "locked": False,
                "schema_version": 3,
                "solution": True,
                "task": False,
            }
        }
        assert check.metadata == {
            "nbgrader": {
                "grade": True,
                "grade_id": "check-tiled-matmul",
                "locked": True,
                "points": 1,
                "schema_version": 3,
                "solution": False,
                "task": False,
            }
        }
        assert other.metadata == {}

    def test_points_given_by_the_author_stay(self):
        """A check worth five points is worth five after the next build."""
        cell = new_code_cell('check("start", f)', id="check-start")
        cell.metadata = {"nbgrader": {"points": 5}}
        notebook = form.canonical(new_notebook(cells=[cell]), outputs=True)
        assert notebook.cells[0].metadata.nbgrader.points == 5

    def test_tags_stay(self):
        """Tags are kept, other metadata is not."""
        kept = form.canonical(messy(), outputs=True).cells[2].metadata
        assert kept == {"tags": ["hardware", "nbval-ignore-output"]}

    def test_a_check_in_the_text_is_no_check(self):
        """Only a code cell with a call at the start of a line counts."""
        quoted = new_code_cell('# then check("start", f)\nx = [check("start", f)]')
        text = new_markdown_cell('check("start", f)')
        assert form.checked_puzzles(quoted) == form.checked_puzzles(text) == []


class TestForm:
    """What the file holds."""

    def test_twice_is_once(self):
        """The form of a canonical notebook is itself."""
        once = form.canonical(messy(), outputs=True)
        assert form.text_of(form.canonical(once, outputs=True)) == form.text_of(once)

    def test_is_a_valid_notebook(self):
        """nbformat accepts it as 4.5, and reads back the same."""
        notebook = form.canonical(messy(), outputs=False)
        nbformat.validate(notebook)
        assert nbformat.reads(form.text_of(notebook), as_version=4) == notebook
        assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)

    def test_kernel_is_the_environments(self):
        """No version of Python, no widget state, no editor's settings."""
        assert form.canonical(messy(), outputs=True).metadata == {
            "kernelspec": {
                "display_name": "Python 3 (ipykernel)",
                "language": "python",
                "name": "python3",
            },
            "language_info": {"name": "python"},
        }

    def test_outputs_are_numbered_as_a_fresh_kernel_would(self):
        """Execution counts run from 1; a cell never run has none."""
        cells = form.canonical(messy(), outputs=True).cells
        assert [cell.get("execution_count") for cell in cells] == [None, 1, 2, None, None]
        assert cells[2].outputs[0].execution_count == 2
        assert cells[2].outputs[0].metadata == {}

    def test_outputs_can_be_cleared(self):
        """A learner's notebook shows no output and no count."""
        for cell in json.loads(form.text_of(form.canonical(messy(), outputs=False)))["cells"]:
            assert cell.get("outputs", []) == []
            assert cell.get("execution_count") is None

    def test_source_is_not_touched(self):
        """The given notebook stays as it was."""
        given = messy()
        before = nbformat.writes(given)
        form.canonical(given, outputs=False)
        assert nbformat.writes(given) == before
