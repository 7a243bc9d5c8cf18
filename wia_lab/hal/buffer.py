"""Memory of one of the five kinds (§3.5.1), and parts of it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from wia_lab.cuda.policy import caller_site
from wia_lab.hal.advice import Advice
from wia_lab.hal.backends.base import Span
from wia_lab.hal.checks import Closing, checked, checked_context, checked_whole, refuse
from wia_lab.hal.device import Device
from wia_lab.hal.errors import AccessRefused, Closed, ForeignHandle, InvalidValue
from wia_lab.hal.kinds import MemoryKind
from wia_lab.hal.sharing import cuda_interface, device_capsule, dlpack_device
from wia_lab.hal.tensor_layout import Layout
from wia_lab.wording import counted

if TYPE_CHECKING:
    from wia_lab.hal.advice import Migrations
    from wia_lab.hal.context import Context
    from wia_lab.hal.pool import MemoryPool
    from wia_lab.memory import Block
    from wia_lab.timeline import Site

Access = Literal["read", "write", "both"]
ACCESSES = get_args(Access)


class Buffer(Closing):
    """A range of memory that belongs to a context. Use `with`, or `close`; twice is fine.

    Attributes
    ----------
    context, kind, nbytes, name
        Whose it is, of what kind, how long, and what messages call it.
    numa_node : int or None
        The socket near which host or pinned memory was asked for.
    mapped : bool
        Whether it is pinned memory that kernels reach where it is.
    pool : MemoryPool or None
        Whose memory it is.
    storage : object
        The back end's handle of the bytes, which a pool uses again.
    freed_at : Site or None
        Where it was closed.
    """

    def __init__(
        self,
        context: Context,
        kind: MemoryKind,
        nbytes: int,
        name: str,
        block: Block | None,
        numa_node: int | None = None,
        *,
        mapped: bool = False,
        pool: MemoryPool | None = None,
        storage: Any = None,
    ) -> None:
        checked_context("Buffer: context", context)
        self.context, self.kind, self.nbytes, self.name = context, kind, nbytes, name
        self.block = block  # of the device's memory, where the kind takes any
        self.freed_at: Site | None = None
        self.numa_node, self.mapped = numa_node, mapped
        self.number = 0  # the context counts its buffers
        self.pool = pool
        room = nbytes if block is None or pool is None else block.size
        self.storage = storage or context.make_storage(room, kind, name, numa_node, block)

    def __repr__(self) -> str:
        state = f", freed on {self.freed_at}" if self.freed_at else ""
        return f"<{self.name}: {counted(self.nbytes, 'byte')} of {self.kind.value} memory{state}>"

    def __getitem__(self, index: slice) -> Part:
        """A part, in bytes, that copies and calls take like a buffer."""
        return Part(self, 0, self.nbytes)[index]

    @property
    def kernel_access(self) -> bool:
        """Whether kernels may read and write it in place."""
        return self.kind.kernel_access or self.mapped

    @property
    def is_closed(self) -> bool:
        """Whether it was freed."""
        return self.freed_at is not None

    def close(self) -> None:
        """Free it, once the work submitted to its context's streams has ended."""
        if not self.is_closed:
            self.context.free(self)

    def host(self, dtype: Any = np.uint8, access: Access = "both") -> np.ndarray[Any, Any]:
        """The memory as a NumPy array, without a copy, for the host to `access` now.

        Whoever keeps the array tells nobody of later uses: ask for it anew after each wait.

        Raises
        ------
        AccessRefused
            For device memory, which the host cannot reach.
        HazardError
            When work that the host has not waited for touches the same bytes.
        """
        return Part(self, 0, self.nbytes).host(dtype, access)

    def __dlpack_device__(self) -> tuple[int, int]:
        """As DLPack numbers it: the processor (1, 0), or a real device (2, its number)."""
        return dlpack_device(self)

    def __dlpack__(self, **options: Any) -> Any:
        """Its bytes for another library, without a copy, once the context's streams are done."""
        if self.kind.host_access:
            return self.host().__dlpack__(**options)
        return device_capsule(self, Layout.contiguous((self.nbytes,), np.dtype(np.uint8)), options)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """Its bytes for a library of CUDA, without a copy, once the context's streams are done.

        Raises
        ------
        AccessRefused
            On a virtual machine, whose memory has no address that CUDA knows.
        """
        return cuda_interface(self, Layout.contiguous((self.nbytes,), np.dtype(np.uint8)))

    def advise(self, advice: Advice, device: Device | None = None) -> None:
        """Say how unified memory will be used: by `device`, or without one by the host.

        Raises
        ------
        AccessRefused
            For any other kind; managed memory is the library's to place.
        """
        self.context.check_open()
        checked("advise: advice", advice, Advice, "give an Advice, as Advice.READ_MOSTLY")
        self.check_placed("advise")
        place = None
        if device is not None:
            way = "give a device, as context.device, or None for the host"
            place = checked("advise: device", device, Device, way).number
            if device.machine is not self.context.device.machine:
                raise ForeignHandle(
                    f"advise: {device!r} is of another machine than {self.name}: {way}"
                )
        self.context.backend.advise(self.span(), advice, place)

    @property
    def migrations(self) -> Migrations:
        """Pages of unified or managed memory that have moved so far."""
        span = self.span()
        if not self.kind.migrates:
            raise AccessRefused(
                f"{self.name} is {self.kind.value} memory, whose pages never move: ask a unified "
                "or managed buffer"
            )
        return self.context.backend.migrations(span)

    def check_placed(self, verb: str) -> None:
        """Refuse what only unified memory takes."""
        if self.kind is not MemoryKind.UNIFIED:
            raise AccessRefused(
                f"{verb}: {self.name} is {self.kind.value} memory, which the caller does not "
                "place: allocate it as MemoryKind.UNIFIED"
            )

    def span(self, low: int = 0, high: int | None = None) -> Span:
        """As back ends take it; Closed when it was freed."""
        if self.is_closed:
            raise Closed(
                f"{self.name} is used after it was freed on {self.freed_at}: free it after its "
                "last use"
            )
        end = self.nbytes if high is None else high
        return Span(self.storage, self.kind, self.context.device.number, low, end)


