"""MUST GET: wrong-value. §4.9: computes on buffer_a, to which nothing was copied."""

import numpy as np

import wia_lab.hal as wia

SIZE = 64


def compute(data, result):
    result[:] = data + 1


def run():
    """Two buffers in turn, in step."""
    context = wia.Context(wia.open_machine("1xA100")[0])
    stream_compute, stream_transfer = context.create_stream(), context.create_stream()
    host_data = context.allocate(4 * SIZE, wia.MemoryKind.PINNED, name="host_data")
    host_data.host()[:] = np.repeat(np.arange(4, dtype=np.uint8), SIZE)
    buffers = [context.allocate(SIZE, name=name) for name in ("buffer_a", "buffer_b")]
    results = [context.allocate(SIZE, wia.MemoryKind.MANAGED) for _ in range(4)]
    for i in range(3):
        now, next_ = buffers[i % 2], buffers[(i + 1) % 2]
        stream_compute.submit(
            compute, now, results[i], seconds=1e-5, reads=[now], writes=[results[i]]
        )
        stream_transfer.copy(next_, host_data[(i + 1) * SIZE : (i + 2) * SIZE])
        context.synchronize()
    context.synchronize()
    return results[0].host()[0], 1
