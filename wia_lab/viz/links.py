"""A machine's devices and links, and the way that a copy takes through them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wia_lab.errors import WiaLabError
from wia_lab.viz.picture import Picture
from wia_lab.viz.svg import Canvas
from wia_lab.wording import counted

if TYPE_CHECKING:
    from wia_lab.timeline import VirtualMachine

GB = 1e9


@dataclass(frozen=True)
class Topology(Picture):
    """Devices, links, and one copy.

    Attributes
    ----------
    devices : tuple of (name, socket)
    pairs : tuple of (a, b, link, bytes a second, staged)
        Every two devices.
    hosts : tuple of (link, bytes a second)
        Each device's link to its host.
    copy : tuple or None
        (source, target, bytes, seconds direct or None, seconds staged).
    staged : bool
        The copy goes through host memory although there is a direct way.
    """

    machine: str
    devices: tuple[tuple[str, int], ...]
    pairs: tuple[tuple[int, int, str, float, bool], ...]
    hosts: tuple[tuple[str, float], ...]
    copy: tuple[int, int, int, float | None, float] | None = None
    staged: bool = False

    def told(self) -> str:
        """The copy's figures."""
        if self.copy is None:
            return "no copy"
        source, target, nbytes, direct, staged = self.copy
        ends = f"from device {source} to {target}"
        if source == target:
            ends = f"within device {source}"
        where = f"{nbytes / 2**20:,.0f} MiB {ends}"
        through = f"through the host {staged * 1e3:,.2f} ms"
        if direct is None:
            return f"{where}: no way between them, {through}"
        times = f"{staged / direct:.1f} times as long"
        return f"{where}: direct {direct * 1e3:,.2f} ms, {through}, {times}"

    def __str__(self) -> str:
        rows = [f"{self.machine}: {counted(len(self.devices), 'device')}"]
        for number, (name, socket) in enumerate(self.devices):
            link, rate = self.hosts[number]
            rows.append(
                f"device {number}: {name}, socket {socket}, "
                f"to the host {link} {rate / GB:,.1f} GB/s"
            )
        for a, b, link, rate, staged in self.pairs:
            how = ", through host memory" if staged else ""
            rows.append(f"devices {a} and {b}: {link} {rate / GB:,.1f} GB/s{how}")
        return "\n".join([*rows, self.told()] if self.copy else rows)

    def drawing(self) -> str:
        """Devices above their hosts; a thick line for NVLink, a thin one for PCIe."""
        canvas = Canvas(1000, 520)
        canvas.text(20, 24, self.machine, size=17, bold=True)
        if self.copy:
            canvas.text(20, 48, self.told(), size=16)
        places = self._places()
        sockets = sorted({socket for _, socket in self.devices})
        hosts = {s: (1000 * (i + 0.5) / len(sockets), 460.0) for i, s in enumerate(sockets)}
        for number, (x, y) in enumerate(places):
            hx, hy = hosts[self.devices[number][1]]
            canvas.line(x, y, hx, hy, "d")
        links = {frozenset((a, b)): (link, staged) for a, b, link, _, staged in self.pairs}
        for a, b, _, _, staged in self.pairs:
            if not staged:
                thick = links[frozenset((a, b))][0].startswith("NVLink")
                (ax, ay), (bx, by) = places[a], places[b]
                length = math.hypot(bx - ax, by - ay)
                dx, dy = 2.5 * (by - ay) / length, 2.5 * (ax - bx) / length
                for side in (-1, 1) if thick else (0,):
                    x, y = side * dx, side * dy
                    canvas.line(ax + x, ay + y, bx + x, by + y)
        if self.copy:
            self._way(canvas, places, hosts)
        for socket, (x, y) in hosts.items():
            canvas.rect(x - 90, y - 24, 180, 48, "c")
            name = "host memory" if len(hosts) == 1 else f"host, socket {socket}"
            canvas.text(x, y + 6, name, size=16, anchor="middle", black=True)
        marked = self.copy[:2] if self.copy else ()
        for number, (x, y) in enumerate(places):
            canvas.rect(x - 52, y - 24, 104, 48, "b" if number in marked else "a")
            name = f"{number}: {self.devices[number][0]}"
            canvas.text(x, y + 6, name, size=15, anchor="middle", black=True)
        canvas.text(20, 508, self._legend(), size=14)
        return canvas.render(str(self).splitlines()[0])

    def _legend(self) -> str:
        ways = {(link, rate) for _, _, link, rate, staged in self.pairs if not staged}
        fast = [f"{link} {rate / GB:,.0f} GB/s" for link, rate in sorted(ways)]
        host = sorted({f"{link} {rate / GB:,.0f} GB/s" for link, rate in self.hosts})
        return (
            f"solid (double: NVLink): {', '.join(fast) or 'none'}; dashed: {', '.join(host)} to "
            "the host; thick: the copy"
        )

    def _places(self) -> list[tuple[float, float]]:
        """Devices of a socket above their host: side by side, or on a ring of more than two."""
        sockets = sorted({socket for _, socket in self.devices})
        width = 1000 / len(sockets)
        reach = width / 2 - 100
        places = {}
        for column, socket in enumerate(sockets):
            middle = width * (column + 0.5)
            members = [number for number, each in enumerate(self.devices) if each[1] == socket]
            count = len(members)
            for i, number in enumerate(members):
                if count <= 2:
                    places[number] = (middle + 0.625 * reach * (2 * i + 1 - count), 200.0)
                else:
                    turn = 2 * math.pi * (i + 0.5) / count + math.pi / 2
                    x = middle - reach * math.sin(turn - math.pi)
                    places[number] = (x, 230 + 130 * math.cos(turn))
        return [places[number] for number in range(len(self.devices))]

    def _way(
        self,
        canvas: Canvas,
        places: list[tuple[float, float]],
        hosts: dict[int, tuple[float, float]],
    ) -> None:
        assert self.copy is not None
        source, target, _, direct, _ = self.copy
        if source == target and not self.staged:
            return  # it leaves the device by no link
        if direct is not None and not self.staged:
            canvas.arrow(*places[source], *places[target], "w")
            return
        first, second = hosts[self.devices[source][1]], hosts[self.devices[target][1]]
        canvas.arrow(*places[source], *first, "w")
        if first != second:
            canvas.arrow(*first, *second, "w")
        canvas.arrow(*second, *places[target], "w")


