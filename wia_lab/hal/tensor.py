"""Tensors (§3.1, §3.7): numbers of one type in a context's memory, with a shape."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import numpy as np

from wia_lab.cuda.policy import caller_site
from wia_lab.hal.buffer import Access, Buffer, Part
from wia_lab.hal.checks import Closing, checked, checked_name, refuse
from wia_lab.hal.context import Context
from wia_lab.hal.errors import Closed, ForeignHandle, InvalidValue, OutOfMemory
from wia_lab.hal.kinds import MemoryKind
from wia_lab.hal.sharing import cuda_interface, device_capsule, dlpack_device, foreign
from wia_lab.hal.stream import Stream, StreamOptions
from wia_lab.hal.tensor_layout import Layout, checked_dtype, checked_shape

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wia_lab.hal.ops.choice import Choice
    from wia_lab.timeline import Site

_OWN_STREAM = StreamOptions(name="tensor stream")

Array = np.ndarray[Any, Any]


class Tensor(Closing):
    """Elements of one type in a buffer. Use `with`, or `close`; closing twice is fine.

    Views (`reshape`, `transpose`, `slice`, `tensor[...]`) share the buffer, which is freed when
    the last open tensor that shares it is closed.

    Attributes
    ----------
    layout : Layout
        Shape, type and strides (in bytes, as NumPy's), and where in the buffer it begins.
    name : str
        What messages call it: the operation that made it.
    choice : Choice or None
        Which algorithm made it, and why, where there were several.
    released_at : Site or None
        Where it was closed.
    """

    __iter__ = None  # rows are views: for i in range(tensor.shape[0]): tensor[i]

    def __init__(
        self,
        buffer: Buffer,
        layout: Layout,
        name: str,
        *,
        choice: Choice | None = None,
        family: WeakSet[Tensor] | None = None,
    ) -> None:
        self._buffer, self.layout, self.name, self.choice = buffer, layout, name, choice
        self._family: WeakSet[Tensor] = WeakSet() if family is None else family
        self._family.add(self)
        self.released_at: Site | None = None

    def __repr__(self) -> str:
        state = f", released on {self._closed_where}" if self.is_closed else ""
        kind = self._buffer.kind.value
        return f"<{self.name}: {self.shape} of {self.dtype} in {kind} memory{state}>"

    def __bool__(self) -> bool:
        raise InvalidValue(
            f"{self!r} is neither true nor false: ask its numbers, as in tensor.numpy().any(), or "
            "whether it is None"
        )

    def __getitem__(self, index: Any) -> Tensor:
        """A view: integers, slices and `...`, as NumPy's basic indexing."""
        self.check_open()
        return self.view(self.layout.indexed(index))

    @property
    def context(self) -> Context:
        """Whose memory it is in."""
        return self._buffer.context

    @property
    def shape(self) -> tuple[int, ...]:
        """Elements along each axis."""
        return self.layout.shape

    @property
    def ndim(self) -> int:
        """How many axes it has."""
        return len(self.layout.shape)

    @property
    def size(self) -> int:
        """How many elements it has."""
        return self.layout.size

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of its elements."""
        return self.layout.dtype

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes from one element to the next along each axis."""
        return self.layout.strides

    @property
    def offset(self) -> int:
        """Bytes from the buffer's start to its first element."""
        return self.layout.offset

    @property
    def nbytes(self) -> int:
        """Bytes of its elements."""
        return self.layout.nbytes

    @property
    def memory(self) -> MemoryKind:
        """In which kind of memory it is."""
        return self._buffer.kind

    @property
    def buffer(self) -> Buffer:
        """The memory, which its views share; Closed when it was released."""
        self.check_open()
        return self._buffer

    @property
    def part(self) -> Part:
        """The bytes of the buffer from its first to its last element; Closed when released."""
        return Part(self.buffer, *self.layout.extent)

    @property
    def is_contiguous(self) -> bool:
        """Whether its elements follow each other without holes, in C's order."""
        return self.layout.is_contiguous

    @property
    def is_closed(self) -> bool:
        """Whether it was released, or its memory freed."""
        return self.released_at is not None or self._buffer.is_closed

    @property
    def _closed_where(self) -> Site | None:
        return self.released_at or self._buffer.freed_at

    def view(self, layout: Layout) -> Tensor:
        """Another tensor over the same buffer."""
        checked("view: layout", layout, Layout, "call reshape, transpose or slice, which make one")
        return Tensor(
            self.buffer, layout, f"view of {self.name}", choice=self.choice, family=self._family
        )

    def numpy(self, *, stream: Stream | None = None) -> Array:
        """A copy of it on the host, once what `stream` was given is done.

        Without `stream`, the one on which operations of its context run by default is waited for.

        Raises
        ------
        HazardError
            When another stream still writes it.
        """
        part, chosen = self.part, chosen_stream(stream, self.context)
        if not self.size:
            return np.empty(self.shape, self.dtype)
        if self.memory.host_access:
            chosen.synchronize()
            memory = part.host(np.uint8, "read")
        else:
            with _staging(self.context, part.nbytes) as staging:
                chosen.copy(staging, part)
                memory = staging.host(np.uint8, "read")
        return self.layout.array(memory).copy()

    def host(self, access: Access = "both") -> Array:
        """It as an array, without a copy, for the host to `access` now; as `Buffer.host`."""
        part = self.part
        if self.size:
            return self.layout.array(part.host(np.uint8, access))
        return np.empty(self.shape, self.dtype)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        """As `numpy()`; NumPy asks for it in `np.asarray(tensor)`."""
        if copy is False:
            raise InvalidValue(f"{self!r} cannot be an array without a copy: ask tensor.host()")
        return self.numpy().astype(self.dtype if dtype is None else dtype, copy=False)

    def __dlpack_device__(self) -> tuple[int, int]:
        """As DLPack numbers it: the processor (1, 0), or a real device (2, its number)."""
        return dlpack_device(self.buffer)

    def __dlpack__(self, **options: Any) -> Any:
        """Share it with another library, without a copy, once the context's streams are done."""
        if self.memory.host_access:
            return self.host().__dlpack__(**options)
        return device_capsule(self.buffer, self.layout, options)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """As `Buffer.__cuda_array_interface__`, with its shape and strides."""
        return cuda_interface(self.buffer, self.layout)

    def close(self) -> None:
        """Release it; the buffer is freed with the last open tensor that shares it."""
        if self.is_closed:
            return
        if len(self._family) == 1:
            self._buffer.close()
        self._family.discard(self)
        self.context.generation += 1
        self.released_at = caller_site()

    def check_open(self) -> None:
        """Refuse a tensor that was released, or whose context was closed."""
        if self.is_closed:
            raise Closed(
                f"{self.name}, {self.shape} of {self.dtype}, is used after it was released on "
                f"{self._closed_where}: release it after its last use"
            )
        self.context.check_open()


def chosen_stream(stream: object, context: Context) -> Stream:
    """`stream`, or the context's default where it is None; refuse what is neither."""
    if stream is None:
        return default_stream(context)
    if not isinstance(stream, Stream):
        raise InvalidValue(
            f"stream is a {type(stream).__name__}: give one that context.create_stream() made, or "
            "None"
        )
    stream.check_open()
    if stream.context.backend is not context.backend:
        raise ForeignHandle(
            f"{stream!r} is of another machine than {context!r}: give a stream of the same machine"
        )
    return stream


def default_stream(context: Context) -> Stream:
    """The stream on which a context's operations run where none is named."""
    _check_context(context)
    context.check_open()
    for stream in context.streams:
        if stream.options is _OWN_STREAM:
            return stream
    return context.create_stream(_OWN_STREAM)


def empty(
    context: Context,
    shape: int | Sequence[int],
    dtype: Any = np.float32,
    *,
    memory: MemoryKind = MemoryKind.DEVICE,
    numa_node: int | None = None,
    mapped: bool = False,
    name: str = "tensor",
) -> Tensor:
    """A tensor whose elements are undefined at first; it may have none.

    `numa_node` and `mapped` are as in `Context.allocate`: the socket near which host or pinned
    memory shall lie, and whether kernels reach pinned memory where it is.
    Where memory runs out, the tensors that nobody refers to any more are freed first.

    Raises
    ------
    InvalidValue
        A negative length, or a type that tensors cannot hold.
    OutOfMemory
        As `Context.allocate`.
    """
    _check_context(context)
    if not isinstance(memory, MemoryKind):
        raise InvalidValue(
            f"memory is {memory!r}: choose {', '.join(map(str, MemoryKind))}, of wia_lab.hal"
        )
    checked_name("name", name, needed=True)
    layout = Layout.contiguous(checked_shape(shape), checked_dtype(dtype))
    nbytes = max(layout.nbytes, layout.dtype.itemsize)
    where: dict[str, Any] = {"name": name, "numa_node": numa_node, "mapped": mapped}
    try:
        buffer = context.allocate(nbytes, memory, **where)
    except OutOfMemory:
        if not context.collect():
            raise
        buffer = context.allocate(nbytes, memory, **where)
    return Tensor(buffer, layout, name)


def from_numpy(
    context: Context,
    array: Any,
    *,
    memory: MemoryKind = MemoryKind.DEVICE,
    numa_node: int | None = None,
    mapped: bool = False,
    stream: Stream | None = None,
    name: str = "tensor",
) -> Tensor:
    """A tensor with the values of an array, which may be changed as soon as this returns.

    Device memory is written on the turn of `stream`, or of the context's default.
    """
    if isinstance(array, np.ma.MaskedArray):
        refuse("from_numpy: array", array, "give array.filled(value): a tensor has no mask")
    try:
        source = np.asarray(array)
    except (TypeError, ValueError):
        refuse("from_numpy: array", array, "give an array, or numbers in rows of one length")
    _check_context(context)
    if stream is not None:
        chosen_stream(stream, context)
    where: dict[str, Any] = {"numa_node": numa_node, "mapped": mapped, "name": name}
    made = empty(context, source.shape, source.dtype, memory=memory, **where)
    try:
        if made.size:
            _write(made, np.ascontiguousarray(source, made.dtype), stream)
    except BaseException:
        made.close()
        raise
    return made


def from_dlpack(
    context: Context,
    source: Any,
    *,
    memory: MemoryKind = MemoryKind.DEVICE,
    stream: Stream | None = None,
    name: str = "tensor",
) -> Tensor:
    """A tensor with the values of another library's, which lie on the host or on a real device.

    A copy; the other library's work on them must have ended.
    """
    _check_context(context)
    if not context.device.machine.is_virtual and (found := foreign(source)) is not None:
        made = empty(context, found.layout.shape, found.layout.dtype, memory=memory, name=name)
        try:
            if made.size:
                chosen = chosen_stream(stream, context)
                chosen.copy_from(made.part, found.address, found.device)
                chosen.synchronize()  # its owner may free it when this returns
        except BaseException:
            made.close()
            raise
        return made
    try:
        array = np.from_dlpack(source)
    except (AttributeError, BufferError, RuntimeError, TypeError) as error:
        raise InvalidValue(
            f"from_dlpack: {type(source).__name__} gives nothing that the host can read ({error}): "
            "bring it to the host first"
        ) from error
    return from_numpy(context, array, memory=memory, stream=stream, name=name)


def _check_context(context: object) -> None:
    if not isinstance(context, Context):
        raise InvalidValue(
            f"a {type(context).__name__} stands where a Context is expected, which comes first: "
            "make one with Context(machine[0])"
        )


def _write(tensor: Tensor, values: Array, stream: Stream | None) -> None:
    """Let a contiguous tensor have the values of an array of its type."""
    source = values.reshape(-1).view(np.uint8)
    if tensor.memory.host_access:
        tensor.part.host(np.uint8, "write")[:] = source
        return
    with _staging(tensor.context, tensor.nbytes) as staging:
        staging.host(np.uint8, "write")[:] = source
        chosen_stream(stream, tensor.context).copy(tensor.part, staging)


@contextmanager
def _staging(context: Context, nbytes: int) -> Iterator[Buffer]:
    """Host memory for one copy, freed without a wait: such a copy is done with it as it returns."""
    staging = context.allocate(nbytes, MemoryKind.HOST, name="host copy")
    try:
        yield staging
    finally:
        context.release(staging, caller_site())
