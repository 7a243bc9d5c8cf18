"""cp.async for numba-cuda: intrinsics that emit the PTX instructions.

Importing this module needs numba-cuda, and sets `cp_async` and its companions on `numba.cuda`. From
compute capability 8.0 they are the instructions of "Data Movement and Conversion: Asynchronous
copy" in the PTX ISA; below, a copy is a load and a store, and waiting does nothing. Which of the
two it is depends on the capability that a kernel is compiled for.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import cuda
from numba.cuda import cgutils, cudaimpl, nvvmutils, types
from numba.cuda.core import targetconfig
from numba.cuda.core.errors import RequireLiteralValue, TypingError
from numba.cuda.extending import intrinsic
from numba.cuda.typing import signature

from wia_lab.cuda.errors import BackendError

COPY_BYTES = (4, 8, 16)  # what one cp.async can move
FIRST_CAPABILITY = (8, 0)
SHARED_ALIGNMENT = 16  # bytes: what the widest copy needs
_I32, _I64, _VOID = ir.IntType(32), ir.IntType(64), ir.VoidType()
_COPY = (
    "{{ .reg .u64 s; .reg .u32 d; cvta.to.shared.u64 s, $0; cvt.u32.u64 d, s; "
    "cp.async.ca.shared.global [d], [$1], {size}{source_size}; }}"
)


def _has_instruction() -> bool:
    """Whether the device that is compiled for has cp.async."""
    return bool(targetconfig.ConfigStack().top().compute_capability >= FIRST_CAPABILITY)


def _emit(builder: Any, text: str, arguments: tuple[Any, ...] = ()) -> None:
    kinds = [each.type for each in arguments]
    constraints = ["l" if each == _I64 else "r" for each in kinds]
    constraint = ",".join([*constraints, "~{memory}"])
    function = ir.FunctionType(_VOID, kinds)
    builder.call(ir.InlineAsm(function, text, constraint, side_effect=True), arguments)


def _literal(thing: Any, operation: str, name: str) -> int:
    """The value of a literal or global constant; the value of a default."""
    value = getattr(thing, "literal_value", getattr(thing, "value", thing))
    if not isinstance(value, int) or isinstance(value, bool):
        raise RequireLiteralValue(
            f"{name} of cuda.{operation} is {thing}: it must be a literal or a global constant"
        )
    return value


def _constant(thing: Any, value: int) -> Any:
    """The type of a constant argument: it holds the value, or the default's plain type.

    Numba finds the code to generate by the signature's types alone, so calls with other values must
    have other types.
    """
    return types.literal(value) if isinstance(thing, types.Type) else types.intp


def _check_arrays(dst: Any, src: Any, operation: str) -> None:
    if not (isinstance(dst, types.Array) and isinstance(src, types.Array)):
        raise TypingError(f"cuda.{operation} copies between arrays, not from {src} to {dst}")
    if dst.dtype != src.dtype:
        raise TypingError(
            f"cuda.{operation} copies bytes and converts nothing: dst has {dst.dtype}, src "
            f"{src.dtype}"
        )


def _check_index(index: Any, array: Any, name: str) -> None:
    parts = tuple(index) if isinstance(index, types.BaseTuple) else (index,)
    if len(parts) != array.ndim or not all(isinstance(each, types.Integer) for each in parts):
        raise TypingError(
            f"{name} of cuda.cp_async is {index}: give {array.ndim} integer"
            f"{'s, in a tuple' if array.ndim > 1 else ''}"
        )


def _itemsize(kind: Any) -> int:
    """Bytes of one element: of a number, or of a record."""
    return int(getattr(kind, "bitwidth", 0) // 8 or getattr(kind, "size", 0))


def _address(context: Any, builder: Any, kind: Any, array: Any, index: Any, index_type: Any) -> Any:
    """Address of an element. Nothing wraps: a negative index lies before the array."""
    if isinstance(index_type, types.BaseTuple):
        parts = cgutils.unpack_tuple(builder, index, count=len(index_type))
        kinds = tuple(index_type)
    else:
        parts, kinds = [index], (index_type,)
    cells = [
        context.cast(builder, part, each, types.intp)
        for part, each in zip(parts, kinds, strict=True)
    ]
    struct = context.make_array(kind)(context, builder, array)
    pointer = cgutils.get_item_pointer(context, builder, kind, struct, cells, wraparound=False)
    return builder.ptrtoint(pointer, _I64)


def _copy(builder: Any, size: int, dst: Any, src: Any, source_size: Any = None) -> None:
    """Copy `size` bytes; of them `source_size` are read, and zeros fill the rest."""
    if _has_instruction():
        text = _COPY.format(size=size, source_size="" if source_size is None else ", $2")
        _emit(builder, text, (dst, src) if source_size is None else (dst, src, source_size))
        return
    kind = ir.IntType(8 * size)
    value = builder.load(builder.inttoptr(src, kind.as_pointer()), align=size)
    if source_size is not None:
        value = builder.select(builder.icmp_unsigned("==", source_size, _I32(0)), kind(0), value)
    builder.store(value, builder.inttoptr(dst, kind.as_pointer()), align=size)


@intrinsic
def cp_async(
    typingctx: Any, dst: Any, dst_index: Any, src: Any, src_index: Any, count: Any = 1
) -> Any:
    """One thread begins to copy `count` elements, 4, 8 or 16 bytes in all, to shared memory."""
    _check_arrays(dst, src, "cp_async")
    _check_index(dst_index, dst, "dst_index")
    _check_index(src_index, src, "src_index")
    elements = _literal(count, "cp_async", "count")
    if _itemsize(src.dtype) * elements not in COPY_BYTES:
        raise TypingError(
            f"cuda.cp_async copies 4, 8 or 16 bytes a thread, not {elements} × {src.dtype}"
        )
    sig = signature(types.none, dst, dst_index, src, src_index, _constant(count, elements))

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        size = elements * _itemsize(sig.args[2].dtype)
        target = _address(context, builder, sig.args[0], args[0], args[1], sig.args[1])
        source = _address(context, builder, sig.args[2], args[2], args[3], sig.args[3])
        _copy(builder, size, target, source)
        return context.get_dummy_value()

    return sig, codegen


@intrinsic
def cp_async_commit_group(typingctx: Any) -> Any:
    """Close the group of copies that this thread has begun."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        if _has_instruction():
            _emit(builder, "cp.async.commit_group;")
        return context.get_dummy_value()

    return signature(types.none), codegen


