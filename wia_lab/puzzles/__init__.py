"""The puzzles: hostile inputs, the judge that runs an answer on them, and its diagnosis.

Names are imported when first used: the list of puzzles and their hints need no simulator.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wia_lab.puzzles.checking import check, hint
    from wia_lab.puzzles.curriculum import PUZZLES, find
    from wia_lab.puzzles.judging import judge
    from wia_lab.puzzles.mutants import check_mutants

__all__ = ["PUZZLES", "check", "check_mutants", "find", "hint", "judge"]

_HOMES = {
    "PUZZLES": "curriculum",
    "check": "checking",
    "check_mutants": "mutants",
    "find": "curriculum",
    "hint": "checking",
    "judge": "judging",
}


def __getattr__(name: str) -> Any:
    """Import a public name from its home."""
    if name not in _HOMES:
        raise AttributeError(f"module 'wia_lab.puzzles' has no attribute {name!r}")
    return getattr(import_module(f"wia_lab.puzzles.{_HOMES[name]}"), name)
