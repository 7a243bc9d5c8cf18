"""The learner's folder: filled from the workbook's notebooks, never overwritten."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from wia_lab.errors import CannotRun
from wia_lab.workbook import progress
from wia_lab.workbook.files import free_name, write_atomically
from wia_lab.workbook.places import (
    DEFAULT_FOLDER,
    checkout,
    notebook_paths,
    notebooks_folder,
)


def open_folder(folder: Path) -> list[Path]:
    """Make `folder` a learner's folder and copy into it the notebooks that it lacks.

    Returns
    -------
    list of Path
        The notebooks copied now, relative to `folder`. What stood there already is untouched.
    """
    make_writable_folder(folder)
    source = notebooks_folder()
    paths = notebook_paths(source)
    for inner in {folder / path.relative_to(source).parent for path in paths}:
        if inner.exists() and not inner.is_dir():
            raise CannotRun(f"{inner} is a file, and notebooks belong into a folder there: move it")
    copied = []
    for path in paths:
        relative = path.relative_to(source)
        target = folder / relative
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(target, path.read_text(encoding="utf-8"))
            copied.append(relative)
    if not (folder / progress.STATE_FILE).exists():
        progress.save(folder, progress.Progress())
    return copied


def make_writable_folder(folder: Path) -> None:
    """Create `folder` where it is missing; refuse what cannot hold notebooks."""
    if folder.exists() and not folder.is_dir():
        raise CannotRun(f"{folder} is a file: name a folder for the notebooks")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CannotRun(
            f"the folder {folder} cannot be made ({error.strerror}): name another one"
        ) from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise CannotRun(f"the folder {folder} is not writable: name another one")


def find_folder(named: Path | None, here: Path | None = None) -> Path:
    """Return the learner's folder: the one named, else this one, else `my-notebooks` in it.

    One with a state file comes first; without any, one into which a notebook was copied will do.

    Raises
    ------
    CannotRun
        There is none; the message says where was looked, for what, and what is near.
    """
    here = here or Path.cwd()
    candidates = [named] if named else [here, here / DEFAULT_FOLDER]
    for holds in (holds_state, holds_notebook):
        for folder in candidates:
            if holds(folder):
                return folder
    if named and not named.is_dir():
        raise CannotRun(why_no_folder(named))
    places = " nor ".join(map(str, candidates))
    near = next(
        filter(holds_state, [*sorted(candidates[0].glob("*/")), candidates[0].parent]), None
    )
    way_out = f"did you mean --dir {near}" if near else "name the learner's folder with --dir"
    raise CannotRun(
        f"no workbook in {places}, neither {progress.STATE_FILE} nor a puzzle's notebook: "
        f"run wia-lab start first, or {way_out}" + ("?" if near else "")
    )


def holds_state(folder: Path) -> bool:
    """Return whether a folder remembers what was solved."""
    return (folder / progress.STATE_FILE).exists()


def holds_notebook(folder: Path) -> bool:
    """Return whether a puzzle's notebook stands in a folder, under its own name."""
    return any((folder / path.name).is_file() for path in notebooks_folder().glob("*.ipynb"))


def why_no_folder(path: Path) -> str:
    """Return the sentence for a --dir that is no folder."""
    if not path.exists():
        return f"there is no folder {path}: name the learner's folder with --dir"
    kind = "notebook" if path.suffix == ".ipynb" else "file"
    return f"{path} is a {kind}, and --dir names a folder: try --dir {path.parent}"


def begin_state(folder: Path) -> None:
    """Give a folder into which notebooks were copied a state file, and say so on stderr."""
    root = checkout()
    own = {notebooks_folder(), *([root / "solutions"] if root else [])}
    if holds_state(folder) or folder.resolve() in {each.resolve() for each in own}:
        return
    if not os.access(folder, os.W_OK):
        return  # whoever has something to remember says that it cannot be
    sys.stderr.write(
        f"wia-lab: {folder} has no {progress.STATE_FILE}, so what was solved before is not known "
        "and a new one is begun: copy yours there if you have one\n"
    )
    progress.remember(folder, progress.Progress())


def reset_notebook(folder: Path, name: str) -> Path | None:
    """Put a fresh copy of the notebook `name` into `folder`.

    Returns
    -------
    Path or None
        Where the learner's old notebook is kept, `NN-id.backup-N.ipynb`; None if there was none.
    """
    target, source = folder / name, notebooks_folder() / name
    backup = None
    if target.exists():
        stem = name.removesuffix(".ipynb")
        backup = free_name(folder, stem + ".backup-{}.ipynb")
        target.replace(backup)
    write_atomically(target, source.read_text(encoding="utf-8"))
    return backup
