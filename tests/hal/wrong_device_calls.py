"""Public calls of devices, contexts, streams, memory and kernels, with arguments that belong there.

Of each argument: what fits it, a name of `FITS`, and one that does.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import wia_lab.hal as wia

sys.path.insert(0, str(Path(__file__).parent))

from wrong_world import STREAM, Call, fill, its, just, method, plain, starred

DEVICE_CALLS: dict[str, Call] = {
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
            "mapped": ("flag", just(False)),
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
        {
            "target": ("memory", its("target")),
            "source": ("memory", lambda w: w.context.allocate(64)),
        },
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
}
