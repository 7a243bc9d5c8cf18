"""MUST GET: OutOfMemory, 'largest hole'. §3.3: a limit of 2 GiB over a pool of 1 GiB."""

import wia_lab.hal as wia


def run():
    """The limit allows what the pool has not."""
    config = wia.ContextConfig(memory_pool_size="1GiB", memory_limit="2GiB")
    with wia.Context(wia.open_machine("1xA100")[0], config) as context:
        context.allocate("1.5GiB")
