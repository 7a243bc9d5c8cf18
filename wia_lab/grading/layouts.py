"""Whose files are whose: one folder or file a student, or what nbgrader, Moodle, Canvas export."""

from __future__ import annotations

import os
import re
import unicodedata
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from wia_lab.errors import CannotRun
from wia_lab.grading.submission import ENDINGS, Unreadable, read_bytes

MOODLE = re.compile(r"(?P<name>.+?)_(?P<id>\d+)_assignsubmission_file(?:_(?P<file>.*))?")
CANVAS = re.compile(r"(?P<name>[^_]+)(?P<late>_LATE)?_(?P<id>\d+)_(?P<number>\d+)_(?P<file>.+)")
COPY = re.compile(r"(?P<stem>.+?)(?: ?\((?P<copy>\d+)\)|-(?P<again>\d+))")
ATTEMPT = re.compile(r"attempt[-_ ]?(\d+)", re.IGNORECASE)
DEEPEST = 6
STRAY = (".ipynb_checkpoints", "__MACOSX", ".git")


@dataclass
class Handed:
    """What one student handed in."""

    student: str
    files: list[tuple[Path, int]] = field(default_factory=list)  # with the number of the attempt
    late: bool = False  # the system that exported it says so
    when: datetime | None = None
    findings: list[str] = field(default_factory=list)


def collect(folder: Path) -> list[Handed]:
    """Return every student of a folder of submissions, by name.

    Raises
    ------
    CannotRun
        It is no folder, or holds nothing.
    """
    if not folder.is_dir():
        raise CannotRun(f"{folder} is no folder of submissions: name one with a file a student")
    found: dict[str, Handed] = {}
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if entry.name.startswith(".") or entry.name in STRAY:
            continue
        path = Path(entry.path)
        if entry.is_dir(follow_symlinks=False):
            _folder(path, found)
        elif entry.is_symlink() or path.suffix.lower() in ENDINGS:
            _file(path, found)
    if not found:
        raise CannotRun(f"{folder} holds no submission: one folder or one .ipynb file a student")
    return [found[name] for name in sorted(found)]


def _of(found: dict[str, Handed], student: str) -> Handed:
    written = student.encode("utf-8", "backslashreplace").decode()  # names in no encoding
    name = unicodedata.normalize("NFC", written.strip()) or "unnamed"
    return found.setdefault(name, Handed(name))


def _folder(path: Path, found: dict[str, Handed]) -> None:
    """Take all files of a student's folder, to some depth."""
    moodle = MOODLE.fullmatch(path.name)
    handed = _of(found, f"{moodle['name']}_{moodle['id']}" if moodle else path.name)
    for top, folders, files in os.walk(path, followlinks=False):
        here = Path(top)
        for name in [name for name in folders if (here / name).is_symlink()]:
            handed.findings.append(f"{name} is a link to a folder, which is not followed")
        deep = len(here.relative_to(path).parts) >= DEEPEST
        if deep and folders:
            handed.findings.append(f"folders more than {DEEPEST} deep, which are not read")
        folders[:] = [] if deep else sorted(n for n in folders if n not in STRAY)
        for name in sorted(files):
            _take(handed, here / name, path)


def _take(handed: Handed, path: Path, top: Path) -> None:
    name = path.name
    if name == "timestamp.txt":
        # The latest of several: one that a student sent along makes nothing earlier
        times = [handed.when, timestamp(path)]
        handed.when = max((time for time in times if time is not None), default=None)
    elif path.suffix.lower() in ENDINGS and name not in {".wia-lab.json", "package.json"}:
        number = ATTEMPT.search(str(path.relative_to(top).parent))
        handed.files.append((path, int(number[1]) if number else copy_of(path.stem)[1]))
    elif path.suffix == ".py":
        handed.findings.append(f"{name} lies beside the notebooks; it was not used")


def _file(path: Path, found: dict[str, Handed]) -> None:
    """Take a file at the top: an export's long name, or the student's name.

    `smith (2)` is a browser's second file of `smith`; `smith-2` is who it says.
    """
    if moodle := MOODLE.fullmatch(path.name):
        handed, number = _of(found, f"{moodle['name']}_{moodle['id']}"), 0
    elif canvas := CANVAS.fullmatch(path.name):
        handed = _of(found, f"{canvas['name']}_{canvas['id']}")
        handed.late = handed.late or bool(canvas["late"])
        number = int(canvas["number"])
    else:
        stem = path.stem.removesuffix(".wia-lab")
        student, number = copy_of(stem) if stem.endswith(")") else (stem, 0)
        handed = _of(found, student)
    handed.files.append((path, number))


def copy_of(stem: str) -> tuple[str, int]:
    """Return a name without a browser's ` (1)` or an export's `-1`, and that number."""
    if copy := COPY.fullmatch(stem):
        return copy["stem"], int(copy["copy"] or copy["again"])
    return stem, 0


def timestamp(path: Path) -> datetime | None:
    """Return nbgrader's time of a submission, `2026-11-30 12:00:00.5 UTC`; None if it is none."""
    try:
        text = read_bytes(path).decode("ascii", errors="replace").strip()
        when = datetime.fromisoformat(text.removesuffix("UTC").strip())
    except (Unreadable, ValueError):
        return None
    return when if when.tzinfo else when.replace(tzinfo=UTC)
