"""MUST GET: AccessRefused, 'which kernels on device 0 cannot reach'. §3.2.1: some peer."""

import wia_lab.hal as wia


def compute(tensor):
    tensor[:] = 1


def run():
    """`if (caps.supports_peer_to_peer)`, and then any two devices."""
    contexts = [wia.Context(device) for device in wia.open_machine("4xT4-pcie-2numa")]
    source, destination = contexts[3], contexts[0]
    tensor = source.allocate(64, name="tensor")
    if destination.device.capabilities.supports_peer_to_peer:  # with device 1, not with 3
        destination.create_stream().submit(compute, tensor, seconds=1e-6)
