"""Pinned memory that kernels use where it is, over the link: zero-copy."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import wia_lab.hal as wia
from wia_lab import cuda
from wia_lab.errors import HazardError
from wia_lab.hal import LaunchConfig, MemoryKind, compile_kernel, launch_kernel, launch_kernel_async

RACES = pytest.mark.virtual("hazards are found on virtual machines")
TIMES = pytest.mark.virtual("of the simulated clock")


@cuda.jit
def doubled(out, a):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = a[i] + a[i]


KERNEL = compile_kernel(doubled)


@pytest.fixture
def context() -> Iterator[wia.Context]:
    """On the first of two H100s."""
    with wia.Context(wia.open_machine("2xH100-nvlink")[0]) as made:
        yield made


def pinned(context: wia.Context, values: object, *, mapped: bool = True) -> wia.Tensor:
    """A tensor in pinned memory."""
    array = np.asarray(values, np.float32)
    return wia.from_numpy(context, array, memory=MemoryKind.PINNED, mapped=mapped)


class TestInPlace:
    """Kernels, functions and operations read and write the host's own bytes."""

    def test_a_kernel(self, context: wia.Context) -> None:
        a, out = pinned(context, range(100)), pinned(context, [0] * 100)
        launch_kernel(KERNEL, LaunchConfig(1, 128), out, a)
        assert out.host("read").tolist() == [2 * i for i in range(100)]
        assert a.buffer.mapped

    def test_a_kernel_of_a_text(self, context: wia.Context) -> None:
        kernel = compile_kernel("__kernel void f(__global int *o) { o[get_global_id(0)] += 1; }")
        buffer = context.allocate(32, MemoryKind.PINNED, mapped=True)
        buffer.host(np.int32)[:] = range(8)
        launch_kernel(kernel, LaunchConfig(1, 8), buffer)
        assert buffer.host(np.int32, "read").tolist() == list(range(1, 9))

    def test_a_function(self, context: wia.Context) -> None:
        buffer, stream = (
            context.allocate(8, MemoryKind.PINNED, mapped=True),
            context.create_stream(),
        )
        stream.submit(lambda a: a.fill(5), buffer, seconds=1e-6)
        stream.synchronize()
        assert buffer.host().tolist() == [5] * 8

    def test_operations(self, context: wia.Context) -> None:
        """Their results are in device memory, as those of any but memory that migrates."""
        a = pinned(context, np.arange(6).reshape(2, 3))
        got = wia.matmul(a, wia.transpose(a))
        assert got.memory is MemoryKind.DEVICE
        assert got.numpy().tolist() == [[5, 14], [14, 50]]
        assert wia.sum(a).numpy() == 15

    def test_a_kernel_of_another_device(self, context: wia.Context) -> None:
        """Host memory is no peer's: nobody has to be let reach it."""
        with wia.Context(context.device.machine[1]) as other:
            a, out = pinned(context, [1, 2]), wia.zeros(other, 2)
            launch_kernel(KERNEL, LaunchConfig(1, 2), out, a, stream=wia.default_stream(other))
            assert out.numpy().tolist() == [2, 4]

    def test_a_part(self, context: wia.Context) -> None:
        buffer, out = context.allocate(64, MemoryKind.PINNED, mapped=True), wia.zeros(context, 2)
        buffer.host(np.float32)[:] = range(16)
        part = wia.Tensor(buffer, wia.zeros(context, 16).layout, "all of it")[4:6]
        launch_kernel(KERNEL, LaunchConfig(1, 2), out, part)
        assert out.numpy().tolist() == [8, 10]


class TestRefused:
    """Only pinned memory is mapped, and only what is mapped is reached."""

    def test_not_mapped(self, context: wia.Context) -> None:
        out = wia.zeros(context, 2)
        with pytest.raises(wia.AccessRefused, match=r"tensor is pinned .* with mapped=True$"):
            launch_kernel(KERNEL, LaunchConfig(1, 2), out, pinned(context, [1, 2], mapped=False))
        assert out.numpy().tolist() == [0, 0]

    @pytest.mark.parametrize("kind", [each for each in MemoryKind if each.name != "PINNED"])
    def test_other_kinds(self, context: wia.Context, kind: MemoryKind) -> None:
        with pytest.raises(wia.InvalidValue, match=rf"^mapped=True for {kind.value} memory: only"):
            context.allocate(64, kind, mapped=True)
        with pytest.raises(wia.InvalidValue, match="^mapped=True"):
            wia.empty(context, 4, memory=kind, mapped=True)
        assert context.memory_in_use == 0

    @pytest.mark.parametrize("mapped", [1, None, "yes"])
    def test_no_flag(self, context: wia.Context, mapped: object) -> None:
        with pytest.raises(wia.InvalidValue, match="^allocate: mapped is .*: give True or False"):
            context.allocate(64, MemoryKind.PINNED, mapped=mapped)  # type: ignore[arg-type]

    def test_after_it_was_freed(self, context: wia.Context) -> None:
        a, out = pinned(context, [1, 2]), wia.zeros(context, 2)
        a.close()
        with pytest.raises(wia.Closed, match="is used after it was released"):
            launch_kernel(KERNEL, LaunchConfig(1, 2), out, a)


@RACES
class TestHazards:
    """The host and the device share the bytes, and must wait for each other."""

    def test_the_host_reads_too_early(self, context: wia.Context) -> None:
        a, out = wia.from_numpy(context, np.ones(8, np.float32)), pinned(context, [0] * 8)
        stream = wia.default_stream(context)
        launch_kernel_async(KERNEL, LaunchConfig(1, 8), out, a, stream=stream)
        with pytest.raises(HazardError, match="the host .* reads .* which doubled on .* writes"):
            out.host("read")
        stream.synchronize()
        assert out.host("read").tolist() == [2] * 8

    def test_the_host_writes_what_is_still_read(self, context: wia.Context) -> None:
        a, out = pinned(context, [1] * 8), wia.zeros(context, 8)
        stream = wia.default_stream(context)
        launch_kernel_async(KERNEL, LaunchConfig(1, 8), out, a, stream=stream)
        with pytest.raises(HazardError, match="the host .* writes .* which doubled on .* reads"):
            a.host("write")


@TIMES
class TestTime:
    """The link carries each byte once a launch; device memory is faster, and so is the cache."""

    def took(self, context: wia.Context, out: wia.Tensor, a: wia.Tensor) -> float:
        stream = wia.default_stream(context)
        context.synchronize()
        before = stream.record()
        launch_kernel(KERNEL, LaunchConfig(a.size // 256, 256), out, a)
        after = stream.record()
        after.synchronize()
        return after.seconds_since(before)

    def test_against_device_memory(self, context: wia.Context) -> None:
        values = np.ones(1 << 16, np.float32)
        near = wia.from_numpy(context, values), wia.from_numpy(context, values)
        far = pinned(context, values), pinned(context, values)
        route = context.backend.machine.host_route(0, upload=True)
        link = route.duration(values.nbytes) / 1e9
        device = self.took(context, *near)
        assert self.took(context, near[0], far[1]) >= link > device
        assert self.took(context, far[0], near[1]) >= link
        assert self.took(context, *far) < 2 * link + device
