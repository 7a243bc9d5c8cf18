"""What a learner has solved and which hints were seen: `.wia-lab.json` in the learner's folder."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from wia_lab.workbook.files import free_name, write_atomically

STATE_FILE = ".wia-lab.json"
VERSION = 1


@dataclass
class Progress:
    """One learner's state.

    Attributes
    ----------
    solved : dict
        Puzzle id → when it was first solved, ISO 8601 in UTC.
    hints : dict
        Puzzle id → how many of its hints were shown.
    """

    solved: dict[str, str] = field(default_factory=dict)
    hints: dict[str, int] = field(default_factory=dict)

    def solve(self, puzzle_id: str) -> None:
        """Note that a check has passed; the first time counts."""
        self.solved.setdefault(puzzle_id, datetime.now(UTC).isoformat(timespec="seconds"))

    def forget(self, puzzle_id: str) -> None:
        """Drop all that is known of one puzzle."""
        self.solved.pop(puzzle_id, None)
        self.hints.pop(puzzle_id, None)


def load(folder: Path) -> Progress:
    """Read the state of `folder`; a file that cannot be understood is kept under another name."""
    path = folder / STATE_FILE
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return Progress()
    except UnicodeDecodeError as error:
        return set_aside(path, str(error))
    except OSError as error:  # a folder of that name, or no right to read it
        return set_aside(path, error.strerror or str(error))
    try:
        return parse(json.loads(text))
    except (ValueError, TypeError) as error:
        return set_aside(path, str(error))


def parse(data: Any) -> Progress:
    """Return the state that a file holds; an exception says what is wrong with it."""
    if not isinstance(data, dict):
        raise TypeError(f"a {type(data).__name__} where an object should stand")
    if data.get("version") != VERSION:
        raise ValueError(f"version {data.get('version')!r} instead of {VERSION}")
    return Progress(member(data, "solved", str), member(data, "hints", int))


def member(data: dict[str, Any], name: str, kind: type) -> dict[str, Any]:
    """Return a member that maps names to values of `kind`, and nothing else."""
    value = data.get(name)
    if not isinstance(value, dict) or any(type(item) is not kind for item in value.values()):
        raise TypeError(f"'{name}' must map puzzles to {kind.__name__} values")
    return value


def set_aside(path: Path, reason: str) -> Progress:
    """Keep a file that cannot be read as a backup, say so on stderr, and begin anew."""
    backup = free_name(path.parent, "wia-lab.backup-{}.json")
    try:
        path.replace(backup)
        fate = f"it is kept as {backup.name}, and progress is counted anew"
    except OSError as error:
        fate = f"it stays as it is, as it cannot be renamed ({error.strerror})"
    print(f"wia-lab: {path} could not be read ({reason}): {fate}", file=sys.stderr)
    return Progress()


def remember(folder: Path, known: Progress) -> None:
    """Save the state, or say on stderr why not: an answer or a hint is worth more than its record.

    A grader's sandbox and a shared course folder are read-only.
    """
    try:
        save(folder, known)
    except OSError as error:
        print(
            f"wia-lab: {folder / STATE_FILE} cannot be written ({error.strerror}), so this is not "
            "remembered: make the folder writable, or work in a copy of it",
            file=sys.stderr,
        )


def save(folder: Path, progress: Progress) -> None:
    """Write the state of `folder`; a reader sees the old file or the new one, never a part."""
    text = json.dumps({"version": VERSION, **asdict(progress)}, indent=2, sort_keys=True) + "\n"
    write_atomically(folder / STATE_FILE, text)
