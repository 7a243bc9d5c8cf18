"""Streams and events of the simulated device, on the simulated clock of `wia_lab.timeline`.

Copies, launches and marks all go through `enqueue`. Work on the default stream is done when it is
submitted, after all that it waits for; work on another stream when its turn comes, at the latest
when the host waits for it. What nothing orders is told then too, as hazards are; see
`wia_lab.cuda.policy`. Host code takes no simulated time, except that a query takes one microsecond,
so that polling ends.
"""

from __future__ import annotations

import threading
import warnings
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from wia_lab.cuda import policy
from wia_lab.cuda.errors import CudaAPIError, NotOnSimulatorError
from wia_lab.timeline import Engine, Outcome, Region, Timeline, Work
from wia_lab.timeline import Event as Mark

QUERY = 1_000  # ns
UPLOAD = Engine("upload", 0)
DOWNLOAD = Engine("download", 0)
COMPUTE = Engine("compute", 0)

_lock = threading.RLock()  # one host thread at a time; callbacks run in whichever waits
_timeline = Timeline(host_call=0, keep=False)
_found: list[tuple[Any, Sequence[Any]]] = []  # reports of launches that ran, and their hazards
_in_callback = False


class Stream:
    """A queue of work that runs in order on the simulated device."""

    def __init__(self, name: str | None = None, *, legacy: bool = False) -> None:
        with _lock:
            self.queue = _timeline.stream(legacy=legacy)
        self.handle = self.queue.number
        self.name = self.queue.name = name or f"CUDA stream {self.handle}"
        self.external = False
        weakref.finalize(self, _timeline.retire, self.queue).atexit = False

    def __repr__(self) -> str:
        return f"<{self.name} on the simulator>"

    def __int__(self) -> int:
        return self.handle

    def synchronize(self) -> None:
        """Block the host until the work submitted to this stream has ended."""
        _wait(self.queue)

    @contextmanager
    def auto_synchronize(self) -> Iterator[Stream]:
        """Synchronise this stream on leaving the ``with``."""
        yield self
        self.synchronize()

    def add_callback(self, callback: Callable[[Any, int, Any], None], arg: Any = None) -> None:
        """Call ``callback(stream, status, arg)`` once the work submitted so far has ended.

        An exception in it becomes a warning, as on hardware. It must not use CUDA itself.
        """

        def call() -> None:
            global _in_callback  # noqa: PLW0603 - the one host thread that callbacks run in
            _in_callback = True
            try:
                callback(self, 0, arg)
            except Exception as error:
                warnings.warn(f"Exception in stream callback: {error}", stacklevel=2)
            finally:
                _in_callback = False

        enqueue(self, Work("callback", action=call, kind="host"), wait=False)


class Event:
    """A mark in a stream; `timing=False` makes one that cannot be timed."""

    def __init__(self, *, timing: bool = True) -> None:
        self.timing = timing
        self._mark = Mark()

    def __repr__(self) -> str:
        when = "not recorded"
        if (operation := self._mark.operation) is not None:
            when = "pending" if operation.end is None else f"at {operation.end / 1e6:.6f} ms"
        return f"<CUDA event, {when}, on the simulator>"

    def record(self, stream: Any = 0) -> None:
        """Mark the point after the work submitted so far to `stream`."""
        target = resolve(stream)
        with _lock:
            _refuse_in_callback()
            _timeline.record(self._mark, target.queue)

    def query(self) -> bool:
        """Whether the marked work has ended; an event never recorded counts as done."""
        with _lock:
            _refuse_in_callback()
            _timeline.now += QUERY
            if not _timeline.query(self._mark):
                return False
            _deliver()
            return True

    def synchronize(self) -> None:
        """Block the host until the marked work has ended."""
        _wait(self._mark)

    def wait(self, stream: Any = 0) -> None:
        """Hold later work of `stream` until the marked work has ended; the host goes on.

        An event never recorded holds nothing, as on hardware.
        """
        target = resolve(stream)
        with _lock:
            _refuse_in_callback()
            if self._mark.is_recorded:
                _timeline.wait(target.queue, self._mark)

    def elapsed_time(self, evtend: Event) -> float:
        """Milliseconds of simulated time from this event to `evtend`.

        Raises
        ------
        CudaAPIError
            CUDA_ERROR_INVALID_HANDLE when either was not recorded or is not for timing;
            CUDA_ERROR_NOT_READY when either has not happened yet: synchronise first.
        """
        return (evtend._moment() - self._moment()) / 1e6

    def _moment(self) -> int:
        """Nanoseconds of the simulated clock."""
        operation = self._mark.operation
        if operation is None or not self.timing:
            raise CudaAPIError(
                "CUDA_ERROR_INVALID_HANDLE",
                f"{self!r} has no time: make it with cuda.event() and record it first",
            )
        if operation.end is None or operation.end > _timeline.now:
            raise CudaAPIError(
                "CUDA_ERROR_NOT_READY",
                f"{self!r} has not happened yet: call its synchronize() first",
            )
        return operation.end


