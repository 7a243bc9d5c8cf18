"""What only real devices show: other libraries, timeouts, errors of the driver, peers."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import wia_lab.hal as wia
from wia_lab import cuda
from wia_lab.cuda.choice import describe_backend
from wia_lab.hal import MemoryKind
from wia_lab.memory import Buddy, Compacting, Heap

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(describe_backend().backend != "hardware", reason="needs an NVIDIA GPU"),
]


@pytest.fixture
def machine() -> wia.Machine:
    """The GPUs of this computer."""
    return wia.open_machine("hardware")


@pytest.fixture
def context(machine: wia.Machine) -> Iterator[wia.Context]:
    """On device 0."""
    with wia.Context(machine[0]) as made:
        yield made


@cuda.jit
def spin(out, rounds):
    """Keeps a device busy for a while."""
    total = 0
    for i in range(rounds):
        total += i ^ (total >> 3)
    out[0] = total


@cuda.jit
def scaled(out, a, factor):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] * factor


class TestOtherLibraries:
    """Device memory is shared with others without a copy, both ways."""

    def test_cuda_array_interface(self, context: wia.Context) -> None:
        cupy = pytest.importorskip("cupy")
        values = np.arange(12, dtype=np.float32).reshape(3, 4)
        tensor = wia.from_numpy(context, values)
        seen = cupy.asarray(wia.transpose(tensor))
        assert np.array_equal(cupy.asnumpy(seen), values.T)
        seen[1, 2] = 99
        cupy.cuda.Device().synchronize()
        assert tensor.numpy()[2, 1] == 99

    def test_dlpack(self, context: wia.Context) -> None:
        torch = pytest.importorskip("torch")
        values = np.arange(12, dtype=np.int64).reshape(3, 4)
        tensor = wia.from_numpy(context, values)
        assert tensor.__dlpack_device__() == (2, 0)
        seen = torch.from_dlpack(tensor[1:, ::2])
        assert seen.tolist() == values[1:, ::2].tolist()
        back = wia.from_dlpack(context, torch.arange(5, device="cuda:0") * 3)
        assert back.numpy().tolist() == [0, 3, 6, 9, 12]

    def test_dlpack_needs_contiguous(self, context: wia.Context) -> None:
        torch = pytest.importorskip("torch")
        with pytest.raises(wia.InvalidValue, match="make them contiguous first"):
            wia.from_dlpack(context, torch.zeros((4, 4), device="cuda:0").T[:, :2])


class TestVendor:
    """Products by cuBLAS, where CuPy is installed."""

    @pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
    def test_products(self, context: wia.Context, dtype: str) -> None:
        pytest.importorskip("cupy")
        rng = np.random.default_rng(2)
        a, b = (
            rng.uniform(-1, 1, (65, 130)).astype(dtype),
            rng.uniform(-1, 1, (130, 33)).astype(dtype),
        )
        config = wia.MatmulConfig(algorithm=wia.MatmulAlgorithm.VENDOR)
        left = wia.transpose(wia.from_numpy(context, np.ascontiguousarray(a.T)))
        got = wia.matmul(left, wia.from_numpy(context, b), config=config)
        exact = a.astype(np.float64) @ b.astype(np.float64)
        allowed = 130 * float(np.finfo("float64" if dtype == "float64" else "float32").eps) * 130
        allowed += float(np.finfo(dtype).eps) * np.abs(exact)
        assert (np.abs(got.numpy() - exact) <= allowed).all()
        assert got.choice is not None
        assert got.choice.algorithm == "VENDOR"

    def test_stacks(self, context: wia.Context) -> None:
        pytest.importorskip("cupy")
        a = np.random.default_rng(3).uniform(-1, 1, (3, 8, 8)).astype(np.float32)
        tensor = wia.from_numpy(context, a)
        config = wia.MatmulConfig(algorithm=wia.MatmulAlgorithm.VENDOR)
        got = wia.batch_matmul(tensor, tensor, config=config).numpy()
        assert np.allclose(got, a @ a, atol=1e-5)

    def test_convolution_is_chosen_and_said(self, context: wia.Context) -> None:
        """cuDNN, by PyTorch, in the stream that was given; the values are in test_ops_images."""
        pytest.importorskip("torch")
        x, weight = wia.zeros(context, (4, 64, 56, 56)), wia.zeros(context, (64, 64, 3, 3))
        stream = context.create_stream()
        stream.wait(wia.default_stream(context))
        made = wia.conv2d(x, weight, config=wia.ConvConfig(padding=1), stream=stream)
        assert made.choice is not None
        assert made.choice.algorithm == "VENDOR"
        assert not made.numpy(stream=stream).any()

    @pytest.mark.parametrize(
        ("make", "told"),
        [
            (lambda x: x[:, :, ::-1], "go backwards"),
            (lambda x: x[:0], "of nothing"),
        ],
    )
    def test_convolutions_that_it_does_not_make(
        self, context: wia.Context, make: Callable[[wia.Tensor], wia.Tensor], told: str
    ) -> None:
        """AUTO takes another way, and says why not this one."""
        pytest.importorskip("torch")
        x, weight = wia.zeros(context, (2, 3, 8, 8)), wia.zeros(context, (2, 3, 3, 3))
        choice = wia.conv2d(make(x), weight).choice
        assert choice is not None
        assert choice.algorithm != "VENDOR"
        assert told in choice.explain()
        config = wia.ConvConfig(algorithm=wia.ConvAlgorithm.VENDOR)
        with pytest.raises(wia.InvalidValue, match=told):
            wia.conv2d(make(x), weight, config=config)

    def test_integers_are_refused(self, context: wia.Context) -> None:
        a = wia.zeros(context, (2, 2), "int32")
        config = wia.MatmulConfig(algorithm=wia.MatmulAlgorithm.VENDOR)
        with pytest.raises(wia.InvalidValue, match="no products of integers"):
            wia.matmul(a, a, config=config)

    def test_chosen_where_it_is_the_fastest(self, context: wia.Context) -> None:
        pytest.importorskip("cupy")
        a = wia.zeros(context, (2048, 2048))
        choice = wia.matmul(a, a).choice
        assert choice is not None
        assert choice.algorithm == "VENDOR"


class TestLaunches:
    """The fast way of a launch that was made before is right, and never outlives its memory."""

    def test_numbers_are_passed_anew(self, context: wia.Context) -> None:
        a = wia.from_numpy(context, np.arange(100, dtype=np.float32))
        out, stream = wia.zeros(context, 100), context.create_stream()
        context.synchronize()
        kernel, config = wia.compile_kernel(scaled), wia.LaunchConfig(1, 128)
        for factor in (2.0, 3.0, 4, 5.0):
            wia.launch_kernel_async(kernel, config, out, a, factor, stream=stream)
            stream.synchronize()
            assert np.array_equal(out.numpy(), np.arange(100, dtype=np.float32) * factor)

    def test_closed_memory_is_refused(self, context: wia.Context) -> None:
        a, out = wia.zeros(context, 100), wia.zeros(context, 100)
        stream, kernel = context.create_stream(), wia.compile_kernel(scaled)
        config = wia.LaunchConfig(1, 128)
        for _ in range(2):
            wia.launch_kernel_async(kernel, config, out, a, 1.0, stream=stream)
        a.close()
        with pytest.raises(wia.Closed, match="is used after it was"):
            wia.launch_kernel_async(kernel, config, out, a, 1.0, stream=stream)
        fresh = wia.from_numpy(context, np.full(100, 7, np.float32))
        wia.launch_kernel_async(kernel, config, out, fresh, 2.0, stream=stream)
        stream.synchronize()
        assert set(out.numpy()) == {14}

    def test_a_closed_stream_is_refused(self, context: wia.Context) -> None:
        a, out = wia.zeros(context, 10), wia.zeros(context, 10)
        stream, kernel = context.create_stream(), wia.compile_kernel(scaled)
        for _ in range(2):
            wia.launch_kernel_async(kernel, wia.LaunchConfig(1, 32), out, a, 1.0, stream=stream)
        stream.close()
        with pytest.raises(wia.Closed):
            wia.launch_kernel_async(kernel, wia.LaunchConfig(1, 32), out, a, 1.0, stream=stream)


class TestWaiting:
    """A wait with a timeout gives up, and the work goes on."""

    def test_timeout(self, context: wia.Context) -> None:
        out, stream = wia.zeros(context, 1, "int64"), context.create_stream()
        context.synchronize()
        kernel, config = wia.compile_kernel(spin), wia.LaunchConfig(1, 1)
        wia.launch_kernel(kernel, config, out, 1, stream=stream)  # compiled
        wia.launch_kernel_async(kernel, config, out, 50_000_000, stream=stream)
        assert not stream.is_done
        with pytest.raises(wia.TimedOut, match="did not end within"):
            stream.synchronize(timeout=1e-3)
        fence = wia.Fence(context)
        fence.submit(stream)
        assert not fence.is_passed
        stream.synchronize(timeout=60.0)
        assert fence.is_passed

    def test_two_streams_run_at_once(self, context: wia.Context) -> None:
        """Between the same events, two kernels take less than twice one."""
        out = [wia.zeros(context, 1, "int64") for _ in range(2)]
        streams = [context.create_stream() for _ in range(2)]
        kernel, config = wia.compile_kernel(spin), wia.LaunchConfig(1, 1)
        context.synchronize()

        def took(used: list[wia.Stream]) -> float:
            start = streams[0].record()
            streams[1].wait(start)
            for stream, each in zip(used, out, strict=False):
                wia.launch_kernel_async(kernel, config, each, 5_000_000, stream=stream)
            streams[0].wait(streams[1])
            end = streams[0].record()
            end.synchronize()
            return end.seconds_since(start)

        took(streams)
        alone = min(took(streams[:1]) for _ in range(3))
        both = min(took(streams) for _ in range(3))
        assert both < 1.6 * alone

    def test_an_error_in_a_function(self, context: wia.Context) -> None:
        """Whoever waits gets it, once, and the context stays usable; nothing is half written."""
        data = wia.from_numpy(context, np.arange(4, dtype=np.uint8))
        stream = context.create_stream()
        context.synchronize()

        def broken(bytes_: np.ndarray) -> None:
            bytes_[:2] = 99
            raise ValueError("parity")

        stream.submit(broken, data.buffer, seconds=0)
        with pytest.raises(ValueError, match="parity"):
            stream.synchronize()
        stream.synchronize()
        assert data.numpy().tolist() == [0, 1, 2, 3]


class TestMemory:
    """Reserved memory, the driver's limits, and allocators over device memory."""

    def test_reserved_at_once(self, machine: wia.Machine) -> None:
        """Buffers of a context with a pool of its own lie inside one allocation."""
        config = wia.ContextConfig(memory_pool_size="64MiB")
        with wia.Context(machine[0], config) as context:
            starts = [
                each.__cuda_array_interface__["data"][0]
                for each in (context.allocate("16MiB") for _ in range(4))
            ]
            assert max(starts) - min(starts) == 3 << 24
            with pytest.raises(wia.OutOfMemory):
                context.allocate(1)

    def test_more_than_there_is(self, context: wia.Context) -> None:
        """The driver's refusal is told as the books' is, and leaves the books right."""
        used = context.memory_in_use
        size = context.device.info.memory_size
        with pytest.raises(wia.OutOfMemory, match="bytes asked"):
            context.allocate(size - (1 << 20))  # the CUDA context takes some of it
        assert context.memory_in_use == used
        context.allocate(1 << 20).close()

    def test_unified_beyond_what_is_free(self, context: wia.Context) -> None:
        with pytest.raises(wia.OutOfMemory, match="of unified memory"):
            context.allocate(context.device.info.memory_size, MemoryKind.UNIFIED)

    def test_a_view_outlives_its_buffer(self, context: wia.Context) -> None:
        """Pinned memory stays as long as an array over it does."""
        buffer = context.allocate(1 << 20, MemoryKind.PINNED)
        view = buffer.host()
        view[:] = 5
        buffer.close()
        context.allocate(1 << 20, MemoryKind.PINNED).host()[:] = 6
        assert set(view) == {5}

    def test_compaction_moves_device_memory(self, context: wia.Context) -> None:
        """What blocks hold is the same after their places changed."""
        stream = context.create_stream()
        backing = wia.DeviceBacking(context.allocate(1 << 16), stream)
        heap = Compacting(Heap(1 << 16, backing=backing))
        blocks = [heap.allocate(4096) for _ in range(16)]
        for number, block in enumerate(blocks):
            backing.fill(block.offset, 4096, number)
        for block in blocks[::2]:
            heap.free(block)
        big = heap.allocate(6 * 4096)
        assert big.size >= 6 * 4096
        for number, block in enumerate(blocks):
            if number % 2:
                assert set(backing.read(block.offset, 4096)) == {number}

    def test_buddies_over_device_memory(self, context: wia.Context) -> None:
        stream = context.create_stream()
        backing = wia.DeviceBacking(context.allocate(1 << 14), stream)
        buddy = Buddy(Heap(1 << 14, backing=backing), 1 << 14)
        first, second = buddy.allocate(3000), buddy.allocate(5000)
        backing.write(first.offset, b"a" * 3000)
        backing.write(second.offset, b"b" * 5000)
        assert backing.read(first.offset, 3000) == b"a" * 3000
        assert backing.read(second.offset, 5000) == b"b" * 5000


