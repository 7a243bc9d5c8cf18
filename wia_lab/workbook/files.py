"""Files written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def free_name(folder: Path, pattern: str) -> Path:
    """Return the first path `pattern.format(n)`, n = 1, 2, …, that does not exist in `folder`."""
    number = 1
    while (path := folder / pattern.format(number)).exists():
        number += 1
    return path


def write_atomically(path: Path, text: str) -> None:
    """Write a whole file beside `path`, then put it in its place.

    Raises
    ------
    OSError
        It names `path`, not the file beside it.
    """
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        # mkstemp's file is its owner's alone; the one it replaces may have been shared.
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~current_umask()
        Path(temporary).chmod(mode)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink()
        raise


def current_umask() -> int:
    """Return the process's umask, which can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
