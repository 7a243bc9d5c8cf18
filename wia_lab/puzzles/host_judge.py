"""The judge of host puzzles: plays every script, and says of the first that goes wrong why."""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any

import numpy as np

from wia_lab.puzzles.answer import raises_stub
from wia_lab.puzzles.host_puzzle import HostPuzzle, HostRun, Reply
from wia_lab.puzzles.puzzle import Diagnosis, Entry, Verdict
from wia_lab.simt.spelling import meant_by

MOST_LINES = 200_000
"""Lines that one call may execute; a loop that does not end is stopped there."""

UNENDING = "TooManyLines"


class _TooManyLinesError(BaseException):
    """Stops a call that does not end; no `except Exception` of the learner's catches it."""


def judge_host(puzzle: HostPuzzle, answer: object, *, seed: int) -> Verdict:
    """Judge a class on all of the puzzle's scripts, then on its gates."""
    runs: list[HostRun] = []
    wrong = refuse(puzzle, answer)
    if wrong is None:
        assert isinstance(answer, type)
        for case in puzzle.cases(np.random.default_rng(seed)):
            runs.append(puzzle.play(answer, case))
            wrong = unending(puzzle, runs[-1]) or puzzle.diagnose(runs[-1])
            if wrong is not None:
                break
    return host_verdict(puzzle, runs, wrong)


def host_verdict(puzzle: HostPuzzle, runs: Sequence[HostRun], wrong: Diagnosis | None) -> Verdict:
    """Judge what was played; `wrong` is why the answer is wrong, None if it is right so far."""
    from wia_lab.puzzles import judging  # noqa: PLC0415  judging comes here for host puzzles

    entries = [
        Entry(judging.ANSWER, wrong is None, puzzle.points, wrong.text if wrong else "right")
    ]
    played: Any = tuple(runs)
    if wrong is not None:
        entries += [Entry(gate.name, False, gate.points, "not measured") for gate in puzzle.gates]
        return Verdict(puzzle.id, tuple(entries), wrong, runs=played)
    for gate in puzzle.gates:
        entry = judging.measure(gate, played)
        entries.append(entry)
        if not entry.passed and wrong is None:
            text = f"The answer is right, but {entry.text}.\n{gate.advice}"
            wrong = Diagnosis("gate", text, cause=gate.name)
    return Verdict(puzzle.id, tuple(entries), wrong, runs=played)


def refuse(puzzle: HostPuzzle, answer: object) -> Diagnosis | None:
    """Refuse what is no class, has a method too few, or is still the stub."""
    name = puzzle.function
    if not isinstance(answer, type):
        what = "an object of the class" if type(answer).__name__ == name else repr(answer)[:60]
        return Diagnosis(
            "not-a-class",
            f"the check got {what} instead of the class: run the cell that defines {name}, then "
            f'check("{puzzle.id}", {name}) with no parentheses after {name}',
        )
    for method in puzzle.signature:
        if not callable(getattr(answer, method, None)):
            return Diagnosis(
                "arity", f"{name} has no method {method}: it needs {', '.join(puzzle.signature)}"
            )
    if _is_stub(answer):
        return Diagnosis(
            "stub",
            f"{name} is still the stub: write your answer where it says YOUR CODE HERE, or ask "
            f'hint("{puzzle.id}").',
            getattr(answer, "__firstlineno__", None) or _first_line(answer),
        )
    return None


def _is_stub(answer: type) -> bool:
    """Whether a method still raises nbgrader's NotImplementedError."""
    for member in vars(answer).values():
        if inspect.isfunction(member):
            try:
                tree = ast.parse(textwrap.dedent(inspect.getsource(member)))
            except (OSError, SyntaxError, TypeError):
                names = member.__code__.co_names
                if "NotImplementedError" in names:
                    return True
                continue
            if any(raises_stub(node) for node in ast.walk(tree)):
                return True
    return False


def _first_line(answer: type) -> int | None:
    codes = [m.__code__.co_firstlineno for m in vars(answer).values() if inspect.isfunction(m)]
    return min(codes, default=None)


def unending(puzzle: HostPuzzle, run: HostRun) -> Diagnosis | None:
    """Say which call did not end."""
    for number, reply in enumerate(run.replies):
        if reply.error == UNENDING:
            where = "" if reply.line is None else f", last seen on line {reply.line}"
            return Diagnosis(
                "no-progress",
                f"{run.case.name}: call {number + 1} of {puzzle.function} does not end{where}.\n"
                "A loop goes on although nothing changes: what must become smaller, or larger, in "
                "every round?",
                reply.line,
            )
    return None


def file_of(answer: type) -> str:
    """The file name of a class's code, whatever its methods were made by."""
    for member in vars(answer).values():
        code = getattr(inspect.unwrap(member), "__code__", None)
        if code is not None:
            return str(code.co_filename)
    return ""


def call(function: Callable[..., Any], *args: Any, file: str | None = None) -> Reply:
    """Call a method of the learner's; whatever it does becomes a reply.

    Parameters
    ----------
    function, args
        What to call.
    file
        The file name of the learner's code; by default the function's own.
    """
    code = getattr(inspect.unwrap(function), "__code__", None)
    mine = file or (code.co_filename if code else None)
    watch = _Watch(mine)
    outer = sys.gettrace()
    sys.settrace(watch.enter)
    try:
        value = function(*args)
    except _TooManyLinesError:
        return Reply(error=UNENDING, line=watch.line, lines=watch.lines)
    except Exception as error:
        line = _raised_on(error, mine)
        return Reply(error=type(error).__name__, text=_said(error), line=line, lines=watch.lines)
    finally:
        is_watched = sys.gettrace() == watch.enter
        sys.settrace(outer)
    if not is_watched:  # Python stops counting where counting fails, as at the limit of recursion
        return Reply(error=UNENDING, line=watch.line, lines=watch.lines)
    return Reply(value=value, lines=watch.lines)


class _Watch:
    """Counts the lines of the learner's file that a call executes, and stops it in the end."""

    def __init__(self, file: str | None) -> None:
        self.file = file
        self.lines = 0
        self.line: int | None = None

    def enter(self, frame: FrameType, event: str, arg: Any) -> Any:
        del event, arg
        return self.step if frame.f_code.co_filename == self.file else None

    def step(self, frame: FrameType, event: str, arg: Any) -> Any:
        del arg
        if event == "line":
            self.lines += 1
            self.line = frame.f_lineno
            if self.lines > MOST_LINES:
                raise _TooManyLinesError
        return self.step


def _said(error: Exception) -> str:
    """An exception's text, with the name that is probably meant where one is not known."""
    near = meant_by(error)
    return f"{error} (did you mean {near}?)" if near else str(error)


def _raised_on(error: BaseException, file: str | None) -> int | None:
    """The innermost line of the learner's file on an exception's way."""
    line, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
