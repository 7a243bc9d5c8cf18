"""conv2d, pool2d and batch_norm; against loops over windows in float64."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import wia_lab.hal as wia
from wia_lab import hazards
from wia_lab.hal import ConvAlgorithm, ConvConfig, Pool2dConfig, PoolType, Precision

VENDOR = ConvAlgorithm.VENDOR
WAYS = [
    *(each for each in ConvAlgorithm if each is not VENDOR),
    pytest.param(VENDOR, marks=pytest.mark.gpu, id="ConvAlgorithm.VENDOR"),
]
FLOATS = ["float16", "float32", "float64"]
GEOMETRIES: list[dict[str, Any]] = [
    {},
    {"padding": 1},
    {"padding": (2, 0), "stride": (1, 3)},
    {"stride": 2, "dilation": (2, 1), "padding": 2},
    {"groups": 2, "padding": (0, 1)},
    {"groups": 4, "stride": (3, 2)},  # depthwise
]


@pytest.fixture
def context() -> Iterator[wia.Context]:
    """On an H100."""
    made = wia.Context(wia.open_machine("H100")[0])
    yield made
    with hazards("off"):
        made.close()


@pytest.fixture(autouse=True)
def _vendor(request: pytest.FixtureRequest, on_hardware: bool) -> None:
    """Skip what asks for cuDNN where it is not."""
    if getattr(request.node, "callspec", None) is None:
        return
    if request.node.callspec.params.get("algorithm") is VENDOR:
        if not on_hardware:
            pytest.skip("a vendor's library")
        pytest.importorskip("torch")


def values(shape: tuple[int, ...], dtype: object, seed: int = 0) -> np.ndarray:
    """Numbers on both sides of zero, or small integers."""
    rng, found = np.random.default_rng(seed), np.dtype(dtype)
    if found.kind == "f":
        return np.asarray(rng.normal(size=shape), found)
    return rng.integers(-9, 9, shape).astype(found)


def pair(value: Any) -> tuple[int, int]:
    """One number for both directions."""
    return (value, value) if isinstance(value, int) else value


def convolved(
    x: np.ndarray,
    weight: np.ndarray,
    *,
    padding: Any = 0,
    stride: Any = 1,
    dilation: Any = 1,
    groups: int = 1,
) -> np.ndarray:
    """The definition, one output after the other, in float64 (integers: exactly)."""
    (py, px), (sy, sx), (dy, dx) = pair(padding), pair(stride), pair(dilation)
    wide = np.float64 if x.dtype.kind == "f" else np.int64
    seen = np.pad(x.astype(wide), ((0, 0), (0, 0), (py, py), (px, px)))
    n, c, h, w = seen.shape
    k, part, r, s = weight.shape
    rows, columns = (h - (r - 1) * dy - 1) // sy + 1, (w - (s - 1) * dx - 1) // sx + 1
    out = np.zeros((n, k, rows, columns), wide)
    for output in range(k):
        first = output // (k // groups) * part
        for i in range(rows):
            for j in range(columns):
                y, z = i * sy, j * sx
                window = seen[
                    :,
                    first : first + part,
                    y : y + (r - 1) * dy + 1 : dy,
                    z : z + (s - 1) * dx + 1 : dx,
                ]
                out[:, output, i, j] = (window * weight[output].astype(wide)).sum(axis=(1, 2, 3))
    return out


def is_near(got: np.ndarray, x: np.ndarray, weight: np.ndarray, sums: str, **geometry: Any) -> bool:
    """Within the bound for a sum of that many products, then rounded to the result's type."""
    expected = convolved(x, weight, **geometry)
    size = convolved(np.abs(x), np.abs(weight), **geometry)
    allowed = (weight[0].size + 2) * float(np.finfo(sums).eps) * size
    allowed += float(np.finfo(got.dtype).eps) * (np.abs(expected) + allowed)
    return got.shape == expected.shape and bool(np.all(np.abs(got - expected) <= allowed))


