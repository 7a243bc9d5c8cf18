"""Element by element: add, mul, relu, gelu, sigmoid, convert; against NumPy in float64."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import wia_lab.hal as wia
from wia_lab import hazards
from wia_lab.hal.tensor_layout import DTYPES

SHAPES = [(), (1,), (0,), (7,), (13, 5), (3, 0, 2), (2, 3, 5, 7)]
FLOATS = ["float16", "float32", "float64"]
SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0]


@pytest.fixture
def context() -> Iterator[wia.Context]:
    """On an H100."""
    made = wia.Context(wia.open_machine("H100")[0])
    yield made
    with hazards("off"):
        made.close()


def values(shape: tuple[int, ...], dtype: object, seed: int = 0) -> np.ndarray:
    """Numbers on both sides of zero, or any integers of the type."""
    rng, found = np.random.default_rng(seed), np.dtype(dtype)
    if found.kind == "f":
        return np.asarray(rng.normal(size=shape) * 3, found)
    limits = np.iinfo(found)
    return rng.integers(limits.min, limits.max, shape, found, endpoint=True)


class TestPairs:
    """Sums and products are NumPy's own, broadcast and wrapped round as NumPy's are."""

    @pytest.mark.parametrize("dtype", DTYPES, ids=str)
    @pytest.mark.parametrize("shape", SHAPES)
    def test_same_shape(
        self, context: wia.Context, dtype: np.dtype, shape: tuple[int, ...]
    ) -> None:
        a, b = values(shape, dtype), values(shape, dtype, 1)
        left, right = wia.from_numpy(context, a), wia.from_numpy(context, b)
        with np.errstate(all="ignore"):
            expected = np.add(a, b), np.multiply(a, b)
        for operation, result in zip((wia.add, wia.mul), expected, strict=True):
            got = operation(left, right).numpy()
            assert got.dtype == dtype
            assert np.array_equal(got, result)

    @pytest.mark.parametrize(
        ("first", "second"),
        [((3, 1), (1, 5)), ((2, 3, 5), (5,)), ((), (4, 3)), ((0, 3), (1, 3)), ((1,), (0,))],
    )
    def test_broadcast(
        self, context: wia.Context, first: tuple[int, ...], second: tuple[int, ...]
    ) -> None:
        a, b = values(first, "float32"), values(second, "float32", 1)
        got = wia.mul(wia.from_numpy(context, a), wia.from_numpy(context, b)).numpy()
        assert got.shape == (a * b).shape
        assert np.array_equal(got, a * b)

    def test_views(self, context: wia.Context) -> None:
        """Inputs may be transposed, reversed, or two views of one tensor."""
        a = values((6, 6), "float32")
        tensor = wia.from_numpy(context, a)
        got = wia.add(wia.transpose(tensor), tensor[::-1, ::-1])
        assert np.array_equal(got.numpy(), a.T + a[::-1, ::-1])

    @pytest.mark.parametrize("number", [2, 0.5, -3, np.float64(1.5), np.nan, np.inf])
    def test_numbers(self, context: wia.Context, number: float) -> None:
        a = values((4, 5), "float32")
        tensor = wia.from_numpy(context, a)
        expected = a + np.float32(number)
        assert np.array_equal(wia.add(tensor, number).numpy(), expected, equal_nan=True)

    def test_special_values(self, context: wia.Context) -> None:
        a, b = (each.ravel() for each in np.meshgrid(SPECIAL, SPECIAL))
        left, right = wia.from_numpy(context, a), wia.from_numpy(context, b)
        with np.errstate(invalid="ignore"):
            expected = a + b, a * b
        for operation, result in zip((wia.add, wia.mul), expected, strict=True):
            got = operation(left, right).numpy()
            assert np.array_equal(got, result, equal_nan=True)
            real = ~np.isnan(got)
            assert np.array_equal(np.signbit(got[real]), np.signbit(result[real]))

    @pytest.mark.parametrize(
        ("attempt", "text"),
        [
            (
                lambda c, a: wia.add(a, wia.zeros(c, 4)),
                "add: shapes (2, 3) and (4,) do not broadcast",
            ),
            (
                lambda c, a: wia.mul(a, wia.zeros(c, 3, "float64")),
                "mul: a is float32 and b is float64: convert one, as in convert(b, 'float32')",
            ),
            (lambda _, a: wia.add(a, np.ones(3)), "ndarray is neither a tensor nor a number"),
            (lambda _, a: wia.add(a, "2"), "str is neither a tensor nor a number"),
            (lambda _, a: wia.add(a, True), "bool is neither a tensor nor a number"),
            (lambda _, a: wia.add(a, 1j), "complex is neither a tensor nor a number"),
            (lambda _, a: wia.add(np.ones(3), a), "add: a is a ndarray, not a tensor: make one"),
            (lambda _, a: wia.add(a, 10**400), "is no float32"),
            (lambda c, _: wia.add(wia.zeros(c, 3, "int8"), 128), "add: 128 is no int8"),
            (lambda c, _: wia.mul(wia.zeros(c, 3, "int8"), 0.5), "mul: 0.5 is no int8"),
            (lambda c, _: wia.mul(wia.zeros(c, 3, "int8"), np.inf), "mul: inf is no int8"),
            (lambda c, _: wia.gelu(wia.zeros(c, 3, "int8")), "gelu: the elements are int8"),
            (lambda c, _: wia.sigmoid(wia.zeros(c, 3, "uint8")), "sigmoid: the elements are uint8"),
            (lambda _, a: wia.relu(a.numpy()), "relu: a is a ndarray, not a tensor"),
            (lambda _, a: wia.convert(a, "bool"), "'bool' is no type of a tensor's elements"),
        ],
    )
    def test_refused(
        self, context: wia.Context, attempt: Callable[[object, object], object], text: str
    ) -> None:
        with pytest.raises(wia.InvalidValue) as refusal:
            attempt(context, wia.zeros(context, (2, 3)))
        assert text in str(refusal.value)
        assert "\n" not in str(refusal.value)

    def test_the_largest_integers(self, context: wia.Context) -> None:
        """A 64-bit number is not taken through a float."""
        tensor = wia.zeros(context, 1, "int64")
        assert wia.add(tensor, 2**63 - 1).numpy()[0] == 2**63 - 1


class TestCurves:
    """ReLU, GELU and sigmoid within the rounding of their type, also far out."""

    @pytest.mark.parametrize("dtype", DTYPES, ids=str)
    @pytest.mark.parametrize("shape", SHAPES)
    def test_relu(self, context: wia.Context, dtype: np.dtype, shape: tuple[int, ...]) -> None:
        a = values(shape, dtype)
        got = wia.relu(wia.from_numpy(context, a)).numpy()
        assert got.dtype == dtype
        assert np.array_equal(got, np.where(a > 0, a, 0))

    @pytest.mark.parametrize("dtype", FLOATS)
    @pytest.mark.parametrize("shape", SHAPES)
    def test_sigmoid(self, context: wia.Context, dtype: str, shape: tuple[int, ...]) -> None:
        a = values(shape, dtype)
        got = wia.sigmoid(wia.from_numpy(context, a)).numpy()
        x = a.astype(np.float64)
        assert got.dtype == dtype
        assert _within(got, 1 / (1 + np.exp(-x)), dtype)

    @pytest.mark.parametrize("dtype", FLOATS)
    @pytest.mark.parametrize("shape", SHAPES)
    def test_gelu(self, context: wia.Context, dtype: str, shape: tuple[int, ...]) -> None:
        a = values(shape, dtype)
        got = wia.gelu(wia.from_numpy(context, a)).numpy()
        x = a.astype(np.float64)
        expected = [each * 0.5 * math.erfc(-each / math.sqrt(2)) for each in x.ravel()]
        assert got.dtype == dtype
        assert _within(got, np.reshape(expected, shape), dtype, 1 + x**2)  # as steep as its tail

    @pytest.mark.parametrize("dtype", FLOATS)
    def test_gelu_approximate(self, context: wia.Context, dtype: str) -> None:
        """Hendrycks and Gimpel's form, and within 5e-4 of the exact one (float16: and rounding)."""
        a = np.linspace(-6, 6, 241).astype(dtype)
        tensor = wia.from_numpy(context, a)
        got = wia.gelu(tensor, approximate=True).numpy()
        x = a.astype(np.float64)
        expected = 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
        assert np.abs(got - expected).max() <= 8 * np.finfo(dtype).eps
        assert np.abs(got - wia.gelu(tensor).numpy()).max() < 5e-4 + 8 * np.finfo(dtype).eps
        if dtype != "float16":
            assert not np.array_equal(got, wia.gelu(tensor).numpy())

    @pytest.mark.parametrize("dtype", FLOATS)
    def test_far_out(self, context: wia.Context, dtype: str) -> None:
        """Limits at infinity; NaN stays; nothing overflows on the way."""
        tensor = wia.from_numpy(context, np.array([np.nan, np.inf, -np.inf, 6e4, -6e4], dtype))
        for operation, expected in (
            (wia.relu, [np.nan, np.inf, 0, np.inf, 0]),
            (wia.sigmoid, [np.nan, 1, 0, 1, 0]),
            (wia.gelu, [np.nan, np.inf, 0, np.inf, 0]),
            (lambda a: wia.gelu(a, approximate=True), [np.nan, np.inf, 0, np.inf, 0]),
        ):
            got = operation(tensor).numpy().astype(np.float64)
            got[got > 5e4] = np.inf
            assert np.array_equal(got, expected, equal_nan=True)


