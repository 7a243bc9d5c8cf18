"""Streams and events of the simulated device, and the clock they run on.

This is the one place where work on the simulated device is ordered: copies, launches and
allocations all go through `submit`. A stream runs its work in the order given, and starts a piece
no earlier than the host submitted it. The default stream waits for every other stream, and they
for it, as CUDA's legacy default stream does. Each piece takes the seconds that its caller names
(the cost model's, or bytes over the link's bandwidth); host code takes none, except that a query
costs one microsecond, so that polling ends. The effect of a piece is there as soon as it is
submitted: only its time is simulated.
"""

from __future__ import annotations

import itertools
import warnings
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from wia_lab.cuda.errors import CudaAPIError, NotOnSimulatorError

QUERY_SECONDS = 1e-6
_numbers = itertools.count(1)


class Clock:
    """Simulated time of the host and of the device, in seconds.

    Attributes
    ----------
    host
        The host's time.
    device
        When all work submitted so far has ended.
    streams
        The streams in use, which the default stream and they wait for.
    """

    def __init__(self) -> None:
        self.host = 0.0
        self.device = 0.0
        self.streams: weakref.WeakSet[Stream] = weakref.WeakSet()

    def wait_for(self, moment: float) -> None:
        """Block the host until `moment`."""
        self.host = max(self.host, moment)


class Stream:
    """A queue of work that runs in order on the simulated device.

    Attributes
    ----------
    end
        When the work submitted so far ends, in seconds of simulated time.
    """

    def __init__(self, clock: Clock, name: str | None = None) -> None:
        self.handle = next(_numbers)
        self.end = 0.0
        self.external = False
        self._clock = clock
        self._name = name or f"CUDA stream {self.handle}"
        clock.streams.add(self)

    def __repr__(self) -> str:
        return f"<{self._name} on the simulator>"

    def __int__(self) -> int:
        return self.handle

    def synchronize(self) -> None:
        """Block the host until the work submitted to this stream has ended."""
        self._clock.wait_for(self.end)

    @contextmanager
    def auto_synchronize(self) -> Iterator[Stream]:
        """Synchronise this stream on leaving the ``with``."""
        yield self
        self.synchronize()

    def add_callback(self, callback: Callable[[Any, int, Any], None], arg: Any = None) -> None:
        """Call ``callback(stream, status, arg)`` once the work submitted so far has ended.

        An exception in it becomes a warning, as on hardware.
        """
        try:
            callback(self, 0, arg)
        except Exception as error:
            warnings.warn(f"Exception in stream callback: {error}", stacklevel=2)


class Event:
    """A mark in a stream; `timing=False` makes one that cannot be timed."""

    def __init__(self, clock: Clock, *, timing: bool = True) -> None:
        self.timing = timing
        self._clock = clock
        self._time: float | None = None

    def __repr__(self) -> str:
        when = "not recorded" if self._time is None else f"at {self._time * 1e3:.6f} ms"
        return f"<CUDA event, {when}, on the simulator>"

    def record(self, stream: Any = 0) -> None:
        """Mark the point after the work submitted so far to `stream`."""
        self._time = max(_ready(stream), self._clock.host)

    def query(self) -> bool:
        """Whether the marked work has ended; an event never recorded counts as done."""
        self._clock.host += QUERY_SECONDS
        return self._time is None or self._time <= self._clock.host

    def synchronize(self) -> None:
        """Block the host until the marked work has ended."""
        self._clock.wait_for(self._time or 0.0)

    def wait(self, stream: Any = 0) -> None:
        """Hold later work of `stream` until the marked work has ended; the host goes on."""
        target = resolve(stream)
        target.end = max(target.end, self._time or 0.0)

    def elapsed_time(self, evtend: Event) -> float:
        """Milliseconds of simulated time from this event to `evtend`.

        Raises
        ------
        CudaAPIError
            CUDA_ERROR_INVALID_HANDLE when either was not recorded or is not for timing;
            CUDA_ERROR_NOT_READY when either has not happened yet: synchronise first.
        """
        for each in (self, evtend):
            if each._time is None or not each.timing:  # noqa: SLF001 - of the same class
                raise CudaAPIError(
                    "CUDA_ERROR_INVALID_HANDLE",
                    f"{each!r} has no time: make it with cuda.event() and record it first",
                )
            if each._time > self._clock.host:  # noqa: SLF001
                raise CudaAPIError(
                    "CUDA_ERROR_NOT_READY",
                    f"{each!r} has not happened yet: call its synchronize() first",
                )
        return (evtend._moment() - self._moment()) * 1e3

    def _moment(self) -> float:
        return self._time or 0.0


_clock = Clock()
_default = Stream(_clock, "Default CUDA stream")
_per_thread = Stream(_clock, "Per-thread default CUDA stream")


def submit(
    stream: Any, work: Callable[[], Any], seconds: float | Callable[[Any], float], *, wait: bool
) -> Any:
    """Run `work` on `stream` (0 for the default one), for which it takes `seconds`.

    `seconds` may be a function of what `work` returns. With `wait` the host waits for the end.
    Returns what `work` returns; if it raises, no time passes.
    """
    target = resolve(stream)
    result = work()
    occupy(target, seconds(result) if callable(seconds) else seconds)
    if wait:
        _clock.wait_for(target.end)
    return result


def occupy(stream: Any, seconds: float) -> None:
    """Let `stream` be busy for `seconds`, from when it, and the host, are ready."""
    target = resolve(stream)
    target.end = max(_ready(target), _clock.host) + seconds
    _clock.device = max(_clock.device, target.end)
    if target is _default:
        for each in _clock.streams:
            each.end = max(each.end, target.end)


def resolve(stream: Any) -> Stream:
    """The stream that a caller's `stream=` means: a `Stream`, or 0 for the default one."""
    if isinstance(stream, Stream):
        return stream
    if stream is None or (isinstance(stream, int) and stream == 0):
        return _default
    raise TypeError(f"stream is {stream!r}: give a stream made by cuda.stream(), or 0")


def synchronize() -> None:
    """Block the host until all work submitted to the device has ended."""
    _clock.wait_for(_clock.device)


def stream() -> Stream:
    """A new stream."""
    return Stream(_clock)


def default_stream() -> Stream:
    """The stream that work without a stream runs on."""
    return _default


legacy_default_stream = default_stream


def per_thread_default_stream() -> Stream:
    """The host thread's own default stream; the default stream and it wait for each other."""
    return _per_thread


def external_stream(ptr: int) -> Stream:
    """Refuse: a stream of another library is a stream of the hardware."""
    raise NotOnSimulatorError(
        f"external_stream({ptr!r}) needs a GPU: make a stream with cuda.stream()"
    )


def event(timing: bool = True) -> Event:
    """A new event, which has not happened."""
    return Event(_clock, timing=timing)


def event_elapsed_time(evtstart: Event, evtend: Event) -> float:
    """Milliseconds of simulated time between two events."""
    return evtstart.elapsed_time(evtend)


def _ready(stream: Any) -> float:
    target = resolve(stream)
    return _clock.device if target is _default else target.end
