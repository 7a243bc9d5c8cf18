"""Virtual machines: devices from the catalogue, the links between them, and where they sit."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NoReturn

from wia_lab import machines
from wia_lab.errors import WiaLabError
from wia_lab.timeline.work import Engine
from wia_lab.wording import counted

MAX_DEVICES = 16
CROSS_SOCKET = 0.75
"""Share of a PCIe link's bandwidth that is left where a copy crosses to another socket."""

_SPECIFICATION = re.compile(
    r"(?P<devices>[^-]+)(?:-(?P<link>nvlink|pcie))?(?:-(?P<nodes>\d+)numa)?"
)
_DEVICES = re.compile(r"(?:(?P<count>\d+)x)?(?P<device>[A-Za-z][A-Za-z0-9 ]*)")


@dataclass(frozen=True, slots=True)
class Route:
    """The way of a copy: its link, and what it shares with others.

    `bandwidth` is bytes a second one way, `latency` seconds. `staged`: through host memory, as the
    devices have no way between them, or none that was enabled.
    """

    link: str
    bandwidth: float
    latency: float
    engines: tuple[Engine, ...]
    staged: bool = False

    def duration(self, nbytes: int) -> int:
        """Nanoseconds that `nbytes` take."""
        return round((self.latency + nbytes / self.bandwidth) * 1e9)


@dataclass(eq=False, slots=True)
class VirtualDevice:
    """One device of a virtual machine, with its engines."""

    number: int
    sheet: machines.Device
    numa_node: int
    upload: Engine = field(init=False)
    download: Engine = field(init=False)
    peer: Engine = field(init=False)
    compute: Engine = field(init=False)

    def __post_init__(self) -> None:
        for name in ("upload", "download", "peer", "compute"):
            setattr(self, name, Engine(f"device {self.number} {name}", self.number))

    @property
    def engines(self) -> tuple[Engine, ...]:
        """Its engines, as rows of a picture."""
        return (self.upload, self.compute, self.download, self.peer)


@dataclass(frozen=True)
class VirtualMachine:
    """Devices, and how data goes between them and the host.

    `withheld` are pairs (device, peer) of which the first may not reach the other's memory although
    a link is there: a hypervisor, or the switch's access control, keeps them apart.
    """

    name: str
    devices: tuple[VirtualDevice, ...]
    peer_link: str  # "nvlink" or "pcie"
    withheld: frozenset[tuple[int, int]] = frozenset()

    @property
    def numa_nodes(self) -> int:
        """Sockets with memory of their own."""
        return 1 + max(device.numa_node for device in self.devices)

    def host_route(self, device: int, *, upload: bool, numa_node: int | None = None) -> Route:
        """The way between host memory (of a NUMA node) and a device."""
        found = self.devices[device]
        link = machines.link(found.sheet.pcie)
        engine = found.upload if upload else found.download
        crosses = numa_node is not None and numa_node != found.numa_node
        bandwidth = link.bandwidth * (CROSS_SOCKET if crosses else 1)
        return Route(link.name, bandwidth, link.latency, (engine,))

    def local_route(self, device: int) -> Route:
        """A copy within a device: each byte is read and written."""
        found = self.devices[device]
        return Route("device memory", found.sheet.memory_bandwidth / 2, 2e-6, (found.compute,))

    def peer_route(self, source: int, target: int, *, enabled: bool = True) -> Route:
        """The way from one device to another.

        A copy goes straight when access is possible and `enabled`, one way or the other, else
        through host memory.
        """
        if source == target:
            return self.local_route(source)
        a, b = self.devices[source], self.devices[target]
        possible = self.can_access(source, target) or self.can_access(target, source)
        staged = not (enabled and possible)
        if self._has_nvlink(a, b) and not staged:
            link = machines.link(str(a.sheet.nvlink))
            return Route(link.name, link.bandwidth, link.latency, (a.peer,))
        links = (machines.link(a.sheet.pcie), machines.link(b.sheet.pcie))
        link = min(links, key=lambda each: each.bandwidth)
        crosses = a.numa_node != b.numa_node
        bandwidth = link.bandwidth * (CROSS_SOCKET if crosses else 1)
        engines = (a.download, b.upload)
        return Route(link.name, bandwidth, 2 * link.latency, engines, staged=staged)

    def can_access(self, device: int, peer: int) -> bool:
        """Whether `device` can be let read `peer`'s memory: over NVLink, or PCIe of one socket."""
        a, b = self.devices[device], self.devices[peer]
        linked = self._has_nvlink(a, b) or a.numa_node == b.numa_node
        return device != peer and linked and (device, peer) not in self.withheld

    def _has_nvlink(self, a: VirtualDevice, b: VirtualDevice) -> bool:
        """Whether NVLink of one generation joins the two."""
        same = a.sheet.nvlink is not None and a.sheet.nvlink == b.sheet.nvlink
        return same and self.peer_link == "nvlink"


def virtual_machine(specification: str) -> VirtualMachine:
    """A machine by its short name.

    `2xH100-nvlink`, `4xT4-pcie`, `8xA100-pcie-2numa`: how many devices, which of
    `wia_lab.machines`, how they are linked (NVLink where the part has it, if nothing is said), and
    over how many sockets they are spread, evenly and in order. `T4+2xA100` has devices of two
    sorts; NVLink joins those of one generation.

    Raises
    ------
    WiaLabError
        A name that says nothing, a device that is not in the catalogue, more than 16 devices,
        NVLink for a part that has none.
    """
    match = _SPECIFICATION.fullmatch(specification.strip())
    if match is None:
        _misspelt(specification)
    sheets = [sheet for part in match["devices"].split("+") for sheet in _sheets(part, match[0])]
    count, nodes = len(sheets), int(match["nodes"] or 1)
    if not 1 <= count <= MAX_DEVICES:
        raise WiaLabError(
            f"virtual_machine({specification!r}): {count} devices; 1 to {MAX_DEVICES} can be had"
        )
    if not 1 <= nodes <= count:
        raise WiaLabError(
            f"virtual_machine({specification!r}): {counted(count, 'device')} over "
            f"{counted(nodes, 'socket')}; give each socket at least one"
        )
    link = match["link"] or ("nvlink" if any(sheet.nvlink for sheet in sheets) else "pcie")
    if link == "nvlink" and not any(sheet.nvlink for sheet in sheets):
        raise WiaLabError(
            f"virtual_machine({specification!r}): {sheets[0].name} has no NVLink; use -pcie"
        )
    devices = tuple(VirtualDevice(i, sheet, i * nodes // count) for i, sheet in enumerate(sheets))
    return VirtualMachine(specification.strip(), devices, link)


def _sheets(part: str, specification: str) -> list[machines.Device]:
    """The data sheets of `2xA100`, one a device."""
    match = _DEVICES.fullmatch(part)
    if match is None:
        _misspelt(specification)
    count = int(match["count"] or 1)
    if not 1 <= count <= MAX_DEVICES:
        raise WiaLabError(
            f"virtual_machine({specification!r}): {count} devices; 1 to {MAX_DEVICES} can be had"
        )
    return [machines.device(match["device"])] * count


def _misspelt(specification: str) -> NoReturn:
    raise WiaLabError(
        f"virtual_machine({specification!r}): write it as in '2xH100-nvlink', 'T4+2xA100' or "
        "'8xA100-pcie-2numa'"
    )
