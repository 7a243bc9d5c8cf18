"""What goes to a class and what comes back, through the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from wia_lab.cli import main
from wia_lab.grading.submission import PACKED

NBGRADER = os.environ.get("NBGRADER", "")
"""The command of an environment that has nbgrader and this package."""


def test_submit_packs_and_says_what_is_missing(made, tmp_path, capsys):
    """Cell ids, sources and versions, no outputs; each stub and missing notebook is named."""
    folder = tmp_path / "mine"
    made.put(folder, "start")
    stub = made.put(folder, "tiled-matmul")
    stub.write_text(json.dumps(made.notebook("tiled-matmul")))
    out = tmp_path / "in" / "ida.wia-lab.json"
    out.parent.mkdir()
    assert main(["submit", "--dir", str(folder), "-o", str(out)]) == 0
    said = capsys.readouterr().out
    assert "tiled-matmul: still the stub" in said
    assert "memory-pool: 20-memory-pool.ipynb is not in" in said
    content = json.loads(out.read_text())
    assert content["format"] == PACKED
    assert [each["puzzle"] for each in content["answers"]] == ["start", "tiled-matmul"]
    assert content["answers"][0]["cell"] == "answer"
    assert "numba" in content["versions"]
    assert "outputs" not in out.read_text()
    rows = made.grade(out.parent, tmp_path / "out")
    assert [(row["student"], row["total"]) for row in rows] == [("ida", 2)]


def test_submit_without_answers(tmp_path, capsys):
    """A folder without answers is refused in one sentence; nothing is written."""
    (tmp_path / "00-start.ipynb").write_text('{"cells": []}')
    out = tmp_path / "a.wia-lab.json"
    assert main(["submit", "--dir", str(tmp_path), "-o", str(out)]) == 3
    assert "holds no answer" in capsys.readouterr().err
    assert not out.exists()


def test_submit_elsewhere(made, tmp_path, capsys):
    """A name that a grader would not find is refused."""
    made.put(tmp_path, "start")
    assert main(["submit", "--dir", str(tmp_path), "-o", str(tmp_path / "a.txt")]) == 3
    assert ".wia-lab.json" in capsys.readouterr().err


def test_release_and_grade(made, tmp_path, capsys):
    """A release holds stubs and points; graded with it, a solution is full."""
    folder = tmp_path / "course"
    assert main(["release", str(folder), "--puzzle", "start"]) == 0
    notebook = json.loads((folder / "notebooks" / "00-start.ipynb").read_text())
    check = next(each for each in notebook["cells"] if each["id"] == "check-start")
    assert check["metadata"]["nbgrader"]["points"] == 2
    assert "BEGIN SOLUTION" not in (folder / "notebooks" / "00-start.ipynb").read_text()
    made.put(tmp_path / "in" / "jo", "start")
    command = ["grade", str(tmp_path / "in"), "-o", str(tmp_path / "out"), "--jobs", "1"]
    command += ["--course", str(folder / "grading.toml"), "--no-nbval", "--seed", "3"]
    assert main(command) == 0
    assert "1 student graded with seed 3" in capsys.readouterr().out
    assert main(["release", str(folder)]) == 3
    assert "is not empty" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--seed", ""], "is no seed"),
        (["--seconds", "0"], "limit seconds is 0"),
        (["--puzzle", "strat"], "did you mean"),
        (["--course", "nowhere.toml"], "nowhere.toml"),
    ],
)
def test_grade_refuses(made, tmp_path, capsys, words, said):
    """A mistake on the command line is one sentence, and nothing is written."""
    made.put(tmp_path / "in" / "kim", "start")
    code = main(["grade", str(tmp_path / "in"), "-o", str(tmp_path / "out"), *words])
    assert code in {2, 3}
    assert said in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_killed_in_the_middle(made, tmp_path):
    """After SIGKILL a second run has the first one's seed, and judges only who was not done."""
    for number in range(4):
        made.put(tmp_path / "in" / f"s{number}", "start")
    out = tmp_path / "out"
    command = [sys.executable, "-m", "wia_lab", "grade", str(tmp_path / "in"), "-o", str(out)]
    command += ["--puzzle", "start", "--no-nbval", "--jobs", "1"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
        until = time.monotonic() + 60
        while not list(out.glob("records/*.json")) and time.monotonic() < until:
            time.sleep(0.02)
        run.kill()
    done = {path: path.stat().st_mtime_ns for path in out.glob("times/*.json")}
    assert not (out / "gradebook.csv").exists()
    seed = json.loads((out / "grading.json").read_text())["seed"]
    assert subprocess.run(command, check=False, capture_output=True).returncode == 0
    assert len(list(out.glob("records/*.json"))) == 4
    assert {path: path.stat().st_mtime_ns for path in done} == done
    book = json.loads((out / "gradebook.json").read_text())
    assert book["seed"] == seed
    assert [row["total"] for row in book["students"]] == [2, 2, 2, 2]


@pytest.mark.slow
def test_nbgrader_accepts_the_course(made, tmp_path):
    """nbgrader's own validate and autograde give a solution all points and a stub none."""
    if not NBGRADER:
        pytest.skip("nbgrader is no dependency: name its command in the variable NBGRADER")
    course = tmp_path / "course"
    assert main(["release", str(course), "--puzzle", "start", "--nbgrader"]) == 0

    # nbgrader itself calls alembic by its bare name
    path = os.pathsep.join((str(Path(NBGRADER).resolve().parent), os.environ["PATH"]))

    def nbgrader(*words):
        run = subprocess.run(
            [NBGRADER, *words],
            cwd=course,
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PATH": path},
        )
        assert run.returncode == 0, run.stderr
        return run

    nbgrader("generate_assignment", "wia-lab")
    made.put(course / "submitted" / "lea" / "wia-lab", "start")
    target = course / "submitted" / "max" / "wia-lab" / "00-start.ipynb"
    target.parent.mkdir(parents=True)
    target.write_bytes((course / "release" / "wia-lab" / "00-start.ipynb").read_bytes())
    assert "Success" in nbgrader("validate", "submitted/lea/wia-lab/00-start.ipynb").stdout
    nbgrader("autograde", "wia-lab")
    nbgrader("export")
    lines = (course / "grades.csv").read_text().splitlines()
    scores = {line.split(",")[3]: float(line.split(",")[9]) for line in lines[1:]}
    assert scores == {"lea": 2.0, "max": 0.0}
