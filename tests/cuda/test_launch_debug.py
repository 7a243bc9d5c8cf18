"""With debug=True what a thread raises reaches the host, with the line and the thread named.

PYTEST_DONT_REWRITE: the asserts of the kernels are Numba's to compile, as they stand.
"""

from __future__ import annotations

import numpy as np
import pytest

from wia_lab import cuda


class TestDebug:
    """With debug=True what a thread raises reaches the host, with the thread named."""

    def test_raise(self):
        @cuda.jit(debug=True, opt=False)
        def raising(a):
            i = cuda.grid(1)
            if i == 35:
                raise ValueError("x")
            a[i] = i

        line = raising.py_func.__code__.co_firstlineno + 4
        with pytest.raises(ValueError, match=r"x$") as caught:
            raising[2, 32](np.zeros(64, np.int32))
        assert str(caught.value).startswith(f"line {line}, ")
        assert "thread 3" in str(caught.value)
        assert "block 1" in str(caught.value)

    def test_assert(self):
        @cuda.jit(debug=True, opt=False)
        def asserting(a):
            assert a[cuda.threadIdx.x] < 3, "too large"

        with pytest.raises(AssertionError, match="thread 3.*too large"):
            asserting[1, 8](np.arange(8))

    def test_without_debug_nothing_is_raised(self):
        @cuda.jit
        def asserting(a):
            assert a[cuda.threadIdx.x] < 3
            a[cuda.threadIdx.x] = -1

        a = np.arange(8)
        asserting[1, 8](a)
        assert a[:3].tolist() == [-1, -1, -1]
