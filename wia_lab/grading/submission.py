"""Files of a submission, read as data: regular files only, up to a size, in any encoding."""

from __future__ import annotations

import io
import json
import os
import stat
import zipfile
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

LARGEST = 20 << 20
"""Bytes of a notebook; a larger one is not read."""

MOST_BYTES = 4 * LARGEST
"""Bytes of all of a student's files, unpacked."""

MOST_BRACKETS = 500_000
"""Lists and records of a file; more of them would fill the memory of whoever reads it."""

MOST_FILES = 500
MOST_MEMBERS = 10_000
"""Of an archive; each costs its reader memory, whatever it is."""

MEMBER = b"PK\x01\x02"
"""How the entry of a member begins in an archive's list."""

PACKED = "wia-lab submission"
"""What the member `format` of a packed submission says."""

ENDINGS = (".ipynb", ".json", ".zip")


class Unreadable(Exception):
    """A file that is no notebook, with the reason."""


@dataclass(frozen=True)
class Cell:
    """One cell as it was sent."""

    id: str | None
    kind: str
    source: str
    tags: tuple[str, ...] = ()
    grade_id: str | None = None
    printed: str = ""  # what its stored outputs say


@dataclass(frozen=True)
class Notebook:
    """A notebook, or the answers of a packed submission, as cells."""

    name: str
    cells: tuple[Cell, ...]
    order: tuple[int, float, str] = (0, 0.0, "")  # the later of two wins
    notes: tuple[str, ...] = ()


@dataclass
class Read:
    """All that could be read of a student's files, and what could not."""

    notebooks: list[Notebook] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)
    left: int = MOST_BYTES

    def take(self, size: int, name: str) -> None:
        """Count `size` bytes of a student's share; Unreadable when it is used up."""
        if size > self.left:
            raise Unreadable(
                f"{name} is not read: all files together have more than {MOST_BYTES >> 20} MiB"
            )
        self.left -= size


def read_bytes(path: Path) -> bytes:
    """Return a regular file's bytes; a link is not followed, a pipe not waited for.

    Raises
    ------
    Unreadable
        It is no regular file, too large, or cannot be opened.
    """
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        handle = os.open(path, flags)
    except OSError as error:
        what = "is a link, which is not followed" if path.is_symlink() else str(error.strerror)
        raise Unreadable(f"{path.name}: {what}") from error
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise Unreadable(f"{path.name} is no regular file")
        if status.st_size > LARGEST:
            raise Unreadable(
                f"{path.name} has {status.st_size >> 20:,} MiB; at most {LARGEST >> 20} are read"
            )
        return file.read(LARGEST + 1)


def read_files(paths: list[tuple[Path, int]]) -> Read:
    """Read a student's files; each with the number of its attempt."""
    found = Read()
    for path, attempt in paths[:MOST_FILES]:
        try:
            data = read_bytes(path)
            order = (attempt, path.stat().st_mtime, path.name)
            if path.suffix.lower() == ".zip":
                _read_zip(data, path.name, order, found)
            else:
                found.take(len(data), path.name)
                found.notebooks.append(parse(data, path.name, order))
        except Unreadable as error:
            found.findings.append(str(error))
    if len(paths) > MOST_FILES:
        found.findings.append(f"{len(paths):,} files; only {MOST_FILES} were read")
    return found


def _read_zip(data: bytes, name: str, order: tuple[int, float, str], found: Read) -> None:
    if data.count(MEMBER) > MOST_MEMBERS:
        raise Unreadable(f"{name} has more than {MOST_MEMBERS:,} members")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = [m for m in archive.infolist() if m.filename.endswith(ENDINGS[:2])]
            if {m.compress_type for m in members} - {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
                raise Unreadable(f"{name} is packed by another method than deflate")
            if not members:
                raise Unreadable(f"{name} holds no notebook")
            size = sum(member.file_size for member in members[:MOST_FILES])
            if size > MOST_BYTES:
                raise Unreadable(f"{name} would unpack to more than {MOST_BYTES >> 20} MiB")
            found.take(size, name)
            for member in members[:MOST_FILES]:
                with archive.open(member) as file:
                    content = file.read(LARGEST + 1)
                try:
                    found.notebooks.append(parse(content, Path(member.filename).name, order))
                except Unreadable as error:
                    found.findings.append(f"{name}: {error}")
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError) as error:
        raise Unreadable(f"{name} is no archive that can be read ({error})") from error


