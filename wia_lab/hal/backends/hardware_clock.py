"""Time on a real machine: the host's clock, devices' events laid on it, work that is watched."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from wia_lab.hal.backends.base import Interval

if TYPE_CHECKING:
    from wia_lab.hal.backends.hardware_driver import Driver
    from wia_lab.hal.backends.hardware_streams import HardwareEvent, HardwareStream


class Clock:
    """Seconds since it was made.

    Attributes
    ----------
    watches : dict of int to Watch
        The devices whose work is being watched.
    """

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._started = time.perf_counter()
        self._bases: dict[int, tuple[Any, float]] = {}  # an event, and when it happened
        self.watches: dict[int, Watch] = {}

    def now(self) -> float:
        """As the host sees it."""
        return time.perf_counter() - self._started

    def begin(self, device: int) -> tuple[Any, float]:
        """The device's first event, and when it happened; made now if there is none."""
        if device not in self._bases:
            with self._driver.on(device):
                self._bases[device] = self._marked()
        return self._bases[device]

    def moment(self, event: HardwareEvent) -> float:
        """When an event happened."""
        base, began = self.begin(event.device or 0)
        api = self._driver.api
        return began + float(self._driver.call(api.cuEventElapsedTime, base, event.pointer)) / 1e3

    def elapsed(self, earlier: HardwareEvent, later: HardwareEvent) -> float:
        """Seconds between two, to the device's own resolution if both are of one."""
        if earlier.device != later.device:
            return self.moment(later) - self.moment(earlier)
        pointers = earlier.pointer, later.pointer
        return float(self._driver.call(self._driver.api.cuEventElapsedTime, *pointers)) / 1e3

    def watch(self, device: int, *, on: bool) -> None:
        """Begin for one watcher, or end."""
        found = self.watches.get(device)
        if on and found is None:
            with self._driver.on(device):
                base, began = self._marked()
            found = self.watches[device] = Watch(self._driver, base, began)
            found.held.append(self._driver.held(self._driver.api.cuEventDestroy, base, device))
        if found is not None:
            found.users += 1 if on else -1
            if not on and found.users == 0:
                del self.watches[device]

    def watched(self, stream: HardwareStream, kind: str, name: str) -> Watched:
        """`with`: what is submitted inside, if its device is watched."""
        watch = self.watches.get(stream.device)
        label = f"copy to {name}" if kind == "copy" and not name.startswith("prefetch") else name
        return Watched(watch, stream, kind, label)

    def intervals(self, device: int, since: float) -> list[Interval]:
        """What was watched and has ended."""
        watch = self.watches.get(device)
        return [] if watch is None else watch.intervals(device, since)

    def _marked(self) -> tuple[Any, float]:
        """An event of the current device that has happened, and when."""
        api = self._driver.api
        event = self._driver.call(api.cuEventCreate, 0)
        self._driver.call(api.cuEventRecord, event, api.CUstream(0))
        self._driver.call(api.cuEventSynchronize, event)
        return event, self.now()


@dataclass(slots=True)
class Watch:
    """Events around each piece of work of a device while a profiler watches it."""

    driver: Driver
    base: Any
    began: float  # on the machine's clock
    users: int = 0
    pairs: list[tuple[str, str, str, Any, Any]] = field(default_factory=list)
    held: list[Any] = field(default_factory=list)  # destroys the events as the watch ends

    def intervals(self, device: int, since: float) -> list[Interval]:
        """What has ended, and began at `since` or later."""
        api, found = self.driver.api, []
        for name, kind, stream, begin, end in self.pairs:
            if self.driver.status(api.cuEventQuery, end):
                continue
            times = [
                self.began + self.driver.call(api.cuEventElapsedTime, self.base, each) / 1e3
                for each in (begin, end)
            ]
            if times[0] >= since:
                found.append(Interval(name, kind, device, stream, *times))
        return sorted(found, key=lambda each: each.end)


class Watched:
    """Records an event before and after what is submitted inside, if the device is watched."""

    __slots__ = ("_begin", "_kind", "_name", "_stream", "_watch")

    def __init__(self, watch: Watch | None, stream: HardwareStream, kind: str, name: str) -> None:
        self._watch, self._stream, self._kind, self._name = watch, stream, kind, name

    def __enter__(self) -> None:
        if self._watch is not None:
            self._begin = self._event()

    def __exit__(self, kind: object, *_: object) -> None:
        if self._watch is not None and kind is None:
            row = self._name, self._kind, self._stream.name, self._begin, self._event()
            self._watch.pairs.append(row)

    def _event(self) -> Any:
        driver, stream = self._watch.driver, self._stream  # type: ignore[union-attr]
        with driver.on(stream.device):
            event = driver.call(driver.api.cuEventCreate, 0)
            held = driver.held(driver.api.cuEventDestroy, event, stream.device)
            self._watch.held.append(held)  # type: ignore[union-attr]
            driver.call(driver.api.cuEventRecord, event, stream.pointer)
        return event
