"""Streams, events and memory kinds of the HAL, on virtual machines."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
import pytest

import wia_lab.hal as wia
from wia_lab import HazardError, hazards
from wia_lab.hal import MemoryKind

N = 1024
PCIE5, LATENCY = 63e9, 10e-6  # an H100's link to its host, as `wia_lab.machines` has it


def increment(data: np.ndarray) -> None:
    """A kernel: each 32-bit integer and 1."""
    data.view(np.int32)[:] += 1


def add(out: np.ndarray, a: np.ndarray) -> None:
    """Another: one more than `a`."""
    out.view(np.int32)[:] = a.view(np.int32) + 1


@pytest.fixture
def machine() -> wia.Machine:
    """Two H100s with NVLink."""
    return wia.open_machine("2xH100-nvlink")


@pytest.fixture
def context(machine: wia.Machine) -> Iterator[wia.Context]:
    """On device 0."""
    made = wia.Context(machine[0])
    yield made
    with hazards("off"):
        made.close()


def pinned(context: wia.Context, values: object) -> wia.Buffer:
    """A pinned buffer of 32-bit integers."""
    array = np.asarray(values, np.int32)
    buffer = context.allocate(array.nbytes, MemoryKind.PINNED, name="pinned")
    buffer.host(np.int32, "write")[:] = array
    return buffer


def values(buffer: wia.Buffer) -> list[int]:
    """What the host reads."""
    return buffer.host(np.int32, "read").tolist()  # type: ignore[no-any-return]


class TestKinds:
    """Each kind allows what its table says, and refuses the rest."""

    @pytest.mark.parametrize("kind", list(MemoryKind))
    def test_host(self, context: wia.Context, kind: MemoryKind) -> None:
        buffer = context.allocate(64, kind)
        if kind is MemoryKind.DEVICE:
            with pytest.raises(wia.AccessRefused, match="which the host cannot reach"):
                buffer.host()
        else:
            buffer.host(np.float32)[:] = 1.5
            assert buffer[4:8].host(np.float32).tolist() == [1.5]

    @pytest.mark.parametrize("kind", list(MemoryKind))
    def test_kernel(self, context: wia.Context, kind: MemoryKind) -> None:
        buffer, stream = context.allocate(64, kind), context.create_stream()
        if kind in (MemoryKind.HOST, MemoryKind.PINNED):
            with pytest.raises(wia.AccessRefused, match="which kernels cannot reach"):
                stream.submit(increment, buffer, seconds=1e-6)
        else:
            stream.submit(increment, buffer, seconds=1e-6)
            stream.synchronize()

    @pytest.mark.parametrize("kind", list(MemoryKind))
    @pytest.mark.parametrize("other", list(MemoryKind))
    def test_copies_in_every_direction(
        self, context: wia.Context, kind: MemoryKind, other: MemoryKind
    ) -> None:
        stream, first = context.create_stream(), pinned(context, range(16))
        a, b = context.allocate(64, kind), context.allocate(64, other)
        last = context.allocate(64, MemoryKind.PINNED)
        for target, source in ((a, first), (b, a), (last, b)):
            stream.copy(target, source)
        stream.synchronize()
        assert values(last) == list(range(16))

    @pytest.mark.virtual("poison in new memory")
    def test_new_memory_is_undefined(self, context: wia.Context) -> None:
        assert set(context.allocate(64, MemoryKind.PINNED).host()) == {0xFB}

    def test_device_memory_alone_counts(self, context: wia.Context) -> None:
        for kind in MemoryKind:
            context.allocate(1 << 20, kind)
        assert context.memory_in_use == 1 << 20

    def test_lifetime(self, context: wia.Context) -> None:
        with context.allocate(64, MemoryKind.HOST, name="scratch") as buffer:
            pass
        buffer.close()
        with pytest.raises(wia.Closed, match=r"scratch is used after it was freed on line \d+"):
            buffer.host()
        with pytest.raises(wia.Closed, match="scratch is freed twice, first on line"):
            context.free(buffer)

    def test_near_a_socket(self) -> None:
        """A copy from pinned memory of the device's own socket crosses no other."""
        device = wia.open_machine("4xT4-pcie-2numa")[3]
        seconds = []
        with wia.Context(device) as context, context.create_stream() as stream:
            data = context.allocate(64 << 20)
            for node in (None, 0, device.numa_node):
                host = context.allocate(64 << 20, MemoryKind.PINNED, numa_node=node)
                begin = stream.record()
                stream.copy(data, host)
                end = stream.record()
                stream.synchronize()
                seconds.append(end.seconds_since(begin))
            for node, kind in ((2, MemoryKind.PINNED), (0, MemoryKind.DEVICE)):
                with pytest.raises(wia.InvalidValue, match=f"numa_node={node}"):
                    context.allocate(64, kind, numa_node=node)
        assert seconds[:2] == pytest.approx([seconds[2] / 0.75] * 2, rel=0.01)

    @pytest.mark.parametrize("size", [0, -1, "0B"])
    def test_no_size(self, context: wia.Context, size: int | str) -> None:
        with pytest.raises(wia.InvalidValue, match="at least one byte"):
            context.allocate(size)

    def test_parts(self, context: wia.Context) -> None:
        buffer = pinned(context, range(16))
        assert buffer[8:16].host(np.int32).tolist() == [2, 3]
        for index in (slice(3, 3), slice(0, 9, 2), 5):
            with pytest.raises(wia.InvalidValue):
                buffer[index]  # type: ignore[index]
        with pytest.raises(wia.InvalidValue, match="multiples of 8"):
            buffer[4:12].host(np.float64)


