"""Threads that spin on what never changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from wia_lab.simt.hazards.found import Findings, Hazard

if TYPE_CHECKING:
    from wia_lab.simt.events import Site
    from wia_lab.simt.hazards.order import Order


class Progress:
    """Words what the scheduler found out about loops that wait."""

    def __init__(self, findings: Findings, order: Order) -> None:
        self.findings, self.order = findings, order

    def stalled(self, site: Site, lanes: np.ndarray, *, rescued: bool) -> None:
        """Lanes spin; `rescued` if a lane of their own warp freed them."""
        thread = self.findings.thread(self.order.first + int(np.argmax(lanes)))
        start = f"{self.findings.at(site)}: {thread} spins in this loop "
        text = (
            "until a thread of its own warp frees it: only the independent thread scheduling of "
            "sm_70 and later lets that thread run, and older GPUs hang; let one thread of a warp "
            "take the lock, or loop on a `done` flag with the work inside the loop"
            if rescued
            else "and nothing that it waits for can change any more: a GPU would hang; check that "
            "each flag is set and each lock is freed by a thread that gets there"
        )
        self.findings.add(
            Hazard(
                "no-progress",
                "warning" if rescued else "error",
                site.line,
                None,
                start + text,
                (thread,),
                None,
                None,
                site.file,
            ),
            times=int(np.count_nonzero(lanes)),
        )
