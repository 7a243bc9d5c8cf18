"""§4.8 of the documents, put right: access in the right direction, memory near the right socket."""

from __future__ import annotations

import numpy as np
import pytest

import wia_lab.hal as wia
from wia_lab.hal import MemoryKind


def compute(tensor: np.ndarray) -> None:
    """A kernel: one more."""
    tensor.view(np.int32)[:] += 1


def on_gpu1(specification: str) -> tuple[list[int], bool]:
    """The document's example: what GPU 1 makes of GPU 0's tensor, and whether it was copied."""
    gpu0, gpu1 = (wia.Context(device) for device in wia.open_machine(specification))
    tensor = wia.from_numpy(gpu0, np.arange(8, dtype=np.int32)).buffer
    stream = gpu1.create_stream()
    stream.wait(wia.default_stream(gpu0))
    copied = not gpu1.device.can_access_peer(gpu0.device)  # GPU 1 reads, so GPU 1 is asked
    if copied:
        local = gpu1.allocate(tensor.nbytes)
        stream.copy(local, tensor)
        tensor = local
    else:
        gpu1.enable_peer_access(gpu0)
    stream.submit(compute, tensor, seconds=1e-6)
    result = gpu1.allocate(tensor.nbytes, MemoryKind.PINNED)
    stream.copy(result, tensor)
    stream.synchronize()
    assert gpu0.peers == set()
    return result.host(np.int32, "read").tolist(), copied


@pytest.mark.parametrize(
    ("specification", "copied"),
    [("2xH100-nvlink", False), ("2xT4-pcie", False), ("2xT4-pcie-2numa", True)],
)
def test_enable_peer_access_example(specification: str, copied: bool, on_hardware: bool) -> None:
    """In place where there is a way, else copied; the values are the same."""
    values, was_copied = on_gpu1(specification)
    assert values == list(range(1, 9))
    assert on_hardware or was_copied == copied


@pytest.mark.parametrize("preferred", range(4))
def test_alloc_numa_aware(preferred: int, on_hardware: bool) -> None:
    """The staging memory lies near the device; a copy crosses no socket, and takes 3/4 the time."""
    device = wia.open_machine("4xV100-pcie-2numa")[preferred]
    size, seconds = 32 << 20, {}
    with wia.Context(device) as context, context.create_stream() as stream:
        data = context.allocate(size)
        for node in (device.numa_node,) if on_hardware else (preferred // 2, 1 - preferred // 2):
            staging = context.allocate(size, MemoryKind.PINNED, numa_node=node)
            assert staging.numa_node == node
            staging.host()[:] = node + 1
            begin = stream.record()
            stream.copy(data, staging)
            end = stream.record()
            stream.synchronize()
            seconds[node] = end.seconds_since(begin)
            back = context.allocate(size, MemoryKind.HOST)
            stream.copy(back, data)
            stream.synchronize()
            assert set(back.host(access="read")) == {node + 1}
    if not on_hardware:
        near, far = seconds[preferred // 2], seconds[1 - preferred // 2]
        assert near / far == pytest.approx(0.75, rel=0.01)


def test_create_tensor_numa() -> None:
    """A tensor near a socket lies in host memory; device memory has no socket to choose."""
    device = wia.open_machine("2xA100-pcie-2numa")[1]
    values = np.arange(6, dtype=np.float32)
    with wia.Context(device) as context:
        tensor = wia.from_numpy(
            context, values, memory=MemoryKind.PINNED, numa_node=device.numa_node
        )
        assert tensor.buffer.numa_node == device.numa_node
        np.testing.assert_array_equal(tensor.numpy(), values)
        with pytest.raises(wia.InvalidValue, match="only host and pinned memory"):
            wia.empty(context, 6, numa_node=device.numa_node)
