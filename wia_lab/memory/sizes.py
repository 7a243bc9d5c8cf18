"""Sizes: spelling, rounding, and size classes spaced a chosen number to a doubling."""

from __future__ import annotations

import re
from dataclasses import dataclass

from wia_lab.errors import AlignmentError, SizeError

__all__ = [
    "GRANULE",
    "PAGE",
    "SizeClasses",
    "align_up",
    "checked_alignment",
    "checked_size",
    "format_size",
    "parse_size",
]

GRANULE = 256  # bytes; what cudaMalloc's pools round to, and the alignment that it promises
PAGE = 2 << 20  # bytes; the granule in which CUDA maps virtual memory on current parts
LARGEST_ALIGNMENT = 1 << 30

_UNITS = {"": 1, "B": 1, "KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "TIB": 1 << 40}
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*")


def parse_size(size: int | str) -> int:
    """Return the bytes that `size` names: an integer, or text such as "2GiB" or "512 KiB"."""
    if isinstance(size, bool):
        raise SizeError(f"size is {size!r}: give bytes as an integer, or text such as '2GiB'")
    if isinstance(size, int):
        return size
    match = _SIZE.fullmatch(size) if isinstance(size, str) else None
    if match is None or (unit := _UNITS.get(match[2].upper())) is None:
        raise SizeError(f"size is {size!r}: give bytes as an integer, or text such as '2GiB'")
    return int(float(match[1]) * unit)


def format_size(size: int) -> str:
    """Return `size` bytes as a reader likes them: 768 B, 1.5 KiB, 2.0 MiB."""
    value = float(size)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(value) < 1024 or unit == "GiB":
            break
        value /= 1024
    return f"{size:,} B" if unit == "B" else f"{value:,.1f} {unit}"


def align_up(value: int, alignment: int) -> int:
    """Return the smallest multiple of `alignment` that is not below `value`."""
    return -(-value // alignment) * alignment


def checked_size(size: int, largest: int, where: str) -> int:
    """Return `size` if `where` could ever hand it out, else raise SizeError."""
    if size.__class__ is int and 0 < size <= largest:
        return size
    if isinstance(size, bool) or not isinstance(size, int):
        raise SizeError(f"{where} was asked for {size!r}: give bytes as an integer")
    if size <= 0:
        raise SizeError(f"{where} was asked for {size:,} B: ask for at least 1 B")
    if size > largest:
        raise SizeError(
            f"{where} was asked for {size:,} B, more than the {largest:,} B it manages: "
            "ask for less or make it larger"
        )
    return size


def checked_alignment(alignment: int, where: str) -> int:
    """Return `alignment` if it is a power of two up to 1 GiB, else raise AlignmentError."""
    good = isinstance(alignment, int) and not isinstance(alignment, bool)
    if not good or alignment <= 0 or alignment & (alignment - 1):
        raise AlignmentError(
            f"{where} was asked for alignment {alignment!r}: give a power of two, such as 256"
        )
    if alignment > LARGEST_ALIGNMENT:
        raise AlignmentError(
            f"{where} was asked for alignment {alignment:,}: the largest is {LARGEST_ALIGNMENT:,}"
        )
    return alignment


@dataclass(frozen=True, slots=True)
class SizeClasses:
    """Sizes spaced `steps` to a doubling, all multiples of `granule`.

    Classes are numbered from 0. Up to 2 × `steps` granules there is a class for each granule;
    from there each doubling has `steps` classes, so at most 1 / `steps` of a block is lost to
    rounding. With `steps=1` the classes are the powers of two.

    Parameters
    ----------
    granule : int
        Bytes of the smallest class.
    steps : int
        Classes in a doubling, a power of two.
    """

    granule: int = GRANULE
    steps: int = 4

    def __post_init__(self) -> None:
        if self.granule <= 0:
            raise SizeError(f"size classes with granule {self.granule}: give at least 1 B")
        if self.steps <= 0 or self.steps & (self.steps - 1):
            raise SizeError(f"size classes with {self.steps} steps: give a power of two")

    def index(self, size: int) -> int:
        """Return the number of the smallest class that holds `size` bytes."""
        units = -(-size // self.granule)
        bits = self.steps.bit_length() - 1
        shift = (units - 1).bit_length() - 1 - bits
        if shift <= 0:
            return units - 1
        return self.steps * shift - (-units >> shift) - 1  # -(-u >> s) is u / 2^s rounded up

    def size(self, index: int) -> int:
        """Return the bytes of class `index`."""
        if index < 2 * self.steps:
            return (index + 1) * self.granule
        shift = index // self.steps - 1
        return ((index - self.steps * shift + 1) << shift) * self.granule
