"""MUST GET: Closed, 'used after it was freed'. §3.5.1: the handles live on after `wia_free`."""

import wia_lab.hal as wia


def run():
    """Four kinds of memory, freed; then one of them is copied."""
    context = wia.Context(wia.open_machine("1xA100")[0])
    device_mem = context.allocate(64, name="device_mem")
    pinned_mem = context.allocate(64, wia.MemoryKind.PINNED)
    context.free(device_mem)
    context.create_stream().copy(pinned_mem, device_mem)
