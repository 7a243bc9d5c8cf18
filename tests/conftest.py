"""What every test stands on: hazards raised, settled Hypothesis, a small workbook to work on."""

from __future__ import annotations

import os

import nbformat
import pytest
from hypothesis import settings

settings.register_profile("dev", max_examples=50, deadline=None)
settings.register_profile("ci", max_examples=300, deadline=None, derandomize=True)
settings.register_profile("nightly", max_examples=2000, deadline=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))

STUB = "def answer():\n    # YOUR CODE HERE\n    raise NotImplementedError"
JUDGE = """\
class CheckFailed(AssertionError):
    pass

def check(puzzle, answer):
    if answer() != 42:
        raise CheckFailed(f"{puzzle} is not right yet.\\nanswer() gave {answer()}, not 42")
    print(f"{puzzle}: passed")"""


@pytest.fixture(autouse=True)
def default_modes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no test see the hazard mode of the shell that runs it."""
    monkeypatch.delenv("WIA_LAB_HAZARDS", raising=False)


@pytest.fixture
def in_folder(tmp_path, monkeypatch):
    """Make an empty folder the current one."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def small_workbook(tmp_path, monkeypatch):
    """Stand-in for a checkout: three learner's notebooks, the first with a stub and its check."""
    from wia_lab.workbook import places

    root = tmp_path / "checkout"
    for name in ("00-start", "06-tiled-matmul", "demos/warp-explorer"):
        path = root / "notebooks" / f"{name}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_notebook(path, STUB, puzzle="tiled-matmul")
    (root / "solutions").mkdir()
    monkeypatch.setattr(places, "checkout", lambda: root)
    return root


def write_notebook(path, answer, puzzle):
    """Write a notebook whose check judges itself: the answer is right when it returns 42."""
    notebook = nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_markdown_cell("# A puzzle", id="a-puzzle"),
            nbformat.v4.new_code_cell(JUDGE, id="judge"),
            nbformat.v4.new_code_cell(answer, id="answer"),
            nbformat.v4.new_code_cell(f'check("{puzzle}", answer)', id=f"check-{puzzle}"),
            nbformat.v4.new_code_cell("1 / 0  # after the check: never run", id="later"),
        ]
    )
    nbformat.write(notebook, path)


@pytest.fixture
def notebook_with():
    """Return the function that writes a notebook which judges itself."""
    return write_notebook
