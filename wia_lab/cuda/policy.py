"""What a launch does with the hazards that the simulator found in it.

The mode is, in this order: the innermost ``with hazards(mode):``, the environment variable
``WIA_LAB_HAZARDS``, or ``raise``. What a launch in a stream is found to have done wrong, and work
of two streams that nothing orders, is told where the host waits for it, in the mode that holds
there.

========  ==================================================================================
raise     hazards of severity warning are `HazardWarning`s; any error raises `HazardError`,
          after the whole grid has run
warn      every hazard is a `HazardWarning` whose attribute `hazard` is the hazard
off       hazards are not reported
========  ==================================================================================
"""

from __future__ import annotations

import os
import sys
import warnings
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wia_lab.errors import HazardError, HazardWarning, WiaLabError
from wia_lab.settings import HAZARDS, VALUES, setting
from wia_lab.timeline import Site
from wia_lab.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wia_lab.simt.hazards.found import Hazard
    from wia_lab.timeline import StreamHazard

MODES = VALUES[HAZARDS]
_PACKAGE = f"{Path(__file__).resolve().parent.parent}{os.sep}"
_chosen: ContextVar[str | None] = ContextVar("hazards", default=None)


@contextmanager
def hazards(mode: str) -> Iterator[None]:
    """Report the hazards of launches inside the ``with`` by `mode`: raise, warn or off."""
    if mode not in MODES:
        raise WiaLabError(f"hazards() is given {mode!r}: give it one of {', '.join(MODES)}")
    token = _chosen.set(mode)
    try:
        yield
    finally:
        _chosen.reset(token)


def current_mode() -> str:
    """The mode that a launch made now would follow."""
    return _chosen.get() or setting(HAZARDS) or "raise"


def apply(report: Any) -> None:
    """Warn or raise for the hazards of `report`, as the current mode says."""
    judge(report.hazards, report)


def judge(hazards: Sequence[Any], report: Any) -> None:
    """Warn or raise for `hazards`, as the current mode says; `report` goes with the error.

    Raises
    ------
    HazardError
        In mode ``raise``, when at least one hazard is an error. Its message is the first error's
        sentence and how many more there are.
    """
    mode = current_mode()
    if mode == "off" or not hazards:
        return
    errors = [each for each in hazards if each.severity == "error"]
    others = [each for each in hazards if each.severity != "error"]
    level = caller_level()
    for hazard in others if mode == "raise" else [*errors, *others]:
        warnings.warn(HazardWarning(hazard), stacklevel=level)
    if mode == "raise" and errors:
        raise HazardError(_summary(errors), [*errors, *others], report)


def as_hazard(race: StreamHazard) -> Hazard:
    """A race between streams, as the hazards of launches are told."""
    from wia_lab.simt.hazards.found import Hazard

    first, second = race.first_site, race.second_site
    return Hazard(
        kind="race",
        severity="error",
        line=second.line if isinstance(second, Site) else 0,
        other_line=first.line if isinstance(first, Site) else None,
        message=race.message,
        array=race.buffer,
        file=second.file if isinstance(second, Site) else "",
    )


def caller_level() -> int:
    """The `stacklevel` with which `warnings.warn` in our caller names the user's line."""
    level, frame = 1, sys._getframe(1)  # noqa: SLF001 - the documented way to count frames
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    return level


def caller_site() -> Site:
    """The user's line that called into this package."""
    frame = sys._getframe(1)  # noqa: SLF001 - as above
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    return Site(frame.f_code.co_filename, frame.f_lineno)


def _summary(errors: list[Any]) -> str:
    more = len(errors) - 1
    if not more:
        return str(errors[0].message)
    return f"{errors[0].message} (and {counted(more, 'more error')})"
