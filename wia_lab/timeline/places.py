"""Accesses by the bytes that they touch, so that a new one meets only those near it.

A region of length n lies in at most two cells of the grid whose cells are the power of two from n
on. So a lookup asks each grid in use for the cells under the new region, however many regions
elsewhere in the buffer there are.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, Protocol, TypeVar


class Placed(Protocol):
    """What lies somewhere: its number, and its first byte and the one after its last."""

    @property
    def number(self) -> int: ...

    @property
    def span(self) -> tuple[int, int]: ...


P = TypeVar("P", bound=Placed)


class Places(Generic[P]):
    """Things that lie in stretches of bytes. What has no bytes is not kept."""

    __slots__ = ("_grids",)

    def __init__(self) -> None:
        self._grids: dict[int, dict[int, list[P]]] = {}  # bits of a cell -> number of the cell

    def __iter__(self) -> Iterator[P]:
        """Each once, in the order of their numbers."""
        found = {
            each.number: each
            for cells in self._grids.values()
            for cell in cells.values()
            for each in cell
        }
        return iter([found[number] for number in sorted(found)])

    def add(self, thing: P) -> None:
        """Keep it."""
        low, high = thing.span
        if low >= high:
            return
        bits = (high - low - 1).bit_length()
        cells = self._grids.setdefault(bits, {})
        for number in range(low >> bits, (high - 1 >> bits) + 1):
            cells.setdefault(number, []).append(thing)

    def remove(self, thing: P) -> None:
        """Forget what was added."""
        low, high = thing.span
        bits = (high - low - 1).bit_length()
        cells = self._grids[bits]
        for number in range(low >> bits, (high - 1 >> bits) + 1):
            cell = cells[number]
            cell.remove(thing)
            if not cell:
                del cells[number]
        if not cells:
            del self._grids[bits]

    def near(self, low: int, high: int) -> list[P]:
        """All that may share a byte with `low` to `high`, in the order of their numbers."""
        found: dict[int, P] = {}
        for bits, cells in self._grids.items():
            first, last = low >> bits, high - 1 >> bits
            inside = (
                cells.values()
                if last - first >= len(cells)
                else (cells[number] for number in range(first, last + 1) if number in cells)
            )
            for cell in inside:
                for each in cell:
                    found[each.number] = each
        return list(found.values()) if len(found) < 2 else [found[i] for i in sorted(found)]
