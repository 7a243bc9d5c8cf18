"""Where the workbook's own notebooks stand, in a checkout and in an installed wheel."""

from __future__ import annotations

from pathlib import Path

from wia_lab.errors import CannotRun

PACKAGE = Path(__file__).resolve().parent.parent
START = "00-start.ipynb"
DEFAULT_FOLDER = "my-notebooks"


def checkout() -> Path | None:
    """Return the root of the checkout that this package runs from, None in an installed wheel."""
    root = PACKAGE.parent
    return root if (root / "pyproject.toml").is_file() and (root / "solutions").is_dir() else None


def notebooks_folder() -> Path:
    """Return the folder of the learner's notebooks as built."""
    root = checkout()
    folder = (root or PACKAGE) / "notebooks"
    if not folder.is_dir():
        raise CannotRun(f"{folder} is missing, and with it every notebook: install wia-lab again")
    return folder


def solutions_folder() -> Path:
    """Return the folder of the notebooks' sources; only a checkout has one."""
    root = checkout()
    if root is None:
        raise CannotRun(
            f"wia_lab in {PACKAGE} is installed without the notebooks' sources: "
            "run this from a clone of the project"
        )
    return root / "solutions"


def notebook_paths(folder: Path) -> list[Path]:
    """Return every notebook below `folder`, sorted, without Jupyter's checkpoints."""
    found = (path for path in folder.rglob("*.ipynb") if ".ipynb_checkpoints" not in path.parts)
    return sorted(found)
