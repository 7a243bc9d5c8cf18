"""The simulated device: what it is called, what it can hold, and what is in use of it.

`WIA_LAB_DEVICE` names the device that launches are simulated for; the default is an H200. Names
and figures are those of `wia_lab.machines`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal, NamedTuple

from wia_lab import machines
from wia_lab.cuda import streams
from wia_lab.cuda.errors import CudaAPIError
from wia_lab.settings import DEVICE, setting

DEFAULT = "H200"
ALIGNMENT = 256  # bytes: what cudaMalloc aligns to
FIRST_ADDRESS = 0xD000_0000_0000_0000  # no canonical address: a use on real hardware faults


class MemoryInfo(NamedTuple):
    """Bytes of device memory."""

    free: int
    total: int


class Device:
    """The device that launches are simulated for.

    Attributes
    ----------
    id
        Its number, as `select_device` takes it.
    name
        Its name in `wia_lab.machines`.
    sheet
        Its data sheet there.
    """

    def __init__(self, number: int, name: str) -> None:
        self.id = number
        self.sheet = machines.device(name)
        self.name = name
        self.context = Context(self)

    def __repr__(self) -> str:
        return f"<CUDA device {self.id} '{self.name}' on the simulator>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and (self.id, self.name) == (other.id, other.name)

    def __hash__(self) -> int:
        return hash((self.id, self.name))

    @property
    def compute_capability(self) -> tuple[int, int]:
        """Major and minor version."""
        return self.sheet.compute_capability

    def get_primary_context(self) -> Context:
        """The device's context."""
        return self.context

    def reset(self) -> None:
        """Forget the simulated time of the device's work; arrays stay as they are."""
        streams.synchronize()

    @property
    def supports_float16(self) -> bool:
        """Whether kernels can use 16-bit floats."""
        return self.compute_capability >= (5, 3)

    @property
    def supports_bfloat16(self) -> bool:
        """Whether the hardware has bfloat16 arithmetic."""
        return self.compute_capability >= (8, 0)

    @property
    def supports_fp8(self) -> bool:
        """Whether the hardware has 8-bit floats."""
        return self.compute_capability >= (8, 9)


class Context:
    """The memory of a device that is in use."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._used = 0
        self._next = FIRST_ADDRESS

    def __repr__(self) -> str:
        return f"<CUDA context of {self.device!r}>"

    def get_memory_info(self) -> MemoryInfo:
        """Free and total bytes of device memory."""
        total = self.device.sheet.memory
        return MemoryInfo(total - self._used, total)

    def synchronize(self) -> None:
        """Block the host until all work submitted to the device has ended."""
        streams.synchronize()

    @contextmanager
    def defer_cleanup(self) -> Iterator[None]:
        """Do nothing: the simulator frees an array only when nothing refers to it."""
        yield

    def claim(self, nbytes: int) -> int:
        """Address of `nbytes` new bytes of device memory.

        Raises
        ------
        CudaAPIError
            CUDA_ERROR_OUT_OF_MEMORY, when fewer are free.
        """
        free, total = self.get_memory_info()
        if nbytes > free:
            raise CudaAPIError(
                "CUDA_ERROR_OUT_OF_MEMORY",
                f"{nbytes:,} bytes were asked and {free:,} of the {total:,} of "
                f"{self.device.name} are free: delete arrays that are no longer "
                "needed, or use smaller ones",
            )
        self._used += nbytes
        address = self._next
        self._next += max(1, -(-nbytes // ALIGNMENT)) * ALIGNMENT
        return address

    def release(self, nbytes: int) -> None:
        """Give back `nbytes` that `claim` handed out."""
        self._used -= nbytes


class DeviceList:
    """The devices that there are: one, as launches are simulated one at a time."""

    @property
    def current(self) -> Context:
        """The context in use."""
        return current_context()

    @property
    def lst(self) -> list[Device]:
        """The devices, as a list."""
        return [get_current_device()]

    def __len__(self) -> int:
        return 1

    def __iter__(self) -> Iterator[Device]:
        return iter(self.lst)

    def __getitem__(self, number: int) -> Device:
        return select_device(number)

    def __repr__(self) -> str:
        return repr(self.lst)


gpus = DeviceList()
_devices: dict[str, Device] = {}


def get_current_device() -> Device:
    """The device that launches are simulated for."""
    name = setting(DEVICE) or DEFAULT
    if name not in _devices:
        _devices[name] = Device(0, name)
    return _devices[name]


def current_context(devnum: int | None = None) -> Context:
    """The context of device `devnum`, or of the current one."""
    return (get_current_device() if devnum is None else select_device(devnum)).context


def select_device(device_id: int) -> Device:
    """Make device `device_id` the current one, and return it.

    Raises
    ------
    CudaAPIError
        CUDA_ERROR_INVALID_DEVICE for any but 0: one device is simulated at a time.
    """
    if device_id != 0:
        raise CudaAPIError(
            "CUDA_ERROR_INVALID_DEVICE",
            f"device {device_id!r} was asked and the simulator has device 0 alone: for several, "
            "use wia_lab.hal with a virtual machine",
        )
    return get_current_device()


def list_devices() -> DeviceList:
    """All devices."""
    return gpus


def detect() -> bool:
    """Print the devices; returns whether there is one that can be used."""
    print(f"Found {len(gpus)} CUDA devices")  # noqa: T201 - what the function is for
    for each in gpus:
        capability = ".".join(map(str, each.compute_capability))
        print(f"id {each.id}    {each.name:>20} {'[SIMULATED]':>40}")  # noqa: T201
        print(f"{'Compute Capability':>40}: {capability}")  # noqa: T201
    print(f"Summary:\n\t{len(gpus)}/{len(gpus)} devices are simulated")  # noqa: T201
    return True


def close() -> None:
    """Wait for all work; the simulated device needs no closing."""
    streams.synchronize()


def copy_seconds(nbytes: int, direction: Literal["to_device", "to_host", "on_device"]) -> float:
    """Simulated time of a copy: bytes over bandwidth, as `wia_lab.machines` gives it."""
    sheet = get_current_device().sheet
    if direction == "on_device":
        return 2 * nbytes / sheet.memory_bandwidth  # read and written
    return nbytes / machines.link(sheet.pcie).bandwidth
