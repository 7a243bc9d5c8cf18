"""MUST GET: wrong-value. §3.4: names the source first."""

import wia_lab.hal as wia


def run():
    """What was to be sent is overwritten with what the device happens to hold."""
    with wia.Context(wia.open_machine("1xA100")[0]) as context:
        host_data, device_data = context.allocate(64, wia.MemoryKind.PINNED), context.allocate(64)
        host_data.host()[:] = 7
        stream = context.create_stream()
        stream.copy(host_data, device_data)
        stream.synchronize()
        return host_data.host()[0], 7
