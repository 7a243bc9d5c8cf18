"""The five kinds of memory of WIA-AI-011 (§3.5.1), and who may touch each."""

from __future__ import annotations

from enum import Enum


class MemoryKind(Enum):
    """Where memory lives, and who reaches it.

    ========  ======  =======  ==============================================================
    kind      host    kernels  copies in a stream
    ========  ======  =======  ==============================================================
    DEVICE    no      yes      asynchronous
    HOST      yes     no       staged: read before the call returns, waited for when written
    PINNED    yes     mapped   asynchronous
    UNIFIED   yes     yes      asynchronous; placed by the caller's advice and prefetch
    MANAGED   yes     yes      asynchronous; placed by the library
    ========  ======  =======  ==============================================================

    Kernels reach pinned memory that was allocated with `mapped=True`: where it is, over the link
    and without a copy (zero-copy), each time anew.
    """

    DEVICE = "device"
    HOST = "host"
    PINNED = "pinned"
    UNIFIED = "unified"
    MANAGED = "managed"

    @property
    def host_access(self) -> bool:
        """Whether host code may read and write it in place."""
        return self is not MemoryKind.DEVICE

    @property
    def kernel_access(self) -> bool:
        """Whether kernels may read and write it in place, however it was allocated."""
        return self not in (MemoryKind.HOST, MemoryKind.PINNED)

    @property
    def on_device(self) -> bool:
        """Whether it takes a device's memory from the start."""
        return self is MemoryKind.DEVICE

    @property
    def migrates(self) -> bool:
        """Whether its pages move to whoever touches them."""
        return self in (MemoryKind.UNIFIED, MemoryKind.MANAGED)

    @property
    def is_staged(self) -> bool:
        """Whether copies go through a buffer of the driver, as pages may move."""
        return self is MemoryKind.HOST
