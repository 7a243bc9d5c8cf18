"""MUST GET: race, 'merge'. §3.4.1: without the wait for stream_b, B is merged while computed."""

import wia_lab.hal as wia


def compute(data, result):
    result[:] = data + 1


def merge(a, b, final):
    final[:] = a + b


def run():
    """The wait for `compute_done` does not cover B."""
    context = wia.Context(wia.open_machine("1xA100")[0])
    stream_a, stream_b, stream_merge = (context.create_stream() for _ in range(3))
    device_a, device_b = context.allocate(64), context.allocate(64)
    result_a, result_b = context.allocate(64), context.allocate(64, name="result_b")
    final = context.allocate(64)
    stream_a.submit(compute, device_a, result_a, seconds=1e-6, reads=[device_a], writes=[result_a])
    compute_done = stream_a.record()
    stream_b.submit(compute, device_b, result_b, seconds=1e-3, reads=[device_b], writes=[result_b])
    stream_merge.wait(compute_done)
    stream_merge.submit(merge, result_a, result_b, final, seconds=1e-6)
    stream_merge.synchronize()
