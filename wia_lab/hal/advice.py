"""Advice on unified memory (§4.4), and what became of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Advice(Enum):
    """What the caller knows of how unified memory will be used, as cuMemAdvise takes it."""

    READ_MOSTLY = "read mostly"
    """Readers get copies of their own, which a write anywhere discards."""

    PREFERRED_LOCATION = "preferred location"
    """Pages go there first, and stay there where others can reach them over a link."""

    ACCESSED_BY = "accessed by"
    """The place reaches the pages where they are, if it can, rather than moving them."""


@dataclass(frozen=True, slots=True)
class Migrations:
    """Pages that moved, or were copied for a reader, so far.

    `faults` moved as somebody touched them, while that one waited; `prefetched` as they were asked
    for ahead. `nbytes` is of both.
    """

    faults: int = 0
    prefetched: int = 0
    nbytes: int = 0
