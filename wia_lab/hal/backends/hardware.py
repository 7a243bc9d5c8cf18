"""Real machines: the GPUs that the driver shows, by numba-cuda for kernels and `cuda.bindings`.

Memory, streams and events are the driver's own; nothing here finds hazards, which only virtual
machines do. The clock is the host's, with each device's events laid on it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wia_lab.cuda import choice
from wia_lab.hal.backends import hardware_calls, hardware_memory, hardware_sheet, vendor
from wia_lab.hal.backends.base import Launched, Span
from wia_lab.hal.backends.hardware_clock import Clock
from wia_lab.hal.backends.hardware_driver import PEER_ENABLED, SUCCESS, driver
from wia_lab.hal.backends.hardware_launch import Launcher
from wia_lab.hal.backends.hardware_streams import NON_BLOCKING, HardwareEvent, HardwareStream
from wia_lab.hal.backends.hardware_waiting import Waiter
from wia_lab.hal.backends.told import capabilities_of, info_of
from wia_lab.hal.errors import DeviceLost, InvalidValue
from wia_lab.hal.kinds import MemoryKind
from wia_lab.hal.ops.cost import seconds

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np

    from wia_lab.hal.advice import Advice, Migrations
    from wia_lab.hal.backends.base import Call, Interval, KernelLaunch
    from wia_lab.hal.backends.hardware_memory import Storage
    from wia_lab.hal.device import Capabilities, DeviceInfo
    from wia_lab.hal.ops.operation import Operation
    from wia_lab.machines import Device
    from wia_lab.timeline import Site

ADVICE = {
    "READ_MOSTLY": "SET_READ_MOSTLY",
    "PREFERRED_LOCATION": "SET_PREFERRED_LOCATION",
    "ACCESSED_BY": "SET_ACCESSED_BY",
}


class HardwareBackend:
    """The GPUs of this computer, or the first `count` of them.

    Raises
    ------
    InvalidValue
        Where hardware cannot be used, and why; or has fewer devices.
    """

    is_virtual = False
    name = "hardware"

    def __init__(self, count: int | None = None) -> None:
        found = choice.describe_backend()
        if found.backend != "hardware":
            raise InvalidValue(
                f'open_machine("hardware"): {found.reason}: {found.advice or "choose another"}; or '
                'open a virtual machine, as "1xH200"'
            )
        self.driver = driver()
        self.device_count = self.driver.device_count if count is None else count
        if self.device_count > self.driver.device_count:
            raise InvalidValue(
                f"{count} devices asked, and the driver shows {self.driver.device_count}: ask for "
                "fewer, or open a virtual machine"
            )
        self._sheets: dict[int, Device] = {}
        self._launcher = Launcher(self.driver, self.sheet)
        self._clock = Clock(self.driver)
        self._streams_made = 0
        self._waiter = Waiter(self.driver)

    # What there is

    def sheet(self, device: int) -> Device:
        """The data sheet that the driver's attributes give."""
        if device not in self._sheets:
            self._sheets[device] = hardware_sheet.sheet(self.driver, device)
        return self._sheets[device]

    def info(self, device: int) -> DeviceInfo:
        """By the driver's attributes."""
        return info_of(self.sheet(device), is_virtual=False)

    def capabilities(self, device: int) -> Capabilities:
        """By compute capability, and by what the driver says of unified memory."""
        unified = bool(self.driver.attribute(device, "CONCURRENT_MANAGED_ACCESS"))
        peers = (each for each in range(self.device_count) if self.can_access_peer(device, each))
        return capabilities_of(self.sheet(device), unified=unified, peers=peers)

    @property
    def numa_nodes(self) -> int:
        """As the system counts them."""
        return hardware_sheet.numa_nodes()

    def numa_node(self, device: int) -> int:
        """As the system says of its slot."""
        return hardware_sheet.numa_node(self.driver, device)

    def can_access_peer(self, device: int, peer: int) -> bool:
        """As the driver says."""
        if device == peer:
            return False
        api = self.driver.api
        handles = api.CUdevice(device), api.CUdevice(peer)
        return bool(self.driver.call(api.cuDeviceCanAccessPeer, *handles))

    def enable_peer_access(self, device: int, peer: int) -> None:
        """For the whole process, once."""
        with self.driver.on(device):
            status = int(self.driver.api.cuCtxEnablePeerAccess(self.driver.context(peer), 0)[0])
        if status not in (SUCCESS, PEER_ENABLED):
            raise self.driver.failure(status, "cuCtxEnablePeerAccess")

    # Memory

    def allocate(
        self, nbytes: int, kind: MemoryKind, device: int, name: str, numa_node: int | None
    ) -> Storage:
        """Of the driver; pageable host memory is NumPy's."""
        self.driver.reap()
        return hardware_memory.allocate(self.driver, nbytes, kind, device, name, numa_node)

    def reserve(self, nbytes: int, device: int) -> Storage:
        """One allocation of the driver."""
        return self.allocate(nbytes, MemoryKind.DEVICE, device, "reserved memory", None)

    def part(self, reserved: Storage, offset: int, nbytes: int, name: str) -> Storage:
        """Bytes of the one allocation."""
        return hardware_memory.part(reserved, offset, nbytes, name)

    def release(self, storage: Storage) -> None:
        """Device memory at once, what the host reaches with the last array over it."""
        hardware_memory.release(self.driver, storage)

    def host_view(
        self, span: Span, *, reads: bool, writes: bool, site: Site
    ) -> np.ndarray[Any, Any]:
        """The bytes themselves."""
        del reads, writes, site  # nobody watches real memory
        found: np.ndarray[Any, Any] = span.storage.array[span.low : span.high]
        return found

    def foreign(self, address: int, nbytes: int, device: int) -> Span:
        """A span over it, which frees nothing."""
        storage = hardware_memory.Storage(
            address, nbytes, MemoryKind.DEVICE, device, "memory of another library"
        )
        return Span(storage, MemoryKind.DEVICE, device, 0, nbytes)

    def address(self, span: Span) -> int | None:
        """The same for every device and the host; None for what only the host reaches."""
        return None if span.kind is MemoryKind.HOST else _start(span)

    # Streams and events

    def create_stream(self, device: int, priority: int, name: str | None) -> HardwareStream:
        """One that waits for no other on its own; the driver clamps the priority to its range."""
        self._streams_made += 1
        api = self.driver.api
        with self.driver.on(device):
            pointer = self.driver.call(api.cuStreamCreateWithPriority, NON_BLOCKING, priority)
            made = choice.numba_cuda().external_stream(int(pointer))
        return HardwareStream(name or f"stream {self._streams_made}", device, pointer, made)

    def destroy_stream(self, stream: HardwareStream) -> None:
        """What it was given is still done."""
        self._waiter.close(stream)

    def create_event(self, name: str) -> HardwareEvent:
        """Made in the driver where it is first recorded."""
        return HardwareEvent(name)

    def record(self, event: HardwareEvent, stream: HardwareStream) -> None:
        """Mark the point after what the stream was given."""
        api = self.driver.api
        self._clock.begin(stream.device)
        with self.driver.on(stream.device):
            if event.pointer is None or event.device != stream.device:
                event.pointer = self.driver.call(api.cuEventCreate, 0)
                event.held = self.driver.held(api.cuEventDestroy, event.pointer, stream.device)
            self.driver.call(api.cuEventRecord, event.pointer, stream.pointer)
        event.device, event.stream = stream.device, stream

    def wait_event(self, stream: HardwareStream, event: HardwareEvent) -> None:
        """Hold what the stream is given later, on the device; the host goes on."""
        with self.driver.on(stream.device):
            self.driver.call(self.driver.api.cuStreamWaitEvent, stream.pointer, event.pointer, 0)

    def query(self, target: HardwareStream | HardwareEvent) -> bool:
        """Whether it has ended."""
        return self._waiter.query(target)

    def synchronize(self, target: HardwareStream | HardwareEvent, timeout: float | None) -> bool:
        """Wait in the driver, or look from time to time until `timeout` seconds have passed."""
        return self._waiter.wait(target, timeout)

    # Work

    def copy(self, stream: HardwareStream, target: Span, source: Span, site: Site) -> None:
        """One copy of the driver; between devices cuMemcpyPeer, which needs no access enabled."""
        del site
        api, nbytes = self.driver.api, source.high - source.low
        to, at = _start(target), _start(source)
        with (
            self.driver.on(stream.device),
            self._clock.watched(stream, "copy", target.storage.name),
        ):
            if target.kind.on_device and source.kind.on_device and target.device != source.device:
                ends = self.driver.context(target.device), self.driver.context(source.device)
                self.driver.call(
                    api.cuMemcpyPeerAsync, to, ends[0], at, ends[1], nbytes, stream.pointer
                )
            else:
                self.driver.call(api.cuMemcpyAsync, to, at, nbytes, stream.pointer)
        if target.kind.is_staged:
            self.synchronize(stream, None)

    def call(self, stream: HardwareStream, device: int, call: Call, site: Site) -> None:
        """On a thread of the driver, over copies on the host of what only the device reaches."""
        del site
        with self.driver.on(device), self._clock.watched(stream, "kernel", call.name):
            hardware_calls.submit(self.driver, stream, call)

    def launch(
        self, stream: HardwareStream, device: int, launch: KernelLaunch, site: Site
    ) -> Launched:
        """By numba-cuda; the device reports what a kernel does wrong where the host waits."""
        del site
        configured, arguments = self._launcher.bound(stream, device, launch)
        current, own = self.driver.api.cuCtxGetCurrent, int(self.driver.context(device))
        watches = self._clock.watches

        def run(given: Sequence[Any]) -> None:
            if not watches and int(current()[1]) == own:
                configured(given)
                return
            with self.driver.on(device), self._clock.watched(stream, "kernel", launch.name):
                configured(given)

        run(arguments)
        return Launched(run, arguments)

    def operate(
        self,
        stream: HardwareStream,
        device: int,
        operation: Operation,
        inputs: Sequence[Span],
        output: Span,
        site: Site,
    ) -> None:
        """By the kernels of `wia_lab.hal.ops.kernels`, with room from the stream's pool."""
        del site
        with self._clock.watched(stream, "kernel", operation.name):
            self._launcher.operate(stream, device, operation, inputs, output)

    def vendor_lacks(self, operation: Operation) -> str:
        """A library that is not installed, or what it cannot do."""
        return vendor.lacks(operation)

    def estimate(self, device: int, operation: Operation) -> float:
        """As for a virtual device with the sheet that the driver's attributes give."""
        return seconds(self.sheet(device), operation)

    # Unified memory

    def advise(self, span: Span, advice: Advice, place: int | None) -> None:
        """cuMemAdvise over the span."""
        api = self.driver.api
        which = getattr(api.CUmem_advise, f"CU_MEM_ADVISE_{ADVICE[advice.name]}")
        with self.driver.on(span.device):
            location = self.driver.location(place)
            nbytes = span.high - span.low
            self.driver.call(api.cuMemAdvise, _start(span), nbytes, which, location)

    def prefetch(self, stream: HardwareStream, span: Span, place: int | None, site: Site) -> None:
        """cuMemPrefetchAsync."""
        del site
        nbytes, location = span.high - span.low, self.driver.location(place)
        with (
            self.driver.on(stream.device),
            self._clock.watched(stream, "copy", f"prefetch of {span.storage.name}"),
        ):
            self.driver.call(
                self.driver.api.cuMemPrefetchAsync,
                _start(span),
                nbytes,
                location,
                0,
                stream.pointer,
            )

    def migrations(self, span: Span) -> Migrations:
        """Refused: the driver tells the pages' moves to profilers alone."""
        raise InvalidValue(
            f"migrations of {span.storage.name}: the driver does not count them for programs: use "
            "Nsight Systems, or a virtual machine"
        )

    # Time and faults

    def inject(
        self, device: int, error: BaseException, matches: Callable[[str], bool], times: int
    ) -> None:
        """Refused: real devices fail on their own."""
        del matches, times
        raise InvalidValue(
            f"inject: device {device} is real and cannot be made to fail with {error!r}: inject "
            "faults into a virtual machine"
        )

    def watch(self, device: int, *, on: bool) -> None:
        """Put events around each piece of the device's work, as long as somebody watches."""
        self._clock.watch(device, on=on)

    def intervals(self, device: int, since: float) -> list[Interval]:
        """What was watched and has ended."""
        return self._clock.intervals(device, since)

    def now(self) -> float:
        """Seconds since the machine was opened."""
        return self._clock.now()

    def moment(self, event: HardwareEvent) -> float:
        """By the time from the device's first event, which was laid on the host's clock."""
        return self._clock.moment(event)

    def elapsed(self, earlier: HardwareEvent, later: HardwareEvent) -> float:
        """As the device measures it; between two devices by the host's clock."""
        return self._clock.elapsed(earlier, later)

    def reset(self, device: int) -> None:
        """A device that still answers is as good as new; no other can be mended in this process.

        Raises
        ------
        DeviceLost
            After an error that CUDA keeps until the process ends.
        """
        try:
            with self.driver.on(device):
                self.driver.call(self.driver.api.cuCtxSynchronize)
        except DeviceLost as error:
            raise DeviceLost(
                f"{error}; the driver keeps this error until the process ends: start another to "
                f"use device {device} again"
            ) from error


def _start(span: Span) -> int:
    return int(span.storage.pointer + span.low)
