"""MUST GET: race, 'tensor_gpu1'. §4.8: copies, and computes elsewhere without waiting."""

import wia_lab.hal as wia


def compute(tensor):
    tensor[:] += 1


def run():
    """`wia_copy_peer`, then `wia_compute_on_device`: two devices, two streams."""
    gpu0, gpu1 = (wia.Context(device) for device in wia.open_machine("2xT4-pcie-2numa"))
    tensor_gpu0 = gpu0.allocate(64)
    tensor_gpu1 = gpu1.allocate(64, name="tensor_gpu1")
    gpu0.create_stream().copy(tensor_gpu1, tensor_gpu0)
    stream = gpu1.create_stream()
    stream.submit(compute, tensor_gpu1, seconds=1e-6)
    stream.synchronize()