class TestProfiler:
    """Kernels and copies are seen with times of the device."""

    def test_report(self, context: wia.Context) -> None:
        stream = context.create_stream()
        out, kernel = wia.zeros(context, 1, "int64"), wia.compile_kernel(spin)
        host, device = context.allocate(1 << 24, MemoryKind.PINNED), context.allocate(1 << 24)
        config = wia.LaunchConfig(1, 1)
        wia.launch_kernel(kernel, config, out, 1, stream=stream)
        with wia.Profiler(context) as profiler:
            for _ in range(3):
                wia.launch_kernel_async(kernel, config, out, 100_000, stream=stream)
            stream.copy(device, host)
        report = profiler.report()
        assert [(each.name, each.call_count) for each in report.kernel_stats] == [("spin", 3)]
        assert 0 < report.kernel_time_ms <= report.total_time_ms
        assert 0 < report.memory_time_ms <= report.total_time_ms


class TestFaults:
    """What the driver says of a kernel that goes wrong, in a process of its own."""

    def test_an_illegal_address(self, context: wia.Context) -> None:
        """The device counts as lost; a reset says that the process must end, and what is lost.

        Other processes' contexts on it, as this one's, go on.
        """
        before = wia.from_numpy(context, np.arange(5))
        program = textwrap.dedent(
            """
            import wia_lab.hal as wia
            from wia_lab import cuda

            @cuda.jit
            def wild(out):
                out[1 << 45] = 1.0

            machine = wia.open_machine("hardware")
            context = wia.Context(machine[0])
            out = wia.zeros(context, 8)
            for attempt in (
                lambda: wia.launch_kernel(
                    wia.compile_kernel(wild), wia.LaunchConfig(1, 1), out
                ),
                lambda: context.allocate(64),
                machine[0].reset,
            ):
                try:
                    attempt()
                except wia.DeviceLost as error:
                    print(error)
            """
        )
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", program],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        first, second, third = done.stdout.splitlines()
        assert "CUDA_ERROR_ILLEGAL_ADDRESS" in first
        assert "was lost" in second
        assert "start another to use device 0 again; lost are full" in third
        assert before.numpy().tolist() == list(range(5))

    def test_faults_are_not_injected(self, machine: wia.Machine) -> None:
        with pytest.raises(wia.InvalidValue, match="inject faults into a virtual machine"):
            machine.inject(0, wia.DeviceLost("gone"))


