"""MUST GET: race, 'the host'. §3.8: stream_b waits for the event, the host for nothing."""

import wia_lab.hal as wia


def compute(data):
    data[:] = 1


def process(data):
    data[:] += 1


def run():
    """Event-based synchronisation orders streams, not the host."""
    context = wia.Context(wia.open_machine("1xA100")[0])
    stream_a, stream_b = context.create_stream(), context.create_stream()
    data = context.allocate(64, wia.MemoryKind.MANAGED)
    stream_a.submit(compute, data, seconds=1e-6)
    event = stream_a.record()
    stream_b.wait(event)
    stream_b.submit(process, data, seconds=1e-6)
    return data.host(access="read")[0], 2
