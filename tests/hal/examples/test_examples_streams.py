"""§3.4 and §3.8 of the documents, put right: streams, events, fences and barriers."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

import wia_lab.hal as wia
from wia_lab.hal import MemoryKind

if TYPE_CHECKING:
    import numpy as np

SIZE = 64


def compute(data: np.ndarray) -> None:
    """A kernel: one more."""
    data[:] += 1


def compute_to(data: np.ndarray, result: np.ndarray) -> None:
    """Another, with a result of its own."""
    result[:] = data + 1


def merge(a: np.ndarray, b: np.ndarray, final: np.ndarray) -> None:
    """A third."""
    final[:] = a + b


@pytest.fixture
def context() -> Iterator[wia.Context]:
    """On an A100."""
    with wia.Context(wia.open_machine("A100")[0]) as made:
        yield made


def filled(context: wia.Context, value: int) -> wia.Buffer:
    """Pinned memory with one value."""
    buffer = context.allocate(SIZE, MemoryKind.PINNED)
    buffer.host(access="write")[:] = value
    return buffer


class TestPipeline:
    """§3.4: transfer, compute, post-processing."""

    def test_three_streams(self, context: wia.Context) -> None:
        """Each event is recorded before it is waited for; the result is read after a wait."""
        transfer, work, after = (context.create_stream() for _ in range(3))
        host, device = filled(context, 5), context.allocate(SIZE)
        result = context.allocate(SIZE, MemoryKind.PINNED)
        transfer.copy(device, host)
        transfer_complete = transfer.record()
        work.wait(transfer_complete)
        work.submit(compute, device, seconds=1e-5)
        compute_complete = work.record()
        after.wait(compute_complete)
        after.copy(result, device)
        after.synchronize()
        assert set(result.host(access="read")) == {6}

    def test_batches(self, context: wia.Context, on_hardware: bool) -> None:
        """A buffer a stream; copies and kernels of several batches run at the same time."""
        streams = [context.create_stream() for _ in range(3)]
        buffers = [context.allocate(1 << 20) for _ in streams]
        data = [context.allocate(1 << 20, MemoryKind.PINNED) for _ in range(6)]
        results = [context.allocate(1 << 20, MemoryKind.PINNED) for _ in range(6)]
        for number, each in enumerate(data):
            each.host(access="write")[:] = number
        with wia.Profiler(context) as profiler:
            for batch in range(6):
                stream, buffer = streams[batch % 3], buffers[batch % 3]
                stream.copy(buffer, data[batch])
                stream.submit(compute, buffer, seconds=50e-6)
                stream.copy(results[batch], buffer)
        values = [set(each.host(access="read")) for each in results]
        assert values == [{batch + 1} for batch in range(6)]
        if on_hardware:
            return
        report = profiler.report()
        one_by_one = 6 * (50e-3 + 2 * (10e-3 + (1 << 20) / 31.5e9 * 1e3))  # ms
        assert report.total_time_ms < 0.75 * one_by_one
        assert report.overlap_ms > 0.2  # of the 0.3 ms of kernels


class TestEvents:
    """§3.4.1: two pipelines and their merge."""

    def test_merge(self, context: wia.Context) -> None:
        """A by its event, B by its stream; the host waits for the merge alone."""
        stream_a, compute_a, stream_b, stream_merge = (context.create_stream() for _ in range(4))
        a, b, result_a, result_b = (context.allocate(SIZE) for _ in range(4))
        final = context.allocate(SIZE, MemoryKind.MANAGED)
        stream_a.copy(a, filled(context, 10))
        transfer_done = stream_a.record()
        compute_a.wait(transfer_done)
        compute_a.submit(compute_to, a, result_a, seconds=1e-5, reads=[a], writes=[result_a])
        compute_done = compute_a.record()
        stream_b.copy(b, filled(context, 20))
        stream_b.submit(compute_to, b, result_b, seconds=1e-3, reads=[b], writes=[result_b])
        stream_merge.wait(compute_done)
        stream_merge.wait(stream_b)
        stream_merge.submit(
            merge,
            result_a,
            result_b,
            final,
            seconds=1e-5,
            reads=[result_a, result_b],
            writes=[final],
        )
        stream_merge.synchronize()
        assert set(final.host(access="read")) == {32}


class TestSynchronisation:
    """§3.8: stream, context, event, devices, host."""

    def test_stream_and_context(self, context: wia.Context, on_hardware: bool) -> None:
        """One stream's work, then all of the context's."""
        short, long = context.create_stream(), context.create_stream()
        short.submit(lambda: None, seconds=1e-3)
        long.submit(lambda: time.sleep(1.0 * on_hardware), seconds=1.0)
        short.synchronize()
        assert short.is_done
        assert not long.is_done
        context.synchronize()
        assert long.is_done

    def test_event(self, context: wia.Context) -> None:
        """stream_b goes on when the event has happened; the host waits for stream_b."""
        stream_a, stream_b = context.create_stream(), context.create_stream()
        data = context.allocate(SIZE, MemoryKind.MANAGED)
        data.host(access="write")[:] = 0
        stream_a.submit(compute, data, seconds=1e-3)
        event = stream_a.record()
        stream_b.wait(event)
        stream_b.submit(compute, data, seconds=1e-6)
        stream_b.synchronize()
        assert set(data.host(access="read")) == {2}

    def test_peer_barrier(self, on_hardware: bool) -> None:
        """Four devices: none begins its second step before all have ended their first."""
        machine = wia.open_machine("2xA100" if on_hardware else "4xA100")
        streams = [wia.Context(device).create_stream() for device in machine]
        done: list[str] = []

        def first(seconds: float) -> None:
            time.sleep(seconds * on_hardware)
            done.append("first")

        for number, stream in enumerate(streams):
            seconds = (number + 1) * 0.02
            stream.submit(first, seconds, seconds=seconds)
        wia.PeerBarrier(streams).wait()
        for stream in streams:
            stream.submit(done.append, "second", seconds=1e-6)
        for stream in streams:
            stream.synchronize()
        assert done == ["first"] * len(streams) + ["second"] * len(streams)

    def test_fence(self, context: wia.Context, on_hardware: bool) -> None:
        """Put behind the commands; a wait that ends too soon says so, and can be repeated."""
        stream, fence = context.create_stream(), wia.Fence(context)
        stream.submit(lambda: time.sleep(0.5 * on_hardware), seconds=0.5)
        fence.submit(stream)
        assert not fence.is_passed
        with pytest.raises(wia.TimedOut, match="1 of its streams were still at work"):
            fence.wait(0.1)
        fence.wait(wia.TIMEOUT_INFINITE)
        assert stream.is_done
