"""numba.cuda's host functions on the simulator: allocation, copies, pinning, profiling."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from wia_lab.cuda import places, streams
from wia_lab.cuda.arrays import DeviceNDArray, ManagedNDArray, MappedNDArray, poisoned
from wia_lab.cuda.arrays import check_contiguous as _check_contiguous
from wia_lab.cuda.devices import current_context
from wia_lab.cuda.errors import NotOnSimulatorError


def to_device(obj: Any, stream: Any = 0, copy: bool = True, to: Any = None) -> Any:
    """Copy `obj` to the device: into a new array, or into the device array `to`.

    `copy=False` allocates like `obj` and copies nothing. An array with gaps is refused.
    """
    if to is not None:
        if copy:
            to.copy_to_device(obj, stream=stream)
        return to
    if isinstance(obj, DeviceNDArray):
        return obj
    host = np.asanyarray(obj)
    _check_contiguous(host, "the array")
    device = DeviceNDArray(poisoned(host.shape, host.dtype, host.strides), stream)
    if copy and host.size:
        device.copy_to_device(host, stream=stream)
    return device


def device_array(
    shape: Any, dtype: Any = np.float64, strides: Any = None, order: str = "C", stream: Any = 0
) -> DeviceNDArray:
    """A new device array with undefined contents (on the simulator, its poison)."""
    return DeviceNDArray(poisoned(shape, dtype, strides, order), stream)


def device_array_like(ary: Any, stream: Any = 0) -> DeviceNDArray:
    """A new device array with the shape, type and order of `ary`."""
    return DeviceNDArray(_poisoned_like(ary), stream)


def pinned_array(
    shape: Any, dtype: Any = np.float64, strides: Any = None, order: str = "C"
) -> np.ndarray:
    """A new host array in page-locked memory, undefined.

    Copies of it in a stream let the host go on; on the simulator they take as long as others.
    """
    return _pinned(poisoned(shape, dtype, strides, order))


def pinned_array_like(ary: Any) -> np.ndarray:
    """A new page-locked host array with the shape, type and order of `ary`."""
    return _pinned(_poisoned_like(ary))


def mapped_array(
    shape: Any,
    dtype: Any = np.float64,
    strides: Any = None,
    order: str = "C",
    stream: Any = 0,
    portable: bool = False,
    wc: bool = False,
) -> MappedNDArray:
    """A new host array that kernels use in place. `portable` and `wc` only change its speed."""
    streams.resolve(stream)
    return _pinned(poisoned(shape, dtype, strides, order)).view(MappedNDArray)


def mapped_array_like(
    ary: Any,
    stream: Any = 0,
    portable: bool = False,
    wc: bool = False,
) -> MappedNDArray:
    """A new mapped array with the shape, type and order of `ary`."""
    streams.resolve(stream)
    return _pinned(_poisoned_like(ary)).view(MappedNDArray)


def managed_array(
    shape: Any,
    dtype: Any = np.float64,
    strides: Any = None,
    order: str = "C",
    stream: Any = 0,
    attach_global: bool = True,
) -> ManagedNDArray:
    """A new array that host and kernels both use; its pages are not simulated here.

    `attach_global` decides which devices may touch it: with one device, all may.
    """
    streams.resolve(stream)
    return _pinned(poisoned(shape, dtype, strides, order)).view(ManagedNDArray)


@contextmanager
def pinned(*arylist: np.ndarray) -> Iterator[None]:
    """Page-lock host arrays inside the ``with``; see `pinned_array`."""
    for each in arylist:
        _check_contiguous(each, "the array to pin")
    fresh = [each for each in arylist if not places.is_pinned(each)]
    for each in fresh:
        places.pin(each)
    try:
        yield
    finally:
        for each in fresh:
            places.unpin(each)


@contextmanager
def mapped(*arylist: np.ndarray, stream: Any = 0) -> Iterator[Any]:
    """Device arrays that share the memory of host arrays, inside the ``with``."""
    for each in arylist:
        _check_contiguous(each, "the array to map")
    views = [DeviceNDArray(each, stream) for each in arylist]
    yield views[0] if len(views) == 1 else views


def is_cuda_array(obj: Any) -> bool:
    """Whether `obj` describes device memory by ``__cuda_array_interface__``."""
    return hasattr(obj, "__cuda_array_interface__")


def as_cuda_array(obj: Any, sync: bool = True) -> DeviceNDArray:
    """`obj` itself when it is the simulator's; real device memory is refused.

    With `sync` the host first waits for the stream of `obj`.
    """
    if isinstance(obj, DeviceNDArray):
        if sync and obj.stream:
            streams.resolve(obj.stream).synchronize()
        return obj
    if is_cuda_array(obj):
        raise NotOnSimulatorError(
            f"{type(obj).__name__} lives on a GPU, which the simulator cannot read: copy it to the "
            "host first, or set WIA_LAB_BACKEND=hardware"
        )
    raise TypeError("*obj* doesn't implement the cuda array interface.")


def is_available() -> bool:
    """True: kernels can be launched, on the simulator."""
    return True


def is_float16_supported() -> bool:
    """True: every device of the simulator has 16-bit floats."""
    return current_context().device.supports_float16


def is_bfloat16_supported() -> bool:
    """Whether the simulated device has bfloat16."""
    return current_context().device.supports_bfloat16


def synchronize() -> None:
    """Block the host until all work submitted to the device has ended."""
    streams.synchronize()


@contextmanager
def defer_cleanup() -> Iterator[None]:
    """Do nothing: the simulator frees an array only when nothing refers to it."""
    yield


@contextmanager
def profiling() -> Iterator[None]:
    """Do nothing: the simulator counts every launch; see `wia_lab.simulate`."""
    yield


def profile_start() -> None:
    """Do nothing: no profiler is attached to the simulator, which counts every launch."""


def profile_stop() -> None:
    """Do nothing; see `profile_start`."""


def _pinned(array: np.ndarray) -> np.ndarray:
    places.pin(array)
    return array


def _poisoned_like(ary: Any) -> np.ndarray:
    """Undefined memory in the shape, type and order of `ary`, which may be a device array."""
    like = np.empty_like(ary.memory if isinstance(ary, DeviceNDArray) else ary, subok=False)
    return poisoned(like.shape, like.dtype, like.strides)
