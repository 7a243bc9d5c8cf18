"""Device arrays on the simulator: memory that the host reaches only through copies.

The names and the rules are numba-cuda's `DeviceNDArray`: indexing gives a number (a copy to the
host) or a view that shares the memory; assignment copies; whatever would need a gather is refused.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Iterator
from typing import Any

import numba
import numpy as np

from wia_lab.cuda import places, policy, streams
from wia_lab.cuda.devices import copy_seconds, current_context
from wia_lab.simt.memory import POISON
from wia_lab.wording import counted


class Allocation:
    """Bytes claimed from the simulated device, given back when the last view of them is gone."""

    def __init__(self, nbytes: int) -> None:
        context = current_context()
        self.address = context.claim(nbytes)
        weakref.finalize(self, context.release, nbytes)


class DeviceNDArray:
    """An array in the simulated device's memory.

    Attributes
    ----------
    shape, strides, dtype, ndim, size, nbytes
        As NumPy has them; strides in bytes.
    stream
        The stream of its copies when none is given.
    memory
        The NumPy array that plays the device's memory. Kernels and this package use it; host code
        that does is wrong on hardware.
    """

    __cuda_memory__ = True
    __cuda_ndarray__ = True

    def __init__(
        self, memory: np.ndarray, stream: Any = 0, base: DeviceNDArray | None = None
    ) -> None:
        self.memory = memory
        self.stream = stream
        if base is None:
            self._allocation, self._offset = Allocation(extent(memory)), 0
            made = f"the {places.described(memory)} device array of {policy.caller_site()}"
            places.buffer_of(memory, made, "device 0")
        else:
            self._allocation = base._allocation  # noqa: SLF001 - of the same class
            self._offset = base._offset + _distance(memory, base.memory)  # noqa: SLF001

    shape = property(lambda self: self.memory.shape)
    strides = property(lambda self: self.memory.strides)
    dtype = property(lambda self: self.memory.dtype)
    ndim = property(lambda self: self.memory.ndim)
    size = property(lambda self: self.memory.size)
    nbytes = property(lambda self: self.memory.nbytes)
    alloc_size = property(lambda self: extent(self.memory))

    @property
    def _numba_type_(self) -> Any:
        return numba.typeof(self.memory)

    @property
    def flags(self) -> dict[str, bool]:
        """`C_CONTIGUOUS` and `F_CONTIGUOUS`, as numba-cuda gives them."""
        return {name: bool(self.memory.flags[name]) for name in ("C_CONTIGUOUS", "F_CONTIGUOUS")}

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """The interface's description; `data` is a simulated address, for comparison only."""
        return {
            "shape": self.shape,
            "strides": None if self.memory.flags.c_contiguous else self.strides,
            "data": (self._allocation.address + self._offset, False),
            "typestr": self.dtype.str,
            "stream": None,
            "version": 3,
        }

    def __repr__(self) -> str:
        return f"<DeviceNDArray of shape {self.shape}, {self.dtype}, on the simulator>"

    def __len__(self) -> int:
        return len(self.memory)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """A copy on the host; `copy=False` is refused."""
        if copy is False:
            raise ValueError("a device array cannot be used without a copy: leave out copy=False")
        return self.copy_to_host().astype(dtype or self.dtype, copy=False)

    def is_c_contiguous(self) -> bool:
        """Whether the last index runs fastest, without gaps."""
        return bool(self.memory.flags.c_contiguous)

    def is_f_contiguous(self) -> bool:
        """Whether the first index runs fastest, without gaps."""
        return bool(self.memory.flags.f_contiguous)

    # Copies

    def copy_to_device(self, ary: Any, stream: Any = 0) -> None:
        """Copy `ary`, of the host or the device, into this array; without a stream the host waits.

        A pinned `ary` is read while the copy runs, any other before this returns.

        Raises
        ------
        TypeError, ValueError
            When the types, or the shapes, differ; when this array has gaps.
        """
        source = ary.memory if isinstance(ary, DeviceNDArray) else np.asarray(ary)
        self._check_compatible(source)
        check_contiguous(self.memory, "the device array")
        target = stream or self.stream
        if isinstance(ary, DeviceNDArray):
            _copy_on_device(self.memory, source.reshape(self.shape), target)
        else:
            _copy_to_device(self.memory, source.reshape(self.shape), target)

    def copy_to_host(self, ary: np.ndarray | None = None, stream: Any = 0) -> np.ndarray:
        """Copy to `ary`, or to a new array.

        The host waits for the copy, except with a stream and an `ary` that is pinned.
        """
        if any(step < 0 for step in self.strides):
            raise NotImplementedError(
                f"a device array with negative strides {self.strides} cannot be copied to the "
                "host: copy the whole array and reverse it there"
            )
        if ary is None:
            host = np.empty_like(self.memory)
        else:
            self._check_compatible(ary)
            host = ary
        _copy_to_host(host, self.memory.reshape(host.shape), stream or self.stream)
        return host

    def _check_compatible(self, other: np.ndarray) -> None:
        if other.dtype != self.dtype:
            raise TypeError(
                f"incompatible dtype: the device array has {self.dtype}, the other {other.dtype}: "
                "convert it with astype() first"
            )
        if other.squeeze().shape != self.memory.squeeze().shape:
            raise ValueError(
                f"incompatible shape: the device array has {self.shape}, the other {other.shape}"
            )

    # Views

    @property
    def T(self) -> DeviceNDArray:
        """The transpose of a matrix, in new memory, as numba-cuda makes it."""
        return self.transpose()

    def transpose(self, axes: Any = None) -> DeviceNDArray:
        """The transpose of a 2-D array, in new memory; see `T`."""
        if axes and tuple(axes) == tuple(range(self.ndim)):
            return self
        if self.ndim != 2:
            raise NotImplementedError(
                "only a 2-D device array can be transposed, this one has "
                f"{counted(self.ndim, 'dimension')}"
            )
        if axes is not None and set(axes) != {0, 1}:
            raise ValueError(f"axes {axes!r} are not an order of (0, 1)")
        turned = DeviceNDArray(poisoned(self.shape[::-1], self.dtype), self.stream)
        _copy_on_device(turned.memory, self.memory.T, self.stream)
        return turned

    def reshape(self, *newshape: Any, order: str = "C") -> DeviceNDArray:
        """The same memory in another shape; refused where that would need a copy."""
        if len(newshape) == 1 and isinstance(newshape[0], (tuple, list)):
            newshape = tuple(newshape[0])
        return self._view(self.memory.reshape(newshape, order=order))  # type: ignore[call-overload]

    def ravel(self, order: str = "C", stream: Any = 0) -> DeviceNDArray:
        """The same memory in one dimension; refused where that would need a copy."""
        return self._view(self.memory.reshape(-1, order=order), stream)  # type: ignore[call-overload]

    def squeeze(self, axis: Any = None, stream: Any = 0) -> DeviceNDArray:
        """The same memory without dimensions of size one."""
        return self._view(self.memory.squeeze(axis), stream)

    def view(self, dtype: Any) -> DeviceNDArray:
        """The same bytes as elements of `dtype`."""
        return self._view(self.memory.view(np.dtype(dtype)))

    def bind(self, stream: Any = 0) -> DeviceNDArray:
        """The same memory with `stream` as the stream of its copies."""
        return self._view(self.memory, stream)

    def split(self, section: int, stream: Any = 0) -> Iterator[DeviceNDArray]:
        """Views of `section` elements each of a 1-D array; the last may be shorter."""
        if self.ndim != 1 or self.strides[0] != self.dtype.itemsize:
            raise ValueError(f"only a 1-D array without gaps can be split, not {self!r}")
        for begin in range(0, self.size, section):
            yield self._view(self.memory[begin : begin + section], stream)

    def _view(self, memory: np.ndarray, stream: Any = 0) -> DeviceNDArray:
        if memory.size and not np.may_share_memory(memory, self.memory):
            raise NotImplementedError(
                f"operation requires copying: a device array of strides {self.strides} has no view "
                f"of shape {memory.shape}"
            )
        return DeviceNDArray(memory, stream or self.stream, self)

    # Elements

    def __getitem__(self, item: Any) -> Any:
        return self.getitem(item)

    def getitem(self, item: Any, stream: Any = 0) -> Any:
        """A number, copied to the host, or a view that shares the memory."""
        _check_basic(item)
        found = self.memory[item]
        if isinstance(found, np.ndarray):
            return self._view(found, stream)
        found = np.empty((), self.dtype)
        where = (*item, ...) if isinstance(item, tuple) else (item, ...)
        _copy_to_host(found, self.memory[where], stream or self.stream)
        return found[()]

    def __setitem__(self, item: Any, value: Any) -> None:
        self.setitem(item, value)

    def setitem(self, item: Any, value: Any, stream: Any = 0) -> None:
        """Copy a number or an array, broadcast as NumPy does, into the selected elements."""
        _check_basic(item)
        where = (*item, ...) if isinstance(item, tuple) else (item, ...)
        selected = self.memory if item is Ellipsis else self.memory[where]
        copy = _copy_on_device if isinstance(value, DeviceNDArray) else _copy_to_device
        source = value.memory if isinstance(value, DeviceNDArray) else np.asarray(value)
        copy(selected, np.broadcast_to(source, selected.shape), stream or self.stream)


