"""Waiting for a real machine's streams and events, and what may be let go when work has ended.

Several threads may wait for one stream while others give it work: what the work needs is let go
only up to where the stream was when the wait began.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from wia_lab.hal.backends.hardware_driver import SUCCESS
from wia_lab.hal.backends.hardware_streams import HardwareEvent, HardwareStream
from wia_lab.hal.errors import DeviceLost

if TYPE_CHECKING:
    from wia_lab.hal.backends.hardware_driver import Driver

SHORTEST_SLEEP, LONGEST_SLEEP = 2e-5, 1e-3
"""Seconds between two looks, of a host that waits with a timeout."""

Target = HardwareStream | HardwareEvent


class Waiter:
    """Waits for streams and events of one machine, and destroys streams that were closed."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._closing: list[HardwareStream] = []
        self._lock = threading.Lock()  # never held while a thread waits in the driver

    def query(self, target: Target) -> bool:
        """Whether it has ended."""
        if _is_destroyed(target):
            self._after(target, 0)
            return True
        api, last = self._driver.api, _last(target)
        function = api.cuStreamQuery if isinstance(target, HardwareStream) else api.cuEventQuery
        with self._driver.on(target.device or 0):
            ended = self._driver.status(function, target.pointer) == SUCCESS
        if ended:
            self._after(target, last)
        return ended

    def wait(self, target: Target, timeout: float | None) -> bool:
        """Wait in the driver, or look from time to time until `timeout` seconds have passed."""
        if timeout is not None:
            deadline, pause = time.perf_counter() + timeout, SHORTEST_SLEEP
            while not self.query(target):
                if time.perf_counter() >= deadline:
                    return False
                time.sleep(pause)
                pause = min(2 * pause, LONGEST_SLEEP)
            return True
        if _is_destroyed(target):
            self._after(target, 0)
            return True
        api, last = self._driver.api, _last(target)
        is_stream = isinstance(target, HardwareStream)
        function = api.cuStreamSynchronize if is_stream else api.cuEventSynchronize
        with self._driver.on(target.device or 0):
            self._driver.call(function, target.pointer)
        self._after(target, last)
        return True

    def close(self, stream: HardwareStream) -> None:
        """Destroy a stream when what it was given is done."""
        with self._lock:
            self._closing.append(stream)
        self._close_idle()

    def _after(self, target: Target, last: int) -> None:
        """Raise what functions on the stream raised; let go of what its work needed."""
        self._driver.reap()
        stream = target if isinstance(target, HardwareStream) else target.stream
        if stream is None:
            return
        with self._lock:
            if isinstance(target, HardwareStream):
                stream.let_go(last)
            failure = stream.failures.pop(0) if stream.failures else None
        if failure is not None:
            raise failure
        self._close_idle()

    def _close_idle(self) -> None:
        with self._lock:
            waiting, self._closing = self._closing, []
        busy = []
        for stream in waiting:
            last = stream.last
            with self._driver.on(stream.device):
                try:
                    if self._driver.status(self._driver.api.cuStreamQuery, stream.pointer):
                        busy.append(stream)
                        continue
                    self._driver.call(self._driver.api.cuStreamDestroy, stream.pointer)
                except DeviceLost:  # and the stream with it
                    pass
            stream.is_destroyed = True
            with self._lock:
                stream.let_go(last)
        with self._lock:
            self._closing += busy


def _is_destroyed(target: Target) -> bool:
    return isinstance(target, HardwareStream) and target.is_destroyed


def _last(target: Target) -> int:
    """The last thing that the stream's work needs, as of now; 0 for an event."""
    return target.last if isinstance(target, HardwareStream) else 0
