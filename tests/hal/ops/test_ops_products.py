"""matmul and batch_matmul, their precision, and how they choose; against NumPy in float64."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from importlib.resources import files

import numpy as np
import pytest

import wia_lab.hal as wia
from wia_lab import hazards
from wia_lab.hal import MatmulAlgorithm, MatmulConfig, Precision
from wia_lab.hal.tensor_layout import DTYPES

OWN = [each for each in MatmulAlgorithm if each is not MatmulAlgorithm.VENDOR]
SIZES = [(1, 1, 1), (7, 13, 11), (33, 1, 65), (0, 3, 4), (3, 0, 4), (3, 4, 0), (130, 67, 129)]


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
        return np.asarray(rng.normal(size=shape), found)
    limits = np.iinfo(found)
    return rng.integers(limits.min, limits.max, shape, found, endpoint=True)


def is_near(got: np.ndarray, a: np.ndarray, b: np.ndarray, sums: str) -> bool:
    """Within the bound for a sum of k products in `sums`, then rounded to the result's type."""
    wide, other = a.astype(np.float64), b.astype(np.float64)
    expected, size = wide @ other, np.abs(wide) @ np.abs(other)
    allowed = (a.shape[-1] + 2) * float(np.finfo(sums).eps) * size
    allowed += float(np.finfo(got.dtype).eps) * (np.abs(expected) + allowed)
    return got.shape == expected.shape and bool(np.all(np.abs(got - expected) <= allowed))


class TestMatmul:
    """Every type and shape, and every algorithm."""

    @pytest.mark.parametrize("dtype", DTYPES, ids=str)
    @pytest.mark.parametrize(("m", "k", "n"), SIZES)
    def test_against_numpy(
        self, context: wia.Context, dtype: np.dtype, m: int, k: int, n: int
    ) -> None:
        a, b = values((m, k), dtype), values((k, n), dtype, 1)
        got = wia.matmul(wia.from_numpy(context, a), wia.from_numpy(context, b)).numpy()
        assert got.dtype == dtype
        if dtype.kind == "f":
            assert is_near(got, a, b, "float64" if dtype == np.float64 else "float32")
        else:
            bits = a.astype(object) @ b.astype(object) if k else np.zeros((m, n), object)
            modulus = 2 ** (8 * dtype.itemsize)
            assert np.array_equal(got.astype(object) % modulus, bits % modulus)

    @pytest.mark.parametrize(
        ("algorithm", "dtype"),
        [
            *((each, "float16") for each in OWN),
            *((each, "float32") for each in OWN),
            (MatmulAlgorithm.NAIVE, "float64"),
            (MatmulAlgorithm.TILED, "float64"),
        ],
    )
    def test_each_algorithm(
        self, context: wia.Context, algorithm: MatmulAlgorithm, dtype: str
    ) -> None:
        a, b = values((37, 41), dtype), values((41, 43), dtype, 1)
        config = MatmulConfig(algorithm=algorithm)
        result = wia.matmul(wia.from_numpy(context, a), wia.from_numpy(context, b), config=config)
        assert is_near(result.numpy(), a, b, "float64" if dtype == "float64" else "float32")
        assert result.choice is not None
        assert result.choice.asked == algorithm.name

    @pytest.mark.virtual("machines without a vendor's library")
    def test_no_vendor(self, context: wia.Context) -> None:
        a = wia.zeros(context, (2, 2))
        with pytest.raises(wia.InvalidValue, match="VENDOR is not possible .* real devices alone"):
            wia.matmul(a, a, config=MatmulConfig(algorithm=MatmulAlgorithm.VENDOR))

    @pytest.mark.parametrize("algorithm", ["DOUBLE_BUFFERED", "PIPELINE"])
    @pytest.mark.parametrize("dtype", ["float64", "int32"])
    def test_algorithms_of_float32(self, context: wia.Context, algorithm: str, dtype: str) -> None:
        a = wia.zeros(context, (2, 2), dtype)
        with pytest.raises(wia.InvalidValue, match="keeps sums in float32"):
            wia.matmul(a, a, config=MatmulConfig(algorithm=MatmulAlgorithm[algorithm]))

    def test_views(self, context: wia.Context) -> None:
        a, b = values((20, 30), "float32"), values((40, 25), "float32", 1)
        left = wia.transpose(wia.from_numpy(context, a))[::-2]
        right = wia.from_numpy(context, b)[1::2, ::-1]
        assert is_near(wia.matmul(left, right).numpy(), a.T[::-2], b[1::2, ::-1], "float32")

    def test_special_values(self, context: wia.Context) -> None:
        """What is not finite stays in its row and column."""
        a, b = np.ones((4, 3), np.float32), np.ones((3, 5), np.float32)
        a[1, 2], a[2, 0], b[1, 4] = np.nan, np.inf, -np.inf
        got = wia.matmul(wia.from_numpy(context, a), wia.from_numpy(context, b)).numpy()
        with np.errstate(invalid="ignore"):
            expected = np.sum(a[:, :, None] * b[None], axis=1)
        assert np.array_equal(got, expected, equal_nan=True)


