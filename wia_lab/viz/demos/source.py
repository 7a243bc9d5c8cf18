"""A kernel typed live: compiled from its text, run for a bounded time, its faults in sentences."""

from __future__ import annotations

import contextlib
import io
import linecache
import math
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
    from wia_lab.simt.report import Report

PATIENCE = 3.0  # seconds; a demo's launches take some hundredths
FILE = "<live kernel>"
MOST_SENTENCES = 4


class Refused(WiaLabError):
    """A kernel that cannot be shown: `sentences` say why."""

    def __init__(self, *sentences: str) -> None:
        super().__init__("\n".join(sentences))
        self.sentences = sentences


class _Patience(Listener):
    """Stops a launch that takes too long to answer a slider."""

    def __init__(self) -> None:
        self.until = time.monotonic() + PATIENCE

    def on_segment(self, segment: object, active: np.ndarray) -> None:  # noqa: ARG002 - a hook
        if time.monotonic() > self.until:
            raise SimulationLimit(
                f"the kernel still runs after {PATIENCE:g} s: look for a loop that never ends, or "
                "make the launch smaller"
            )


def executed(text: str, values: dict[str, Any] | None = None) -> dict[str, Any]:
    """The names that `text` defines, in order.

    Parameters
    ----------
    text
        Python source; `cuda`, `np`, `math` and Numba's types are there already.
    values
        Further global names, such as constants that a control sets.

    Raises
    ------
    Refused
        The text is no Python, or fails when it is run.
    """
    linecache.cache[FILE] = (len(text), None, text.splitlines(keepends=True), FILE)
    names: dict[str, Any] = {"cuda": cuda, "np": np, "math": math, "__name__": "live"}
    names |= {kind: getattr(numba, kind) for kind in ("float32", "float64", "int32", "int64")}
    names |= values or {}
    before = {*names, "__builtins__"}
    try:
        code = compile(text, FILE, "exec", dont_inherit=True)
        with contextlib.redirect_stdout(io.StringIO()):  # what it prints is not the picture
            exec(code, names)  # noqa: S102 - the presenter's own text, as in a notebook's cell
    except SyntaxError as error:
        raise Refused(f"line {error.lineno}: this is not Python yet: {error.msg}") from error
    except Exception as error:
        raise Refused(f"{type(error).__name__}: {error}") from error
    return {name: value for name, value in names.items() if name not in before}


def kernels(text: str, values: dict[str, Any] | None = None) -> dict[str, Callable[..., Any]]:
    """The kernels that `text` defines, by name; `Refused` as `executed`, and where it has none."""
    made = executed(text, values)
    found = {name: each.py_func for name, each in made.items() if callable(_plain(each))}
    if not found:
        raise Refused("no kernel is defined here: write @cuda.jit above a function")
    return found


def compiled(text: str, values: dict[str, Any] | None = None) -> Callable[..., Any]:
    """The last kernel that `text` defines; `Refused` as `kernels`."""
    return list(kernels(text, values).values())[-1]


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
        first = str(error).strip().split("\n", 1)[0]
        raise Refused(first or type(error).__name__) from error
    if report.errors:
        told = [f"{hazard.kind}: {hazard.message}" for hazard in report.errors]
        more = len(told) - MOST_SENTENCES
        rest = [f"and {more} more"] if more > 0 else []
        raise Refused(*told[:MOST_SENTENCES], *rest)
    return report
