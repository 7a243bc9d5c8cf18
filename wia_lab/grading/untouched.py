"""Whether an answer on the host left alone what it shares with its judge: functions and classes."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

SHARED = ("wia_lab", "numpy", "play")


class Untouched:
    """Remembers every function of the shared modules and of their classes."""

    def __init__(self) -> None:
        self.kept: list[tuple[Any, str, object]] = []
        seen: set[int] = set()
        for name, module in list(sys.modules.items()):
            if name.partition(".")[0] in SHARED and isinstance(module, ModuleType):
                self._keep(module, seen)

    def _keep(self, owner: Any, seen: set[int]) -> None:
        seen.add(id(owner))
        for name, value in list(vars(owner).items()):
            if not name.startswith("__") and (callable(value) or isinstance(value, property)):
                self.kept.append((owner, name, value))
            is_ours = isinstance(value, type) and value.__module__.partition(".")[0] in SHARED
            if is_ours and id(value) not in seen:
                self._keep(value, seen)

    def changed(self) -> str | None:
        """Return the name of something that is another thing now; None where nothing is."""
        for owner, name, value in self.kept:
            if vars(owner).get(name) is not value:
                return f"{owner.__name__}.{name}"
        return None
