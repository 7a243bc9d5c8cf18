"""What ran while asynchronous copies were in flight: the evidence that a copy was overlapped.

A copy is in flight, for the warp that issued it, from the instruction that issues it until that
warp waits for it. Everything that the same warp executes in between overlaps with the copy. Counts
are kept a warp, so that what another warp did meanwhile is not mistaken for it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from wia_lab.simt import compiled
from wia_lab.simt.events import Access, AsyncCopy, Chunk, Lanes, Listener, Site

WORK = ("integer", "float16", "float32", "float64", "special")
"""Kinds of operation that count as arithmetic."""


@dataclass(frozen=True, slots=True)
class InFlight:
    """All copies issued on one line and waited for on one line, with what overlapped them.

    Attributes
    ----------
    issued, committed, waited : int or None
        Source lines. `committed` and `waited` are None for copies that never were.
    copies, nbytes : int
        Warp-level copies, and bytes moved by all lanes.
    loads, shared_loads, stores, shared_stores : dict of int to int
        Line → warp-level executions between issue and wait, summed over the copies.
    arithmetic : dict of int to int
        Line → warp-level arithmetic instructions between issue and wait, likewise.
    """

    issued: int
    committed: int | None
    waited: int | None
    copies: int
    nbytes: int
    loads: dict[int, int]
    shared_loads: dict[int, int]
    stores: dict[int, int]
    shared_stores: dict[int, int]
    arithmetic: dict[int, int]

    @property
    def overlapped(self) -> bool:
        """Whether any load or arithmetic ran while the copies were in flight."""
        return any((self.loads, self.shared_loads, self.arithmetic))


@dataclass(slots=True)
class _Copy:
    """One copy of one chunk, until its lanes have waited."""

    site: Site
    nbytes: int
    active: Lanes
    before: dict[tuple[str, int], np.ndarray]  # executions a warp when it was issued
    committed: int | None = None
    pending: Lanes = field(default_factory=lambda: np.zeros(0, bool))


Key = tuple[str, int]  # what was executed, and the line


class InFlightRecorder(Listener):
    """Records what overlapped asynchronous copies. `records()` after the launch has ended."""

    def __init__(self) -> None:
        self._copies: dict[int, _Copy] = {}
        self._executed: dict[Key, np.ndarray] = {}
        self._warps = 0
        self._totals: dict[tuple[int, int | None, int | None], list[Any]] = {}

    def on_chunk(self, chunk: Chunk) -> None:
        """Start afresh: copies do not outlive their block."""
        self._copies = {}
        self._executed = {}
        self._warps = chunk.lanes // 32

    def on_access(self, access: Access) -> None:
        """Note a load or store, if a copy is in flight."""
        if self._copies and access.space.kind in ("global", "shared"):
            self._note((f"{access.space.kind} {access.kind}", access.site.line), access.active, 1)

    def on_segment(self, segment: Any, active: Lanes) -> None:
        """Note arithmetic, if a copy is in flight."""
        if not self._copies:
            return
        for line, kinds in segment.operations.items():
            amount = sum(kinds.get(kind, 0) for kind in WORK)
            if amount:
                self._note(("arithmetic", line), active, amount)

    def on_async_copy(self, copy: AsyncCopy) -> None:
        """A copy takes off."""
        before = {key: counts.copy() for key, counts in self._executed.items()}
        lanes = copy.active & ~copy.zero_filled
        self._copies[copy.number] = _Copy(
            copy.site, copy.nbytes * int(lanes.sum()), copy.active, before, None, copy.active.copy()
        )

    def on_async_commit(self, site: Site, lanes: Lanes, copies: dict[int, Lanes]) -> None:
        """Copies get their group."""
        for number in copies:
            if number in self._copies:
                self._copies[number].committed = site.line

    def on_async_wait(self, site: Site, lanes: Lanes, arrived: dict[int, Lanes]) -> None:
        """Copies land."""
        for number, landed in arrived.items():
            copy = self._copies.get(number)
            if copy is None:
                continue
            self._close(copy, copy.pending & landed, site.line)
            copy.pending = copy.pending & ~landed
            if not copy.pending.any():
                del self._copies[number]

    def on_chunk_end(self, chunk: Chunk) -> None:
        """Copies that nobody waited for are recorded as such."""
        for copy in self._copies.values():
            self._close(copy, copy.pending, None)
        self._copies = {}

    def records(self) -> tuple[InFlight, ...]:
        """One record for each pair of lines, in source order."""
        ordered = sorted(self._totals.items(), key=lambda item: [line or 0 for line in item[0]])
        return tuple(_record(*key, *total) for key, total in ordered)

    def _note(self, key: Key, active: Lanes, amount: int) -> None:
        counts = self._executed.get(key)
        if counts is None:
            counts = self._executed[key] = np.zeros(self._warps, np.int64)
        compiled.mark_warps(active, counts, amount)

    def _close(self, copy: _Copy, lanes: Lanes, waited: int | None) -> None:
        warps = np.zeros(self._warps, np.int64)
        compiled.mark_warps(lanes, warps, 1)
        if not warps.any():
            return
        key = (copy.site.line, copy.committed, waited)
        total = self._totals.setdefault(key, [0, 0, {}])
        total[0] += int(warps.sum())
        total[1] += copy.nbytes * int(lanes.sum()) // max(int(copy.active.sum()), 1)
        for done, counts in self._executed.items():
            ran = counts - copy.before.get(done, 0)
            amount = int((ran * warps).sum())
            if amount:
                total[2][done] = total[2].get(done, 0) + amount


def _record(
    issued: int,
    committed: int | None,
    waited: int | None,
    copies: int,
    nbytes: int,
    ran: dict[Key, int],
) -> InFlight:
    def of(what: str) -> dict[int, int]:
        return {line: count for (name, line), count in sorted(ran.items()) if name == what}

    return InFlight(
        issued,
        committed,
        waited,
        copies,
        nbytes,
        of("global load"),
        of("shared load"),
        of("global store"),
        of("shared store"),
        of("arithmetic"),
    )
