"""A picture of what a learner's peer reader sent where, and when."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from wia_lab.puzzles.host_puzzle import HostCase, Step
from wia_lab.puzzles.peer_to_peer_playing import PRODUCING, perform
from wia_lab.puzzles.pictures import Picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

VERBS = {"read": "read in place", "copied": "copied", "staged": "copied through the host"}
EDGE = 0.2  # from the middle of a box to its edge
COLOURS = {"kernel": "#0072b2", "copy": "#d55e00"}


@dataclass(frozen=True)
class Bar:
    """One piece of work: on which engine, from when to when, in µs."""

    engine: str
    kind: str
    name: str
    begin: float
    end: float


@dataclass
class Traffic(Picture):
    """What went over which links, and the engines that were at work meanwhile."""

    machine: str
    sockets: tuple[int, ...]  # of each device
    crossings: list[dict[str, Any]]
    bars: list[Bar]

    def __str__(self) -> str:
        sent = [
            f"{_called(c['source'])} -> {_called(c['target'])}  {c['nbytes'] / 1024:,.0f} KiB, "
            f"{VERBS[c['how']]}, {c['link']}{', to another socket' if c['crosses'] else ''}"
            for c in self.crossings
        ]
        wide = max((len(bar.engine) for bar in self.bars), default=0)
        work = [
            f"{bar.engine:{wide}}  {bar.begin:8.1f} to {bar.end:8.1f} µs  {bar.name}"
            for bar in self.bars
        ]
        return "\n".join([self.machine, *sent, "", *work])

    def figure(self) -> Figure:
        """Draw the machine on the left, the time on the right."""
        from matplotlib.figure import Figure  # noqa: PLC0415 - slow; only where something is drawn

        figure = Figure(figsize=(10, 3.6), layout="constrained")
        machine, time = figure.subplots(1, 2, width_ratios=(1, 1))
        self._draw_machine(machine)
        self._draw_time(time)
        return figure

    def _draw_machine(self, axis: Axes) -> None:
        """Devices above, the memory of each socket below, an arrow for what was sent."""
        places: dict[Any, tuple[float, float]] = {
            device: (float(device), 1.0) for device in range(len(self.sockets))
        }
        for socket in sorted(set(self.sockets)):
            near = [device for device, where in enumerate(self.sockets) if where == socket]
            places[f"host {socket}"] = (sum(near) / len(near), 0.0)
        for sent in self.crossings:
            self._draw_way(axis, places, sent)
        for place, (x, y) in places.items():
            axis.text(
                x,
                y,
                _called(place).replace(" ", "\n"),
                ha="center",
                va="center",
                bbox={"boxstyle": "round", "facecolor": "0.92", "edgecolor": "0.5"},
            )
        axis.set(xlim=(-0.6, len(self.sockets) - 0.4), ylim=(-0.3, 2.0), title=self.machine)
        axis.axis("off")

    def _draw_way(self, axis: Axes, places: dict[Any, tuple[float, float]], sent: Any) -> None:
        """One arrow a link: over the tops of two devices, or between a device and a socket."""
        stops = [sent["source"], sent["target"]]
        if sent["how"] == "staged":
            stops.insert(1, f"host {self.sockets[sent['source']]}")
        for one, other in pairwise(stops):
            (x, y), (to_x, to_y) = places[one], places[other]
            level = y == to_y
            arrow = {
                "arrowstyle": "-|>",
                "linestyle": ":" if sent["how"] == "staged" else "-",
                "color": COLOURS["kernel" if sent["how"] == "read" else "copy"],
                "connectionstyle": f"arc3,rad={-0.6 if to_x > x else 0.6}" if level else "arc3",
            }
            start = y + (EDGE if level or y < to_y else -EDGE)
            end = to_y + (EDGE if level or y > to_y else -EDGE)
            axis.annotate("", xytext=(x, start), xy=(to_x, end), arrowprops=arrow)

    def _draw_time(self, axis: Axes) -> None:
        """A row an engine; kernels and copies in two colours."""
        rows = sorted({bar.engine for bar in self.bars})
        for bar in self.bars:
            axis.barh(
                rows.index(bar.engine),
                bar.end - bar.begin,
                left=bar.begin,
                color=COLOURS[bar.kind],
                edgecolor="w",
            )
        axis.set_yticks(range(len(rows)), rows)
        axis.invert_yaxis()
        axis.set(xlabel="µs of simulated time after the data was there")
        for kind, colour in COLOURS.items():
            axis.barh(0, 0, color=colour, label={"kernel": "kernels", "copy": "copies"}[kind])
        axis.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False)


def _called(place: Any) -> str:
    return f"device {place}" if isinstance(place, int) else place.replace("host", "socket")


def traffic(answer: type, machine: str, *steps: Step, kib: int = 1024) -> Traffic:
    """Play steps on a peer reader, and draw what it sent.

    Parameters
    ----------
    answer
        The class.
    machine
        Such as "2xH100-nvlink".
    steps
        Such as ("share", 0, 1, 8), data of device 0 that device 1 reads 8 times, and
        ("fetch", 0, 0), data of device 0 that a stream of device 0 brings to the host.
    kib
        KiB of the data of each step.
    """
    case = HostCase(machine, steps, {"machine": machine, "elements": kib * 256})
    run, stage = perform(answer, case)
    backend = stage.backend
    sent = [each for facts in run.facts["steps"] for each in facts["crossings"]]
    bars, skipped = [], 0.0
    for work in backend.timeline.finished:
        begin, end = (work.start or 0) / 1e3, (work.end or 0) / 1e3
        if work.work.name == "produce":
            skipped += PRODUCING * 1e6
        elif work.work.kind in COLOURS and work.work.name not in ("clear", "copy to result"):
            bars += [
                Bar(engine.name, work.work.kind, work.work.name, begin - skipped, end - skipped)
                for engine in work.work.engines
            ]
    sockets = tuple(device.numa_node for device in backend.machine.devices)
    return Traffic(machine, sockets, sent, bars)