def parse(data: bytes, name: str, order: tuple[int, float, str] = (0, 0.0, "")) -> Notebook:
    """Return a notebook of any version, or a packed submission, as cells.

    Raises
    ------
    Unreadable
        It is neither.
    """
    if len(data) > LARGEST:
        raise Unreadable(f"{name} has more than {LARGEST >> 20} MiB")
    if data.count(b"{") + data.count(b"[") > MOST_BRACKETS:
        raise Unreadable(f"{name} has more than {MOST_BRACKETS:,} lists and records")
    if not data.strip():
        raise Unreadable(f"{name} is empty")
    text, note = decode(data)
    notes: tuple[str, ...] = (f"{name} is {note}",) if note else ()
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"{name} is no JSON ({str(error)[:80]})") from error
    if not isinstance(content, dict):
        raise Unreadable(f"{name} holds a {type(content).__name__}, no notebook")
    if content.get("format") == PACKED:
        return Notebook(name, packed_cells(content, name), order, notes)
    cells = content.get("cells")
    if cells is None and isinstance(content.get("worksheets"), list):
        cells = [
            cell
            for sheet in content["worksheets"]
            if isinstance(sheet, dict)
            for cell in sheet.get("cells") or []
        ]
        notes += (f"{name} is of notebook format 3",)
    if not isinstance(cells, list):
        raise Unreadable(f"{name} has no cells")
    return Notebook(name, tuple(cell_of(c) for c in cells if isinstance(c, dict)), order, notes)


def decode(data: bytes) -> tuple[str, str | None]:
    """Return the text and, where it is not plain UTF-8, what it is."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", errors="replace"), "in UTF-16"
    try:
        return data.decode("utf-8-sig"), "marked with a BOM" if data[
            :3
        ] == b"\xef\xbb\xbf" else None
    except UnicodeDecodeError:
        return data.decode("latin-1"), "not in UTF-8; read as Latin-1"


def text_of(value: Any) -> str:
    """Return a source, which nbformat stores as a text or as a list of lines; lines end alike."""
    if isinstance(value, list):
        value = "".join(line for line in value if isinstance(line, str))
    if not isinstance(value, str):
        return ""
    return value.replace("\r\n", "\n").replace("\r", "\n")


def cell_of(raw: dict[str, Any]) -> Cell:
    """Return a cell; whatever is missing or of another type is as if it were not there."""
    metadata = raw.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    nbgrader = metadata.get("nbgrader")
    grade_id = nbgrader.get("grade_id") if isinstance(nbgrader, dict) else None
    tags = metadata.get("tags")
    outputs = raw.get("outputs")
    printed = "".join(
        text_of(output.get("text"))
        for output in (outputs if isinstance(outputs, list) else [])
        if isinstance(output, dict)
    )
    return Cell(
        id=raw["id"] if isinstance(raw.get("id"), str) else None,
        kind=str(raw.get("cell_type")),
        source=text_of(raw.get("source", raw.get("input"))),
        tags=tuple(t for t in (tags if isinstance(tags, list) else []) if isinstance(t, str)),
        grade_id=grade_id if isinstance(grade_id, str) else None,
        printed=printed[:2000],
    )


def packed_cells(content: dict[str, Any], name: str) -> tuple[Cell, ...]:
    """Return the answers of a packed submission as cells."""
    answers = content.get("answers")
    if not isinstance(answers, list):
        raise Unreadable(f"{name} is a packed submission without answers")
    return tuple(
        Cell(str(each.get("cell")), "code", text_of(each.get("source")))
        for each in answers
        if isinstance(each, dict)
    )
