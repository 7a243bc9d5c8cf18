"""Pictures drawn from a learner's own kernel, each with a text twin of the same numbers.

`read_map` shows how often each element of the arrays is read, `story` what one block did in which
order and what was in flight meanwhile. In a notebook, print the picture for its text and end the
cell with it for its image.
"""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from wia_lab.simt import launch
from wia_lab.simt.events import Access, AsyncCopy, Chunk, Lanes, Listener, Site
from wia_lab.wording import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Extent = int | tuple[int, ...]
DEVICE = "H200"


class Image:
    """Something that prints as text and shows as an image."""

    def figure(self) -> Figure:
        """Draw it."""
        raise NotImplementedError

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        image = io.BytesIO()
        self.figure().savefig(image, format="png", dpi=80, bbox_inches="tight")
        return {"text/plain": str(self), "image/png": image.getvalue()}


@dataclass
class ReadMap(Image):
    """How often threads read each element of each input, by global loads and async copies."""

    reader: str  # "block 7", or "the grid"
    counts: dict[str, np.ndarray]
    scale: int | None = None  # reads at the top of the colour scale; None: the most there are

    def __str__(self) -> str:
        lines = [f"{name}: {_times(counts)}" for name, counts in self.counts.items()]
        return "\n".join([f"{self.reader} reads", *lines])

    def figure(self) -> Figure:
        """One map an array, on one colour scale; what is not read stays grey."""
        from matplotlib.figure import Figure  # noqa: PLC0415 - slow; only where something is drawn

        figure = Figure(figsize=(4.2 * len(self.counts), 3.2), layout="constrained")
        axes = figure.subplots(1, len(self.counts), squeeze=False)[0]
        top = self.scale or max(1, *(int(counts.max()) for counts in self.counts.values()))
        for axis, (name, counts) in zip(axes, self.counts.items(), strict=True):
            read = np.ma.masked_equal(np.atleast_2d(counts), 0)
            image = axis.imshow(read, vmin=0, vmax=top)
            axis.set_facecolor("0.92")
            axis.set(title=name, xlabel="column", ylabel="row")
        figure.colorbar(image, ax=list(axes), label="times read")
        figure.suptitle(f"what {self.reader} reads")
        return figure


def _times(counts: np.ndarray) -> str:
    """`1,024 of 3,072 elements, 16 times each`."""
    read = counts[counts > 0]
    if not read.size:
        return f"none of {counted(counts.size, 'element')}"
    low, high = int(read.min()), int(read.max())
    often = f"{low:,} to {high:,} times" if low < high else f"{high:,} times each"
    return (
        f"{read.size:,} of {counted(counts.size, 'element')}, {often if high > 1 else 'once each'}"
    )


class _Follower(Listener):
    """Hears what one block does, or the whole grid for None."""

    def __init__(self, block: int | None) -> None:
        self.block = block

    def on_chunk(self, chunk: Chunk) -> None:
        if self.block is None:
            self.lanes = slice(None)
            return
        place = self.block - chunk.first_block
        inside = 0 <= place < chunk.blocks
        self.lanes = slice(place * chunk.stride, (place + 1) * chunk.stride) if inside else slice(0)

    def count(self, lanes: Lanes) -> int:
        """How many of `lanes` belong to the block."""
        return int(lanes[self.lanes].sum())


class _Reads(_Follower):
    """Counts reads of each element of the global arrays, and notes which arrays are written."""

    def __init__(self, block: int | None) -> None:
        super().__init__(block)
        self.counts: dict[str, np.ndarray] = {}
        self.written: set[str] = set()

    def on_access(self, access: Access) -> None:
        if access.space.kind != "global":
            return
        if access.kind == "load":
            self._count(access.space, access.offsets, access.active)
        else:
            self.written.add(access.space.name)

    def on_async_copy(self, copy: AsyncCopy) -> None:
        reading = copy.active & ~copy.zero_filled
        for byte in range(0, copy.nbytes, copy.source.dtype.itemsize):
            self._count(copy.source, copy.source_offsets + byte, reading)

    def _count(self, space: Any, offsets: Lanes, active: Lanes) -> None:
        counts = self.counts.setdefault(space.name, np.zeros(space.shape, np.int64))
        ours = offsets[self.lanes][active[self.lanes]]
        cells = (ours - space.origin) // space.dtype.itemsize
        counts += np.bincount(cells, minlength=counts.size)[: counts.size].reshape(counts.shape)


def read_map(
    kernel: Any,
    grid: Extent,
    block: Extent,
    *args: np.ndarray,
    of_block: int | None = None,
    scale: int | None = None,
) -> ReadMap:
    """Run a kernel and count how often threads read each element of the arrays it does not write.

    Parameters
    ----------
    kernel, grid, block, args
        As for `simulate`; the arrays are C-ordered, and left as they were.
    of_block
        Count this block's reads only: its number, along x first. None counts the whole grid's.
    scale
        Reads at the top of the colour scale, so that two pictures can be compared.
    """
    reads = _Reads(of_block)
    names = _run(kernel, grid, block, args, reads)
    counts = {
        name: reads.counts.get(name, np.zeros(array.shape, np.int64))
        for name, array in zip(names, args, strict=True)
        if name not in reads.written
    }
    return ReadMap("the grid" if of_block is None else f"block {of_block}", counts, scale)


