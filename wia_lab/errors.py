"""Every exception that wia_lab raises on purpose.

WiaLabError
    HazardError        a launch finished, but the simulator found errors in it
    CheckFailed        an answer was judged wrong (also an AssertionError, for pytest and nbval)
    LaunchError        a launch was refused before it ran
    SimulationLimit    a simulation was refused or stopped at a documented limit
    NotebookError      a notebook is not in the form that the workbook needs
    CannotRun          this machine or this folder cannot do what was asked

Warning
    HazardWarning      one hazard, when hazards are set to "warn"

Each message is one sentence that names the thing, the value, the place and the way out.
"""

from __future__ import annotations

from typing import Any


class WiaLabError(Exception):
    """Base of what wia_lab raises; the command line prints it and exits with `exit_code`."""

    exit_code = 1


class LaunchError(WiaLabError):
    """A launch that no device of the chosen kind could run."""


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


class NotebookError(WiaLabError):
    """A notebook that cannot be read, built or judged; the message names file and cell."""


class CannotRun(WiaLabError):
    """What was asked needs something that this machine or this folder lacks."""

    exit_code = 3
