"""One warp's walk through a launch: the base of step debuggers and pictures.

The launch is run again, on copies of what it was given, and one warp of it is written down. Only a
window of the walk is kept, so that memory stays bounded however long the run is.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from wia_lab.errors import WiaLabError
from wia_lab.simt.events import Access, Chunk, Launch, Listener
from wia_lab.simt.values import Choice, View

WARP = 32
MAX_STEPS = 10_000
MAX_KEPT_BYTES = 64 << 20
"""Most bytes of arguments that a report keeps a copy of."""


@dataclass(frozen=True, slots=True)
class Touch:
    """One load, store or atomic of the warp.

    `addresses` are bytes on the device, or in the block's shared memory; None in idle lanes.
    `places` name the elements as the source does, such as `tile[3, 4]`.
    """

    kind: str
    space: str
    array: str
    nbytes: int
    addresses: tuple[int | None, ...]
    places: tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class WarpStep:
    """One source line, executed once by some lanes of the warp."""

    number: int
    line: int
    text: str
    function: str
    active: tuple[bool, ...]  # 32 lanes
    values: dict[str, tuple[Any, ...]]  # variables that the line set: one value a lane, or None
    touches: tuple[Touch, ...]


@dataclass(frozen=True)
class Walk(Sequence[WarpStep]):
    """A window of a warp's steps: `walk[i]` is step `start + i`.

    `ended` tells whether the warp's last step is in the window.
    """

    block: int
    warp: int
    start: int
    steps: tuple[WarpStep, ...]
    ended: bool

    def __len__(self) -> int:
        return len(self.steps)

    def __getitem__(self, index: Any) -> Any:
        return self.steps[index]

    def __iter__(self) -> Iterator[WarpStep]:
        return iter(self.steps)

    def __repr__(self) -> str:
        last = self.start + len(self.steps)
        rest = "to its end" if self.ended else "and goes on"
        return f"<warp {self.warp} of block {self.block}: steps {self.start} to {last}, {rest}>"


class Enough(Exception):  # not an error: the window is full
    """The window is full."""


@dataclass
class Tracer(Listener):
    """Writes down the steps of one warp."""

    block: int
    warp: int
    start: int
    limit: int
    steps: list[WarpStep] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._count = 0
        self._lanes: slice | None = None
        self._open: tuple[int, str, str] | None = None
        self._active: np.ndarray | None = None
        self._values: dict[str, tuple[Any, ...]] = {}
        self._touches: list[Touch] = []

    def on_launch(self, launch: Launch) -> None:
        blocks = int(np.prod(launch.grid))
        warps = -(-int(np.prod(launch.block)) // WARP)
        if not (0 <= self.block < blocks and 0 <= self.warp < warps):
            raise WiaLabError(
                f"step(block={self.block}, warp={self.warp}): the launch has blocks 0 to "
                f"{blocks - 1} and warps 0 to {warps - 1} in each"
            )

    def on_chunk(self, chunk: Chunk) -> None:
        first = (self.block - chunk.first_block) * chunk.stride + self.warp * WARP
        inside = chunk.first_block <= self.block < chunk.first_block + chunk.blocks
        self._lanes = slice(first, first + WARP) if inside else None

    def executed(self, group: Any, segment: Any, number: int, target: int, value: Any) -> None:
        """The scheduler ran one step of a segment for a group."""
        if self._lanes is None or not group.bits[self._lanes].any():
            return
        self._enter(group, segment.lines[number], segment.site)
        name = group.frame.program.names[target].partition(".")[0] if target >= 0 else ""
        if name and not name.startswith("$"):
            found = self._spread(value, group.bits)
            if found is not None:
                self._values[name] = found

    def ended(self, group: Any, segment: Any) -> None:
        """A group came to the end of a segment."""
        if self._lanes is not None and group.bits[self._lanes].any():
            self._enter(group, segment.end.site.line, segment.site)

    def _enter(self, group: Any, line: int, site: Any) -> None:
        active = group.bits[self._lanes]
        now = (line, site.file, site.function)
        if self._open == now and np.array_equal(active, self._active):
            return
        self._close()
        self._open, self._active = now, active.copy()

    def _close(self) -> None:
        if self._open is not None:
            if self._count >= self.start:
                line, file, function = self._open
                self.steps.append(
                    WarpStep(
                        self._count,
                        line,
                        linecache.getline(file, line).strip(),
                        function,
                        tuple(self._active.tolist()),
                        self._values,
                        tuple(self._touches),
                    )
                )
            self._count += 1
            if len(self.steps) >= self.limit:
                raise Enough
        self._open, self._values, self._touches = None, {}, []

    def on_access(self, access: Access) -> None:
        if self._lanes is None or not access.active[self._lanes].any():
            return
        active = access.active[self._lanes]
        offsets = access.offsets[self._lanes]
        space = access.space
        base = space.base - (
            offsets // space.stride * space.stride if space.kind != "global" else 0
        )
        addresses = np.broadcast_to(base, offsets.shape) + offsets
        self._touches.append(
            Touch(
                access.kind,
                space.kind,
                space.name,
                access.nbytes,
                _where(active, addresses.tolist()),
                _where(active, [space.place(int(offset)) for offset in offsets]),
            )
        )

    def _spread(self, value: Any, bits: np.ndarray) -> tuple[Any, ...] | None:
        active = bits[self._lanes]
        if isinstance(value, np.ndarray):
            return _where(active, value[self._lanes].tolist())
        if isinstance(value, np.generic):
            return _where(active, [value.item()] * WARP)
        if isinstance(value, tuple):
            parts = [self._spread(part, bits) for part in value]
            if any(part is None for part in parts):
                return None
            return _where(active, list(zip(*parts, strict=True)))
        if isinstance(value, (View, Choice)):
            return None
        return None

    def finish(self) -> bool:
        """Close the last step; True when the warp's end was reached."""
        try:
            self._close()
        except Enough:
            return True
        return True


