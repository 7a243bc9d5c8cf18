"""What the HAL asks of a back end.

Handles are the back end's own; the HAL keeps them and passes them back. All checks of kinds,
owners and lifetimes are the HAL's: a back end may take it that what it is given is right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    import numpy as np

    from wia_lab.hal.advice import Advice, Migrations
    from wia_lab.hal.device import Capabilities, DeviceInfo
    from wia_lab.hal.kinds import MemoryKind
    from wia_lab.hal.ops.operation import Operation
    from wia_lab.hal.tensor_layout import Layout
    from wia_lab.timeline import Site


@dataclass(frozen=True, slots=True)
class Span:
    """Bytes `low` to `high`, the last not included, of a piece of storage."""

    storage: Any
    kind: MemoryKind
    device: int
    low: int
    high: int

    def meets(self, others: Iterable[Span]) -> bool:
        """Whether it has a byte in common with one of them."""
        return any(
            each.storage is self.storage and each.low < self.high and self.low < each.high
            for each in others
        )


@dataclass(frozen=True, slots=True)
class Call:
    """A function to be called on a device's turn, with the arrays behind some spans.

    `seconds` is how long the device is busy with it; a hardware back end measures instead.
    """

    function: Callable[..., Any]
    arguments: Sequence[Any]  # Spans and plain values
    reads: Sequence[Span]
    writes: Sequence[Span]
    seconds: float
    name: str


@dataclass(frozen=True, slots=True)
class Argument:
    """A number, or memory with the layout of an array inside it.

    The HAL gives a part of a buffer, of which it makes a Span for the back end.
    """

    value: Any
    layout: Layout | None  # None: `value` is a number


@dataclass(frozen=True, slots=True)
class KernelLaunch:
    """A kernel of `wia_lab.cuda` with how many threads it gets and its arguments."""

    kernel: Any
    name: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    arguments: Sequence[Argument]


class Launched(NamedTuple):
    """A launch that can be made again: `run` takes the arguments as the back end bound them."""

    run: Callable[[Sequence[Any]], None]
    arguments: list[Any]


@dataclass(frozen=True, slots=True)
class Interval:
    """One piece of work that has ended. Times are seconds of the machine's clock."""

    name: str
    kind: str  # "kernel" or "copy"
    device: int
    stream: str
    begin: float
    end: float


class Backend(Protocol):
    """One machine. Devices are named by number."""

    name: str
    is_virtual: bool
    device_count: int

    def info(self, device: int) -> DeviceInfo:
        """What the device is."""

    def capabilities(self, device: int) -> Capabilities:
        """What it can do."""

    @property
    def numa_nodes(self) -> int:
        """How many sockets have memory of their own."""

    def numa_node(self, device: int) -> int:
        """The socket whose memory is nearest to it."""

    def can_access_peer(self, device: int, peer: int) -> bool:
        """Whether it can be let read the memory of `peer`."""

    def enable_peer_access(self, device: int, peer: int) -> None:
        """Let kernels on a device reach the memory of `peer`.

        From then on copies between the two go straight, as the CUDA programming guide has it.
        """

    def allocate(
        self, nbytes: int, kind: MemoryKind, device: int, name: str, numa_node: int | None
    ) -> Any:
        """Storage of `nbytes` undefined bytes; host memory near a socket, if one is given.

        Raises
        ------
        AllocatorError
            Where a real device, or its host, has no such room.
        """

    def reserve(self, nbytes: int, device: int) -> Any:
        """Hold device memory for `part`; None where there is nothing to hold. Errors as above."""

    def part(self, reserved: Any, offset: int, nbytes: int, name: str) -> Any:
        """Storage of `nbytes` bytes from `offset` of what `reserve` returned, not None."""

    def release(self, storage: Any) -> None:
        """Nobody uses the storage any more; for a part, the reserved memory stays."""

    def foreign(self, address: int, nbytes: int, device: int) -> Span:
        """Device memory that another library has at an address."""

    def address(self, span: Span) -> int | None:
        """Where the bytes are, for other libraries of CUDA; None where those reach nothing."""

    def host_view(
        self, span: Span, *, reads: bool, writes: bool, site: Site
    ) -> np.ndarray[Any, Any]:
        """The bytes, as uint8, for the host to read or write now."""

    def create_stream(self, device: int, priority: int, name: str | None) -> Any:
        """A stream; lower priorities go first."""

    def copy(self, stream: Any, target: Span, source: Span, site: Site) -> None:
        """Copy `source` to `target`, which is as long, on the stream's turn."""

    def call(self, stream: Any, device: int, call: Call, site: Site) -> None:
        """Call a function on the stream's turn."""

    def launch(self, stream: Any, device: int, launch: KernelLaunch, site: Site) -> Launched | None:
        """Launch a kernel on the stream's turn; refuse at once what the device would refuse.

        Returns how to make the same launch again, where that costs less than a new one.
        """

    def operate(
        self,
        stream: Any,
        device: int,
        operation: Operation,
        inputs: Sequence[Span],
        output: Span,
        site: Site,
    ) -> None:
        """Compute an operation on tensors on the stream's turn, in the way it names."""

    def vendor_lacks(self, operation: Operation) -> str:
        """Why the vendor's library cannot make it; empty where it can."""

    def estimate(self, device: int, operation: Operation) -> float:
        """Seconds that it would take, by which one of several algorithms is chosen."""

    def advise(self, span: Span, advice: Advice, place: int | None) -> None:
        """Take advice on unified memory; `place` is a device's number, or None for the host."""

    def prefetch(self, stream: Any, span: Span, place: int | None, site: Site) -> None:
        """Bring unified memory to a place on the stream's turn."""

    def migrations(self, span: Span) -> Migrations:
        """What of the span's whole storage has moved so far."""

    def create_event(self, name: str) -> Any:
        """An event that was never recorded."""

    def record(self, event: Any, stream: Any) -> None:
        """Mark the point after what the stream was given."""

    def wait_event(self, stream: Any, event: Any) -> None:
        """Hold what the stream is given later until the event has happened."""

    def query(self, target: Any) -> bool:
        """Whether what the stream was given, or the event marks, has ended."""

    def synchronize(self, target: Any, timeout: float | None) -> bool:
        """Let the host wait for a stream or an event; False when `timeout` seconds did not do."""

    def inject(
        self, device: int, error: BaseException, matches: Callable[[str], bool], times: int
    ) -> None:
        """Let the next `times` pieces of work of the device whose name matches fail."""

    def watch(self, device: int, *, on: bool) -> None:
        """Note kernels and copies for `intervals` from now on, or for one watcher no longer."""

    def intervals(self, device: int, since: float) -> list[Interval]:
        """Kernels and copies of the device's streams that began at `since` or later, and ended."""

    def now(self) -> float:
        """Seconds on the machine's clock, as the host sees it."""

    def moment(self, event: Any) -> float:
        """Seconds, on the machine's clock, at which the event happened."""

    def elapsed(self, earlier: Any, later: Any) -> float:
        """Seconds from one event to another, both of which have happened."""

    def reset(self, device: int) -> None:
        """Make a device that was lost usable again, without what was on it."""

    def destroy_stream(self, stream: Any) -> None:
        """The stream will be given nothing more; it may be waited for.

        Its `is_drained` tells whether its work has ended, and nothing of it is left to raise.
        """
