"""What a variable holds while a chunk of threads runs in lockstep.

A number is a NumPy scalar when every lane that can still read it holds the same, else a vector with
one element a lane. A tuple is a tuple of values. Arrays, records and iterators are the classes
below; each of their parts is again uniform or one a lane. `blend` joins two values by a mask: it is
what a phi node, and any assignment under divergence, becomes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from wia_lab.simt.memory import Space

Value = Any


class Unset:
    """No statement that these lanes passed has set the variable."""

    def __repr__(self) -> str:
        return "unset"


UNSET = Unset()


@dataclass(frozen=True, slots=True)
class Partial:
    """A variable that only the lanes in `defined` have set."""

    value: Value
    defined: np.ndarray  # bool


@dataclass(frozen=True, slots=True)
class View:
    """An array, or a part of one: `offset` and `strides` are bytes from an instance's start."""

    space: Space
    dtype: np.dtype
    offset: Value
    shape: tuple[Value, ...]
    strides: tuple[Value, ...]

    @property
    def ndim(self) -> int:
        return len(self.shape)


@dataclass(frozen=True, slots=True)
class Record:
    """One element of a structured array: a place in memory, read when a field is."""

    space: Space
    dtype: np.dtype
    offset: Value


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several arrays, records or iterators, differing a lane: `options[which[lane]]`."""

    which: np.ndarray  # int
    options: tuple[Value, ...]


@dataclass(slots=True)
class Range:
    """A range's iterator. `left` is how many values are still to come."""

    next: Value
    step: Value
    left: Value
    dtype: np.dtype

    def copy(self) -> Range:
        return replace(self)


@dataclass(slots=True)
class Items:
    """An iterator over an indexable: an array, a tuple; `transform` makes the item."""

    source: Value
    at: Value
    length: Value
    extra: Value = None  # enumerate's start

    def copy(self) -> Items:
        return replace(self)


@dataclass(frozen=True, slots=True)
class Pair:
    """What `iternext` yields: an item, and whether there was one."""

    first: Value
    second: Value


@dataclass(frozen=True, slots=True)
class Optional:
    """A value or None: `present` tells which, uniform or a lane."""

    value: Value
    present: Value


@dataclass(frozen=True, slots=True)
class Slice:
    """A slice object; missing parts are None."""

    start: Value
    stop: Value
    step: Value


def is_number(value: Value) -> bool:
    """Whether the value is a scalar for all lanes, or a vector with one a lane."""
    return isinstance(value, (np.generic, np.ndarray))


def same(old: Value, new: Value) -> bool:
    """Whether two uniform values are certainly equal (a NaN equals itself here)."""
    if old is new:
        return True
    if isinstance(old, np.generic) and isinstance(new, np.generic):
        return old.dtype == new.dtype and old.tobytes() == new.tobytes()
    return type(old) is type(new) and not isinstance(old, np.ndarray) and _equal(old, new)


def _equal(old: Value, new: Value) -> bool:
    if isinstance(old, tuple):
        return len(old) == len(new) and all(map(same, old, new))
    return isinstance(old, (int, str, bytes)) and old == new


def blend(old: Value, new: Value, mask: np.ndarray) -> Value:
    """`new` in the lanes of `mask`, `old` in the others."""
    if old is None or same(old, new):
        return new
    if old is UNSET or isinstance(old, Partial) or new is UNSET or isinstance(new, Partial):
        return _blend_partial(old, new, mask)
    if is_number(old) and is_number(new):
        return np.where(mask, new, old)
    if type(old) is type(new):
        blender = _blend_tuple if isinstance(new, tuple) else _BLENDERS.get(type(new))
        if blender is not None:
            return blender(old, new, mask)
    return _choose(old, new, mask)


def _blend_partial(old: Value, new: Value, mask: np.ndarray) -> Value:
    old_value, old_set = _parts(old, mask.size)
    new_value, new_set = _parts(new, mask.size)
    defined = np.where(mask, new_set, old_set)
    if new_value is UNSET:
        return Partial(old_value, defined) if old_value is not UNSET else UNSET
    value = new_value if old_value is UNSET else blend(old_value, new_value, mask)
    return Partial(value, defined)


