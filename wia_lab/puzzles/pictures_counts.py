"""Kernels side by side: one figure each, as bars and as text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wia_lab.puzzles.pictures import Picture

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.figure import Figure


@dataclass
class Bars(Picture):
    """One number for each of several kernels, in one unit; fewer is better."""

    figures: Mapping[str, float]
    unit: str

    def __str__(self) -> str:
        width = max(map(len, self.figures))
        return "\n".join(
            [
                self.unit,
                *(f"  {name:<{width}}  {_number(n):>9}" for name, n in self.figures.items()),
            ]
        )

    def figure(self) -> Figure:
        """A bar a kernel, its number beside it."""
        from matplotlib.figure import Figure  # noqa: PLC0415 - slow; only where something is drawn

        figure = Figure(figsize=(6.4, 0.6 + 0.45 * len(self.figures)), layout="constrained")
        axis = figure.subplots()
        bars = axis.barh(list(self.figures), list(self.figures.values()), color="#7aa6d6")
        axis.bar_label(bars, [_number(n) for n in self.figures.values()], padding=4)
        axis.set_xlim(0, 1.15 * max(self.figures.values()))
        axis.invert_yaxis()
        axis.set(xlabel=self.unit)
        for side in ("top", "right"):
            axis.spines[side].set_visible(False)
        return figure


def _number(value: float) -> str:
    """`1,234` or `0.50`."""
    return f"{value:,}" if float(value).is_integer() and value >= 10 else f"{value:,.2f}"
