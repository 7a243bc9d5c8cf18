"""solutions/ → notebooks/: stubs for answers, cleared outputs, and no drift between the two."""

from __future__ import annotations

import json

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from wia_lab.cli import main
from wia_lab.errors import NotebookError
from wia_lab.workbook import form, places
from wia_lab.workbook.build import find_drift, mend, read_notebook, with_stubs

SOURCE = """\
@cuda.jit
def double(out, a):
    ### BEGIN SOLUTION
    # STUB: i = cuda.grid(1)
    # STUB: if i < out.size:
    # STUB:     # the right cell
    i = cuda.grid(1)
    if i < out.size:
        out[i] = 2 * a[i]
    ### END SOLUTION
after = 1"""
STUBBED = """\
@cuda.jit
def double(out, a):
    i = cuda.grid(1)
    if i < out.size:
        # the right cell
    # YOUR CODE HERE
    raise NotImplementedError
after = 1"""


def solved(source=SOURCE, **of_code):
    """Return a solution notebook whose cells were run."""
    code = new_code_cell(source, id="answer", execution_count=1, **of_code)
    check = new_code_cell('check("double", double)', id="check-double", execution_count=2)
    check.outputs = [new_output("stream", text="double: passed\n")]
    return new_notebook(cells=[new_markdown_cell("# Double", id="double"), code, check])


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """Return solutions/ with one canonical notebook, and notebooks/ built from it."""
    solutions, notebooks = tmp_path / "solutions", tmp_path / "notebooks"
    solutions.mkdir()
    own = form.canonical(solved(), outputs=True)
    (solutions / "01-double.ipynb").write_text(form.text_of(own))
    mend(find_drift(solutions, notebooks))
    monkeypatch.setattr(places, "checkout", lambda: tmp_path)
    return solutions, notebooks


class TestStubs:
    """What the learner finds in place of the answer."""

    def test_given_lines_come_first(self):
        """`# STUB:` lines are given to the learner, then nbgrader's own stub."""
        assert with_stubs(SOURCE, "here") == STUBBED

    def test_without_given_lines(self):
        """A region alone becomes nbgrader's stub, indented as the mark is."""
        source = "if x:\n        ### BEGIN SOLUTION\n        y()\n        ### END SOLUTION"
        assert with_stubs(source, "here") == (
            "if x:\n        # YOUR CODE HERE\n        raise NotImplementedError"
        )

    def test_several_regions(self):
        """Each region has its stub, and what stands between them stays."""
        one = "### BEGIN SOLUTION\na = 1\n### END SOLUTION"
        stub = "# YOUR CODE HERE\nraise NotImplementedError"
        assert with_stubs(f"{one}\nb = 2\n{one}", "here") == f"{stub}\nb = 2\n{stub}"

    @pytest.mark.parametrize(
        ("source", "message"),
        [
            ("### BEGIN SOLUTION\nx", "a.ipynb, cell c: '### BEGIN SOLUTION' without"),
            ("x\n### END SOLUTION", "a.ipynb, cell c, line 2: '### END SOLUTION' without"),
            ("### BEGIN SOLUTION\n### BEGIN SOLUTION", "line 2: '### BEGIN SOLUTION' without"),
        ],
        ids=["never closed", "never opened", "opened twice"],
    )
    def test_a_mark_without_its_partner(self, source, message):
        """An answer is never shown by a slip in its marks."""
        with pytest.raises(NotebookError, match=message):
            with_stubs(source, "a.ipynb, cell c")


class TestDrift:
    """notebooks/ is what solutions/ gives, to the byte."""

    def test_fresh_build_has_none(self, folders):
        """What was just built is not reported."""
        assert find_drift(*folders) == []

    def test_built_notebook_holds_no_answer(self, folders):
        """The learner's file has the stub, no output, and nothing of the answer."""
        text = (folders[1] / "01-double.ipynb").read_text()
        assert "out[i] = 2 * a[i]" not in text
        assert "passed" not in text
        assert json.loads(text)["cells"][1]["source"] == STUBBED.splitlines(keepends=True)

    def test_edited_notebook(self, folders):
        """A learner's notebook edited by hand is refused, and the build mends it."""
        path = folders[1] / "01-double.ipynb"
        before = path.read_text()
        path.write_text(before.replace("# Double", "# Triple"))
        [drift] = find_drift(*folders)
        assert drift.message.startswith(f"{path} differs from what ")
        assert mend([drift]) == [path]
        assert path.read_text() == before

    def test_missing_notebook(self, folders):
        """A source that was never built is refused."""
        (folders[1] / "01-double.ipynb").unlink()
        [drift] = find_drift(*folders)
        assert drift.message.endswith("01-double.ipynb is missing: run wia-lab build")

    def test_notebook_without_a_source(self, folders):
        """A stray file is named; the build does not delete what it did not make."""
        stray = folders[1] / "99-mine.ipynb"
        stray.write_text("{}")
        [drift] = find_drift(*folders)
        assert drift.message == f"{stray} has no source in {folders[0]}: remove it"
        assert mend([drift]) == []
        assert stray.exists()

    def test_source_saved_by_jupyterlab(self, folders):
        """A source with a random id and editor's metadata is refused, and the build mends it."""
        path = folders[0] / "01-double.ipynb"
        notebook = nbformat.read(path, as_version=4)
        notebook.cells[0].id = "0123abcd"
        notebook.metadata["widgets"] = {}
        path.write_text(nbformat.writes(notebook))
        [drift] = find_drift(*folders)
        assert drift.message == f"{path} is not in canonical form: run wia-lab build"
        mend([drift])
        assert find_drift(*folders) == []

    def test_source_never_run(self, folders):
        """A cell without stored outputs would not be compared by nbval, so it is refused."""
        path = folders[0] / "01-double.ipynb"
        notebook = read_notebook(path)
        notebook.cells[1].execution_count = None
        path.write_text(form.text_of(form.canonical(notebook, outputs=True)))
        messages = [drift.message for drift in find_drift(*folders)]
        assert messages == [f"{path}, cell answer was never run: run wia-lab build --run 01-double"]

    def test_source_that_failed(self, folders):
        """A stored error is refused, unless the cell is tagged to raise one."""
        path = folders[0] / "01-double.ipynb"
        notebook = read_notebook(path)
        notebook.cells[2].outputs = [new_output("error", ename="CheckFailed", evalue="no")]
        path.write_text(form.text_of(notebook))
        [drift] = find_drift(*folders)
        assert drift.message == (
            f"{path}, cell check-double ended with CheckFailed: no: mend it and run it again"
        )
        notebook.cells[2].metadata["tags"] = ["raises-exception"]
        path.write_text(form.text_of(form.canonical(notebook, outputs=True)))
        mend(find_drift(*folders))
        assert find_drift(*folders) == []


