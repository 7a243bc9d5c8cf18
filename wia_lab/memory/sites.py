"""Where in the user's program did this happen? The nearest caller outside this library."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from pathlib import PurePath

__all__ = ["Site", "caller_site"]

_HERE = __name__.rpartition(".")[0]


@dataclass(frozen=True, slots=True)
class Site:
    """A line of the user's program."""

    file: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{PurePath(self.file).name}:{self.line} in {self.function}"


UNKNOWN = Site("?", 0, "?")


def caller_site() -> Site:
    """Return the innermost line of code on the stack that is not in wia_lab.memory."""
    frame = inspect.currentframe()
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if name != _HERE and not name.startswith(_HERE + "."):
            code = frame.f_code
            return Site(code.co_filename, frame.f_lineno, code.co_qualname)
        frame = frame.f_back
    return UNKNOWN
