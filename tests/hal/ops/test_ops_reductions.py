"""Along axes: sum, max, softmax, concat; against NumPy in float64."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import wia_lab.hal as wia
from wia_lab import hazards
from wia_lab.hal.tensor_layout import DTYPES

FLOATS = ["float16", "float32", "float64"]
CASES = [
    ((), None),
    ((1,), 0),
    ((0,), 0),
    ((1009,), None),
    ((7, 13), 0),
    ((7, 13), -1),
    ((3, 0, 5), 1),
    ((3, 0, 5), 0),
    ((2, 3, 5, 7), (1, 3)),
    ((2, 3, 5, 7), (-1, 0)),
    ((2, 3, 5, 7), None),
    ((2, 3), ()),
]


@pytest.fixture
def context() -> Iterator[wia.Context]:
    """On an H100."""
    made = wia.Context(wia.open_machine("H100")[0])
    yield made
    with hazards("off"):
        made.close()


def values(shape: tuple[int, ...], dtype: object, seed: int = 0) -> np.ndarray:
    """Numbers on both sides of zero, or small integers of the type."""
    rng, found = np.random.default_rng(seed), np.dtype(dtype)
    if found.kind == "f":
        return np.asarray(rng.normal(size=shape), found)
    return rng.integers(0 if found.kind == "u" else -100, 100, shape, found)


class TestSum:
    """Sums within n rounding errors; integers exactly, in 64 bits."""

    @pytest.mark.parametrize("dtype", DTYPES, ids=str)
    @pytest.mark.parametrize("keepdims", [False, True])
    @pytest.mark.parametrize(("shape", "axis"), CASES)
    def test_against_numpy(
        self, context: wia.Context, dtype: np.dtype, shape: tuple, axis: Any, keepdims: bool
    ) -> None:
        a = values(shape, dtype)
        got = wia.sum(wia.from_numpy(context, a), axis, keepdims=keepdims).numpy()
        if dtype.kind != "f":
            expected = np.sum(a, axis=axis, keepdims=keepdims)
            assert got.dtype == (np.int64 if dtype.kind == "i" else np.uint64)
            assert np.array_equal(got, expected)
            return
        wide = a.astype(np.float64)
        expected = np.sum(wide, axis=axis, keepdims=keepdims)
        eps = np.finfo(np.float32 if dtype == np.float16 else dtype).eps
        allowed = a.size * eps * np.sum(np.abs(wide), axis=axis, keepdims=keepdims)
        allowed = allowed + np.finfo(dtype).eps * np.abs(expected)
        assert got.dtype == dtype
        assert got.shape == expected.shape
        assert np.all(np.abs(got - expected) <= allowed)

    def test_half_precision_is_summed_in_single(self, context: wia.Context) -> None:
        """In float16, 2,048 and 1 is 2,048: a sum of ones would stop there."""
        ones = wia.full(context, 10_000, 1, "float16")
        assert wia.sum(ones).numpy() == 10_000

    def test_views(self, context: wia.Context) -> None:
        a = values((6, 8, 4), "int32")
        view = wia.transpose(wia.from_numpy(context, a), (2, 0, 1))[::-1, 1::2]
        expected = a.transpose(2, 0, 1)[::-1, 1::2].sum(axis=1)
        assert np.array_equal(wia.sum(view, 1).numpy(), expected)

    def test_special_values(self, context: wia.Context) -> None:
        a = np.array([[1, np.inf], [np.nan, 2], [np.inf, -np.inf]])
        got = wia.sum(wia.from_numpy(context, a), 1).numpy()
        assert np.array_equal(got, [np.inf, np.nan, np.nan], equal_nan=True)


class TestMax:
    """NumPy's maximum, exactly; NaN wins."""

    @pytest.mark.parametrize("dtype", DTYPES, ids=str)
    @pytest.mark.parametrize("keepdims", [False, True])
    @pytest.mark.parametrize(("shape", "axis"), CASES)
    def test_against_numpy(
        self, context: wia.Context, dtype: np.dtype, shape: tuple, axis: Any, keepdims: bool
    ) -> None:
        a = values(shape, dtype)
        tensor = wia.from_numpy(context, a)
        if not a.size and (axis == 0 and shape == (0,) or axis == 1):
            with pytest.raises(wia.InvalidValue, match="no elements have no maximum"):
                wia.max(tensor, axis, keepdims=keepdims)
            return
        got = wia.max(tensor, axis, keepdims=keepdims).numpy()
        assert got.dtype == dtype
        expected = np.max(a, axis=axis, keepdims=keepdims)
        assert got.shape == np.shape(expected)
        assert np.array_equal(got, expected)

    def test_special_values(self, context: wia.Context) -> None:
        a = np.array([[1, np.inf], [np.nan, 2], [-np.inf, -np.inf]], np.float32)
        got = wia.max(wia.from_numpy(context, a), 1).numpy()
        assert np.array_equal(got, [np.inf, np.nan, -np.inf], equal_nan=True)


