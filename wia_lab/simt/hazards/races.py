"""Races: two threads touch one cell, at least one writes, and nothing orders the two.

Atomics do not race with each other. Memory that no instruction writes, constant and local memory
are left alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wia_lab.simt.compiled_hazards import (
    ATOMIC,
    ATOMIC_AFTER_WRITE,
    LOAD,
    READ_AFTER_ATOMIC,
    SAME_VALUE,
    STORE,
    WRITE_AFTER_ATOMIC,
    WRITE_AFTER_WRITE,
)
from wia_lab.simt.hazards.found import Findings, Hazard, Severity
from wia_lab.simt.hazards.race_text import (
    Conflict,
    overlap_message,
    protocol_message,
    race_message,
    remedy,
)
from wia_lab.simt.hazards.shadow import Conflicts, Event, Shadow

if TYPE_CHECKING:
    import numpy as np

    from wia_lab.simt.events import Access, Launch
    from wia_lab.simt.hazards.fences import Fences
    from wia_lab.simt.hazards.order import Order
    from wia_lab.simt.memory import Space

MODES = {"load": LOAD, "store": STORE, "atomic": ATOMIC}
AFTER_ATOMIC = frozenset({READ_AFTER_ATOMIC, WRITE_AFTER_ATOMIC})


GUARDED = (
    "their order hangs on a flag that is set with a plain store after a fence, which cannot be "
    "followed here; set the flag with cuda.atomic.exch"
)


class Races:
    """Compares every access with those before it."""

    def __init__(self, findings: Findings, order: Order, fences: Fences) -> None:
        self.findings, self.order, self.fences = findings, order, fences
        self.copies: Any = None  # the detector of copies: says what their conflicts are

    def begin(self, launch: Launch) -> None:
        """A launch begins."""
        self.sites = launch.sites
        self.shadows: dict[Space, Shadow | None] = {}  # None: no race can be there
        self._spare: dict[tuple[object, ...], Shadow] = {}
        self._reported: dict[tuple[Any, ...], tuple[Shadow, int, int, int]] = {}
        self._pairs: dict[tuple[Any, ...], tuple[int, int]] = {}
        self._guarded: list[tuple[tuple[Any, ...], int, int]] = []
        self._by_hand: list[tuple[tuple[Any, ...], tuple[Any, ...]]] = []
        self._apart: list[tuple[int, np.ndarray, np.ndarray]] = []

    # Events

    def access(self, access: Access) -> None:
        """One load, store or atomic."""
        try:
            shadow = self.shadows[access.space]
        except KeyError:
            shadow = self._open(access.space)
        if shadow is not None:
            self.touch(shadow, MODES[access.kind], access)

    def touch(self, shadow: Shadow, mode: int, access: Access) -> int:
        """Lanes touch cells now; returns the moment."""
        order = self.order
        event = Event(mode, access, order.tick(access.site), order.when)
        if shadow.is_shared:
            found = shadow.add(event)
            if found:
                self._report(shadow, found)
        else:
            conflicts = shadow.compare(event)
            if conflicts is not None:
                self._report(shadow, [conflicts])
        return event.moment

    def shadow(self, space: Space) -> Shadow | None:
        """The shadow of a space, or None where no race can be."""
        return self.shadows[space] if space in self.shadows else self._open(space)

    def _open(self, space: Space) -> Shadow | None:
        shadow = None
        if space.kind == "shared" or (space.kind == "global" and space.written):
            key = (space.number, space.name, space.line, space.data.nbytes, space.granule)
            shadow = self._spare.pop(key, None) if space.kind == "shared" else None
            if shadow is None:
                shadow = Shadow(space, self.order, len(self.sites))
            if shadow.is_shared:
                shadow.begin_chunk(space)
        self.shadows[space] = shadow
        return shadow

    def passed(self, blocks: np.ndarray) -> None:
        """Blocks passed a barrier."""
        for shadow in self.shadows.values():
            if shadow is not None and shadow.log:
                found = shadow.passed(blocks)
                if found:
                    self._report(shadow, found)

    def diverged(self, waiting: np.ndarray, missing: np.ndarray) -> None:
        """Some lanes went around a barrier: what that leaves unordered is not a second fault."""
        self._apart.append((self.order.first, waiting, missing))

    def end_chunk(self) -> None:
        """The chunk's memory goes."""
        everyone = self.order.passing(self.order.full)
        for space, shadow in list(self.shadows.items()):
            if space.kind == "global":
                continue
            del self.shadows[space]
            if shadow is not None:
                self._report(shadow, shadow.passed(everyone) or [])
                key = (space.number, space.name, space.line, space.data.nbytes, space.granule)
                self._spare[key] = shadow

    def end(self) -> None:
        """The launch has ended: count, and drop what follows from another fault."""
        for cause, (shadow, kind, before, here) in self._reported.items():
            self.findings.count(cause[0], int(shadow.seen[kind, before, here]) - 1)
        for cause, pair in self._pairs.items():
            if any(_parted(pair, *apart) for apart in self._apart):
                self.findings.drop(cause)
        for cause, flag in self._by_hand:
            if flag in self._pairs:
                self.findings.drop(cause)
        for cause, thread, moment in self._guarded:
            if self.fences.followed_badly(thread, moment):
                self.findings.soften(cause, GUARDED)
        self.findings.drop_covered("write-overlap", "race")
        self.shadows.clear()
        self._spare.clear()
        self._reported.clear()

    # Reports

    def _report(self, shadow: Shadow, found: list[Conflicts]) -> None:
        for rows, known in found:
            for row in rows.tolist():
                self._report_row(shadow, row, known)

    def _report_row(self, shadow: Shadow, row: list[int], known: np.ndarray) -> None:
        kind, cell, lane, other, moment, now = row
        before, here = int(self.order.site_at[moment]), int(self.order.site_at[now])
        if known.size and known[lane]:
            offset = cell * shadow.cell
            knowledge = int(known[lane])
            if self.fences.ordered(
                knowledge, other, moment, (shadow.space, offset), is_atomic=kind in AFTER_ATOMIC
            ):
                return
            shadow.seen[kind, before, here] += 1
            if shadow.seen[kind, before, here] > 1:
                return
        conflict = Conflict(
            kind,
            shadow.space,
            cell * shadow.cell,
            int(self.order.first + lane),
            other,
            self.sites[here],
            self.sites[before],
        )
        if self.copies is not None and self.copies.explains(conflict, moment, now):
            return
        self._add(shadow, conflict, moment, now)

    def _add(self, shadow: Shadow, conflict: Conflict, moment: int, now: int) -> None:
        findings, space = self.findings, shadow.space
        here, before = conflict.site, conflict.other_site
        kind, text = "race", race_message
        severity: Severity = "error"
        if conflict.kind == SAME_VALUE:
            kind, severity, text = "write-overlap", "warning", overlap_message
        elif self._is_flag(conflict, moment, now):
            severity, text = "warning", protocol_message
        lines = frozenset(((here.file, here.line), (before.file, before.line)))
        cause: tuple[object, ...] = (kind, severity, lines, space.name)
        flag = ("race", "warning", "by hand", here.file, space.name)
        if text is protocol_message:
            cause = flag
        elif self._freed_twice(conflict, moment, now):
            self._by_hand.append((cause, flag))
        hazard = Hazard(
            kind,
            severity,
            here.line,
            before.line,
            text(conflict, findings),
            (findings.thread(conflict.thread), findings.thread(conflict.other)),
            space.name,
            space.index_of(conflict.offset),
            here.file,
            way_out=remedy(conflict, findings) if text is race_message else "",
        )
        findings.add(hazard, cause=cause)
        self._reported[cause, conflict.kind, here.number, before.number] = (
            shadow,
            conflict.kind,
            before.number,
            here.number,
        )
        self._pairs.setdefault(cause, (conflict.thread, conflict.other))
        if severity == "error" and self.fences.enabled:
            self._guarded.append((cause, conflict.other, moment))

    def _is_flag(self, conflict: Conflict, moment: int, now: int) -> bool:
        """A plain store after a fence to a cell that others use atomically: a flag set by hand."""
        fences = self.fences
        if not fences.enabled:
            return False
        if conflict.kind == ATOMIC_AFTER_WRITE and fences.fenced_before(conflict.other, moment):
            fences.plain_flag = True
            return True
        return conflict.kind == WRITE_AFTER_ATOMIC and fences.fenced_before(conflict.thread, now)

    def _freed_twice(self, conflict: Conflict, moment: int, now: int) -> bool:
        """Two plain stores, each after a fence: of one flag, if others use the cell atomically."""
        return (
            self.fences.enabled
            and conflict.kind in (WRITE_AFTER_WRITE, SAME_VALUE)
            and self.fences.fenced_before(conflict.other, moment)
            and self.fences.fenced_before(conflict.thread, now)
        )


def _parted(pair: tuple[int, int], first: int, waiting: np.ndarray, missing: np.ndarray) -> bool:
    """Whether a barrier that lanes in `missing` went around is what the two lack."""
    lanes = [thread - first for thread in pair]
    if any(not 0 <= lane < waiting.size for lane in lanes):
        return False
    concerned = waiting | missing
    return bool(concerned[lanes].all() and missing[lanes].any())
