"""Data sheets of devices and of the links between them.

Figures are the vendor's unless a comment says "measured". Rates are peaks: what a program reaches
is less, and the notebooks print measured figures beside them. Bandwidths are in bytes a second,
sizes in bytes, clocks in hertz.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import TypeVar

from wia_lab.errors import WiaLabError

T = TypeVar("T")

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
GB = 10**9


class UnknownMachine(WiaLabError):
    """A device or a link that the catalogue does not hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """One GPU, as its data sheet and the CUDA programming guide describe it."""

    name: str
    year: int
    compute_capability: tuple[int, int]
    multiprocessors: int
    clock: float  # boost, Hz
    memory: int
    memory_bandwidth: float
    l2: int
    shared_per_multiprocessor: int
    shared_per_block_optin: int
    threads_per_multiprocessor: int
    blocks_per_multiprocessor: int
    float32_rate: float  # FLOP/s, a fused multiply-add counted as two
    float64_rate: float
    nvlink: str | None  # name of a link
    pcie: str  # name of a link
    source: str
    shared_per_block: int = 48 * KIB  # static
    threads_per_block: int = 1024
    block_extent: tuple[int, int, int] = (1024, 1024, 64)
    grid_extent: tuple[int, int, int] = (2**31 - 1, 65535, 65535)
    registers_per_multiprocessor: int = 65536
    registers_per_thread: int = 255
    warp_size: int = 32

    @property
    def has_async_copy(self) -> bool:
        """Whether it has cp.async (compute capability 8.0 and up)."""
        return self.compute_capability >= (8, 0)

    @property
    def has_bulk_copy(self) -> bool:
        """Whether it has the bulk copy engine, TMA (9.0 and up)."""
        return self.compute_capability >= (9, 0)

    @property
    def balance(self) -> float:
        """float32 operations a byte of memory traffic at which arithmetic begins to bound."""
        return self.float32_rate / self.memory_bandwidth


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A way between two devices, or between a device and its host, in one direction."""

    name: str
    year: int
    bandwidth: float  # one way, bytes/s
    latency: float  # seconds, of a small transfer; an order of magnitude, for timelines
    source: str


DEVICES = {
    device.name: device
    for device in (
        Device(
            name="V100",
            year=2017,
            compute_capability=(7, 0),
            multiprocessors=80,
            clock=1.53e9,
            memory=32 * GIB,
            memory_bandwidth=900e9,
            l2=6 * MIB,
            shared_per_multiprocessor=96 * KIB,
            shared_per_block_optin=96 * KIB,
            threads_per_multiprocessor=2048,
            blocks_per_multiprocessor=32,
            float32_rate=15.7e12,
            float64_rate=7.8e12,
            nvlink="NVLink 2",
            pcie="PCIe 3 x16",
            source="NVIDIA Tesla V100 (SXM2) data sheet, 2017; Volta architecture white paper",
        ),
        Device(
            name="T4",
            year=2018,
            compute_capability=(7, 5),
            multiprocessors=40,
            clock=1.59e9,
            memory=16 * GIB,
            memory_bandwidth=320e9,
            l2=4 * MIB,
            shared_per_multiprocessor=64 * KIB,
            shared_per_block_optin=64 * KIB,
            threads_per_multiprocessor=1024,
            blocks_per_multiprocessor=16,
            float32_rate=8.1e12,
            float64_rate=0.254e12,
            nvlink=None,
            pcie="PCIe 3 x16",
            source="NVIDIA T4 data sheet, 2018; Turing architecture white paper",
        ),
        Device(
            name="A100",
            year=2020,
            compute_capability=(8, 0),
            multiprocessors=108,
            clock=1.41e9,
            memory=80 * GIB,
            memory_bandwidth=2039e9,
            l2=40 * MIB,
            shared_per_multiprocessor=164 * KIB,
            shared_per_block_optin=163 * KIB,
            threads_per_multiprocessor=2048,
            blocks_per_multiprocessor=32,
            float32_rate=19.5e12,
            float64_rate=9.7e12,
            nvlink="NVLink 3",
            pcie="PCIe 4 x16",
            source="NVIDIA A100 80GB (SXM) data sheet, 2020; Ampere architecture white paper",
        ),
        Device(
            name="RTX 3090",
            year=2020,
            compute_capability=(8, 6),
            multiprocessors=82,
            clock=1.695e9,
            memory=24 * GIB,
            memory_bandwidth=936e9,
            l2=6 * MIB,
            shared_per_multiprocessor=100 * KIB,
            shared_per_block_optin=99 * KIB,
            threads_per_multiprocessor=1536,
            blocks_per_multiprocessor=16,
            float32_rate=35.6e12,
            float64_rate=0.556e12,
            nvlink=None,
            pcie="PCIe 4 x16",
            source="NVIDIA Ampere GA102 white paper, 2020",
        ),
        Device(
            name="RTX 4090",
            year=2022,
            compute_capability=(8, 9),
            multiprocessors=128,
            clock=2.52e9,
            memory=24 * GIB,
            memory_bandwidth=1008e9,
            l2=72 * MIB,
            shared_per_multiprocessor=100 * KIB,
            shared_per_block_optin=99 * KIB,
            threads_per_multiprocessor=1536,
            blocks_per_multiprocessor=24,
            float32_rate=82.6e12,
            float64_rate=1.29e12,
            nvlink=None,
            pcie="PCIe 4 x16",
            source="NVIDIA Ada GPU architecture white paper, 2022",
        ),
        Device(
            name="L4",
            year=2023,
            compute_capability=(8, 9),
            multiprocessors=58,
            clock=2.04e9,
            memory=24 * GIB,
            memory_bandwidth=300e9,
            l2=48 * MIB,
            shared_per_multiprocessor=100 * KIB,
            shared_per_block_optin=99 * KIB,
            threads_per_multiprocessor=1536,
            blocks_per_multiprocessor=24,
            float32_rate=30.3e12,
            float64_rate=0.473e12,
            nvlink=None,
            pcie="PCIe 4 x16",
            source="NVIDIA L4 data sheet, 2023; Ada GPU architecture white paper",
        ),
        Device(
            name="H100",
            year=2022,
            compute_capability=(9, 0),
            multiprocessors=132,
            clock=1.98e9,
            memory=80 * GIB,
            memory_bandwidth=3350e9,
            l2=50 * MIB,
            shared_per_multiprocessor=228 * KIB,
            shared_per_block_optin=227 * KIB,
            threads_per_multiprocessor=2048,
            blocks_per_multiprocessor=32,
            float32_rate=67e12,
            float64_rate=34e12,
            nvlink="NVLink 4",
            pcie="PCIe 5 x16",
            source="NVIDIA H100 (SXM) data sheet, 2022; Hopper architecture white paper",
        ),
        Device(
            name="H200",
            year=2024,
            compute_capability=(9, 0),
            multiprocessors=132,
            clock=1.98e9,
            memory=141 * GB,
            memory_bandwidth=4800e9,  # measured: 4,180 GB/s, device-to-device copy, both ways
            l2=60 * MIB,  # as the device itself reports
            shared_per_multiprocessor=228 * KIB,
            shared_per_block_optin=227 * KIB,
            threads_per_multiprocessor=2048,
            blocks_per_multiprocessor=32,
            float32_rate=67e12,
            float64_rate=34e12,
            nvlink="NVLink 4",
            pcie="PCIe 5 x16",
            source="NVIDIA H200 (SXM) data sheet, 2024; CUDA device attributes, driver 580.159",
        ),
    )
}
"""The catalogue, by name, older first."""

LINKS = {
    link.name: link
    for link in (
        Link(
            name="PCIe 3 x16",
            year=2010,
            bandwidth=15.75e9,
            latency=10e-6,
            source="PCI Express 3.0: 8 GT/s a lane, 128b/130b, 16 lanes",
        ),
        Link(
            name="PCIe 4 x16",
            year=2017,
            bandwidth=31.5e9,
            latency=10e-6,
            source="PCI Express 4.0: 16 GT/s a lane, 128b/130b, 16 lanes",
        ),
        Link(
            name="PCIe 5 x16",
            year=2019,
            bandwidth=63e9,  # measured, H200, pinned: 53.1 GB/s to the device, 53.3 back
            latency=10e-6,
            source="PCI Express 5.0: 32 GT/s a lane, 128b/130b, 16 lanes",
        ),
        Link(
            name="NVLink 2",
            year=2017,
            bandwidth=150e9,
            latency=5e-6,
            source="Volta white paper: 6 links of 25 GB/s each way",
        ),
        Link(
            name="NVLink 3",
            year=2020,
            bandwidth=300e9,
            latency=5e-6,
            source="Ampere white paper: 12 links of 25 GB/s each way",
        ),
        Link(
            name="NVLink 4",
            year=2022,
            bandwidth=450e9,  # measured between two H200: 388 GB/s one way, cuMemcpyPeer
            latency=5e-6,
            source="Hopper white paper: 18 links of 25 GB/s each way",
        ),
    )
}
"""Links, by name."""


def device(name: str) -> Device:
    """The data sheet of `name`; UnknownMachine, with the nearest names, where there is none."""
    return _find(DEVICES, name, "device")


def link(name: str) -> Link:
    """The link called `name`; raise UnknownMachine, with the nearest names, where there is none."""
    return _find(LINKS, name, "link")


def _find(catalogue: dict[str, T], name: str, what: str) -> T:
    for known, entry in catalogue.items():
        if known.replace(" ", "").lower() == name.replace(" ", "").lower():
            return entry
    near = get_close_matches(name, catalogue, n=3, cutoff=0.4) or list(catalogue)
    raise UnknownMachine(f"no {what} is called {name!r}: choose {', '.join(near)}")
