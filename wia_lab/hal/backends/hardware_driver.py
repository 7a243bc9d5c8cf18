"""CUDA's driver as the hardware back end calls it: its errors as the HAL's, its contexts by number.

`cuda.bindings` comes with numba-cuda and is imported only where hardware is asked for.
"""

from __future__ import annotations

import functools
import importlib
import os
import weakref
from collections import deque
from typing import TYPE_CHECKING, Any

from wia_lab import errors
from wia_lab.hal.errors import AccessRefused, DeviceLost, HalError, InvalidValue, NotReady

if TYPE_CHECKING:
    from collections.abc import Callable

SUCCESS, NOT_READY, OUT_OF_MEMORY, INVALID_VALUE = 0, 600, 2, 1
PEER_ENABLED, PEER_REFUSED = 704, 217

LOST = frozenset((46, 201, 214, 220, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721, 999, 4))
"""After these the CUDA guide has the context unusable: illegal address, failed launch, ECC, …"""

HOST_LOCATION, DEVICE_LOCATION = "CU_MEM_LOCATION_TYPE_HOST", "CU_MEM_LOCATION_TYPE_DEVICE"


class Driver:
    """The driver, with the primary context of each device kept as long as the process lives.

    Attributes
    ----------
    api : module
        `cuda.bindings.driver`.
    device_count : int
        GPUs that it shows.
    retired : deque
        Functions with a handle and a device, to be called where the driver may be.
    managed : dict of int to int
        Bytes of unified and managed memory that were allocated on each device and not freed.
    process : int
        The process that started it: CUDA does not survive a fork.
    """

    def __init__(self) -> None:
        self.api: Any = importlib.import_module("cuda.bindings.driver")
        self.call(self.api.cuInit, 0)
        self.device_count: int = self.call(self.api.cuDeviceGetCount)
        self._contexts: dict[int, Any] = {}
        self.retired: deque[tuple[Callable[..., Any], Any, int]] = deque()
        self.managed: dict[int, int] = {}
        self.process = os.getpid()

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """What a function of the driver returns beside its status.

        Raises
        ------
        HalError
            Of the class that fits, or `AllocatorError` where the driver has no memory left.
        """
        status, *results = function(*arguments)
        if status != SUCCESS:
            raise self.failure(int(status), function.__name__)
        return results[0] if len(results) == 1 else results or None

    def status(self, function: Callable[..., Any], *arguments: Any) -> int:
        """The status of a query, which is not an error when work has not ended.

        Raises
        ------
        HalError
            For any status but success and not ready.
        """
        found = int(function(*arguments)[0])
        if found not in (SUCCESS, NOT_READY):
            raise self.failure(found, function.__name__)
        return found

    def failure(self, status: int, what: str) -> Exception:
        """The error for a status."""
        result = self.api.CUresult(status)
        text = self.api.cuGetErrorString(result)[1]
        words = text.decode() if isinstance(text, bytes) else str(text)
        sentence = f"{what}: the driver says {result.name} ({words})"
        if status == OUT_OF_MEMORY:
            return errors.AllocatorError(sentence)
        if status in LOST:
            return DeviceLost(f"{sentence}: what the device held is gone")
        if status == PEER_REFUSED:
            return AccessRefused(sentence)
        if status == INVALID_VALUE:
            return InvalidValue(sentence)
        return NotReady(sentence) if status == NOT_READY else HalError(sentence)

    def context(self, device: int) -> Any:
        """The primary context of a device, made on first use."""
        found = self._contexts.get(device)
        if found is None:
            found = self.call(self.api.cuDevicePrimaryCtxRetain, self.api.CUdevice(device))
            self._contexts[device] = found
        return found

    def on(self, device: int) -> _Current:
        """`with driver.on(device)`: its context is the thread's, and the old one afterwards."""
        return _Current(self, self.context(device))

    def reap(self) -> None:
        """Free what was let go where the driver could not be called."""
        while self.retired:
            try:
                function, handle, device = self.retired.popleft()
            except IndexError:  # another thread was faster
                return
            try:
                with self.on(device):
                    self.call(function, handle)
            except DeviceLost:  # and the memory with it; whoever uses that device is told
                continue

    def held(self, give_back: Callable[..., Any], handle: Any, device: int) -> Held:
        """An object that gives a handle back as it goes, or when it is told to."""
        made = Held()
        made.let_go = weakref.finalize(made, self.retired.append, (give_back, handle, device))
        made.let_go.atexit = False  # the process gives all of it back
        return made

    def attribute(self, device: int, name: str) -> int:
        """An attribute of a device, by the end of its name in the driver's header."""
        which = getattr(self.api.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
        return int(self.call(self.api.cuDeviceGetAttribute, which, self.api.CUdevice(device)))

    def name(self, device: int) -> str:
        """What the device is called."""
        found = self.call(self.api.cuDeviceGetName, 256, self.api.CUdevice(device))
        return str(found.split(b"\0")[0].decode())

    def location(self, place: int | None) -> Any:
        """A place of unified memory: a device's number, or None for the host."""
        found = self.api.CUmemLocation()
        kind = HOST_LOCATION if place is None else DEVICE_LOCATION
        found.type = getattr(self.api.CUmemLocationType, kind)
        found.id = 0 if place is None else place
        return found


class Held:
    """Keeps a handle of the driver's."""

    let_go: weakref.finalize[Any, Any]


def driver() -> Driver:
    """The driver of this process.

    Raises
    ------
    InvalidValue
        In a process that was forked from one that had started it.
    """
    found = _driver()
    if found.process != os.getpid():
        raise InvalidValue(
            f"hardware: process {found.process} started CUDA, and this one, {os.getpid()}, was "
            "forked from it, which CUDA does not survive: start processes by "
            "multiprocessing.get_context('spawn')"
        )
    return found


@functools.cache
def _driver() -> Driver:
    return Driver()


class _Current:
    """Makes a context the thread's own, if it is not, and gives the old one back."""

    __slots__ = ("_context", "_driver", "_pushed")

    def __init__(self, driver: Driver, context: Any) -> None:
        self._driver, self._context, self._pushed = driver, context, False

    def __enter__(self) -> None:
        api = self._driver.api
        if int(self._driver.call(api.cuCtxGetCurrent)) != int(self._context):
            self._driver.call(api.cuCtxPushCurrent, self._context)
            self._pushed = True

    def __exit__(self, *_: object) -> None:
        if self._pushed:
            self._driver.call(self._driver.api.cuCtxPopCurrent)
