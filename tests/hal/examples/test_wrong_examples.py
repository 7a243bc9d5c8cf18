"""The documents' examples as they stand: each gets the error or the hazard that its file promises.

A file in `wrong/` opens with it:

    MUST GET: NotReady, 'never recorded'. §3.4: …   an exception, and words of its message
    MUST GET: race, 'buffer_b'. §4.9: …             a hazard, and words of its message
    MUST GET: wrong-value. §4.9: …                  `run` returns what came out and what should
"""

from __future__ import annotations

import ast
import re
import runpy
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import wia_lab.hal as wia
from wia_lab import HazardError

FILES = sorted((Path(__file__).parent / "wrong").glob("*.py"))
PROMISE = re.compile(r"MUST GET: (?P<kind>[\w-]+)(?:, '(?P<words>[^']+)')?\. §[34]\.\d+")
HAZARDS = {"race", "out-of-bounds"}


def promise(path: Path) -> tuple[str, str]:
    """The kind, and words of the message."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    found = PROMISE.match(text)
    assert found, f"{path.name} must open with MUST GET"
    return found["kind"], found["words"] or ""


VIRTUAL = {
    "s4_9_double_buffer_without_prologue": "poison in new memory",
    "s4_3_prefetched_on_another_stream": "migrations, which the driver does not count",
    "s3_9_context_after_the_reset": "faults that are injected",
    "s3_9_submitted_twice": "times of the simulated clock",
    "s3_10_shares_that_add_up": "times of the simulated clock",
}
"""Examples of what only a virtual machine shows, beside those with hazards."""


def found_by(run: Callable[[], Any]) -> list[Any]:
    """The hazards of an example: raised where the host waits, or in the report of a kernel."""
    try:
        report = run()
    except HazardError as error:
        return list(error.hazards)
    return list(report.hazards)


@contextmanager
def shallow_stack() -> Iterator[None]:
    """Let a recursion without end fail after 200 frames, not after a thousand."""
    depth = len(traceback.extract_stack())
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(depth + 200)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_gets_what_it_must(path: Path, on_hardware: bool) -> None:
    """Kind, words, and the line of the example."""
    kind, words = promise(path)
    if on_hardware and (kind in HAZARDS or path.stem in VIRTUAL):
        pytest.skip(VIRTUAL.get(path.stem, "hazards, which only virtual machines find"))
    run = runpy.run_path(str(path))["run"]
    if kind == "wrong-value":
        got, want = run()
        assert got != want
    elif kind in HAZARDS:
        first = found_by(run)[0]
        assert words in first.message
        assert (first.kind, first.severity) == (kind, "error")
        assert first.line
    elif kind == "RecursionError":
        with shallow_stack(), pytest.raises(RecursionError):
            run()
    else:
        with pytest.raises(getattr(wia, kind), match=re.escape(words)) as refused:
            run()
        assert refused.value.details.file == str(path)


def test_enough_of_them() -> None:
    """At least fifteen, of many kinds, from every section that has a listing of its own."""
    kinds = {promise(path)[0] for path in FILES}
    sections = {re.match(r"s(\d)_(\d+)", path.stem).groups() for path in FILES}
    assert len(FILES) >= 15
    assert len(kinds) >= 8
    assert {"3", "4"} == {chapter for chapter, _ in sections}
    assert {"2", "3", "4", "5", "8", "9", "10"} <= {
        one for chapter, one in sections if chapter == "3"
    }
    assert {"3", "4", "8", "9"} <= {one for chapter, one in sections if chapter == "4"}
