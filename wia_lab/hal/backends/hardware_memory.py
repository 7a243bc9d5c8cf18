"""Memory of the five kinds on a real machine.

Device memory is freed when the HAL says so. What the host reaches lives as long as an array over it
does: nobody reads freed memory through a view that was kept.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from wia_lab import errors
from wia_lab.hal.backends import hardware_sheet
from wia_lab.hal.errors import InvalidValue
from wia_lab.hal.kinds import MemoryKind

if TYPE_CHECKING:
    from wia_lab.hal.backends.hardware_driver import Driver

PORTABLE = 1  # CU_MEMHOSTALLOC_PORTABLE: pinned for every device's copies
MAPPED = 2  # CU_MEMHOSTALLOC_DEVICEMAP: kernels reach it, at the same address; the HAL says which
ATTACH_GLOBAL = 1  # CU_MEM_ATTACH_GLOBAL: any stream may touch it


class Storage:
    """A range of memory.

    Attributes
    ----------
    pointer : int
        Address, the same for host and devices.
    nbytes : int
        How many bytes there are.
    kind : MemoryKind
        Of which kind they are.
    device : int
        The device that it was allocated on.
    name : str
        What traces call it.
    array : numpy.ndarray or None
        The bytes, where the host reaches them.
    views : dict
        Arrays of numba-cuda that were made over it, by place and layout.
    kept : object
        What the bytes are part of, or what frees them.
    """

    def __init__(self, pointer: int, nbytes: int, kind: MemoryKind, device: int, name: str) -> None:
        self.pointer, self.nbytes, self.kind = pointer, nbytes, kind
        self.device, self.name = device, name
        self.array: np.ndarray[Any, Any] | None = None
        self.views: dict[Any, Any] = {}
        self.kept: object = None
        self.free: Callable[[], object] | None = None


class _HostBytes:
    """Lets NumPy make an array over driver memory that keeps the range alive."""

    def __init__(self, pointer: int, nbytes: int, kept: object) -> None:
        self.kept = kept
        self.__array_interface__ = {
            "shape": (nbytes,),
            "typestr": "|u1",
            "data": (pointer, False),
            "version": 3,
        }


def allocate(
    driver: Driver, nbytes: int, kind: MemoryKind, device: int, name: str, numa_node: int | None
) -> Storage:
    """Undefined bytes.

    Raises
    ------
    AllocatorError
        Where the driver, or for unified memory the device, has no such room.
    """
    api = driver.api
    if kind is MemoryKind.HOST:
        with _near(numa_node):
            array = np.empty(nbytes, np.uint8)
            if numa_node is not None:
                array[:: os.sysconf("SC_PAGE_SIZE")] = 0  # a page lies where it is first touched
        storage = Storage(array.__array_interface__["data"][0], nbytes, kind, device, name)
        storage.array = array
        return storage
    with driver.on(device):
        if kind is MemoryKind.DEVICE:
            pointer, give_back = driver.call(api.cuMemAlloc, nbytes), api.cuMemFree
        elif kind is MemoryKind.PINNED:
            with _near(numa_node):
                pointer = driver.call(api.cuMemHostAlloc, nbytes, PORTABLE | MAPPED)
            give_back = api.cuMemFreeHost
        else:
            _check_fits(driver, nbytes, device)
            pointer = driver.call(api.cuMemAllocManaged, nbytes, ATTACH_GLOBAL)
            give_back = _managed(driver, nbytes, device)
    storage = Storage(int(pointer), nbytes, kind, device, name)
    held = driver.held(give_back, pointer, device)
    if kind.host_access:
        storage.array = np.asarray(_HostBytes(storage.pointer, nbytes, held))
    else:
        storage.free, storage.kept = held.let_go, held
    return storage


def _managed(driver: Driver, nbytes: int, device: int) -> Callable[[Any], Any]:
    """Count managed memory, and give back the function that frees it."""
    driver.managed[device] = driver.managed.get(device, 0) + nbytes

    def give_back(pointer: Any) -> Any:
        driver.managed[device] -= nbytes
        return driver.api.cuMemFree(pointer)

    return give_back


def part(whole: Storage, offset: int, nbytes: int, name: str) -> Storage:
    """Bytes of reserved device memory, which stay reserved when the part is released."""
    made = Storage(whole.pointer + offset, nbytes, whole.kind, whole.device, name)
    made.kept = whole
    return made


def release(driver: Driver, storage: Storage) -> None:
    """Give device memory back now; let go of what the host reaches."""
    storage.views.clear()
    storage.kept = None
    if storage.free is not None:
        storage.free()
    storage.array = None
    driver.reap()


def _check_fits(driver: Driver, nbytes: int, device: int) -> None:
    """Refuse unified memory that the device could not hold: a driver can hang on more.

    Pages that nobody has touched take none of the free memory yet, so all that was asked for
    before counts as if it were still to come.
    """
    free, _ = driver.call(driver.api.cuMemGetInfo)
    before = driver.managed.get(device, 0)
    if before + nbytes > free:
        raise errors.AllocatorError(
            f"{nbytes:,} bytes of unified memory beside the {before:,} there are, and the device "
            f"has {free:,} free"
        )


@contextmanager
def _near(node: int | None) -> Iterator[None]:
    """Run on the processors of a socket, so that memory is taken there."""
    if node is None:
        yield
        return
    before = os.sched_getaffinity(0)
    wanted = hardware_sheet.processors(node) & before
    if not wanted and hardware_sheet.numa_nodes() > 1:
        raise InvalidValue(
            f"numa_node={node}: this process may run on no processor of that socket, so its memory "
            "cannot be taken there: widen the process's affinity, or leave numa_node out"
        )
    os.sched_setaffinity(0, wanted or before)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
