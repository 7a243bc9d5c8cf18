"""The ladders at full size: what each is measured beside, and how near it should come.

A ratio is always of times in one run. "device copy" is cuMemcpyDtoD: a kernel that moves B bytes
is held against B over the copy's bandwidth, read and write counted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wia_lab.kernels.convolution import CONVOLUTION
from wia_lab.kernels.convolution2d import CONVOLUTION_2D
from wia_lab.kernels.copy import COPY
from wia_lab.kernels.fused import FUSED
from wia_lab.kernels.histogram import HISTOGRAM
from wia_lab.kernels.matmul import HALF_MATMUL, MATMUL
from wia_lab.kernels.reduction import REDUCTION
from wia_lab.kernels.rows import LAYER_NORM, SOFTMAX
from wia_lab.kernels.scan import SCAN
from wia_lab.kernels.stencil import STENCIL
from wia_lab.kernels.transpose import TRANSPOSE
from wia_lab.kernels.vector import ADD, AXPY

if TYPE_CHECKING:
    from wia_lab.kernels.ladder import Topic

COPY_ONLY, CUBLAS, CUDNN = "device copy", "cuBLAS, no TF32", "cuDNN, no TF32"
N = 1 << 28
SIDE = 1 << 14  # of a matrix of 2²⁸ elements


@dataclass(frozen=True, slots=True)
class Workload:
    """A topic at full size.

    Attributes
    ----------
    topic, size
        The ladder, and the numbers that its arguments are made from.
    work : callable
        Of the size: bytes that must move, or operations.
    beside : str
        What its time is held against.
    reach : float or None
        The ratio that the best step should reach; None where nothing is asked.
    """

    topic: Topic
    size: tuple[int, ...]
    work: Callable[..., int]
    beside: str = COPY_ONLY
    reach: float | None = None

    @property
    def unit(self) -> str:
        """`GB/s` for what moves bytes, `TFLOP/s` for what computes."""
        return "GB/s" if self.beside == COPY_ONLY else "TFLOP/s"


WORKLOADS = (
    Workload(ADD, (N,), lambda n: 12 * n, reach=0.90),
    Workload(AXPY, (N,), lambda n: 12 * n),
    Workload(COPY, (N,), lambda n: 8 * n),
    Workload(TRANSPOSE, (SIDE, SIDE), lambda rows, columns: 8 * rows * columns, reach=0.90),
    Workload(CONVOLUTION, (N,), lambda n: 8 * n, reach=0.90),
    Workload(STENCIL, (SIDE, SIDE), lambda rows, columns: 8 * rows * columns),
    Workload(REDUCTION, (N,), lambda n: 4 * n, reach=0.85),
    Workload(SCAN, (N // 4,), lambda n: 8 * n),
    Workload(SOFTMAX, (8192, 8192), lambda rows, columns: 8 * rows * columns, reach=0.85),
    Workload(LAYER_NORM, (8192, 8192), lambda rows, columns: 8 * rows * columns, reach=0.85),
    # A copy of these bytes reads and writes each of them, as the other ratios to a copy count it
    Workload(HISTOGRAM, (N,), lambda n: 2 * n, reach=0.70),
    Workload(MATMUL, (4096, 4096, 4096), lambda m, n, k: 2 * m * n * k, CUBLAS, 0.70),
    Workload(HALF_MATMUL, (4096, 4096, 4096), lambda m, n, k: 2 * m * n * k, CUBLAS),
    Workload(
        CONVOLUTION_2D,
        (32, 64, 64, 224, 224),
        lambda batch, inputs, outputs, rows, columns: (
            18 * batch * inputs * outputs * rows * columns
        ),
        CUDNN,
        0.40,
    ),
    Workload(
        FUSED,
        (32, 64, 64, 224, 224),
        lambda batch, inputs, outputs, rows, columns: (
            18 * batch * inputs * outputs * rows * columns
        ),
        CUDNN,
    ),
)
