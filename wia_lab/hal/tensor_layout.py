"""How the elements of a tensor lie in its buffer, and the layouts of its views.

A view has a layout of its own over the same bytes: reshaping, transposing and slicing are
arithmetic on shapes and strides, and move nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import index as whole
from typing import Any

import numpy as np

from wia_lab.hal.checks import is_whole
from wia_lab.hal.errors import InvalidValue
from wia_lab.wording import counted

DTYPES = tuple(
    np.dtype(name)
    for name in (
        *("float16", "float32", "float64"),
        *("int8", "int16", "int32", "int64"),
        *("uint8", "uint16", "uint32", "uint64"),
    )
)
"""Types of elements that tensors may have."""

MOST_DIMENSIONS = 32


@dataclass(frozen=True, slots=True)
class Layout:
    """Where each element is.

    Attributes
    ----------
    shape : tuple of int
        Elements along each axis.
    dtype : numpy.dtype
        Of the elements.
    strides : tuple of int
        Bytes from one element to the next along each axis; may be zero or negative.
    offset : int
        Bytes from the buffer's start to element (0, 0, …).
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    strides: tuple[int, ...]
    offset: int = 0

    @classmethod
    def contiguous(cls, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Layout:
        """Rows one after the other, as C has them."""
        return cls(shape, dtype, row_strides(shape, dtype.itemsize))

    @property
    def size(self) -> int:
        """Elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of its elements, each counted as often as it appears."""
        return self.size * self.dtype.itemsize

    @property
    def extent(self) -> tuple[int, int]:
        """First byte that it touches, and the one after the last; 0 and 0 of no elements."""
        if not self.size:
            return 0, 0
        ends = [(n - 1) * stride for n, stride in zip(self.shape, self.strides, strict=True)]
        low = self.offset + sum(end for end in ends if end < 0)
        return low, self.offset + sum(end for end in ends if end > 0) + self.dtype.itemsize

    @property
    def is_contiguous(self) -> bool:
        """Whether its elements follow each other without holes, in C's order."""
        rows = row_strides(self.shape, self.dtype.itemsize)
        return not self.size or all(
            n == 1 or mine == row
            for n, mine, row in zip(self.shape, self.strides, rows, strict=True)
        )

    def array(self, memory: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The elements as an array over `memory`: the bytes of `extent`, as uint8."""
        if not self.size:
            return np.empty(self.shape, self.dtype)
        offset = self.offset - self.extent[0]
        return np.ndarray(self.shape, self.dtype, memory.data, offset, self.strides)

    def reshaped(self, shape: int | Sequence[int]) -> Layout:
        """The same elements in the same order; one length may be -1: what is left.

        Raises
        ------
        InvalidValue
            Another number of elements, or an order that no strides over the same bytes give.
        """
        new = _filled_in(self, several("shape", shape))
        if self.is_contiguous:
            return Layout(new, self.dtype, row_strides(new, self.dtype.itemsize), self.offset)
        strides = _strides_of_reshaped(self, new)
        if strides is None:
            raise InvalidValue(
                f"reshape: a tensor of shape {self.shape} with strides {self.strides} cannot be "
                f"seen as {new} without a copy: reshape contiguous(tensor)"
            )
        return Layout(new, self.dtype, strides, self.offset)

    def transposed(self, axes: Sequence[int] | None = None) -> Layout:
        """Axis i of the result is axis `axes[i]`; without `axes`, all in reverse."""
        ndim = len(self.shape)
        order = tuple(range(ndim))[::-1] if axes is None else several("transpose: axes", axes)
        places = [axis + ndim if axis < 0 else axis for axis in order]
        if sorted(places) != list(range(ndim)):
            raise InvalidValue(
                f"transpose: {order} for a tensor of {ndim} axes: name each of 0 to {ndim - 1} once"
            )
        return Layout(
            tuple(self.shape[axis] for axis in places),
            self.dtype,
            tuple(self.strides[axis] for axis in places),
            self.offset,
        )

    def indexed(self, index: Any) -> Layout:
        """By integers, slices and `...`, as NumPy's basic indexing does."""
        shape: list[int] = []
        strides: list[int] = []
        offset = self.offset
        for axis, each in enumerate(_one_each(index, self.shape)):
            n, stride = self.shape[axis], self.strides[axis]
            if isinstance(each, slice):
                start, stop, step = each.indices(n)
                count = len(range(start, stop, step))
                offset += start * stride if count else 0
                shape.append(count)
                strides.append(step * stride)
                continue
            place = whole(each)
            if not -n <= place < n:
                ways = f"give {-n} to {n - 1}" if n else "there is none to give"
                raise InvalidValue(
                    f"index {place} along axis {axis}, which has {n} elements: {ways}"
                )
            offset += (place % n) * stride
        return Layout(tuple(shape), self.dtype, tuple(strides), offset)


def checked_shape(shape: int | Sequence[int]) -> tuple[int, ...]:
    """A shape as a tuple; refuse negative lengths and what is no integer."""
    lengths = several("shape", shape)
    if any(n < 0 for n in lengths) or len(lengths) > MOST_DIMENSIONS:
        raise InvalidValue(
            f"shape {lengths}: give at most {MOST_DIMENSIONS} lengths, each 0 or more"
        )
    return lengths


def several(what: str, numbers: Any) -> tuple[int, ...]:
    """One integer or a sequence of them, as a tuple; refuse what is neither."""
    try:
        given = tuple([numbers] if is_whole(numbers) else numbers)
    except TypeError:
        given = (None,)
    if not all(map(is_whole, given)):
        raise InvalidValue(f"{what} {numbers!r}: give integers, as in (3, 4)")
    return tuple(map(whole, given))


def checked_dtype(dtype: Any) -> np.dtype[Any]:
    """The type of elements in native byte order; refuse what tensors cannot hold."""
    try:
        found = None if dtype is None else np.dtype(dtype)
    except (TypeError, ValueError):
        found = None
    if found is None or found.newbyteorder("=") not in DTYPES:
        raise InvalidValue(
            f"{dtype!r} is no type of a tensor's elements: choose "
            f"{', '.join(each.name for each in DTYPES)}"
        )
    native: np.dtype[Any] = found.newbyteorder("=")
    return native


def row_strides(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """Bytes, or with `itemsize` 1 elements, from one element to the next along each axis."""
    strides = [itemsize]
    for n in reversed(shape[1:]):
        strides.append(strides[-1] * max(n, 1))
    return tuple(reversed(strides)) if shape else ()


def _filled_in(layout: Layout, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape with -1 replaced, once it is known to fit."""
    known = math.prod(n for n in shape if n != -1)
    new = shape
    if shape.count(-1) == 1 and known > 0 and layout.size % known == 0:
        new = tuple(layout.size // known if n == -1 else n for n in shape)
    if any(n < 0 for n in new) or math.prod(new) != layout.size:
        raise InvalidValue(
            f"reshape: {counted(layout.size, 'element')}, of shape {layout.shape}, cannot fill "
            f"{shape}: the product of the lengths must stay, and one of them may be -1"
        )
    return new


def _strides_of_reshaped(layout: Layout, shape: tuple[int, ...]) -> tuple[int, ...] | None:
    """Strides that give the elements in the same order, or None.

    Axes are taken in groups of equal products; those of one old group must follow each other
    without holes. (NumPy's `attempt_nocopy_reshape`.)
    """
    old = [(n, s) for n, s in zip(layout.shape, layout.strides, strict=True) if n != 1]
    strides: list[int] = []
    i = 0
    at = 0
    while at < len(shape):
        group, product = [shape[at]], shape[at]
        at += 1
        if product == 1:  # its stride is never used
            strides.append(layout.dtype.itemsize)
            continue
        mine = [old[i]]
        have = old[i][0]
        i += 1
        while product != have:
            if product < have:
                product *= shape[at]
                group.append(shape[at])
                at += 1
            else:
                have *= old[i][0]
                mine.append(old[i])
                i += 1
        if any(outer != n * inner for (_, outer), (n, inner) in pairwise(mine)):
            return None
        inner = mine[-1][1]
        places = [inner]
        for n in reversed(group[1:]):
            places.append(places[-1] * n)
        strides += reversed(places)
    return tuple(strides)


def _check_slice(index: slice) -> None:
    """Refuse one whose ends are no integers, or that goes nowhere."""
    ends = [each for each in (index.start, index.stop, index.step) if each is not None]
    if not all(map(is_whole, ends)) or index.step == 0:
        raise InvalidValue(f"tensor[{index}]: give integers, and a step other than 0")


def _one_each(index: Any, shape: tuple[int, ...]) -> list[Any]:
    """An index or a slice for every axis."""
    given = list(index) if isinstance(index, tuple) else [index]
    for each in given:
        if isinstance(each, slice):
            _check_slice(each)
        elif each is not Ellipsis and not is_whole(each):
            raise InvalidValue(
                f"tensor[{each!r}]: give integers, slices or ..., which make views; an array of "
                "indices would need a copy"
            )
    if given.count(Ellipsis) > 1 or len(given) - given.count(Ellipsis) > len(shape):
        raise InvalidValue(
            f"tensor[{', '.join('...' if each is ... else str(each) for each in given)}]: at most "
            f"one index for each of its {len(shape)} axes, and one ..."
        )
    rest = [slice(None)] * (len(shape) - len(given) + given.count(Ellipsis))
    if Ellipsis not in given:
        return given + rest
    at = given.index(Ellipsis)
    return given[:at] + rest + given[at + 1 :]
