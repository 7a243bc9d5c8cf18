"""Kernels launched through the HAL, on virtual machines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import wia_lab.hal as wia
from wia_lab import HazardError, cuda, hazards
from wia_lab.hal import LaunchConfig, MemoryKind, compile_kernel, launch_kernel

VECTOR_ADD = """__kernel void vector_add(
    __global const float* a,
    __global const float* b,
    __global float* c,
    int n
) {
    int gid = get_global_id(0);
    if (gid < n) {
        c[gid] = a[gid] + b[gid];
    }
}"""
N = 1000


@cuda.jit
def scaled(out, a, factor):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = factor * a[i]


@cuda.jit
def transposed(out, a):
    x, y = cuda.grid(2)
    if x < a.shape[0] and y < a.shape[1]:
        out[y, x] = a[x, y]


@pytest.fixture
def context() -> Iterator[wia.Context]:
    """On the first of two H100s."""
    made = wia.Context(wia.open_machine("2xH100-nvlink")[0])
    yield made
    with hazards("off"):
        made.close()


@pytest.fixture
def tensors(context: wia.Context) -> tuple[wia.Tensor, wia.Tensor, wia.Tensor]:
    """0, 1, 2, …; its squares; and nothing yet."""
    values = np.arange(N, dtype=np.float32)
    return (
        wia.from_numpy(context, values),
        wia.from_numpy(context, values**2),
        wia.empty(context, N),
    )


class TestLaunch:
    """What a launch computes, and when."""

    @pytest.mark.parametrize(
        "config",
        [
            LaunchConfig(4, 256),
            LaunchConfig(grid=(4, 1, 1), block=[256]),
            LaunchConfig(global_size=N, local_size=256),
            LaunchConfig(global_size=(N, 1, 1), local_size=(250, 1, 1)),
        ],
    )
    def test_both_styles(self, tensors: Any, config: LaunchConfig) -> None:
        a, b, c = tensors
        launch_kernel(compile_kernel(VECTOR_ADD, "vector_add"), config, a, b, c, N)
        values = np.arange(N, dtype=np.float32)
        np.testing.assert_array_equal(c.numpy(), values + values**2)

    def test_a_numba_function(self, context: wia.Context, tensors: Any) -> None:
        """Tensors keep their shape and strides."""
        a, _, c = tensors
        launch_kernel(compile_kernel(scaled), LaunchConfig(4, 256), c, a, np.float32(3))
        np.testing.assert_array_equal(c.numpy(), 3 * np.arange(N, dtype=np.float32))
        matrix = np.arange(35.0).reshape(5, 7)
        source, out = wia.from_numpy(context, matrix), wia.zeros(context, (7, 10))
        out = wia.convert(out, np.float64)
        launch_kernel(compile_kernel(transposed), LaunchConfig((1, 1), (8, 8)), out[:, ::2], source)
        np.testing.assert_array_equal(out.numpy()[:, ::2], matrix.T)
        assert not out.numpy()[:, 1::2].any()

    def test_parts_of_buffers(self, context: wia.Context, tensors: Any) -> None:
        """A pointer takes bytes of a buffer too, and one buffer twice."""
        kernel, (a, _, _) = compile_kernel(VECTOR_ADD), tensors
        wia.default_stream(context).synchronize()
        buffer = context.allocate(8 * N, name="both")
        with context.create_stream() as stream:
            wia.launch_kernel_async(
                kernel, LaunchConfig(4, 256), a, a, buffer[0 : 4 * N], N, stream=stream
            )
            wia.launch_kernel_async(
                kernel,
                LaunchConfig(4, 256),
                a,
                buffer[0 : 4 * N],
                buffer[4 * N :],
                N,
                stream=stream,
            )
            staged = context.allocate(4 * N, MemoryKind.HOST)
            stream.copy(staged, buffer[4 * N :])
            stream.synchronize()
        np.testing.assert_array_equal(
            staged.host(np.float32, "read"), 3 * np.arange(N, dtype=np.float32)
        )

    def test_unified_memory(self, context: wia.Context) -> None:
        """The kernel's pages come to the device, and go back to the host that reads."""
        memory = context.allocate(4 * N, MemoryKind.UNIFIED)
        memory.host(np.float32, "write")[:] = 1
        launch_kernel(compile_kernel(VECTOR_ADD), LaunchConfig(4, 256), memory, memory, memory, N)
        assert (memory.host(np.float32, "read") == 2).all()

    @pytest.mark.virtual("hazards, which only virtual machines find")
    def test_results_before_their_time(self, context: wia.Context, tensors: Any) -> None:
        """Two streams with nothing between them are a hazard that names both."""
        a, b, c = tensors
        kernel, config = compile_kernel(VECTOR_ADD), LaunchConfig(4, 256)
        wia.default_stream(context).synchronize()
        one, two = context.create_stream(), context.create_stream()
        wia.launch_kernel_async(kernel, config, a, b, c, N, stream=one)
        wia.launch_kernel_async(kernel, config, c, b, a, N, stream=two)
        with pytest.raises(HazardError, match="vector_add"):
            context.synchronize()

    @pytest.mark.virtual("hazards, which only virtual machines find")
    def test_hazards_name_line_and_launch(self, tensors: Any) -> None:
        """A stray access names the line of the text and the launch; the context stays usable."""
        a, b, c = tensors
        kernel = compile_kernel(VECTOR_ADD)
        with pytest.raises(HazardError, match=r"line 9: .*\(vector_add, launched on line \d+ in"):
            launch_kernel(kernel, LaunchConfig(5, 256), a, b, c, N + 1)
        launch_kernel(kernel, LaunchConfig(5, 256), a, b, c, N)

    def test_the_profile_has_the_kernel(self, context: wia.Context, tensors: Any) -> None:
        """A launch takes the time of its cost, under its name."""
        with wia.Profiler(context) as profiler:
            launch_kernel(compile_kernel(VECTOR_ADD), LaunchConfig(4, 256), *tensors, N)
        (stats,) = profiler.report().kernel_stats
        assert (stats.name, stats.call_count) == ("vector_add", 1)
        assert stats.total_time_ms > 0


