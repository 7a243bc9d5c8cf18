"""One of each thing of the HAL, and what is tried where it does not belong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import wia_lab.hal as wia
from wia_lab import cuda, hazards

NAN, INF = float("nan"), float("inf")


@cuda.jit
def fill(out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = 7


@dataclass
class World:
    """One of each thing, on the first of two H100, and a context of another machine."""

    folder: Path

    def __post_init__(self) -> None:
        self.machine = wia.open_machine("2xH100-nvlink")
        self.device = self.machine[0]
        self.context = wia.Context(self.device)
        self.peer = wia.Context(self.machine[1])
        self.abroad = wia.Context(wia.open_machine("1xT4")[0])
        self.stream = self.context.create_stream()
        self.other = self.peer.create_stream()
        self.far = self.abroad.create_stream()
        self.event = self.stream.record()
        self.later = self.stream.record()
        self.buffer = self.context.allocate(64)
        self.target = self.context.allocate(64)
        self.pinned = self.context.allocate(64, wia.MemoryKind.PINNED)
        self.unified = self.context.allocate(64, wia.MemoryKind.UNIFIED)
        self.pool = wia.MemoryPool(self.context)
        self.tensor = wia.from_numpy(self.context, np.ones((4, 4), np.float32))
        self.image = wia.from_numpy(self.context, np.ones((1, 1, 4, 4), np.float32))
        self.vector = wia.from_numpy(self.context, np.ones(4, np.float32))
        self.stack = wia.from_numpy(self.context, np.ones((2, 4, 4), np.float32))
        self.kernel = wia.compile_kernel(fill)
        self.config = wia.LaunchConfig(1, 64)
        self.backing = wia.DeviceBacking(self.buffer, self.stream)
        self.fence = wia.Fence(self.context)
        with wia.Profiler(self.context) as self.profiler:
            pass

    def usable(self) -> bool:
        """Whether the context still allocates, launches, copies and waits."""
        out = wia.empty(self.context, 64, np.int32)
        wia.launch_kernel(self.kernel, self.config, out)
        return bool((out.numpy() == 7).all())

    def close(self) -> None:
        """All contexts, whatever is not ordered."""
        with hazards("off"):
            for each in (self.context, self.peer, self.abroad):
                each.close()


WRONG: dict[str, Callable[[World], object]] = {
    "None": lambda _: None,
    "text": lambda _: "device",
    "True": lambda _: True,
    "0": lambda _: 0,
    "1": lambda _: 1,
    "-1": lambda _: -1,
    "1.5": lambda _: 1.5,
    "-0.5": lambda _: -0.5,
    "nan": lambda _: NAN,
    "infinity": lambda _: INF,
    "object": lambda _: object(),
    "list": lambda _: [None],
    "machine": lambda w: w.machine,
    "device": lambda w: w.device,
    "context": lambda w: w.context,
    "peer's context": lambda w: w.peer,
    "foreign context": lambda w: w.abroad,
    "closed context": lambda w: closed(wia.Context(w.machine[1])),
    "stream": lambda w: w.stream,
    "foreign stream": lambda w: w.far,
    "closed stream": lambda w: closed(w.context.create_stream()),
    "event": lambda w: w.event,
    "foreign event": lambda w: w.far.record(),
    "buffer": lambda w: w.buffer,
    "foreign buffer": lambda w: w.abroad.allocate(64),
    "closed buffer": lambda w: closed(w.context.allocate(64)),
    "tensor": lambda w: w.tensor,
    "foreign tensor": lambda w: wia.zeros(w.abroad, (4, 4)),
    "closed tensor": lambda w: closed(wia.empty(w.context, (4, 4))),
    "kernel": lambda w: w.kernel,
    "pool": lambda w: w.pool,
    "function": lambda _: abs,
    "class": lambda _: wia.Context,
}


def closed(thing: Any) -> Any:
    """It, closed."""
    thing.close()
    return thing


TENSORS = {"tensor", "foreign tensor", "closed tensor"}
NUMBERS = {"0", "1", "1.5", "infinity"}
FITS: dict[str, set[str]] = {
    "anything": set(WRONG),
    "context": {"context", "peer's context", "foreign context"},
    "peer": {"peer's context"},
    "own context": {"context", "peer's context"},
    "stream": {"stream"},
    "stream of its machine": {"stream"},
    "memory": {"buffer"},
    "buffer": {"buffer", "foreign buffer"},
    "size": {"1"},
    "size or none": {"1", "None"},
    "count": {"1"},
    "from 0": {"0", "1"},
    "integer": {"0", "1", "-1"},
    "flag": {"True"},
    "timeout": {"None", *NUMBERS},
    "limit": {"None", "1", "1.5", "infinity"},
    "seconds": {"0", "1", "1.5"},
    "longest": {"1", "1.5", "infinity"},
    "share": {"0", "1"},
    "name": {"text"},
    "name or none": {"text", "None"},
    "tensor": {"tensor"},
    "any tensor": {"tensor", "foreign tensor"},
    "nothing": set(),
    "none": {"None"},
    "stream or none": {"stream", "None"},
    "device": {"device"},
    "machine": {"machine", "context", "peer's context", "foreign context", "closed context"},
    "type": TENSORS,  # NumPy asks things for their dtype
    "part's buffer": {"buffer", "foreign buffer", "closed buffer"},
    "device or none": {"device", "None"},
    "socket": {"0", "None"},
    "callable": {"function", "class"},
    "event": {"event"},
    "event or none": {"event", "None"},
    "awaited": {"event", "stream"},
    "a stream": {"stream", "foreign stream"},
    "kernel": {"kernel"},
    "argument": {"buffer", "tensor"},
    "place": {"0", "1", "-1"},
    "array": {"True", "0", "1", "-1", "1.5", "-0.5", "nan", "infinity", "tensor", "foreign tensor"},
    "number": {"0", "1", "-1", "1.5", "-0.5", "nan", "infinity"},
    "operand": {"tensor", "0", "1", "-1", "1.5", "-0.5", "nan", "infinity"},
    "axis": {"0", "1", "-1"},
    "axes": {"0", "1", "-1", "None"},
    "rest": {"-1"},
    "text": {"text"},
}
"""What belongs where: the names of those of `WRONG` that are no mistake there."""

Call = tuple[Callable[..., object], dict[str, tuple[str, Callable[[World], object]]]]


def method(name: str, of: str) -> Callable[..., object]:
    """Call a method of one of the world's things."""
    return lambda w, **given: getattr(getattr(w, of), name)(**given)


def plain(function: Callable[..., object]) -> Callable[..., object]:
    """Call a function that does not need the world."""
    return lambda _, **given: function(**given)


def starred(function: Callable[[World, Any], object]) -> Callable[..., object]:
    """Call with one argument of which there may be any number."""
    return lambda w, argument: function(w, argument)


def its(name: str) -> Callable[[World], object]:
    """One of the world's things."""
    return lambda w: getattr(w, name)


def just(value: object) -> Callable[[World], object]:
    """A value."""
    return lambda _: value


STREAM = {"stream": ("stream or none", lambda w: w.stream)}
