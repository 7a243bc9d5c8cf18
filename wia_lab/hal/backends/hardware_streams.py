"""Streams and events of a real machine, and Python functions on a stream's turn."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wia_lab.hal.backends.hardware_driver import Driver

NON_BLOCKING = 1  # CU_STREAM_NON_BLOCKING: does not wait for the default stream
_HostFunction = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_jobs: dict[int, Callable[[], None]] = {}
_numbers = itertools.count(1)


@dataclass(eq=False, slots=True)
class HardwareStream:
    """A stream of the driver.

    Attributes
    ----------
    kept : list
        What work that has not ended needs: staging memory, functions.
    failures : list of BaseException
        What functions on its turn raised, for whoever waits.
    """

    name: str
    device: int
    pointer: Any
    numba: Any  # the same stream as numba-cuda's launches take it
    kept: list[Any] = field(default_factory=list)
    failures: list[BaseException] = field(default_factory=list)

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

    @property
    def is_recorded(self) -> bool:
        """Whether it was ever recorded."""
        return self.pointer is not None


def _run_job(number: int) -> None:
    _jobs.pop(number)()


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
    _jobs[number] = guarded
    stream.kept.append(guarded)
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
