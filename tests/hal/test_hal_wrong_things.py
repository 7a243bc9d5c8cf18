"""Every public call with every argument replaced by what does not belong there: one sentence.

The sentence is an error of `wia_lab.hal`; it has the value, or its type, and a way out; the context
computes as before. A value that belongs there is not tried: see `FITS`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

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
FITS["stream or none"] = {"stream", "None"}

CALLS: dict[str, Call] = {
    "ContextConfig": (
        plain(wia.ContextConfig),
        {
            "memory_pool_size": ("size or none", just(1)),
            "memory_limit": ("size or none", just(1)),
            "max_streams": ("count", just(1)),
            "exclusive": ("flag", just(False)),
            "timeout": ("limit", just(1.0)),
            "profiling": ("flag", just(False)),
        },
    ),
    "StreamOptions": (
        plain(wia.StreamOptions),
        {"priority": ("integer", just(0)), "name": ("name or none", just("s"))},
    ),
    "PoolConfig": (
        plain(wia.PoolConfig),
        {
            "initial_size": ("from 0", just(0)),
            "max_size": ("size or none", just(1)),
            "block_size": ("size", just(256)),
            "caching": ("flag", just(True)),
            "defragment_threshold": ("share", just(1.0)),
        },
    ),
    "ProfilerConfig": (
        plain(wia.ProfilerConfig),
        dict.fromkeys(("timing", "memory_tracking", "kernel_profiling"), ("flag", just(True))),
    ),
    "LaunchConfig": (
        plain(wia.LaunchConfig),
        {
            "grid": ("size", just(1)),
            "block": ("size", just(1)),
            "shared_memory": ("from 0", just(0)),
        },
    ),
    "LaunchConfig of sizes": (
        plain(wia.LaunchConfig),
        {"global_size": ("size", just(1)), "local_size": ("size", just(1))},
    ),
    "open_machine": (
        plain(wia.open_machine),
        {"specification": ("nothing", just("1xH100"))},
    ),
    "Device": (
        plain(wia.Device),
        {"machine": ("machine", its("machine")), "number": ("from 0", just(1))},
    ),
    "can_access_peer": (method("can_access_peer", "device"), {"peer": ("device", its("device"))}),
    "Context": (
        plain(wia.Context),
        {"device": ("device", its("device")), "config": ("none", just(None))},
    ),
    "allocate": (
        method("allocate", "context"),
        {
            "size": ("size", just(64)),
            "kind": ("nothing", just(wia.MemoryKind.DEVICE)),
            "name": ("name or none", just("weights")),
        },
    ),
    "allocate near a socket": (
        method("allocate", "context"),
        {
            "size": ("size", just(64)),
            "kind": ("nothing", just(wia.MemoryKind.PINNED)),
            "numa_node": ("socket", just(0)),
        },
    ),
    "free": (method("free", "context"), {"buffer": ("memory", lambda w: w.context.allocate(64))}),
    "memory_limit": (
        starred(lambda w, limit: setattr(w.context, "memory_limit", limit)),
        {"argument": ("size", just(1 << 20))},
    ),
    "timeout": (
        starred(lambda w, timeout: setattr(w.context, "timeout", timeout)),
        {"argument": ("limit", just(None))},
    ),
    "create_stream": (method("create_stream", "context"), {"options": ("none", just(None))}),
    "create_event": (method("create_event", "context"), {"name": ("name", just("e"))}),
    "enable_peer_access": (
        method("enable_peer_access", "context"),
        {"peer": ("peer", its("peer"))},
    ),
    "Context.synchronize": (
        method("synchronize", "context"),
        {"timeout": ("timeout", just(1.0))},
    ),
    "Stream": (
        plain(wia.Stream),
        {
            "context": ("context", its("context")),
            "options": ("nothing", just(wia.StreamOptions())),
        },
    ),
    "copy": (
        method("copy", "stream"),
        {"target": ("memory", its("target")), "source": ("memory", its("target"))},
    ),
    "submit": (
        starred(lambda w, function: w.stream.submit(function, seconds=0.0)),
        {"argument": ("callable", just(lambda: None))},
    ),
    "submit: options": (
        lambda w, **given: w.stream.submit(lambda _: None, w.target, **given),
        {
            "seconds": ("seconds", just(0.0)),
            "reads": ("none", lambda w: [w.target]),
            "writes": ("none", lambda w: [w.target]),
            "name": ("name or none", just("call")),
        },
    ),
    "prefetch": (
        method("prefetch", "stream"),
        {"memory": ("nothing", its("unified")), "to_host": ("flag", just(False))},
    ),
    "record": (method("record", "stream"), {"event": ("event or none", its("event"))}),
    "wait": (method("wait", "stream"), {"other": ("awaited", its("event"))}),
    "Stream.synchronize": (
        method("synchronize", "stream"),
        {"timeout": ("timeout", just(1.0))},
    ),
    "Stream.launch": (method("launch", "stream"), {"launch": ("nothing", just(None))}),
    "Event": (
        plain(wia.Event),
        {"context": ("context", its("context")), "name": ("name", just("e"))},
    ),
    "Event.synchronize": (method("synchronize", "event"), {"timeout": ("timeout", just(1.0))}),
    "seconds_since": (
        lambda w, earlier: (w.stream.synchronize(), w.later.seconds_since(earlier)),
        {"earlier": ("event", its("event"))},
    ),
    "Fence": (
        plain(wia.Fence),
        {"context": ("context", its("context")), "name": ("name", just("f"))},
    ),
    "Fence.submit": (
        starred(lambda w, stream: w.fence.submit(w.stream, stream)),
        {"argument": ("stream", its("stream"))},
    ),
    "Fence.wait": (method("wait", "fence"), {"timeout": ("timeout", just(1.0))}),
    "PeerBarrier": (
        plain(wia.PeerBarrier),
        {"streams": ("nothing", lambda w: [w.stream, w.other])},
    ),
    "PeerBarrier of": (
        starred(lambda w, stream: wia.PeerBarrier([w.other, stream]).wait()),
        {"argument": ("stream", its("stream"))},
    ),
    "run_safely": (
        plain(wia.run_safely),
        {
            "submit": ("callable", just(lambda: None)),
            "context": ("context", its("context")),
            "attempts": ("count", just(1)),
            "longest": ("longest", just(1.0)),
        },
    ),
    "compile_kernel": (
        plain(wia.compile_kernel),
        {"source": ("nothing", just(fill)), "name": ("none", just(None))},
    ),
    "launch_kernel": (
        lambda w, **given: wia.launch_kernel(
            given["kernel"], given["config"], w.vector, stream=given["stream"]
        ),
        {
            "kernel": ("kernel", its("kernel")),
            "config": ("nothing", its("config")),
            "stream": ("stream or none", its("stream")),
        },
    ),
    "launch_kernel_async": (
        lambda w, **given: wia.launch_kernel_async(
            given["kernel"], given["config"], given["argument"], stream=given["stream"]
        ),
        {
            "kernel": ("kernel", its("kernel")),
            "config": ("nothing", its("config")),
            "argument": ("argument", its("vector")),
            "stream": ("stream", its("stream")),
        },
    ),
    "MemoryPool": (
        plain(wia.MemoryPool),
        {"context": ("context", its("context")), "config": ("none", just(None))},
    ),
    "MemoryPool.allocate": (
        method("allocate", "pool"),
        {
            "size": ("size", just(64)),
            "stream": ("stream or none", its("stream")),
            "name": ("name or none", just("weights")),
        },
    ),
    "Profiler": (
        plain(wia.Profiler),
        {"context": ("context", its("context")), "config": ("none", just(None))},
    ),
    "Profiler.save": (
        method("save", "profiler"),
        {"path": ("text", lambda w: w.folder / "report.json")},
    ),
    "Profiler.save_trace": (
        method("save_trace", "profiler"),
        {"path": ("text", lambda w: w.folder / "trace.json")},
    ),
    "DeviceBacking": (
        plain(wia.DeviceBacking),
        {"buffer": ("buffer", its("buffer")), "stream": ("a stream", its("stream"))},
    ),
    "DeviceBacking.read": (
        method("read", "backing"),
        {"offset": ("from 0", just(0)), "nbytes": ("count", just(8))},
    ),
    "DeviceBacking.write": (
        method("write", "backing"),
        {"offset": ("from 0", just(0)), "data": ("nothing", just(b"12345678"))},
    ),
    "DeviceBacking.fill": (
        method("fill", "backing"),
        {
            "offset": ("from 0", just(0)),
            "nbytes": ("count", just(8)),
            "value": ("from 0", just(255)),
        },
    ),
    "DeviceBacking.move": (
        method("move", "backing"),
        {
            "target": ("from 0", just(0)),
            "source": ("from 0", just(8)),
            "nbytes": ("count", just(8)),
        },
    ),
    "Part": (
        plain(wia.Part),
        {
            "buffer": ("part's buffer", its("buffer")),
            "low": ("from 0", just(0)),
            "high": ("from 0", just(8)),
        },
    ),
    "Buffer[]": (starred(lambda w, index: w.buffer[index]), {"argument": ("nothing", just(None))}),
    "Buffer.host": (
        method("host", "pinned"),
        {"dtype": ("type", just(np.uint8)), "access": ("nothing", just("read"))},
    ),
    "advise": (
        method("advise", "unified"),
        {
            "advice": ("nothing", just(wia.Advice.READ_MOSTLY)),
            "device": ("device or none", its("device")),
        },
    ),
    "Tensor[]": (starred(lambda w, index: w.tensor[index]), {"argument": ("place", just(0))}),
    "Tensor.numpy": (method("numpy", "tensor"), STREAM),
    "Tensor.host": (
        lambda w, access: wia.empty(w.context, 4, memory=wia.MemoryKind.PINNED).host(access),
        {"access": ("nothing", just("read"))},
    ),
    "Tensor.view": (method("view", "tensor"), {"layout": ("nothing", lambda w: w.tensor.layout)}),
    "default_stream": (plain(wia.default_stream), {"context": ("context", its("context"))}),
    "empty": (
        plain(wia.empty),
        {
            "context": ("context", its("context")),
            "shape": ("from 0", just((2, 2))),
            "dtype": ("type", just("float32")),
            "memory": ("nothing", just(wia.MemoryKind.DEVICE)),
            "name": ("name", just("t")),
        },
    ),
    "from_numpy": (
        plain(wia.from_numpy),
        {
            "context": ("own context", its("context")),
            "array": ("array", just(np.ones(4))),
            "memory": ("nothing", just(wia.MemoryKind.DEVICE)),
            **STREAM,
            "name": ("name", just("t")),
        },
    ),
    "from_dlpack": (
        plain(wia.from_dlpack),
        {
            "context": ("own context", its("context")),
            "source": ("nothing", just(np.ones(4))),
            "memory": ("nothing", just(wia.MemoryKind.DEVICE)),
            **STREAM,
            "name": ("name", just("t")),
        },
    ),
    "full": (
        plain(wia.full),
        {
            "context": ("own context", its("context")),
            "shape": ("from 0", just((2, 2))),
            "value": ("number", just(1.0)),
            "dtype": ("type", just("float32")),
            "memory": ("nothing", just(wia.MemoryKind.DEVICE)),
            **STREAM,
        },
    ),
    "zeros": (
        plain(wia.zeros),
        {
            "context": ("own context", its("context")),
            "shape": ("from 0", just((2, 2))),
            "dtype": ("type", just("float32")),
            "memory": ("nothing", just(wia.MemoryKind.DEVICE)),
            **STREAM,
        },
    ),
    **{
        name: (
            plain(getattr(wia, name)),
            {"a": ("tensor", its("tensor")), "b": ("operand", its("tensor")), **STREAM},
        )
        for name in ("add", "mul")
    },
    **{
        name: (plain(getattr(wia, name)), {"a": ("any tensor", its("tensor")), **STREAM})
        for name in ("relu", "sigmoid", "contiguous")
    },
    "gelu": (
        plain(wia.gelu),
        {"a": ("any tensor", its("tensor")), "approximate": ("flag", just(False)), **STREAM},
    ),
    "convert": (
        plain(wia.convert),
        {"a": ("any tensor", its("tensor")), "dtype": ("type", just("float64")), **STREAM},
    ),
    "sum": (
        plain(wia.sum),
        {
            "a": ("any tensor", its("tensor")),
            "axis": ("axes", just(0)),
            "keepdims": ("flag", just(False)),
            **STREAM,
        },
    ),
    "max": (
        plain(wia.max),
        {
            "a": ("any tensor", its("tensor")),
            "axis": ("axes", just(0)),
            "keepdims": ("flag", just(False)),
            **STREAM,
        },
    ),
    "softmax": (
        plain(wia.softmax),
        {"a": ("any tensor", its("tensor")), "axis": ("axis", just(0)), **STREAM},
    ),
    **{
        name: (
            plain(getattr(wia, name)),
            {
                "a": (fits, its(of)),
                "b": (fits, its(of)),
                "config": ("none", just(None)),
                **STREAM,
            },
        )
        for name, of, fits in (
            ("matmul", "tensor", "tensor"),
            ("batch_matmul", "stack", "nothing"),
        )
    },
    "MatmulConfig": (
        plain(wia.MatmulConfig),
        {
            "algorithm": ("nothing", just(wia.MatmulAlgorithm.AUTO)),
            "precision": ("nothing", just(wia.Precision.FULL)),
        },
    ),
    "ConvConfig": (
        plain(wia.ConvConfig),
        {
            "padding": ("from 0", just(0)),
            "stride": ("count", just(1)),
            "dilation": ("count", just(1)),
            "groups": ("count", just(1)),
            "algorithm": ("nothing", just(wia.ConvAlgorithm.AUTO)),
            "precision": ("nothing", just(wia.Precision.FULL)),
        },
    ),
    "conv2d": (
        plain(wia.conv2d),
        {
            "x": ("nothing", its("image")),
            "weight": ("nothing", its("image")),
            "config": ("none", just(None)),
            **STREAM,
        },
    ),
    "Pool2dConfig": (
        plain(wia.Pool2dConfig),
        {
            "type": ("nothing", just(wia.PoolType.AVERAGE)),
            "kernel_size": ("count", just(2)),
            "stride": ("size or none", just(1)),
            "padding": ("from 0", just(0)),
            "count_padding": ("flag", just(False)),
        },
    ),
    "pool2d": (
        plain(wia.pool2d),
        {"x": ("nothing", its("image")), "config": ("none", just(None)), **STREAM},
    ),
    "batch_norm": (
        plain(wia.batch_norm),
        {
            "x": ("tensor", its("tensor")),
            **dict.fromkeys(("scale", "bias", "mean", "variance"), ("nothing", its("vector"))),
            "epsilon": ("seconds", just(1e-5)),
            "axis": ("axis", just(1)),
            **STREAM,
        },
    ),
    "reshape": (
        plain(wia.reshape),
        {"a": ("any tensor", its("tensor")), "shape": ("rest", just((2, 8)))},
    ),
    "transpose": (
        plain(wia.transpose),
        {"a": ("any tensor", its("tensor")), "axes": ("none", just((1, 0)))},
    ),
    "slice": (
        plain(wia.slice),
        {
            "a": ("any tensor", its("tensor")),
            "start": ("from 0", just(0)),
            "end": ("from 0", just(2)),
        },
    ),
    "concat": (
        plain(wia.concat),
        {
            "tensors": ("nothing", lambda w: [w.tensor, w.tensor]),
            "axis": ("axis", just(0)),
            **STREAM,
        },
    ),
    "concat of": (
        starred(lambda w, tensor: wia.concat([w.tensor, tensor])),
        {"argument": ("tensor", its("tensor"))},
    ),
}

TENSORS = {"tensor", "foreign tensor", "closed tensor"}
FITS |= {
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
PLACES = [(call, argument) for call, (_, arguments) in CALLS.items() for argument in arguments]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """One of each thing, for all: what was refused leaves no trace."""
    made = World(tmp_path_factory.mktemp("world"))
    yield made
    made.close()


def make(world: World, call: str, **instead: object) -> object:
    """The call, with some arguments that do not belong there."""
    function, arguments = CALLS[call]
    given = {name: good(world) for name, (_, good) in arguments.items()}
    return function(world, **{**given, **instead})


@pytest.mark.parametrize(("call", "argument"), PLACES, ids=lambda each: each)
def test_what_does_not_belong_there(world: World, call: str, argument: str) -> None:
    """An error of the HAL's, in one sentence with a way out, told of this file; and no harm."""
    kind = CALLS[call][1][argument][0]
    faults = []
    for name, wrong in WRONG.items():
        if name in FITS[kind]:
            continue
        value = wrong(world)
        try:
            make(world, call, **{argument: value})
        except wia.HalError as error:
            text = str(error)
            if "\n" in text or len(text) > 500 or error.details.file != __file__:
                faults.append(f"{name}: {error.details.file}: {text}")
        except Exception as error:
            faults.append(f"{name}: {type(error).__name__}: {error}")
        else:
            faults.append(f"{name}: taken as it is")
    assert faults == [], "\n".join(faults)
    assert world.usable()


