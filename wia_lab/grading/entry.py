"""What the notebook of a verdict calls: one cell an entry, run by nbval."""

from __future__ import annotations

import json
from pathlib import Path

VERDICT = "verdict.json"


def passed(puzzle: str, entry: str) -> None:
    """Print the entry's text if the verdict says that it passed.

    Raises
    ------
    AssertionError
        It did not, or the verdict has no such entry.
    """
    verdict = json.loads(Path(VERDICT).read_text(encoding="utf-8"))
    for name, is_passed, text in verdict.get(puzzle, []):
        if name == entry and is_passed is True:
            print(text)  # noqa: T201 - a cell's output
            return
    raise AssertionError(f"{puzzle}: {entry} has not passed")
