"""MUST GET: race, 'the host'. §4.3 in a loop: initialises the next round too soon."""

import wia_lab.hal as wia


def compute(data, result):
    result[:] = data


def run():
    """The first round's kernel may see the second round's data."""
    context = wia.Context(wia.open_machine("1xA100")[0])
    data = context.allocate(64, wia.MemoryKind.UNIFIED, name="data")
    result, stream = context.allocate(64), context.create_stream()
    for value in range(2):
        data.host(access="write")[:] = value
        stream.submit(compute, data, result, seconds=1e-3, reads=[data], writes=[result])
