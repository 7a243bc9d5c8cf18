"""MUST GET: race, 'kernel'. §3.4: what C does with an event that was never recorded: nothing."""

import wia_lab.hal as wia


def kernel(data):
    data[:] += 1


def run():
    """The same pipeline, in which no wait holds."""
    context = wia.Context(wia.open_machine("1xA100")[0])
    transfer_stream, compute_stream = context.create_stream(), context.create_stream()
    host_data = context.allocate(64, wia.MemoryKind.PINNED)
    host_data.host()[:] = 1
    device_data = context.allocate(64)
    transfer_stream.copy(device_data, host_data)
    compute_stream.submit(kernel, device_data, seconds=1e-6)
    compute_stream.synchronize()
