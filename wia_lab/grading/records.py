"""What is kept of each student between gradings; a verdict is reused when nothing has changed."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from pathlib import Path
from typing import Any

from wia_lab.workbook.files import write_atomically

FOLDER = "records"
VERSION = 1


def file_stem(student: str) -> str:
    """Return a file name for a student: letters that every system has, and a digest."""
    plain = unicodedata.normalize("NFKD", student).encode("ascii", "ignore").decode()
    slug = re.sub(r"[^A-Za-z0-9._-]+", "-", plain).strip("-.")[:40] or "student"
    return f"{slug}-{hashlib.sha256(student.encode('utf-8', 'replace')).hexdigest()[:16]}"


def path_of(out: Path, student: str) -> Path:
    """Return where a student's record stands."""
    return out / FOLDER / f"{file_stem(student)}.json"


def load(out: Path, student: str) -> dict[str, Any]:
    """Return a student's record; an empty one where there is none that can be read."""
    try:
        data = json.loads(path_of(out, student).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    usable = isinstance(data, dict) and data.get("version") == VERSION
    usable = usable and isinstance(data.get("puzzles"), dict)
    return data if usable and data.get("student") == student else {}


def is_verdict(kept: Any) -> bool:
    """Whether what a record holds of a puzzle is a verdict that stands."""
    if not isinstance(kept, dict) or not {"key", "diagnosis", "notes"} <= set(kept):
        return False
    entries = kept.get("entries")
    return (
        isinstance(kept.get("status"), str)
        and kept["status"] != "grader_error"
        and isinstance(entries, list)
        and all(isinstance(each, list) and len(each) == 3 for each in entries)
    )


def save(out: Path, record: dict[str, Any]) -> None:
    """Write a record whole."""
    path = path_of(out, record["student"])
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"version": VERSION, **record}, indent=1, sort_keys=True, ensure_ascii=False)
    write_atomically(path, text.encode("utf-8", "replace").decode() + "\n")


def key_of(*parts: Any) -> str:
    """Return a digest of all that a verdict depends on."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
