"""Barriers and warp operations that some threads never come to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from wia_lab.simt.hazards.found import Findings, Hazard, Severity

if TYPE_CHECKING:
    from wia_lab.simt.events import Site
    from wia_lab.simt.hazards.order import Order

_ERRORS = ("exited", "elsewhere")


class Barriers:
    """Words what the scheduler found out about barriers."""

    def __init__(self, findings: Findings, order: Order) -> None:
        self.findings, self.order = findings, order

    def divergent(
        self, sites: tuple[Site, ...], waiting: np.ndarray, missing: np.ndarray, reason: str
    ) -> None:
        """A barrier or warp operation that cannot be met."""
        here = sites[0]
        others = [site for site in sites[1:] if (site.file, site.line) != (here.file, here.line)]
        severity: Severity = "error" if reason in _ERRORS else "warning"
        threads = tuple(
            self.findings.thread(self.order.first + int(np.argmax(lanes)))
            for lanes in (waiting, missing)
            if lanes.any()
        )
        waits, absent = str(threads[0]), str(threads[-1])
        start = f"{self.findings.at(here)}: {waits} waits here"
        if reason == "copied":
            text = (
                f"{start}, where the compiler makes two barriers out of this one (one for each way "
                f"of reaching it), and {absent} comes by the other way: this hung on real GPUs; "
                "leave the loop body by one way, with no `continue` before the barrier"
            )
        elif reason == "returned":
            text = (
                f"{start}, but {absent} has returned before: GPUs let the others go on, yet a "
                "barrier is meant for all threads of the block, and a shuffle gets nothing defined "
                "from a lane that has gone; guard the work with `if` instead of returning, so that "
                "all threads come here"
            )
        elif others:
            text = (
                f"{start}, but {absent} waits on {self.findings.at(others[0])}: all threads must "
                "come to the same barrier, so move it out of the branches"
            )
        else:
            text = (
                f"{start}, but {absent} never comes: all threads must come to the same barrier or "
                "warp operation, so move it out of the branch or loop that some threads skip"
            )
        self.findings.add(
            Hazard(
                "divergent-barrier",
                severity,
                here.line,
                others[0].line if others else None,
                text,
                threads,
                None,
                None,
                here.file,
            ),
            times=max(1, int(np.count_nonzero(missing))),
        )
