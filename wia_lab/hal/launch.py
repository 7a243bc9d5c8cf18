"""Launching kernels (§3.1, §3.6.2): how many threads, and which arguments fit which parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from wia_lab.hal.backends.base import Argument, KernelLaunch
from wia_lab.hal.buffer import Buffer, Part
from wia_lab.hal.checks import checked, checked_size, is_whole, said
from wia_lab.hal.errors import InvalidValue
from wia_lab.hal.kernel import Kernel
from wia_lab.hal.stream import Stream
from wia_lab.hal.tensor import Tensor, default_stream
from wia_lab.hal.tensor_layout import Layout
from wia_lab.wording import counted

if TYPE_CHECKING:
    from wia_lab.hal.kernel import Parameter

Extent = int | Sequence[int]
_AXES = 3
_LEAST, _MOST = -(1 << 63), (1 << 64) - 1  # what kernels take for an integer


@dataclass(frozen=True, slots=True)
class LaunchConfig:
    """How many threads a launch has, in either of the sources' styles.

    Attributes
    ----------
    grid, block : int or sequence of up to three
        Blocks in the grid, and threads in a block.
    global_size, local_size : int or sequence of up to three
        Instead: threads in all, and in a work group. Where the first is no multiple of the second,
        the grid has one block more, so a kernel compares its index with the size.
    shared_memory : int or str
        Bytes of a block's dynamic shared memory.
    """

    grid: Extent | None = None
    block: Extent | None = None
    shared_memory: int | str = field(default=0, kw_only=True)
    global_size: Extent | None = field(default=None, kw_only=True)
    local_size: Extent | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        checked_size("LaunchConfig: shared_memory", self.shared_memory, 0)
        styles = (self.grid, self.block), (self.global_size, self.local_size)
        given = [all(each is not None for each in style) for style in styles]
        begun = [any(each is not None for each in style) for style in styles]
        if begun != given or sum(given) != 1:
            raise InvalidValue(
                f"LaunchConfig(grid={self.grid}, block={self.block}, global_size="
                f"{self.global_size}, local_size={self.local_size}): give grid and block, or "
                "global_size and local_size"
            )
        for name in ("grid", "block", "global_size", "local_size"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, _extent(name, value))

    @property
    def blocks(self) -> tuple[int, int, int]:
        """Blocks in the grid, along x, y and z."""
        if self.grid is not None:
            return self.grid  # type: ignore[return-value]
        sizes = zip(self.global_size, self.local_size, strict=True)  # type: ignore[arg-type]
        x, y, z = (-(-all_ // local) for all_, local in sizes)
        return x, y, z

    @property
    def threads(self) -> tuple[int, int, int]:
        """Threads in a block, along x, y and z."""
        return self.block or self.local_size  # type: ignore[return-value]


def _extent(name: str, value: Any) -> tuple[int, ...]:
    found = value if isinstance(value, Sequence) else (value,)
    given = [int(each) for each in found] if all(map(is_whole, found)) else []
    if not 1 <= len(given) <= _AXES or min(given) < 1:
        raise InvalidValue(
            f"LaunchConfig: {name} is {value!r}: give one to three integers from 1 on"
        )
    return (*given, *[1] * (_AXES - len(given)))


def launch_kernel(
    kernel: Kernel, config: LaunchConfig, *arguments: Any, stream: Stream | None = None
) -> None:
    """Launch a kernel and let the host wait for it.

    Without `stream` it runs on the default one of the context whose memory the first argument in
    memory is.

    Raises
    ------
    InvalidValue
        For arguments that do not fit the kernel, or a launch beyond the device's limits.
    AccessRefused
        For memory that kernels of the context cannot reach.
    HazardError
        For what the simulator finds.
    """
    _check_kernel(kernel, config)
    chosen = _default(kernel, arguments) if stream is None else stream
    launch_kernel_async(kernel, config, *arguments, stream=chosen)
    chosen.synchronize()


def launch_kernel_async(
    kernel: Kernel, config: LaunchConfig, *arguments: Any, stream: Stream
) -> None:
    """As `launch_kernel`, on `stream`'s turn; the host goes on.

    The arguments are checked now; hazards are told where the host waits.
    """
    is_stream = isinstance(stream, Stream)
    is_config = isinstance(config, LaunchConfig)
    if is_stream and is_config and stream.prepared.run(kernel, config, arguments):
        return
    _check_kernel(kernel, config)
    if not is_stream:
        raise InvalidValue(
            f"{kernel.name}: stream is {stream!r}: give one that context.create_stream() made"
        )
    bound = _bound(kernel, arguments)
    launched = stream.launch(
        KernelLaunch(
            kernel.compiled,
            kernel.name,
            config.blocks,
            config.threads,
            checked_size("shared_memory", config.shared_memory, 0),
            bound,
        )
    )
    if launched is not None:
        stream.prepared.keep(kernel, config, arguments, *launched, (Tensor, Buffer))


def _check_kernel(kernel: object, config: object) -> None:
    """Refuse what cannot be launched, or says not how."""
    if not isinstance(kernel, Kernel) and callable(kernel):
        name = getattr(kernel, "__name__", "it")
        raise InvalidValue(
            f"launch_kernel: kernel is the function {name}: give compile_kernel({name})"
        )
    checked("launch_kernel: kernel", kernel, Kernel, "give what compile_kernel(...) returned")
    checked("launch_kernel: config", config, LaunchConfig, "give a LaunchConfig")


def _default(kernel: Kernel, arguments: Sequence[Any]) -> Stream:
    for each in arguments:
        if isinstance(each, Tensor | Buffer):
            return default_stream(each.context)
        if isinstance(each, Part):
            return default_stream(each.buffer.context)
    _bound(kernel, arguments)  # what is wrong with the arguments comes first
    raise InvalidValue(
        f"{kernel.name}: no argument is in memory, so no context is known: name a stream"
    )


def _bound(kernel: Kernel, arguments: Sequence[Any]) -> list[Argument]:
    parameters = kernel.parameters
    if len(arguments) != len(parameters):
        names = ", ".join(each.name for each in parameters) or "nothing"
        takes = counted(len(parameters), "argument")
        raise InvalidValue(f"{kernel.name} takes {takes} ({names}) and got {len(arguments)}")
    return [
        _argument(kernel, parameter, value)
        for parameter, value in zip(parameters, arguments, strict=True)
    ]


def _argument(kernel: Kernel, parameter: Parameter, value: Any) -> Argument:
    where = f"{kernel.name}: {parameter.name}"
    if isinstance(value, Tensor):
        if parameter.is_array is False:
            raise InvalidValue(f"{where} is a number and got {value!r}: give a number")
        _check_type(where, parameter, value)
        if parameter.is_flat:
            return Argument(value.part, Layout.contiguous((value.size,), value.dtype))
        return Argument(value.part, value.layout)
    if isinstance(value, Buffer | Part):
        if parameter.is_array is False:
            raise InvalidValue(f"{where} is a number and got {value!r}: give a number")
        part = value[:] if isinstance(value, Buffer) else value
        dtype = parameter.dtype or np.dtype(np.uint8)
        if part.nbytes % dtype.itemsize or part.low % dtype.itemsize:
            raise InvalidValue(
                f"{where} is of {dtype} and {part!r} begins or ends inside an element: start and "
                f"length must be multiples of {dtype.itemsize} bytes"
            )
        return Argument(part, Layout.contiguous((part.nbytes // dtype.itemsize,), dtype))
    if parameter.is_array:
        raise InvalidValue(
            f"{where} is memory and got {type(value).__name__} {str(value)[:40]!r}: give a tensor, "
            "a buffer or a part of one"
        )
    return Argument(_number(where, parameter, value), None)


def _check_type(where: str, parameter: Parameter, tensor: Tensor) -> None:
    if parameter.dtype is not None and tensor.dtype != parameter.dtype:
        raise InvalidValue(
            f"{where} is of {parameter.dtype} and got {tensor!r}: convert(tensor, "
            f"{str(parameter.dtype)!r}) makes one that fits"
        )
    if parameter.is_flat and not tensor.is_contiguous:
        raise InvalidValue(
            f"{where} is a pointer and got {tensor!r}, a view whose elements do not follow each "
            "other: contiguous(tensor) makes one that fits"
        )


def _number(where: str, parameter: Parameter, value: Any) -> Any:
    """The number as the parameter's type, or as it is where the kernel does not say."""
    if not isinstance(value, bool | int | float | complex | np.number | np.bool_):
        raise InvalidValue(
            f"{where} got {type(value).__name__} {str(value)[:40]!r}: give a number, a tensor, a "
            "buffer or a part of one"
        )
    dtype = parameter.dtype
    if dtype is None:
        if isinstance(value, int) and not _LEAST <= value <= _MOST:
            raise InvalidValue(
                f"{where} got {said(value)}: give an integer from {_LEAST} to {_MOST}, which has "
                "64 bits"
            )
        return value
    if dtype.kind in "iu":
        bounds = np.iinfo(dtype)
        if isinstance(value, float | complex | np.inexact) or not (
            bounds.min <= int(value) <= bounds.max
        ):
            raise InvalidValue(
                f"{where} is of {dtype} and got {value!r}: give an integer from {bounds.min} to "
                f"{bounds.max}"
            )
    elif isinstance(value, complex | np.complexfloating):
        raise InvalidValue(f"{where} is of {dtype} and got {value!r}: give a real number")
    return dtype.type(value)
