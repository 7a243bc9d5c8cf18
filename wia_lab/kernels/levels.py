"""The sources' table of the memory hierarchy (000 §4.1), and what an H200 showed at each level."""

from __future__ import annotations

from dataclasses import dataclass

from wia_lab.kernels.figures import rate
from wia_lab.machines import device

SHEET = device("H200")
CLOCK = SHEET.clock / 1e9  # cycles a nanosecond, at boost
REGISTERS = 4 * SHEET.registers_per_multiprocessor  # bytes
SHARED = SHEET.shared_per_multiprocessor
ABOUT = (
    "The memory hierarchy: the sources' figures (000 §4.1), an H200's beside them. Cycles at its\n"
    f"boost clock, {CLOCK:.2f} GHz; sizes from its data sheet, * of a multiprocessor; ** over PCIe."
)


@dataclass(frozen=True, slots=True)
class Level:
    """A row of the sources' table.

    Attributes
    ----------
    name, latency, bandwidth, size : str
        The level and the sources' figures.
    recorded : str
        The level's name in the recorded table; empty where it was not measured.
    sheet : str
        What an H200 has of it, by its data sheet; empty where that says nothing.
    """

    name: str
    latency: str
    bandwidth: str
    size: str
    recorded: str = ""
    sheet: str = ""


NEAR = ("tens of cycles", "some TB/s", "10s-100s of KB")
LEVELS = (
    Level("registers", "1 cycle", "tens of TB/s", "some KB", sheet=f"{REGISTERS >> 10} KiB*"),
    Level("shared memory", *NEAR, "shared memory", f"{SHARED >> 10} KiB*"),
    Level("L1", *NEAR, "L1", "with shared"),
    Level("L2", "100s of cycles", "1-10 TB/s", "some MB", "L2", f"{SHEET.l2 >> 20} MiB"),
    Level(
        "HBM or GDDR",
        "100s of cycles",
        "900-2500 GB/s",
        "16-80 GB",
        "HBM",
        f"{SHEET.memory / 1e9:.0f} GB",
    ),
    Level("system DRAM**", "1000s of cycles", "50-100 GB/s", "100s of GB", "pinned host"),
)


def render() -> str:
    """The table as text, a line a level."""
    head = _line("level", "latency", "measured", "bandwidth", "measured", "size", "of an H200")
    return "\n".join((ABOUT, head, *map(_level, LEVELS)))


def _level(level: Level) -> str:
    wait = bandwidth = "not measured"
    if level.recorded:
        took = rate("hierarchy", f"{level.recorded}, latency")
        wait = f"{took:,.1f} ns, {took * CLOCK:,.0f} cycles"
        bandwidth = f"{rate('hierarchy', f'{level.recorded}, bandwidth'):,.0f} GB/s"
    return _line(
        level.name, level.latency, wait, level.bandwidth, bandwidth, level.size, level.sheet
    )


def _line(*cells: str) -> str:
    widths = (15, 17, 26, 15, 14, 16, 11)
    return "".join(f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True)).rstrip()