class TestConvert:
    """Values as near as the new type has them."""

    @pytest.mark.parametrize("source", DTYPES, ids=str)
    @pytest.mark.parametrize("target", DTYPES, ids=str)
    def test_each_to_each(self, context: wia.Context, source: np.dtype, target: np.dtype) -> None:
        a = np.array([[0, 1, 2], [3, 100, 127]], source)
        got = wia.convert(wia.transpose(wia.from_numpy(context, a)), target).numpy()
        assert got.dtype == target
        assert np.array_equal(got, a.T)

    def test_rounds_once(self, context: wia.Context) -> None:
        a = np.array([1 + 2**-11, 1 + 3 * 2**-11, 1e6, np.nan])
        got = wia.convert(wia.from_numpy(context, a), "float16").numpy()
        expected = [1, 1 + 2**-9, np.inf, np.nan]  # to even; too large; NaN
        assert np.array_equal(got, expected, equal_nan=True)


def _within(
    got: np.ndarray, expected: np.ndarray, dtype: str, condition: np.ndarray | float = 1
) -> bool:
    """Within four rounding errors, as they grow by `condition`, or four smallest numbers."""
    info = np.finfo(dtype)
    allowed = 4 * np.maximum(
        condition * info.eps * np.abs(expected), float(info.smallest_subnormal)
    )
    return bool(np.all(np.abs(got.astype(np.float64) - expected) <= allowed))


@pytest.mark.parametrize("source", FLOATS)
@pytest.mark.parametrize("target", [each for each in DTYPES if each.kind != "f"], ids=str)
def test_floats_that_integers_do_not_reach(
    context: wia.Context, source: str, target: np.dtype
) -> None:
    """They become the largest or the smallest, and NaN becomes 0, on every machine alike."""
    limits = np.iinfo(target)
    given = np.array([np.nan, np.inf, -np.inf, 6e4, -6e4, 2.9, -2.9, 0.0], source)
    inside = [min(max(each, limits.min), limits.max) for each in (60000, -60000, 2, -2, 0)]
    got = wia.convert(wia.from_numpy(context, given), target).numpy()
    assert got.tolist() == [0, limits.max, limits.min, *inside]
