"""The pool beside cuMemAlloc, PyTorch's and CuPy's pools, in one run on one GPU.

Standalone: needs this repository on the path, and whichever of `cuda-bindings` (or libcuda),
PyTorch and CuPy there is; what is missing is left out and said so. Writes memory_hardware.csv to
$OUT (or the current folder) and prints it. Takes less than a minute.

    python benchmarks/memory_hardware.py
"""

from __future__ import annotations

import csv
import ctypes
import datetime as dt
import gc
import os
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import contextlib

from wia_lab.memory import Heap, PageRing, Pool, load_trace, replay
from wia_lab.memory.sizes import PAGE
from wia_lab.memory.trace import RECORDED

SIZES = (4 << 10, 1 << 20, 64 << 20)  # bytes
REPEATS = 7
Row = tuple[str, str, int, float, str]  # what, measure, bytes, value, unit


def fastest(step: Callable[[], object], times: int) -> float:
    """Return the seconds of one call, in the fastest of some runs of `times` calls."""
    step()
    gc.collect()
    gc.disable()
    best = float("inf")
    for _ in range(REPEATS):
        start = time.perf_counter()
        for _ in range(times):
            step()
        best = min(best, time.perf_counter() - start)
    gc.enable()
    return best / times


def loop(allocate: Callable[[int], object], free: Callable[[object], object], size: int) -> float:
    """Return the seconds of one allocate + free, written out so that no wrapper is timed."""
    free(allocate(size))
    gc.collect()
    gc.disable()
    best, times = float("inf"), 20_000
    for _ in range(REPEATS):
        start = time.perf_counter()
        for _ in range(times):
            free(allocate(size))
        best = min(best, time.perf_counter() - start)
    gc.enable()
    return best / times


def ours() -> list[Row]:
    """Time a hit of our pool."""
    pool = Pool(Heap("64GiB"))
    return [
        ("wia_lab Pool", "allocate+free", size, loop(pool.allocate, pool.free, size) * 1e6, "us")
        for size in SIZES
    ]


def driver() -> list[Row]:
    """Time cuMemAlloc + cuMemFree, straight at libcuda."""
    cuda = ctypes.CDLL("libcuda.so.1")
    context, device = ctypes.c_void_p(), ctypes.c_int()
    for status in (
        cuda.cuInit(0),
        cuda.cuDeviceGet(ctypes.byref(device), 0),
        cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device),
        cuda.cuCtxSetCurrent(context),
    ):
        if status:
            raise RuntimeError(f"the driver returned {status}")
    pointer = ctypes.c_uint64()
    place = ctypes.byref(pointer)

    def pair(size: int) -> None:
        if cuda.cuMemAlloc_v2(place, ctypes.c_size_t(size)) or cuda.cuMemFree_v2(pointer):
            raise RuntimeError("cuMemAlloc or cuMemFree failed")

    return [
        ("cuMemAlloc", "allocate+free", size, fastest(lambda: pair(size), 200) * 1e6, "us")  # noqa: B023
        for size in SIZES
    ]


def torch_pool() -> list[Row]:
    """Time PyTorch's caching allocator: by its raw entry points, and through a tensor."""
    import torch

    name = f"PyTorch {torch.__version__}"
    torch.cuda.init()
    allocate, free = torch.cuda.caching_allocator_alloc, torch.cuda.caching_allocator_delete
    raw_allocate = torch._C._cuda_cudaCachingAllocator_raw_alloc
    raw_free = torch._C._cuda_cudaCachingAllocator_raw_delete
    stream = torch.cuda.current_stream().cuda_stream
    rows: list[Row] = []
    for size in SIZES:
        public = loop(allocate, free, size)
        raw = loop(lambda n: raw_allocate(n, stream), raw_free, size)
        empty = fastest(lambda: torch.empty(size, dtype=torch.uint8, device="cuda"), 5000)  # noqa: B023
        rows += [
            (name, "caching_allocator_alloc+delete", size, public * 1e6, "us"),
            (name, "raw_alloc+raw_delete", size, raw * 1e6, "us"),
            (name, "torch.empty+del", size, empty * 1e6, "us"),
        ]
    return rows


def cupy_pool() -> list[Row]:
    """Time CuPy's memory pool: by its malloc, and through an array."""
    import cupy

    name = f"CuPy {cupy.__version__}"
    pool = cupy.get_default_memory_pool()
    rows: list[Row] = []
    for size in SIZES:
        malloc = fastest(lambda: pool.malloc(size), 20_000)  # noqa: B023  freed as it is dropped
        empty = fastest(lambda: cupy.empty(size, dtype=cupy.uint8), 5000)  # noqa: B023
        rows += [
            (name, "pool.malloc+drop", size, malloc * 1e6, "us"),
            (name, "cupy.empty+drop", size, empty * 1e6, "us"),
        ]
    return rows


def replays() -> list[Row]:
    """Time the replay of each recorded trace."""
    rows: list[Row] = []
    for name in RECORDED:
        trace = load_trace(name)
        for label, make in (
            ("wia_lab Heap, best fit", lambda: Heap("8GiB")),
            ("wia_lab Pool", lambda: Pool(Heap("8GiB"))),
            ("wia_lab PageRing", lambda: PageRing(Heap("8GiB", granule=PAGE))),
        ):
            gc.collect()
            gc.disable()
            seconds = min(replay(trace, make(), samples=0).seconds for _ in range(3))
            gc.enable()
            rows.append((label, f"replay {name}", len(trace.events), seconds, "s"))
    return rows


def main() -> int:
    """Measure everything that is here; write and print the rows."""
    rows: list[Row] = []
    for part in (ours, driver, torch_pool, cupy_pool, replays):
        with contextlib.suppress(Exception):
            rows += part()
    stamp = dt.datetime.now(dt.UTC).strftime("%Y-%m-%d")
    target = Path(os.environ.get("OUT", ".")) / "memory_hardware.csv"
    with target.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["allocator", "measure", "bytes", "value", "unit", "date", "python"])
        for what, measure, size, value, unit in rows:
            writer.writerow(
                [what, measure, size, f"{value:.4g}", unit, stamp, platform.python_version()]
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
