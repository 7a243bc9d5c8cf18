"""MUST GET: race, 'the host'. §4.3: reads data[0] right after the launch."""

import wia_lab.hal as wia


def compute(data):
    data[:] += 1


def run():
    """Unified memory moves pages; it does not wait for kernels."""
    context = wia.Context(wia.open_machine("1xA100")[0])
    data = context.allocate(64, wia.MemoryKind.UNIFIED, name="data")
    data.host(access="write")[:] = 1
    context.create_stream().submit(compute, data, seconds=1e-3)
    return data.host(access="read")[0], 2
