"""Run the ladders on a GPU: right answers first, then times beside copies and vendor libraries.

Needs numba-cuda, PyTorch (inputs, float64 references, cuBLAS, cuDNN) and about 16 GiB of device
memory. Times are CUDA events around several launches, the median of five such runs.
"""

from __future__ import annotations

import ctypes
import math
import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from wia_lab.cuda.rebind import numba_cuda
from wia_lab.kernels import hierarchy
from wia_lab.kernels.ladder import Launch, Topic
from wia_lab.kernels.references import full_arguments, full_reference, vendor
from wia_lab.kernels.workloads import COPY_ONLY, WORKLOADS, Workload

RUNS = 5
ENOUGH = 6.0  # milliseconds that one run should take
MOST = 20  # launches in one run
COPIED = 1 << 30  # bytes of the copy that ratios are held against


@dataclass(frozen=True, slots=True)
class Row:
    """One step of a ladder, as measured.

    Attributes
    ----------
    topic, step, size
        As in the ladder; the topic `hierarchy` holds a level of memory and what was measured of it.
    milliseconds, rate, unit
        Median time of one run of the step's launches; work over time, in GB/s or TFLOP/s, or
        nanoseconds of one load.
    beside, beside_rate, ratio
        What it is held against, that one's rate in the same unit and run, and rate over rate.
    reach
        The ratio asked of the ladder's best step; None where none is.
    error, small_error
        Greatest error against float64 relative to the greatest value: at full size, and the
        greatest over the topic's small ragged sizes.
    """

    topic: str
    step: str
    size: str
    milliseconds: float
    rate: float
    unit: str
    beside: str = ""
    beside_rate: float | None = None
    ratio: float | None = None
    reach: float | None = None
    error: float | None = None
    small_error: float | None = None


def array(tensor: Any) -> Any:
    """The memory of a PyTorch tensor, or of whatever describes it so, as numba-cuda's array."""
    cuda = numba_cuda()

    return cuda.as_cuda_array(tensor)


def runner(plan: list[Launch]) -> Callable[[], None]:
    """A function that runs the launches on the GPU, one after the other."""
    ready = [(each.kernel.hardware[each.grid, each.block], each.arguments) for each in plan]

    def run() -> None:
        for kernel, arguments in ready:
            kernel(*arguments)

    return run


def milliseconds(run: Callable[[], object]) -> float:
    """Median time of one call, launches of a run queued behind each other."""
    import torch  # noqa: PLC0415 - hardware only

    def once(times: int) -> float:
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(times):
            run()
        end.record()
        end.synchronize()
        return float(start.elapsed_time(end)) / times

    run()  # compiled, and all memory touched
    first = once(1)
    times = min(MOST, max(1, math.ceil(ENOUGH / first)))
    runs = RUNS if first < 5 * ENOUGH else 1
    return statistics.median(once(times) for _ in range(runs))