def topology(
    machine: VirtualMachine, *, copy: tuple[int, int, int] | None = None, staged: bool = False
) -> Topology:
    """Draw a machine's devices and links, and the way of one copy.

    Parameters
    ----------
    copy
        (source device, target device, bytes); both may be the same.
    staged
        Send the copy through host memory although a way between the devices is there.

    Raises
    ------
    WiaLabError
        For a device that the machine has not, or less than no bytes.
    """
    count = len(machine.devices)
    if copy is not None:
        _check(copy, machine)
    pairs = []
    for a in range(count):
        for b in range(a + 1, count):
            route = machine.peer_route(a, b)
            pairs.append((a, b, route.link, route.bandwidth, route.staged))
    hosts = [machine.host_route(i, upload=True) for i in range(count)]
    told = None
    if copy is not None:
        source, target, nbytes = copy
        route = machine.peer_route(source, target)
        direct = None if route.staged else route.duration(nbytes) / 1e9
        socket = machine.devices[target].numa_node
        ways = (
            machine.host_route(source, upload=False),
            machine.host_route(target, upload=True, numa_node=socket),
        )
        told = (source, target, nbytes, direct, sum(way.duration(nbytes) for way in ways) / 1e9)
    return Topology(
        machine.name,
        tuple((device.sheet.name, device.numa_node) for device in machine.devices),
        tuple(pairs),
        tuple((way.link, way.bandwidth) for way in hosts),
        told,
        staged,
    )


def _check(copy: tuple[int, int, int], machine: VirtualMachine) -> None:
    numbers = range(len(machine.devices))
    if len(copy) != 3 or any(each not in numbers for each in copy[:2]) or not copy[2] >= 0:
        raise WiaLabError(
            f"topology(copy={copy!r}): give (source, target, bytes), with devices from 0 to "
            f"{numbers[-1]} of {machine.name}"
        )
