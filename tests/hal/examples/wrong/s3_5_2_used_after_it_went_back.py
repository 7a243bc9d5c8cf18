"""MUST GET: Closed, 'used after it was freed'. §3.5.2: the handle lives on in the program."""

import wia_lab.hal as wia


def compute(data):
    data[:] += 1


def run():
    """Given back to the pool, and computed on once more."""
    context = wia.Context(wia.open_machine("1xA100")[0])
    stream = context.create_stream()
    pool = wia.MemoryPool(context, wia.PoolConfig(initial_size="1MiB"))
    mem = pool.allocate(64, stream=stream, name="mem")
    mem.close()
    stream.submit(compute, mem, seconds=1e-6)