@pytest.mark.parametrize("call", CALLS)
def test_what_belongs_there(world: World, call: str) -> None:
    """The same call with the right arguments goes well: it is they that the errors are about."""
    if call in ("Stream.launch", "Buffer[]"):
        pytest.skip("its one argument is tried elsewhere")
    make(world, call)


def test_numbers_of_numpy(world: World) -> None:
    """They are sizes, seconds and counts as Python's are."""
    assert world.context.allocate(np.int64(64)).nbytes == 64
    assert wia.MemoryPool(world.context).allocate(np.uint8(64)).nbytes == 64
    world.context.synchronize(timeout=np.float32(1.0))
    assert wia.LaunchConfig(np.int32(2), (np.int64(8), 4)).threads == (8, 4, 1)


def test_waits_without_end(world: World) -> None:
    """Infinity stands for a wait of any length, wherever a timeout is taken."""
    world.stream.submit(lambda: None, seconds=1e6)
    fence = wia.Fence(world.context)
    fence.submit(world.stream)
    event = world.stream.record()
    for wait in (world.stream.synchronize, event.synchronize, fence.wait):
        wait(timeout=INF)
    world.context.synchronize(timeout=wia.TIMEOUT_INFINITE)
    assert wia.ContextConfig(timeout=INF).timeout == INF
