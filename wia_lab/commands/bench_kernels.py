"""The kernels of `bench simulator`, with their launches and what they must compute.

Run as `python -m wia_lab.commands.bench_kernels NAME …` with NUMBA_ENABLE_CUDASIM=1, it times
Numba's own simulator and prints one JSON object: name → seconds.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import cuda, float32

TILE = 16
BLOCK = 256
HALO = 2
SPAN = BLOCK + 2 * HALO


def vector_add(out, a, b):
    """Add two vectors: one element a thread."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + b[i]


def halo_convolution(out, signal, taps):
    """Convolve with 5 taps through a shared tile with its halo; zero outside the signal."""
    tile = cuda.shared.array(SPAN, float32)
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    tile[t + HALO] = signal[i] if i < signal.size else 0.0
    if t < HALO:
        left = i - HALO
        right = i + BLOCK
        tile[t] = signal[left] if left >= 0 else 0.0
        tile[t + HALO + BLOCK] = signal[right] if right < signal.size else 0.0
    cuda.syncthreads()
    if i < out.size:
        total = float32(0.0)
        for k in range(taps.size):
            total += tile[t + k] * taps[k]
        out[i] = total


def tiled_matmul(a, b, c):
    """Multiply two matrices through 16×16 tiles in shared memory."""
    sa = cuda.shared.array((TILE, TILE), float32)
    sb = cuda.shared.array((TILE, TILE), float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    x, y = cuda.grid(2)
    total = float32(0.0)
    for step in range(a.shape[1] // TILE):
        sa[ty, tx] = a[y, step * TILE + tx]
        sb[ty, tx] = b[step * TILE + ty, x]
        cuda.syncthreads()
        for k in range(TILE):
            total += sa[ty, k] * sb[k, tx]
        cuda.syncthreads()
    c[y, x] = total


@dataclass(frozen=True)
class Job:
    """One launch: `output` is the place of the written array among the arguments."""

    kernel: Any
    grid: Any
    block: Any
    arguments: tuple[np.ndarray, ...]
    output: int
    expected: np.ndarray

    def verify(self) -> None:
        """Refuse to time a wrong result."""
        np.testing.assert_allclose(self.arguments[self.output], self.expected, rtol=1e-4, atol=1e-4)


def job(name: str) -> Job:
    """Return the launch called `name`: vector-add, halo-convolution or tiled-matmul-N."""
    rng = np.random.default_rng(7)
    if name == "vector-add":
        a, b = rng.random((2, 16384), dtype=np.float32)
        return Job(vector_add, 64, BLOCK, (np.zeros_like(a), a, b), 0, a + b)
    if name == "halo-convolution":
        signal, taps = rng.random(16384, dtype=np.float32), rng.random(5, dtype=np.float32)
        expected = np.convolve(signal, taps[::-1], mode="same")
        out = np.zeros_like(signal)
        return Job(halo_convolution, 64, BLOCK, (out, signal, taps), 0, expected)
    size = int(name.removeprefix("tiled-matmul-"))
    a, b = rng.random((2, size, size), dtype=np.float32)
    grid = (size // TILE, size // TILE)
    return Job(tiled_matmul, grid, (TILE, TILE), (a, b, np.zeros_like(a)), 2, a @ b)


def time_numba_simulator(name: str) -> float:
    """Return the seconds that numba.cuda's simulator takes for one launch."""
    work = job(name)
    kernel = cuda.jit(work.kernel)
    start = time.perf_counter()
    kernel[work.grid, work.block](*work.arguments)
    seconds = time.perf_counter() - start
    work.verify()
    return seconds


def main() -> None:
    """Time the launches named on the command line."""
    seconds = {}
    for name in sys.argv[1:]:
        print(f"wia-lab: Numba's simulator runs {name}", file=sys.stderr)
        seconds[name] = time_numba_simulator(name)
    print(json.dumps(seconds))


if __name__ == "__main__":
    main()
