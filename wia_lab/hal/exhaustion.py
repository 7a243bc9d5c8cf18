"""What is told when a device's memory, or a context's share of it, runs out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wia_lab.hal.errors import OutOfMemory
from wia_lab.memory import format_size
from wia_lab.wording import counted

if TYPE_CHECKING:
    from wia_lab.errors import AllocatorError
    from wia_lab.hal.context_memory import MemoryHolder

HOLDERS_TOLD = 3


def exhausted(context: MemoryHolder, nbytes: int, error: AllocatorError) -> OutOfMemory:
    """What is left, who has the rest, and what to do; `nbytes` is 0 where nobody knows it."""
    asked = counted(nbytes, "byte") if nbytes else "memory was"
    books = context.device.memory.statistics
    holders = sorted(
        (each for each in context.buffers if each.block is not None), key=lambda each: -each.nbytes
    )
    in_use = sum(each.nbytes for each in holders)
    told = ", ".join(f"{each.name} ({format_size(each.nbytes)})" for each in holders[:HOLDERS_TOLD])
    return OutOfMemory(
        f"{asked} asked of {context.device!r}: {error}; this context has {in_use:,} bytes "
        f"in use, the device {books.reserved_bytes:,} reserved, and its largest hole is "
        f"{books.largest_free_bytes:,}; the biggest holders are {told or 'none'}",
        requested=nbytes,
        free=books.free_bytes,
        largest_free=books.largest_free_bytes,
        holders=tuple(
            (each.block.offset, each.nbytes, each.name) for each in holders if each.block
        ),
    )
