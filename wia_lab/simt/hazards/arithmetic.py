"""Division by zero, and float32 work that a literal or an integer widens to float64."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from wia_lab.simt.events import Site
from wia_lab.simt.hazards.found import Findings, Hazard

if TYPE_CHECKING:
    from wia_lab.simt.events import Launch
    from wia_lab.simt.hazards.order import Order


class Arithmetic:
    """Warns of arithmetic that is seldom meant."""

    def __init__(self, findings: Findings, order: Order) -> None:
        self.findings, self.order = findings, order
        self._looked_at: set[int] = set()

    def begin(self, launch: Launch) -> None:
        """A launch begins."""
        self._looked_at.clear()
        self._file = launch.file

    def segment(self, segment: object, active: np.ndarray) -> None:
        """A straight piece of code runs; `segment.widened` lists lines, each looked at once."""
        if id(segment) in self._looked_at:
            return
        self._looked_at.add(id(segment))
        for line in getattr(segment, "widened", ()):
            self._widened(line, getattr(getattr(segment, "site", None), "file", self._file), active)

    def _widened(self, line: int, file: str, active: np.ndarray) -> None:
        thread = self.findings.thread(self.order.first + int(np.argmax(active)))
        where = self.findings.at(Site(0, line, file, ""))
        self.findings.add(
            Hazard(
                "float64-arithmetic",
                "warning",
                line,
                None,
                f"{where}: {thread} computes in float64 here, as a literal or an integer widens "
                "float32, which is slow on many GPUs: write np.float32(...) around the literal or "
                "the integer",
                (thread,),
                None,
                None,
                file,
            )
        )

    def fault(self, site: Site, lanes: np.ndarray) -> None:
        """Lanes divided by zero."""
        thread = self.findings.thread(self.order.first + int(np.argmax(lanes)))
        self.findings.add(
            Hazard(
                "division-by-zero",
                "warning",
                site.line,
                None,
                f"{self.findings.at(site)}: {thread} divides by zero, which a GPU does without a "
                "word (inf, nan, or for integers an undefined number): test the divisor first",
                (thread,),
                None,
                None,
                site.file,
            ),
            times=int(np.count_nonzero(lanes)),
        )
