"""wia_lab: a workbook that teaches accelerator memory, with the simulator that judges it.

A learner's notebook needs these names and no others:

    from wia_lab import cuda, simulate, check, hint, hazards

They are imported when first used, so that `import wia_lab` and the command line start at once.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wia_lab import cuda
    from wia_lab.cuda.policy import hazards
    from wia_lab.errors import CheckFailed, HazardError, HazardWarning
    from wia_lab.simt.launch import simulate
    from wia_lab.workbook.learner import check, hint

__version__ = "0.1.0"

__all__ = [
    "CheckFailed",
    "HazardError",
    "HazardWarning",
    "check",
    "cuda",
    "hazards",
    "hint",
    "simulate",
]

_HOMES = {
    "CheckFailed": "wia_lab.errors",
    "HazardError": "wia_lab.errors",
    "HazardWarning": "wia_lab.errors",
    "check": "wia_lab.workbook.learner",
    "hazards": "wia_lab.cuda.policy",
    "hint": "wia_lab.workbook.learner",
    "simulate": "wia_lab.simt.launch",
}


def __getattr__(name: str) -> Any:
    """Import a public name from its home on first use."""
    if name == "cuda":
        return import_module("wia_lab.cuda")
    if name not in _HOMES:
        raise AttributeError(f"module 'wia_lab' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, imported or not."""
    return sorted({*globals(), *__all__})
