"""Memory of the five kinds on a real machine.

Device memory is freed when the HAL says so. What the host reaches lives as long as an array over it
does: nobody reads freed memory through a view that was kept.
"""

from __future__ import annotations

import os
import weakref
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
    """

    def __init__(self, pointer: int, nbytes: int, kind: MemoryKind, device: int, name: str) -> None:
        self.pointer, self.nbytes, self.kind = pointer, nbytes, kind
        self.device, self.name = device, name
        self.array: np.ndarray[Any, Any] | None = None
        self.views: dict[Any, Any] = {}
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


class _Range:
    """Driver memory that goes when nobody refers to it, or is told to."""


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
                pointer = driver.call(api.cuMemHostAlloc, nbytes, PORTABLE)
            give_back = api.cuMemFreeHost
        else:
            _check_fits(driver, nbytes)
            pointer = driver.call(api.cuMemAllocManaged, nbytes, ATTACH_GLOBAL)
            give_back = api.cuMemFree
    storage = Storage(int(pointer), nbytes, kind, device, name)
    held = _Range()
    finalizer = weakref.finalize(held, driver.retired.append, (give_back, pointer, device))
    finalizer.atexit = False  # the process gives all of it back
    if kind.host_access:
        storage.array = np.asarray(_HostBytes(storage.pointer, nbytes, held))
    else:
        storage.free = finalizer
        storage.views[None] = held
    return storage


def part(whole: Storage, offset: int, nbytes: int, name: str) -> Storage:
    """Bytes of reserved device memory, which stay reserved when the part is released."""
    made = Storage(whole.pointer + offset, nbytes, whole.kind, whole.device, name)
    made.views[None] = whole
    return made


def release(driver: Driver, storage: Storage) -> None:
    """Give device memory back now; let go of what the host reaches."""
    storage.views.clear()
    if storage.free is not None:
        storage.free()
    storage.array = None
    driver.reap()


def _check_fits(driver: Driver, nbytes: int) -> None:
    """Refuse unified memory that the device could not hold: a driver can hang on more."""
    free, _ = driver.call(driver.api.cuMemGetInfo)
    if nbytes > free:
        raise errors.AllocatorError(
            f"{nbytes:,} bytes of unified memory, and the device has {free:,} free"
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
