"""What a GPU is, from the driver's attributes: its data sheet, and its place on the board."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from wia_lab.machines import Device

if TYPE_CHECKING:
    from wia_lab.hal.backends.hardware_driver import Driver

CORES = {(5, 0): 128, (6, 0): 64, (6, 1): 128, (7, 0): 64, (8, 0): 64, (8, 6): 128, (9, 0): 128}
"""float32 units of a multiprocessor, from that compute capability on (CUDA programming guide)."""

HALF_RATE = ((6, 0), (7, 0), (8, 0), (9, 0), (10, 0))
"""Compute capabilities with half as many float64 units; the others have a 64th."""

NODES = Path("/sys/devices/system/node")
SLOTS = Path("/sys/bus/pci/devices")


def sheet(driver: Driver, device: int) -> Device:
    """A data sheet: rates are the units' number times the highest clock, so in theory."""

    def of(name: str) -> int:
        return driver.attribute(device, name)

    version = (of("COMPUTE_CAPABILITY_MAJOR"), of("COMPUTE_CAPABILITY_MINOR"))
    cores = CORES[max(each for each in CORES if each <= version)]
    clock = of("CLOCK_RATE") * 1e3
    rate = 2.0 * of("MULTIPROCESSOR_COUNT") * cores * clock
    api = driver.api
    return Device(
        name=driver.name(device),
        year=0,
        compute_capability=version,
        multiprocessors=of("MULTIPROCESSOR_COUNT"),
        clock=clock,
        memory=int(driver.call(api.cuDeviceTotalMem, api.CUdevice(device))),
        memory_bandwidth=2.0 * of("MEMORY_CLOCK_RATE") * 1e3 * of("GLOBAL_MEMORY_BUS_WIDTH") / 8,
        l2=of("L2_CACHE_SIZE"),
        shared_per_multiprocessor=of("MAX_SHARED_MEMORY_PER_MULTIPROCESSOR"),
        shared_per_block_optin=of("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"),
        threads_per_multiprocessor=of("MAX_THREADS_PER_MULTIPROCESSOR"),
        blocks_per_multiprocessor=of("MAX_BLOCKS_PER_MULTIPROCESSOR"),
        float32_rate=rate,
        float64_rate=rate / (2 if version in HALF_RATE else 64),
        nvlink=None,
        pcie="pcie4",
        source="the driver's attributes",
    )


def numa_node(driver: Driver, device: int) -> int:
    """The socket that a device is plugged into; 0 where the system does not say."""
    place = [driver.attribute(device, f"PCI_{each}_ID") for each in ("DOMAIN", "BUS", "DEVICE")]
    slot = SLOTS / f"{place[0]:04x}:{place[1]:02x}:{place[2]:02x}.0" / "numa_node"
    try:
        return max(0, int(slot.read_text(encoding="ascii")))
    except (OSError, ValueError):
        return 0


def numa_nodes() -> int:
    """How many sockets have memory of their own; 1 where the system does not say."""
    return max(1, len(list(NODES.glob("node[0-9]*"))))


def processors(node: int) -> set[int]:
    """Numbers of the processors of a socket; empty where the system does not say."""
    try:
        text = (NODES / f"node{node}" / "cpulist").read_text(encoding="ascii").strip()
    except OSError:
        return set()
    found: set[int] = set()
    for part in filter(None, text.split(",")):
        low, _, high = part.partition("-")
        found.update(range(int(low), int(high or low) + 1))
    return found
