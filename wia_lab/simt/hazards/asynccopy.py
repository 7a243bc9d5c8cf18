"""Asynchronous copies: each is issued, committed, waited for, and published by a barrier.

A copy's destination belongs to it from issue until it has landed, that is, until the lane that
copies has waited for it; so does its source, against writes. Landed data is seen by the lane that
copied it, and by others after a barrier: to the race detector a landing is a write at the wait.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from wia_lab.simt import compiled
from wia_lab.simt.compiled_hazards import LANDING, LOAD, READ_AFTER_WRITE, STORE, WRITE_AFTER_READ
from wia_lab.simt.events import Access
from wia_lab.simt.hazards.copy_history import Copy, History
from wia_lab.simt.hazards.found import Findings, Hazard
from wia_lab.simt.hazards.shadow import cell_bytes

if TYPE_CHECKING:
    from wia_lab.simt.events import AsyncCopy, Chunk, Launch, Site
    from wia_lab.simt.hazards.order import Order
    from wia_lab.simt.hazards.race_text import Conflict
    from wia_lab.simt.hazards.races import Races
    from wia_lab.simt.hazards.uninitialised import Uninitialised
    from wia_lab.simt.memory import Space


class _Flights:
    """Which cells of a space copies are under way to, or from: a copy's number + 1 each."""

    def __init__(self, space: Space) -> None:
        self.cell = cell_bytes(space)
        self.handles = np.zeros(-(-space.data.nbytes // self.cell), np.int32)
        self.copies: set[int] = set()

    def cells(self, offsets: np.ndarray, lanes: np.ndarray, nbytes: int) -> np.ndarray:
        """Cells that the lanes' bytes cover."""
        first = offsets[lanes] // self.cell
        return (first[:, None] + np.arange(-(-nbytes // self.cell))).ravel()


class Copies:
    """Follows every copy from its issue to its landing."""

    def __init__(
        self, findings: Findings, order: Order, races: Races, uninitialised: Uninitialised
    ) -> None:
        self.findings, self.order = findings, order
        self.races, self.uninitialised = races, uninitialised
        self.history = History(findings, order)
        races.copies = self

    def begin(self, launch: Launch) -> None:
        """A launch begins."""
        self.history.begin(launch)
        self.under_way = False

    def begin_chunk(self, chunk: Chunk) -> None:
        """A chunk begins: no copy is under way."""
        self.under_way = False
        self._copies: dict[int, Copy] = {}
        self._into: dict[Space, _Flights] = {}
        self._from: dict[Space, _Flights] = {}
        self._issues: dict[int, Copy] = {}
        self._landings: dict[int, Copy] = {}
        self._blamed: set[int] = set()
        self.history.begin_chunk(chunk.lanes)

    # Events

    def issue(self, event: AsyncCopy) -> None:
        """Lanes issued a copy."""
        self._check_direction(event)
        self._check_busy(event)
        lanes = event.active
        shadow = self.races.shadow(event.destination)
        moment = self.order.now
        if shadow is not None:
            moment = self.races.touch(shadow, STORE, _into(event, lanes, event.site))
        copy = Copy.of(event, moment)
        self._copies[event.number] = self._issues[moment] = copy
        self._fly(self._into, event.destination, event.destination_offsets, lanes, event)
        reads = lanes & ~event.zero_filled
        source = self.races.shadow(event.source)
        if source is not None:
            offsets = np.ascontiguousarray(event.source_offsets)
            self.races.touch(
                source,
                LOAD,
                Access("load", event.source, offsets, event.nbytes, reads, event.site),
            )
            self._fly(self._from, event.source, event.source_offsets, reads, event)
        self.under_way = True

    def _fly(
        self,
        table: dict[Space, _Flights],
        space: Space,
        offsets: np.ndarray,
        lanes: np.ndarray,
        event: AsyncCopy,
    ) -> None:
        flights = table.get(space)
        if flights is None:
            flights = table[space] = _Flights(space)
        flights.handles[flights.cells(offsets, lanes, event.nbytes)] = event.number + 1
        flights.copies.add(event.number)

    def commit(self, lanes: np.ndarray, copies: dict[int, np.ndarray], site: Site) -> None:
        """Lanes closed a group."""
        parts = ((self._copies[number], part) for number, part in copies.items())
        self.history.close(lanes, parts, self.order.tick(site))

    def wait(self, lanes: np.ndarray, arrived: dict[int, np.ndarray], site: Site) -> None:
        """Lanes waited, and some copies have landed for them."""
        self.history.wait(lanes, arrived.values(), self.order.tick(site))
        for number, part in arrived.items():
            copy = self._copies[number]
            landed = part & copy.pending
            copy.pending &= ~part
            self._land(copy, landed, site)
        self.under_way = any(flights.copies for flights in self._into.values())

    def _land(self, copy: Copy, lanes: np.ndarray, site: Site) -> None:
        event = copy.event
        over = not copy.pending.any()
        for table, space, offsets, part in (
            (self._into, event.destination, event.destination_offsets, lanes),
            (self._from, event.source, event.source_offsets, lanes & ~event.zero_filled),
        ):
            flights = table.get(space)
            if flights is None:
                continue
            cells = flights.cells(offsets, part, event.nbytes)
            flights.handles[cells[flights.handles[cells] == event.number + 1]] = 0
            if over:
                flights.copies.discard(event.number)
        self.uninitialised.written(
            event.destination, event.destination_offsets, lanes, event.nbytes
        )
        shadow = self.races.shadow(event.destination)
        if shadow is not None:
            self._landings[self.races.touch(shadow, LANDING, _into(event, lanes, site))] = copy

    def access(self, access: Access) -> np.ndarray:
        """Look for lanes that touch what a copy holds; returns the active lanes that do not."""
        flights = self._into.get(access.space)
        if flights is not None and flights.copies:
            hit, rows = self._hits(flights, access.offsets, access.active, access.nbytes)
            for lane, cell, handle in rows:
                self._touched(access, lane, cell * flights.cell, self._copies[handle - 1])
            if rows:
                return access.active & ~hit
        flights = self._from.get(access.space)
        if flights is not None and flights.copies and access.kind != "load":
            _, rows = self._hits(flights, access.offsets, access.active, access.nbytes)
            for lane, cell, handle in rows:
                self._source_written(access, lane, cell * flights.cell, self._copies[handle - 1])
        return access.active

    def _hits(
        self, flights: _Flights, offsets: np.ndarray, active: np.ndarray, nbytes: int
    ) -> tuple[np.ndarray, list[list[int]]]:
        """The lanes that touch a cell in flight, and (lane, cell, handle) once for each copy."""
        hit = np.zeros(active.size, bool)
        rows = np.zeros((active.size if self._copies else 0, 3), np.int64)
        count = compiled.in_flight(
            np.ascontiguousarray(offsets), active, nbytes, flights.cell, flights.handles, hit, rows
        )
        if not count:
            return hit, []
        _, first = np.unique(rows[:count, 2], return_index=True)
        return hit, rows[np.sort(first)].tolist()

    def end_chunk(self) -> None:
        """The chunk ends: say what was never waited for."""
        for copy in self._copies.values():
            if copy.pending.any() and copy.event.site.number not in self._blamed:
                self._never_waited(copy)

    # Reports

    def explains(self, conflict: Conflict, moment: int, now: int) -> bool:
        """Whether a conflict is a copy's, and so this detector's to report."""
        before, here = self._issues.get(moment), self._issues.get(now)
        if here is not None and conflict.site is here.event.site:
            if before is None or moment == now:
                self._reused(conflict, same=moment == now)
            return True
        if before is not None and conflict.other_site is before.event.site:
            return True  # it touched what is in flight, which `access` has reported
        landed = self._landings.get(moment)
        if landed is not None:
            self._unpublished(conflict, landed)
            return True
        return False

    def _add(
        self,
        site: Site,
        other: Site,
        text: str,
        threads: tuple[int, ...],
        space: Space,
        offset: int,
        *,
        way_out: str = "",
    ) -> None:
        findings = self.findings
        findings.add(
            Hazard(
                "async-copy",
                "error",
                site.line,
                other.line,
                f"{findings.at(site)}: {text}{way_out and f': {way_out}'}",
                tuple(findings.thread(each) for each in threads),
                space.name,
                space.index_of(offset),
                site.file,
                way_out=way_out,
            )
        )

    def _copier(self, copy: Copy, offset: int) -> int:
        """The lane whose part of a copy covers a byte of the destination."""
        begin = copy.event.destination_offsets
        covers = copy.event.active & (begin <= offset) & (offset < begin + copy.event.nbytes)
        return int(np.argmax(covers))

    def _check_direction(self, event: AsyncCopy) -> None:
        """The instruction knows one direction: from global memory to shared."""
        source, destination = event.source, event.destination
        if not event.active.any() or (source.kind, destination.kind) == ("global", "shared"):
            return
        lane = int(np.argmax(event.active))
        me, offset = self.order.first + lane, int(event.destination_offsets[lane])
        turned = (source.kind, destination.kind) == ("shared", "global")
        way_out = "name the shared array first" if turned else "assign the elements instead"
        text = (
            f"{self.findings.thread(me)} copies from {source.kind} memory ({source.name}) into "
            f"{destination.place(offset)}, which is {destination.kind}: an asynchronous copy goes "
            f"from global to shared memory only, so {way_out}"
        )
        self._add(event.site, event.site, text, (me,), destination, offset)

    def _touched(self, access: Access, lane: int, offset: int, copy: Copy) -> None:
        """A lane touches the destination of a copy that is under way."""
        findings, event = self.findings, copy.event
        copier = self._copier(copy, offset)
        me, owner = self.order.first + lane, self.order.first + copier
        verb = {"load": "reads", "store": "writes", "atomic": "updates"}[access.kind]
        whose = "its own copy" if me == owner else f"the copy by {findings.thread(owner)}"
        published = "" if me == owner else ", and put cuda.syncthreads() after the wait"
        self._blamed.add(event.site.number)
        self._add(
            access.site,
            event.site,
            f"{findings.thread(me)} {verb} {access.space.place(offset)} while {whose} into it "
            f"({findings.at(event.site)}) is under way",
            (me, owner),
            access.space,
            offset,
            way_out=f"{self._advice(copy, copier)}{published}",
        )

    def _advice(self, copy: Copy, lane: int) -> str:
        """What the copying lane should have done to wait for its copy."""
        return self.history.advice(copy, lane, self._copies.values())

    def _source_written(self, access: Access, lane: int, offset: int, copy: Copy) -> None:
        event, me = copy.event, self.order.first + lane
        self._add(
            access.site,
            event.site,
            f"{self.findings.thread(me)} writes {access.space.place(offset)} while the copy on "
            f"{self.findings.at(event.site)} may still read it: wait for the copy first "
            "(cuda.cp_async_wait_all())",
            (me,),
            access.space,
            offset,
        )

    def _check_busy(self, event: AsyncCopy) -> None:
        """A second copy into cells that a first is under way to."""
        flights = self._into.get(event.destination)
        if flights is None or not flights.copies:
            return
        _, rows = self._hits(flights, event.destination_offsets, event.active, event.nbytes)
        for lane, cell, handle in rows:
            copy, offset = self._copies[handle - 1], cell * flights.cell
            me = self.order.first + lane
            self._blamed.add(copy.event.site.number)
            self._add(
                event.site,
                copy.event.site,
                f"{self.findings.thread(me)} starts a copy into "
                f"{event.destination.place(offset)} while the copy on "
                f"{self.findings.at(copy.event.site)} into it is under way",
                (me,),
                event.destination,
                offset,
                way_out=self._advice(copy, self._copier(copy, offset)),
            )

    def _reused(self, conflict: Conflict, *, same: bool) -> None:
        findings, place = self.findings, conflict.space.place(conflict.offset)
        me, other = findings.thread(conflict.thread), findings.thread(conflict.other)
        there = findings.at(conflict.other_site)
        if same:
            text = f"{me} and {other} both copy into {place}"
            way_out = "give each element one copying thread"
        elif conflict.kind == WRITE_AFTER_READ:
            text = (
                f"{me} starts a copy into {place}, which {other} reads on {there}, with no barrier "
                "between"
            )
            way_out = "put cuda.syncthreads() before the copy, so that the buffer is free"
        else:
            text = (
                f"{me} starts a copy into {place}, which {other} wrote on {there}, with no barrier "
                "between"
            )
            way_out = "put cuda.syncthreads() before the copy"
        self._add(
            conflict.site,
            conflict.other_site,
            text,
            (conflict.thread, conflict.other),
            conflict.space,
            conflict.offset,
            way_out=way_out,
        )

    def _unpublished(self, conflict: Conflict, copy: Copy) -> None:
        findings = self.findings
        verb = "reads" if conflict.kind == READ_AFTER_WRITE else "writes"
        self._add(
            conflict.site,
            copy.event.site,
            f"{findings.thread(conflict.thread)} {verb} {conflict.space.place(conflict.offset)}, "
            f"which {findings.thread(conflict.other)} copied ({findings.at(copy.event.site)}) and "
            f"waited for on {findings.at(conflict.other_site)}, with no barrier after the wait",
            (conflict.thread, conflict.other),
            conflict.space,
            conflict.offset,
            way_out=(
                "a wait covers a thread's own copies only, so put cuda.syncthreads() after it"
            ),
        )

    def _never_waited(self, copy: Copy) -> None:
        event = copy.event
        lane = int(np.argmax(copy.pending))
        me, offset = self.order.first + lane, int(event.destination_offsets[lane])
        findings = self.findings
        findings.add(
            Hazard(
                "async-copy",
                "warning",
                event.site.line,
                None,
                f"{findings.at(event.site)}: {findings.thread(me)} copies into "
                f"{event.destination.place(offset)} and ends without waiting for it: call "
                "cuda.cp_async_wait_all() before the data is used, or leave the copy out",
                (findings.thread(me),),
                event.destination.name,
                event.destination.index_of(offset),
                event.site.file,
            ),
            times=int(np.count_nonzero(copy.pending)),
        )


def _into(event: AsyncCopy, lanes: np.ndarray, site: Site) -> Access:
    """A copy's write to its destination, as an access."""
    offsets = np.ascontiguousarray(event.destination_offsets)
    return Access("store", event.destination, offsets, event.nbytes, lanes, site)
