"""The parts of this package that a worker can read, copied to a folder of their own."""

from __future__ import annotations

import ast
import atexit
import compileall
import re
import shutil
import tempfile
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent
WHOLE = ("cuda", "hal", "memory", "simt", "timeline")
FROM_TOP = re.compile(r"^ *from wia_lab\.(\w+) import", re.MULTILINE)

PUZZLES = (
    "__init__",
    "answer",
    "compiler",
    "execute",
    "hardware",
    "host_judge",
    "host_puzzle",
    "judging",
    "puzzle",
    "recorders",
    "turns",
)
"""Of the puzzles: what launches and plays answers; what these import at their top comes along."""

GRADING = (
    "__init__",
    "allowed",
    "guards",
    "limits",
    "plain",
    "playing",
    "slices",
    "untouched",
    "worker",
)


def _with_imports(names: tuple[str, ...]) -> list[str]:
    """Return modules of the puzzles with all that they need to be imported."""
    found: list[str] = []
    todo = list(names)
    while todo:
        name = todo.pop(0)
        if name in found:
            continue
        found.append(name)
        tree = ast.parse((PACKAGE / "puzzles" / f"{name}.py").read_text(encoding="utf-8"))
        for node in tree.body:
            if isinstance(node, ast.ImportFrom) and node.module:
                package, _, module = node.module.rpartition(".")
                todo += [module] if package == "wia_lab.puzzles" else []
    return sorted(found)


PARTS = (
    *WHOLE,
    *(f"puzzles/{name}.py" for name in _with_imports(PUZZLES)),
    *(f"grading/{name}.py" for name in GRADING),
)


def _beside(parts: tuple[str, ...]) -> list[str]:
    """Return the modules at the top of the package that some parts of it import."""
    paths = [PACKAGE / part for part in parts]
    files = [each for path in paths for each in ([path] if path.suffix else path.rglob("*.py"))]
    found = {name for each in files for name in FROM_TOP.findall(each.read_text(encoding="utf-8"))}
    return ["__init__.py", *sorted(f"{n}.py" for n in found if (PACKAGE / f"{n}.py").is_file())]


STAGED = (*_beside(PARTS), *PARTS)
"""What of this package a worker can read."""


@cache
def staged() -> Path:
    """Copy the parts that a worker may read to a folder of their own, once a process."""
    folder = Path(tempfile.mkdtemp(prefix="wia-lab-worker-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for name in STAGED:
        source, target = PACKAGE / name, folder / "wia_lab" / name
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("*.csv*", "*.json*"))
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
    compileall.compile_dir(folder, quiet=2)  # once, and not anew by each worker
    folder.chmod(0o755)
    return folder
