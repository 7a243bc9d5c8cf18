"""MUST GET: race, 'device_buffer'. §3.4: each batch overwrites what another is computing."""

import wia_lab.hal as wia


def compute(data):
    data[:] += 1


def run():
    """Batches in three streams, `one device_buffer for all`."""
    context = wia.Context(wia.open_machine("1xA100")[0])
    streams = [context.create_stream() for _ in range(3)]
    batch_data = [context.allocate(64, wia.MemoryKind.PINNED) for _ in range(6)]
    batch_result = [context.allocate(64, wia.MemoryKind.PINNED) for _ in range(6)]
    device_buffer = context.allocate(64, name="device_buffer")
    for number, data in enumerate(batch_data):
        data.host()[:] = number
    for batch in range(6):
        stream = streams[batch % 3]
        stream.copy(device_buffer, batch_data[batch])
        stream.submit(compute, device_buffer, seconds=1e-5)
        stream.copy(batch_result[batch], device_buffer)
    context.synchronize()
