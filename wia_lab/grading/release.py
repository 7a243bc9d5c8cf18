"""What goes to a class: the learner's notebooks and `grading.toml`; or a course for nbgrader.

The notebooks are those of the workbook. For nbgrader the source notebooks' check cells carry the
points, and the solutions their marks, as nbgrader's own `generate_assignment` expects.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat

from wia_lab.errors import CannotRun
from wia_lab.grading.course import Course, default_course, text_of
from wia_lab.workbook import catalogue, form
from wia_lab.workbook.build import read_notebook
from wia_lab.workbook.files import write_atomically
from wia_lab.workbook.places import checkout, notebooks_folder, solutions_folder

if TYPE_CHECKING:
    from wia_lab.workbook.catalogue import AnyPuzzle

COURSE = "grading.toml"
ASSIGNMENT = "wia-lab"
CONFIG = """\
# nbgrader's course: python -m nbgrader generate_assignment {name}, autograde, formgrader
c = get_config()
c.CourseDirectory.course_id = "{name}"
c.ClearSolutions.code_stub = {{"python": "# YOUR CODE HERE\\nraise NotImplementedError"}}
c.ExecutePreprocessor.timeout = 120
"""


def release(folder: Path, puzzles: list[AnyPuzzle], *, nbgrader: bool) -> list[Path]:
    """Write a release to an empty or new folder.

    Returns
    -------
    list of Path
        What was written, relative to `folder`.

    Raises
    ------
    CannotRun
        The folder holds something already, or `nbgrader` was asked for without a clone.
    """
    if folder.exists() and not folder.is_dir():
        raise CannotRun(f"{folder} is a file: name a new folder for the release")
    if folder.exists() and any(folder.iterdir()):
        raise CannotRun(f"{folder} is not empty: name a new folder for the release")
    course = default_course(puzzles)
    files = {COURSE: text_of(course)}
    for puzzle in puzzles:
        name = catalogue.notebook_name(puzzle)
        text = (notebooks_folder() / name).read_text(encoding="utf-8")
        files[f"notebooks/{name}"] = weighted(text, puzzle, course)
    if nbgrader:
        files |= nbgrader_course(puzzles, course)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".release.") as staging:
        for name, text in files.items():
            path = Path(staging, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, text)
        for path in Path(staging).iterdir():  # all of it is written: none of it can be half there
            path.rename(folder / path.name)
    return [Path(name) for name in files]


def weighted(text: str, puzzle: AnyPuzzle, course: Course) -> str:
    """Return a notebook whose check cell carries the puzzle's points."""
    notebook: Any = json.loads(text)
    for cell in notebook["cells"]:
        record = cell["metadata"].get("nbgrader")
        if record and record["grade"]:
            record["points"] = course.puzzles[puzzle.id].points
    return form.text_of(nbformat.from_dict(notebook))


def nbgrader_course(puzzles: list[AnyPuzzle], course: Course) -> dict[str, str]:
    """Return the files of a course folder of nbgrader, by name.

    Its cells' names must differ within a notebook only; each puzzle has a notebook of its own.
    """
    if checkout() is None:
        raise CannotRun("a course for nbgrader is made from solutions/: run this from a clone")
    files = {"nbgrader_config.py": CONFIG.format(name=ASSIGNMENT)}
    for puzzle in puzzles:
        name = catalogue.notebook_name(puzzle)
        source = read_notebook(solutions_folder() / name)
        text = form.text_of(form.canonical(source, outputs=False))
        files[f"source/{ASSIGNMENT}/{name}"] = weighted(text, puzzle, course)
    return files
