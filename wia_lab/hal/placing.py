"""Where a context and its memory may be: a socket that is there, a device that is free for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wia_lab.hal.checks import checked_flag, is_whole
from wia_lab.hal.errors import DeviceBusy, InvalidValue

if TYPE_CHECKING:
    from wia_lab.hal.context_config import ContextConfig
    from wia_lab.hal.device import Device
    from wia_lab.hal.kinds import MemoryKind


def check_node(device: Device, kind: MemoryKind, node: int | None) -> None:
    """Refuse a socket that is not there, or for memory that is not placed so."""
    if node is None:
        return
    if kind.on_device or kind.migrates:
        raise InvalidValue(
            f"numa_node={node!r} for {kind.value} memory: only host and pinned memory lie near "
            "a socket"
        )
    nodes = device.machine.backend.numa_nodes
    if not is_whole(node) or not 0 <= node < nodes:
        raise InvalidValue(
            f"numa_node={node!r}: {device.machine.name} has sockets 0 to {nodes - 1}; "
            "device.numa_node is the one nearest to a device"
        )


def check_mapped(kind: MemoryKind, mapped: object) -> None:
    """Refuse to map what kernels reach anyway, or what may be moved under them."""
    checked_flag("allocate: mapped", mapped)
    if mapped and not (kind.host_access and not kind.migrates and not kind.is_staged):
        raise InvalidValue(
            f"mapped=True for {kind.value} memory: only pinned memory is mapped for kernels; "
            "allocate it as MemoryKind.PINNED"
        )


def check_free_for(device: Device, config: ContextConfig) -> None:
    """Refuse a device that a context has for itself, or that others are on."""
    taken = [each for each in device.contexts if each.config.exclusive or config.exclusive]
    if taken:
        who = "has it for itself" if taken[0].config.exclusive else "is open on it"
        raise DeviceBusy(f"{device!r}: {taken[0]!r} {who}: close that one first")
