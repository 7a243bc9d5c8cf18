"""Types of the kernel language, and C's rules of which meets which (C11 §6.3.1, OpenCL C §6.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number. `cast` is the name, in the Python text, of what converts to it."""

    name: str
    dtype: np.dtype[Any]
    rank: int

    @property
    def cast(self) -> str:
        """As generated text converts to it."""
        return str(self.dtype)

    @property
    def is_float(self) -> bool:
        """Whether it is a floating-point type."""
        return self.dtype.kind == "f"

    @property
    def is_signed(self) -> bool:
        """Whether it is a signed integer."""
        return self.dtype.kind == "i"

    @property
    def bits(self) -> int:
        """How many."""
        return self.dtype.itemsize * 8


def _scalar(name: str, dtype: Any, rank: int) -> Scalar:
    return Scalar(name, np.dtype(dtype), rank)


BOOL = _scalar("bool", np.bool_, 0)
INT = _scalar("int", np.int32, 3)
UINT = _scalar("uint", np.uint32, 4)
LONG = _scalar("long", np.int64, 5)
ULONG = _scalar("ulong", np.uint64, 6)
FLOAT = _scalar("float", np.float32, 7)
DOUBLE = _scalar("double", np.float64, 8)

SCALARS = {
    each.name: each
    for each in (
        BOOL,
        _scalar("char", np.int8, 1),
        _scalar("uchar", np.uint8, 1),
        _scalar("short", np.int16, 2),
        _scalar("ushort", np.uint16, 2),
        INT,
        UINT,
        LONG,
        ULONG,
        FLOAT,
        DOUBLE,
    )
}
SHORTHANDS = ("uchar", "ushort", "uint", "ulong", "size_t", "ptrdiff_t")
"""Names that a C parser does not know as types; OpenCL C does."""

_WORDS = {
    "_Bool": "bool", "bool": "bool", "char": "char", "short": "short", "int": "int",
    "long": "long", "float": "float", "double": "double", "unsigned": "uint", "signed": "int",
    "size_t": "ulong", "ptrdiff_t": "long", **{each: each for each in SHORTHANDS[:4]},
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Memory:
    """An array, or a pointer to the start of one: `rank` indices lead to an element."""

    element: Scalar
    space: str  # "global", "constant", "local" or "private"
    rank: int
    is_const: bool


Type = Scalar | Memory | None
"""None is void."""


def scalar(words: list[str]) -> Scalar | None:
    """The type that some words of C name; None for void.

    Raises
    ------
    KeyError
        When they name none of the language.
    """
    if words == ["void"]:
        return None
    left = [each for each in words if each not in ("signed", "unsigned")]
    if left[1:] == ["int"] and left[0] in ("short", "long"):
        left = left[:1]  # short int, long int
    if len(left) > 1:
        raise KeyError(" ".join(words))
    name = _WORDS[left[0]] if left else "int"
    return SCALARS["u" + name if "unsigned" in words else name]


def promoted(kind: Scalar) -> Scalar:
    """What arithmetic makes of a type: nothing is narrower than int."""
    return INT if kind.rank < INT.rank else kind


def common(one: Scalar, other: Scalar) -> Scalar:
    """The type in which two numbers meet: the higher rank of both, at least int."""
    return max(promoted(one), promoted(other), key=lambda each: each.rank)
