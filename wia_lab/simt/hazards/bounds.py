"""Indices outside an array, and negative ones that wrap."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from wia_lab.simt.hazards.found import Findings, Hazard, Thread

if TYPE_CHECKING:
    from wia_lab.simt.events import Launch, OutOfBounds, Site
    from wia_lab.simt.hazards.order import Order
    from wia_lab.simt.memory import Space


class Bounds:
    """Names the first lane that left an array."""

    def __init__(self, findings: Findings, order: Order) -> None:
        self.findings, self.order = findings, order
        self.begin()

    def begin(self, launch: Launch | None = None) -> None:
        """A launch begins."""
        self.missed: set[str] = set()  # arrays that lack what was to be written to them
        self.sites: set[int] = set()

    def outside(self, event: OutOfBounds) -> None:
        """Lanes indexed outside an array."""
        self.sites.add(event.site.number)
        if event.is_store:
            self.missed.add(event.space.name)
        lane = int(np.argmax(event.lanes))
        thread = self.findings.thread(self.order.first + lane)
        index = tuple(int(each[lane]) for each in event.indices)
        shape = tuple(int(_at(extent, lane)) for extent in event.shape)
        verb = "writes" if event.is_store else "reads"
        place = f"{event.space.name}[{', '.join(map(str, index))}]"
        complaint, way_out = _complaint(event.space, index, shape)
        self.findings.add(
            Hazard(
                "out-of-bounds",
                "error",
                event.site.line,
                None,
                f"{self.findings.at(event.site)}: {thread} {verb} {place}, {complaint}: {way_out}",
                (thread,),
                event.space.name,
                index,
                event.site.file,
                way_out=way_out,
            ),
            times=int(np.count_nonzero(event.lanes)),
        )

    def negative(self, space: Space, lanes: np.ndarray, indices: np.ndarray, site: Site) -> None:
        """Lanes indexed with a negative number that wraps."""
        lane = int(np.argmax(lanes))
        thread: Thread = self.findings.thread(self.order.first + lane)
        index = int(np.broadcast_to(indices, lanes.shape)[lane])
        self.findings.add(
            Hazard(
                "negative-index",
                "warning",
                site.line,
                None,
                f"{self.findings.at(site)}: {thread} indexes {space.name} with {index}, which "
                f"counts from the end: if that is not meant, guard the access with `if i >= 0`",
                (thread,),
                space.name,
                (index,),
                site.file,
            ),
            times=int(np.count_nonzero(lanes)),
        )


def _complaint(space: Space, index: tuple[int, ...], shape: tuple[int, ...]) -> tuple[str, str]:
    """What is wrong with an index, and what to do about it."""
    name = space.name
    axis = next(
        (
            axis
            for axis, (place, extent) in enumerate(zip(index, shape, strict=True))
            if not -extent <= place < extent
        ),
        next((axis for axis, place in enumerate(index) if place < 0), 0),
    )
    extent = shape[axis]
    along = "" if len(shape) == 1 else f"along axis {axis} "
    place = "index" if len(shape) == 1 else f"index {index[axis]} of axis {axis}"
    if extent == 0:
        return f"but {name} has no elements", "check its shape, and how it was made"
    complaint = f"but {name} {along}ends at {extent - 1}"
    bound = f"{name}.shape[{axis}]" if len(shape) > 1 else f"{name}.size"
    test = f"0 <= i < {bound}" if index[axis] < 0 else f"i < {bound}"
    guard = f"guard the access with `if {test}`, where i is the {place}"
    if space.kind == "global":
        return complaint, guard
    # Its size is the kernel's own choice, so that the index or the size is wrong more often
    return complaint, f"see how the {place} is made and what size {name} needs, or {guard}"


def _at(extent: np.ndarray | int, lane: int) -> int:
    return extent[lane] if isinstance(extent, np.ndarray) else extent
