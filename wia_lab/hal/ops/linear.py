"""Linear algebra (§3.1, §3.7): matmul and batch_matmul, and how they choose an algorithm."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np

from wia_lab.hal.errors import InvalidValue
from wia_lab.hal.ops.choice import Precision, check_member, choose, leave_vendor, types_of
from wia_lab.hal.ops.operation import Blocks, Operation
from wia_lab.hal.ops.work import check_tensors, enqueue, planned
from wia_lab.hal.tensor import chosen_stream

if TYPE_CHECKING:
    from wia_lab.hal.device import DeviceInfo
    from wia_lab.hal.stream import Stream
    from wia_lab.hal.tensor import Tensor


class MatmulAlgorithm(Enum):
    """Ways to a matrix product: kernels of `wia_lab.kernels.matmul`, and the vendor's library.

    VENDOR is cuBLAS, by CuPy where that is installed, on real devices alone.
    """

    AUTO = "auto"
    NAIVE = "naive"
    TILED = "tiled"
    DOUBLE_BUFFERED = "double-buffered"
    PIPELINE = "pipeline"
    VENDOR = "vendor"


@dataclass(frozen=True, slots=True, kw_only=True)
class MatmulConfig:
    """Level 2: how a product is made. Without it: AUTO, and sums of float16 in float32."""

    algorithm: MatmulAlgorithm = MatmulAlgorithm.AUTO
    precision: Precision = Precision.FULL

    def __post_init__(self) -> None:
        check_member("MatmulConfig", "algorithm", self.algorithm, MatmulAlgorithm)
        check_member("MatmulConfig", "precision", self.precision, Precision)


@dataclass(frozen=True, slots=True)
class _Way:
    """What an algorithm divides the product into, and what it reaches."""

    tile: int  # rows and columns of the result that a block makes
    depth: int  # terms that it takes at a time; the last are padded with zeros
    share: float  # of the float32 peak: H200, 4096³ (data/benchmarks_kernels_h200.csv)
    needs: tuple[int, int] = (0, 0)  # compute capability
    is_single: bool = False  # keeps sums in float32 alone


_WAYS = {
    MatmulAlgorithm.NAIVE: _Way(32, 1, 1.38 / 67),
    MatmulAlgorithm.TILED: _Way(32, 32, 7.52 / 67),
    MatmulAlgorithm.DOUBLE_BUFFERED: _Way(128, 8, 18.99 / 67, is_single=True),
    MatmulAlgorithm.PIPELINE: _Way(128, 8, 39.82 / 67, (8, 0), is_single=True),
    MatmulAlgorithm.VENDOR: _Way(128, 8, 50.2 / 67),
}


def matmul(
    a: Tensor, b: Tensor, *, config: MatmulConfig | None = None, stream: Stream | None = None
) -> Tensor:
    """The product of a, (m, k), and b, (k, n): (m, n), of their type.

    float16 is multiplied exactly and summed in float32, unless `config` says otherwise; integers
    wrap round, as NumPy's. `result.choice.explain()` tells how it was made.

    Raises
    ------
    InvalidValue
        Shapes that do not fit, types that differ, or an algorithm that the device cannot run.
    """
    check_tensors("matmul", a=a, b=b)
    for label, each in (("a", a), ("b", b)):
        if each.ndim != 2:
            raise InvalidValue(
                f"matmul: {label} has shape {each.shape}: a matrix has two axes; reshape it, or "
                "use batch_matmul for stacks of matrices"
            )
    return _product("matmul", a, b, config, stream)


def batch_matmul(
    a: Tensor, b: Tensor, *, config: MatmulConfig | None = None, stream: Stream | None = None
) -> Tensor:
    """The products of matrices in stacks: (…, m, k) and (…, k, n) give (…, m, n).

    The lengths before the last two must be equal. All else is as in `matmul`.
    """
    check_tensors("batch_matmul", a=a, b=b)
    if a.ndim < 3 or a.ndim != b.ndim or a.shape[:-2] != b.shape[:-2]:
        raise InvalidValue(
            f"batch_matmul: shapes {a.shape} and {b.shape}: give stacks of as many matrices, as in "
            "(8, 3, 4) and (8, 4, 5)"
        )
    return _product("batch_matmul", a, b, config, stream)


def _product(
    name: str, a: Tensor, b: Tensor, config: MatmulConfig | None, stream: Stream | None
) -> Tensor:
    settings = MatmulConfig() if config is None else config
    if not isinstance(settings, MatmulConfig):
        raise InvalidValue(f"{name}: config is {config!r}: give a MatmulConfig")
    (m, k), (rows, n) = a.shape[-2:], b.shape[-2:]
    if k != rows:
        raise InvalidValue(
            f"{name}: shapes {a.shape} and {b.shape}: a has {k} columns and b has {rows} rows, "
            "which must be equal; transpose one?"
        )
    count = math.prod(a.shape[:-2])
    inputs, sums = types_of(name, a.dtype, settings.precision)
    operation = planned(
        name,
        [a, b],
        (*a.shape[:-1], n),
        a.dtype,
        accumulate=sums,
        work=2.0 * count * m * n * k,
        products=inputs,
    )
    chosen = chosen_stream(stream, a.context)
    ways, refused = _possible(operation, (m, n, k), count, chosen.context.device.info)
    leave_vendor(MatmulAlgorithm.VENDOR, ways, refused, settings.algorithm, chosen)
    taken, choice = choose(ways, refused, settings.algorithm, inputs, chosen)
    return enqueue(taken, [a, b], chosen, choice=choice)


def _possible(
    operation: Operation, sizes: tuple[int, int, int], count: int, info: DeviceInfo
) -> tuple[dict[MatmulAlgorithm, Operation], dict[MatmulAlgorithm, str]]:
    """The operation in each way that the device has, and why it lacks the others."""
    m, n, k = sizes
    ways: dict[MatmulAlgorithm, Operation] = {}
    refused: dict[MatmulAlgorithm, str] = {}
    for algorithm, way in _WAYS.items():
        if info.compute_capability < way.needs:
            major, minor = way.needs
            refused[algorithm] = (
                f"it copies asynchronously, from compute capability {major}.{minor}"
            )
            continue
        if way.is_single and operation.accumulate != np.float32:
            refused[algorithm] = "its kernel keeps sums in float32"
            continue
        tiles = count * math.ceil(m / way.tile) * math.ceil(n / way.tile)
        work = 2.0 * way.tile**2 * way.depth * math.ceil(k / way.depth)
        ways[algorithm] = replace(
            operation, algorithm=algorithm.value, blocks=Blocks(tiles, work, way.share)
        )
    return ways, refused
