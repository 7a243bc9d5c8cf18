"""Puts the learner's notebooks into the wheel, as wia_lab/notebooks.

An editable install needs no copy: it finds the checkout's own folder.
"""

from __future__ import annotations

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class NotebooksHook(BuildHookInterface):  # type: ignore[type-arg]
    """Maps notebooks/ into the standard wheel only."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the mapping; `version` is "standard" or "editable"."""
        if version == "standard":
            build_data["force_include"]["notebooks"] = "wia_lab/notebooks"
