"""The solutions on a GPU: right answers, and times beside a device-to-device copy.

    WIA_LAB_BACKEND=hardware python benchmarks/hardware_check.py [FOLDER]

Takes the kernels from the answer cells of `solutions/`, runs them through `wia_lab.cuda` on the
GPU, compares with NumPy in float64, times them by CUDA events, and prints
one table. With FOLDER, the table is written there as hardware_check.csv too. Needs about 5 GiB of
device memory.
"""

from __future__ import annotations

import csv
import json
import statistics
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numba import float32

from wia_lab import cuda
from wia_lab.puzzles import async_convolution, tiled_matmul

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = 1 << 28  # floats: the size 1 GiB, far beyond every cache
CHECKED = 1 << 20  # samples that are compared; the rest by blocks at the far end
SIDE = 4096  # of the square matrices
ROUNDS, TOGETHER = 9, 8  # rounds that are timed, launches in each


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    kernel: str
    launch: str
    milliseconds: float
    rate: str
    beside_copy: str  # time of a copy of the same bytes over this time
    worst_error: float
    allowed_error: float

    @property
    def right(self) -> bool:
        """Whether the answer is within rounding."""
        return self.worst_error <= self.allowed_error


def solution(notebook: str, **names: Any) -> Any:
    """The kernel in a solution notebook's answer cell, given the names that it uses."""
    cells = json.loads((ROOT / "solutions" / notebook).read_text())["cells"]
    sources = ["".join(cell["source"]) for cell in cells]
    (source,) = (each for each in sources if "### BEGIN SOLUTION" in each)
    space = {"cuda": cuda, "float32": float32, **names}
    exec(compile(source, notebook, "exec"), space)  # noqa: S102 - our own notebook
    (kernel,) = (each for each in space.values() if isinstance(each, cuda.Kernel))
    return kernel


def milliseconds(work: Callable[[], Any]) -> float:
    """Time of one `work` on the device, by CUDA events: the median of several rounds.

    The launches of a round queue up behind one another, so that the host's time to launch, some
    tens of microseconds, is hidden and not measured.
    """
    work()
    times = []
    for _ in range(ROUNDS):
        begin, end = cuda.event(), cuda.event()
        begin.record()
        for _ in range(TOGETHER):
            work()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) / TOGETHER)
    return statistics.median(times)


def copy_row() -> Row:
    """A device-to-device copy of as many floats as the convolution reads."""
    source, target = (cuda.device_array(SAMPLES, np.float32) for _ in range(2))
    source[:1024] = np.arange(1024, dtype=np.float32)
    took = milliseconds(lambda: target.copy_to_device(source))
    wrong = np.abs(target[:1024].copy_to_host() - np.arange(1024)).max()
    return Row(
        "cuMemcpyDtoD",
        f"{SAMPLES:,} float32",
        took,
        _bandwidth(8 * SAMPLES, took),
        "1",
        float(wrong),
        0.0,
    )