class TestBatchMatmul:
    """Stacks of matrices, pair by pair."""

    @pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32"])
    @pytest.mark.parametrize("stack", [(1,), (5,), (0,), (2, 3)])
    @pytest.mark.parametrize(("m", "k", "n"), [(7, 5, 3), (1, 1, 1), (2, 0, 3)])
    def test_against_numpy(
        self, context: wia.Context, dtype: str, stack: tuple[int, ...], m: int, k: int, n: int
    ) -> None:
        a, b = values((*stack, m, k), dtype), values((*stack, k, n), dtype, 1)
        got = wia.batch_matmul(wia.from_numpy(context, a), wia.from_numpy(context, b)).numpy()
        assert got.shape == (*stack, m, n)
        if dtype == "int32":
            assert np.array_equal(got, a @ b)
        else:
            assert is_near(got, a, b, "float64" if dtype == "float64" else "float32")

    def test_views(self, context: wia.Context) -> None:
        a, b = values((4, 5, 6), "float32"), values((4, 5, 7), "float32", 1)
        left = wia.transpose(wia.from_numpy(context, a), (0, 2, 1))
        got = wia.batch_matmul(left, wia.from_numpy(context, b)).numpy()
        assert is_near(got, a.transpose(0, 2, 1), b, "float32")


class TestPrecision:
    """Which type products are taken of, and sums are kept in."""

    def test_half_precision_is_summed_in_single(self, context: wia.Context) -> None:
        """4,096 ones: float16 alone stops at 2,048."""
        a, b = (wia.full(context, shape, 1, "float16") for shape in ((1, 4096), (4096, 1)))
        for precision, expected in (
            (Precision.FULL, 4096),
            (Precision.MIXED, 4096),
            (Precision.REDUCED, 2048),
        ):
            result = wia.matmul(a, b, config=MatmulConfig(precision=precision))
            assert result.numpy().item() == expected
            assert result.choice is not None
            reduced = precision is Precision.REDUCED
            assert result.choice.accumulate == ("float16" if reduced else "float32")

    def test_mixed_rounds_its_inputs(self, context: wia.Context) -> None:
        """float32 inputs to float16, but not the sums or the result."""
        a, b = values((17, 300), "float32"), values((300, 19), "float32", 1)
        result = wia.matmul(
            wia.from_numpy(context, a),
            wia.from_numpy(context, b),
            config=MatmulConfig(precision=Precision.MIXED),
        )
        got = result.numpy()
        assert got.dtype == np.float32
        assert is_near(got, a.astype(np.float16), b.astype(np.float16), "float32")
        assert not is_near(got, a, b, "float32")
        assert result.choice is not None
        assert (result.choice.inputs, result.choice.accumulate) == ("float16", "float32")

    @pytest.mark.parametrize("dtype", ["float64", "int32", "uint8"])
    def test_nothing_to_mix(self, context: wia.Context, dtype: str) -> None:
        a = wia.zeros(context, (2, 2), dtype)
        with pytest.raises(wia.InvalidValue, match=rf"MIXED is for float16 .* this is {dtype}"):
            wia.matmul(a, a, config=MatmulConfig(precision=Precision.MIXED))

    def test_overflow_is_infinite(self, context: wia.Context) -> None:
        a = wia.full(context, (1, 2), 60_000, "float16")
        ones = wia.full(context, (2, 1), 1, "float16")
        assert wia.matmul(a, ones).numpy().item() == np.inf


