"""Plays scripts on a learner's peer reader: machines of several topologies, and what crossed them.

All that is kept of a script is plain data: who sent how many bytes where, who was let reach whom,
what raced, and whether the kernels got the right values.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from wia_lab.hal import AccessRefused, Buffer, Context, Machine, MemoryKind
from wia_lab.hal.backends.virtual import VirtualBackend
from wia_lab.puzzles.host_judge import call, file_of
from wia_lab.puzzles.host_puzzle import HostCase, HostRun, Reply
from wia_lab.timeline import Site, virtual_machine

if TYPE_CHECKING:
    from wia_lab.hal import Event, Stream
    from wia_lab.hal.backends.base import Call, Span

PRODUCING = 0.02  # seconds until the data is there: long, so that whoever waits for it is seen
ELEMENTS = 1009  # int32 numbers of the data, where a script says nothing

Race = tuple[str, str, str, int | None]
"""The message, the two pieces of work, and the line of the answer that submitted one of them."""

Place = int | str
"""A device's number, or "host 0": memory near a socket."""


@dataclass(frozen=True)
class Crossing:
    """Bytes that went from one place to another.

    `how` is "copied", "staged" (through the host, by the driver) or "read" (by a kernel, in place).
    """

    source: Place
    target: Place
    nbytes: int
    how: str
    link: str
    crosses: bool  # from one socket to another, and over no link of the devices' own


@dataclass
class Facts:
    """What one call led to."""

    crossings: list[Crossing] = field(default_factory=list)
    enabled: list[tuple[int, int]] = field(default_factory=list)  # (who may reach, whose memory)
    waited: bool = False  # the data was there when the call returned
    races: list[Race] = field(default_factory=list)
    returned: str = ""  # "the data", a kind of memory, or what it was instead
    place: Place | None = None  # of what was returned
    nbytes: int = 0  # of what was returned
    refused: str | None = None  # why kernels could not read what was returned
    broken: str | None = None  # what went wrong when it was read
    values: np.ndarray[Any, Any] | None = None  # int32: what kernels, or the host, got of it
    freed: bool = False  # the data was freed
    changed: bool = False  # the data is no longer what was put there
    direct: tuple[bool, bool] = (False, False)  # reader can reach the owner's memory, and back


class WatchedBackend(VirtualBackend):
    """A virtual machine that writes down what crosses its links."""

    def __init__(self, specification: str, withheld: frozenset[tuple[int, int]], file: str) -> None:
        super().__init__(replace(virtual_machine(specification), withheld=withheld))
        self.crossings: list[Crossing] = []
        self.races: list[Race] = []
        self._file = file

    def copy(self, stream: Any, target: Span, source: Span, site: Site) -> None:
        """Copy, and note from where to where."""
        self._note(_place(source), _place(target), source.high - source.low, "copied")
        super().copy(stream, target, source, self._mine(site))

    def call(self, stream: Any, device: int, call: Call, site: Site) -> None:
        """Call, and note what the kernel reads of other devices."""
        for span in call.reads:
            self._note(_place(span), device, span.high - span.low, "read")
        super().call(stream, device, call, self._mine(site))

    def _mine(self, site: Any) -> Any:
        """A line of the answer; none of the judge's."""
        return site if isinstance(site, Site) and site.file == self._file else ""

    def _note(self, source: Place, target: Place, nbytes: int, how: str) -> None:
        if source == target or (isinstance(source, str) and isinstance(target, str)):
            return
        if isinstance(source, int) and isinstance(target, int):
            enabled = how == "read" or self.copies_straight(source, target)
            route = self.machine.peer_route(source, target, enabled=enabled)
            how = "staged" if route.staged else how
            link = route.link
            over_host = route.staged
        else:
            device = target if isinstance(source, str) else source
            link, over_host = self.machine.host_route(int(device), upload=True).link, True
        crosses = over_host and self._socket(source) != self._socket(target)
        self.crossings.append(Crossing(source, target, nbytes, how, link, crosses))

    def _socket(self, place: Place) -> int:
        if isinstance(place, str):
            return int(place.removeprefix("host "))
        return self.machine.devices[place].numa_node

    def _tell(self) -> None:
        """Keep the races instead of raising them."""
        for race in self.timeline.order.take():
            sites = (race.second_site, race.first_site)
            line = next((each.line for each in sites if isinstance(each, Site)), None)
            self.races.append((race.message, race.first, race.second, line))


def _place(span: Span) -> Place:
    return span.device if span.kind.on_device else f"host {span.storage.numa_node or 0}"


