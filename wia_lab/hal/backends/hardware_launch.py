"""Kernels on a real device: launched by numba-cuda over memory of the HAL."""

from __future__ import annotations

import warnings
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

from wia_lab.cuda import choice
from wia_lab.cuda.errors import CudaAPIError
from wia_lab.cuda.launchconfig import LaunchConfiguration
from wia_lab.errors import AllocatorError, LaunchError, OutOfMemoryError
from wia_lab.hal.backends import vendor
from wia_lab.hal.backends.hardware_refusal import refusal
from wia_lab.hal.errors import DeviceLost, InvalidValue
from wia_lab.hal.ops.kernels import Operand, plan
from wia_lab.hal.tensor_layout import Layout

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np

    from wia_lab.hal.backends.base import KernelLaunch, Span
    from wia_lab.hal.backends.hardware_driver import Driver
    from wia_lab.hal.backends.hardware_streams import HardwareStream
    from wia_lab.hal.ops.operation import Operation
    from wia_lab.machines import Device

MOST_CHECKED, MOST_VIEWS, MOST_CONSTANTS = 4096, 1024, 1024
"""Launch configurations, arrays over a storage, and constants that are remembered."""


class Launcher:
    """Launches kernels and operations on the devices of one machine."""

    def __init__(self, driver: Driver, sheet: Callable[[int], Device]) -> None:
        self._driver, self._sheet = driver, sheet
        self._good: set[tuple[Any, ...]] = set()
        self._constants: dict[tuple[int, bytes, str], Any] = {}

    def bound(
        self, stream: HardwareStream, device: int, launch: KernelLaunch
    ) -> tuple[Callable[[Sequence[Any]], None], list[Any]]:
        """A function that launches, in the device's context, and the arguments as it takes them.

        Raises
        ------
        InvalidValue
            For a launch beyond the device's limits.
        """
        configuration = (device, launch.grid, launch.block, launch.shared_bytes)
        if configuration not in self._good:
            self._check(launch, device)
            if len(self._good) < MOST_CHECKED:
                self._good.add(configuration)
        with self._driver.on(device):  # else numba-cuda would make a context of its own current
            arguments = [
                each.value if each.layout is None else self.view(each.value, each.layout)
                for each in launch.arguments
            ]
            run = self._configured(
                launch.kernel, launch.grid, launch.block, stream, launch.shared_bytes, launch
            )
        return run, arguments

    def operate(
        self,
        stream: HardwareStream,
        device: int,
        operation: Operation,
        inputs: Sequence[Span],
        output: Span,
    ) -> None:
        """Launch what the operation's plan says, one after the other."""
        if output.low >= output.high:
            return
        layouts = (*operation.inputs, operation.output)
        spans = list(zip((*inputs, output), layouts, strict=True))
        if operation.algorithm == "vendor":
            with self._driver.on(device):
                arrays = [self.view(*each) for each in spans]
                self._by_vendor(stream, device, operation, arrays)
            return
        with (
            self._driver.on(device),
            warnings.catch_warnings(),
            _Room(self, stream, device) as room,
        ):
            # A small grid is the operation's own, of which numba-cuda would warn
            warnings.filterwarnings("ignore", message=".*Grid size")
            operands = [self._operand(*each) for each in spans]
            for each in plan(operation, operands[:-1], operands[-1], room):
                self._configured(each.kernel, each.grid, each.block, stream, 0)(each.arguments)

    def _by_vendor(
        self, stream: HardwareStream, device: int, operation: Operation, arrays: Sequence[Any]
    ) -> None:
        """As `vendor.compute`; each library has a class of its own for memory that is not there."""
        try:
            vendor.compute(stream, device, operation, arrays)
        except Exception as error:
            if "OutOfMemory" not in type(error).__name__:
                raise
            raise OutOfMemoryError(str(error).strip().splitlines()[0]) from error

    def view(self, span: Span, layout: Layout) -> Any:
        """An array of numba-cuda over a span, made once for each place and layout."""
        views, key = span.storage.views, (span.low, span.high, layout)
        found = views.get(key)
        if found is None:
            if len(views) >= MOST_VIEWS:
                views.clear()  # a program that goes over a tensor row by row
            start = span.storage.pointer + span.low + layout.offset - layout.extent[0]
            found = views[key] = _array(start, layout)
        return found

    def array(self, pointer: int, count: int, dtype: np.dtype[Any]) -> Any:
        """An array of numba-cuda of one dimension."""
        return _array(pointer, Layout.contiguous((count,), dtype))

    def constant(self, device: int, values: np.ndarray[Any, Any]) -> Any:
        """An array on the device with these values, made once."""
        key = (device, values.tobytes(), f"{values.dtype.str}{values.shape}")
        found = self._constants.get(key)
        if found is None:
            if len(self._constants) >= MOST_CONSTANTS:
                # CUDA frees memory when the work on the device has ended
                self._constants.clear()
            found = self._constants[key] = choice.numba_cuda().to_device(values)
            # Its copy may be on its way still, in a stream that ours do not wait for
            api = self._driver.api
            self._driver.call(api.cuStreamSynchronize, api.CUstream(0))
        return found

    def _configured(
        self,
        kernel: Any,
        grid: Any,
        block: Any,
        stream: HardwareStream,
        shared_bytes: int,
        launch: KernelLaunch | None = None,
    ) -> Callable[[Sequence[Any]], None]:
        configured = kernel.hardware[grid, block, stream.numba, shared_bytes]

        def run(arguments: Sequence[Any]) -> None:
            try:
                configured(*arguments)
            except Exception as error:
                told = refusal(self._driver, error, kernel.name, launch)
                if told is None:
                    raise
                raise told from error

        return run

    def _check(self, launch: KernelLaunch, device: int) -> None:
        sheet = self._sheet(device)
        asked = LaunchConfiguration(launch.grid, launch.block, shared_bytes=launch.shared_bytes)
        try:
            asked.check_limits(launch.name, sheet)
        except (CudaAPIError, LaunchError) as error:
            what = str(error).removeprefix("[CUDA_ERROR_INVALID_VALUE] ")
            raise InvalidValue(f"{what} (a limit of {sheet.name})") from error

    def _operand(self, span: Span, layout: Layout) -> Operand:
        size, count = layout.dtype.itemsize, (span.high - span.low) // layout.dtype.itemsize
        flat = self.view(span, Layout.contiguous((count,), layout.dtype))
        strides = tuple(stride // size for stride in layout.strides)
        start = (layout.offset - layout.extent[0]) // size
        return Operand(flat, layout.dtype, layout.shape, strides, start)


class _Room:
    """Memory between two launches, from the driver's pool in the stream's order."""

    def __init__(self, launcher: Launcher, stream: HardwareStream, device: int) -> None:
        self._launcher, self._stream, self._device = launcher, stream, device
        self._driver = launcher._driver  # noqa: SLF001 - of the same module
        self._taken: list[Any] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(DeviceLost):  # and the memory with it; the launch's own error is told
            for pointer in self._taken:
                self._driver.call(self._driver.api.cuMemFreeAsync, pointer, self._stream.pointer)

    def scratch(self, count: int, dtype: np.dtype[Any]) -> Any:
        """As `plans.Room`."""
        nbytes = max(1, count) * dtype.itemsize
        api = self._driver.api
        try:
            pointer = self._driver.call(api.cuMemAllocAsync, nbytes, self._stream.pointer)
        except AllocatorError as error:
            raise OutOfMemoryError(str(error), requested=nbytes) from error
        self._taken.append(pointer)
        return self._launcher.array(int(pointer), count, dtype)

    def constant(self, values: np.ndarray[Any, Any]) -> Any:
        """As `plans.Room`."""
        return self._launcher.constant(self._device, values)


def _array(pointer: int, layout: Layout) -> Any:
    description = {
        "shape": layout.shape,
        "typestr": layout.dtype.str,
        "data": (pointer, False),
        "strides": layout.strides,
        "version": 3,
    }
    return choice.numba_cuda().from_cuda_array_interface(description, owner=None, sync=False)
