"""Operations on any shapes, views and values, against NumPy in float64.

As virtual devices compute them, and by the kernels of real devices, played on the simulator.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import wia_lab.hal as wia
from wia_lab import hazards, simulate
from wia_lab.hal.backends import virtual
from wia_lab.hal.ops.kernels import Operand, plan
from wia_lab.hal.tensor_layout import DTYPES, Layout
from wia_lab.simt.memory import POISON

if TYPE_CHECKING:
    from wia_lab.hal.ops.operation import Operation

pytestmark = pytest.mark.virtual("the kernels are played on the simulator here")

EXAMPLES = settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
FLOATS = [np.dtype(name) for name in ("float16", "float32", "float64")]
TOLERANCE = {np.dtype("float16"): 2e-3, np.dtype("float32"): 2e-6, np.dtype("float64"): 1e-14}
SHORT = st.integers(0, 5)


class Room:
    """Memory between two launches, poisoned as a device's is."""

    def scratch(self, count: int, dtype: np.dtype) -> np.ndarray:
        return np.full(max(1, count) * dtype.itemsize, POISON, np.uint8).view(dtype)[:count]

    def constant(self, values: np.ndarray) -> np.ndarray:
        return values.copy()


def played(operation: Operation, *memory: np.ndarray) -> None:
    """As a real device computes it: the plan's launches, none of which may have a hazard."""
    if not operation.output.size:
        return
    layouts = (*operation.inputs, operation.output)
    *inputs, output = map(operand, memory, layouts)
    for each in plan(operation, inputs, output, Room()):
        with hazards("off"), np.errstate(all="ignore"):
            report = simulate(each.kernel, each.grid, each.block, *each.arguments, device="H200")
        wrong = [hazard.message for hazard in report.hazards if hazard.severity == "error"]
        assert not wrong, f"{operation.name}: {wrong[0]}"


