"""The wheel, in an empty environment with no clone, gives the same workbook. Minutes, network."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from wia_lab.workbook import form
from wia_lab.workbook.build import read_notebook
from wia_lab.workbook.places import notebook_paths

ROOT = Path(__file__).resolve().parent.parent
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Build the wheel from this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", str(folder)]
    subprocess.run([*command, str(ROOT)], check=True, cwd=folder)
    [wheel] = folder.glob("wia_lab-*.whl")
    return wheel


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """Install the wheel with the pinned versions; return a function that runs its command."""
    home = tmp_path_factory.mktemp("elsewhere")
    subprocess.run([sys.executable, "-m", "venv", str(home / "venv")], check=True)
    scripts = home / "venv" / ("Scripts" if os.name == "nt" else "bin")
    install = [scripts / "python", "-m", "pip", "install", "--quiet", str(wheel)]
    subprocess.run([*install, "-c", str(ROOT / "locks" / "base.txt")], check=True)

    def run(*argv):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
        return subprocess.run(
            [scripts / "wia-lab", *argv], cwd=home, env=environment, capture_output=True, text=True
        )

    run.home = home
    return run


def test_same_notebooks(installed):
    """`wia-lab start` copies every notebook of the checkout, byte for byte."""
    done = installed("start", "--no-lab")
    assert done.returncode == 0, done.stderr
    source, copy = ROOT / "notebooks", installed.home / "my-notebooks"
    names = [path.relative_to(source) for path in notebook_paths(source)]
    assert [path.relative_to(copy) for path in notebook_paths(copy)] == names
    for name in names:
        assert (copy / name).read_bytes() == (source / name).read_bytes()


def test_nothing_else_is_in_the_wheel(installed):
    """Neither solutions nor tests are installed, and building from a wheel is refused."""
    [package] = (installed.home / "venv").rglob("wia_lab/__init__.py")
    assert not list(package.parent.parent.glob("solutions")) + list(package.parent.rglob("tests"))
    done = installed("build")
    assert done.returncode == 3
    assert "installed without the notebooks' sources" in done.stderr


def test_a_puzzle_can_be_solved(installed):
    """The answer filled into the learner's copy passes `wia-lab check`."""
    installed("start", "--no-lab")
    path = installed.home / "my-notebooks" / "06-tiled-matmul.ipynb"
    notebook = read_notebook(path)
    answers = {c.id: c.source for c in read_notebook(ROOT / "solutions" / path.name).cells}
    for cell in notebook.cells:
        if "NotImplementedError" in cell.source:
            cell.source = answers[cell.id]
    path.write_text(form.text_of(notebook), encoding="utf-8")
    done = installed("check", "tiled-matmul")
    assert done.stdout.startswith("06-tiled-matmul: solved\n  tiled-matmul: passed"), done.stderr
    assert "1 of" in installed("progress").stdout
