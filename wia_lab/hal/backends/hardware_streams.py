"""Streams and events of a real machine, and Python functions on a stream's turn."""

from __future__ import annotations

import atexit
import ctypes
import itertools
import os
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from wia_lab.hal.backends.hardware_driver import Driver

NON_BLOCKING = 1  # CU_STREAM_NON_BLOCKING: does not wait for the default stream
_HostFunction = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_numbers = itertools.count(1)


@dataclass(eq=False, slots=True)
class HardwareStream:
    """A stream of the driver.

    Attributes
    ----------
    kept : deque of (int, object)
        What work that has not ended needs, such as staging memory, each with its number.
    failures : list of BaseException
        What functions on its turn raised, for whoever waits.
    is_destroyed : bool
        Whether the driver has it no more; its work has ended then.
    """

    name: str
    device: int
    pointer: Any
    numba: Any  # the same stream as numba-cuda's launches take it
    kept: deque[tuple[int, Any]] = field(default_factory=deque)
    failures: list[BaseException] = field(default_factory=list)
    is_destroyed: bool = False

    @property
    def is_drained(self) -> bool:
        """Whether it was destroyed, when its work had ended, and nothing is left to raise."""
        return self.is_destroyed and not self.failures

    def keep(self, thing: Any) -> None:
        """Keep what work needs that was given to the stream just now."""
        self.kept.append((next(_numbers), thing))

    @property
    def last(self) -> int:
        """The number of what was kept last; 0 for nothing."""
        try:
            return self.kept[-1][0]
        except IndexError:
            return 0

    def let_go(self, last: int) -> None:
        """Of what is kept, drop all up to a number."""
        while self.kept and self.kept[0][0] <= last:
            self.kept.popleft()

    def __cuda_stream__(self) -> tuple[int, int]:
        """As other libraries ask for it: the protocol's version, and the handle."""
        return 0, int(self.pointer)


@dataclass(eq=False, slots=True)
class HardwareEvent:
    """An event of the driver, made where it is first recorded: it belongs to a device."""

    name: str
    device: int | None = None
    pointer: Any = None
    stream: HardwareStream | None = None
    held: Any = None  # destroys the driver's event when it goes

    @property
    def is_recorded(self) -> bool:
        """Whether it was ever recorded."""
        return self.pointer is not None


class _Job(NamedTuple):
    """A function that a stream has still to come to."""

    function: Callable[[], None]
    driver: Driver
    stream: HardwareStream


_jobs: dict[int, _Job] = {}


def _run_job(number: int) -> None:
    try:
        _jobs[number].function()
    finally:
        del _jobs[number]  # not before: until it returns, the interpreter's end waits for it


@atexit.register
def _finish_jobs() -> None:
    """Wait for functions that the driver has still to call, as long as Python can run them."""
    for job in list(_jobs.values()):
        if job.driver.process != os.getpid():
            continue  # of the process that this one was forked from
        with suppress(Exception), job.driver.on(job.stream.device):
            job.driver.api.cuStreamSynchronize(job.stream.pointer)


_RUN_JOB = ctypes.cast(_HostFunction(_run_job), ctypes.c_void_p)


def host_function(driver: Driver, stream: HardwareStream, function: Callable[[], None]) -> None:
    """Call `function` when the stream comes to it, on a thread of the driver.

    It must not call CUDA. What it raises is kept for whoever waits for the stream.
    """

    def guarded() -> None:
        try:
            function()
        except BaseException as error:
            stream.failures.append(error)

    number = next(_numbers)
    _jobs[number] = _Job(guarded, driver, stream)
    try:
        driver.call(
            driver.api.cuLaunchHostFunc,
            stream.pointer,
            driver.api.CUhostFn(_RUN_JOB.value),
            number,
        )
    except BaseException:
        _jobs.pop(number, None)
        raise
