"""A roofline: what a device can do at each intensity, and where a kernel's variants stand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wia_lab import machines
from wia_lab.viz.picture import Plot, Sentence
from wia_lab.wording import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.figure import Figure

    from wia_lab.simt.report import Report

MARKS = "osD^vP*X"
MOST = 8


@dataclass(frozen=True)
class Variant:
    """One kernel: operations a byte that it asks of the L1, and operations a second."""

    name: str
    operations: int
    nbytes: int
    rate: float
    bound_by: str

    @property
    def intensity(self) -> float:
        """Operations a byte."""
        return self.operations / self.nbytes

    def told(self) -> str:
        """Its figures."""
        return (
            f"{self.name}: {counted(self.operations, 'float operation')}, "
            f"{counted(self.nbytes, 'byte')} asked for, "
            f"{self.intensity:.2f} FLOP a byte, {self.rate / 1e9:,.1f} GFLOP/s by the cost model, "
            f"bound by {self.bound_by}"
        )


@dataclass(frozen=True)
class Roofline(Plot):
    """Variants of a kernel under the two roofs of a device.

    Bytes are the sectors that the L1 is asked for, an upper bound on what DRAM delivers; rates are
    the simulator's cost model's. Both order variants; neither predicts a time.
    """

    device: str
    variants: tuple[Variant, ...]
    unplaced: tuple[str, ...]

    def __str__(self) -> str:
        sheet = machines.device(self.device)
        rows = [
            f"roofline of {sheet.name}: {sheet.float32_rate / 1e12:,.1f} TFLOP/s, "
            f"{sheet.memory_bandwidth / 1e12:,.2f} TB/s, balance {sheet.balance:.1f} FLOP a byte"
        ]
        rows += [each.told() for each in self.variants]
        rows += [f"{name}: no float operation or no byte, so no place" for name in self.unplaced]
        return "\n".join(rows)

    def figure(self) -> Figure:
        """Both axes logarithmic; a mark a variant, named beside it."""
        from matplotlib.figure import Figure  # noqa: PLC0415 - slow; only where a plot is drawn
        from matplotlib.ticker import NullLocator  # noqa: PLC0415 - as above

        sheet = machines.device(self.device)
        figure = Figure(figsize=(10, 5))  # an automatic layout would take as long as the rest
        axis = figure.add_axes((0.09, 0.13, 0.89, 0.78))
        at = [each.intensity for each in self.variants]
        low, high = min([*at, 0.1]) / 2, max([*at, sheet.balance]) * 8
        axis.plot(
            [low, sheet.balance, high],
            [low * sheet.memory_bandwidth / 1e9, *[sheet.float32_rate / 1e9] * 2],
            color="#000000",
            linewidth=2,
        )
        axis.axvline(sheet.balance, color="#000000", linewidth=1, linestyle=":")
        for each, mark in zip(self.variants, MARKS, strict=False):
            axis.plot(
                [each.intensity],
                [each.rate / 1e9],
                mark,
                markersize=13,
                color="#4aa3df",
                markeredgecolor="#000000",
                label=each.name,
            )
        axis.set_xscale("log")
        axis.set_yscale("log")
        for side in (axis.xaxis, axis.yaxis):
            side.set_minor_locator(NullLocator())
        axis.set_xlabel("float operations a byte asked of the L1", fontsize=14)
        axis.set_ylabel("GFLOP/s by the cost model", fontsize=14)
        axis.set_title(f"roofline of {sheet.name}", fontsize=15)
        axis.tick_params(labelsize=13)
        axis.legend(fontsize=13, framealpha=0, loc="lower right")
        return figure


def roofline(reports: Mapping[str, Report], device: str = "H200") -> Roofline | Sentence:
    """Draw variants of a kernel on a device's roofline.

    Parameters
    ----------
    reports
        Name → what `simulate` returned for it, of at most 8 variants.
    device
        Whose roofs; the reports' own cost is for the device that they were simulated on.
    """
    import matplotlib.figure  # noqa: F401, PLC0415 - a quarter of a second that no drawing waits for

    variants, unplaced = [], []
    for name, report in list(reports.items())[:MOST]:
        c = report.counters
        operations = c.float16_operations + c.float32_operations + c.float64_operations
        nbytes = 32 * (c.global_load_sectors + c.global_store_sectors + c.global_atomic_sectors)
        if not (operations and nbytes and report.cost.seconds):
            unplaced.append(name)
            continue
        rate = operations / report.cost.seconds
        variants.append(Variant(name, operations, nbytes, rate, report.cost.bound_by))
    if not variants:
        return Sentence("No kernel here has float operations and memory traffic: no roofline.")
    return Roofline(machines.device(device).name, tuple(variants), tuple(unplaced))
