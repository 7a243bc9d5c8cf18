"""A register of small programs: what each gives on a GPU, and what a judge must say of it.

Themes are those that people ask about publicly: each file's cases were written for this project.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Outcome = list[tuple[Any, Any]]
"""Pairs of what came out and what a GPU gives."""


@dataclass(frozen=True)
class Case:
    """One program; `hazards` are the kinds that must be reported, with their severity."""

    name: str
    run: Callable[[], Outcome | None]
    hazards: dict[str, str]
    error: str


def register(cases: list[Case]) -> Callable[..., Callable[..., Any]]:
    """The decorator that adds a program to `cases`."""

    def case(*, error: str = "", **hazards: str) -> Callable[..., Any]:
        def decorate(run: Callable[[], Outcome | None]) -> Callable[..., Any]:
            kinds = {kind.replace("_", "-"): severity for kind, severity in hazards.items()}
            cases.append(Case(run.__name__.replace("_", " "), run, kinds, error))
            return run

        return decorate

    return case
