"""What stands behind a byte range: nothing, host memory, or device memory.

An allocator only computes offsets. Where bytes must be moved, filled or looked at (compaction,
guards), it asks the heap's backing. Device memory comes from the HAL as any object with these
four methods; `HostBacking` is the one for NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

import numpy as np

from wia_lab.errors import SizeError

__all__ = ["Backing", "HostBacking", "move_in_pieces"]


@runtime_checkable
class Backing(Protocol):
    """Bytes that can be read, written, filled and moved. Offsets and counts are in bytes."""

    @property
    def nbytes(self) -> int:
        """How many bytes there are."""

    def read(self, offset: int, nbytes: int) -> bytes:
        """Return a copy of `nbytes` bytes."""

    def write(self, offset: int, data: bytes) -> None:
        """Put `data` at `offset`."""

    def fill(self, offset: int, nbytes: int, value: int) -> None:
        """Set `nbytes` bytes to `value`, 0 to 255."""

    def move(self, target: int, source: int, nbytes: int) -> None:
        """Copy `nbytes` bytes from `source` to `target`; the two ranges may overlap."""


class HostBacking:
    """Host memory: a NumPy array of bytes, one's own or given.

    Parameters
    ----------
    memory : int or numpy.ndarray
        The bytes to make, or an array of uint8 to use in place.
    """

    def __init__(self, memory: int | np.ndarray) -> None:
        if isinstance(memory, int):
            if memory <= 0:
                raise SizeError(f"host backing of {memory:,} B: give at least 1 B")
            memory = np.zeros(memory, dtype=np.uint8)
        if memory.dtype != np.uint8 or memory.ndim != 1:
            raise SizeError(
                f"host backing of shape {memory.shape} and type {memory.dtype}: give a 1-D array "
                "of uint8, such as array.view('uint8').ravel()"
            )
        self.bytes = memory

    @property
    def nbytes(self) -> int:
        return int(self.bytes.size)

    def read(self, offset: int, nbytes: int) -> bytes:
        return self.bytes[offset : offset + nbytes].tobytes()

    def write(self, offset: int, data: bytes) -> None:
        self.bytes[offset : offset + len(data)] = np.frombuffer(data, dtype=np.uint8)

    def fill(self, offset: int, nbytes: int, value: int) -> None:
        self.bytes[offset : offset + nbytes] = value

    def move(self, target: int, source: int, nbytes: int) -> None:
        def copy(to: int, start: int, count: int) -> None:
            self.bytes[to : to + count] = self.bytes[start : start + count]

        move_in_pieces(copy, target, source, nbytes)


def move_in_pieces(
    copy: Callable[[int, int, int], None], target: int, source: int, nbytes: int
) -> int:
    """Move bytes whose old and new place may overlap with a copy that must not overlap.

    Device copies (cuMemcpyDtoD) are undefined where source and target overlap. Pieces no longer
    than the distance moved never do: ascending when the block moves down, descending when it
    moves up, so that no byte is overwritten before it was read.

    Parameters
    ----------
    copy : callable
        `copy(target, source, nbytes)` for ranges that do not overlap.
    target, source, nbytes : int
        Where to, where from, how much, in bytes.

    Returns
    -------
    int
        How many copies it took.
    """
    distance = abs(target - source)
    if distance == 0 or nbytes == 0:
        return 0
    starts = range(0, nbytes, distance)
    for start in starts if target < source else reversed(starts):
        copy(target + start, source + start, min(distance, nbytes - start))
    return len(starts)
