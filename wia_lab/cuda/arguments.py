"""Arguments of a launch on the simulator: what the kernel gets, and what is copied back.

A NumPy array is read and written in place, which is what numba-cuda's copies to and from the
device amount to. `In`, `Out` and `InOut` say less or more than that, as in numba-cuda.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wia_lab.cuda import places
from wia_lab.cuda.arrays import DeviceNDArray, ManagedNDArray, MappedNDArray, poisoned
from wia_lab.cuda.errors import NotOnSimulatorError

_PLAIN = (bool, int, float, complex, np.generic, enum.Enum, type(None))


class ArgHint:
    """How one argument travels to the device and back; see `In`, `Out` and `InOut`."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.value!r})"


class In(ArgHint):
    """Copied to the device, not back: what the kernel writes to it is lost."""


class Out(ArgHint):
    """Not copied to the device, where it starts undefined; copied back after the kernel."""


class InOut(ArgHint):
    """Copied both ways, as an array without a hint is."""


def check_host_array(value: Any, name: str, kernel: str) -> None:
    """Refuse a host array with gaps: one range of bytes is copied to the device.

    numba-cuda 0.30 does not refuse it, and lets the kernel read and write past the copy's end.
    """
    if not isinstance(value, np.ndarray) or value.size == 0:
        return
    if not (value.flags.c_contiguous or value.flags.f_contiguous):
        raise ValueError(
            f"{kernel}: {name} is a NumPy array of shape {value.shape} and strides "
            f"{value.strides}, which is not contiguous and cannot be copied to the device in one "
            "piece: pass np.ascontiguousarray(...), or a slice of a device array"
        )


class Prepared:
    """The arguments of one launch as the simulator takes them, and the copies due after it."""

    def __init__(self, arguments: Sequence[Any], names: Sequence[str], kernel: str) -> None:
        self._after: list[Callable[[], None]] = []
        self._kernel = kernel
        self.touches_host = False  # an array is copied back to pageable memory: the host waits
        self.values = tuple(
            self._prepare(each, name) for each, name in zip(arguments, names, strict=True)
        )

    def copy_back(self) -> None:
        """Write what `Out` arguments got back to the host's arrays."""
        for copy in self._after:
            copy()

    def _prepare(self, value: Any, name: str) -> Any:
        if isinstance(value, DeviceNDArray):
            return value
        if isinstance(value, MappedNDArray | ManagedNDArray):
            return value.view(np.ndarray)
        if isinstance(value, tuple):
            items = [self._prepare(each, f"{name}[{i}]") for i, each in enumerate(value)]
            return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
        if isinstance(value, In) and isinstance(value.value, np.ndarray):
            check_host_array(value.value, name, self._kernel)
            return np.array(value.value, order="K")
        if isinstance(value, Out) and isinstance(value.value, np.ndarray):
            return self._returned(self._host(value.value, name))
        if isinstance(value, ArgHint):
            return self._prepare(value.value, name)
        if isinstance(value, np.ndarray):
            return self._host(value, name)
        self._check_plain(value, name)
        return value

    def _returned(self, host: np.ndarray) -> np.ndarray:
        device = poisoned(host.shape, host.dtype, host.strides)
        self._after.append(lambda: np.copyto(host, device))
        return device

    def _host(self, array: np.ndarray, name: str) -> np.ndarray:
        self.touches_host |= not places.is_pinned(array)
        check_host_array(array, name, self._kernel)
        return array

    def _check_plain(self, value: Any, name: str) -> None:
        """Refuse what is neither a number nor a record."""
        if isinstance(value, _PLAIN):
            return
        kind = type(value).__name__
        if hasattr(value, "__cuda_array_interface__"):
            raise NotOnSimulatorError(
                f"{self._kernel}: {name} is of type {kind}, which lives on a GPU: copy it to the "
                "host first, or set WIA_LAB_BACKEND=hardware"
            )
        cure = (
            "pass np.array(...) of it"
            if isinstance(value, (list, range))
            else ("pass arrays, numbers and tuples of them")
        )
        raise TypeError(
            f"{self._kernel}: {name} is of type {kind}, which a kernel cannot take: {cure}"
        )
