"""What the HAL tells of a device in the catalogue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wia_lab.hal.device import DeviceInfo, DeviceType

if TYPE_CHECKING:
    from wia_lab.machines import Device


def info_of(sheet: Device) -> DeviceInfo:
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
        is_virtual=True,
    )
