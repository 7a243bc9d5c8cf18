"""Hazards: what a GPU would silently get wrong, named with lines, threads, array and index.

One detector a module; `Hazards` hands each event to those that need it. A hazard is reported once
a cause, not once a thread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wia_lab.simt.events import Listener
from wia_lab.simt.hazards.arithmetic import Arithmetic
from wia_lab.simt.hazards.asynccopy import Copies
from wia_lab.simt.hazards.barriers import Barriers
from wia_lab.simt.hazards.bounds import Bounds
from wia_lab.simt.hazards.fences import Fences
from wia_lab.simt.hazards.found import Findings, Hazard, Thread
from wia_lab.simt.hazards.order import Order
from wia_lab.simt.hazards.progress import Progress
from wia_lab.simt.hazards.races import Races
from wia_lab.simt.hazards.uninitialised import Uninitialised

if TYPE_CHECKING:
    import numpy as np

    from wia_lab.simt.events import Access, AsyncCopy, Chunk, Launch, OutOfBounds, Site
    from wia_lab.simt.memory import Space

__all__ = ["Hazard", "Hazards", "Thread"]


class Hazards(Listener):
    """All detectors, as one listener. `found` holds the hazards once the launch has ended."""

    def __init__(self) -> None:
        self.findings = Findings()
        self.order = Order()
        self.fences = Fences(self.order)
        self.races = Races(self.findings, self.order, self.fences)
        self.uninitialised = Uninitialised(self.findings, self.order)
        self.copies = Copies(self.findings, self.order, self.races, self.uninitialised)
        self.bounds = Bounds(self.findings, self.order)
        self.barriers = Barriers(self.findings, self.order)
        self.arithmetic = Arithmetic(self.findings, self.order)
        self.progress = Progress(self.findings, self.order)

    @property
    def found(self) -> list[Hazard]:
        """The hazards, errors first, then by line."""
        return self.findings.sorted()

    def on_launch(self, launch: Launch) -> None:
        for part in (
            self.findings,
            self.order,
            self.fences,
            self.races,
            self.copies,
            self.bounds,
            self.arithmetic,
        ):
            part.begin(launch)

    def on_chunk(self, chunk: Chunk) -> None:
        self.order.begin_chunk(chunk)
        self.fences.begin_chunk(chunk)
        self.uninitialised.begin_chunk()
        self.copies.begin_chunk(chunk)

    def on_segment(self, segment: object, active: np.ndarray) -> None:
        self.arithmetic.segment(segment, active)

    def on_access(self, access: Access) -> None:
        kind = access.space.kind
        active = access.active
        if self.copies.under_way:
            active = self.copies.access(access)
        if kind in ("shared", "local"):
            self.uninitialised.access(access, active)
        if kind in ("shared", "global"):
            self.races.access(access)
        if access.kind == "atomic" and self.fences.enabled:
            self.fences.atomic(access, self.order.now)

    def on_declare(self, space: Space, lanes: np.ndarray, site: Site) -> None:
        self.uninitialised.declared(space, lanes)

    def on_out_of_bounds(self, event: OutOfBounds) -> None:
        self.bounds.outside(event)

    def on_negative_index(
        self, space: Space, lanes: np.ndarray, indices: np.ndarray, site: Site
    ) -> None:
        self.bounds.negative(space, lanes, indices, site)

    def on_barrier(self, site: Site, lanes: np.ndarray) -> None:
        blocks = self.order.passing(lanes)
        before = self.order.barriers
        self.races.passed(blocks)
        self.order.barrier(site, blocks)
        if self.fences.enabled:
            self.fences.barrier(blocks, before)

    def on_grid_barrier(self, site: Site, lanes: np.ndarray) -> None:
        self.on_barrier(site, lanes)
        self.order.grid_barrier(site)

    def on_warp_sync(self, site: Site, lanes: np.ndarray, members: np.ndarray, name: str) -> None:
        self.order.warp_sync(site, lanes, members)
        if self.fences.enabled:
            self.fences.warp_sync(lanes, members)

    def on_fence(self, site: Site, lanes: np.ndarray, scope: str) -> None:
        if self.fences.enabled:
            self.fences.fence(site, lanes, scope)

    def on_divergent_barrier(
        self, sites: tuple[Site, ...], waiting: np.ndarray, missing: np.ndarray, reason: str
    ) -> None:
        self.barriers.divergent(sites, waiting, missing, reason)
        if reason == "elsewhere":  # out of step from here on: none of them is ordered
            self.races.diverged(waiting, waiting | missing)
        elif reason == "exited":
            self.races.diverged(waiting, missing)

    def on_async_copy(self, copy: AsyncCopy) -> None:
        if copy.site.number in self.bounds.sites:  # lanes outside the source copy nothing
            self.bounds.missed.add(copy.destination.name)
        self.copies.issue(copy)

    def on_async_commit(self, site: Site, lanes: np.ndarray, copies: dict[int, np.ndarray]) -> None:
        self.copies.commit(lanes, copies, site)

    def on_async_wait(self, site: Site, lanes: np.ndarray, arrived: dict[int, np.ndarray]) -> None:
        self.copies.wait(lanes, arrived, site)

    def on_no_progress(self, site: Site, lanes: np.ndarray, rescued: bool) -> None:
        self.progress.stalled(site, lanes, rescued=rescued)

    def on_arithmetic_fault(self, site: Site, lanes: np.ndarray) -> None:
        self.arithmetic.fault(site, lanes)

    def on_unset(self, site: Site, lanes: np.ndarray, variable: str) -> None:
        self.uninitialised.unset(site, lanes, variable)

    def on_chunk_end(self, chunk: Chunk) -> None:
        self.races.end_chunk()
        self.copies.end_chunk()

    def on_end(self) -> None:
        self.races.end()
        self.findings.drop_reads(self.bounds.missed)
