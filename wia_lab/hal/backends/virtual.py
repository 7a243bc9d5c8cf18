"""Virtual machines: devices of the catalogue on the simulated clock of `wia_lab.timeline`.

Work is done when its turn comes: memory of a device is read when a copy or call starts, memory of
the host when it ends, as late as may be, and all is written at the end. What nothing orders is told
as hazards are (`WIA_LAB_HAZARDS`), where the host waits or touches memory. New memory is poisoned.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from wia_lab.cuda import policy
from wia_lab.hal.backends.base import Call, Interval
from wia_lab.hal.backends.pages import Pages, Place
from wia_lab.hal.backends.told import capabilities_of, info_of
from wia_lab.hal.backends.virtual_launch import VirtualLaunch
from wia_lab.hal.backends.virtual_storage import (
    Storage,
    array_for,
    array_of,
    machine_of,
    pages_of,
    region_of,
    regions_of,
)
from wia_lab.hal.backends.virtual_ways import Ways
from wia_lab.hal.ops.cost import seconds
from wia_lab.hal.ops.numerics import execute
from wia_lab.simt.memory import POISON
from wia_lab.timeline import (
    Aside,
    Buffer,
    Event,
    Fault,
    Outcome,
    Site,
    Stream,
    Timeline,
    VirtualMachine,
    Work,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from wia_lab.hal.advice import Advice, Migrations
    from wia_lab.hal.backends.base import KernelLaunch, Span
    from wia_lab.hal.device import Capabilities, DeviceInfo
    from wia_lab.hal.kinds import MemoryKind
    from wia_lab.hal.ops.operation import Operation
    from wia_lab.simt.events import Listener
    from wia_lab.timeline import Operation as Submitted


class VirtualBackend:
    """One virtual machine with a clock of its own."""

    is_virtual = True

    def __init__(self, specification: str | VirtualMachine) -> None:
        self.machine = machine_of(specification)
        self.timeline = Timeline()
        self._ways = Ways(self.machine)
        self._found: list[Any] = []  # hazards inside kernels, not yet told
        self.name = self.machine.name
        self.device_count = len(self.machine.devices)

    def info(self, device: int) -> DeviceInfo:
        """The data sheet."""
        return info_of(self.machine.devices[device].sheet, is_virtual=True)

    def capabilities(self, device: int) -> Capabilities:
        """By compute capability, unified memory too."""
        sheet = self.machine.devices[device].sheet
        peers = (each for each in range(self.device_count) if self.can_access_peer(device, each))
        return capabilities_of(sheet, unified=sheet.compute_capability >= (6, 0), peers=peers)

    @property
    def numa_nodes(self) -> int:
        """How many sockets have memory of their own."""
        return self.machine.numa_nodes

    def numa_node(self, device: int) -> int:
        """The socket it is plugged into."""
        return self.machine.devices[device].numa_node

    def can_access_peer(self, device: int, peer: int) -> bool:
        """Over NVLink, or PCIe of one socket."""
        return self.machine.can_access(device, peer)

    def enable_peer_access(self, device: int, peer: int) -> None:
        """Copies between the two, either way, go straight from now on."""
        self._ways.enable(device, peer)

    def copies_straight(self, device: int, peer: int) -> bool:
        """Whether copies between the two keep out of host memory, as far as access decides it."""
        return self._ways.is_straight(device, peer)

    def allocate(
        self, nbytes: int, kind: MemoryKind, device: int, name: str, numa_node: int | None
    ) -> Storage:
        """Poisoned bytes. The program runs on socket 0, where host memory lies by default."""
        place = f"device {device}" if kind.on_device else "host"
        pages = Pages(nbytes, self._ways.reaches) if kind.migrates else None
        node = None if kind.on_device or kind.migrates else numa_node or 0
        return Storage(np.full(nbytes, POISON, np.uint8), Buffer(name, nbytes, place), pages, node)

    def reserve(self, nbytes: int, device: int) -> None:
        """The books of the device hold it; there are no bytes before a buffer has them."""

    def part(self, reserved: Any, offset: int, nbytes: int, name: str) -> Storage:
        """Never asked for: `reserve` holds nothing."""
        raise NotImplementedError

    def release(self, storage: Storage) -> None:
        """The bytes go with the last that refers to them."""

    def foreign(self, address: int, nbytes: int, device: int) -> Span:
        """Never asked for: no library has memory on a virtual device."""
        raise NotImplementedError

    def address(self, span: Span) -> None:
        """CUDA's libraries reach nothing of a virtual device."""

    def host_view(
        self, span: Span, *, reads: bool, writes: bool, site: Site
    ) -> np.ndarray[Any, Any]:
        """The bytes themselves; that the host touches them now is noted, and takes its time."""
        self.timeline.now += self._ways.faults(
            None, [] if writes else [span], [span] if writes else []
        )
        touched = (region_of(span),)
        self.timeline.host_access(touched if reads else (), touched if writes else (), site)
        self._tell()
        return array_of(span)

    def create_stream(self, device: int, priority: int, name: str | None) -> Stream:
        """A stream that waits for no other on its own."""
        return self.timeline.stream(name, device=device, priority=priority)

    def destroy_stream(self, stream: Stream) -> None:
        """What it was given is still done."""
        self.timeline.retire(stream)

    def copy(self, stream: Stream, target: Span, source: Span, site: Site) -> None:
        """Copy over the link between the two places.

        The host waits where it copies to memory whose pages may move, as CUDA does.
        """
        held = [array_of(source)]
        if source.kind.is_staged:
            self.timeline.host_access(reads=(region_of(source),), site=site)
            held[0] = held[0].copy()
        route = self._ways.route(target, source)
        duration = route.duration(source.high - source.low)

        def begin() -> Outcome:
            if source.kind.on_device:
                held[0] = held[0].copy()
            return Outcome(duration)

        work = Work(
            f"copy to {target.storage.buffer.name}",
            engines=route.engines,
            begin=begin,
            action=lambda: np.copyto(array_of(target), held[0]),
            reads=() if source.kind.is_staged else (region_of(source),),
            writes=(region_of(target),),
            kind="copy",
            site=site,
        )
        self.timeline.submit(stream, work)
        if target.kind.is_staged:
            self.synchronize(stream, None)

    def call(self, stream: Stream, device: int, call: Call, site: Site) -> None:
        """Call the function on arrays of bytes; its effects are there when its time has passed."""
        aside = Aside(map(array_of, call.writes))
        arguments = [
            array_for(each, call.writes) if hasattr(each, "storage") else each
            for each in call.arguments
        ]

        linked = self._ways.in_place(device, call.reads, call.writes)

        def begin() -> Outcome:
            waited = self._ways.faults(device, call.reads, call.writes)
            aside.run(lambda: call.function(*arguments))
            took = max(round(call.seconds * 1e9), linked)
            return Outcome(waited + took)

        work = Work(
            call.name,
            engines=(self.machine.devices[device].compute,),
            begin=begin,
            action=aside.land,
            reads=regions_of(call.reads),
            writes=regions_of(call.writes),
            kind="kernel",
            site=site,
        )
        self.timeline.submit(stream, work)

    def listeners(self) -> Sequence[Listener]:
        """What else the simulator tells of a launch, for each launch anew; here nobody."""
        return ()

    def launch(self, stream: Stream, device: int, launch: KernelLaunch, site: Site) -> None:
        """Interpret the kernel when its turn comes; its cost is how long it takes."""
        sheet = self.machine.devices[device].sheet
        made = VirtualLaunch(launch, sheet, stream.name, site, self.listeners())

        linked = self._ways.in_place(device, made.reads, made.writes)

        def begin() -> Outcome:
            waited = self._ways.faults(device, made.reads, made.writes)
            took = max(made.run(), linked)
            self._found += made.hazards
            return Outcome(waited + took)

        work = Work(
            launch.name,
            engines=(self.machine.devices[device].compute,),
            begin=begin,
            action=made.land,
            reads=regions_of(made.reads),
            writes=regions_of(made.writes),
            kind="kernel",
            site=site,
        )
        self.timeline.submit(stream, work)

    def operate(
        self,
        stream: Stream,
        device: int,
        operation: Operation,
        inputs: Sequence[Span],
        output: Span,
        site: Site,
    ) -> None:
        """Compute it in NumPy, as a call that takes as long as the device would."""
        call = Call(
            partial(execute, operation),
            [*inputs, output],
            [each for each in inputs if each.low < each.high],
            [output] if output.low < output.high else [],
            self.estimate(device, operation),
            operation.name,
        )
        self.call(stream, device, call, site)

    def vendor_lacks(self, operation: Operation) -> str:  # noqa: ARG002 - no operation
        """Always: there is no real device to run it."""
        return "a vendor's library runs on real devices alone"

    def estimate(self, device: int, operation: Operation) -> float:
        """By the data sheet's rates and the shares of them that were measured."""
        return seconds(self.machine.devices[device].sheet, operation)

    def advise(self, span: Span, advice: Advice, place: Place) -> None:
        """For the whole storage, at once."""
        pages_of(span).advise(advice, place)

    def prefetch(self, stream: Stream, span: Span, place: Place, site: Site) -> None:
        """The pages are there when the copies have ended."""
        pages = pages_of(span)

        def begin() -> Outcome:
            return Outcome(self._ways.time(pages.missing(place, span.low, span.high)))

        work = Work(
            f"prefetch of {span.storage.buffer.name}",
            engines=self._ways.link(pages.where(span.low), place).engines,
            begin=begin,
            action=lambda: pages.bring(place, span.low, span.high),
            kind="copy",
            site=site,
        )
        self.timeline.submit(stream, work)

    def migrations(self, span: Span) -> Migrations:
        """Counted by whole pages of 2 MiB."""
        return pages_of(span).migrations

    def create_event(self, name: str) -> Event:
        """An event that was never recorded."""
        return Event(name)

    def record(self, event: Event, stream: Stream) -> None:
        """Mark the point after what the stream was given."""
        self.timeline.record(event, stream)

    def wait_event(self, stream: Stream, event: Event) -> None:
        """Hold what the stream is given later."""
        self.timeline.wait(stream, event)

    def query(self, target: Stream | Event) -> bool:
        """Whether it has ended; a host that has seen that comes after it."""
        ended = self.timeline.query(target)
        if ended:
            self._tell()
        return ended

    def synchronize(self, target: Stream | Event, timeout: float | None) -> bool:
        """Let simulated time pass until it has ended, or `timeout` seconds of it have."""
        if timeout is None:
            self.timeline.synchronize(target)
        elif not self.timeline.wait_at_most(target, round(timeout * 1e9)):
            return False
        self._tell()
        return True

    def inject(
        self, device: int, error: BaseException, matches: Callable[[str], bool], times: int
    ) -> None:
        """The work fails as it starts and does nothing; who waits for it gets the error.

        Where `matches` fails itself, the work fails with what it raised, once.
        """

        def meant(each: Submitted) -> bool:
            if each.stream.device != device:
                return False
            try:
                return bool(matches(each.work.name))
            except Exception as raised:
                fault.error, fault.times = raised, 1
                return True

        fault = Fault(meant, error, times)
        self.timeline.faults.append(fault)

    def watch(self, device: int, *, on: bool) -> None:
        """The timeline notes all work anyway."""

    def intervals(self, device: int, since: float) -> list[Interval]:
        """In the order in which they ended."""
        return [
            Interval(
                each.work.name,
                each.work.kind,
                device,
                each.stream.name,
                (each.start or 0) / 1e9,
                (each.end or 0) / 1e9,
            )
            for each in self.timeline.finished
            if each.stream.device == device
            and each.work.kind in ("kernel", "copy")
            and (each.start or 0) >= round(since * 1e9)
        ]

    def now(self) -> float:
        """Seconds of simulated time."""
        return self.timeline.now / 1e9

    def moment(self, event: Event) -> float:
        """Seconds of simulated time."""
        operation = event.operation
        return (operation.end or 0) / 1e9 if operation else 0.0

    def elapsed(self, earlier: Event, later: Event) -> float:
        """Seconds of simulated time."""
        return self.moment(later) - self.moment(earlier)

    def reset(self, device: int) -> None:
        """It is as good as new."""

    def _tell(self) -> None:
        kernels, self._found = self._found, []
        found = [policy.as_hazard(each) for each in self.timeline.order.take()]
        policy.judge([*kernels, *found], None)
