"""Spaces: the byte ranges that a kernel can touch.

A space is one array as it was declared or passed: storage, an address, and how to name a place in
it. Views, slices and record fields are `wia_lab.simt.values.View`s into a space. A shared space
holds one instance a block of the chunk, a local space one a lane, a global space one in all; the
instances lie one after another in `data`, `stride` bytes apart.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import numpy as np

GLOBAL_ALIGNMENT = 256  # bytes: what cudaMalloc aligns to
SHARED_ALIGNMENT = 128  # bytes: all 32 banks, so that instances of a chunk keep their banks
POISON = 0xFB  # fills shared and local memory: a large negative number in every type


@dataclass(eq=False, slots=True)
class Space:
    """One array's memory in all its instances."""

    kind: Literal["global", "shared", "local", "const"]
    name: str  # as the source calls it
    dtype: np.dtype
    shape: tuple[int, ...]
    strides: tuple[int, ...]  # bytes
    origin: int  # byte of `data` where element (0, 0, ...) of instance 0 lies
    data: np.ndarray  # uint8, all instances
    stride: int  # bytes from one instance to the next; nbytes of `data` when there is one
    base: int  # device address of data[0], or shared-window offset: what sectors and banks see
    granule: int  # bytes: the smallest unit that any access of this launch reads or writes
    written: bool = True  # False: no instruction of the program can write it
    line: int = 0  # where it was declared; 0 for an argument
    number: int = field(default=0)  # dense from 0 within a launch

    def view(self, dtype: np.dtype) -> np.ndarray:
        """All of `data` as elements of `dtype` (its size divides every aligned offset)."""
        size = self.data.nbytes - self.data.nbytes % dtype.itemsize
        return self.data[:size].view(dtype)

    def index_of(self, offset: int) -> tuple[int, ...]:
        """Index, in the array as declared, of the byte at `offset` of `data`."""
        rest = (offset - self.origin) % self.stride if self.stride else offset - self.origin
        index = [0] * len(self.shape)
        for axis in sorted(range(len(self.shape)), key=lambda a: -abs(self.strides[a])):
            if self.strides[axis]:
                index[axis], rest = divmod(rest, self.strides[axis])
        return tuple(index)

    def place(self, offset: int) -> str:
        """`tile[3, 4]`: the element at `offset`, as a message names it."""
        index = self.index_of(offset)
        return f"{self.name}[{', '.join(map(str, index))}]" if index else self.name