def operand(memory: np.ndarray, layout: Layout) -> Operand:
    """As the hardware back end gives memory to a plan."""
    size = layout.dtype.itemsize
    strides = tuple(stride // size for stride in layout.strides)
    start = (layout.offset - layout.extent[0]) // size
    if not memory.flags.writeable:  # of an input: on a device, no array is read-only
        memory = memory.copy()
    return Operand(memory.view(layout.dtype), layout.dtype, layout.shape, strides, start)


@pytest.fixture(params=["numerics", "kernels"])
def context(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """On an H100, whose operations are NumPy's, or the kernels of real devices."""
    if request.param == "kernels":
        monkeypatch.setattr(virtual, "execute", played)
    with wia.Context(wia.open_machine("1xH100")[0]) as made:
        yield made


def numbers(dtype: np.dtype) -> st.SearchStrategy:
    """Elements of a type: any integers; floats with NaN and infinities, none that overflows."""
    if dtype.kind == "f":
        few = st.sampled_from([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0])
        return st.one_of(st.floats(-8, 8, width=16), few)
    return hnp.from_dtype(dtype)


@st.composite
def arrays(draw: st.DrawFn, dtype: np.dtype, shape: tuple[int, ...] | None = None) -> np.ndarray:
    """An array of a type; of some shape with up to four axes, zeros and ones among the lengths."""
    wanted = draw(
        hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5)
        if shape is None
        else st.just(shape)
    )
    return draw(hnp.arrays(dtype, wanted, elements=numbers(dtype)))


@st.composite
def seen(draw: st.DrawFn, ndim: int) -> Callable[[Any], Any]:
    """A view of an array or a tensor: axes in another order, some reversed, sliced or stepped."""
    order = draw(st.permutations(range(ndim)))
    steps = draw(st.lists(st.sampled_from([1, -1, 2, -2]), min_size=ndim, max_size=ndim))
    starts = draw(st.lists(st.sampled_from([None, 1, -1]), min_size=ndim, max_size=ndim))
    slices = tuple(slice(a, None, b) for a, b in zip(starts, steps, strict=True))

    def view(x: Any) -> Any:
        found = x[slices]
        return found.transpose(order) if isinstance(x, np.ndarray) else wia.transpose(found, order)

    return view


@st.composite
def viewed(draw: st.DrawFn, dtype: np.dtype) -> tuple[np.ndarray, Callable[[Any], Any]]:
    """An array and a view of it."""
    array = draw(arrays(dtype))
    return array, draw(seen(array.ndim))


def is_near(got: np.ndarray, expected: np.ndarray, scale: Any = 1.0) -> bool:
    """Whether it is `expected`, of float64 or the type itself, to its own rounding."""
    if got.dtype.kind != "f":
        return np.array_equal(got, expected)
    with np.errstate(all="ignore"):
        rounded = np.asarray(expected).astype(got.dtype)
        allowed = TOLERANCE[got.dtype] * (np.abs(expected) + scale)
        near = np.abs(got.astype(np.float64) - expected) <= allowed
    return bool(np.all(near | (got == rounded) | (np.isnan(got) & np.isnan(expected))))


class TestElements:
    """Element by element, of any two shapes that broadcast, in any type."""

    @EXAMPLES
    @given(data=st.data(), dtype=st.sampled_from(DTYPES))
    def test_pairs(self, context: wia.Context, data: st.DataObject, dtype: np.dtype) -> None:
        shapes = data.draw(hnp.mutually_broadcastable_shapes(num_shapes=2, min_side=0, max_side=5))
        a, b = (data.draw(arrays(dtype, shape)) for shape in shapes.input_shapes)
        view = data.draw(seen(a.ndim))
        left, right = wia.from_numpy(context, a), wia.from_numpy(context, b)
        with np.errstate(all="ignore"):
            assert np.array_equal(wia.add(left, right).numpy(), a + b, equal_nan=dtype.kind == "f")
            assert np.array_equal(wia.mul(left, right).numpy(), a * b, equal_nan=dtype.kind == "f")
            twice = view(a) + view(a)
        got = wia.add(view(left), view(left)).numpy()
        assert np.array_equal(got, twice, equal_nan=dtype.kind == "f")

    @EXAMPLES
    @given(data=st.data(), dtype=st.sampled_from(FLOATS))
    def test_curves(self, context: wia.Context, data: st.DataObject, dtype: np.dtype) -> None:
        a, view = data.draw(viewed(dtype))
        x, tensor = view(a).astype(np.float64), view(wia.from_numpy(context, a))
        with np.errstate(all="ignore"):
            assert is_near(wia.sigmoid(tensor).numpy(), 1 / (1 + np.exp(-x)))
            assert is_near(wia.relu(tensor).numpy(), np.maximum(x, 0))
            half = 0.5 * np.vectorize(math.erfc, otypes=[np.float64])(-x / math.sqrt(2))
            expected = np.where(x == -np.inf, 0, x * half)
        assert is_near(wia.gelu(tensor).numpy(), expected)
        assert np.allclose(
            wia.gelu(tensor, approximate=True).numpy(), expected, atol=4e-3, equal_nan=True
        )

    @EXAMPLES
    @given(data=st.data(), dtype=st.sampled_from(DTYPES), wanted=st.sampled_from(DTYPES))
    def test_conversions(
        self, context: wia.Context, data: st.DataObject, dtype: np.dtype, wanted: np.dtype
    ) -> None:
        """Integers wrap round; floats go towards zero, to the nearest that there is; NaN to 0."""
        a, view = data.draw(viewed(dtype))
        got = wia.convert(view(wia.from_numpy(context, a)), wanted).numpy()
        with np.errstate(all="ignore"):
            if dtype.kind == "f" and wanted.kind != "f":
                limits = np.iinfo(wanted)
                expected = [
                    0 if x != x else int(max(min(x, limits.max), limits.min))
                    for x in view(a).reshape(-1).tolist()
                ]
                assert got.reshape(-1).tolist() == expected
            else:
                assert np.array_equal(got, view(a).astype(wanted), equal_nan=wanted.kind == "f")


class TestAxes:
    """Along axes, from either end, several or all."""

    @EXAMPLES
    @given(data=st.data(), dtype=st.sampled_from(DTYPES), keepdims=st.booleans())
    def test_reductions(
        self, context: wia.Context, data: st.DataObject, dtype: np.dtype, keepdims: bool
    ) -> None:
        a, view = data.draw(viewed(dtype))
        x, tensor = view(a), view(wia.from_numpy(context, a))
        axes = data.draw(st.one_of(st.none(), *([hnp.valid_tuple_axes(x.ndim)] if x.ndim else [])))
        wide = np.float64 if dtype.kind == "f" else {"i": np.int64, "u": np.uint64}[dtype.kind]
        with np.errstate(all="ignore"):
            expected = np.sum(x, axis=axes, dtype=wide, keepdims=keepdims)
            terms = np.sum(np.abs(x.astype(np.float64)), axis=axes, keepdims=keepdims)
        got = wia.sum(tensor, axes, keepdims=keepdims).numpy()
        assert got.shape == expected.shape
        assert is_near(got, expected, np.where(np.isfinite(terms), terms, 0))
        if x.size:
            largest = wia.max(tensor, axes, keepdims=keepdims).numpy()
            expected = np.max(x, axis=axes, keepdims=keepdims)
            assert np.array_equal(largest, expected, equal_nan=dtype.kind == "f")

    @EXAMPLES
    @given(data=st.data(), dtype=st.sampled_from(FLOATS))
    def test_softmax(self, context: wia.Context, data: st.DataObject, dtype: np.dtype) -> None:
        a, view = data.draw(viewed(dtype))
        assume(a.ndim)
        axis = data.draw(st.integers(-a.ndim, a.ndim - 1))
        x = view(a).astype(np.float64)
        got = wia.softmax(view(wia.from_numpy(context, a)), axis).numpy()
        with np.errstate(all="ignore"):
            if x.size:
                powers = np.exp(x - np.max(x, axis=axis, keepdims=True))
                x = powers / np.sum(powers, axis=axis, keepdims=True)
        assert is_near(got, x)

    @EXAMPLES
    @given(data=st.data(), dtype=st.sampled_from(DTYPES))
    def test_concat(self, context: wia.Context, data: st.DataObject, dtype: np.dtype) -> None:
        shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=4))
        axis = data.draw(st.integers(-len(shape), len(shape) - 1))
        parts = []
        for length in data.draw(st.lists(SHORT, min_size=1, max_size=4)):
            part = list(shape)
            part[axis] = length
            parts.append(data.draw(arrays(dtype, tuple(part))))
        got = wia.concat([wia.from_numpy(context, each) for each in parts], axis).numpy()
        assert np.array_equal(got, np.concatenate(parts, axis), equal_nan=dtype.kind == "f")


