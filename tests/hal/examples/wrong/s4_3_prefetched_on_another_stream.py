"""MUST GET: wrong-value. §4.3: prefetches on `stream`, computes on another, and faults."""

import wia_lab.hal as wia


def compute(data):
    data[:] += 1


def run():
    """The kernel does not wait for the pages, so it fetches them itself."""
    context = wia.Context(wia.open_machine("1xA100")[0])
    data = context.allocate(8 << 20, wia.MemoryKind.UNIFIED)
    data.host(access="write")[:] = 1
    stream, default = context.create_stream(), context.create_stream()
    stream.prefetch(data)
    default.submit(compute, data, seconds=1e-3)
    default.synchronize()
    return data.migrations.faults, 0