class Part:
    """Bytes `low` to `high` of a buffer, the last not included."""

    def __init__(self, buffer: Buffer, low: int, high: int) -> None:
        self.buffer = checked("Part: buffer", buffer, Buffer, "give what allocate returned")
        self.high = checked_whole("Part: high", high, 0, buffer.nbytes)
        self.low = checked_whole("Part: low", low, 0, self.high)

    def __repr__(self) -> str:
        return f"<bytes {self.low:,} to {self.high - 1:,} of {self.buffer.name}>"

    def __getitem__(self, index: slice) -> Part:
        """A part of it, in bytes, counted from its own first."""
        name = self.buffer.name
        try:
            low, high, step = index.indices(self.nbytes)
        except (AttributeError, TypeError, ValueError):
            step = 0
        if step != 1:
            raise InvalidValue(f"{name}[{index!r}]: write a slice of bytes, as in buffer[0:64]")
        if low >= high:
            raise InvalidValue(
                f"{name}[{low}:{high}] is empty: it has {counted(self.nbytes, 'byte')}"
            )
        return Part(self.buffer, self.low + low, self.low + high)

    @property
    def nbytes(self) -> int:
        """How many."""
        return self.high - self.low

    def span(self) -> Span:
        """As back ends take it."""
        return self.buffer.span(self.low, self.high)

    def host(self, dtype: Any = np.uint8, access: Access = "both") -> np.ndarray[Any, Any]:
        """As `Buffer.host`, of these bytes alone."""
        buffer, kind = self.buffer, self.buffer.kind
        size = _itemsize(dtype)
        buffer.context.check_open()
        span = self.span()
        if not kind.host_access:
            raise AccessRefused(
                f"{buffer.name} is {kind.value} memory, which the host cannot reach: copy it in a "
                "stream to host or pinned memory"
            )
        if access not in ACCESSES:
            raise InvalidValue(f"access is {access!r}: it is 'read', 'write' or 'both'")
        if math.gcd(self.nbytes, size) != size or self.low % size:
            raise InvalidValue(
                f"{self!r} cannot be read as {np.dtype(dtype)}: start and length must be "
                f"multiples of {size} bytes"
            )
        found = buffer.context.backend.host_view(
            span, reads=access != "write", writes=access != "read", site=caller_site()
        )
        return found.view(dtype)


def _itemsize(dtype: Any) -> int:
    """Bytes of an element; refuse what bytes cannot be viewed as."""
    try:
        found = None if dtype is None else np.dtype(dtype)
    except (TypeError, ValueError):
        found = None
    if found is None or found.hasobject or not found.itemsize:
        way = "give a type of NumPy's, as 'float32'"
        if isinstance(dtype, str) and dtype in ACCESSES:
            way = f"name what it is, as in host(access={dtype!r})"
        refuse("host: dtype", dtype, way)
    return int(found.itemsize)
