"""Memory shown to other libraries without a copy: CUDA's array interface, and DLPack."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from wia_lab.hal.errors import AccessRefused, InvalidValue
from wia_lab.hal.tensor_layout import Layout

if TYPE_CHECKING:
    from wia_lab.hal.buffer import Buffer


class NotShared(AccessRefused, AttributeError):
    """Memory without an interface that libraries of CUDA look for."""


CPU, CUDA = 1, 2  # kDLCPU and kDLCUDA of dlpack.h


def dlpack_device(buffer: Buffer) -> tuple[int, int]:
    """The kind of device, as DLPack numbers it, and its own number."""
    if buffer.kind.host_access:
        return (CPU, 0)
    _address(buffer)
    return (CUDA, buffer.context.device.number)


def cuda_interface(buffer: Buffer, layout: Layout) -> dict[str, Any]:
    """Version 3 of the interface; the host waits for the context's streams first."""
    try:
        address = _address(buffer)
    except AccessRefused as refused:  # so that hasattr says that there is none
        raise NotShared(str(refused)) from None
    buffer.context.settle()
    return {
        "shape": layout.shape,
        "typestr": layout.dtype.str,
        "data": (address + layout.offset, False),
        "strides": layout.strides,
        "version": 3,
    }


def device_capsule(buffer: Buffer, layout: Layout, options: dict[str, Any]) -> Any:
    """A DLPack capsule over device memory, made by cuda.core, which numba-cuda brings."""
    shown = Shown(cuda_interface(buffer, layout), buffer)
    view = importlib.import_module("cuda.core.utils").StridedMemoryView
    made = view.from_cuda_array_interface(shown, stream_ptr=-1)
    return made.__dlpack__(**{key: value for key, value in options.items() if key != "stream"})


class Shown:
    """An object with an interface that another library asks for, which keeps the memory alive."""

    def __init__(self, interface: dict[str, Any], kept: object) -> None:
        self.__cuda_array_interface__ = interface
        self.kept = kept


def _address(buffer: Buffer) -> int:
    context = buffer.context
    context.check_open()
    address = context.backend.address(buffer.span())
    if address is None:
        machine = context.device.machine
        whose = f"virtual machine {machine.name}" if machine.is_virtual else "host"
        raise AccessRefused(
            f"{buffer!r} is memory of the {whose}, where libraries of CUDA reach nothing: copy it "
            "in a stream to host or pinned memory and share that, or tensor.numpy()"
        )
    return address


class Foreign(NamedTuple):
    """Contiguous device memory of another library; `kept` is what owns it."""

    address: int
    device: int
    layout: Layout
    kept: object


def foreign(source: Any) -> Foreign | None:
    """What another library shows through DLPack, or None where it is on the host.

    Raises
    ------
    InvalidValue
        For elements that do not follow each other in C's order.
    """
    kind = getattr(source, "__dlpack_device__", lambda: (CPU, 0))()[0]
    if kind != CUDA:
        return None
    view = importlib.import_module("cuda.core.utils").StridedMemoryView
    seen = view.from_dlpack(source, stream_ptr=-1)
    layout = Layout.contiguous(tuple(seen.shape), np.dtype(seen.dtype))
    size = layout.dtype.itemsize
    strides = tuple(n * size for n in seen.strides) if seen.strides else layout.strides
    if not Layout(layout.shape, layout.dtype, strides).is_contiguous:
        raise InvalidValue(
            f"from_dlpack: elements of shape {layout.shape} lie {strides} bytes apart: make them "
            "contiguous first"
        )
    return Foreign(int(seen.ptr), int(seen.device_id), layout, seen)