class TestChoice:
    """AUTO takes what the back end reckons shortest, and says so."""

    @pytest.mark.parametrize(
        ("machine", "m", "k", "n", "expected"),
        [
            ("H100", 64, 2, 64, "NAIVE"),  # a tile of 32 terms would be padding
            ("H100", 512, 512, 512, "TILED"),  # 16 tiles of 128 are for 16 of 132 multiprocessors
            ("H100", 4096, 1024, 4096, "PIPELINE"),
            ("T4", 4096, 1024, 4096, "DOUBLE_BUFFERED"),  # 7.5 has no asynchronous copies
        ],
    )
    @pytest.mark.virtual("faults that are injected")
    def test_by_shape_and_device(self, machine: str, m: int, k: int, n: int, expected: str) -> None:
        with wia.Context(wia.open_machine(machine)[0]) as context, hazards("off"):
            a, b = wia.empty(context, (m, k)), wia.empty(context, (k, n))
            machine_of = context.device.machine
            machine_of.inject(0, wia.InvalidValue("not to be done"))  # too large to compute here
            result = wia.matmul(a, b)
            with pytest.raises(wia.InvalidValue, match="not to be done"):
                context.synchronize()
        choice = result.choice
        assert choice is not None
        assert choice.algorithm == expected
        assert choice.asked == "AUTO"
        assert choice.seconds[expected] == min(choice.seconds.values())

    @pytest.mark.parametrize(
        ("algorithm", "step"),
        [
            (MatmulAlgorithm.NAIVE, "naive"),
            (MatmulAlgorithm.TILED, "tiled"),
            (MatmulAlgorithm.DOUBLE_BUFFERED, "double-buffered"),
            (MatmulAlgorithm.PIPELINE, "turned tile, unrolled"),
        ],
    )
    @pytest.mark.virtual("faults that are injected")
    def test_shares_were_measured(self, algorithm: MatmulAlgorithm, step: str) -> None:
        """At 4096³ the reckoning is within a tenth of what an H200 took, of one row a way."""
        rows = {row["step"]: row for row in _recorded("matmul")}
        with wia.Context(wia.open_machine("H200")[0]) as context:
            a = wia.empty(context, (4096, 4096))
            context.device.machine.inject(0, wia.InvalidValue("not to be done"))
            choice = wia.matmul(a, a).choice
            with pytest.raises(wia.InvalidValue, match="not to be done"):
                context.synchronize()
        assert choice is not None
        measured = float(rows[step]["milliseconds"]) / 1e3
        assert choice.seconds[algorithm.name] == pytest.approx(measured, rel=0.1)

    def test_explained(self, context: wia.Context) -> None:
        a = wia.zeros(context, (64, 64), "float16")
        choice = wia.matmul(a, a).choice
        assert choice is not None
        text = choice.explain()
        assert text.startswith(
            "matmul by TILED, the shortest, as AUTO takes it; reckoned are TILED"
        )
        assert text.endswith("Products of float16, sums in float32.")
        for way in ("NAIVE", "PIPELINE", "DOUBLE_BUFFERED"):
            assert way in text

    @pytest.mark.virtual("a device of another kind")
    def test_what_a_device_lacks(self) -> None:
        with wia.Context(wia.open_machine("T4")[0]) as context:
            a = wia.zeros(context, (64, 64))
            lacks = (
                "PIPELINE is not possible: it copies asynchronously, from compute capability 8.0"
            )
            choice = wia.matmul(a, a).choice
            assert choice is not None
            assert lacks in choice.explain()
            in_use = context.memory_in_use
            with pytest.raises(wia.InvalidValue, match=r"choose AUTO or NAIVE, TILED"):
                wia.matmul(a, a, config=MatmulConfig(algorithm=MatmulAlgorithm.PIPELINE))
            assert context.memory_in_use == in_use

    def test_views_keep_it(self, context: wia.Context) -> None:
        a = wia.zeros(context, (4, 4))
        product = wia.matmul(a, a)
        assert wia.transpose(product).choice is product.choice
        assert wia.relu(product).choice is None


def _recorded(topic: str) -> list[dict[str, str]]:
    """The recorded measurements of one topic."""
    text = (files("wia_lab.data") / "benchmarks_kernels_h200.csv").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return [row for row in csv.DictReader(lines) if row["topic"] == topic]


class TestRefused:
    """One sentence each: what, where, and the way out."""

    @pytest.mark.parametrize(
        ("attempt", "text"),
        [
            (lambda a: wia.matmul(a, a), "a has 3 columns and b has 2 rows"),
            (lambda a: wia.matmul(a, a[0]), "matmul: b has shape (3,): a matrix has two axes"),
            (lambda a: wia.matmul(a, np.ones((3, 2))), "matmul: b is a ndarray, not a tensor"),
            (
                lambda a: wia.matmul(a, wia.convert(wia.transpose(a), "float16")),
                "matmul: a is float32 and b is float16: convert one",
            ),
            (lambda a: wia.batch_matmul(a, a), "batch_matmul: shapes (2, 3) and (2, 3)"),
            (
                lambda a: wia.batch_matmul(wia.reshape(a, (1, 2, 3)), wia.reshape(a, (2, 3, 1))),
                "give stacks of as many matrices",
            ),
            (
                lambda a: wia.matmul(a, wia.transpose(a), config={"algorithm": "auto"}),
                "give a MatmulConfig",
            ),
            (lambda _: MatmulConfig(algorithm="auto"), "choose MatmulAlgorithm.AUTO, MatmulAlgo"),
            (
                lambda _: MatmulConfig(precision="full"),
                "precision is 'full': choose Precision.FULL",
            ),
        ],
    )
    def test_refused(
        self, context: wia.Context, attempt: Callable[[object], object], text: str
    ) -> None:
        with pytest.raises(wia.InvalidValue) as refusal:
            attempt(wia.zeros(context, (2, 3)))
        assert text in str(refusal.value)
        assert "\n" not in str(refusal.value)
