"""MUST GET: AccessRefused, 'let device 1 do so'. §4.8: enables (gpu0, gpu1), for gpu1 to read."""

import wia_lab.hal as wia


def compute(tensor):
    tensor[:] += 1


def run():
    """GPU 1 is to use GPU 0's tensor; GPU 0 was let reach GPU 1."""
    gpu0, gpu1 = (wia.Context(device) for device in wia.open_machine("2xH100-nvlink"))
    if gpu0.device.can_access_peer(gpu1.device):
        gpu0.enable_peer_access(gpu1)
        tensor = gpu0.allocate(64, name="tensor")
        gpu1.create_stream().submit(compute, tensor, seconds=1e-6)
