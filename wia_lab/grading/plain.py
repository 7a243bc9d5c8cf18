"""Plain data over a pipe: JSON with tags, a closed list of records, no pickle.

A value of any other class, a subclass of a plain one included, becomes `Opaque`, which equals
nothing: an object whose `__eq__` always agrees arrives as its class's name.
"""

from __future__ import annotations

import base64
import dataclasses
import json
from collections import Counter
from types import MappingProxyType
from typing import Any

import numpy as np

from wia_lab.puzzles.host_puzzle import Reply
from wia_lab.puzzles.puzzle import Diagnosis, Flight, Remark, Shuffles, Writers
from wia_lab.simt.counts import ArrayTraffic, Counts
from wia_lab.simt.hazards.found import Hazard, Thread

RECORDS: dict[str, Any] = {
    each.__name__: each
    for each in (
        ArrayTraffic,
        Counts,
        Diagnosis,
        Flight,
        Hazard,
        Remark,
        Reply,
        Shuffles,
        Thread,
        Writers,
    )
}
"""Every class that may come over the pipe."""

DEEPEST = 40
MOST_KEYS = 1000
"""Entries of a mapping or set: keys chosen to collide cost the reader their square."""

SCALARS = (bool, int, float, str, type(None))
SEQUENCES: dict[type[Any], str] = {tuple: "t", list: "l", frozenset: "f"}
MAPPINGS = (dict, Counter, MappingProxyType)


class Opaque:
    """What stands for a value that is no plain data; equal to nothing, not even to itself."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def __eq__(self, _other: object) -> bool:
        return False

    def __ne__(self, _other: object) -> bool:
        return True

    def __repr__(self) -> str:
        return f"<{self.kind} object>"


class PlainError(ValueError):
    """What came over the pipe is not in the form agreed."""


def dumps(value: Any) -> str:
    """Return the text of `value`."""
    return json.dumps(encode(value), separators=(",", ":"))


def loads(text: str | bytes) -> Any:
    """Return the value of a text that `dumps` made.

    Raises
    ------
    PlainError
        The text is anything else.
    """
    try:
        return decode(json.loads(text))
    except PlainError:
        raise
    except (ValueError, TypeError, KeyError, RecursionError, AttributeError) as error:
        raise PlainError(f"the reply is not in the form agreed ({error})") from error


def encode(value: Any, depth: int = 0) -> Any:
    """Return `value` as what JSON can hold; classes are compared exactly, never by isinstance."""
    kind: type[Any] = type(value)
    if kind in SCALARS:
        return value
    if depth > DEEPEST:
        return ["o", "deeply nested"]
    if kind in (frozenset, *MAPPINGS) and len(value) > MOST_KEYS:
        return ["o", f"large {kind.__name__}"]
    if kind in SEQUENCES:
        return [SEQUENCES[kind], *(encode(item, depth + 1) for item in value)]
    if kind in MAPPINGS:
        return ["d", *([encode(k, depth + 1), encode(v, depth + 1)] for k, v in value.items())]
    if kind is np.ndarray and value.dtype.kind in "biufc":
        data = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode("ascii")
        return ["a", value.dtype.str, list(value.shape), data]
    if issubclass(kind, np.generic) and kind.__module__ == "numpy":
        return encode(value.item(), depth + 1) if value.dtype.kind in "biuf" else ["o", "numpy"]
    if RECORDS.get(kind.__name__) is kind:
        names = (
            [each.name for each in dataclasses.fields(value)]
            if dataclasses.is_dataclass(kind)
            else kind._fields
        )
        return ["r", kind.__name__, *(encode(getattr(value, name), depth + 1) for name in names)]
    return ["o", kind.__name__[:80]]


def decode(value: Any) -> Any:
    """Return what `encode` was given; PlainError where it cannot have been."""
    if type(value) is not list:
        if type(value) in SCALARS:
            return value
        raise PlainError("the reply holds an object that is not tagged")
    tag, *rest = value
    if tag == "t":
        return tuple(decode(item) for item in rest)
    if tag == "l":
        return [decode(item) for item in rest]
    if tag in {"f", "d"} and len(rest) > MOST_KEYS:
        raise PlainError(f"the reply holds a mapping or set of {len(rest):,} entries")
    if tag == "f":
        return frozenset(decode(item) for item in rest)
    if tag == "d":
        return {decode(key): decode(item) for key, item in rest}
    if tag == "a":
        return _array(*rest)
    if tag == "r":
        return _record(*rest)
    if tag == "o":
        return Opaque(str(rest[0]))
    raise PlainError(f"the reply holds an unknown tag {tag!r}")


def _array(dtype: str, shape: list[int], data: str) -> np.ndarray:
    kind = np.dtype(dtype)
    if kind.kind not in "biufc":
        raise PlainError(f"the reply holds an array of {dtype}")
    flat = np.frombuffer(base64.b64decode(data, validate=True), kind)
    return flat.reshape(shape).copy()


def _record(name: str, *values: Any) -> Any:
    decoded = [decode(item) for item in values]
    if name == "Counts" and any(type(item) is not int or item < 0 for item in decoded):
        raise PlainError("the reply holds counters that are no counts")
    return RECORDS[name](*decoded)
