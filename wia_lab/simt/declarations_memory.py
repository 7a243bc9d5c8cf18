"""Types of what touches memory: atomics, loads and stores with cache hints, async copies.

The first two follow numba-cuda 0.30; the async copies are this package's own, and their `count`,
`width` and `n` are literals or global constants on the simulator and on hardware alike.
"""

from __future__ import annotations

from numba.core import errors, types
from numba.core.typing.templates import Signature, signature
from numba.np.numpy_support import as_dtype

from wia_lab.simt import stubs
from wia_lab.simt.declarations import typed_by

_WIDE_UNSIGNED = (types.uint32, types.uint64)
_WIDE_INTEGERS = (types.int32, types.int64, *_WIDE_UNSIGNED)
_WIDE = (types.float32, types.float64, *_WIDE_INTEGERS)
_ATOMIC_ELEMENTS = {
    "add": _WIDE,
    "sub": _WIDE,
    "max": _WIDE,
    "min": _WIDE,
    "nanmax": _WIDE,
    "nanmin": _WIDE,
    "and_": _WIDE_INTEGERS,
    "or_": _WIDE_INTEGERS,
    "xor": _WIDE_INTEGERS,
    "exch": _WIDE_INTEGERS,
    "inc": _WIDE_UNSIGNED,
    "dec": _WIDE_UNSIGNED,
}


def _holds(array: types.Type, elements: tuple[types.Type, ...]) -> bool:
    return isinstance(array, types.Array) and array.dtype in elements and array.ndim > 0


def _atomic(stub: stubs.Stub, elements: tuple[types.Type, ...]) -> None:
    @typed_by(stub)
    def update(array: types.Type, index: types.Type, value: types.Type, /) -> Signature | None:
        if not _holds(array, elements):
            return None
        place = types.intp if array.ndim == 1 else index
        return signature(array.dtype, array, place, array.dtype)


for _name, _elements in _ATOMIC_ELEMENTS.items():
    _atomic(getattr(stubs.atomic, _name), _elements)


@typed_by(stubs.atomic.compare_and_swap)
def _compare_and_swap(array: types.Type, old: types.Type, value: types.Type, /) -> Signature | None:
    if not _holds(array, _WIDE_INTEGERS) or array.ndim != 1:
        return None
    return signature(array.dtype, array, array.dtype, array.dtype)


@typed_by(stubs.atomic.cas)
def _cas(
    array: types.Type, index: types.Type, old: types.Type, value: types.Type, /
) -> Signature | None:
    if not _holds(array, _WIDE_INTEGERS):
        return None
    place = types.intp if array.ndim == 1 else index
    return signature(array.dtype, array, place, array.dtype, array.dtype)


def _fits(index: types.Type, array: types.Array) -> bool:
    """Whether `index` names one element of `array`."""
    if isinstance(index, types.BaseTuple):
        return len(index) == array.ndim and all(isinstance(i, types.Integer) for i in index)
    return isinstance(index, types.Integer) and array.ndim == 1


def _cache_hint(stub: stubs.Stub) -> None:
    def element(array: types.Type, index: types.Type) -> types.Type:
        if not isinstance(array, types.Array):
            raise errors.NumbaTypeError(f"{stub.__name__} operates on arrays. Got type {array}")
        if not _fits(index, array):
            raise errors.NumbaTypeError(f"{index} is not a valid index of {array}")
        if not isinstance(array.dtype, types.Integer | types.Float):
            raise errors.NumbaTypeError(
                f"{stub.__name__} requires array of integer or float type, got {array.dtype}"
            )
        return array.dtype

    if stub.__name__.startswith("ld"):

        @typed_by(stub)
        def load(array: types.Type, i: types.Type) -> Signature:
            return signature(element(array, i), array, i)

    else:

        @typed_by(stub)
        def store(array: types.Type, i: types.Type, value: types.Type) -> Signature:
            return signature(types.void, array, i, element(array, i))


for _stub in stubs.cache_hints.values():
    _cache_hint(_stub)


def _constant(value: object, stub: stubs.Stub, name: str) -> int:
    """Value of an argument that must be a literal or a global constant; 1 where it is left out."""
    if isinstance(value, types.IntegerLiteral):
        return value.literal_value
    if value == 1:
        return 1
    raise errors.RequireLiteralValue(
        f"{name} of cuda.{stub.__qualname__} must be a literal or a global constant, not {value}"
    )


def _copied(dst: types.Type, src: types.Type, stub: stubs.Stub) -> int:
    """Bytes of an element that can be copied from `src` to `dst`."""
    for role, array in (("dst", dst), ("src", src)):
        if not isinstance(array, types.Array):
            raise errors.TypingError(
                f"{role} of cuda.{stub.__name__} must be an array, not {array}"
            )
    if dst.dtype != src.dtype or not dst.mutable:
        raise errors.TypingError(
            f"cuda.{stub.__name__} copies between arrays of one dtype into a writable one: "
            f"dst is {dst}, src is {src}"
        )
    return as_dtype(dst.dtype).itemsize


@typed_by(stubs.cp_async)
def _cp_async(
    dst: types.Type,
    dst_index: types.Type,
    src: types.Type,
    src_index: types.Type,
    count: types.Type | int = 1,
) -> Signature:
    itemsize = _copied(dst, src, stubs.cp_async)
    if not (_fits(dst_index, dst) and _fits(src_index, src)):
        raise errors.TypingError(
            "an index of cuda.cp_async must be an integer or a tuple of as many integers as the "
            f"array has dimensions: {dst_index} into {dst}, {src_index} into {src}"
        )
    size = itemsize * _constant(count, stubs.cp_async, "count")
    if size not in (4, 8, 16):
        raise errors.TypingError(f"cuda.cp_async copies 4, 8 or 16 bytes a thread, not {size}")
    given = (dst, dst_index, src, src_index, count)
    return signature(types.void, *(each for each in given if isinstance(each, types.Type)))


@typed_by(stubs.cp_async_wait_group)
def _cp_async_wait_group(n: types.Type) -> Signature:
    if _constant(n, stubs.cp_async_wait_group, "n") < 0:
        raise errors.TypingError(f"n of cuda.cp_async_wait_group must be 0 or more, not {n}")
    return signature(types.void, n)


@typed_by(stubs.copy_dram_to_sram_async)
def _copy_dram_to_sram_async(
    dst: types.Type,
    src: types.Type,
    start: types.Type,
    count: types.Type,
    width: types.Type | int = 1,
) -> Signature:
    stub = stubs.copy_dram_to_sram_async
    itemsize = _copied(dst, src, stub)
    if dst.ndim != 1 or src.ndim != 1 or not isinstance(start, types.Integer):
        raise errors.TypingError(
            "cuda.copy_dram_to_sram_async takes one-dimensional arrays and an integer start: "
            f"dst is {dst}, src is {src}, start is {start}"
        )
    if itemsize not in (4, 8, 16):
        raise errors.TypingError(
            f"cuda.copy_dram_to_sram_async copies elements of 4, 8 or 16 bytes, not {itemsize}"
        )
    if min(_constant(count, stub, "count"), _constant(width, stub, "width")) < 1:
        raise errors.TypingError("count and width of cuda.copy_dram_to_sram_async start at 1")
    given = (dst, src, start, count, width)
    return signature(types.void, *(each for each in given if isinstance(each, types.Type)))