CONFIGS = [
    ({}, "give grid and block, or global_size and local_size"),
    ({"grid": 1}, "give grid and block"),
    ({"grid": 1, "block": 1, "local_size": 1}, "give grid and block"),
    ({"grid": 0, "block": 1}, "grid is 0: give one to three integers from 1 on"),
    ({"grid": (1, 1, 1, 1), "block": 1}, "grid is (1, 1, 1, 1)"),
    ({"grid": 1.5, "block": 1}, "grid is 1.5"),
    ({"global_size": 100, "local_size": -1}, "local_size is -1"),
]


@pytest.mark.parametrize(("options", "message"), CONFIGS)
def test_wrong_configurations(options: dict[str, Any], message: str) -> None:
    """A configuration that cannot be is refused where it is written."""
    with pytest.raises(wia.InvalidValue) as caught:
        LaunchConfig(**options)
    assert message in str(caught.value)


def _launches(context: wia.Context) -> dict[str, tuple[Any, str]]:
    a = wia.from_numpy(context, np.zeros(N, np.float32))
    kernel, config = compile_kernel(VECTOR_ADD), LaunchConfig(4, 256)
    other = wia.Context(context.device.machine[1])
    foreign = wia.Context(wia.open_machine("1xT4")[0])
    host = context.allocate(4 * N, MemoryKind.HOST, name="staging")
    gone = wia.empty(context, N)
    gone.close()

    def launch(*arguments: Any, config: LaunchConfig = config, **options: Any) -> Any:
        return lambda: launch_kernel(kernel, config, *arguments, **options)

    return {
        "count": (launch(a, a, a), "vector_add takes 4 arguments (a, b, c, n) and got 3"),
        "type": (
            launch(wia.convert(a, "int32"), a, a, N),
            "vector_add: a is of float32 and got",
        ),
        "float": (launch(a, a, a, 1.0), "vector_add: n is of int32 and got 1.0"),
        "range": (launch(a, a, a, 2**31), "give an integer from -2147483648 to 2147483647"),
        "number": (launch(a, a, 1.0, N), "vector_add: c is memory and got float '1.0'"),
        "memory": (launch(a, a, a, a), "vector_add: n is a number and got"),
        "array": (launch(np.zeros(N, np.float32), a, a, N), "a is memory and got ndarray"),
        "holes": (launch(a[::2], a, a, 500), "contiguous(tensor) makes one that fits"),
        "odd": (launch(a.buffer[0:6], a, a, 1), "must be multiples of 4 bytes"),
        "kind": (launch(host, a, a, N), "staging is host memory, which kernels cannot reach"),
        "peer": (launch(wia.empty(other, N), a, a, N), "enable_peer_access"),
        "machine": (launch(a, wia.empty(foreign, N), a, N), "of another machine"),
        "released": (launch(gone, a, a, N), "release"),
        "stream": (launch(a, a, a, N, stream=3), "give one that context.create_stream() made"),
        "block": (
            launch(a, a, a, N, config=LaunchConfig(1, 1025)),
            "block dimension x is 1,025, at most 1,024 are possible",
        ),
        "shared": (
            launch(a, a, a, N, config=LaunchConfig(1, 1, shared_memory="1MiB")),
            "1,048,576 bytes of dynamic shared memory",
        ),
    }


@pytest.mark.parametrize(
    "case",
    [
        "count", "type", "float", "range", "number", "memory", "array", "holes", "odd", "kind",
        "peer", "machine", "released", "stream", "block", "shared",
    ],
)  # fmt: skip
def test_wrong_launches(context: wia.Context, case: str) -> None:
    """One sentence before anything runs; afterwards the context computes as before."""
    launch, message = _launches(context)[case]
    with pytest.raises(wia.HalError) as caught:
        launch()
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    good = wia.from_numpy(context, np.ones(N, np.float32))
    launch_kernel(compile_kernel(VECTOR_ADD), LaunchConfig(4, 256), good, good, good, N)
    assert (good.numpy() == 2).all()