class TestSoftmax:
    """Shares that add up to one, whatever is added to a row."""

    @pytest.mark.parametrize("dtype", FLOATS)
    @pytest.mark.parametrize(
        ("shape", "axis"),
        [
            ((1,), 0),
            ((0,), 0),
            ((3, 0), 1),
            ((0, 3), 1),
            ((13, 7), 0),
            ((13, 7), -1),
            ((2, 3, 5), 1),
        ],
    )
    def test_against_numpy(self, context: wia.Context, dtype: str, shape: tuple, axis: int) -> None:
        a = (values(shape, dtype) * 5).astype(dtype)
        got = wia.softmax(wia.from_numpy(context, a), axis).numpy()
        powers = np.exp(a.astype(np.float64))
        expected = powers / powers.sum(axis=axis, keepdims=True)
        assert got.dtype == dtype
        assert got.shape == shape
        if got.size:
            eps = float(np.finfo(dtype).eps)
            tiny = float(np.finfo(dtype).smallest_subnormal)
            assert np.all(np.abs(got - expected) <= 32 * eps * expected + tiny)

    @pytest.mark.parametrize("shift", [1e4, -1e4])
    def test_large_numbers(self, context: wia.Context, shift: float) -> None:
        a = np.array([[0, 1, 2]], np.float32) + np.float32(shift)
        got = wia.softmax(wia.from_numpy(context, a)).numpy()
        expected = np.exp([0, 1, 2]) / np.exp([0, 1, 2]).sum()
        assert np.allclose(got, expected, rtol=1e-6, atol=0)

    def test_special_values(self, context: wia.Context) -> None:
        a = np.array([[0, -np.inf], [0, np.inf], [np.nan, 0], [-np.inf, -np.inf]])
        got = wia.softmax(wia.from_numpy(context, a), 1).numpy()
        nan = [np.nan, np.nan]
        assert np.array_equal(got[0], [1, 0])
        assert np.isnan(got[1, 1])
        assert np.array_equal(got[2:], [nan, nan], equal_nan=True)


class TestConcat:
    """NumPy's, exactly."""

    @pytest.mark.parametrize("dtype", DTYPES, ids=str)
    @pytest.mark.parametrize("axis", [0, 1, -1])
    def test_against_numpy(self, context: wia.Context, dtype: np.dtype, axis: int) -> None:
        shapes = [[3, 4, 5] for _ in range(4)]
        for shape, length in zip(shapes, (1, 7, 0, 2), strict=True):
            shape[axis] = length
        arrays = [values(tuple(shape), dtype, seed) for seed, shape in enumerate(shapes)]
        got = wia.concat([wia.from_numpy(context, each) for each in arrays], axis).numpy()
        assert got.dtype == dtype
        assert np.array_equal(got, np.concatenate(arrays, axis))

    def test_views_of_one_tensor(self, context: wia.Context) -> None:
        a = values((4, 4), "float32")
        tensor = wia.from_numpy(context, a)
        got = wia.concat([wia.transpose(tensor), tensor[::-1], tensor])
        assert np.array_equal(got.numpy(), np.concatenate([a.T, a[::-1], a]))


class TestRefused:
    """One sentence each: what, where, and the way out."""

    @pytest.mark.parametrize(
        ("attempt", "text"),
        [
            (lambda a: wia.sum(a, 2), "sum: axis 2 of a tensor with 2 axes: give -2 to 1"),
            (lambda a: wia.sum(a, (0, 0)), "sum: axis (0, 0) of a tensor with 2 axes"),
            (lambda a: wia.sum(a, (0, -2)), "sum: axis (0, -2) of a tensor with 2 axes"),
            (lambda a: wia.max(a, 0.5), "max: axis 0.5 of a tensor with 2 axes"),
            (lambda a: wia.max(a, "x"), "max: axis 'x' of a tensor with 2 axes"),
            (lambda a: wia.max(wia.sum(a), 0), "tensor with 0 axes: give None alone"),
            (lambda a: wia.max(a[:0]), "max: (0, 3) has no elements along axis None"),
            (lambda a: wia.softmax(a, None), "softmax: axis is None: give one integer"),
            (lambda a: wia.softmax(a, (0, 1)), "softmax: axis is (0, 1): give one integer"),
            (lambda a: wia.softmax(wia.convert(a, "int8")), "softmax: the elements are int8"),
            (lambda a: wia.concat([]), "concat: no tensors: give at least one"),
            (lambda a: wia.concat([a, a[:, :2]]), "tensors[1] is (2, 2): all lengths but those"),
            (lambda a: wia.concat([a, a[0]]), "tensors[0] is (2, 3) and tensors[1] is (3,)"),
            (
                lambda a: wia.concat([a, wia.convert(a, "float64")]),
                "tensors[0] is float32 and tensors[1] is float64",
            ),
            (lambda a: wia.concat([a, 1.0]), "tensors[1] is a float, not a tensor"),
            (lambda a: wia.concat([wia.sum(a)]), "concat: a tensor of one number has no axis"),
        ],
    )
    def test_refused(
        self, context: wia.Context, attempt: Callable[[object], object], text: str
    ) -> None:
        with pytest.raises(wia.InvalidValue) as refusal:
            attempt(wia.zeros(context, (2, 3)))
        assert text in str(refusal.value)
        assert "\n" not in str(refusal.value)
