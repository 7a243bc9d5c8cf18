"""`cuda.reduce`, `cuda.vectorize` and `cuda.guvectorize` on the simulator, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from wia_lab import cuda
from wia_lab.cuda.arrays import DeviceNDArray
from wia_lab.cuda.ufuncs import parse_layout


@cuda.reduce
def total(a, b):
    """Sum."""
    return a + b


@cuda.vectorize(["float32(float32, float32)", "float64(float64, float64)"])
def squares(a, b):
    """Sum of squares."""
    return a * a + b * b


@cuda.guvectorize(["void(float64[:,:], float64[:,:], float64[:,:])"], "(m,n),(n,p)->(m,p)")
def matmul(a, b, c):
    """Matrix product."""
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            c[i, j] = 0
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


@cuda.guvectorize(["void(float64[:], float64, float64[:])"], "(n),()->()")
def scaled_sum(a, factor, out):
    """Sum of the elements, each times a factor."""
    out[0] = 0
    for i in range(a.shape[0]):
        out[0] += a[i] * factor


class TestReduce:
    """Sizes on both sides of a block and of a grid; the initial value counts once."""

    @pytest.mark.parametrize("size", [1, 2, 31, 127, 128, 129, 1009, 8193, 20011])
    def test_sum(self, size):
        values = np.arange(1, size + 1, dtype=np.int64)
        assert total(values) == size * (size + 1) // 2

    def test_init_and_size(self):
        assert total(np.arange(1000, dtype=np.int32), size=11, init=100) == 155

    def test_empty(self):
        assert total(np.empty(0, np.float32), init=3) == 3

    def test_maximum(self):
        """As in numba-cuda the initial value, 0, takes part."""
        largest = cuda.Reduce(lambda a, b: a if a > b else b)  # noqa: FURB136 - of any operator
        assert largest(np.array([-3, -9, -2], np.int32)) == 0
        assert largest(np.array([-3, -9, -2], np.int32), init=-100) == -2

    def test_result_on_the_device(self):
        result = cuda.device_array(2, np.int64)
        assert total(cuda.to_device(np.arange(10)), res=result) is None
        assert result[0] == 45

    def test_two_dimensions(self):
        with pytest.raises(TypeError, match="has 2 dimensions: use ravel"):
            total(np.zeros((2, 2)))


class TestVectorize:
    """Broadcast, cast to the first signature that fits, computed on the device."""

    def test_arrays(self):
        a, b = np.arange(6, dtype=np.float32).reshape(2, 3), np.float32([[1], [2]])
        result = squares(a, b)
        assert result.dtype == np.float32
        assert result.tolist() == (a * a + b * b).tolist()

    def test_numbers(self):
        assert squares(3.0, 4.0) == 25

    def test_integers_take_the_wide_signature(self):
        assert squares(np.array([3]), np.array([4])).dtype == np.float64

    def test_device_array(self):
        result = squares(cuda.to_device(np.float32([3, 5])), np.float32([4, 12]))
        assert isinstance(result, DeviceNDArray)
        assert result.copy_to_host().tolist() == [25, 169]

    def test_out(self):
        out = np.zeros(2, np.float32)
        assert squares(np.float32([3, 5]), np.float32([4, 12]), out=out) is out
        assert out.tolist() == [25, 169]

    def test_reduce(self):
        @cuda.vectorize(["int64(int64, int64)"])
        def add(a, b):
            return a + b

        assert add.reduce(np.arange(101)) == 5050

    def test_no_signature(self):
        with pytest.raises(TypeError, match="No matching version of squares for complex128"):
            squares(np.array([1j]), np.array([1j]))
        with pytest.raises(TypeError, match="needs signatures"):
            cuda.vectorize([])(lambda a: a)

    def test_unknown_option(self):
        with pytest.raises(TypeError, match="no option identity=0"):
            cuda.vectorize(["int64(int64)"], identity=0)


class TestGuvectorize:
    """A function of cores, over the outer dimensions."""

    def test_matrices(self):
        rng = np.random.default_rng(0)
        a, b = rng.random((5, 3, 4)), rng.random((4, 2))
        np.testing.assert_allclose(matmul(a, b), a @ b, rtol=1e-15)

    def test_scalar_core(self):
        result = scaled_sum(np.arange(6.0).reshape(2, 3), 2.0)
        assert result.tolist() == [6.0, 24.0]

    def test_dimension_differs(self):
        with pytest.raises(ValueError, match="dimension n is 4 in one argument and 3 in another"):
            matmul(np.zeros((3, 4)), np.zeros((3, 2)))

    @pytest.mark.parametrize(
        ("layout", "found"),
        [
            ("(m,n),(n,p)->(m,p)", ([("m", "n"), ("n", "p")], [("m", "p")])),
            ("(n), () -> ()", ([("n",), ()], [()])),
            ("(n)->(n),()", ([("n",)], [("n",), ()])),
        ],
    )
    def test_layout(self, layout, found):
        assert parse_layout(layout) == found

    def test_bad_layout(self):
        with pytest.raises(ValueError, match="is not of the form"):
            parse_layout("(n,(m)->(n)")
        with pytest.raises(NameError, match="undefined output symbols: p"):
            parse_layout("(n)->(p)")
