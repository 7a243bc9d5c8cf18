"""MUST GET: race, 'compute'. §3.5.2: a free that says nothing of the stream that still computes."""

import wia_lab.hal as wia


def compute(data):
    data[:] += 1


def run():
    """Allocated for one stream, used in another; its memory goes to the next one too early."""
    context = wia.Context(wia.open_machine("1xA100")[0])
    one, two = context.create_stream(), context.create_stream()
    with wia.MemoryPool(context, wia.PoolConfig(initial_size="1MiB")) as pool:
        for stream in (two, one):
            mem = pool.allocate(64, stream=one)
            stream.submit(compute, mem, seconds=1e-3)
            mem.close()
