"""A kernel on a virtual device: interpreted by the simulator, seen by others when it has ended."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from numba import TypingError

from wia_lab.cuda.errors import CudaAPIError
from wia_lab.cuda.launchconfig import LaunchConfiguration
from wia_lab.errors import LaunchError
from wia_lab.hal.errors import InvalidValue, KernelError
from wia_lab.simt.launch import run, written_arguments
from wia_lab.timeline import Aside

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from wia_lab.hal.backends.base import KernelLaunch, Span
    from wia_lab.machines import Device
    from wia_lab.simt.events import Listener
    from wia_lab.timeline import Site

_ALIGNMENT_BITS = 9  # storage begins at a multiple of 512 bytes, as cudaMalloc's does


class _OnDevice:
    """An array as the simulator takes memory of a device: with an address of its own."""

    def __init__(self, span: Span, array: np.ndarray[Any, Any]) -> None:
        self.memory = array
        start = span.storage.array.__array_interface__["data"][0]
        offset = array.__array_interface__["data"][0] - start if array.size else 0
        self.__cuda_array_interface__ = {"data": ((start << _ALIGNMENT_BITS) + offset, False)}


class VirtualLaunch:
    """One launch, checked when it is made.

    Attributes
    ----------
    reads, writes : list of Span
        All that it is given, and what of it the kernel may write.
    hazards : list of Hazard
        Found by `run`; their messages name the launch.
    """

    def __init__(
        self,
        launch: KernelLaunch,
        sheet: Device,
        stream: str,
        site: Site,
        listeners: Sequence[Listener] = (),
    ) -> None:
        self.launch, self.device = launch, sheet.name
        self._listeners = listeners
        self.hazards: list[Any] = []
        self._where = f"{launch.name}, launched on line {site.line} in {stream}"
        self._arguments = [
            each.value if each.layout is None else _view(each.value, each.layout)
            for each in launch.arguments
        ]
        self._function = launch.kernel.frozen(self._arguments)
        written = self._checked(sheet)
        spans = {
            place: each.value
            for place, each in enumerate(launch.arguments)
            if each.layout is not None and each.value.low < each.value.high
        }
        self.reads = list(spans.values())
        self.writes = [span for place, span in spans.items() if place in written]
        self._aside = Aside(
            each.memory
            for place, each in enumerate(self._arguments)
            if place in written and isinstance(each, _OnDevice)
        )

    def _checked(self, sheet: Device) -> set[int]:
        """Which arguments the kernel may write.

        Raises
        ------
        InvalidValue
            For a launch beyond the device's limits.
        KernelError
            For arguments with which it cannot be compiled.
        """
        launch = self.launch
        configuration = LaunchConfiguration(
            launch.grid, launch.block, shared_bytes=launch.shared_bytes
        )
        try:
            configuration.check_limits(launch.name, sheet)
            return written_arguments(
                self._function,
                self._arguments,
                shared_bytes=launch.shared_bytes,
                device=self.device,
            )
        except (CudaAPIError, LaunchError) as error:
            what = str(error).removeprefix("[CUDA_ERROR_INVALID_VALUE] ")
            raise InvalidValue(f"{what} (a limit of {self.device})") from error
        except TypingError as error:
            what = str(error).strip().splitlines()[0]
            raise KernelError(
                f"{launch.name} with these arguments: {what}: give what its operations can take"
            ) from error

    def run(self) -> int:
        """Interpret it; returns how many nanoseconds the device would be busy."""
        report = self._aside.run(
            lambda: run(
                self._function,
                self.launch.grid,
                self.launch.block,
                self._arguments,
                shared_bytes=self.launch.shared_bytes,
                device=self.device,
                listeners=self._listeners,
            )
        )
        self.hazards = [
            replace(each, message=f"{each.message} ({self._where})") for each in report.hazards
        ]
        return round(report.cost.seconds * 1e9)

    def land(self) -> None:
        """Let others see what it wrote."""
        self._aside.land()


def _view(span: Span, layout: Any) -> _OnDevice:
    return _OnDevice(span, layout.array(span.storage.array[span.low : span.high]))
