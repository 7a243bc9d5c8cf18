"""The learner's folder: filled from the workbook's notebooks, never overwritten."""

from __future__ import annotations

import os
from pathlib import Path

from wia_lab.errors import CannotRun
from wia_lab.workbook import progress
from wia_lab.workbook.files import free_name, write_atomically
from wia_lab.workbook.places import DEFAULT_FOLDER, START, notebook_paths, notebooks_folder


def open_folder(folder: Path) -> list[Path]:
    """Make `folder` a learner's folder and copy into it the notebooks that it lacks.

    Returns
    -------
    list of Path
        The notebooks copied now, relative to `folder`. What stood there already is untouched.
    """
    make_writable_folder(folder)
    source = notebooks_folder()
    copied = []
    for path in notebook_paths(source):
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
    """Return the learner's folder: the one named, else this one, else `my-notebooks` in it."""
    here = here or Path.cwd()
    candidates = [named] if named else [here, here / DEFAULT_FOLDER]
    for folder in candidates:
        if (folder / progress.STATE_FILE).exists() or (folder / START).exists():
            return folder
    places = " nor ".join(map(str, candidates))
    raise CannotRun(
        f"no workbook in {places}: run wia-lab start first, or name the learner's folder with --dir"
    )


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