class MappedNDArray(np.ndarray):
    """Host memory that the device reads and writes over the bus, without copies."""


class ManagedNDArray(np.ndarray):
    """Memory that host and device both reach; the driver moves its pages."""


def _copy_to_device(target: np.ndarray, source: np.ndarray, stream: Any) -> None:
    """Copy from the host: pinned memory is read when the copy ends, any other now."""
    pinned = bool(stream) and places.is_pinned(source)
    held = source if pinned or streams.is_default(stream) else source.copy()
    streams.submit(
        stream,
        lambda: np.copyto(target, held, casting="unsafe"),
        copy_seconds(source.nbytes, "to_device"),
        wait=not stream,
        name="a copy to the device",
        engine=streams.UPLOAD,
        reads=(places.region(source),) if pinned else (),
        writes=(places.region(target),),
    )


def _copy_to_host(target: np.ndarray, source: np.ndarray, stream: Any) -> None:
    """Copy to the host, which waits for it unless it goes to pinned memory in a stream."""
    pinned = bool(stream) and places.is_pinned(target)
    copy = _Copy(target, source)
    streams.submit(
        stream,
        copy.land,
        copy_seconds(source.nbytes, "to_host"),
        wait=not pinned,
        before=None if streams.is_default(stream) else copy.take,
        name="a copy to the host",
        engine=streams.DOWNLOAD,
        reads=(places.region(source),),
        writes=(places.region(target),) if pinned else (),
    )


