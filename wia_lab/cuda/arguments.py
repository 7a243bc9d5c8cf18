"""Arguments of a launch on the simulator: what the kernel gets, and what is copied back.

A NumPy array is read and written in place, which is what numba-cuda's copies to and from the
device amount to. `In`, `Out` and `InOut` say less or more than that, as in numba-cuda.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wia_lab.cuda.arrays import DeviceNDArray, ManagedNDArray, MappedNDArray, poisoned


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


class Prepared:
    """The arguments of one launch as the simulator takes them, and the copies due after it."""

    def __init__(self, arguments: Sequence[Any], kernel: str) -> None:
        self._after: list[Callable[[], None]] = []
        self._kernel = kernel
        self.touches_host = False  # a host array is among them: the launch waits for its copy back
        self.values = tuple(self._prepare(each) for each in arguments)

    def copy_back(self) -> None:
        """Write what `Out` arguments got back to the host's arrays."""
        for copy in self._after:
            copy()

    def _prepare(self, value: Any) -> Any:
        if isinstance(value, DeviceNDArray):
            return value.memory
        if isinstance(value, MappedNDArray | ManagedNDArray):
            return value.view(np.ndarray)
        if isinstance(value, tuple) and not hasattr(value, "_fields"):
            return tuple(self._prepare(each) for each in value)
        if isinstance(value, tuple):
            return type(value)(*(self._prepare(each) for each in value))
        if isinstance(value, In):
            return self._contiguous(value.value).copy(order="K")
        if isinstance(value, Out) and isinstance(value.value, np.ndarray):
            return self._returned(self._contiguous(value.value))
        if isinstance(value, ArgHint):
            return self._prepare(value.value)
        return self._contiguous(value)

    def _returned(self, host: np.ndarray) -> np.ndarray:
        device = poisoned(host.shape, host.dtype, host.strides)
        self._after.append(lambda: np.copyto(host, device))
        return device

    def _contiguous(self, value: Any) -> Any:
        """`value`; a host array with gaps is refused, as the driver copies one range of bytes."""
        if not isinstance(value, np.ndarray) or value.size == 0:
            return value
        self.touches_host = True
        if value.flags.c_contiguous or value.flags.f_contiguous:
            return value
        raise ValueError(
            f"{self._kernel} got a NumPy array of shape {value.shape} and strides {value.strides}, "
            "which is not contiguous and cannot be copied to the device in one piece: pass "
            "np.ascontiguousarray(a), or slice the device array instead"
        )
