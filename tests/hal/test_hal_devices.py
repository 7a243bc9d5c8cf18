"""Machines, devices, contexts and errors of the HAL, on virtual machines."""

from __future__ import annotations

import os
import pickle
import subprocess
from types import ModuleType

import pytest

import wia_lab.hal as wia
from wia_lab import errors, machines

GIB = 1 << 30


@pytest.fixture
def machine() -> wia.Machine:
    """Two H100s with NVLink."""
    return wia.open_machine("2xH100-nvlink")


class TestDevices:
    """Enumeration and what a device says of itself."""

    def test_enumeration(self, on_hardware: bool) -> None:
        """As many as the name says, or as nvidia-smi lists, with their names."""
        name, names = "2xH100-nvlink", ["H100", "H100"]
        if on_hardware:
            query = ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]
            listed = subprocess.run(query, capture_output=True, text=True, check=True).stdout
            name, names = "hardware", listed.splitlines()
        machine = wia.open_machine(name)
        assert len(machine) == len(names)
        assert [device.number for device in machine] == list(range(len(names)))
        assert [device.info.name for device in machine] == names
        assert machine.is_virtual is not on_hardware
        last = len(names) - 1
        assert repr(machine[last]) == f"<device {last} of {name}: {names[last]}>"

    def test_info_is_the_data_sheet(self, machine: wia.Machine, on_hardware: bool) -> None:
        """A real device's sheet is the driver's: the catalogue's part within a tenth."""
        info = machine[0].info
        name = info.name.removeprefix("NVIDIA ") if on_hardware else "H100"
        sheet, rel = machines.device(name), 0.1 if on_hardware else 1e-12
        assert info.compute_units == sheet.multiprocessors
        assert info.memory_size == pytest.approx(sheet.memory, rel=rel)
        assert info.memory_bandwidth == pytest.approx(sheet.memory_bandwidth, rel=rel)
        assert info.peak_flops == pytest.approx(sheet.float32_rate, rel=rel)
        assert (info.vendor, info.type) == ("NVIDIA", wia.DeviceType.GPU)
        assert info.is_virtual is not on_hardware
        assert str(info).endswith("TFLOP/s in theory")

    @pytest.mark.parametrize(
        ("name", "bfloat16", "peers"),
        [("2xH100-nvlink", True, (1,)), ("1xT4", False, ()), ("2xT4-pcie-2numa", False, ())],
    )
    def test_capabilities(
        self, name: str, bfloat16: bool, peers: tuple[int, ...], on_hardware: bool
    ) -> None:
        """The T4 (7.5) has fp16 and dp4a, and no bfloat16 arithmetic, as CUDA's tables say."""
        found = wia.open_machine(name)[0].capabilities
        assert (found.supports_float16, found.supports_int8) == (True, True)
        assert found.supports_unified_memory
        if on_hardware:
            return  # which the name does not choose
        assert found.supports_bfloat16 is bfloat16
        assert found.supports_peer_to_peer == peers

    def test_sockets(self) -> None:
        spread = wia.open_machine("4xT4-pcie-2numa")
        assert [device.numa_node for device in spread] == [0, 0, 1, 1]
        assert spread[0].can_access_peer(spread[1])
        assert not spread[1].can_access_peer(spread[2])
        assert not spread[0].can_access_peer(spread[0])

    @pytest.mark.parametrize("number", [2, -1, "0", 1.0])
    def test_unknown(self, machine: wia.Machine, number: object) -> None:
        with pytest.raises(wia.UnknownDevice, match="it has 0 to 1"):
            machine[number]  # type: ignore[index]

    def test_another_machine(self, machine: wia.Machine) -> None:
        with pytest.raises(wia.ForeignHandle, match="another machine"):
            machine[0].can_access_peer(wia.open_machine("1xT4")[0])


