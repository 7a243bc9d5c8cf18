"""The facade on a real GPU: the same programs as on the simulator, and the judge's process.

Run with ``WIA_LAB_BACKEND=hardware pytest -m gpu tests/cuda``.
"""

from __future__ import annotations

import numpy as np
import pytest
from numba import float32, njit

from wia_lab import cuda, simulate
from wia_lab.cuda import choice, judge
from wia_lab.cuda.errors import CudaAPIError


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

SIZE, HALO, FOUR, WIDE, TWO = 70, 3, 4, 256, 2
RNG = np.random.default_rng(1)


@cuda.jit(device=True)
def twice(x):
    """Double."""
    return x + x


@njit
def with_thread(x):
    """Add the thread's index: an `@njit` function that uses the facade."""
    return x + cuda.threadIdx.x


@cuda.jit
def calls(out, a):
    """Device and njit functions."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = with_thread(twice(a[i]))


@cuda.jit
def halo_tile(out, a):
    """Each block copies its tile with a halo, and writes it whole."""
    tiles = cuda.shared.array((2, SIZE), float32)
    start = cuda.blockIdx.x * cuda.blockDim.x - HALO
    cuda.copy_dram_to_sram_async(tiles[1], a, start, SIZE, TWO)
    cuda.cp_async_commit_group()
    cuda.cp_async_wait_group(0)
    cuda.syncthreads()
    for j in range(cuda.threadIdx.x, SIZE, cuda.blockDim.x):
        out[cuda.blockIdx.x, j] = tiles[1, j]


@cuda.jit
def wide_copies(out, a):
    """Sixteen bytes a thread, into a row of a two-dimensional tile."""
    odd = cuda.shared.array(3, float32)
    tile = cuda.shared.array((2, WIDE), float32)
    t = cuda.threadIdx.x
    odd[t % 3] = 0
    cuda.cp_async(tile, (1, FOUR * t), a, FOUR * t, FOUR)
    cuda.async_copy_wait_all()
    cuda.syncthreads()
    for j in range(t, WIDE, cuda.blockDim.x):
        out[j] = tile[1, j]


@cuda.jit
def forever(out):
    """Never end, while `out` stays zero."""
    while cuda.atomic.add(out, 0, 0) == 0:
        pass


def both(kernel, grid, block, *args):
    """`args` after a launch on the GPU, and after one on the simulator."""
    real, simulated = [a.copy() for a in args], [a.copy() for a in args]
    kernel[grid, block](*real)
    cuda.synchronize()
    assert not simulate(kernel, grid, block, *simulated).errors
    return real, simulated


class TestSameAnswers:
    """One function, two back ends, the same arrays."""

    def test_device_functions(self):
        a = RNG.random(100).astype(np.float32)
        (real, _), (simulated, _) = both(calls, 4, 32, np.zeros(100, np.float32), a)
        expected = 2 * a + np.arange(100) % 32
        np.testing.assert_allclose(real, expected, rtol=1e-6)
        assert real.tolist() == simulated.tolist()

    def test_halo_arrives_as_zero(self):
        a = RNG.random(200).astype(np.float32)
        (real, _), (simulated, _) = both(halo_tile, 4, 64, np.full((4, SIZE), -1, np.float32), a)
        padded = np.pad(a, (HALO, 100))
        assert real.tolist() == [padded[64 * b : 64 * b + SIZE].tolist() for b in range(4)]
        assert simulated.tolist() == real.tolist()

    def test_wide_copies_are_aligned(self):
        a = RNG.random(WIDE).astype(np.float32)
        (real, _), (simulated, _) = both(wide_copies, 1, 64, np.zeros(WIDE, np.float32), a)
        assert real.tolist() == a.tolist() == simulated.tolist()


class TestHost:
    """Names of the host are numba.cuda's own."""

    def test_round_trip_stream_and_events(self):
        stream, begin, end = cuda.stream(), cuda.event(), cuda.event()
        a = RNG.random(1 << 20).astype(np.float32)
        device, out = cuda.to_device(a, stream=stream), cuda.device_array_like(a)
        begin.record(stream)
        calls[4096, 256, stream](out, device)
        end.record(stream)
        stream.synchronize()
        assert begin.elapsed_time(end) > 0
        expected = 2 * a + np.arange(a.size) % 256
        np.testing.assert_allclose(out.copy_to_host(), expected, rtol=1e-6)

    def test_hints_forall_reduce_vectorize(self):
        a, out = np.arange(1000, dtype=np.float32), np.zeros(1000, np.float32)
        calls.forall(1000)(cuda.Out(out), cuda.In(a))
        assert out[0] == 0
        assert cuda.reduce(lambda x, y: x + y)(np.arange(1001)) == 500500

        @cuda.vectorize(["float32(float32)"])
        def vectorized(x):
            return twice(x)

        assert vectorized(a).tolist() == (2 * a).tolist()

    def test_inspection(self):
        calls[1, 32](np.zeros(4, np.float32), np.zeros(4, np.float32))
        assert ".target sm_" in next(iter(calls.inspect_asm().values()))

    @pytest.mark.parametrize("block", [1025, (32, 33)])
    def test_launch_limits(self, block):
        with pytest.raises(CudaAPIError, match="CUDA_ERROR_INVALID_VALUE"):
            calls[1, block](np.zeros(4), np.zeros(4))

    def test_numba_refuses_what_the_facade_refuses(self):
        """Without the facade's own checks, the driver says the same."""
        kernel = calls.hardware
        with pytest.raises(Exception, match="CUDA_ERROR_INVALID_VALUE|invalid"):
            kernel[1, 1025](np.zeros(4, np.float32), np.zeros(4, np.float32))
        with pytest.raises(Exception, match=">= 1|INVALID"):
            kernel[0, 32](np.zeros(4, np.float32), np.zeros(4, np.float32))


class TestJudge:
    """The child process on a real device."""

    def test_answer(self):
        a = RNG.random(100).astype(np.float32)
        run = judge.run_on_hardware(calls, 4, 32, (np.zeros(100, np.float32), a))
        assert run.problem is None
        np.testing.assert_allclose(run.arguments[0], 2 * a + np.arange(100) % 32, rtol=1e-6)
        assert 0 < run.seconds < 5

    def test_stray_access(self):
        @cuda.jit
        def stray(out):
            out[cuda.grid(1) << 40] = 1

        run = judge.run_on_hardware(stray, 4, 32, (np.zeros(4, np.float32),))
        assert "it read or wrote outside its arrays" in run.problem

    def test_hang_is_stopped_and_the_device_lives_on(self):
        run = judge.run_on_hardware(forever, 1, 32, (np.zeros(1, np.int32),), timeout=15)
        assert "had not ended after 15 s and was stopped" in run.problem
        again = judge.run_on_hardware(
            calls, 1, 32, (np.zeros(4, np.float32), np.zeros(4, np.float32))
        )
        assert again.problem is None