class TestPeers:
    """Two devices: copies with and without access, and kernels that read a peer's memory."""

    @pytest.fixture
    def pair(self, machine: wia.Machine) -> Iterator[tuple[wia.Context, wia.Context]]:
        """One context on each."""
        if len(machine) < 2:
            pytest.skip("needs 2 devices")
        with wia.Context(machine[0]) as first, wia.Context(machine[1]) as second:
            yield first, second

    def test_copies(self, pair: tuple[wia.Context, wia.Context]) -> None:
        first, second = pair
        values = np.arange(100_003, dtype=np.int32)
        there, stream = wia.from_numpy(first, values), second.create_stream()
        stream.wait(wia.default_stream(first).record())
        here = second.allocate(values.nbytes)
        stream.copy(here, there.buffer)
        got = second.allocate(values.nbytes, MemoryKind.HOST)
        stream.copy(got, here)
        assert np.array_equal(got.host(np.int32), values)

    def test_a_kernel_reads_its_peer(self, pair: tuple[wia.Context, wia.Context]) -> None:
        first, second = pair
        if not second.device.can_access_peer(first.device):
            pytest.skip("no way between the two devices")
        values = np.arange(1000, dtype=np.float32)
        there, out = wia.from_numpy(first, values), wia.zeros(second, 1000)
        first.synchronize()
        kernel, config = wia.compile_kernel(scaled), wia.LaunchConfig(8, 128)
        second.enable_peer_access(first)
        wia.launch_kernel(kernel, config, out, there, 2.0, stream=wia.default_stream(second))
        assert np.array_equal(out.numpy(), values * 2)

    def test_events_across_devices(self, pair: tuple[wia.Context, wia.Context]) -> None:
        """An event of one device holds a stream of the other."""
        first, second = pair
        a, b = first.create_stream(), second.create_stream()
        slow, mark = wia.zeros(first, 1, "int64"), wia.zeros(second, 1, "int64")
        for context in pair:
            context.synchronize()
        kernel, config = wia.compile_kernel(spin), wia.LaunchConfig(1, 1)
        wia.launch_kernel(kernel, config, slow, 1, stream=a)
        wia.launch_kernel(kernel, config, mark, 1, stream=b)
        wia.launch_kernel_async(kernel, config, slow, 20_000_000, stream=a)
        ready = a.record()
        b.wait(ready)
        wia.launch_kernel_async(kernel, config, mark, 1, stream=b)
        done = b.record()
        done.synchronize()
        assert ready.is_done
        barrier = wia.PeerBarrier([a, b])
        barrier.wait()
        for context in pair:
            context.synchronize()