_default = Stream("Default CUDA stream", legacy=True)
_per_thread = Stream("Per-thread default CUDA stream")


def enqueue(stream: Any, work: Work, *, wait: bool) -> None:
    """Submit `work` to `stream`, 0 for the default one; with `wait` the host waits for its end.

    Raises
    ------
    HazardError
        Where the host waits, or the default stream does: what was found wrong until then.
    BaseException
        What failed, likewise.
    """
    target = resolve(stream)
    with _lock:
        _refuse_in_callback()
        operation = _timeline.submit(target.queue, work)
        if wait:
            _wait(target.queue)
        elif target is _default and work.kind != "host":
            _timeline.finish(operation)
            _deliver()


def submit(
    stream: Any,
    work: Callable[[], Any],
    seconds: float,
    *,
    wait: bool,
    before: Callable[[], None] | None = None,
    name: str = "work",
    engine: Engine | None = None,
    reads: tuple[Region, ...] = (),
    writes: tuple[Region, ...] = (),
) -> None:
    """Submit `work`, which takes `seconds` and is done at their end, `before` at their start."""
    outcome = Outcome(nanoseconds(seconds), reads, writes)

    def begin() -> Outcome:
        if before is not None:
            before()
        return outcome

    enqueue(
        stream,
        Work(
            name,
            engines=(engine,) if engine else (),
            action=work,
            begin=begin,
            kind="copy",
            site=policy.caller_site(),
        ),
        wait=wait,
    )


def nanoseconds(seconds: float) -> int:
    """Ticks of the simulated clock."""
    return round(seconds * 1e9)


def found(report: Any, hazards: Sequence[Any]) -> None:
    """Keep what a launch did wrong until the host waits."""
    if hazards:
        _found.append((report, hazards))


def resolve(stream: Any) -> Stream:
    """The stream that a caller's `stream=` means: a `Stream`, or 0 for the default one."""
    if isinstance(stream, Stream):
        return stream
    if stream is None or (isinstance(stream, int) and stream == 0):
        return _default
    raise TypeError(f"stream is {stream!r}: give a stream made by cuda.stream(), or 0")


def is_default(stream: Any) -> bool:
    """Whether `stream` means the default stream."""
    return resolve(stream) is _default


def synchronize() -> None:
    """Block the host until all work submitted to the device has ended."""
    _wait(None)


def stream() -> Stream:
    """A new stream."""
    return Stream()


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
    return Event(timing=timing)


def event_elapsed_time(evtstart: Event, evtend: Event) -> float:
    """Milliseconds of simulated time between two events."""
    return evtstart.elapsed_time(evtend)


def _wait(target: Any) -> None:
    """Let the host wait, and tell what was found wrong until then."""
    with _lock:
        _refuse_in_callback()
        _timeline.synchronize(target)
        _deliver()


def _deliver() -> None:
    """Raise what failed; warn of hazards, or raise them, all that are known in one."""
    _timeline.raise_failure(*_timeline.streams)
    races = [policy.as_hazard(each) for each in _timeline.order.take()]
    launches = list(_found)
    _found.clear()
    if races or launches:
        report = launches[0][0] if launches else None
        policy.judge([*(each for _, told in launches for each in told), *races], report)


def _refuse_in_callback() -> None:
    if _in_callback:
        raise CudaAPIError(
            "CUDA_ERROR_NOT_PERMITTED",
            "a stream callback used CUDA, which it must not: let it set a flag that the host reads",
        )