def _where(active: np.ndarray, values: list[Any]) -> tuple[Any, ...]:
    return tuple(value if on else None for value, on in zip(values, active, strict=True))


class Follower(Listener):
    """A listener for `Replay.hear`: it may be told of every step, too, and needs none."""

    def executed(self, group: Any, segment: Any, number: int, target: int, value: Any) -> None:
        """The scheduler ran one step of a segment for a group."""

    def ended(self, group: Any, segment: Any) -> None:
        """A group came to the end of a segment."""


class Replay:
    """Runs a launch again, on copies of its arguments, for the steps of one warp."""

    def __init__(self, rerun: Callable[[tuple[Any, ...], Any], None], args: Sequence[Any]) -> None:
        size = sum(_nbytes(each) for each in args)
        self._rerun, self._size = rerun, size
        self._args = tuple(map(_copy, args)) if size <= MAX_KEPT_BYTES else None

    def hear(self, listener: Follower) -> None:
        """Run the launch again with a listener; it raises `Enough` when it has heard all."""
        self._require_arguments()
        with suppress(Enough):
            self._rerun(tuple(map(_copy, self._args)), listener)

    def walk(self, block: int, warp: int, start: int, limit: int) -> Walk:
        """Steps `start` to `start + limit` of one warp."""
        self._require_arguments()
        if not (start >= 0 and 1 <= limit <= MAX_STEPS):
            raise WiaLabError(
                f"step(start={start}, limit={limit}): start is 0 or more, and limit is 1 to "
                f"{MAX_STEPS:,} steps"
            )
        tracer = Tracer(block, warp, start, limit)
        try:
            self._rerun(tuple(map(_copy, self._args)), tracer)
        except Enough:
            return Walk(block, warp, start, tuple(tracer.steps), ended=False)
        ended = tracer.finish()  # first: it adds the step that was still open
        return Walk(block, warp, start, tuple(tracer.steps), ended=ended)

    def _require_arguments(self) -> None:
        if self._args is None:
            raise WiaLabError(
                f"step(): the launch was given {self._size:,} bytes of arrays, and no copy of more "
                f"than {MAX_KEPT_BYTES:,} is kept to run it again: simulate a smaller input"
            )


def _nbytes(value: Any) -> int:
    if isinstance(value, tuple):
        return sum(map(_nbytes, value))
    return int(getattr(getattr(value, "memory", value), "nbytes", 0))


def _copy(value: Any) -> Any:
    if isinstance(value, tuple):
        parts = [_copy(part) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    memory = getattr(value, "memory", value)
    if not isinstance(memory, np.ndarray):
        return memory
    copied = memory.copy(order="K")
    copied.flags.writeable = memory.flags.writeable
    return copied
