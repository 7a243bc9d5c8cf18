"""MUST GET: wrong-value. §3.8: a fence put behind nothing is passed at once."""

import wia_lab.hal as wia


def compute(data):
    data[:] = 1


def run():
    """`wia_wait_fence` without `wia_submit_with_fence`: the work still runs."""
    context = wia.Context(wia.open_machine("1xA100")[0])
    stream, data = context.create_stream(), context.allocate(64)
    fence = wia.Fence(context)
    stream.submit(compute, data, seconds=1.0)
    fence.wait(wia.TIMEOUT_INFINITE)
    return stream.is_done, True
