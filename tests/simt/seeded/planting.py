"""Correct kernels, and one fault planted in a copy of each.

A fault is a list of edits to the source of a correct kernel, so that what differs is in plain view;
the lines that a hazard must name are given by a piece of their text.
"""

from __future__ import annotations

import inspect
import itertools
import linecache
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from wia_lab import simulate

Hazard = tuple[str, str, int, int | None]
"""Kind, severity, line and other line of a hazard."""

WARNINGS = {"negative-index", "write-overlap", "float64-arithmetic", "division-by-zero"}

_numbers = itertools.count()


@dataclass(frozen=True)
class Original:
    """A correct kernel, how to launch it, and what it must give.

    `prepare` returns fresh arguments and a dictionary from positions of arguments to what they hold
    after the launch.
    """

    kernel: Callable[..., None]
    grid: Any
    block: Any
    prepare: Callable[[], tuple[tuple[Any, ...], dict[int, Any]]]
    shared_bytes: int = 0
    rtol: float = 0.0


@dataclass(frozen=True)
class Said:
    """A hazard that must be reported: its kind, and a text that only its line has.

    `severity` is the usual one of the kind unless it is given.
    """

    kind: str
    at: str
    other: str | None = None
    severity: str = ""

    def located(self, source: str) -> Hazard:
        """The hazard with line numbers of a source."""
        severity = self.severity or ("warning" if self.kind in WARNINGS else "error")
        other = None if self.other is None else line_of(source, self.other)
        return self.kind, severity, line_of(source, self.at), other


@dataclass(frozen=True)
class Fault:
    """One fault: what is replaced in the kernel's source, and what must be said of it."""

    original: str
    name: str
    edits: tuple[tuple[str, str], ...]
    said: tuple[Said, ...]

    @property
    def id(self) -> str:
        """As pytest prints it."""
        return f"{self.original}: {self.name}"


def fault(original: str, name: str, edits: dict[str, str], *said: Said) -> Fault:
    """A fault with its edits as a dictionary from old text to new."""
    return Fault(original, name, tuple(edits.items()), said)


def line_of(source: str, text: str) -> int:
    """Number of the one line that holds a text."""
    found = [n for n, line in enumerate(source.splitlines(keepends=True), 1) if text in line]
    if len(found) != 1:
        raise ValueError(f"{text!r} stands on lines {found} and must stand on one:\n{source}")
    return found[0]


def planted(
    original: Original, edits: tuple[tuple[str, str], ...]
) -> tuple[Callable[..., None], str]:
    """The edited kernel, and its source."""
    source = inspect.getsource(original.kernel)
    for old, new in edits:
        if source.count(old) != 1:
            raise ValueError(f"{old!r} must occur once in:\n{source}")
        source = source.replace(old, new)
    name = f"<planted {next(_numbers)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    scope: dict[str, Any] = dict(original.kernel.__globals__)
    exec(compile(source, name, "exec", flags=0, dont_inherit=True), scope)  # noqa: S102
    return scope[original.kernel.__name__], source


def launched(original: Original, kernel: Callable[..., None], **options: Any) -> Any:
    """The report of a launch on fresh arguments, and the arguments and expected values."""
    arguments, expected = original.prepare()
    report = simulate(
        kernel,
        original.grid,
        original.block,
        *arguments,
        shared_bytes=original.shared_bytes,
        **options,
    )
    return report, arguments, expected


def summary(hazards: Any) -> list[Hazard]:
    """What of hazards is compared, each once."""
    return sorted(
        {(each.kind, each.severity, each.line, each.other_line) for each in hazards}, key=str
    )