def _parts(value: Value, lanes: int) -> tuple[Value, np.ndarray]:
    if value is UNSET:
        return UNSET, np.zeros(lanes, bool)
    if isinstance(value, Partial):
        return value.value, value.defined
    return value, np.ones(lanes, bool)


def _blend_tuple(old: tuple, new: tuple, mask: np.ndarray) -> Value:
    parts = [blend(a, b, mask) for a, b in zip(old, new, strict=True)]
    return type(new)(*parts) if hasattr(new, "_fields") else tuple(parts)


def _blend_view(old: View, new: View, mask: np.ndarray) -> Value:
    if old.space is not new.space or old.dtype != new.dtype:
        return _choose(old, new, mask)
    return View(
        new.space,
        new.dtype,
        _number(old.offset, new.offset, mask),
        _numbers(old.shape, new.shape, mask),
        _numbers(old.strides, new.strides, mask),
    )


def _blend_record(old: Record, new: Record, mask: np.ndarray) -> Value:
    if old.space is not new.space or old.dtype != new.dtype:
        return _choose(old, new, mask)
    return Record(new.space, new.dtype, _number(old.offset, new.offset, mask))


def _blend_range(old: Range, new: Range, mask: np.ndarray) -> Value:
    return Range(
        _number(old.next, new.next, mask),
        _number(old.step, new.step, mask),
        _number(old.left, new.left, mask),
        new.dtype,
    )


def _blend_items(old: Items, new: Items, mask: np.ndarray) -> Value:
    return Items(
        blend(old.source, new.source, mask),
        _number(old.at, new.at, mask),
        _number(old.length, new.length, mask),
        None if new.extra is None else _number(old.extra, new.extra, mask),
    )


def _blend_pair(old: Pair, new: Pair, mask: np.ndarray) -> Value:
    return Pair(blend(old.first, new.first, mask), blend(old.second, new.second, mask))


def _blend_optional(old: Optional, new: Optional, mask: np.ndarray) -> Value:
    if old.value is None or new.value is None:
        value = old.value if new.value is None else new.value
    else:
        value = blend(old.value, new.value, mask)
    return Optional(value, _number(old.present, new.present, mask))


def _blend_slice(old: Slice, new: Slice, mask: np.ndarray) -> Value:
    parts = zip((old.start, old.stop, old.step), (new.start, new.stop, new.step), strict=True)
    return Slice(*(blend(a, b, mask) for a, b in parts))


def _numbers(old: tuple, new: tuple, mask: np.ndarray) -> tuple:
    return tuple(_number(a, b, mask) for a, b in zip(old, new, strict=True))


def _number(old: Value, new: Value, mask: np.ndarray) -> Value:
    """Blend two plain or NumPy numbers, keeping a uniform one uniform."""
    if old is new:
        return new
    if not isinstance(old, np.ndarray) and not isinstance(new, np.ndarray) and old == new:
        return new
    return np.where(mask, new, old)


def _choose(old: Value, new: Value, mask: np.ndarray) -> Choice:
    """A `Choice` between the options of both; equal spaces keep one option."""
    options: list[Value] = []
    which = np.zeros(mask.size, np.int32)
    for value, lanes in ((old, ~mask), (new, mask)):
        parts = value.options if isinstance(value, Choice) else (value,)
        for number, part in enumerate(parts):
            place = next((i for i, seen in enumerate(options) if seen is part), len(options))
            if place == len(options):
                options.append(part)
            chosen = lanes if not isinstance(value, Choice) else lanes & (value.which == number)
            which[chosen] = place
    return Choice(which, tuple(options))


def _blend_choice(old: Choice, new: Choice, mask: np.ndarray) -> Value:
    return _choose(old, new, mask)


_BLENDERS = {
    View: _blend_view,
    Record: _blend_record,
    Range: _blend_range,
    Items: _blend_items,
    Pair: _blend_pair,
    Optional: _blend_optional,
    Slice: _blend_slice,
    Choice: _blend_choice,
}