def _copy_on_device(target: np.ndarray, source: np.ndarray, stream: Any) -> None:
    """Copy within the device."""
    copy = _Copy(target, source)
    streams.submit(
        stream,
        copy.land,
        copy_seconds(target.nbytes, "on_device"),
        wait=False,
        before=None if streams.is_default(stream) else copy.take,
        name="a copy on the device",
        engine=streams.COMPUTE,
        reads=(places.region(source),),
        writes=(places.region(target),),
    )


class _Copy:
    """Device memory is read when a copy starts, and what was read lands when it ends.

    On the default stream nothing can come in between, so nothing is taken before it lands.
    """

    def __init__(self, target: np.ndarray, source: np.ndarray) -> None:
        self._target, self._source = target, source

    def take(self) -> None:
        """The copy starts."""
        self._source = self._source.copy()

    def land(self) -> None:
        """The copy ends."""
        np.copyto(self._target, self._source, casting="unsafe")


def poisoned(shape: Any, dtype: Any, strides: Any = None, order: str = "C") -> np.ndarray:
    """New memory whose bytes all are the simulator's poison, so that no zero comes by luck."""
    kind, sizes = np.dtype(dtype), _shape(shape)
    steps = (strides,) if isinstance(strides, int) else tuple(strides or ())
    if steps and all(sizes):
        span = sum((n - 1) * step for n, step in zip(sizes, steps, strict=True)) + kind.itemsize
        return np.ndarray(sizes, kind, np.full(span, POISON, np.uint8), strides=steps)
    if order not in ("C", "F"):
        raise ValueError(f"order is {order!r}: it must be C or F")
    storage = np.full(math.prod(sizes) * kind.itemsize, POISON, np.uint8)
    return np.ndarray(sizes, kind, storage, order=order)  # type: ignore[arg-type]


def extent(array: np.ndarray) -> int:
    """Bytes from the first to the last that `array` uses."""
    if not array.size:
        return 0
    spans = ((n - 1) * abs(step) for n, step in zip(array.shape, array.strides, strict=True))
    return int(array.dtype.itemsize + sum(spans))


def _shape(shape: Any) -> tuple[int, ...]:
    sizes = tuple(shape) if isinstance(shape, (tuple, list, np.ndarray)) else (shape,)
    if not all(isinstance(each, (int, np.integer)) for each in sizes):
        raise TypeError(f"shape {shape!r} must be an integer or a tuple of integers")
    return tuple(int(each) for each in sizes)


def _distance(view: np.ndarray, base: np.ndarray) -> int:
    """Bytes from the start of `base` to that of `view`, which shares its memory."""
    return int(view.__array_interface__["data"][0] - base.__array_interface__["data"][0])


def check_contiguous(array: np.ndarray, what: str) -> None:
    """Refuse an array whose bytes do not form one range, apart from repeated dimensions."""
    core = array[tuple(0 if step == 0 else slice(None) for step in array.strides)]
    if not (core.flags.c_contiguous or core.flags.f_contiguous):
        raise ValueError(
            f"{what} of shape {array.shape} and strides {array.strides} is not contiguous and "
            "cannot be copied in one piece: use np.ascontiguousarray(), or copy the whole array"
        )


def _check_basic(item: Any) -> None:
    """Refuse what would need a gather: arrays, lists and masks as indices."""
    for each in item if isinstance(item, tuple) else (item,):
        if not (each is Ellipsis or isinstance(each, (int, np.integer, slice))):
            raise NotImplementedError(
                f"a device array is indexed by integers and slices, not by {each!r}: copy it to "
                "the host first"
            )
