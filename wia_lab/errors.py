"""Every exception that wia_lab raises on purpose.

WiaLabError
    HazardError        a launch finished, but the simulator found errors in it
    CheckFailed        an answer was judged wrong (also an AssertionError, for pytest and nbval)
    LaunchError        a launch was refused before it ran
        nvJitLinkError      the linker would refuse the kernel
    SimulationLimit    a simulation was refused or stopped at a documented limit
    NotebookError      a notebook is not in the form that the workbook needs
    CannotRun          this machine or this folder cannot do what was asked
    AllocatorError     an allocator refused; its state is as it was before the call
        SizeError           a size that is zero, negative, no integer or out of range (ValueError)
        AlignmentError      an alignment that is no power of two or absurdly large (ValueError)
        OutOfMemoryError    nothing of that size is left (also a MemoryError)
        UnknownBlockError   freed something that was never allocated
        ForeignBlockError   freed a block of another allocator
        InteriorPointerError  freed an offset inside a live block
        DoubleFreeError     freed a block twice
        ReleasedError       used or retained a buffer whose count had reached zero
        RedZoneError        bytes before or after a block were overwritten
        UseAfterFreeError   bytes of a freed block were written
        TraceError          an allocation trace or snapshot that cannot be read
        InvariantError      an allocator's own check failed (also an AssertionError)

Warning
    HazardWarning      one hazard, when hazards are set to "warn"

Each message is one sentence that names the thing, the value, the place and the way out.
"""

from __future__ import annotations

import linecache
import sysconfig
import textwrap
import traceback
from pathlib import Path
from typing import Any

_PACKAGE = str(Path(__file__).parent)
_INSTALLED = tuple({sysconfig.get_path(name) for name in ("purelib", "platlib", "stdlib")})


class WiaLabError(Exception):
    """Base of what wia_lab raises; the command line prints it and exits with `exit_code`."""

    exit_code = 1

    def _render_traceback_(self) -> list[str]:
        """Show in Jupyter the sentence and the user's own line: none inside wia_lab is to blame."""
        return [*_shown(self), *_raised_by(self)]


class LaunchError(WiaLabError):
    """A launch that no device of the chosen kind could run."""


class nvJitLinkError(LaunchError):  # noqa: N801 - the name that hardware gives it
    """What CUDA's linker would answer: the kernel needs more than a block can have."""


class SimulationLimit(WiaLabError):
    """A simulation that would need, or did need, more memory or steps than the limit allows."""


class HazardError(WiaLabError):
    """A launch had hazards of severity error; raised after the whole grid has run.

    Attributes
    ----------
    hazards : list
        The hazards found, errors first.
    report : wia_lab.simt.report.Report
        All that was recorded, so that a failed launch can still be looked at.
    """

    def __init__(self, message: str, hazards: list[Any], report: Any) -> None:
        super().__init__(message)
        self.hazards = hazards
        self.report = report


class HazardWarning(UserWarning):
    """One hazard of a launch, in the attribute `hazard`."""

    def __init__(self, hazard: Any) -> None:
        super().__init__(hazard.message)
        self.hazard = hazard


class CheckFailed(WiaLabError, AssertionError):
    """An answer was judged wrong; the message is the diagnosis."""

    def _render_traceback_(self) -> list[str]:
        """Show the diagnosis alone in Jupyter: no line of the traceback is the learner's."""
        return _shown(self)


def _shown(error: WiaLabError) -> list[str]:
    """Class and message in lines for a notebook.

    Jupyter breaks long lines of an output in the middle of words; these end between words.
    """
    lines = f"{type(error).__name__}: {error}".splitlines()
    return [part for line in lines for part in _folded(line)]


def _raised_by(error: WiaLabError) -> list[str]:
    """The last line of a cell, or of a file of the user's, that led to the error."""
    found = None
    for frame, number in traceback.walk_tb(error.__traceback__):
        code = frame.f_code
        if not code.co_filename.startswith((_PACKAGE, *_INSTALLED)):
            found = code.co_filename, number
    if found is None:
        return []
    text = linecache.getline(*found).strip()
    return [f"raised by line {found[1]}: {text}"] if text else []


def _folded(line: str) -> list[str]:
    """A line in parts that fit a notebook's output; one that is set in, as code is, stays whole."""
    if line[:1].isspace():
        return [line]
    return textwrap.wrap(line, 96, break_long_words=False, break_on_hyphens=False) or [""]


class NotebookError(WiaLabError):
    """A notebook that cannot be read, built or judged; the message names file and cell."""


class CannotRun(WiaLabError):
    """What was asked needs something that this machine or this folder lacks."""

    exit_code = 3


class AllocatorError(WiaLabError):
    """An allocator refused a request; its state is as it was before the call."""


class SizeError(AllocatorError, ValueError):
    """A size that is zero, negative, no integer, or out of the range it must be in."""


class AlignmentError(AllocatorError, ValueError):
    """An alignment that is no power of two, or larger than the allocator can keep."""


class OutOfMemoryError(AllocatorError, MemoryError):
    """Nothing of the size asked is left.

    Attributes
    ----------
    requested, free, largest_free : int
        Bytes asked for, bytes free in all, and the largest hole.
    holders : tuple
        The largest live blocks, largest first: (offset, bytes, label).
    """

    def __init__(
        self,
        message: str,
        requested: int = 0,
        free: int = 0,
        largest_free: int = 0,
        holders: tuple[tuple[int, int, str], ...] = (),
    ) -> None:
        super().__init__(message)
        self.requested = requested
        self.free = free
        self.largest_free = largest_free
        self.holders = holders


class UnknownBlockError(AllocatorError):
    """A free of something that the allocator never handed out."""


class ForeignBlockError(AllocatorError):
    """A free of a block that another allocator handed out."""


class InteriorPointerError(AllocatorError):
    """A free of an offset inside a live block."""


class DoubleFreeError(AllocatorError):
    """A free of a block that was freed before."""


class ReleasedError(AllocatorError):
    """A use of a counted buffer after its count had reached zero."""


class RedZoneError(AllocatorError):
    """Bytes just before or after a block were overwritten."""


class UseAfterFreeError(AllocatorError):
    """Bytes of a block were written after it was freed."""


class TraceError(AllocatorError):
    """An allocation trace or a memory snapshot that cannot be read; names the line and why."""


class InvariantError(AllocatorError, AssertionError):
    """An allocator's `check` found its own books wrong: a defect of the allocator."""
