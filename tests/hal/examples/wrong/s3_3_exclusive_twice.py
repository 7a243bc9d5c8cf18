"""MUST GET: DeviceBusy, 'has it for itself'. §3.3: two exclusive contexts, here on one device."""

import wia_lab.hal as wia


def create_context_for_device(device):
    """As the document configures it."""
    config = wia.ContextConfig(
        memory_pool_size="1GiB", max_streams=4, exclusive=True, memory_limit="2GiB", timeout=30.0
    )
    return wia.Context(device, config)


def run():
    """Two contexts that "work independently"."""
    device = wia.open_machine("1xA100")[0]
    create_context_for_device(device)
    create_context_for_device(device)
