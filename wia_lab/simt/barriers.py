"""Where lanes wait for each other: block and grid barriers, and warp operations.

A barrier lets a block go when all its live lanes have come; a warp operation runs when every live
lane that its mask names has. What cannot be met any more is reported, and then let go, so that the
launch ends and the report can be read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from wia_lab.simt.groups import ENDED, RETURNED, Group, Waiter
from wia_lab.simt.values import blend

if TYPE_CHECKING:
    from wia_lab.simt.events import Site
    from wia_lab.simt.program import Barrier, WarpOperation
    from wia_lab.simt.scheduler import Scheduler

FULL_WARP = 0xFFFFFFFF
WARP = 32

Part = tuple[Group, tuple[Any, ...]]


class WaitingRoom:
    """All lanes of a chunk that wait."""

    def __init__(self, scheduler: Scheduler) -> None:
        self.scheduler = scheduler
        self.machine = scheduler.machine
        self.listeners = scheduler.listeners
        self.waiters: list[Waiter] = []
        self._told: set[object] = set()
        self._mixed = np.zeros(scheduler.machine.chunk.blocks, bool)  # lanes met at two barriers

    # Arrivals

    def block(self, group: Group, end: Barrier, values: tuple[Any, ...]) -> Group | None:
        """Lanes come to a block barrier, or to the whole grid's; they stand behind it already."""
        if group.count == self.scheduler.live_count and not self.waiters:
            self._pass_barrier(end, group.bits, [(group, values)])
            return group
        self._hold(end.scope, end, group, values)
        self._try_barriers()
        return None

    def warp(self, group: Group, end: WarpOperation, values: tuple[Any, ...]) -> Group | None:
        """Lanes come to a warp operation; they stand behind it already."""
        members = mask_of(values)
        whole = group.count == self.scheduler.live_count
        if not self.waiters and (
            (whole and members is None) or self._all_come(group.bits, members)
        ):
            self._operate(end, [(group, values)], group.bits)
            return group
        self._hold("warp", end, group, values)
        self._try_warps()
        return None

    def lanes_ended(self) -> None:
        """Lanes have ended: those that waited for them may go on."""
        if self.waiters:
            self._try_warps()
            self._try_barriers()

    def _hold(self, kind: str, end: Any, group: Group, values: tuple[Any, ...]) -> None:
        group.frame.positions.append(group.segment.index)
        self.waiters.append(Waiter(kind, end.site, end, group, values))

    def _take(self, waiters: list[Waiter], lanes: np.ndarray) -> list[tuple[Waiter, Part]]:
        """Take `lanes` out of the waiters; a waiter with lanes left stays."""
        taken = []
        for waiter in waiters:
            group = waiter.group
            bits = group.bits & lanes
            count = int(np.count_nonzero(bits))
            if not count:
                continue
            if count == group.count:
                self.waiters.remove(waiter)
                group.frame.positions.remove(group.segment.index)
                taken.append((waiter, (group, waiter.values)))
            else:
                waiter.group = group.part(group.bits & ~lanes, group.count - count)
                taken.append((waiter, (group.part(bits, count), waiter.values)))
        return taken

    # Barriers

    def _try_barriers(self) -> None:
        scheduler, chunk = self.scheduler, self.machine.chunk
        at_barrier = [waiter for waiter in self.waiters if waiter.kind == "block"]
        if at_barrier:
            waiting = sum(scheduler.per_block(waiter.group.bits) for waiter in at_barrier)
            met = (waiting == scheduler.live_in_block) & (waiting > 0)
            if met.any():
                self._meet(at_barrier, np.repeat(met, chunk.stride) & scheduler.live)
        at_grid = [waiter for waiter in self.waiters if waiter.kind == "grid"]
        if at_grid and sum(waiter.group.count for waiter in at_grid) == scheduler.live_count:
            self._meet(at_grid, scheduler.live.copy())

    def _meet(self, waiters: list[Waiter], lanes: np.ndarray) -> None:
        """Whole blocks wait: let them go, and say so if not all came to the same barrier."""
        taken = self._take(waiters, lanes)
        by_end: dict[int, list[tuple[Waiter, Part]]] = {}
        for waiter, part in taken:
            by_end.setdefault(id(waiter.end), []).append((waiter, part))
        if len(by_end) > 1:
            self._report_mixture(taken)
        for entries in by_end.values():
            parts = [part for _, part in entries]
            bits = _union(parts)
            self._pass_barrier(entries[0][0].end, bits, parts, everyone=lanes)
        for _, (group, _) in taken:
            self.scheduler.add(group)

    def _pass_barrier(
        self, end: Barrier, bits: np.ndarray, parts: list[Part], everyone: np.ndarray | None = None
    ) -> None:
        everywhere = end.scope == "grid"
        self._report_missing(end.site, np.ones(bits.size, bool) if everywhere else bits, bits)
        if everywhere:
            self.listeners.on_grid_barrier(end.site, bits)
        else:
            self.listeners.on_barrier(end.site, bits)
        if end.vote is not None:
            self._vote(end, bits if everyone is None else everyone, parts)

    def _vote(self, end: Barrier, everyone: np.ndarray, parts: list[Part]) -> None:
        chunk = self.machine.chunk
        true = np.zeros(chunk.lanes, bool)
        for group, values in parts:
            true |= group.bits & (np.asarray(values[0]) != 0)
        counts = np.count_nonzero(true.reshape(chunk.blocks, -1), axis=1)
        present = np.count_nonzero(everyone.reshape(chunk.blocks, -1), axis=1)
        found = {"count": counts, "and": counts == present, "or": counts > 0}[end.vote]
        result = found.astype(np.int32)
        value = result[0] if chunk.blocks == 1 else np.repeat(result, chunk.stride)
        for group, _ in parts:
            put(group, end.target, value)

    def _report_mixture(self, taken: list[tuple[Waiter, Part]]) -> None:
        """Lanes of one block wait at several barriers: at two lines, or at two copies of one."""
        inside = self._mixture(taken)
        entries = [
            (waiter.site, group.bits & inside)
            for waiter, (group, _) in taken
            if (group.bits & inside).any()
        ]
        if not entries:
            return
        sites: dict[tuple[object, ...], Site] = {}
        for site, _ in entries:
            sites.setdefault((site.file, site.line), site)
        reason = "copied" if len(sites) == 1 else "elsewhere"
        all_sites = tuple(sites.values()) if len(sites) > 1 else (entries[0][0],) * 2
        key = (reason, *(site.number for site in all_sites))
        if key not in self._told:
            self._told.add(key)
            first = entries[0][1]
            rest = np.logical_or.reduce([bits for _, bits in entries]) & ~first
            self.listeners.on_divergent_barrier(all_sites, first, rest, reason)

    def _mixture(self, taken: list[tuple[Waiter, Part]]) -> np.ndarray:
        """Lanes of the blocks whose lanes wait at more than one barrier."""
        by_end: dict[int, np.ndarray] = {}
        for waiter, (group, _) in taken:
            here = self.scheduler.per_block(group.bits) > 0
            by_end[id(waiter.end)] = by_end.get(id(waiter.end), False) | here
        mixed = np.sum(list(by_end.values()), axis=0) > 1
        self._mixed |= mixed
        return np.repeat(mixed, self.machine.chunk.stride)

    def _report_missing(self, site: Site, wanted: np.ndarray, bits: np.ndarray) -> None:
        """Lanes of the blocks in `wanted` have ended: around the barrier, or by an early return."""
        chunk = self.machine.chunk
        if self._nobody_ended() or site.number in self._told:
            return
        blocks = wanted.reshape(chunk.blocks, chunk.stride).any(axis=1) & ~self._mixed
        self._report_ended(site, bits, np.repeat(blocks, chunk.stride), chunk.stride)

    def _nobody_ended(self) -> bool:
        chunk = self.machine.chunk
        return self.scheduler.live_count == chunk.blocks * chunk.threads

    def _report_ended(
        self,
        site: Site,
        bits: np.ndarray,
        wanted: np.ndarray,
        together: int,
        *,
        tell_returned: bool = True,
    ) -> None:
        """Name lanes in `wanted` that have ended and will never come; `together` lanes wait."""
        scheduler = self.scheduler
        here = wanted & self.machine.chunk.full & ~scheduler.live
        returned = (scheduler.exits == RETURNED) & (scheduler.exit_line < site.line)
        around = here & ((scheduler.exits == ENDED) | (scheduler.exits == RETURNED)) & ~returned
        gone = here & returned if tell_returned else np.zeros_like(here)
        for lanes, reason in ((around, "exited"), (gone, "returned")):
            if lanes.any():
                self._told.add(site.number)
                waiting = bits & np.repeat(lanes.reshape(-1, together).any(axis=1), together)
                waiting = waiting if waiting.any() else bits
                self.listeners.on_divergent_barrier((site,), waiting, lanes, reason)

    # Warp operations

    def _all_come(self, bits: np.ndarray, members: np.ndarray | int | None) -> bool:
        return not self._missing(bits, bits, members).any()

    def _missing(
        self, bits: np.ndarray, present: np.ndarray, members: np.ndarray | int | None
    ) -> np.ndarray:
        """Live lanes that the masks of `bits` name, in their warps, and that have not come."""
        return self.scheduler.live & ~present & self._named(bits, members)

    def _named(self, bits: np.ndarray, members: np.ndarray | int | None) -> np.ndarray:
        """Lanes that the masks of `bits` name, in their warps."""
        arrived = np.repeat(bits.reshape(-1, WARP).any(axis=1), WARP)
        if members is None:
            return arrived
        named = np.where(bits, members, 0).astype(np.uint64)
        union = np.repeat(np.bitwise_or.reduce(named.reshape(-1, WARP), axis=1), WARP)
        lane = np.arange(bits.size, dtype=np.uint64) % np.uint64(WARP)
        return arrived & (((union >> lane) & np.uint64(1)) != 0)

    def _try_warps(self) -> None:
        for at_site in self._warp_waiters().values():
            present = _union([(waiter.group, ()) for waiter in at_site])
            missing = np.zeros(present.size, bool)
            for waiter in at_site:
                missing |= self._missing(waiter.group.bits, present, mask_of(waiter.values))
            complete = np.repeat(~missing.reshape(-1, WARP).any(axis=1), WARP) & present
            if complete.any():
                self._run_warps(at_site, complete)

    def _warp_waiters(self) -> dict[tuple[object, ...], list[Waiter]]:
        by_site: dict[tuple[object, ...], list[Waiter]] = {}
        for waiter in self.waiters:
            if waiter.kind == "warp":
                key = (waiter.site.file, waiter.site.line, waiter.end.name)
                by_site.setdefault(key, []).append(waiter)
        return by_site

    def _run_warps(self, waiters: list[Waiter], lanes: np.ndarray) -> None:
        taken = self._take(waiters, lanes)
        parts = [part for _, part in taken]
        self._operate(taken[0][0].end, parts, _union(parts))
        for group, _ in parts:
            self.scheduler.add(group)

    def _operate(self, end: WarpOperation, parts: list[Part], lanes: np.ndarray) -> None:
        values = parts[0][1]
        for group, other in parts[1:]:
            values = tuple(blend(a, b, group.bits) for a, b in zip(values, other, strict=True))
        members = mask_of(values)
        named = np.full(lanes.size, FULL_WARP if members is None else members, np.uint32)
        self.listeners.on_warp_sync(end.site, lanes, named, end.name)
        if not self._nobody_ended() and end.site.number not in self._told:
            named_lanes = self._named(lanes, members)
            shuffles = end.name.startswith("shfl")  # CUDA lets votes name lanes that have returned
            self._report_ended(end.site, lanes, named_lanes, WARP, tell_returned=shuffles)
        result = end.compute(self.machine, values, lanes, named)
        for group, _ in parts:
            put(group, end.target, result)

    # What cannot be met

    def force(self) -> bool:
        """Let go those that wait for what cannot come. False when nobody does, or for a spinner."""
        if by_site := self._warp_waiters():
            for waiters in by_site.values():
                present = _union([(waiter.group, ()) for waiter in waiters])
                self._report_unmet(waiters, present)
                self._run_warps(waiters, present)
            return True
        if self.scheduler.parked or not self.waiters:
            return False
        lanes = _union([(waiter.group, ()) for waiter in self.waiters])
        self._meet(list(self.waiters), lanes)
        return True

    def _report_unmet(self, waiters: list[Waiter], present: np.ndarray) -> None:
        missing = np.zeros(present.size, bool)
        for waiter in waiters:
            missing |= self._missing(waiter.group.bits, present, mask_of(waiter.values))
        others = [w for w in self.waiters if w.site.line != waiters[0].site.line]
        sites = (waiters[0].site, *(w.site for w in others if (w.group.bits & missing).any()))
        self.listeners.on_divergent_barrier(sites, present, missing, "elsewhere")


def mask_of(values: tuple[Any, ...]) -> Any:
    """The member mask of a warp operation's operands; None for all 32 lanes of every warp."""
    mask = values[0]
    if isinstance(mask, np.ndarray):
        return mask.astype(np.int64) & FULL_WARP
    return None if int(mask) & FULL_WARP == FULL_WARP else int(mask) & FULL_WARP


def put(group: Group, slot: int, value: Any) -> None:
    """Set a variable of the group's frame, in the group's lanes."""
    slots = group.slots
    merge = group.frame.program.merge_set(group.frame.positions)
    slots[slot] = blend(slots[slot], value, group.bits) if slot in merge else value


def _union(parts: list[Part]) -> np.ndarray:
    bits = parts[0][0].bits
    for group, _ in parts[1:]:
        bits = bits | group.bits
    return bits
