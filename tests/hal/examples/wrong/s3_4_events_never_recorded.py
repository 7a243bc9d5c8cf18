"""MUST GET: NotReady, 'never recorded'. §3.4: waits for events that nobody records."""

import wia_lab.hal as wia


def kernel(data):
    data[:] += 1


def run():
    """Three streams: transfer, compute, post-processing."""
    context = wia.Context(wia.open_machine("1xA100")[0])
    transfer_stream, compute_stream = context.create_stream(), context.create_stream()
    host_data = context.allocate(64, wia.MemoryKind.PINNED)
    host_data.host()[:] = 1
    device_data = context.allocate(64)
    transfer_complete = context.create_event("transfer_complete")
    transfer_stream.copy(device_data, host_data)
    compute_stream.wait(transfer_complete)  # who records it?
    compute_stream.submit(kernel, device_data, seconds=1e-6)
