"""Which bytes work on the simulated device touches, as the order between streams is checked on.

Host and simulated device memory are NumPy arrays alike: the bytes of an array belong to the buffer
of the array that owns them, however it was sliced or reshaped since.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from wia_lab.simt.events import Listener
from wia_lab.timeline import Buffer, Region

if TYPE_CHECKING:
    from wia_lab.simt.events import Access, AsyncCopy
    from wia_lab.simt.memory import Space

READ, WRITTEN = 1, 2

_buffers: dict[int, Buffer] = {}
_pinned: set[int] = set()


def owner(array: np.ndarray) -> np.ndarray:
    """The array whose memory `array` is a view of; itself when it has its own."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def buffer_of(array: np.ndarray, name: str | None = None, place: str = "host") -> Buffer:
    """The buffer of the memory that `array` uses; made, and called `name`, when first asked for."""
    root = owner(array)
    found = _buffers.get(id(root))
    if found is None:
        low, high = _bounds(root)
        found = Buffer(name or f"the {described(array)} host array", high - low, place)
        _buffers[id(root)] = found
        weakref.finalize(root, _buffers.pop, id(root), None)
    return found


def described(array: np.ndarray) -> str:
    """`float32[3, 4]`: type and shape."""
    return f"{array.dtype}[{', '.join(map(str, array.shape))}]"


def pin(array: np.ndarray) -> None:
    """Copies of the memory of `array` need not be waited for by the host from now on."""
    root = owner(array)
    if id(root) not in _pinned:
        _pinned.add(id(root))
        weakref.finalize(root, _pinned.discard, id(root))


def unpin(array: np.ndarray) -> None:
    """Undo `pin`."""
    _pinned.discard(id(owner(array)))


def is_pinned(array: np.ndarray) -> bool:
    """Whether the memory of `array` is page-locked."""
    return id(owner(array)) in _pinned


def region(array: np.ndarray) -> Region:
    """The bytes of an array within its buffer."""
    buffer = buffer_of(array)
    start = _bounds(owner(array))[0]
    if not array.size:
        return Region(buffer, 0, 0)
    low, high = (bound - start for bound in _bounds(array))
    if high - low == array.nbytes:
        return Region(buffer, low, high)
    marks = np.zeros(high - low, np.uint8)
    cells = np.array(array.__array_interface__["data"][0] - start - low)
    for size, step in zip(array.shape, array.strides, strict=True):
        cells = cells[..., None] + np.arange(size) * step
    for part in range(array.itemsize):
        marks[cells + part] = 1
    return Region(buffer, low, high, runs_of(marks, 1) + low)


def runs_of(marks: np.ndarray, bit: int) -> np.ndarray:
    """First and one after the last of each run of marks with `bit`, of shape (runs, 2)."""
    held = np.zeros(marks.size + 2, np.int8)
    held[1:-1] = marks & bit != 0
    edges = np.flatnonzero(np.diff(held))
    return edges.reshape(-1, 2)


class Touched(Listener):
    """Notes each byte of global memory that a launch reads or writes."""

    def __init__(self, arrays: Iterable[np.ndarray]) -> None:
        self._known = {id(owner(each)): owner(each) for each in arrays}
        self._marks: dict[int, tuple[Space, np.ndarray]] = {}

    def on_access(self, access: Access) -> None:
        """Mark what the active lanes touch."""
        if access.space.kind == "global":
            bits = {"load": READ, "store": WRITTEN}.get(access.kind, READ | WRITTEN)
            self._mark(access.space, access.offsets[access.active], access.nbytes, bits)

    def on_async_copy(self, copy: AsyncCopy) -> None:
        """Mark what the active lanes copy."""
        lanes = copy.active & ~copy.zero_filled
        self._mark(copy.source, copy.source_offsets[lanes], copy.nbytes, READ)

    def _mark(self, space: Space, cells: np.ndarray, nbytes: int, bits: int) -> None:
        found = self._marks.get(space.number)
        if found is None:
            found = self._marks[space.number] = (space, np.zeros(space.data.nbytes, np.uint8))
        for part in range(nbytes):
            found[1][cells + part] |= bits

    def regions(self, bit: int) -> tuple[Region, ...]:
        """What was read (`READ`) or written (`WRITTEN`) of the arrays named at the start."""
        return tuple(self._regions(bit))

    def _regions(self, bit: int) -> Iterator[Region]:
        for space, marks in self._marks.values():
            runs = runs_of(marks, bit)
            address = _bounds(space.data)[0]
            root = self._root(address)
            if not len(runs) or root is None:
                continue
            runs += address - _bounds(root)[0]
            low, high = int(runs[0, 0]), int(runs[-1, 1])
            yield Region(buffer_of(root), low, high, runs if len(runs) > 1 else None)

    def _root(self, address: int) -> np.ndarray | None:
        for root in self._known.values():
            low, high = _bounds(root)
            if low <= address < high:
                return root
        return None


def _bounds(array: np.ndarray) -> tuple[int, int]:
    """Addresses of the first byte and of the one after the last; none of an empty array count."""
    if not array.size:
        return 0, 0
    low, high = np.lib.array_utils.byte_bounds(array)
    return int(low), int(high)