class TestProducts:
    """Matrix products by every algorithm, and convolutions of every geometry."""

    @EXAMPLES
    @given(
        data=st.data(),
        dtype=st.sampled_from(DTYPES),
        sizes=st.tuples(st.lists(st.integers(0, 3), max_size=2), SHORT, SHORT, SHORT),
        algorithm=st.sampled_from(
            [way for way in wia.MatmulAlgorithm if way is not wia.MatmulAlgorithm.VENDOR]
        ),
    )
    def test_products(
        self,
        context: wia.Context,
        data: st.DataObject,
        dtype: np.dtype,
        sizes: tuple,
        algorithm: wia.MatmulAlgorithm,
    ) -> None:
        stack, m, k, n = sizes
        single = algorithm.name in ("DOUBLE_BUFFERED", "PIPELINE")
        assume(not single or dtype in FLOATS[:2])
        a = data.draw(arrays(dtype, (*stack, k, m)))
        b = data.draw(arrays(dtype, (*stack, k, n)))
        product = wia.batch_matmul if stack else wia.matmul
        turned = (*range(len(stack)), len(stack) + 1, len(stack))
        left = wia.transpose(wia.from_numpy(context, a), turned)
        config = wia.MatmulConfig(algorithm=algorithm)
        got = product(left, wia.from_numpy(context, b), config=config).numpy()
        wide = np.float64 if dtype.kind == "f" else dtype
        x, y = a.transpose(turned).astype(wide), b.astype(wide)
        with np.errstate(all="ignore"):
            expected, terms = x @ y, np.abs(x) @ np.abs(y)
        assert is_near(got, expected, np.where(np.isfinite(terms), terms, 0))

    @EXAMPLES
    @given(
        data=st.data(),
        dtype=st.sampled_from([*FLOATS, np.dtype("int32"), np.dtype("int8")]),
        groups=st.integers(1, 3),
        per=st.tuples(st.integers(0, 2), st.integers(0, 2)),
        images=st.integers(0, 2),
        algorithm=st.sampled_from(
            [a for a in wia.ConvAlgorithm if a is not wia.ConvAlgorithm.VENDOR]
        ),
    )
    def test_convolutions(
        self,
        context: wia.Context,
        data: st.DataObject,
        dtype: np.dtype,
        groups: int,
        per: tuple[int, int],
        images: int,
        algorithm: wia.ConvAlgorithm,
    ) -> None:
        pair = st.tuples(st.integers(1, 3), st.integers(1, 3))
        window, stride, dilation = data.draw(st.tuples(pair, pair, pair))
        padding = data.draw(st.tuples(st.integers(0, 2), st.integers(0, 2)))
        rows, columns = data.draw(st.tuples(SHORT, SHORT))
        have = rows + 2 * padding[0], columns + 2 * padding[1]
        reach = [(w - 1) * d + 1 for w, d in zip(window, dilation, strict=True)]
        assume(all(r <= h for r, h in zip(reach, have, strict=True)))
        x = data.draw(arrays(dtype, (images, groups * per[0], rows, columns)))
        weight = data.draw(arrays(dtype, (groups * per[1], per[0], *window)))
        geometry = {"padding": padding, "stride": stride, "dilation": dilation, "groups": groups}
        config = wia.ConvConfig(**geometry, algorithm=algorithm)
        with np.errstate(all="ignore"):
            expected = convolved(x, weight, **geometry)
            terms = convolved(np.abs(x), np.abs(weight), **geometry)
        got = wia.conv2d(
            wia.from_numpy(context, x), wia.from_numpy(context, weight), config=config
        ).numpy()
        if dtype.kind != "f":
            expected = expected.astype(dtype)
        assert is_near(got, expected, np.where(np.isfinite(terms), terms, 0))


def convolved(
    x: np.ndarray, weight: np.ndarray, *, padding: Any, stride: Any, dilation: Any, groups: int
) -> np.ndarray:
    """The definition, one product after the other, in float64 or int64."""
    wide = np.float64 if x.dtype.kind == "f" else np.int64
    py, px = padding
    seen = np.pad(x.astype(wide), ((0, 0), (0, 0), (py, py), (px, px)))
    n, _, h, w = seen.shape
    k, part, r, s = weight.shape
    rows = (h - (r - 1) * dilation[0] - 1) // stride[0] + 1
    columns = (w - (s - 1) * dilation[1] - 1) // stride[1] + 1
    out = np.zeros((n, k, rows, columns), wide)
    for image, output, i, j in np.ndindex(out.shape):
        first = output // (k // groups) * part
        for c, y, z in np.ndindex(part, r, s):
            pixel = i * stride[0] + y * dilation[0], j * stride[1] + z * dilation[1]
            out[image, output, i, j] += seen[(image, first + c, *pixel)] * wide(
                weight[output, c, y, z]
            )
    return out
