"""`grading.toml`: what a puzzle and its gates are worth, when it is due, what lateness costs."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wia_lab.errors import CannotRun
from wia_lab.workbook import catalogue

if TYPE_CHECKING:
    from wia_lab.workbook.catalogue import AnyPuzzle

RIGHT = "right answer"
DAY = 86_400.0


@dataclass(frozen=True)
class Worth:
    """What one puzzle is worth: `points`, shared by its entries in proportion to `weights`."""

    points: float
    weights: dict[str, float]
    extra: bool = False  # adds to a total, and does not count in what is possible

    def earned(self, entries: Sequence[tuple[str, bool]]) -> float:
        """Return the points of the entries that passed; one that is missing is worth 0."""
        passed = {name for name, is_passed in entries if is_passed is True}
        share = sum(weight for name, weight in self.weights.items() if name in passed)
        return round(self.points * share / sum(self.weights.values()), 4)


@dataclass(frozen=True)
class Course:
    """Everything that a teacher decides about points."""

    puzzles: dict[str, Worth]
    due: datetime | None = None
    late_percent_a_day: float = 0.0
    late_days: float = 0.0  # after so many days nothing is accepted; 0 is no end
    attempts: int = 0  # more than so many are not accepted; 0 is any number
    source: dict[str, Any] = field(default_factory=dict, repr=False)

    def lateness(self, when: datetime | None, *, late: bool) -> tuple[float, str | None]:
        """Return the share of the points that is left, and the sentence that says why."""
        days = 0.0
        if self.due is not None and when is not None:
            days = max((when - self.due).total_seconds() / DAY, 0.0)
        if days == 0.0 and not late:
            return 1.0, None
        if days == 0.0:
            days = 1.0  # the export says late, and not how much
        if self.late_days and days > self.late_days:
            return 0.0, f"handed in {days:.1f} days late, more than the {self.late_days:g} allowed"
        begun = int(-(-days // 1))
        share = max(1.0 - self.late_percent_a_day / 100 * begun, 0.0)
        return share, f"handed in late: {begun} day{'s' if begun > 1 else ''} begun"


def default_course(puzzles: Sequence[AnyPuzzle] | None = None) -> Course:
    """Return the points that the puzzles themselves name."""
    chosen = catalogue.all_puzzles() if puzzles is None else puzzles
    return Course({puzzle.id: default_worth(puzzle) for puzzle in chosen})


def default_worth(puzzle: AnyPuzzle) -> Worth:
    """Return a puzzle's own points."""
    weights = {RIGHT: float(puzzle.points)}
    for gate in puzzle.gates:
        weights[gate.name] = weights.get(gate.name, 0.0) + gate.points
    return Worth(sum(weights.values()), weights)


def read_course(path: Path) -> Course:
    """Read `grading.toml`.

    Raises
    ------
    CannotRun
        With the place and what should stand there.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CannotRun(f"{path} is no TOML: {error}") from error
    if data.get("version") != 1:
        raise CannotRun(f"{path}: version is {data.get('version')!r}, this reads version 1")
    table = data.get("puzzles")
    if not isinstance(table, dict) or not table:
        raise CannotRun(f"{path} names no puzzle: wia-lab release writes one that does")
    due = data.get("due")
    if due is not None and not isinstance(due, datetime):
        raise CannotRun(f"{path}: due is {due!r}, write it as 2026-12-01T23:59:00Z")
    return Course(
        {name: _worth(path, name, row) for name, row in table.items()},
        due=due if due is None or due.tzinfo else due.replace(tzinfo=UTC),
        late_percent_a_day=_number(path, data, "late_percent_a_day", 0),
        late_days=_number(path, data, "late_days", 0),
        attempts=int(_number(path, data, "attempts", 0)),
        source=data,
    )


def _number(path: Path, table: dict[str, Any], name: str, default: float) -> float:
    value = table.get(name, default)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1e9:
        raise CannotRun(f"{path}: {name} is {value!r}, it must be a number from 0 on")
    return float(value)


def _worth(path: Path, name: str, row: Any) -> Worth:
    puzzle = catalogue.find(name)
    usual = default_worth(puzzle)
    if not isinstance(row, dict):
        raise CannotRun(f"{path}: puzzles.{name} must be a table with points")
    weights = row.get("weights", usual.weights)
    if not isinstance(weights, dict) or not weights:
        raise CannotRun(f"{path}: puzzles.{name}.weights must be a table of numbers")
    unknown = set(weights) - set(usual.weights)
    if unknown:
        raise CannotRun(
            f"{path}: {name} has no gate {min(unknown)!r}: it has {', '.join(usual.weights)}"
        )
    shares = {gate: _number(path, weights, gate, 0) for gate in weights}
    if not sum(shares.values()):
        raise CannotRun(f"{path}: all weights of {name} are 0, so no answer can earn anything")
    return Worth(
        _number(path, row, "points", usual.points), shares, extra=row.get("extra_credit") is True
    )


def text_of(course: Course) -> str:
    """Return `grading.toml` for a course."""
    lines = [
        "# What wia-lab grade gives points for. Of a puzzle's points each entry that passed gets",
        "# its share by weight; without the right answer no gate is measured.",
        "version = 1",
        "# due = 2026-12-01T23:59:00Z",
        f"late_percent_a_day = {course.late_percent_a_day:g}  # for each day begun",
        f"late_days = {course.late_days:g}  # nothing is accepted after so many; 0: no end",
        f"attempts = {course.attempts}  # at most so many count; 0: any number",
    ]
    for name, worth in course.puzzles.items():
        lines += ["", f"[puzzles.{name}]", f"points = {worth.points:g}"]
        lines += [f"extra_credit = {str(worth.extra).lower()}", f"[puzzles.{name}.weights]"]
        lines += [f'"{gate}" = {weight:g}' for gate, weight in worth.weights.items()]
    return "\n".join(lines) + "\n"
