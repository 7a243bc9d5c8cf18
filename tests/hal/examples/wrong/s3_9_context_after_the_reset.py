"""MUST GET: Closed, 'make another with Context'. §3.9: the context did not survive the reset."""

import wia_lab.hal as wia


def compute(data):
    data[:] += 1


def run():
    """`wia_reset_device(ctx); return WIA_ERROR_DEVICE_LOST;`, and the caller goes on."""
    machine = wia.open_machine("1xA100")
    context = wia.Context(machine[0])
    stream, data = context.create_stream(), context.allocate(64)
    machine.inject(0, wia.DeviceLost("fell off the bus"))
    stream.submit(compute, data, seconds=1e-6)
    try:
        stream.synchronize()
    except wia.DeviceLost:
        context.device.reset()
    context.allocate(64)