def copy_bandwidth() -> float:
    """GB/s of cuMemcpyDtoD of 1 GiB, bytes read and bytes written."""
    import torch  # noqa: PLC0415 - hardware only

    driver = ctypes.CDLL("libcuda.so.1")
    ends = [torch.rand(COPIED // 4, device="cuda") for _ in range(2)]
    target, source = (ctypes.c_uint64(each.data_ptr()) for each in ends)

    def run() -> None:
        status = driver.cuMemcpyDtoDAsync_v2(target, source, ctypes.c_size_t(COPIED), None)
        if status:
            raise RuntimeError(f"cuMemcpyDtoDAsync returned {status}")

    return 2 * COPIED / milliseconds(run) / 1e6


def small_errors(topic: Topic) -> dict[str, float]:
    """Greatest relative error of each step over the topic's small sizes, against NumPy."""
    cuda = numba_cuda()

    worst = {step.name: 0.0 for step in topic.steps}
    for size in topic.sizes:
        host = topic.arguments(np.random.default_rng(5), *size)
        expected = topic.reference(*host)
        for step in topic.steps:
            device = tuple(cuda.to_device(each) for each in host)
            runner(step.plan(*device))()
            error = relative_error(device[0].copy_to_host(), expected)
            worst[step.name] = max(worst[step.name], error)
    return worst


def relative_error(found: np.ndarray, expected: np.ndarray) -> float:
    """Greatest difference over the greatest expected value; infinite where a NaN is left."""
    difference = float(np.abs(found.astype(np.float64) - expected).max())
    largest = max(float(np.abs(expected).max()), 1e-30)
    return math.inf if math.isnan(difference) else difference / largest


def ladder(workload: Workload) -> Iterator[Row]:
    """Each step of a topic at full size."""
    import torch  # noqa: PLC0415 - hardware only

    topic, size = workload.topic, workload.size
    small = small_errors(topic)
    tensors = full_arguments(topic.name, size)
    expected = full_reference(topic.name, tensors)
    work = workload.work(*size)
    if workload.beside == COPY_ONLY:
        beside = copy_bandwidth()
    else:
        beside = work / milliseconds(vendor(topic.name, tensors)) / 1e9
    for step in topic.steps:
        tensors[0].fill_(0 if topic.name == "histogram" else math.nan)
        run = runner(step.plan(*[array(each) for each in tensors]))
        run()
        torch.cuda.synchronize()
        found = tensors[0][: len(expected)].double()
        error = float((found - expected).abs().max() / expected.abs().max())
        del found
        took = milliseconds(run)
        rate = work / took / (1e6 if workload.beside == COPY_ONLY else 1e9)
        yield Row(
            topic=topic.name,
            step=step.name,
            size=" × ".join(map(str, size)),
            milliseconds=round(took, 4),
            rate=round(rate, 2),
            unit=workload.unit,
            beside=workload.beside,
            beside_rate=round(beside, 2),
            ratio=round(rate / beside, 3),
            reach=workload.reach,
            error=error,
            small_error=small[step.name],
        )


def measure(only: tuple[str, ...] = ()) -> Iterator[Row]:
    """Every workload, or those named, and the levels of memory, row by row."""
    import torch  # noqa: PLC0415 - hardware only

    for workload in WORKLOADS:
        if not only or workload.topic.name in only:
            yield from ladder(workload)
            torch.cuda.empty_cache()
    if not only or "hierarchy" in only:
        yield from levels()


def levels() -> Iterator[Row]:
    """Latency by pointer chase and bandwidth by sweep of shared memory, L1, L2, HBM and host."""
    import torch  # noqa: PLC0415 - hardware only

    blocks = torch.cuda.get_device_properties(0).multi_processor_count * 8
    yield from _shared_level(blocks)
    for name, table, steps, buffer, parts, repeats in (
        ("L1", 1 << 13, 1_000_000, 1 << 12, 1, 4000),
        ("L2", 1 << 22, 100_000, blocks * hierarchy.SPAN * 2, blocks, 400),
        ("HBM", 1 << 26, 100_000, 1 << 28, 1 << 14, 32),
    ):
        following = array(torch.from_numpy(hierarchy.ring(table)).cuda())
        floats = array(torch.rand(buffer, device="cuda"))
        yield _latency(name, hierarchy.chase, following, steps)
        yield _bandwidth(name, floats, blocks, parts, repeats)
    yield from _host_level(blocks)


def _level(name: str, held: int, took: float, rate: float, unit: str) -> Row:
    size = f"{held >> 10} KiB"
    return Row("hierarchy", name, size, round(took, 4), round(rate, 1), unit)


def _latency(name: str, kernel: Any, following: Any, steps: int, threads: int = 1) -> Row:
    """Nanoseconds of one dependent load."""
    import torch  # noqa: PLC0415 - hardware only

    out = array(torch.zeros(1, dtype=torch.uint32, device="cuda"))
    took = milliseconds(runner([Launch(kernel, 1, threads, (out, following, steps))]))
    return _level(f"{name}, latency", following.nbytes, took, took * 1e6 / steps, "ns")


def _bandwidth(name: str, floats: Any, blocks: int, parts: int, repeats: int) -> Row:
    """GB/s of a sweep."""
    import torch  # noqa: PLC0415 - hardware only

    out = array(torch.zeros(blocks * hierarchy.BLOCK, device="cuda"))
    plan = [Launch(hierarchy.sweep, blocks, hierarchy.BLOCK, (out, floats, repeats, parts))]
    took = milliseconds(runner(plan))
    read = 4 * (floats.size // parts) * blocks * repeats
    return _level(f"{name}, bandwidth", floats.nbytes, took, read / took / 1e6, "GB/s")


def _shared_level(blocks: int) -> Iterator[Row]:
    import torch  # noqa: PLC0415 - hardware only

    following = array(torch.from_numpy(hierarchy.ring(hierarchy.CHASED)).cuda())
    yield _latency("shared memory", hierarchy.chase_shared, following, 1_000_000, 256)
    floats, repeats = array(torch.rand(hierarchy.SPAN, device="cuda")), 4000
    out = array(torch.zeros(blocks * hierarchy.BLOCK, device="cuda"))
    arguments = (out, floats, repeats)
    took = milliseconds(
        runner([Launch(hierarchy.sweep_shared, blocks, hierarchy.BLOCK, arguments)])
    )
    rate = floats.nbytes * blocks * repeats / took / 1e6
    yield _level("shared memory, bandwidth", floats.nbytes, took, rate, "GB/s")


class _Pinned:
    """Pinned host memory, which kernels reach over the bus under its own address."""

    def __init__(self, host: np.ndarray) -> None:
        import torch  # noqa: PLC0415 - hardware only

        self.tensor = torch.from_numpy(host).pin_memory()
        self.__cuda_array_interface__ = {
            "shape": host.shape,
            "typestr": host.dtype.str,
            "data": (self.tensor.data_ptr(), False),
            "version": 3,
        }


def _host_level(blocks: int) -> Iterator[Row]:
    following = _Pinned(hierarchy.ring(1 << 22))
    floats = _Pinned(np.ones(blocks * hierarchy.SPAN * 16, np.float32))
    yield _latency("pinned host", hierarchy.chase, array(following), 2_000)
    yield _bandwidth("pinned host", array(floats), blocks, blocks, 1)