def convolution_row(copy: Row) -> Row:
    """The asynchronous convolution of `SAMPLES` samples."""
    p = async_convolution
    kernel = solution(
        "09-async-convolution.ipynb",
        BUFFER_SIZE=p.CONV_TILE_SIZE + 2 * p.HALO_SIZE,
        KERNEL_SIZE=p.KERNEL_SIZE,
        HALO_SIZE=p.HALO_SIZE,
        CONV_TILE_SIZE=p.CONV_TILE_SIZE,
    )
    rng = np.random.default_rng(0)
    host, taps = rng.random(SAMPLES, np.float32), rng.random(p.KERNEL_SIZE, np.float32)
    signal, weights = cuda.to_device(host), cuda.to_device(taps)
    out = cuda.device_array_like(signal)
    configured = kernel[SAMPLES // p.CONV_TILE_SIZE, p.CONV_TILE_SIZE]
    took = milliseconds(lambda: configured(out, signal, weights))
    errors, allowed = zip(
        _convolution_error(
            out[:CHECKED].copy_to_host(), host[: CHECKED + p.HALO_SIZE], taps, "start"
        ),
        _convolution_error(
            out[-CHECKED:].copy_to_host(), host[-CHECKED - p.HALO_SIZE :], taps, "end"
        ),
        strict=True,
    )
    return Row(
        "async convolution, 5 taps",
        f"{SAMPLES:,} float32, {p.CONV_TILE_SIZE} threads a block",
        took,
        _bandwidth(8 * SAMPLES, took),
        f"{copy.milliseconds / took:.2f}",
        max(errors),
        min(allowed),
    )


def _convolution_error(
    found: np.ndarray, samples: np.ndarray, taps: np.ndarray, side: str
) -> tuple[float, float]:
    """Largest error at one end of the signal, and the error that rounding allows."""
    half = async_convolution.HALO_SIZE
    wide = samples.astype(np.float64)
    padded = np.pad(wide, (half, 0) if side == "start" else (0, half))
    expected = np.convolve(padded, taps[::-1].astype(np.float64), "valid")
    size = expected.max() * (taps.size + 1) * 2.0**-24
    return float(np.abs(found - expected).max()), float(size)


def matmul_row(copy: Row) -> Row:
    """The tiled product of two square matrices."""
    tile = tiled_matmul.TILE
    kernel = solution("06-tiled-matmul.ipynb", TILE=tile)
    rng = np.random.default_rng(0)
    a, b = (rng.random((SIDE, SIDE), np.float32) for _ in range(2))
    device_a, device_b = cuda.to_device(a), cuda.to_device(b)
    product = cuda.device_array((SIDE, SIDE), np.float32)
    configured = kernel[(SIDE // tile, SIDE // tile), (tile, tile)]
    took = milliseconds(lambda: configured(device_a, device_b, product))
    expected = a.astype(np.float64) @ b.astype(np.float64)
    error = float(np.abs(product.copy_to_host() - expected).max())
    allowed = float(expected.max() * (SIDE + 1) * 2.0**-24)
    same_bytes = copy.milliseconds * (3 * SIDE * SIDE) / (2 * SAMPLES)
    return Row(
        f"tiled matmul, {tile}×{tile} tiles",
        f"{SIDE}×{SIDE}×{SIDE} float32",
        took,
        f"{2 * SIDE**3 / took / 1e9:.2f} TFLOP/s",
        f"{same_bytes / took:.3f}",
        error,
        allowed,
    )


def _bandwidth(nbytes: int, took: float) -> str:
    return f"{nbytes / took / 1e6:,.0f} GB/s"


def rows() -> Iterator[Row]:
    """The table, as it is measured."""
    copy = copy_row()
    yield copy
    yield convolution_row(copy)
    yield matmul_row(copy)


def main(folder: Path | None) -> int:
    """Print the table, and write it to `folder`; exit code 1 when an answer is wrong."""
    if cuda.backend != "hardware":
        found = cuda.describe_backend()
        print(f"hardware_check needs a GPU: {found.reason}: {found.advice}", file=sys.stderr)
        return 3
    print(f"{cuda.get_current_device().name}: median of {ROUNDS} rounds of {TOGETHER} launches")
    found_rows = []
    for row in rows():
        found_rows.append(row)
        verdict = "right" if row.right else "WRONG"
        print(
            f"{row.kernel:28} {row.launch:42} {row.milliseconds:9.3f} ms  {row.rate:>15}  "
            f"copy/this {row.beside_copy:>6}  {verdict}, {row.worst_error:.2g} off, "
            f"{row.allowed_error:.2g} allowed",
            flush=True,
        )
    if folder is not None:
        with (folder / "hardware_check.csv").open("w", newline="") as file:
            table = csv.DictWriter(file, [each.name for each in fields(Row)])
            table.writeheader()
            table.writerows(asdict(row) for row in found_rows)
    return 0 if all(row.right for row in found_rows) else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else None))