class TestStreams:
    """Work in order, at its turn, at the links' speed."""

    def test_pipeline(self, context: wia.Context) -> None:
        """The sources' three streams: transfer, compute, back."""
        upload, compute, download = (context.create_stream() for _ in range(3))
        host, result = pinned(context, range(N)), pinned(context, [0] * N)
        data = context.allocate(4 * N)
        upload.copy(data, host)
        compute.wait(upload.record())
        compute.submit(increment, data, seconds=5e-6)
        download.wait(compute)
        download.copy(result, data)
        download.synchronize()
        assert values(result) == list(range(1, N + 1))

    @pytest.mark.virtual("times of the simulated clock")
    def test_times(self, context: wia.Context) -> None:
        stream = context.create_stream()
        host, data = context.allocate(1 << 20, MemoryKind.PINNED), context.allocate(1 << 20)
        begin = stream.record()
        stream.copy(data, host)
        copied = stream.record()
        stream.submit(increment, data, seconds=5e-3)
        end = stream.record()
        stream.synchronize()
        assert copied.seconds_since(begin) == pytest.approx(LATENCY + (1 << 20) / PCIE5, abs=2e-6)
        assert end.seconds_since(copied) == pytest.approx(5e-3, abs=2e-6)

    @pytest.mark.virtual("times of the simulated clock")
    def test_priority(self, context: wia.Context) -> None:
        """Of two that wait for the compute engine, the lower number goes first."""
        order: list[str] = []
        busy = context.create_stream()
        low = context.create_stream(wia.StreamOptions(priority=1, name="low"))
        high = context.create_stream(wia.StreamOptions(priority=-1, name="high"))
        busy.submit(lambda: order.append("busy"), seconds=1e-3)
        low.submit(lambda: order.append("low"), seconds=1e-3)
        high.submit(lambda: order.append("high"), seconds=1e-3)
        context.synchronize()
        assert order == ["busy", "high", "low"]

    def test_timeout(self, context: wia.Context, on_hardware: bool) -> None:
        """The wait ends, the work goes on, and a longer wait sees it done."""
        stream, data = context.create_stream(), context.allocate(64)
        stream.submit(lambda _: time.sleep(2.0 * on_hardware), data, seconds=2.0)
        with pytest.raises(wia.TimedOut, match="within 0.5 s"):
            stream.synchronize(timeout=0.5)
        assert not stream.is_done
        context.timeout = 1.0
        with pytest.raises(TimeoutError):
            context.synchronize()
        stream.synchronize(timeout=60)
        assert stream.is_done

    def test_peer_copy_over_nvlink(
        self, machine: wia.Machine, context: wia.Context, on_hardware: bool
    ) -> None:
        """NVLink carries 450 GB/s one way; without access, a copy takes PCIe 5's 63 GB/s."""
        with wia.Context(machine[1]) as other:
            stream, size = context.create_stream(), 90 << 20
            here, there = context.allocate(size), other.allocate(size)

            def seconds(target: wia.Buffer, source: wia.Buffer) -> float:
                begin = stream.record()
                stream.copy(target, source)
                end = stream.record()
                stream.synchronize()
                return end.seconds_since(begin)

            staged = seconds(there, here)
            other.enable_peer_access(context)
            straight = seconds(there, here)
            back = seconds(here, there)
            if not on_hardware:
                assert staged == pytest.approx(size / 63e9, rel=0.1)
                assert straight == pytest.approx(size / 450e9, rel=0.1)
                assert back == pytest.approx(size / 450e9, rel=0.1)

    def test_peer_kernel_needs_access_in_its_own_direction(
        self, machine: wia.Machine, context: wia.Context
    ) -> None:
        with wia.Context(machine[1]) as other:
            theirs, stream = other.allocate(64, name="theirs"), context.create_stream()
            other.enable_peer_access(context)
            with pytest.raises(wia.AccessRefused, match="theirs is memory of device 1"):
                stream.submit(increment, theirs, seconds=0)
            context.enable_peer_access(other)
            stream.submit(increment, theirs, seconds=0)
            stream.synchronize()

    def test_peers_of_the_wrong_sort(self, machine: wia.Machine, context: wia.Context) -> None:
        """Access is between contexts, the question between devices; both say so."""
        with pytest.raises(wia.InvalidValue, match="give the context that holds the memory"):
            context.enable_peer_access(machine[1])  # type: ignore[arg-type]
        for other in (context, 1):
            with pytest.raises(wia.InvalidValue, match=r"give a device, as in context\.device"):
                machine[1].can_access_peer(other)  # type: ignore[arg-type]

    @pytest.mark.virtual("a device of another kind")
    def test_peer_access_that_cannot_be(self) -> None:
        machine = wia.open_machine("2xT4-pcie-2numa")
        one, two = (wia.Context(device) for device in machine)
        with pytest.raises(wia.AccessRefused, match="cannot reach memory of device 1"):
            one.enable_peer_access(two)

    def test_what_a_call_raises_reaches_the_wait(self, context: wia.Context) -> None:
        stream = context.create_stream()
        stream.submit(lambda: 1 / 0, seconds=0)
        with pytest.raises(ZeroDivisionError):
            stream.synchronize()
        stream.synchronize()

    def test_lengths_must_agree(self, context: wia.Context) -> None:
        a, b = context.allocate(64), context.allocate(128)
        with pytest.raises(wia.InvalidValue, match="128 bytes do not fit 64"):
            context.create_stream().copy(a, b)

    def test_closed(self, context: wia.Context) -> None:
        with context.create_stream() as stream:
            pass
        stream.close()
        with pytest.raises(wia.Closed, match="create_stream"):
            stream.synchronize()

    def test_foreign(self, context: wia.Context) -> None:
        elsewhere = wia.Context(wia.open_machine("1xT4")[0])
        with pytest.raises(wia.ForeignHandle):
            context.create_stream().copy(context.allocate(64), elsewhere.allocate(64))
        with pytest.raises(wia.ForeignHandle):
            context.create_stream().wait(elsewhere.create_stream().record())

    @pytest.mark.virtual("times of the simulated clock")
    def test_the_same_program_gives_the_same_times(self) -> None:
        def run() -> float:
            context = wia.Context(wia.open_machine("1xA100")[0])
            streams = [context.create_stream() for _ in range(3)]
            buffers = [context.allocate(1 << 16) for _ in range(3)]
            host = [context.allocate(1 << 16, MemoryKind.PINNED) for _ in range(3)]
            begin = streams[0].record()
            for turn in range(12):
                stream, data = streams[turn % 3], buffers[turn % 3]
                stream.copy(data, host[turn % 3])
                stream.submit(increment, data, seconds=(1 + turn % 5) * 1e-6)
            context.synchronize()
            end = streams[0].record()
            streams[0].synchronize()
            return end.seconds_since(begin)

        assert run() == run() > 0


