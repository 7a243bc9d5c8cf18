"""A picture of a machine's devices: what is taken, what is free, and what a learner chose."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from wia_lab.puzzles.device_query_playing import GIB, Stage
from wia_lab.puzzles.pictures import Picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH = 48  # characters of the largest device's strip


@dataclass(frozen=True)
class Strip:
    """One device: how many GiB it has, what is taken as (first, GiB, whose), GB/s in theory."""

    number: int
    name: str
    size: float
    taken: tuple[tuple[float, float, str], ...]
    rate: float


@dataclass
class Devices(Picture):
    """The devices of a machine, and the answers to questions about them."""

    machine: str
    strips: list[Strip]
    answers: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return "\n".join([*map(self._line, self.strips), *self.answers])

    def _line(self, strip: Strip) -> str:
        """`0 H100  3,350 GB/s |ooooo#####.....|`: others', mine, free."""
        scale = WIDTH / max(each.size for each in self.strips)
        cells = ["."] * max(1, round(strip.size * scale))
        for first, size, whose in strip.taken:
            low, high = round(first * scale), max(1, round((first + size) * scale))
            cells[low:high] = ("#" if whose == "mine" else "o") * (high - low)
        return f"{strip.number} {strip.name:9} {strip.rate:5,.0f} GB/s |{''.join(cells)}|"

    def figure(self) -> Figure:
        """Draw a bar a device, as long as it has memory."""
        from matplotlib.figure import Figure  # noqa: PLC0415 - slow; only where something is drawn

        figure = Figure(figsize=(8, 0.45 * len(self.strips) + 0.9), layout="constrained")
        axis = figure.subplots()
        for place, strip in enumerate(self.strips):
            axis.barh(place, strip.size, color="0.92", edgecolor="0.5", height=0.7)
            for first, size, whose in strip.taken:
                mine = whose == "mine"
                axis.barh(
                    place,
                    size,
                    left=first,
                    color="#0072b2" if mine else "0.7",
                    hatch="" if mine else "///",
                    edgecolor="w",
                    height=0.7,
                )
            axis.text(strip.size, place, f"  {strip.rate:,.0f} GB/s", va="center")
        names = [f"{strip.number} {strip.name}" for strip in self.strips]
        axis.set_yticks(range(len(names)), names)
        axis.invert_yaxis()
        largest = max(strip.size for strip in self.strips)
        axis.set(xlim=(0, 1.2 * largest), xlabel="GiB: hatched is others', blue is mine")
        return figure


def devices(answer: type, machine: str, *steps: tuple[Any, ...]) -> Devices:
    """Ask a device query, let it open what it chose, and draw the machine.

    Parameters
    ----------
    answer
        The class.
    machine
        Such as "T4+H100".
    steps
        ("take", 1, 60): somebody else takes 60 GiB of device 1; ("choose", 30): a device for 30 GiB
        is asked for, and a context of 30 GiB opened there.
    """
    query, stage = answer(), Stage(machine)
    mine, answers = [], []
    for verb, *arguments in steps:
        if verb == "take":
            stage.others_do(verb, arguments)
            continue
        gib = arguments[0]
        try:
            chosen = query.choose(stage.machine, gib * GIB, ())
        except LookupError as error:
            answers.append(f"{gib} GiB: none ({error})")
            continue
        mine.append(query.open(chosen, gib * GIB, 4, 30.0))
        answers.append(f"{gib} GiB: device {chosen.number}")
    strips = [_strip(device, mine) for device in stage.machine]
    return Devices(machine, strips, answers)


def _strip(device: Any, mine: list[Any]) -> Strip:
    # Contexts stand in the order in which they were opened; so do their pools in fresh memory.
    blocks = sorted(device.memory.blocks(), key=lambda block: block.offset)
    taken = tuple(
        (block.offset / GIB, block.size / GIB, "mine" if context in mine else "others")
        for block, context in zip(blocks, device.contexts, strict=False)
    )
    info = device.info
    return Strip(
        device.number, info.name, info.memory_size / GIB, taken, info.memory_bandwidth / 1e9
    )
