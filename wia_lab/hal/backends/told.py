"""What the HAL tells of a device, virtual or real, from its data sheet."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from wia_lab.hal.device import Capabilities, DeviceInfo, DeviceType

if TYPE_CHECKING:
    from wia_lab.machines import Device


def info_of(sheet: Device, *, is_virtual: bool) -> DeviceInfo:
    """The data sheet."""
    return DeviceInfo(
        name=sheet.name,
        vendor="NVIDIA",
        type=DeviceType.GPU,
        compute_units=sheet.multiprocessors,
        memory_size=sheet.memory,
        memory_bandwidth=sheet.memory_bandwidth,
        peak_flops=sheet.float32_rate,
        compute_capability=sheet.compute_capability,
        is_virtual=is_virtual,
    )


def capabilities_of(sheet: Device, *, unified: bool, peers: Iterable[int]) -> Capabilities:
    """By compute capability, as the CUDA programming guide tabulates it."""
    version = sheet.compute_capability
    return Capabilities(
        supports_float16=version >= (5, 3),
        supports_bfloat16=version >= (8, 0),
        supports_int8=version >= (6, 1),
        supports_unified_memory=unified,
        supports_peer_to_peer=tuple(peers),
    )
