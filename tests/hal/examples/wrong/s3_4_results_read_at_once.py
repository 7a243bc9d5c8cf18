"""MUST GET: race, 'the host'. §3.4: the loop ends, and nobody waits for it."""

import wia_lab.hal as wia


def compute(data):
    data[:] += 1


def run():
    """Batches in three streams, `each with a buffer of its own, results read at once`."""
    context = wia.Context(wia.open_machine("1xA100")[0])
    streams = [context.create_stream() for _ in range(3)]
    batch_data = [context.allocate(64, wia.MemoryKind.PINNED) for _ in range(6)]
    batch_result = [context.allocate(64, wia.MemoryKind.PINNED) for _ in range(6)]
    buffers = [context.allocate(64) for _ in streams]
    for number, data in enumerate(batch_data):
        data.host()[:] = number
    for batch in range(6):
        stream = streams[batch % 3]
        stream.copy(buffers[batch % 3], batch_data[batch])
        stream.submit(compute, buffers[batch % 3], seconds=1e-5)
        stream.copy(batch_result[batch], buffers[batch % 3])
    return batch_result[5].host(access="read")[0], 6
