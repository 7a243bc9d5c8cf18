"""What an allocator has done: one frozen record, the same for every allocator."""

from __future__ import annotations

from dataclasses import dataclass, fields

from wia_lab.memory.sizes import format_size

__all__ = ["Statistics"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """The books of one allocator at one moment. Every `…_bytes` is in bytes.

    Attributes
    ----------
    live_blocks, live_bytes : int
        Blocks handed out and not freed, and their bytes as granted (rounded sizes).
    requested_bytes : int
        The same blocks as they were asked for.
    peak_live_bytes : int
        The most that `live_bytes` has been.
    reserved_bytes, peak_reserved_bytes : int
        What is held from below and not given back, in the allocator's own unit: up to the end of
        the last live block for a plain range, pages mapped for a paged one, blocks taken from
        upstream for the others.
    free_bytes, largest_free_bytes : int
        Free in all, and the largest piece that one allocation could get.
    cached_bytes : int
        Freed by the user, kept for reuse.
    allocations, frees, failures : int
        Calls that succeeded, and allocations refused for lack of memory.
    hits, misses : int
        Allocations served from a cache, and those that had to ask below; 0 without a cache.
    """

    live_blocks: int = 0
    live_bytes: int = 0
    requested_bytes: int = 0
    peak_live_bytes: int = 0
    reserved_bytes: int = 0
    peak_reserved_bytes: int = 0
    free_bytes: int = 0
    largest_free_bytes: int = 0
    cached_bytes: int = 0
    allocations: int = 0
    frees: int = 0
    failures: int = 0
    hits: int = 0
    misses: int = 0

    @property
    def fragmentation(self) -> float:
        """1 - largest free / total free: 0 when all that is free is one piece, or nothing is."""
        return 1 - self.largest_free_bytes / self.free_bytes if self.free_bytes else 0.0

    @property
    def rounding_loss(self) -> float:
        """Share of the live bytes that was granted but not asked for."""
        return 1 - self.requested_bytes / self.live_bytes if self.live_bytes else 0.0

    @property
    def hit_rate(self) -> float:
        """Share of the allocations that a cache served."""
        served = self.hits + self.misses
        return self.hits / served if served else 0.0

    def __str__(self) -> str:
        lines = []
        for field in fields(self):
            value = getattr(self, field.name)
            text = format_size(value) if field.name.endswith("_bytes") else f"{value:,}"
            lines.append(f"{field.name:20} {text:>14}")
        lines.append(f"{'fragmentation':20} {self.fragmentation:>14.3f}")
        return "\n".join(lines)
