"""Devices (§3.2): what they are, what they can do, and who uses them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from wia_lab.hal.checks import Single, checked_whole, refuse
from wia_lab.hal.errors import DeviceLost, ForeignHandle, InvalidValue
from wia_lab.memory import Heap

if TYPE_CHECKING:
    from wia_lab.hal.context import Context
    from wia_lab.hal.machine import Machine


class DeviceType(Enum):
    """What sort of accelerator a device is."""

    GPU = "gpu"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceInfo:
    """What a device is.

    Sizes are bytes, `memory_bandwidth` bytes a second, `peak_flops` float32 operations a second
    with a fused multiply-add counted as two. Both rates are theoretical: a program reaches less.
    """

    name: str
    vendor: str
    type: DeviceType
    compute_units: int
    memory_size: int
    memory_bandwidth: float
    peak_flops: float
    compute_capability: tuple[int, int]
    is_virtual: bool

    def __str__(self) -> str:
        return (
            f"{self.name} ({self.vendor} {self.type.value}): {self.compute_units} compute units, "
            f"{self.memory_size / 1e9:.0f} GB, {self.memory_bandwidth / 1e9:,.0f} GB/s and "
            f"{self.peak_flops / 1e12:.1f} TFLOP/s in theory"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What a device can do. `supports_peer_to_peer` names the devices whose memory it can read."""

    supports_float16: bool
    supports_bfloat16: bool
    supports_int8: bool  # four products of 8-bit integers in one instruction
    supports_unified_memory: bool
    supports_peer_to_peer: tuple[int, ...]


class Device(Single):
    """One device of a machine.

    Attributes
    ----------
    memory : Heap
        All of its memory, of which contexts take their parts.
    contexts : list of Context
        Those that are open on it.
    lost : DeviceLost or None
        What took it away; until `reset`, every use of its contexts says so.
    """

    def __init__(self, machine: Machine, number: int) -> None:
        if not hasattr(machine, "backend"):
            refuse("Device: machine", machine, "take a device of open_machine(), as machine[0]")
        self.machine = machine
        self.number = checked_whole("Device: number", number, 0, machine.backend.device_count - 1)
        self.memory = Heap(machine.backend.info(number).memory_size)
        self.contexts: list[Context] = []
        self.lost: DeviceLost | None = None
        self.gone: list[str] = []  # buffers of contexts that were closed when it was lost

    def __repr__(self) -> str:
        return f"<device {self.number} of {self.machine.name}: {self.info.name}>"

    @property
    def info(self) -> DeviceInfo:
        """What it is."""
        return self.machine.backend.info(self.number)

    @property
    def capabilities(self) -> Capabilities:
        """What it can do."""
        return self.machine.backend.capabilities(self.number)

    @property
    def numa_node(self) -> int:
        """The socket whose memory is nearest."""
        return self.machine.backend.numa_node(self.number)

    def reset(self) -> list[str]:
        """Make a lost device usable again: what was on it is gone, its contexts are closed.

        Returns the names of the buffers that were lost: all device memory of all its contexts.
        """
        for context in list(self.contexts):
            context.lose()
        gone, self.gone = self.gone, []
        try:
            self.machine.backend.reset(self.number)
        except DeviceLost as error:
            raise DeviceLost(f"{error}; lost are {', '.join(gone) or 'no buffers'}") from error
        self.memory = Heap(self.info.memory_size)
        self.lost = None
        return gone

    def can_access_peer(self, peer: Device) -> bool:
        """Whether kernels on this device can be let read the memory of `peer`; no way back."""
        if not isinstance(peer, Device):
            raise InvalidValue(
                f"can_access_peer({peer!r}): give a device, as in context.device or machine[1]"
            )
        if peer.machine is not self.machine:
            raise ForeignHandle(
                f"{peer!r} is of another machine than {self!r}: ask about a device of the same one"
            )
        return self.machine.backend.can_access_peer(self.number, peer.number)
