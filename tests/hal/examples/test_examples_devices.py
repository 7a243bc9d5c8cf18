"""§3.2 and §3.3 of the documents, put right: devices, what they can do, contexts."""

from __future__ import annotations

import time

import numpy as np
import pytest

import wia_lab.hal as wia
from wia_lab.hal import MemoryKind


class TestFindingDevices:
    """§3.2: count the devices and print what each is."""

    def test_listing(self, on_hardware: bool) -> None:
        """One table from the data sheets: name, units, memory, both rates."""
        if on_hardware:
            real = info(wia.open_machine("hardware")[0])
            assert (real.vendor, real.type.value) == ("NVIDIA", "gpu")
            assert str(real).startswith(f"{real.name} (NVIDIA gpu): {real.compute_units} compute")
            return
        machine = wia.open_machine("T4+2xH100")
        found = [(i.name, i.vendor, i.type.value, i.compute_units) for i in map(info, machine)]
        assert len(machine) == 3
        assert found == [("T4", "NVIDIA", "gpu", 40), *[("H100", "NVIDIA", "gpu", 132)] * 2]
        assert [info(device).memory_size >> 20 for device in machine] == [16384, 81920, 81920]
        assert str(info(machine[0])) == (
            "T4 (NVIDIA gpu): 40 compute units, 17 GB, 320 GB/s and 8.1 TFLOP/s in theory"
        )


def info(device: wia.Device) -> wia.DeviceInfo:
    """`wia_get_device_info`."""
    return device.info


class TestCapabilities:
    """§3.2.1: adapt to what a device can do, rather than take all to be alike."""

    @pytest.mark.parametrize(("name", "bfloat16"), [("V100", False), ("T4", False), ("A100", True)])
    def test_types(self, name: str, bfloat16: bool, on_hardware: bool) -> None:
        """Half precision and 8-bit products since long, bfloat16 from compute capability 8.0."""
        device = wia.open_machine(name)[0]
        capabilities = device.capabilities
        assert capabilities.supports_float16
        assert capabilities.supports_int8
        if on_hardware:
            bfloat16 = device.info.compute_capability >= (8, 0)
        assert capabilities.supports_bfloat16 is bfloat16

    def test_a_tensor_where_it_can_be(self) -> None:
        """Unified where there is unified memory; else in device memory, with a transfer."""
        with wia.Context(wia.open_machine("A100")[0]) as context:
            can = context.device.capabilities.supports_unified_memory
            kind = MemoryKind.UNIFIED if can else MemoryKind.DEVICE
            values = np.arange(6, dtype=np.float32)
            with wia.from_numpy(context, values, memory=kind) as tensor:
                assert tensor.memory is MemoryKind.UNIFIED
                np.testing.assert_array_equal(tensor.numpy(), values)

    def test_a_tensor_from_device_to_device(self, on_hardware: bool) -> None:
        """Support is a matter of pairs: devices 0 and 1 share a socket, 0 and 3 do not."""
        machine = wia.open_machine("2xT4" if on_hardware else "4xT4-pcie-2numa")
        assert on_hardware or machine[0].capabilities.supports_peer_to_peer == (1,)
        source, target = wia.Context(machine[1 if on_hardware else 3]), wia.Context(machine[0])
        values = np.arange(8, dtype=np.int32)
        tensor = wia.from_numpy(source, values)
        copied = wia.empty(target, 8, np.int32)
        stream = target.create_stream()
        stream.wait(wia.default_stream(source))
        stream.copy(copied.buffer, tensor.buffer)  # goes through the host, as there is no access
        np.testing.assert_array_equal(copied.numpy(stream=stream), values)


def create_context_for_device(device: wia.Device) -> wia.Context:
    """§3.3's function: a pool of 1 GiB, four streams, exclusive, 30 seconds."""
    config = wia.ContextConfig(memory_pool_size="1GiB", max_streams=4, exclusive=True, timeout=30.0)
    return wia.Context(device, config)


def double(data: np.ndarray) -> None:
    """An operation."""
    data.view(np.int32)[:] *= 2


class TestContexts:
    """§3.3: two contexts, each with its own device, limits and work."""

    def test_two_at_once(self) -> None:
        """Each computes on its own; `with` gives everything back, whatever happens between."""
        machine = wia.open_machine("2xA100")
        free = [device.memory.statistics.free_bytes for device in machine]
        with create_context_for_device(machine[0]) as one:
            with create_context_for_device(machine[1]) as other:
                results = []
                for context, value in ((one, 3), (other, 5)):
                    tensor = wia.from_numpy(context, np.full(4, value, np.int32))
                    stream = wia.default_stream(context)
                    stream.submit(double, tensor.buffer, seconds=1e-6)
                    results.append(tensor)
                assert [tensor.numpy().tolist() for tensor in results] == [[6] * 4, [10] * 4]
        assert [device.memory.statistics.free_bytes for device in machine] == free
        assert [device.contexts for device in machine] == [[], []]

    def test_limits(self, on_hardware: bool) -> None:
        """The pool is the limit; a fifth stream is refused; waits end after 30 seconds."""
        with create_context_for_device(wia.open_machine("A100")[0]) as context:
            with pytest.raises(wia.OutOfMemory, match="1,073,741,825 bytes asked"):
                context.allocate((1 << 30) + 1)
            streams = [context.create_stream() for _ in range(4)]
            with pytest.raises(wia.InvalidValue, match="close one, or raise max_streams"):
                context.create_stream()
            if on_hardware:
                return  # where a wait of 30 seconds takes as long
            streams[0].submit(lambda: None, seconds=31.0)
            with pytest.raises(wia.TimedOut, match=r"within 30\.0 s"):
                streams[0].synchronize()

    def test_a_limit_that_is_set_later(self, on_hardware: bool) -> None:
        """`wia_context_set_memory_limit` and `_timeout`, here with 2 MiB and half a second."""
        with wia.Context(wia.open_machine("A100")[0]) as context:
            context.memory_limit, context.timeout = "2MiB", 0.5
            context.allocate("1.5MiB")
            with pytest.raises(wia.OutOfMemory, match="1,048,576 bytes asked"):
                context.allocate("1MiB")
            assert context.memory_in_use == 3 << 19
            stream = context.create_stream()
            stream.submit(lambda: time.sleep(1.0 * on_hardware), seconds=1.0)
            with pytest.raises(wia.TimedOut):
                stream.synchronize()

    def test_a_context_that_cannot_be(self) -> None:
        """Where the C returns NULL, this raises, and the device is as before."""
        device = wia.open_machine("T4")[0]
        with pytest.raises(wia.OutOfMemory):
            wia.Context(device, wia.ContextConfig(memory_pool_size="1TiB"))
        assert device.contexts == []