class TestContexts:
    """Explicit, side by side, with limits that hold."""

    def test_two_side_by_side(self, machine: wia.Machine) -> None:
        with wia.Context(machine[0]) as one, wia.Context(machine[0]) as two:
            one.allocate("1MiB")
            assert (one.memory_in_use, two.memory_in_use) == (1 << 20, 0)
            assert machine[0].contexts == [one, two]
        assert machine[0].contexts == []
        assert machine[0].memory.statistics.live_bytes == 0

    def test_exclusive(self, machine: wia.Machine) -> None:
        alone = wia.ContextConfig(exclusive=True)
        with wia.Context(machine[0], alone):
            with pytest.raises(wia.DeviceBusy, match="has it for itself"):
                wia.Context(machine[0])
            wia.Context(machine[1]).close()
        with wia.Context(machine[0]), pytest.raises(wia.DeviceBusy, match="is open on it"):
            wia.Context(machine[0], alone)

    def test_memory_limit(self, machine: wia.Machine) -> None:
        context = wia.Context(machine[0], wia.ContextConfig(memory_limit="1MiB"))
        held = context.allocate("768KiB", name="weights")
        with pytest.raises(wia.OutOfMemory) as caught:
            context.allocate("512KiB")
        message = str(caught.value)
        assert "524,288 bytes asked" in message
        assert "786,432 bytes in use" in message
        assert "weights (768.0 KiB)" in message
        assert caught.value.requested == 1 << 19
        assert [holder[1:] for holder in caught.value.holders] == [(768 << 10, "weights")]
        context.memory_limit = "2MiB"
        context.allocate("512KiB").close()
        held.close()
        assert context.memory_in_use == 0

    def test_pool_is_reserved_at_once(self, machine: wia.Machine) -> None:
        config = wia.ContextConfig(memory_pool_size="1GiB")
        with wia.Context(machine[0], config) as context:
            assert machine[0].memory.statistics.live_bytes == GIB
            context.allocate("1MiB")
            assert machine[0].memory.statistics.live_bytes == GIB
            with pytest.raises(wia.OutOfMemory, match="1 GiB|1,073,741,825"):
                context.allocate(GIB + 1)
        assert machine[0].memory.statistics.live_bytes == 0

    def test_more_than_the_device_has(self, machine: wia.Machine) -> None:
        size = machine[0].info.memory_size + 1
        with pytest.raises(wia.OutOfMemory):
            wia.Context(machine[0], wia.ContextConfig(memory_pool_size=size))
        assert machine[0].contexts == []

    def test_streams_are_limited(self, machine: wia.Machine) -> None:
        context = wia.Context(machine[0], wia.ContextConfig(max_streams=2))
        first, _ = context.create_stream(), context.create_stream()
        with pytest.raises(wia.InvalidValue, match="2 open streams, its most"):
            context.create_stream()
        first.close()
        context.create_stream()

    @pytest.mark.parametrize("config", [{"max_streams": 0}, {"timeout": 0.0}, {"timeout": -1.0}])
    def test_options_that_cannot_be(self, config: dict[str, object]) -> None:
        with pytest.raises(wia.InvalidValue):
            wia.ContextConfig(**config)  # type: ignore[arg-type]

    def test_used_after_close(self, machine: wia.Machine) -> None:
        context = wia.Context(machine[0])
        stream = context.create_stream()
        context.close()
        context.close()
        for use in (
            lambda: context.allocate(1),
            context.create_stream,
            context.create_event,
            stream.synchronize,
        ):
            with pytest.raises(wia.Closed, match="was used"):
                use()

    def test_used_in_another_process(self, machine: wia.Machine, monkeypatch) -> None:  # type: ignore[no-untyped-def]
        context = wia.Context(machine[0])
        other = os.getpid() + 1
        monkeypatch.setattr(os, "getpid", lambda: other)
        with pytest.raises(wia.Closed, match="make one in each process"):
            context.allocate(1)


class TestErrors:
    """Codes, sentences, and where."""

    def test_each_code_has_words_of_its_own(self) -> None:
        assert len({code.text for code in wia.ErrorCode}) == len(wia.ErrorCode)
        assert wia.ErrorCode.SUCCESS == 0

    def test_details_name_the_caller(self) -> None:
        machine = wia.open_machine("1xH100")
        with pytest.raises(wia.HalError) as caught:
            machine[9]
        details = caught.value.details
        line = TestErrors.test_details_name_the_caller.__code__.co_firstlineno + 3
        assert (details.file, details.line) == (__file__, line)
        assert details.function == "test_details_name_the_caller"
        assert details.code is wia.ErrorCode.INVALID_DEVICE
        assert details.message == str(caught.value)

    @pytest.mark.parametrize(
        ("kind", "bases"),
        [
            (wia.OutOfMemory, (errors.OutOfMemoryError, MemoryError)),
            (wia.TimedOut, (TimeoutError,)),
            (wia.InvalidValue, (ValueError,)),
            (wia.UnknownDevice, (IndexError,)),
        ],
    )
    def test_the_built_in_class_catches_it_too(
        self, kind: type[wia.HalError], bases: tuple[type, ...]
    ) -> None:
        assert issubclass(kind, (wia.HalError, errors.WiaLabError))
        assert all(issubclass(kind, base) for base in bases)

    def test_every_code_but_success_has_one_class(self) -> None:
        codes = [kind.code for kind in wia.HalError.__subclasses__()]
        assert sorted(codes) == sorted(set(wia.ErrorCode) - {wia.ErrorCode.SUCCESS})

    def test_configurations_can_be_pickled(self) -> None:
        config = wia.ContextConfig(memory_limit="1GiB")
        assert pickle.loads(pickle.dumps(config)) == config  # noqa: S301 - our own bytes


def test_all_is_what_is_exported() -> None:
    """Every public name but the modules', and no other."""
    public = {name for name in vars(wia) if not name.startswith("_")}
    modules = {name for name in public if isinstance(getattr(wia, name), ModuleType)}
    assert set(wia.__all__) == public - modules
    assert len(wia.__all__) == len(set(wia.__all__))