@dataclass
class Step:
    """Something that a block did, all executions between two synchronisations added up."""

    line: int
    what: str  # "copy", "load", "wait", "barrier", "compute", "store"
    array: str
    elements: int
    in_flight: int  # elements on their way after it

    def __str__(self) -> str:
        number, elements = self.elements, counted(self.elements, "element")
        one = number == 1
        be = "is" if one else "are"
        done = {
            "copy": f"{elements} of {self.array} {be} asked for",
            "load": f"{elements} of {self.array} {be} loaded",
            "wait": f"{elements} {'has' if one else 'have'} landed",
            "barrier": f"{counted(number, 'thread')} {'comes' if one else 'meet'}",
            "compute": f"{counted(number, 'read')} of shared memory",
            "store": f"{elements} of {self.array} {be} stored",
        }[self.what]
        return f"line {self.line:>2}  {self.what:<8}{done:<40}in flight: {self.in_flight:,}"


MOST_SIDE_BY_SIDE = 10
"""Steps whose names fit beside each other under a figure."""


@dataclass
class Story(Image):
    """What one block did, in order, and how many elements were in flight after each step."""

    block: int
    steps: list[Step] = field(default_factory=list)

    def __str__(self) -> str:
        if not self.steps:
            return f"block {self.block} touched no memory"
        return "\n".join([f"block {self.block}, in order:", *map(str, self.steps)])

    def figure(self) -> Figure:
        """Elements in flight, step by step; each step named below."""
        from matplotlib.figure import Figure  # noqa: PLC0415 - as above

        is_long = len(self.steps) > MOST_SIDE_BY_SIDE
        figure = Figure(figsize=(8, 4.4 if is_long else 3.2), layout="constrained")
        axis = figure.subplots()
        places = np.arange(len(self.steps))
        axis.bar(places, [step.in_flight for step in self.steps], color="#7aa6d6", width=1.0)
        if is_long:  # names would overlap: they stand upright
            labels = [f"{step.what} {step.array}, line {step.line}" for step in self.steps]
            axis.set_xticks(places, [each.replace(" ,", ",") for each in labels], rotation=90)
        else:
            labels = [f"{step.what}\n{step.array}\nline {step.line}" for step in self.steps]
            axis.set_xticks(places, labels)
        axis.set(ylabel="elements in flight", title=f"block {self.block}: what happened when")
        return figure


class _Steps(_Follower):
    """Follows one block through its launch."""

    def __init__(self, block: int) -> None:
        super().__init__(block)
        self.steps: list[Step] = []
        self.since = 0  # steps before it lie before the last synchronisation
        self.copies: dict[int, int] = {}  # number: elements a lane
        self.in_flight = 0

    def on_access(self, access: Access) -> None:
        count, kind = self.count(access.active), access.space.kind
        if kind == "global":
            what = "load" if access.kind == "load" else "store"
            self._add(access.site, what, access.space.name, count)
        elif kind == "shared" and access.kind == "load":
            self._add(access.site, "compute", "", count)

    def on_async_copy(self, copy: AsyncCopy) -> None:
        self.copies[copy.number] = copy.nbytes // copy.source.dtype.itemsize
        count = self.count(copy.active) * self.copies[copy.number]
        self.in_flight += count
        self._add(copy.site, "copy", copy.source.name, count)

    def on_async_wait(self, site: Site, lanes: Lanes, arrived: dict[int, Lanes]) -> None:
        landed = sum(self.count(part) * self.copies[n] for n, part in arrived.items())
        self.in_flight -= landed
        if self.count(lanes):
            self._synchronise(site, "wait", landed)

    def on_barrier(self, site: Site, lanes: Lanes) -> None:
        if self.count(lanes):
            self._synchronise(site, "barrier", self.count(lanes))

    def _synchronise(self, site: Site, what: str, elements: int) -> None:
        self.steps.append(Step(site.line, what, "", elements, self.in_flight))
        self.since = len(self.steps)

    def _add(self, site: Site, what: str, array: str, elements: int) -> None:
        """Add to the step of that line since the last synchronisation, or begin one."""
        if not elements:
            return
        for step in self.steps[self.since :]:
            if (step.line, step.what, step.array) == (site.line, what, array):
                step.elements += elements
                step.in_flight = self.in_flight
                return
        self.steps.append(Step(site.line, what, array, elements, self.in_flight))


def story(kernel: Any, grid: Extent, block: Extent, *args: np.ndarray, of_block: int = 0) -> Story:
    """Run a kernel and tell what block number `of_block` did, in order.

    Parameters
    ----------
    kernel, grid, block, args
        As for `simulate`; the arrays are left as they were.
    of_block
        The block, counted along x first.
    """
    steps = _Steps(of_block)
    _run(kernel, grid, block, args, steps)
    return Story(of_block, steps.steps)


def _run(
    kernel: Any, grid: Extent, block: Extent, args: tuple[np.ndarray, ...], listener: Listener
) -> tuple[str, ...]:
    """Launch on copies of the arrays; return the kernel's parameter names."""
    function = getattr(kernel, "py_func", kernel)
    copies = tuple(array.copy() for array in args)
    launch.run(function, grid, block, copies, shared_bytes=0, device=DEVICE, listeners=[listener])
    code = function.__code__
    return tuple(code.co_varnames[: code.co_argcount])