@intrinsic
def cp_async_wait_group(typingctx: Any, n: Any) -> Any:
    """Wait until at most `n` of this thread's newest groups are still copying."""
    groups = _literal(n, "cp_async_wait_group", "n")
    if groups < 0:
        raise TypingError(f"n of cuda.cp_async_wait_group must be 0 or more, not {groups}")

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        if _has_instruction():
            _emit(builder, f"cp.async.wait_group {groups};")
        return context.get_dummy_value()

    return signature(types.none, _constant(n, groups)), codegen


@intrinsic
def cp_async_wait_all(typingctx: Any) -> Any:
    """Wait until all copies of this thread are done, committed or not."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        if _has_instruction():
            _emit(builder, "cp.async.wait_all;")
        return context.get_dummy_value()

    return signature(types.none), codegen


async_copy_wait_all = cp_async_wait_all


@intrinsic
def copy_dram_to_sram_async(
    typingctx: Any, dst: Any, src: Any, start: Any, count: Any, width: Any = 1
) -> Any:
    """All threads of the block begin to set ``dst[j] = src[start + j]`` for 0 <= j < `count`."""
    operation = "copy_dram_to_sram_async"
    _check_arrays(dst, src, operation)
    if dst.ndim != 1 or src.ndim != 1 or not isinstance(start, types.Integer):
        raise TypingError(
            f"cuda.{operation} takes one-dimensional arrays and an integer start, not {dst}, {src} "
            f"and {start}: pass a row of a two-dimensional array"
        )
    if _itemsize(src.dtype) not in COPY_BYTES:
        raise TypingError(f"cuda.{operation} copies elements of 4, 8 or 16 bytes, not {src.dtype}")
    elements, chunk = _literal(count, operation, "count"), _literal(width, operation, "width")
    if min(elements, chunk) < 1:
        raise TypingError(f"count and width of cuda.{operation} start at 1")

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        begin = context.cast(builder, args[2], sig.args[2], types.intp)
        thread, threads = _thread_of_block(builder)
        with (
            cgutils.for_range_slice(
                builder,
                builder.mul(thread, _I64(chunk)),
                _I64(elements),
                builder.mul(threads, _I64(chunk)),
                _I64,
            ) as (first, _),
            cgutils.for_range(builder, _I64(chunk)) as loop,
        ):
            j = builder.add(first, loop.index)
            with builder.if_then(builder.icmp_signed("<", j, _I64(elements))):
                _copy_or_zero(context, builder, sig, args, j, builder.add(begin, j))
        return context.get_dummy_value()

    constants = _constant(count, elements), _constant(width, chunk)
    return signature(types.none, dst, src, start, *constants), codegen


def _thread_of_block(builder: Any) -> tuple[Any, Any]:
    """Number of this thread in its block, x fastest, and threads of the block."""
    index, extent = (
        [builder.sext(nvvmutils.call_sreg(builder, f"{name}.{axis}"), _I64) for axis in "xyz"]
        for name in ("tid", "ntid")
    )
    plane = builder.mul(extent[0], extent[1])
    row = builder.add(index[0], builder.mul(index[1], extent[0]))
    return builder.add(row, builder.mul(index[2], plane)), builder.mul(plane, extent[2])


def _copy_or_zero(context: Any, builder: Any, sig: Any, args: Any, j: Any, i: Any) -> None:
    """Begin to copy ``src[i]`` to ``dst[j]``; zeros, and no read, where `i` is outside."""
    dst, src = sig.args[0], sig.args[1]
    size = _itemsize(src.dtype)
    extent = context.make_array(src)(context, builder, args[1]).shape
    length = cgutils.unpack_tuple(builder, extent, count=1)[0]
    inside = builder.icmp_unsigned("<", i, length)  # a negative i is a huge unsigned one
    cell = builder.select(inside, i, _I64(0))
    target = _address(context, builder, dst, args[0], j, types.intp)
    source = _address(context, builder, src, args[1], cell, types.intp)
    _copy(builder, size, target, source, builder.select(inside, _I32(size), _I32(0)))


def _align_shared_arrays() -> None:
    """Make numba-cuda align shared arrays for the widest copy, where the kernel asks no more."""
    original = getattr(cudaimpl, "_generic_array", None)
    if original is None:
        raise BackendError(
            "this version of numba-cuda declares shared arrays in an unknown way: install the one "
            "that wia_lab's extra names"
        )

    def generic_array(*args: Any, alignment: int | None = None, **kwargs: Any) -> Any:
        shared = kwargs.get("addrspace") == cudaimpl.nvvm.ADDRSPACE_SHARED
        if shared and alignment is None:
            alignment = SHARED_ALIGNMENT
        return original(*args, alignment=alignment, **kwargs)

    setattr(cudaimpl, "_generic_array", generic_array)  # noqa: B010 - private to numba-cuda


def _install() -> None:
    _align_shared_arrays()
    for each in (
        cp_async,
        cp_async_commit_group,
        cp_async_wait_group,
        cp_async_wait_all,
        copy_dram_to_sram_async,
    ):
        setattr(cuda, each.__name__, each)
    cuda.async_copy_wait_all = async_copy_wait_all


_install()
