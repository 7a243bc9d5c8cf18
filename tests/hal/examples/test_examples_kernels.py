"""§3.1, §3.6, §4.1 and §4.9 of the documents, put right: operations, and kernels of text."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import wia_lab.hal as wia
from wia_lab import simulate
from wia_lab.hal import LaunchConfig, compile_kernel, launch_kernel, launch_kernel_async

VECTOR_ADD = """
    // WIA kernel language, in OpenCL's style
    __kernel void vector_add(
        __global const float* a,
        __global const float* b,
        __global float* c,
        int n
    ) {
        int gid = get_global_id(0);
        if (gid < n) {
            c[gid] = a[gid] + b[gid];
        }
    }
"""

OPTIMIZED_MATMUL = """
__kernel void optimized_matmul(
    __global const float* A,
    __global const float* B,
    __global float* C,
    int N
) {
    __local float tile_A[16][16];
    __local float tile_B[16][16];
    float sum = 0.0f;

    // Neighbours in a warp differ in the first id: it is the column
    int col = get_local_id(0);
    int row = get_local_id(1);
    int x = get_global_id(0);
    int y = get_global_id(1);

    for (int tile = 0; tile < (N + 15) / 16; tile++) {
        int ka = tile * 16 + col;
        int kb = tile * 16 + row;
        tile_A[row][col] = y < N && ka < N ? A[y * N + ka] : 0.0f;
        tile_B[row][col] = kb < N && x < N ? B[kb * N + x] : 0.0f;
        barrier(CLK_LOCAL_MEM_FENCE);

        for (int k = 0; k < 16; k++) {
            sum += tile_A[row][k] * tile_B[k][col];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (y < N && x < N) {
        C[y * N + x] = sum;
    }
}
"""

BANDWIDTH = """
__kernel void strided_access(__global float* out, __global const float* data, int stride, int n) {
    int gid = get_global_id(0);
    if (gid * stride < n) {
        out[gid] = data[gid * stride];
    }
}

__kernel void every_second(__global float* out) {
    __local float shared[512];
    int lid = get_local_id(0);
    shared[lid * 2] = lid;
    out[lid] = shared[lid * 2];
}

__kernel void side_by_side(__global float* out) {
    __local float shared[256];
    int lid = get_local_id(0);
    shared[lid] = lid;
    out[lid] = shared[lid];
}
"""


@pytest.fixture
def context() -> Iterator[wia.Context]:
    """On an H200."""
    with wia.Context(wia.open_machine("H200")[0]) as made:
        yield made


def numbers(*shape: int) -> np.ndarray:
    """Distinct float32."""
    return np.random.default_rng(36).standard_normal(shape).astype(np.float32)


class TestProgressiveDisclosure:
    """§3.1: one product at three levels."""

    @pytest.mark.parametrize("n", [48, 37, 1])
    def test_three_levels(self, context: wia.Context, n: int) -> None:
        """By the library, by its pipeline with inputs of float16, and by a kernel of text."""
        left, right = numbers(n, n), numbers(n + 1, n)[1:]
        a, b = wia.from_numpy(context, left), wia.from_numpy(context, right)
        config = wia.MatmulConfig(
            algorithm=wia.MatmulAlgorithm.PIPELINE, precision=wia.Precision.MIXED
        )
        result = wia.empty(context, (n, n))
        launch = LaunchConfig(grid=((n + 15) // 16,) * 2, block=(16, 16))
        launch_kernel(compile_kernel(OPTIMIZED_MATMUL), launch, a, b, result, n)
        exact = left.astype(np.float64) @ right
        rounded = left.astype(np.float16).astype(np.float64) @ right.astype(np.float16)
        near = {"rtol": 0, "atol": 1e-5}
        np.testing.assert_allclose(wia.matmul(a, b).numpy(), exact, **near)
        np.testing.assert_allclose(wia.matmul(a, b, config=config).numpy(), rounded, **near)
        np.testing.assert_allclose(result.numpy(), exact, **near)


class TestOperations:
    """§3.6.1: operations of the library, one after the other."""

    def test_high_level_operations(self, context: wia.Context) -> None:
        """Convolution, activation, normalisation and pooling, against NumPy in float64."""
        image, kernel = numbers(2, 3, 8, 10), numbers(4, 3, 3, 3)
        scale, bias, mean, variance = abs(numbers(4, 4)) + np.float32(0.5)
        x, weight = wia.from_numpy(context, image), wia.from_numpy(context, kernel)
        parameters = (wia.from_numpy(context, each) for each in (scale, bias, mean, variance))

        output = wia.conv2d(x, weight, config=wia.ConvConfig(padding=(1, 1), stride=(1, 1)))
        activated = wia.relu(output)
        normalized = wia.batch_norm(activated, *parameters)
        pooled = wia.pool2d(normalized, wia.Pool2dConfig(kernel_size=(2, 2), stride=(2, 2)))

        padded = np.pad(image.astype(np.float64), ((0, 0), (0, 0), (1, 1), (1, 1)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
        wanted = np.maximum(np.einsum("nchwij,ocij->nohw", windows, kernel), 0)
        by_channel = [each.astype(np.float64)[:, None, None] for each in (scale, bias)]
        middle, spread = (each.astype(np.float64)[:, None, None] for each in (mean, variance))
        wanted = (wanted - middle) / np.sqrt(spread + 1e-5) * by_channel[0] + by_channel[1]
        wanted = wanted.reshape(2, 4, 4, 2, 5, 2).max(axis=(3, 5))
        assert pooled.shape == (2, 4, 4, 5)
        np.testing.assert_allclose(pooled.numpy(), wanted, rtol=0, atol=1e-4)


class TestCustomKernel:
    """§3.6.2: a kernel of text, launched in a stream."""

    @pytest.mark.parametrize("n", [1, 255, 1000])
    def test_vector_add(self, context: wia.Context, n: int) -> None:
        """global_size need not be a multiple of local_size; who reads waits for the stream."""
        kernel = compile_kernel(VECTOR_ADD, "vector_add")
        values = numbers(n)
        tensor_a, tensor_b = wia.from_numpy(context, values), wia.from_numpy(context, values**2)
        tensor_c = wia.empty(context, n)
        config = LaunchConfig(global_size=(n, 1, 1), local_size=(256, 1, 1), shared_memory=0)
        with context.create_stream() as stream:
            stream.wait(wia.default_stream(context))
            launch_kernel_async(kernel, config, tensor_a, tensor_b, tensor_c, n, stream=stream)
            stream.synchronize()
        np.testing.assert_array_equal(tensor_c.numpy(), values + values**2)


class TestOptimizedMatmul:
    """§4.1: tiles in shared memory."""

    def test_what_it_asks_for(self) -> None:
        """N = 48: 9 blocks of 8 warps load twice in each of 3 rounds; 2 rows of 2 sectors each."""
        n = 48
        a, b, c = numbers(n * n), numbers(n * n + 1)[1:], np.zeros(n * n, np.float32)
        kernel = compile_kernel(OPTIMIZED_MATMUL)
        report = simulate(kernel.compiled, (3, 3), (16, 16), a, b, c, np.int32(n))
        assert report.hazards == ()
        assert report.counters.global_load_requests == 9 * 8 * 2 * 3
        assert report.counters.global_load_sectors == 4 * 9 * 8 * 2 * 3
        assert report.counters.barriers == 9 * 8 * 2 * 3


class TestBandwidth:
    """§4.9: the same counts as for the kernels in Python."""

    @pytest.mark.parametrize(("stride", "sectors"), [(1, 4), (2, 8), (8, 32), (32, 32)])
    def test_sectors(self, stride: int, sectors: int) -> None:
        """8 float32 share a sector: beyond a stride of 8 it gets no worse."""
        data, out = numbers(8192), np.zeros(8192, np.float32)
        kernel = compile_kernel(BANDWIDTH, "strided_access").compiled
        report = simulate(kernel, 32, 256, out, data, np.int32(stride), np.int32(data.size))
        np.testing.assert_array_equal(out[: 8192 // stride], data[::stride])
        counters = report.counters
        assert report.hazards == ()
        assert counters.global_load_sectors == sectors * counters.global_load_requests

    @pytest.mark.parametrize("stride", [1, 2, 8, 32])
    def test_strides(self, context: wia.Context, stride: int) -> None:
        """The elements are right, and none past the end is touched."""
        data = numbers(8191)
        values, out = wia.from_numpy(context, data), wia.zeros(context, 8192)
        kernel = compile_kernel(BANDWIDTH, "strided_access")
        launch_kernel(kernel, LaunchConfig(32, 256), out, values, stride, data.size)
        expected = np.zeros(8192, np.float32)
        expected[: -(-8191 // stride)] = data[::stride]
        np.testing.assert_array_equal(out.numpy(), expected)

    @pytest.mark.parametrize("name", ["every_second", "side_by_side"])
    def test_exchanges(self, context: wia.Context, name: str) -> None:
        """Through shared memory, with conflicts or without."""
        out = wia.zeros(context, 256)
        launch_kernel(compile_kernel(BANDWIDTH, name), LaunchConfig(1, 256), out)
        np.testing.assert_array_equal(out.numpy(), np.arange(256))

    @pytest.mark.parametrize(("name", "conflicts"), [("every_second", 8), ("side_by_side", 0)])
    def test_banks(self, name: str, conflicts: int) -> None:
        """Every second element: half of the banks, so that each of 8 warps is served twice."""
        out = np.zeros(256, np.float32)
        report = simulate(compile_kernel(BANDWIDTH, name).compiled, 1, 256, out)
        np.testing.assert_array_equal(out, np.arange(256))
        counters = report.counters
        assert counters.shared_load_bank_conflicts == conflicts
        assert counters.shared_store_bank_conflicts == conflicts
