"""Errors that a program gets over, and those that it is told the whole of."""

from __future__ import annotations

import pytest

import wia_lab.hal as wia
from wia_lab.hal import MemoryKind

MIB = 1 << 20


@pytest.fixture
def context() -> wia.Context:
    """On an A100, with a limit of 4 MiB and a timeout of one second."""
    config = wia.ContextConfig(memory_limit=4 * MIB, timeout=1.0)
    return wia.Context(wia.open_machine("1xA100")[0], config)


class TestMemory:
    """Out of memory, collect, try again, with an end."""

    def test_what_nobody_refers_to_is_freed(self, context: wia.Context) -> None:
        kept = context.allocate(MIB)
        context.allocate(3 * MIB)  # dropped at once
        assert context.memory_in_use == 4 * MIB
        assert context.collect() == 3 * MIB
        assert context.buffers == [kept]
        assert context.collect() == 0

    def test_retry_succeeds(self, context: wia.Context) -> None:
        context.allocate(3 * MIB)
        calls = []

        def submit() -> wia.Buffer:
            calls.append(1)
            return context.allocate(2 * MIB)

        assert wia.run_safely(submit, context).nbytes == 2 * MIB
        assert len(calls) == 2

    def test_retries_end(self, context: wia.Context) -> None:
        held, calls = context.allocate(3 * MIB, name="held"), []

        def submit() -> wia.Buffer:
            calls.append(1)
            return context.allocate(2 * MIB)

        with pytest.raises(wia.OutOfMemory, match=r"held \(3.0 MiB\)"):
            wia.run_safely(submit, context, attempts=3)
        assert len(calls) == 3
        held.close()
        context.allocate(2 * MIB).close()

    def test_no_attempt(self, context: wia.Context) -> None:
        with pytest.raises(wia.InvalidValue, match="attempts is 0"):
            wia.run_safely(lambda: None, context, attempts=0)


class TestTime:
    """Wait longer for the same work, up to a cap."""

    @pytest.mark.virtual("times of the simulated clock")
    def test_waits_longer_and_submits_once(self, context: wia.Context) -> None:
        stream, done = context.create_stream(), []
        wia.run_safely(lambda: stream.submit(lambda: done.append(1), seconds=5.0), context)
        assert done == [1]
        assert context.backend.now() == pytest.approx(5.0, abs=1e-3)

    @pytest.mark.virtual("times of the simulated clock")
    def test_capped(self, context: wia.Context) -> None:
        """Waits of 1, 2 and 3 seconds, and no more."""
        stream = context.create_stream()
        with pytest.raises(wia.TimedOut, match="within 3.0 s"):
            wia.run_safely(lambda: stream.submit(lambda: None, seconds=50.0), context, longest=3.0)
        assert context.backend.now() == pytest.approx(6.0, abs=1e-3)


class TestLoss:
    """A lost device says so to everybody, until it is reset."""

    @pytest.mark.virtual("faults that are injected")
    def test_fault_reaches_the_wait_and_work_is_not_done(self, context: wia.Context) -> None:
        stream, done = context.create_stream(), []
        context.device.machine.inject(0, ValueError("parity"), matches=lambda name: name == "bad")
        stream.submit(lambda: done.append("bad"), seconds=1e-6, name="bad")
        stream.submit(lambda: done.append("good"), seconds=1e-6, name="good")
        with pytest.raises(ValueError, match="parity"):
            stream.synchronize()
        assert done == ["good"]

    @pytest.mark.virtual("faults that are injected")
    def test_named_and_reset(self, context: wia.Context) -> None:
        device, stream = context.device, context.create_stream()
        weights = context.allocate(MIB, name="weights")
        host = context.allocate(64, MemoryKind.PINNED, name="host side")
        device.machine.inject(0, wia.DeviceLost("fell off the bus"))
        with pytest.raises(wia.DeviceLost, match="fell off the bus.* are lost: weights$"):
            wia.run_safely(lambda: stream.submit(lambda: None, seconds=1e-6), context)
        for use in (weights.span, host.host, stream.synchronize, context.collect):
            with pytest.raises(wia.Closed):
                use()
        assert (device.lost, device.contexts) == (None, [])
        with wia.Context(device) as again:
            again.allocate(device.info.memory_size // 2**20)
            again.create_stream().submit(lambda: None, seconds=1e-6)
            again.synchronize()

    def test_a_well_device_can_be_reset(self, context: wia.Context) -> None:
        """Its contexts are closed, what lay on it is named, and it works on."""
        device, stream = context.device, context.create_stream()
        weights = context.allocate(MIB, name="weights")
        context.allocate(64, MemoryKind.PINNED, name="host side")
        assert device.reset() == ["weights"]
        for use in (weights.span, stream.synchronize, context.collect):
            with pytest.raises(wia.Closed):
                use()
        with wia.Context(device) as again:
            tensor = wia.zeros(again, 64)
            assert set(tensor.numpy()) == {0}

    @pytest.mark.virtual("faults that are injected")
    def test_until_the_reset_every_use_says_so(self, context: wia.Context) -> None:
        stream = context.create_stream()
        context.device.machine.inject(0, wia.DeviceLost("fell off the bus"))
        stream.submit(lambda: None, seconds=1e-6)
        with pytest.raises(wia.DeviceLost, match="fell off the bus"):
            stream.synchronize()
        for use in (lambda: context.allocate(1), stream.record, context.create_stream):
            with pytest.raises(wia.DeviceLost, match=r"call device.reset\(\)"):
                use()
        assert context.device.reset() == []

    @pytest.mark.virtual("faults that are injected")
    def test_a_context_of_a_lost_device_can_be_closed(self) -> None:
        device = wia.open_machine("1xT4")[0]
        device.machine.inject(0, wia.DeviceLost("gone"))
        with wia.Context(device) as context:
            stream = context.create_stream()
            stream.submit(lambda: None, seconds=1e-6)
            with pytest.raises(wia.DeviceLost):
                context.synchronize()
        assert device.contexts == []

    @pytest.mark.virtual("faults that are injected")
    def test_other_devices_go_on(self) -> None:
        machine = wia.open_machine("2xT4")
        one, two = (wia.Context(device) for device in machine)
        machine.inject(0, wia.DeviceLost("gone"))
        first, second = one.create_stream(), two.create_stream()
        first.submit(lambda: None, seconds=1e-6)
        second.submit(lambda: None, seconds=1e-6)
        second.synchronize()
        with pytest.raises(wia.DeviceLost):
            first.synchronize()
        two.allocate(64)

    def test_never(self, context: wia.Context) -> None:
        with pytest.raises(wia.InvalidValue, match="0 times"):
            context.device.machine.inject(0, ValueError(), times=0)