class TestEvents:
    """Marks that say when."""

    def test_never_recorded(self, context: wia.Context) -> None:
        event, stream = context.create_event("done"), context.create_stream()
        for use in (lambda: stream.wait(event), event.synchronize, lambda: event.is_done):
            with pytest.raises(wia.NotReady, match="<done, never recorded> is"):
                use()

    @pytest.mark.virtual("times of the simulated clock")
    def test_not_yet(self, context: wia.Context) -> None:
        stream = context.create_stream()
        begin = stream.record()
        stream.submit(lambda: None, seconds=1.0)
        end = stream.record()
        with pytest.raises(wia.NotReady, match="has not happened yet"):
            end.seconds_since(begin)
        end.synchronize()
        assert end.seconds_since(begin) == pytest.approx(1.0, abs=1e-5)


class TestOrder:
    """What nothing orders gives the past, and is named."""

    @pytest.mark.virtual("hazards, which only virtual machines find")
    def test_kernel_before_the_copy(self, context: wia.Context) -> None:
        one, two = (context.create_stream() for _ in range(2))
        host, data, out = pinned(context, [7] * N), *(context.allocate(4 * N) for _ in range(2))
        result = pinned(context, [0] * N)
        one.copy(data, host)
        two.submit(add, out, data, seconds=1e-6, reads=[data], writes=[out])
        two.copy(result, out)
        with pytest.raises(HazardError, match=r"add on .* reads bytes 0 to 4,095 of device memory"):
            two.synchronize()
        context.synchronize()
        assert 8 not in values(result)

    @pytest.mark.virtual("hazards, which only virtual machines find")
    def test_host_reads_before_it_has_waited(self, context: wia.Context) -> None:
        stream, result = context.create_stream(), pinned(context, [0] * N)
        stream.copy(result, context.allocate(4 * N))
        line = TestOrder.test_host_reads_before_it_has_waited.__code__.co_firstlineno + 6
        with pytest.raises(HazardError, match=f"the host .line {line}. reads .* of pinned"):
            result.host(np.int32, "read")
        stream.synchronize()
        assert result.host(np.int32, "read").shape == (N,)

    @pytest.mark.virtual("hazards, which only virtual machines find")
    def test_buffer_reused_too_early(self, context: wia.Context) -> None:
        stream, host = context.create_stream(), pinned(context, [1] * N)
        stream.copy(context.allocate(4 * N), host)
        with pytest.raises(HazardError, match="the host .* writes"):
            host.host(np.int32, "write")

    def test_staged_memory_may_be_reused_at_once(self, context: wia.Context) -> None:
        stream, host = context.create_stream(), context.allocate(4 * N, MemoryKind.HOST)
        host.host(np.int32)[:] = 3
        data, back = context.allocate(4 * N), context.allocate(4 * N, MemoryKind.HOST)
        stream.copy(data, host)
        host.host(np.int32)[:] = 4
        stream.copy(back, data)
        assert values(back) == [3] * N

    def test_halves_do_not_meet(self, context: wia.Context) -> None:
        one, two = (context.create_stream() for _ in range(2))
        host, data = pinned(context, range(16)), context.allocate(64)
        one.copy(data[:32], host[:32])
        two.copy(data[32:], host[32:])
        context.synchronize()
        back = pinned(context, [0] * 16)
        one.copy(back, data)
        one.synchronize()
        assert values(back) == list(range(16))
