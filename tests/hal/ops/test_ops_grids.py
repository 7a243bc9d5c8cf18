"""Plans of real devices' kernels for sizes beyond what a grid has along y."""

from __future__ import annotations

import numpy as np
import pytest

from wia_lab import hazards, simulate
from wia_lab.hal.ops.kernels import Operand, plan, plans
from wia_lab.hal.ops.operation import Operation
from wia_lab.hal.tensor_layout import Layout, row_strides


class Room:
    """Memory of NumPy's."""

    def scratch(self, count: int, dtype: np.dtype) -> np.ndarray:
        return np.empty(count, dtype)

    def constant(self, values: np.ndarray) -> np.ndarray:
        return values


def product(a: np.ndarray, b: np.ndarray, algorithm: str) -> tuple[Operation, list[Operand]]:
    """The record of a · b, its operands, and the output last."""
    shape = (*a.shape[:-1], b.shape[-1])
    arrays = [a, b, np.full(shape, np.nan if a.dtype.kind == "f" else 77, a.dtype)]
    layouts = [Layout.contiguous(each.shape, each.dtype) for each in arrays]
    name = "matmul" if a.ndim == 2 else "batch_matmul"
    sums = np.dtype("float32") if a.dtype == np.float16 else a.dtype
    record = Operation(
        name, (layouts[0], layouts[1]), layouts[2], sums, {"products": a.dtype}, algorithm
    )
    operands = [
        Operand(each.reshape(-1), each.dtype, each.shape, row_strides(each.shape, 1))
        for each in arrays
    ]
    return record, operands


@pytest.mark.parametrize("algorithm", ["naive", "tiled", "double-buffered", "pipeline"])
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_tall_matrices(algorithm: str, dtype: str) -> None:
    """Three million rows: no launch has more blocks along y or z than a device takes."""
    a, b = np.empty((3_000_000, 1), dtype), np.empty((1, 1), dtype)
    record, (*inputs, output) = product(a, b, algorithm)
    launches = list(plan(record, inputs, output, Room()))
    assert launches
    for each in launches:
        grid = each.grid if isinstance(each.grid, tuple) else (each.grid,)
        assert all(blocks <= 65535 for blocks in grid[1:])


@pytest.mark.parametrize("algorithm", ["naive", "tiled", "double-buffered", "pipeline"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32"])
def test_in_parts(algorithm: str, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The parts of a product are the whole, for each matrix of a stack."""
    if dtype in ("float64", "int32") and algorithm in ("double-buffered", "pipeline"):
        pytest.skip("its kernel keeps sums in float32")
    monkeypatch.setattr(plans, "MOST_ALONG_Y", 2)
    rng = np.random.default_rng(0)
    a = rng.integers(-4, 5, (2, 150, 7)).astype(dtype)
    b = rng.integers(-4, 5, (2, 7, 5)).astype(dtype)
    record, (*inputs, output) = product(a, b, algorithm)
    for each in plan(record, inputs, output, Room()):
        with hazards("off"):
            report = simulate(each.kernel, each.grid, each.block, *each.arguments, device="H200")
        assert not [found for found in report.hazards if found.severity == "error"]
    assert np.array_equal(output.flat.reshape(2, 150, 5), a @ b)
