"""The author's conscience: every stub fails, every solution passes, every wrong answer is refused.

Wrong answers stand in `tests/mutants/<puzzle>/` of a checkout, one a file, as a learner would write
them. Their docstrings say what they must get:

    MUST GET: race, line 14. …                          a hazard, and where
    MUST GET: wrong-value, line 20, cause first-tile-only. …   who wrote it, and the likely cause
    MUST GET: gate, cause global load sectors. …        right, but missing a gate
    MUST PASS. …                                        right in another way: no false alarm
"""

from __future__ import annotations

import ast
import json
import linecache
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wia_lab.errors import CannotRun
from wia_lab.puzzles.curriculum import every
from wia_lab.puzzles.judging import judge

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wia_lab.puzzles.host_puzzle import HostPuzzle
    from wia_lab.puzzles.puzzle import Puzzle, Verdict

ROOT = Path(__file__).resolve().parents[2]
PROMISE = re.compile(
    r"MUST (?:(?P<passes>PASS)|GET: (?P<kind>[\w-]+)"
    r"(?:, line (?P<line>\d+))?(?:, cause (?P<cause>[^.,]+))?)\."
)


@dataclass(frozen=True)
class Promise:
    """What an answer must get; None where any will do."""

    passes: bool
    kind: str | None = None
    line: int | None = None
    cause: str | None = None

    def is_kept_by(self, verdict: Verdict) -> bool:
        """Whether the verdict is the one promised."""
        found = verdict.diagnosis
        if found is None or self.passes:
            return self.passes and found is None
        pairs = ((self.kind, found.kind), (self.line, found.line), (self.cause, found.cause))
        return all(wanted in (None, got) for wanted, got in pairs)

    def __str__(self) -> str:
        line = f"line {self.line}" if self.line else None
        parts = (self.kind, line, self.cause)
        return "pass" if self.passes else ", ".join(part for part in parts if part)


@dataclass(frozen=True)
class Outcome:
    """One answer judged against its promise."""

    puzzle: str
    name: str
    promise: Promise
    verdict: Verdict

    @property
    def kept(self) -> bool:
        """Whether the answer got what it must get."""
        return self.promise.is_kept_by(self.verdict)

    def __str__(self) -> str:
        found = self.verdict.diagnosis
        got = Promise(True) if found is None else _promise_of(found)
        mark = "ok " if self.kept else "BAD"
        return f"{mark} {self.puzzle}/{self.name}: {got}" + (
            "" if self.kept else f", but must get: {self.promise}"
        )


def _promise_of(found: Any) -> Promise:
    return Promise(False, found.kind, found.line, found.cause)


def read_promise(path: Path) -> Promise:
    """What the docstring of an answer's file promises.

    Raises
    ------
    ValueError
        When the file does not open with a promise.
    """
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    found = PROMISE.match(text)
    if found is None:
        raise ValueError(f"{path}: the docstring must begin with 'MUST GET: ' or 'MUST PASS.'")
    line = int(found["line"]) if found["line"] else None
    return Promise(bool(found["passes"]), found["kind"], line, found["cause"])


def load_answer(path: Path, function: str) -> object:
    """Run an answer's file and return the kernel that it defines."""
    namespace: dict[str, Any] = {"__name__": path.stem}
    source = path.read_text(encoding="utf-8")
    exec(compile(source, str(path), "exec"), namespace)  # noqa: S102 - the project's own files
    return namespace[function]


def notebook_answer(path: Path, function: str) -> object:
    """Run the cells `setup` and `answer` of a notebook and return the kernel that they define."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    namespace: dict[str, Any] = {"__name__": path.stem}
    for cell in cells:
        if cell["id"] in {"setup", "answer"}:
            source = "".join(cell["source"])
            name = f"<{path.parent.name}/{path.name}, cell {cell['id']}>"
            lines = source.splitlines(keepends=True)
            linecache.cache[name] = (len(source), None, lines, name)
            exec(compile(source, name, "exec"), namespace)  # noqa: S102 - as above
    return namespace[function]


def answers(
    puzzle: Puzzle | HostPuzzle, root: Path = ROOT
) -> Iterator[tuple[str, Promise, object]]:
    """Name, promise and kernel of the puzzle's stub, its solution and all its other answers."""
    stem = f"{puzzle.stem}.ipynb"
    yield (
        "stub",
        Promise(False, "stub"),
        notebook_answer(root / "notebooks" / stem, puzzle.function),
    )
    yield "solution", Promise(True), notebook_answer(root / "solutions" / stem, puzzle.function)
    for path in sorted((root / "tests" / "mutants" / puzzle.id).rglob("*.py")):
        yield path.stem, read_promise(path), load_answer(path, puzzle.function)


def check_mutants(*names: str, root: Path = ROOT) -> bool:
    """Judge all answers of the puzzles named (of all without names); print each, and kill rates.

    Returns
    -------
    bool
        Whether every answer got what it must get.
    """
    if not (root / "tests" / "mutants").is_dir():
        raise CannotRun(f"{root} has no tests/mutants: run this from a clone of the project")
    all_kept = True
    for puzzle in every():
        if names and puzzle.id not in names:
            continue
        outcomes = [
            Outcome(puzzle.id, name, promise, judge(puzzle, answer))
            for name, promise, answer in answers(puzzle, root)
        ]
        print(*outcomes, summary(puzzle, outcomes), sep="\n")  # noqa: T201 - a command's output
        all_kept &= all(outcome.kept for outcome in outcomes)
    return all_kept


def summary(puzzle: Puzzle | HostPuzzle, outcomes: list[Outcome]) -> str:
    """The kill rate of a puzzle's wrong answers, and the right ones that pass."""
    wrong = [outcome for outcome in outcomes if not outcome.promise.passes]
    right = [outcome for outcome in outcomes if outcome.promise.passes]
    killed, passed = sum(o.kept for o in wrong), sum(o.kept for o in right)
    return (
        f"{puzzle.id}: {killed} of {len(wrong)} wrong answers refused with their diagnosis "
        f"({killed / len(wrong):.0%}), {passed} of {len(right)} right ones pass"
    )
