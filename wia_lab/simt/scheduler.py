"""Runs a chunk of blocks: which group of threads goes next, and when those that wait go on.

One group runs one segment at a time. The group with the smallest key goes next, so lanes that are
behind catch up and meet the others (`wia_lab.simt.controlflow`). A group that goes round a loop
while nothing it reads changes stands aside until something does: that is how a lock's holder gets
to run in lockstep.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from wia_lab.errors import SimulationLimit
from wia_lab.simt.barriers import WaitingRoom
from wia_lab.simt.groups import ENDED, RETURNED, STOPPED, Frame, Group, Parked
from wia_lab.simt.values import blend

if TYPE_CHECKING:
    from wia_lab.simt.events import Site
    from wia_lab.simt.machine import Machine
    from wia_lab.simt.program import Branch, Call, Edge, Program
    from wia_lab.simt.stepping import Tracer

MAX_SEGMENTS = 5_000_000  # a chunk: minutes of work
MAX_DEPTH = 64  # calls within calls


class Scheduler:
    """Runs one chunk to its end."""

    def __init__(
        self,
        machine: Machine,
        program: Program,
        arguments: list[Any],
        *,
        tracer: Tracer | None = None,
        warp_order: np.ndarray | None = None,
    ) -> None:
        self.tracer = tracer
        self.machine = machine
        self.listeners = machine.listeners
        chunk = machine.chunk
        self.live = chunk.full.copy()
        self.live_count = int(np.count_nonzero(self.live))
        self.live_in_block = np.full(chunk.blocks, chunk.threads)
        self.exits = np.zeros(chunk.lanes, np.int8)
        self.exit_line = np.zeros(chunk.lanes, np.int32)
        self.ready: dict[tuple[int, ...], Group] = {}
        self.parked: list[Group] = []
        self.frames: dict[tuple[object, ...], Frame] = {}
        self.room = WaitingRoom(self)
        self.budget = MAX_SEGMENTS
        self.failure: tuple[Site, int, BaseException] | None = None
        if warp_order is None:
            self._enter(program, arguments, (), self.live.copy())
        for turn, warp in enumerate(warp_order if warp_order is not None else ()):
            bits = np.zeros(chunk.lanes, bool)
            bits[32 * warp : 32 * warp + 32] = chunk.full[32 * warp : 32 * warp + 32]
            self._enter(program, arguments, (turn,), bits)

    def _enter(
        self, program: Program, arguments: list[Any], prefix: tuple[int, ...], bits: np.ndarray
    ) -> None:
        """Let lanes begin the kernel; those with a smaller prefix run first, as far as they can."""
        frame = Frame(self.machine, program, prefix)
        for slot, value in zip(program.argument_slots, arguments, strict=True):
            frame.slots[slot] = value
        frame.count = frame.entered = int(np.count_nonzero(bits))
        self.add(Group(frame, program.entry, program.entry_key, bits, frame.count))

    def run(self) -> None:
        """Run until every lane has ended."""
        while True:
            if self.parked:
                self._wake()
            if self.ready:
                key = min(self.ready) if len(self.ready) > 1 else next(iter(self.ready))
                group = self.ready.pop(key)
                group.frame.positions.remove(group.segment.index)
                self._execute(group)
            elif not self._unblock():
                return

    def add(self, group: Group) -> None:
        """Let a group run when its turn comes; it joins the group that already stands there."""
        key = group.full_key
        other = self.ready.get(key)
        if other is None:
            self.ready[key] = group
            group.frame.positions.append(group.segment.index)
        else:
            other.bits = other.bits | group.bits
            other.count += group.count
            other.reads = None

    def _execute(self, group: Group | None) -> None:
        machine = self.machine
        on_segment, tracer = self.listeners.on_segment, self.tracer
        while group is not None:
            segment, slots = group.segment, group.slots
            machine.running = group
            merge = group.merge = group.frame.program.merge_set(group.frame.positions)
            on_segment(segment, group.bits)
            for number, (target, compute) in enumerate(segment.steps):
                value = compute(group)
                if target in merge:
                    value = blend(slots[target], value, group.bits)
                slots[target] = value
                if tracer is not None:
                    tracer.executed(group, segment, number, target, value)
            if tracer is not None:
                tracer.ended(group, segment)
            self.budget -= 1
            if self.budget < 0:
                self._stop(group)
            group = segment.end.finish(self, group)
            if group is not None and (self.ready or self.parked):
                self.add(group)
                return

    def _stop(self, group: Group) -> None:
        where = group.segment.site
        raise SimulationLimit(
            f"{where.file.rpartition('/')[2]} line {where.line}: {where.function} still runs "
            f"after {MAX_SEGMENTS:,} steps: is there a loop that never ends, or should the "
            "launch be smaller?"
        )

    # Ends of segments, called by the `finish` of each kind

    def follow(self, group: Group, edge: Edge, values: list[Any] | None = None) -> Group | None:
        """Take an edge with all lanes; `values` are those of its copies, if read before."""
        slots = group.slots
        if edge.copies:
            if values is None:
                values = [slots[source] for _, source in edge.copies]
            for (target, _), value in zip(edge.copies, values, strict=True):
                slots[target] = (
                    blend(slots[target], value, group.bits) if target in group.merge else value
                )
        group.key = edge.step.apply(group.key)
        group.segment = edge.target
        if edge.spin is None:
            if edge.leaves_spin:
                self._left_loop(group)
            return group
        return self._went_round(group, edge)

    def split(self, group: Group, branch: Branch, taken: np.ndarray) -> Group | None:
        """Take both edges of a branch; lanes in `taken` go to the first."""
        count = int(np.count_nonzero(taken))
        if count == group.count:
            return self.follow(group, branch.edges[0])
        if count == 0:
            return self.follow(group, branch.edges[1])
        fallen = group.bits & ~taken
        self.listeners.on_branch(branch.site, taken, fallen)
        first, second = branch.edges
        sources = [group.slots[source] for _, source in second.copies]
        merge = group.merge
        parts = (group.part(taken, count), group.part(fallen, group.count - count))
        for part in parts:
            part.reads, part.parked = group.reads, group.parked
        parts[0].merge = merge | second.target.live_in
        ahead = self.follow(parts[0], first)
        parts[1].merge = merge | first.target.live_in
        behind = self.follow(parts[1], second, sources)
        for part in (ahead, behind):
            if part is not None:
                self.add(part)
        return None

    def leave(self, group: Group, value: Any, *, explicit: bool, line: int) -> Group | None:
        """Return from the frame; from the kernel's own, the lanes end."""
        frame = group.frame
        frame.count -= group.count
        if frame.parent is None:
            self.end(group.bits, group.count, RETURNED if explicit else ENDED, line)
            return None
        resume = frame.resume
        parent = frame.parent
        target = frame.target
        whole = group.count == frame.entered and len(parent.positions) == 1
        parent.slots[target] = value if whole else blend(parent.slots[target], value, group.bits)
        if frame.count == 0:
            parent.positions.remove(resume.segment.index)
            self.frames.pop((*frame.prefix, id(frame.program)), None)
        after = resume.part(group.bits, group.count)
        after.parked = resume.parked
        if resume.reads is not None and group.reads is not None:
            after.reads = resume.reads + group.reads
        return after

    def end(self, bits: np.ndarray, count: int, how: int, line: int = 0) -> None:
        """Lanes end."""
        self.live &= ~bits
        self.live_count -= count
        self.exits[bits] = how
        self.exit_line[bits] = line
        self.live_in_block -= self.per_block(bits)
        if self.live_count:
            self.room.lanes_ended()

    def per_block(self, bits: np.ndarray) -> np.ndarray:
        """How many of the lanes lie in each block of the chunk."""
        chunk = self.machine.chunk
        return np.count_nonzero(bits.reshape(chunk.blocks, chunk.stride), axis=1)

    def call(self, group: Group, call: Call) -> Group | None:
        """Enter a device function; lanes that call it from the same place share its frame."""
        prefix = group.full_key
        key = (*prefix, id(call.program))
        frame = self.frames.get(key)
        group.segment = call.after
        if frame is None:
            resume = group.part(group.bits, group.count)
            resume.reads, resume.parked = group.reads, group.parked
            frame = self.frames[key] = Frame(
                self.machine, call.program, prefix, group.frame, resume, call.target
            )
            if frame.depth > MAX_DEPTH:
                raise SimulationLimit(
                    f"{call.site.file.rpartition('/')[2]} line {call.site.line}: "
                    f"{call.program.name} calls itself more than {MAX_DEPTH} deep: end the "
                    "recursion sooner, or write a loop."
                )
            group.frame.positions.append(call.after.index)
        frame.count += group.count
        frame.entered += group.count
        for slot, operand in zip(call.program.argument_slots, call.operands, strict=True):
            frame.slots[slot] = blend(frame.slots[slot], operand(group), group.bits)
        inside = Group(frame, call.program.entry, call.program.entry_key, group.bits, group.count)
        inside.reads = None if group.reads is None else []
        return inside

    # Forward progress

    def _went_round(self, group: Group, edge: Edge) -> Group | None:
        """Begin a new round of a loop that waits for memory; stand aside if nothing has changed."""
        slots, machine = group.slots, self.machine
        state = tuple(slots[slot] for slot in edge.spin)
        before, reads = group.parked, group.reads
        group.reads = []
        now = Parked(edge.site, edge.spin, reads or [], machine.version, state)
        group.parked = now
        known = before is not None and before.loop is edge.spin and reads is not None
        if not known or before.version != machine.version:
            if before is not None:
                now.rescued = before.rescued
            return group
        if not _unchanged(before.state, state, group.bits):
            return group
        now.rescued = before.rescued
        self.parked.append(group)
        machine.watchers.append(_Watcher(group, now))
        group.frame.positions.append(group.segment.index)
        return None

    def _left_loop(self, group: Group) -> None:
        if group.parked is not None and group.parked.rescued:
            self.listeners.on_no_progress(group.parked.site, group.bits, True)
        group.parked = group.reads = None

    def _wake(self) -> None:
        for group in [each for each in self.parked if each.parked.woken]:
            self._unpark(group)
            self.add(group)

    def _unpark(self, group: Group) -> None:
        self.parked.remove(group)
        group.frame.positions.remove(group.segment.index)
        self.machine.watchers = [w for w in self.machine.watchers if w.group is not group]

    def _unblock(self) -> bool:
        """Nobody can run: let those go who wait for what cannot come. False when all have ended."""
        if self.room.force():
            return True
        if not self.parked:
            return False
        for group in list(self.parked):
            self._unpark(group)
            self.listeners.on_no_progress(group.parked.site, group.bits, False)
            self._abandon(group)
        return True

    def _abandon(self, group: Group) -> None:
        frame: Frame | None = group.frame
        while frame is not None:
            frame.count -= group.count
            if frame.count == 0 and frame.parent is not None:
                frame.parent.positions.remove(frame.resume.segment.index)
                self.frames.pop((*frame.prefix, id(frame.program)), None)
            frame = frame.parent
        self.end(group.bits, group.count, STOPPED)

    def fail(self, group: Group, site: Site, error: BaseException) -> None:
        """Lanes raised an exception: they end. The host hears of the first, in debug mode."""
        if self.failure is None:
            self.failure = (site, int(np.flatnonzero(group.bits)[0]), error)
        self._abandon(group)


class _Watcher:
    """Tells a parked group of changed memory."""

    __slots__ = ("group", "parked")

    def __init__(self, group: Group, parked: Parked) -> None:
        self.group, self.parked = group, parked

    def notice(self, space: object, offsets: np.ndarray, lanes: np.ndarray) -> None:
        self.parked.notice(self.group, space, offsets, lanes)


def _unchanged(before: tuple[Any, ...], after: tuple[Any, ...], bits: np.ndarray) -> bool:
    for old, new in zip(before, after, strict=True):
        if old is new:
            continue
        if not isinstance(old, (np.ndarray, np.generic)):
            return False
        if not np.array_equal(_of(old, bits), _of(new, bits), equal_nan=old.dtype.kind in "fc"):
            return False
    return True


def _of(value: Any, bits: np.ndarray) -> np.ndarray:
    return value[bits] if isinstance(value, np.ndarray) else np.broadcast_to(value, bits.sum())
