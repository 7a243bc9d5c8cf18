"""A kernel typed live: compiled from its text, run for a bounded time, its faults in sentences."""

from __future__ import annotations

import ast
import contextlib
import io
import itertools
import linecache
import math
import re
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numba
import numpy as np

from wia_lab import cuda
from wia_lab.errors import SimulationLimit, WiaLabError
from wia_lab.simt.events import Listener
from wia_lab.simt.launch import run

if TYPE_CHECKING:
    from types import FrameType, TracebackType

    from wia_lab.simt.report import Report

PATIENCE = 3.0  # seconds; a demo's launches take some hundredths
MOST_SENTENCES = 4
PLACE = re.compile(r"<live kernel \d+>:(?=\d)")
_numbers = itertools.count(1)


class Refused(WiaLabError):
    """A kernel that cannot be shown: `sentences` say why."""

    def __init__(self, *sentences: str) -> None:
        super().__init__("\n".join(sentences))
        self.sentences = sentences


class _Patience(Listener):
    """Stops a launch that takes too long to answer a slider.

    Its time begins with the first step: what the front end takes on a cold machine is not counted.
    """

    def __init__(self) -> None:
        self.until = math.inf

    def on_segment(self, segment: object, active: np.ndarray) -> None:  # noqa: ARG002 - a hook
        now = time.monotonic()
        self.until = min(self.until, now + PATIENCE)
        if now > self.until:
            raise SimulationLimit(
                f"the kernel still runs after {PATIENCE:g} s: look for a loop that never ends, or "
                "make the launch smaller"
            )


class _Endless(BaseException):
    """Leaves a loop of the text; no Exception, so that the text's own `except` lets it pass."""


class bounded:  # noqa: N801 - used as a statement
    """`with bounded(file):` runs the Python functions of a live text for a bounded time.

    It looks at the clock at each step of the text itself, not at those of what the text calls.

    Raises
    ------
    Refused
        After `PATIENCE` seconds, with the line that was reached.
    """

    def __init__(self, file: str) -> None:
        self.file = file

    def __enter__(self) -> None:
        self.until = time.monotonic() + PATIENCE
        self.before = sys.gettrace()  # a debugger's, or a coverage tool's
        sys.settrace(self._watch)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        sys.settrace(self.before)
        if isinstance(error, _Endless):
            raise Refused(
                f"line {error}: the text still runs after {PATIENCE:g} s: look for a loop that "
                "never ends"
            ) from None

    def _watch(self, frame: FrameType, _event: str, _argument: object) -> Any:
        if frame.f_code.co_filename != self.file:
            return None
        frame.f_trace_opcodes = True  # `while True: pass` is one instruction, and no new line
        if time.monotonic() > self.until:
            raise _Endless(frame.f_lineno)
        return self._watch


def live_file() -> str:
    """A new file name for a text; each text needs its own, or a kernel's lines are another's."""
    return f"<live kernel {next(_numbers)}>"


def executed(text: str, file: str, values: dict[str, Any] | None = None) -> dict[str, Any]:
    """The names that `text` defines, in order.

    Parameters
    ----------
    text
        Python source; `cuda`, `np`, `math` and Numba's types are there already.
    file
        Under which name its lines are kept: see `live_file`.
    values
        Further global names, such as constants that a control sets.

    Raises
    ------
    Refused
        The text is no Python, fails when it is run, or does not end.
    """
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names: dict[str, Any] = {"cuda": cuda, "np": np, "math": math, "__name__": "live"}
    names |= {kind: getattr(numba, kind) for kind in ("float32", "float64", "int32", "int64")}
    names |= values or {}
    before = {*names, "__builtins__"}
    try:
        tree = ast.parse(text, file)
        refuse_deaf_handlers(tree)
        code = compile(tree, file, "exec", dont_inherit=True)
        # What it prints is not the picture
        with bounded(file), contextlib.redirect_stdout(io.StringIO()):
            exec(code, names)  # noqa: S102 - the presenter's own text, as in a notebook's cell
    except Refused:
        raise
    except SyntaxError as error:
        raise Refused(f"line {error.lineno}: this is not Python yet: {error.msg}") from error
    except (Exception, SystemExit) as error:
        raise Refused(f"{type(error).__name__}: {error}") from error
    return {name: value for name, value in names.items() if name not in before}


def refuse_deaf_handlers(tree: ast.AST) -> None:
    """Refuse an `except` that would catch what ends an endless loop as well."""
    for each in ast.walk(tree):
        if isinstance(each, ast.ExceptHandler):
            named = "BaseException" if each.type is None else ast.unparse(each.type)
            if "BaseException" in named:
                raise Refused(
                    f"line {each.lineno}: an except without a class, or of BaseException, would "
                    "keep an endless loop from being stopped: write except Exception"
                )


def kernels(
    text: str, file: str, values: dict[str, Any] | None = None
) -> dict[str, Callable[..., Any]]:
    """The kernels that `text` defines, by name; `Refused` as `executed`, and where it has none."""
    made = executed(text, file, values)
    found = {name: each.py_func for name, each in made.items() if callable(_plain(each))}
    if not found:
        raise Refused("no kernel is defined here: write @cuda.jit above a function")
    return found


def compiled(text: str, file: str, values: dict[str, Any] | None = None) -> Callable[..., Any]:
    """The last kernel that `text` defines; `Refused` as `kernels`."""
    return list(kernels(text, file, values).values())[-1]


def _plain(value: Any) -> Any:
    """The Python function of a kernel; None for device functions and all else."""
    return getattr(value, "py_func", None) if hasattr(value, "forall") else None


def simulated(
    function: Callable[..., Any], grid: Any, block: Any, *args: Any, device: str = "H200"
) -> Report:
    """The report of a launch without errors.

    Raises
    ------
    Refused
        What Numba or the launch refuses, a loop without end, and every hazard that is an error.
    """
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            report = run(function, grid, block, args, device=device, listeners=[_Patience()])
    except Exception as error:
        first = PLACE.sub("line ", str(error).strip().split("\n", 1)[0])
        raise Refused(first or type(error).__name__) from error
    if report.errors:
        told = [f"{hazard.kind}: {hazard.message}" for hazard in report.errors]
        more = len(told) - MOST_SENTENCES
        rest = [f"and {more} more"] if more > 0 else []
        raise Refused(*told[:MOST_SENTENCES], *rest)
    return report
