"""MUST GET: wrong-value. §3.9: after a timeout the work is submitted again, and still runs."""

import wia_lab.hal as wia


def compute(data):
    data[:] += 1


def safe_compute(context, stream, data):
    """As the document writes it, with one longer timeout."""
    stream.submit(compute, data, seconds=2.0)
    try:
        stream.synchronize()
    except wia.TimedOut:
        context.timeout = 60.0
        return safe_compute(context, stream, data)
    return wia.ErrorCode.SUCCESS


def run():
    """The data is counted up once too often."""
    context = wia.Context(wia.open_machine("1xA100")[0], wia.ContextConfig(timeout=1.0))
    stream, data = context.create_stream(), context.allocate(64, wia.MemoryKind.MANAGED)
    data.host()[:] = 0
    safe_compute(context, stream, data)
    return data.host()[0], 1
