"""Streams and events on the simulated clock."""

from __future__ import annotations

import numpy as np
import pytest

from wia_lab import cuda
from wia_lab.cuda import streams
from wia_lab.cuda.errors import CudaAPIError, NotOnSimulatorError


def busy(stream, seconds):
    """Let `stream` work for so long."""
    streams.submit(stream, lambda: None, seconds, wait=False)


@pytest.fixture(autouse=True)
def idle_device():
    """Begin with all work done."""
    cuda.synchronize()


def milliseconds(work, stream=0):
    """What two events around `work` say."""
    begin, end = cuda.event(), cuda.event()
    begin.record(stream)
    work()
    end.record(stream)
    end.synchronize()
    return begin.elapsed_time(end)


class TestOrder:
    """A stream runs in order; streams run side by side; the default stream waits for all."""

    def test_in_order(self):
        stream = cuda.stream()
        assert milliseconds(lambda: [busy(stream, 1e-3) for _ in range(3)], stream) == (
            pytest.approx(3.0)
        )

    def test_side_by_side(self):
        one, two = cuda.stream(), cuda.stream()

        def both():
            busy(one, 2e-3)
            busy(two, 3e-3)

        assert milliseconds(both) == pytest.approx(3.0)

    def test_default_stream_waits_for_all(self):
        one, two = cuda.stream(), cuda.stream()

        def around():
            busy(one, 2e-3)
            busy(0, 1e-3)
            busy(two, 1e-3)

        assert milliseconds(around) == pytest.approx(4.0)

    def test_event_holds_another_stream(self):
        one, two = cuda.stream(), cuda.stream()
        mark = cuda.event()

        def chained():
            busy(one, 2e-3)
            mark.record(one)
            mark.wait(two)
            busy(two, 3e-3)

        assert milliseconds(chained) == pytest.approx(5.0)

    def test_copy_takes_bytes_over_bandwidth(self):
        """64 MiB over PCIe 5 x16 at its peak of 63 GB/s take about 1.07 ms."""
        array = np.zeros(1 << 24, np.float32)
        device = cuda.device_array_like(array)
        took = milliseconds(lambda: device.copy_to_device(array))
        assert took == pytest.approx((64 << 20) / 63e9 * 1e3, rel=0.05)


class TestEvents:
    """Events say when, and only once it is known."""

    def test_query_becomes_true(self):
        stream, mark = cuda.stream(), cuda.event()
        busy(stream, 5e-6)
        mark.record(stream)
        assert not mark.query()
        while not mark.query():
            pass
        assert mark.elapsed_time(mark) == 0

    def test_unrecorded(self):
        mark = cuda.event()
        assert mark.query()
        with pytest.raises(CudaAPIError, match="INVALID_HANDLE.*record it first"):
            mark.elapsed_time(mark)

    def test_not_ready(self):
        stream, mark = cuda.stream(), cuda.event()
        busy(stream, 1.0)
        mark.record(stream)
        with pytest.raises(CudaAPIError, match="NOT_READY"):
            mark.elapsed_time(mark)
        stream.synchronize()
        assert mark.query()

    def test_without_timing(self):
        mark = cuda.event(timing=False)
        mark.record()
        with pytest.raises(CudaAPIError, match="INVALID_HANDLE"):
            cuda.event_elapsed_time(mark, mark)


class TestStream:
    """What a stream offers."""

    def test_callback(self):
        heard, stream = [], cuda.stream()
        stream.add_callback(lambda *said: heard.append(said), "argument")
        assert heard == [(stream, 0, "argument")]

    def test_callback_that_raises(self):
        with pytest.warns(UserWarning, match="Exception in stream callback: boom"):
            cuda.stream().add_callback(lambda *_: (_ for _ in ()).throw(RuntimeError("boom")))

    def test_auto_synchronize(self):
        with cuda.stream().auto_synchronize() as stream:
            busy(stream, 1e-3)
            mark = cuda.event()
            mark.record(stream)
        assert mark.elapsed_time(mark) == 0

    def test_names(self):
        assert "Default CUDA stream" in repr(cuda.default_stream())
        assert cuda.legacy_default_stream() is cuda.default_stream()
        assert int(cuda.stream()) != int(cuda.stream())

    def test_no_stream(self):
        with pytest.raises(TypeError, match="give a stream made by cuda.stream"):
            cuda.to_device(np.zeros(1), stream="fast")

    def test_external(self):
        with pytest.raises(NotOnSimulatorError, match="needs a GPU"):
            cuda.external_stream(1234)
