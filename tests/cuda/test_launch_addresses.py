"""Device arrays keep their device address in a launch: alignment and aliasing are the device's."""

from __future__ import annotations

from collections import namedtuple

import numpy as np
import pytest

from wia_lab import cuda
from wia_lab.cuda.simulated import Launch
from wia_lab.errors import LaunchError

WARPS = 8


@cuda.jit
def copy(out, a):
    """One element a thread."""
    i = cuda.grid(1)
    out[i] = a[i]


@cuda.jit
def shifted_sum(out, a, b):
    """Two views of one array, and a third."""
    i = cuda.grid(1)
    out[i] = a[i] + b[i]


def counters(kernel, *args):
    """What a launch of `WARPS` full warps counts."""
    made = kernel[WARPS // 4, 128]
    launch = Launch(kernel, made.configuration, args, kernel.argument_names(args))
    cuda.synchronize()
    launch.work().begin()
    return launch.report.counters


class TestAlignment:
    """A warp of 4-byte elements fills 4 sectors where it is aligned, and 5 where it is not."""

    @pytest.mark.parametrize(("first", "sectors"), [(0, 4), (1, 5), (7, 5), (8, 4)])
    def test_slice(self, first, sectors):
        a = cuda.to_device(np.arange(32 * WARPS + 8, dtype=np.float32))
        out = cuda.device_array(32 * WARPS, np.float32)
        counted = counters(copy, out, a[first:])
        assert counted.global_load_requests == WARPS
        assert counted.global_load_sectors == sectors * WARPS
        assert counted.global_store_sectors == 4 * WARPS

    def test_a_host_array_is_aligned_as_its_copy_on_the_device(self):
        """NumPy aligns to 16 bytes; a copy on the device is aligned to 256."""
        a = np.zeros(32 * WARPS + 1, np.float32)[1:]
        counted = counters(copy, cuda.device_array(32 * WARPS, np.float32), cuda.to_device(a))
        assert counted.global_load_sectors == 4 * WARPS


class TestAliasing:
    """Device arrays may share memory in a launch; two host arrays would be two copies."""

    def test_views_of_one_device_array(self):
        a = cuda.to_device(np.arange(257, dtype=np.float32))
        out = cuda.device_array(256, np.float32)
        shifted_sum[2, 128](out, a[:-1], a[1:])
        assert out.copy_to_host().tolist() == [2 * i + 1 for i in range(256)]

    def test_in_place(self):
        a = cuda.to_device(np.arange(256, dtype=np.float32))
        shifted_sum[2, 128](a, a, a)
        assert a.copy_to_host().tolist() == [2 * i for i in range(256)]

    def test_host_arrays(self):
        a = np.arange(256, dtype=np.float32)
        with pytest.raises(LaunchError, match="share memory"):
            copy[2, 128](a, a)


class TestTyping:
    """A device array is typed as the array it describes, wherever it stands."""

    def test_in_a_tuple(self):
        @cuda.jit
        def from_tuple(out, pair):
            i = cuda.grid(1)
            out[i] = pair[0][i] - pair[1][i]

        a, b = (cuda.to_device(np.full(4, value)) for value in (7.0, 2.0))
        out = np.zeros(4)
        from_tuple[1, 4](out, (a, b))
        assert out.tolist() == [5] * 4

    def test_in_a_named_tuple(self):
        pair = namedtuple("pair", "x y")  # noqa: PYI024 - as kernels' users write it

        @cuda.jit
        def from_names(out, both):
            out[cuda.threadIdx.x] = both.x[cuda.threadIdx.x] + both.y

        out = np.zeros(2)
        from_names[1, 2](out, pair(cuda.to_device(np.array([1.0, 2.0])), 10))
        assert out.tolist() == [11, 12]

    def test_records(self):
        kind = np.dtype([("x", np.int32), ("y", np.float64)])

        @cuda.jit
        def halves(a):
            a[cuda.threadIdx.x].y = a[cuda.threadIdx.x].x / 2

        a = cuda.to_device(np.array([(1, 0), (3, 0)], kind))
        halves[1, 2](a)
        assert a.copy_to_host()["y"].tolist() == [0.5, 1.5]

    def test_signature_and_specialize(self):
        a, out = cuda.to_device(np.arange(256, dtype=np.float32)), np.zeros(256, np.float32)
        cuda.jit("void(float32[:], float32[:])")(copy.py_func)[2, 128](out, a)
        assert out[255] == 255
        with pytest.raises(TypeError, match="No matching definition"):
            cuda.jit("void(int8[:], int8[:])")(copy.py_func)[2, 128](out, a)
        assert copy.specialize(out, a).signatures[0].arguments[1].dtype.name == "float32"


class TestRefused:
    """Errors have the names that hardware gives them."""

    @pytest.mark.parametrize("stream", ["default", "new"])
    def test_too_much_static_shared_memory(self, stream):
        size = 12 * 1024 + 1

        @cuda.jit
        def greedy(out):
            tile = cuda.shared.array(size, np.float32)
            tile[0] = 1
            out[0] = tile[0]

        where = cuda.stream() if stream == "new" else 0
        with pytest.raises(LaunchError, match="uses too much shared data") as caught:
            greedy[1, 1, where](cuda.device_array(1, np.float32))
        assert caught.type.__name__ == "nvJitLinkError"
