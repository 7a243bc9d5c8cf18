"""MUST GET: NotReady, 'has not happened yet'. §4.4: stops the clock while the copy still runs."""

import wia_lab.hal as wia


def run():
    """A copy from pinned memory returns at once."""
    context = wia.Context(wia.open_machine("1xH200")[0])
    stream = context.create_stream()
    device_mem = context.allocate(1 << 24)
    pinned_host = context.allocate(1 << 24, wia.MemoryKind.PINNED)
    start = stream.record()
    stream.copy(device_mem, pinned_host)
    return stream.record().seconds_since(start)
