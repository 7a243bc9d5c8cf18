"""What the simulator says of streams, asked of a GPU: who waits, and when memory is read.

Run with ``WIA_LAB_BACKEND=hardware pytest -m gpu tests/cuda``. A kernel that sleeps for a while
stands before each copy, so that the answers do not depend on luck.
"""

from __future__ import annotations

import numpy as np
import pytest

from wia_lab import cuda
from wia_lab.cuda import choice


def _hardware() -> bool:
    try:
        return choice.backend() == "hardware"
    except choice.BackendError:
        return False


pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not _hardware(), reason="launches of this process do not go to a GPU"),
    pytest.mark.filterwarnings("ignore"),  # numba-cuda warns of small grids
]

SMALL, LARGE = 64, 1 << 24
MILLISECONDS = 200


@cuda.jit
def sleep_and_fill(a, value, milliseconds):
    """Sleep, then write."""
    for _ in range(milliseconds):
        cuda.nanosleep(1_000_000)
    i = cuda.grid(1)
    if i < a.size:
        a[i] = value


@pytest.fixture
def compiled():
    """The kernel, compiled before the clock matters."""
    device = cuda.device_array(SMALL, np.int32)
    sleep_and_fill[1, 1](device, 0, 0)
    cuda.synchronize()
    return sleep_and_fill


def pinned(size, value):
    """A pinned array of one value."""
    array = cuda.pinned_array(size, np.int32)
    array[:] = value
    return array


@pytest.mark.parametrize("size", [SMALL, LARGE])
class TestHost:
    """When the host's memory is read and written."""

    def test_a_copy_to_pinned_memory_is_not_waited_for(self, compiled, size):
        stream, host = cuda.stream(), pinned(size, 0)
        device = cuda.to_device(np.zeros(size, np.int32))
        compiled[-(-size // 256), 256, stream](device, 7, MILLISECONDS)
        device.copy_to_host(host, stream=stream)
        assert set(host[[0, -1]]) == {0}
        stream.synchronize()
        assert set(host[[0, -1]]) == {7}

    def test_a_copy_to_pageable_memory_is(self, compiled, size):
        stream, host = cuda.stream(), np.zeros(size, np.int32)
        device = cuda.to_device(host)
        compiled[-(-size // 256), 256, stream](device, 7, MILLISECONDS)
        device.copy_to_host(host, stream=stream)
        assert set(host[[0, -1]]) == {7}

    def test_pinned_memory_is_read_late(self, compiled, size):
        stream, host, other = cuda.stream(), pinned(size, 1), cuda.device_array(SMALL, np.int32)
        device = cuda.to_device(np.zeros(size, np.int32))
        compiled[1, 1, stream](other, 7, MILLISECONDS)
        device.copy_to_device(host, stream=stream)
        host[:] = 2
        stream.synchronize()
        assert set(device.copy_to_host()[[0, -1]]) == {2}

    def test_pageable_memory_is_read_at_once(self, compiled, size):
        stream, host = cuda.stream(), np.ones(size, np.int32)
        other, device = cuda.device_array(SMALL, np.int32), cuda.to_device(np.zeros_like(host))
        compiled[1, 1, stream](other, 7, MILLISECONDS)
        device.copy_to_device(host, stream=stream)
        host[:] = 2
        stream.synchronize()
        assert set(device.copy_to_host()[[0, -1]]) == {1}


class TestOrder:
    """Who waits for whom."""

    def test_a_missing_wait_gives_the_past(self, compiled):
        one, two = cuda.stream(), cuda.stream()
        device = cuda.to_device(np.zeros(SMALL, np.int32))
        compiled[1, SMALL, one](device, 7, MILLISECONDS)
        assert set(device.copy_to_host(stream=two)) == {0}
        cuda.synchronize()
        assert set(device.copy_to_host()) == {7}

    def test_the_default_stream_waits_for_all(self, compiled):
        one = cuda.stream()
        device = cuda.to_device(np.zeros(SMALL, np.int32))
        compiled[1, SMALL, one](device, 7, MILLISECONDS)
        assert set(device.copy_to_host()) == {7}

    def test_an_event_orders_two_streams(self, compiled):
        one, two, done = cuda.stream(), cuda.stream(), cuda.event()
        device = cuda.to_device(np.zeros(SMALL, np.int32))
        compiled[1, SMALL, one](device, 7, MILLISECONDS)
        done.record(one)
        done.wait(two)
        assert set(device.copy_to_host(stream=two)) == {7}