UNREADABLE = {
    "empty": (b"", "(Expecting value: line 1 column 1 (char 0))"),
    "half": (b'{"cells": [', "line 1 column 12"),
    "a list": (b"[]", "(its JSON is no object)"),
    "an old format": (b'{"nbformat": 99, "nbformat_minor": 0, "metadata": {}, "cells": []}', ""),
    "no cells": (
        b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}}',
        "missing an expected key: cells",
    ),
    "not text": (b"\xff\xfe\x00", "utf-8"),
}


class TestRead:
    """A file that is no notebook is named in one sentence."""

    @pytest.mark.parametrize("kind", UNREADABLE)
    def test_unreadable(self, kind, tmp_path):
        """The sentence has the path and the reason, on one line."""
        data, reason = UNREADABLE[kind]
        path = tmp_path / "06-tiled-matmul.ipynb"
        path.write_bytes(data)
        with pytest.raises(NotebookError, match="is not a notebook that Jupyter can read") as info:
            read_notebook(path)
        assert reason in str(info.value)
        assert "\n" not in str(info.value)

    def test_byte_order_mark_is_read(self, folders):
        """A notebook saved by a Windows editor is read."""
        path = folders[0] / "01-double.ipynb"
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
        assert read_notebook(path).cells[0].source == "# Double"


class TestCommand:
    """`wia-lab build` and `wia-lab build --check`."""

    def test_check_refuses_and_writes_nothing(self, folders, capsys):
        """--check ends with 1, names the file, and leaves it."""
        path = folders[1] / "01-double.ipynb"
        path.write_text("stale")
        assert main(["build", "--check"]) == 1
        assert path.read_text() == "stale"
        assert f"wia-lab: {path} differs from what" in capsys.readouterr().err

    def test_build_mends(self, folders, capsys):
        """build writes what had drifted, says so, and a check after it passes."""
        path = folders[1] / "01-double.ipynb"
        path.write_text("stale")
        assert main(["build"]) == 0
        assert capsys.readouterr().out == f"wrote {path}\n"
        assert main(["build", "--check"]) == 0

    def test_what_only_an_author_can_mend(self, folders, capsys):
        """build ends with 1 when a stray file is left."""
        (folders[1] / "stray.ipynb").write_text("{}")
        assert main(["build"]) == 1
        assert "has no source" in capsys.readouterr().err

    def test_run_stores_outputs(self, folders, monkeypatch, capsys):
        """--run runs the source in a kernel, stores what it gives and builds the notebook."""
        monkeypatch.setenv("WIA_LAB_BACKEND", "simulator")
        path = folders[0] / "02-six.ipynb"
        source = "def six():\n    ### BEGIN SOLUTION\n    return 6\n    ### END SOLUTION\nsix()"
        nbformat.write(new_notebook(cells=[new_code_cell(source, id="answer")]), path)
        assert main(["build", "--run", "02-six.ipynb"]) == 0
        [cell] = read_notebook(path).cells
        assert cell.outputs[0].data == {"text/plain": "6"}
        assert "return 6" not in (folders[1] / "02-six.ipynb").read_text()

    def test_run_refuses_a_failing_source(self, folders, monkeypatch, capsys):
        """A source whose cell fails is not stored."""
        monkeypatch.setenv("WIA_LAB_BACKEND", "simulator")
        path = folders[0] / "03-bad.ipynb"
        nbformat.write(new_notebook(cells=[new_code_cell("1 / 0", id="bad")]), path)
        before = path.read_text()
        assert main(["build", "--run", "03-bad"]) == 1
        assert (
            f"{path}, cell bad ended with ZeroDivisionError: division by zero"
            in capsys.readouterr().err
        )
        assert path.read_text() == before
