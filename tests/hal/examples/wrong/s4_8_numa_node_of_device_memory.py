"""MUST GET: InvalidValue, 'only host and pinned memory'. §4.8: places a tensor so."""

import wia_lab.hal as wia


def run():
    """`wia_create_tensor_numa(device, shape, numa_node)`."""
    device = wia.open_machine("2xA100-pcie-2numa")[1]
    wia.Context(device).allocate(64, numa_node=device.numa_node)
