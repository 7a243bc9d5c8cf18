"""MUST GET: OutOfMemory, 'bytes asked of'. §3.5.2: the loop takes what it gets, and never looks."""

import wia_lab.hal as wia


def run():
    """Three times 1 GiB are in use, and the pool may have 2."""
    context = wia.Context(wia.open_machine("1xA100")[0])
    pool = wia.MemoryPool(context, wia.PoolConfig(max_size="2GiB"))
    return [pool.allocate("1GiB") for _ in range(3)]
