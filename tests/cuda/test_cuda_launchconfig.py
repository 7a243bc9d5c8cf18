"""Launch configurations: what is accepted, and the error that each mistake gets.

Limits are those of the CUDA C++ Programming Guide; classes those that numba-cuda 0.30 raises.
"""

from __future__ import annotations

import numpy as np
import pytest

from wia_lab import cuda, machines
from wia_lab.cuda.errors import CudaAPIError
from wia_lab.cuda.launchconfig import LaunchConfiguration
from wia_lab.errors import LaunchError


def configured(*index):
    """What ``k[index]`` becomes."""
    return LaunchConfiguration.of(index, "k", machines.device("H200"))


@cuda.jit
def k(out):
    """One an element."""
    out[cuda.threadIdx.x] = 1


class TestNormalised:
    """Integers and tuples of up to three become three integers."""

    @pytest.mark.parametrize(
        ("given", "dims"),
        [
            (4, (4, 1, 1)),
            ((4,), (4, 1, 1)),
            ((4, 2), (4, 2, 1)),
            ([4, 2, 3], (4, 2, 3)),
            (np.int32(4), (4, 1, 1)),
            (True, (1, 1, 1)),
        ],
    )
    def test_dimensions(self, given, dims):
        assert configured(given, 32).grid == dims
        assert configured(1, given).block == dims

    def test_stream_and_shared_bytes(self):
        stream = cuda.stream()
        found = configured(1, 32, stream, 256)
        assert (found.stream, found.shared_bytes) == (stream, 256)

    def test_the_most(self):
        assert configured((2**31 - 1, 65535, 65535), (16, 1, 64), 0, 49152).block == (16, 1, 64)


class TestRefused:
    """One sentence each, in numba-cuda's class."""

    @pytest.mark.parametrize(
        ("index", "kind", "text"),
        [
            ((1,), ValueError, "takes 2 to 4 items and got 1"),
            ((1, 2, 0, 0, 0), ValueError, "got 5"),
            ((None, 32), ValueError, "gives no size"),
            (((1, 1, 1, 1), 32), ValueError, "1, 2 or 3 integers"),
            (((), 32), ValueError, "1, 2 or 3 integers"),
            ((1.5, 32), TypeError, "use // or math.ceil"),
            ((1, "32"), TypeError, "must be integers"),
            ((0, 32), ValueError, "grid 0 must be at least 1"),
            ((1, (32, -1)), ValueError, "block \\(32, -1\\) must be at least 1"),
            ((1, 1025), CudaAPIError, "block dimension x is 1,025, at most 1,024"),
            ((1, (33, 32)), CudaAPIError, "33 × 32 = 1,056 threads is too large"),
            ((1, (1, 1, 65)), CudaAPIError, "block dimension z is 65, at most 64"),
            ((2**31, 1), CudaAPIError, "grid dimension x"),
            (((1, 65536), 1), CudaAPIError, "grid dimension y is 65,536, at most 65,535"),
            ((1, 1, 0, 49153), CudaAPIError, "49,153 bytes of dynamic shared memory"),
            ((1, 1, 0, -4), CudaAPIError, "-4 bytes"),
            ((1, 1, 0, 1.0), TypeError, "number of bytes"),
        ],
    )
    def test_mistake(self, index, kind, text):
        with pytest.raises(kind, match=text):
            k[index]

    def test_driver_error_names_its_code(self):
        with pytest.raises(LaunchError) as caught:
            k[1, 2000]
        assert type(caught.value).__name__ == "CudaAPIError"
        assert caught.value.code == "CUDA_ERROR_INVALID_VALUE"
        assert str(caught.value).startswith("[CUDA_ERROR_INVALID_VALUE] k: ")

    def test_no_tuple(self):
        with pytest.raises(TypeError, match=r"k\[4\] names no block size"):
            k[4]

    def test_no_configuration(self):
        with pytest.raises(ValueError, match="Kernel launch configuration was not specified"):
            k(np.zeros(1))

    def test_negative_tasks(self):
        with pytest.raises(ValueError, match="negative task count: -1"):
            k.forall(-1)
