"""Work in streams is done when its turn comes, and what nothing orders is named.

The values asked for are those that a GPU may give: what a copy or kernel reads is the memory's
state at its start, as its stream alone orders it.
"""

from __future__ import annotations

import gc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from wia_lab import HazardError, HazardWarning, cuda, hazards
from wia_lab.cuda import streams
from wia_lab.cuda.errors import CudaAPIError

N = 64
POISON = np.array([0xFBFBFBFB], np.uint32).view(np.int32)[0]


@cuda.jit
def add_one(a):
    """Each element and 1."""
    i = cuda.grid(1)
    if i < a.size:
        a[i] += 1


@cuda.jit
def add_to(out, a, first, last):
    """Elements first to last of `a`, each and 1."""
    i = cuda.grid(1) + first
    if i < last:
        out[i] = a[i] + 1


@cuda.jit
def past_the_end(a):
    """No guard."""
    a[cuda.grid(1)] = 1


@pytest.fixture(autouse=True)
def idle_device():
    """Begin and end with all work done and told."""
    cuda.synchronize()
    yield
    with hazards("off"):
        cuda.synchronize()


def pinned(values):
    """A pinned array with these values."""
    array = cuda.pinned_array_like(values)
    array[:] = values
    return array


class TestTurn:
    """Nothing is done before its turn on the simulated clock."""

    def test_a_pipeline_in_one_stream_is_right(self):
        host, stream = pinned(np.arange(N, dtype=np.int32)), cuda.stream()
        device = cuda.to_device(host, stream=stream)
        add_one[1, N, stream](device)
        device.copy_to_host(host, stream=stream)
        assert host.tolist() == list(range(N))  # nothing has come back yet
        stream.synchronize()
        assert host.tolist() == list(range(1, N + 1))

    def test_a_copy_to_pageable_memory_is_waited_for(self):
        """As cuMemcpyDtoHAsync does."""
        stream = cuda.stream()
        device = cuda.to_device(np.arange(N, dtype=np.int32), stream=stream)
        add_one[1, N, stream](device)
        assert device.copy_to_host(stream=stream).tolist() == list(range(1, N + 1))

    def test_pageable_memory_is_read_at_once(self):
        stream, host = cuda.stream(), np.zeros(N, np.int32)
        device = cuda.to_device(host, stream=stream)
        host[:] = 9
        assert device.copy_to_host(stream=stream).tolist() == [0] * N

    def test_pinned_memory_is_read_late(self):
        """A buffer reused too early reaches the device with its new values."""
        stream, host = cuda.stream(), pinned(np.zeros(N, np.int32))
        device = cuda.to_device(host, stream=stream)
        host[:] = 9
        assert device.copy_to_host(stream=stream).tolist() == [9] * N

    def test_the_default_stream_waits_for_all(self):
        one, two = cuda.stream(), cuda.stream()
        a = cuda.to_device(np.zeros(N, np.int32), stream=one)
        b = cuda.to_device(np.ones(N, np.int32), stream=two)
        add_one[1, N, one](a)
        add_to[1, N](b, a, 0, N)
        assert b.copy_to_host().tolist() == [2] * N

    def test_a_launch_with_host_arrays_is_waited_for(self):
        stream, host = cuda.stream(), np.zeros(N, np.int32)
        add_one[1, N, stream](host)
        assert host.tolist() == [1] * N

    def test_a_launch_with_a_mapped_array_is_not(self):
        stream, host = cuda.stream(), cuda.mapped_array(N, np.int32)
        host[:] = 0
        add_one[1, N, stream](host)
        assert host.tolist() == [0] * N
        stream.synchronize()
        assert host.tolist() == [1] * N

    def test_element_and_transpose_come_after_the_stream(self):
        stream = cuda.stream()
        device = cuda.to_device(np.arange(6, dtype=np.int32).reshape(2, 3), stream=stream)
        device[0, 0] = 7
        assert device[0, 0] == 7
        assert device.T.copy_to_host().tolist() == [[7, 3], [1, 4], [2, 5]]

    def test_a_query_that_says_done_is_a_wait(self):
        many = 1 << 14
        stream, host, done = cuda.stream(), pinned(np.zeros(many, np.int32)), cuda.event()
        device = cuda.to_device(host, stream=stream)
        add_one[many // N, N, stream](device)
        device.copy_to_host(host, stream=stream)
        done.record(stream)
        polls = 0
        while not done.query():
            polls += 1
        assert polls > 0
        assert host.tolist() == [1] * many

    def test_callback_after_the_work(self):
        seen, stream, host = [], cuda.stream(), cuda.mapped_array(N, np.int32)
        host[:] = 0
        add_one[1, N, stream](host)
        stream.add_callback(lambda *_: seen.append(int(host[0])))
        assert seen == []
        stream.synchronize()
        assert seen == [1]

    def test_callback_must_not_use_cuda(self):
        heard, stream = [], cuda.stream()

        def use(*_):
            with pytest.raises(CudaAPIError, match="NOT_PERMITTED"):
                cuda.synchronize()
            heard.append(True)

        stream.add_callback(use)
        assert heard == [True]

    def test_vectorize_comes_after_the_stream(self):
        twice = cuda.vectorize(["int32(int32)"])(lambda x: x + x)
        stream = cuda.stream()
        device = cuda.to_device(np.full(N, 3, np.int32), stream=stream)
        assert twice(device, stream=stream).copy_to_host().tolist() == [6] * N


class TestMissingWait:
    """A missing wait gives stale data, and an error that names both sides."""

    def test_kernel_before_the_copy(self):
        one, two = cuda.stream(), cuda.stream()
        device = cuda.to_device(np.zeros(N, np.int32), stream=one)
        out = cuda.device_array(N, np.int32)
        add_to[1, N, two](out, device, 0, N)
        with pytest.raises(HazardError) as caught:
            cuda.synchronize()
        (hazard,) = caught.value.hazards
        launched = TestMissingWait.test_kernel_before_the_copy.__code__.co_firstlineno + 4
        assert (hazard.kind, hazard.severity) == ("race", "error")
        assert (hazard.line, hazard.other_line) == (launched, launched - 2)
        assert hazard.file == __file__
        assert hazard.message == (
            f"kernel add_to on {two.name} (line {launched}) reads bytes 0 to 255 of the int32[64] "
            f"device array of line {launched - 2}, which a copy to the device on {one.name} (line "
            f"{launched - 2}) writes, and nothing orders the two: record an event after the "
            "first, and let the stream of the second wait for it"
        )
        assert set(out.copy_to_host().tolist()) == {int(POISON) + 1}

    def test_copy_before_the_kernel(self):
        one, two = cuda.stream(), cuda.stream()
        device = cuda.to_device(np.zeros(N, np.int32))
        add_one[1, N, one](device)

        def read_and_wait():
            back = device.copy_to_host(stream=two)
            cuda.synchronize()
            return back

        with hazards("warn"), pytest.warns(HazardWarning, match="add_one.* nothing orders") as told:
            stale = read_and_wait()
        assert stale.tolist() == [0] * N
        assert len(told) == 1
        assert told[0].filename == __file__
        assert device.copy_to_host().tolist() == [1] * N

    def test_pinned_buffer_of_two_streams(self):
        one, two = cuda.stream(), cuda.stream()
        host = pinned(np.zeros(N, np.int32))
        first, second = cuda.to_device(np.ones(N, np.int32)), cuda.device_array(N, np.int32)
        first.copy_to_host(host, stream=one)
        second.copy_to_device(host, stream=two)
        with pytest.raises(HazardError, match=r"of the int32\[64\] host array"):
            cuda.synchronize()

    def test_told_again_when_it_happens_again(self):
        for _ in range(2):
            one, two = cuda.stream(), cuda.stream()
            device = cuda.to_device(np.zeros(N, np.int32), stream=one)
            add_one[1, N, two](device)
            with pytest.raises(HazardError, match="nothing orders"):
                cuda.synchronize()

    def test_off(self):
        one, two = cuda.stream(), cuda.stream()
        device = cuda.to_device(np.zeros(N, np.int32), stream=one)
        with hazards("off"):
            add_one[1, N, two](device)
            cuda.synchronize()
        cuda.synchronize()


class TestOrdered:
    """What is ordered is right, and gets no hazard."""

    def test_by_an_event(self):
        one, two, copied = cuda.stream(), cuda.stream(), cuda.event()
        device = cuda.to_device(np.zeros(N, np.int32), stream=one)
        copied.record(one)
        copied.wait(two)
        add_one[1, N, two](device)
        two.synchronize()
        cuda.synchronize()
        assert device.copy_to_host().tolist() == [1] * N

    def test_by_the_host(self):
        one, two = cuda.stream(), cuda.stream()
        device = cuda.to_device(np.zeros(N, np.int32), stream=one)
        one.synchronize()
        add_one[1, N, two](device)
        cuda.synchronize()
        assert device.copy_to_host().tolist() == [1] * N

    def test_by_the_default_stream(self):
        one, two = cuda.stream(), cuda.stream()
        device = cuda.to_device(np.zeros(N, np.int32), stream=one)
        add_one[1, N](device)
        add_one[1, N, two](device)
        cuda.synchronize()
        assert device.copy_to_host().tolist() == [2] * N

    def test_by_a_stream_that_is_gone(self):
        """The default stream has waited for it all the same."""
        device = cuda.to_device(np.zeros(N, np.int32))
        add_one[1, N, cuda.stream()](device)
        gc.collect()
        add_one[1, N](device)
        add_one[1, N, cuda.stream()](device)
        cuda.synchronize()
        assert device.copy_to_host().tolist() == [3] * N

    def test_halves_of_whole_arrays(self):
        """Kernels that get whole arrays and keep to their halves do not meet, nor undo another."""
        one, two = cuda.stream(), cuda.stream()
        a, out = cuda.to_device(np.arange(N, dtype=np.int32)), cuda.device_array(N, np.int32)
        add_to[1, N, one](out, a, 0, N // 2)
        add_to[1, N, two](out, a, N // 2, N)
        cuda.synchronize()
        assert out.copy_to_host().tolist() == list(range(1, N + 1))

    def test_columns(self):
        """Every other element each: hulls overlap, bytes do not."""
        one, two = cuda.stream(), cuda.stream()
        device = cuda.to_device(np.zeros((8, 8), np.int32))
        for stream, first in ((one, 0), (two, 1)):
            columns = device[:, first::2]
            columns.setitem(..., np.int32(first + 1), stream=stream)
        cuda.synchronize()
        assert device.copy_to_host().tolist() == [[1, 2] * 4] * 8

    def test_readers(self):
        one, two = cuda.stream(), cuda.stream()
        a = cuda.to_device(np.zeros(N, np.int32))
        outs = [cuda.device_array(N, np.int32) for _ in range(2)]
        for stream, out in zip((one, two), outs, strict=True):
            add_to[1, N, stream](out, a, 0, N)
        cuda.synchronize()
        assert [out.copy_to_host().tolist() for out in outs] == [[1] * N] * 2

    def test_double_buffering(self):
        """Two buffers, each used again only after its stream: the pipeline of every tutorial."""
        total, parts = 4 * N, 4
        source = pinned(np.arange(total, dtype=np.int32))
        result = cuda.pinned_array(total, np.int32)
        lanes = [(cuda.stream(), cuda.device_array(N, np.int32)) for _ in range(2)]
        for part in range(parts):
            stream, device = lanes[part % 2]
            window = slice(part * N, (part + 1) * N)
            device.copy_to_device(source[window], stream=stream)
            add_one[1, N, stream](device)
            device.copy_to_host(result[window], stream=stream)
        cuda.synchronize()
        assert result.tolist() == list(range(1, total + 1))


class TestLater:
    """A launch that runs later tells its errors where the host waits."""

    def test_hazard_names_the_launch(self):
        stream, device = cuda.stream(), cuda.device_array(N, np.int32)
        past_the_end[2, N, stream](device)
        line = TestLater.test_hazard_names_the_launch.__code__.co_firstlineno + 2
        with pytest.raises(HazardError, match=rf"past_the_end, launched on line {line} in CUDA"):
            stream.synchronize()
        assert device.copy_to_host().tolist() == [1] * N

    def test_typing_error_comes_at_the_launch(self):
        @cuda.jit
        def wrong(a):
            a[0] = a.no_such_attribute

        with pytest.raises(Exception, match="no_such_attribute") as caught:
            wrong[1, 1, cuda.stream()](cuda.device_array(N, np.int32))
        assert caught.type.__name__ == "TypingError"

    def test_exception_of_a_thread(self):
        @cuda.jit(debug=True, opt=False)
        def failing(a):
            if cuda.threadIdx.x == 3:
                raise ValueError("x")
            a[cuda.threadIdx.x] = 1

        stream, device = cuda.stream(), cuda.device_array(N, np.int32)
        failing[1, N, stream](device)
        with pytest.raises(ValueError, match=r"line \d+, thread 3.*: x"):
            stream.synchronize()
        stream.synchronize()

    def test_interrupt_leaves_the_stream_usable(self):
        stream, done = cuda.stream(), []

        def interrupted():
            raise KeyboardInterrupt

        streams.submit(stream, lambda: done.append(1), 1e-3, wait=False)
        with pytest.raises(KeyboardInterrupt):
            streams.submit(stream, lambda: done.append(2), 1e-3, wait=True, before=interrupted)
        streams.submit(stream, lambda: done.append(3), 1e-3, wait=True)
        assert done == [1, 3]

    def test_finished_work_keeps_nothing_alive(self):
        gc.collect()
        free = cuda.current_context().get_memory_info().free
        stream = cuda.stream()
        add_one[1, N, stream](cuda.to_device(np.zeros(N, np.int32), stream=stream))
        assert cuda.current_context().get_memory_info().free == free - 4 * N
        stream.synchronize()
        gc.collect()
        assert cuda.current_context().get_memory_info().free == free


class TestThreads:
    """Several host threads may launch; each gets its own results."""

    def test_default_stream(self):
        def work(number):
            device = cuda.to_device(np.full(N, number, np.int32))
            for _ in range(5):
                add_one[1, N](device)
            return device.copy_to_host().tolist()

        with ThreadPoolExecutor(4) as pool:
            results = list(pool.map(work, range(8)))
        assert results == [[number + 5] * N for number in range(8)]

    def test_a_stream_each(self):
        def work(number):
            stream = cuda.stream()
            device = cuda.to_device(np.full(N, number, np.int32), stream=stream)
            for _ in range(5):
                add_one[1, N, stream](device)
            return device.copy_to_host(stream=stream).tolist()

        with ThreadPoolExecutor(4) as pool:
            results = list(pool.map(work, range(8)))
        assert results == [[number + 5] * N for number in range(8)]


class TestTimes:
    """Durations are the links' and the cost model's; engines do one thing at a time."""

    def test_copies_both_ways_overlap_and_one_way_they_queue(self):
        one, two = cuda.stream(), cuda.stream()
        up, down = pinned(np.zeros(1 << 20, np.int32)), pinned(np.zeros(1 << 20, np.int32))
        a, b = cuda.device_array_like(up), cuda.device_array_like(down)

        def took(first, second):
            begin, end = cuda.event(), cuda.event()
            begin.record()
            first()
            second()
            end.record()
            end.synchronize()
            return begin.elapsed_time(end)

        def upload(array, host, stream):
            return lambda: array.copy_to_device(host, stream=stream)

        def download(array, host, stream):
            return lambda: array.copy_to_host(host, stream=stream)

        single = (4 << 20) / 63e9 * 1e3
        both = took(upload(a, up, one), download(b, down, two))
        assert both == pytest.approx(single, rel=0.05)
        same = took(upload(a, up, one), upload(b, down, two))
        assert same == pytest.approx(2 * single, rel=0.05)