class Stage:
    """A machine with a context a device, on which the calls of a script are played."""

    def __init__(self, specification: str, withheld: frozenset[tuple[int, int]], file: str) -> None:
        self.backend = WatchedBackend(specification, withheld, file)
        self.contexts = [Context(device) for device in Machine(self.backend)]
        self._data: dict[Any, Buffer] = {}
        self._made = 0

    def produce(self, owner: int, options: Any, key: Any) -> tuple[Buffer, Event, Any]:
        """Data that a kernel of `owner` still writes, the event after it, and the values."""
        self._made += 1
        values = numbers(self._made, options)
        elements = values.size
        context = self.contexts[owner]
        data = self._data.get(key)
        if data is None:
            data = context.allocate(4 * elements, name=f"data {self._made}")
        self._data[key] = data
        with context.create_stream() as stream:
            stream.submit(
                _fill, data, values, seconds=PRODUCING, reads=(), writes=(data,), name="produce"
            )
            return data, stream.record(), values

    def use(self, shared: Buffer, stream: Stream, reads: int, elements: int) -> Any:
        """The sum that kernels of the stream get when they read `shared` so many times."""
        context = stream.context
        total = context.allocate(4 * elements, name="total")
        stream.submit(_clear, total, seconds=1e-5, reads=(), writes=(total,), name="clear")
        seconds = self._reading(shared, stream)
        for _ in range(reads):
            stream.submit(
                _add,
                total,
                shared,
                seconds=seconds,
                reads=(total, shared),
                writes=(total,),
                name="add",
            )
        result = context.allocate(4 * elements, MemoryKind.PINNED, name="result")
        super(WatchedBackend, self.backend).copy(
            stream.handle, result.span(), total.span(), _NOWHERE
        )
        stream.synchronize()
        return result.host(np.int32, "read")

    def settle(self) -> None:
        """Wait for everything, so that what is not ordered shows."""
        for context in self.contexts:
            context.synchronize()

    def values(self, data: Buffer) -> Any:
        """What lies in device memory now."""
        return data.span().storage.array.view(np.int32)

    def _reading(self, shared: Buffer, stream: Stream) -> float:
        """Seconds that a kernel takes to read memory once."""
        machine, here = self.backend.machine, stream.context.device.number
        there = shared.context.device.number
        if there == here or not shared.kind.on_device:
            return shared.nbytes / machine.devices[here].sheet.memory_bandwidth
        return machine.peer_route(there, here).duration(shared.nbytes) / 1e9


_NOWHERE: Any = ""


def numbers(call: int, options: Any) -> np.ndarray[Any, Any]:
    """The data of a script's call, counted from 1: int32, from the script's `first` on."""
    elements = options.get("elements", ELEMENTS)
    return np.arange(elements, dtype=np.int32) * 3 + (1000 * call + options.get("first", 0))


def _fill(data: Any, values: Any) -> None:
    data.view(np.int32)[:] = values


def _clear(total: Any) -> None:
    total[:] = 0


def _add(total: Any, shared: Any) -> None:
    total.view(np.int32)[:] += shared.view(np.int32)


def play(answer: type, case: HostCase) -> HostRun:
    """Play a script on one object of the class."""
    return perform(answer, case)[0]


def perform(answer: type, case: HostCase) -> tuple[HostRun, Stage]:
    """Play a script; the stage tells a picture when what ran where."""
    file = file_of(answer)
    stage = Stage(case.options["machine"], case.options.get("withheld", frozenset()), file)
    made = call(answer, file=file)
    replies, facts = [made], []
    for step in case.steps if made.error is None else ():
        reply, found = _step(stage, made.value, step, case.options, file)
        replies.append(reply)
        facts.append(found)
        usable = found.place is not None and found.nbytes == 4 * case.options.get(
            "elements", ELEMENTS
        )
        if reply.error is not None or found.refused or found.broken or not usable:
            break
    return HostRun(case, tuple(replies), {"steps": [asdict(each) for each in facts]}), stage


def _step(stage: Stage, reader: Any, step: Any, options: Any, file: str) -> tuple[Reply, Facts]:
    verb, owner, at, *_ = step
    reads, key = reads_and_key(step)
    backend, facts = stage.backend, Facts()
    backend.crossings, backend.races = facts.crossings, facts.races
    data, ready, values = stage.produce(owner, options, object() if key is None else key)
    peers = [set(context.peers) for context in stage.contexts]
    facts.direct = (backend.can_access_peer(at, owner), backend.can_access_peer(owner, at))
    stream = stage.contexts[at].create_stream()
    arguments = (data, ready, stream, reads) if verb == "share" else (data, ready, stream)
    reply = call(getattr(reader, verb), *arguments, file=file)
    facts.waited = ready.handle.operation.is_done
    facts.enabled = [
        (number, peer)
        for number, context in enumerate(stage.contexts)
        for peer in sorted(context.peers - peers[number])
    ]
    if reply.error is None:
        _describe(facts, reply.value, data)
        if isinstance(reply.value, Buffer) and reply.value.nbytes == data.nbytes:
            try:
                facts.values = _read(stage, verb, reply.value, stream, reads)
                stage.settle()
            except AccessRefused as error:
                facts.refused = str(error)
            except Exception as error:
                facts.broken = f"{type(error).__name__}: {error}"
        facts.freed = data.is_closed
        facts.changed = not facts.freed and not np.array_equal(stage.values(data), values)
    return replace(reply, value=None), facts


def reads_and_key(step: Any) -> tuple[int, Any]:
    """How often the data is read, and what calls that share their data have in common, or None."""
    _, _, _, *more = step
    return (more[0] if more else 1), (more[1] if len(more) > 1 else None)


def _describe(facts: Facts, value: Any, data: Buffer) -> None:
    if not isinstance(value, Buffer):
        facts.returned = repr(value)[:60]
        return
    facts.returned = "the data" if value is data else value.kind.value
    facts.nbytes = value.nbytes
    on_device = value.kind.on_device
    facts.place = value.context.device.number if on_device else f"host {value.numa_node or 0}"


def _read(stage: Stage, verb: str, value: Buffer, stream: Stream, reads: int) -> Any:
    """What kernels, or the host, get when they read what was returned; None where nobody can."""
    if verb == "share":
        return stage.use(value, stream, reads, value.nbytes // 4)
    if not value.kind.host_access:
        return None
    stream.synchronize()
    return value.host(np.int32, "read").copy()