class TestConv2d:
    """Padding, stride, dilation and groups, by each algorithm."""

    @pytest.mark.parametrize("algorithm", WAYS)
    @pytest.mark.parametrize("dtype", [*FLOATS, "int32"])
    @pytest.mark.parametrize("geometry", GEOMETRIES, ids=str)
    def test_against_loops(
        self,
        context: wia.Context,
        algorithm: ConvAlgorithm,
        dtype: str,
        geometry: dict[str, Any],
    ) -> None:
        if algorithm is VENDOR and dtype == "int32":
            pytest.skip("cuDNN has no products of integers")
        x = values((2, 4, 9, 11), dtype)
        weight = values((8, 4 // geometry.get("groups", 1), 3, 2), dtype, 1)
        result = wia.conv2d(
            wia.from_numpy(context, x),
            wia.from_numpy(context, weight),
            config=ConvConfig(algorithm=algorithm, **geometry),
        )
        got = result.numpy()
        assert got.dtype == dtype
        if dtype == "int32":
            assert np.array_equal(got, convolved(x, weight, **geometry))
        else:
            sums = "float64" if dtype == "float64" else "float32"
            assert is_near(got, x, weight, sums, **geometry)

    @pytest.mark.parametrize("algorithm", WAYS)
    @pytest.mark.parametrize(
        ("shape", "weight_shape"),
        [
            ((1, 1, 1, 1), (1, 1, 1, 1)),
            ((0, 3, 5, 5), (2, 3, 3, 3)),
            ((2, 0, 5, 5), (2, 0, 3, 3)),
            ((2, 3, 5, 5), (0, 3, 3, 3)),
            ((1, 1, 3, 7), (1, 1, 3, 7)),
        ],
    )
    def test_small_shapes(
        self,
        context: wia.Context,
        algorithm: ConvAlgorithm,
        shape: tuple[int, ...],
        weight_shape: tuple[int, ...],
    ) -> None:
        if algorithm is VENDOR and 0 in (*shape, *weight_shape):
            pytest.skip("PyTorch refuses a convolution of nothing")
        x, weight = values(shape, "float32"), values(weight_shape, "float32", 1)
        got = wia.conv2d(
            wia.from_numpy(context, x),
            wia.from_numpy(context, weight),
            config=ConvConfig(algorithm=algorithm),
        ).numpy()
        expected = convolved(x, weight)
        assert got.shape == expected.shape
        assert np.allclose(got, expected, rtol=1e-5, atol=1e-5)

    def test_views(self, context: wia.Context) -> None:
        """Channels last, seen as channels first."""
        x, weight = values((2, 6, 7, 3), "float32"), values((3, 3, 4, 2), "float32", 1)
        got = wia.conv2d(
            wia.transpose(wia.from_numpy(context, x), (0, 3, 1, 2)),
            wia.transpose(wia.from_numpy(context, weight), (3, 0, 1, 2)),
        ).numpy()
        assert is_near(got, x.transpose(0, 3, 1, 2), weight.transpose(3, 0, 1, 2), "float32")

    @pytest.mark.parametrize("algorithm", WAYS)
    def test_special_values(self, context: wia.Context, algorithm: ConvAlgorithm) -> None:
        """NaN and infinity reach the outputs whose windows hold them, and no others."""
        x = np.ones((1, 1, 5, 5), np.float32)
        x[0, 0, 0, 0], x[0, 0, 4, 4] = np.nan, np.inf
        weight = np.ones((1, 1, 3, 3), np.float32)
        got = wia.conv2d(
            wia.from_numpy(context, x),
            wia.from_numpy(context, weight),
            config=ConvConfig(algorithm=algorithm),
        ).numpy()[0, 0]
        expected = np.full((3, 3), 9.0)
        expected[0, 0], expected[2, 2] = np.nan, np.inf
        assert np.array_equal(got, expected, equal_nan=True)

    @pytest.mark.parametrize("algorithm", WAYS)
    def test_half_precision_is_summed_in_single(
        self, context: wia.Context, algorithm: ConvAlgorithm
    ) -> None:
        """4,096 ones: float16 alone stops at 2,048."""
        x = wia.full(context, (1, 4096, 1, 1), 1, "float16")
        for precision, expected in ((Precision.FULL, 4096), (Precision.REDUCED, 2048)):
            if algorithm is VENDOR and precision is Precision.REDUCED:
                continue  # which cuDNN is not asked for
            config = ConvConfig(precision=precision, algorithm=algorithm)
            assert wia.conv2d(x, x, config=config).numpy().item() == expected

    @pytest.mark.virtual("machines without a vendor's library")
    def test_no_vendor(self, context: wia.Context) -> None:
        x = wia.zeros(context, (1, 1, 3, 3))
        with pytest.raises(wia.InvalidValue, match="VENDOR is not possible .* real devices alone"):
            wia.conv2d(x, x, config=ConvConfig(algorithm=VENDOR))

    def test_mixed_rounds_its_inputs(self, context: wia.Context) -> None:
        x, weight = values((1, 8, 6, 6), "float32"), values((2, 8, 3, 3), "float32", 1)
        got = wia.conv2d(
            wia.from_numpy(context, x),
            wia.from_numpy(context, weight),
            config=ConvConfig(precision=Precision.MIXED),
        ).numpy()
        assert is_near(got, x.astype(np.float16), weight.astype(np.float16), "float32")
        assert not is_near(got, x, weight, "float32")

    def test_choice(self, context: wia.Context, on_hardware: bool) -> None:
        """Many channels are a product; one channel a group leaves its tile almost empty.

        On real devices cuDNN may be shorter still.
        """
        many = wia.zeros(context, (4, 128, 32, 32)), wia.zeros(context, (128, 128, 3, 3))
        product = wia.conv2d(*many, config=ConvConfig(padding=1)).choice
        assert product is not None
        assert product.seconds["IMPLICIT_PRODUCT"] < product.seconds["DIRECT"]
        assert on_hardware or product.algorithm == "IMPLICIT_PRODUCT"
        each = wia.zeros(context, (128, 1, 3, 3))
        direct = wia.conv2d(many[0], each, config=ConvConfig(groups=128)).choice
        assert direct is not None
        assert direct.seconds["DIRECT"] < direct.seconds["IMPLICIT_PRODUCT"]
        assert on_hardware or direct.algorithm == "DIRECT"
        assert "the shortest, as AUTO takes it" in direct.explain()


class TestPool2d:
    """Maximum exactly; mean within rounding, over the cells inside or over all."""

    @pytest.mark.parametrize("dtype", [*FLOATS, "int8", "uint16"])
    @pytest.mark.parametrize(
        ("size", "stride", "padding"),
        [(2, None, 0), ((3, 2), (1, 2), (1, 0)), (1, 1, 0), (3, 2, 2), ((9, 7), 1, 0)],
    )
    def test_max(
        self, context: wia.Context, dtype: str, size: Any, stride: Any, padding: Any
    ) -> None:
        x = values((2, 3, 9, 7), dtype)
        config = Pool2dConfig(kernel_size=size, stride=stride, padding=padding)
        got = wia.pool2d(wia.from_numpy(context, x), config).numpy()
        assert got.dtype == dtype
        assert np.array_equal(got, _pooled(x, np.max, size, stride, padding))

    @pytest.mark.parametrize("dtype", FLOATS)
    @pytest.mark.parametrize("count_padding", [False, True])
    @pytest.mark.parametrize(
        ("size", "stride", "padding"), [(2, None, 0), ((3, 2), (1, 2), (1, 0)), (3, 2, 2)]
    )
    def test_average(
        self,
        context: wia.Context,
        dtype: str,
        count_padding: bool,
        size: Any,
        stride: Any,
        padding: Any,
    ) -> None:
        x = values((2, 3, 9, 7), dtype)
        config = Pool2dConfig(
            type=PoolType.AVERAGE,
            kernel_size=size,
            stride=stride,
            padding=padding,
            count_padding=count_padding,
        )
        got = wia.pool2d(wia.from_numpy(context, x), config).numpy()
        cells = pair(size)[0] * pair(size)[1]
        mean = (lambda part: part.sum() / cells) if count_padding else np.mean
        expected = _pooled(x.astype(np.float64), mean, size, stride, padding)
        assert got.dtype == dtype
        assert np.allclose(got, expected, rtol=0, atol=16 * float(np.finfo(dtype).eps))

    def test_special_values(self, context: wia.Context) -> None:
        x = np.array([[np.nan, 1, -np.inf, -np.inf], [2, 3, -np.inf, -np.inf]], np.float32)
        tensor = wia.from_numpy(context, x.reshape(1, 1, 2, 4))
        got = wia.pool2d(tensor).numpy().ravel()
        assert np.array_equal(got, [np.nan, -np.inf], equal_nan=True)

    @pytest.mark.parametrize("shape", [(0, 3, 4, 4), (2, 0, 4, 4), (1, 1, 2, 2)])
    def test_small_shapes(self, context: wia.Context, shape: tuple[int, ...]) -> None:
        got = wia.pool2d(wia.full(context, shape, 3)).numpy()
        assert got.shape == (*shape[:2], shape[2] // 2, shape[3] // 2)
        assert np.all(got == 3)

    def test_views(self, context: wia.Context) -> None:
        x = values((1, 4, 6, 2), "float32")
        view = wia.transpose(wia.from_numpy(context, x), (0, 3, 2, 1))[:, :, ::-1]
        expected = _pooled(x.transpose(0, 3, 2, 1)[:, :, ::-1], np.max, 2, None, 0)
        assert np.array_equal(wia.pool2d(view).numpy(), expected)


class TestBatchNorm:
    """The formula, a channel at a time."""

    @pytest.mark.parametrize("dtype", FLOATS)
    @pytest.mark.parametrize(
        ("shape", "axis"),
        [((3, 5, 4, 7), 1), ((6, 5), 1), ((6, 5), -1), ((5,), 0), ((0, 5), 1), ((4, 0), 1)],
    )
    def test_against_numpy(
        self, context: wia.Context, dtype: str, shape: tuple[int, ...], axis: int
    ) -> None:
        x, channels = values(shape, dtype), shape[axis]
        scale, bias, mean = (values((channels,), dtype, seed) for seed in (1, 2, 3))
        variance = (np.abs(values((channels,), dtype, 4)) + 1).astype(dtype)
        got = wia.batch_norm(
            *(wia.from_numpy(context, each) for each in (x, scale, bias, mean, variance)),
            epsilon=0.25,
            axis=axis,
        ).numpy()
        wide = [each.astype(np.float64) for each in (scale, bias, mean, variance)]
        along = [1] * len(shape)
        along[axis] = channels
        s, b, m, v = (each.reshape(along) for each in wide)
        difference = (x.astype(np.float64) - m) * s / np.sqrt(v + 0.25)
        expected = difference + b
        allowed = 8 * float(np.finfo(dtype).eps) * ((np.abs(x) + np.abs(m)) * np.abs(s) + np.abs(b))
        assert got.dtype == dtype
        assert got.shape == shape
        assert np.all(np.abs(got - expected) <= allowed)

    def test_special_values(self, context: wia.Context) -> None:
        """Zero variance without epsilon gives what IEEE 754 says, in its channel alone."""
        one = wia.full(context, 2, 1)
        x = wia.from_numpy(context, np.array([[3, 3], [1, 2], [np.nan, 0]], np.float32))
        variance = wia.from_numpy(context, np.array([0, 1], np.float32))
        got = wia.batch_norm(x, one, one, one, variance, epsilon=0).numpy()
        assert np.array_equal(got, [[np.inf, 3], [np.nan, 2], [np.nan, 0]], equal_nan=True)


class TestRefused:
    """One sentence each: what, where, and the way out."""

    @pytest.mark.parametrize(
        ("attempt", "text"),
        [
            (lambda x, w: wia.conv2d(x[0], w), "conv2d: x has shape (4, 5, 5): x has four axes"),
            (lambda x, w: wia.conv2d(x, w[0]), "conv2d: weight has shape (4, 3, 3)"),
            (lambda x, w: wia.conv2d(x[:, :3], w), "takes 4 channels in each of 1 groups, and x"),
            (
                lambda x, w: wia.conv2d(x, w, config=ConvConfig(groups=3)),
                "4 channels and 6 outputs cannot be divided into 3 equal groups",
            ),
            (
                lambda x, w: wia.conv2d(x[..., :2], w),
                "a window of 3 with dilation 1 spans 3 columns, and the padded images have 2",
            ),
            (
                lambda x, w: wia.conv2d(x, w, config=ConvConfig(dilation=(3, 1))),
                "spans 7 rows, and the padded images have 5",
            ),
            (lambda x, w: wia.conv2d(x, w[:, :, :0]), "a window of 0 with dilation 1"),
            (lambda x, w: wia.conv2d(x, w, config=Pool2dConfig()), "give a ConvConfig"),
            (lambda *_: ConvConfig(stride=0), "stride is 0: give an integer of at least 1"),
            (lambda *_: ConvConfig(padding=-1), "padding is -1: give an integer of at least 0"),
            (lambda *_: ConvConfig(padding=(1, 2, 3)), "padding is (1, 2, 3)"),
            (lambda *_: ConvConfig(dilation=1.5), "dilation is 1.5"),
            (lambda *_: ConvConfig(groups=0), "groups is 0"),
            (lambda *_: ConvConfig(groups=(1, 1)), "groups is (1, 1)"),
            (lambda *_: ConvConfig(algorithm="direct"), "choose ConvAlgorithm.AUTO"),
            (lambda x, _: wia.pool2d(x[0]), "pool2d: x has shape (4, 5, 5)"),
            (lambda x, _: wia.pool2d(x, ConvConfig()), "give a Pool2dConfig"),
            (
                lambda x, _: wia.pool2d(x, Pool2dConfig(kernel_size=6)),
                "a window of 6 with dilation 1 spans 6 rows",
            ),
            (
                lambda x, _: wia.pool2d(
                    wia.convert(x, "int8"), Pool2dConfig(type=PoolType.AVERAGE)
                ),
                "pool2d: the elements are int8, and it is for floating point",
            ),
            (lambda *_: Pool2dConfig(padding=2), "a window would hold nothing but padding"),
            (lambda *_: Pool2dConfig(count_padding=True), "padding is never a maximum"),
            (lambda *_: Pool2dConfig(type="max"), "choose PoolType.MAX, PoolType.AVERAGE"),
            (
                lambda x, _: wia.batch_norm(x, *[x[0, 0, 0]] * 4),
                "scale has shape (5,), and x has 4 channels along axis 1: give shape (4,)",
            ),
            (
                lambda x, _: wia.batch_norm(x, *[x[0, :, 0, 0]] * 4, epsilon=-1),
                "epsilon is -1: give 0 or more",
            ),
            (
                lambda x, _: wia.batch_norm(wia.convert(x, "int8"), *[x] * 4),
                "x is int8 and scale is float32",
            ),
        ],
    )
    def test_refused(self, context: wia.Context, attempt: Callable[..., object], text: str) -> None:
        with pytest.raises(wia.InvalidValue) as refusal:
            attempt(wia.zeros(context, (2, 4, 5, 5)), wia.zeros(context, (6, 4, 3, 3)))
        assert text in str(refusal.value)
        assert "\n" not in str(refusal.value)


def _pooled(
    x: np.ndarray, reduce: Callable[..., Any], size: Any, stride: Any, padding: Any
) -> np.ndarray:
    """Each window's cells that are inside, one window after the other."""
    (h, w), (py, px) = pair(size), pair(padding)
    sy, sx = pair(size if stride is None else stride)
    rows, columns = (x.shape[2] + 2 * py - h) // sy + 1, (x.shape[3] + 2 * px - w) // sx + 1
    out = np.empty((*x.shape[:2], rows, columns), x.dtype)
    for n, c, i, j in np.ndindex(out.shape):
        y, z = i * sy - py, j * sx - px
        out[n, c, i, j] = reduce(x[n, c, max(y, 0) : y + h, max(z, 0) : z + w])
    return out
