"""The puzzles: hostile inputs, the judge that runs an answer on them, and its diagnosis."""

from __future__ import annotations

from wia_lab.puzzles.checking import check, hint
from wia_lab.puzzles.curriculum import PUZZLES, find
from wia_lab.puzzles.judge import judge
from wia_lab.puzzles.mutants import check_mutants

__all__ = ["PUZZLES", "check", "check_mutants", "find", "hint", "judge"]
