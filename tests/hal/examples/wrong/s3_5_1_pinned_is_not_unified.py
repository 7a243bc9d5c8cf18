"""MUST GET: AccessRefused, 'which kernels cannot reach'. §3.5.1: computes on the staging buffer."""

import wia_lab.hal as wia


def compute(data):
    data[:] += 1


def run():
    """Pinned memory is for copies."""
    context = wia.Context(wia.open_machine("1xA100")[0])
    pinned_mem = context.allocate(64, wia.MemoryKind.PINNED, name="pinned_mem")
    context.create_stream().submit(compute, pinned_mem, seconds=1e-6)
