"""What the HAL adds on real devices, and what its ways of moving data bring there.

    python3 benchmarks/hal_hardware.py [FILE.csv]

Each row is a ratio of two measurements of one run, interleaved, the least of several. With a second
GPU, copies between the two are measured beside cuMemcpyPeer, with access enabled and without.
"""

from __future__ import annotations

import csv
import datetime as dt
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import wia_lab.hal as wia
from wia_lab import cuda
from wia_lab.cuda.choice import numba_cuda
from wia_lab.hal.backends.hardware_driver import driver

LAUNCHES = 1000
COPIED = 1 << 28  # bytes
RUNS = 7


@cuda.jit
def nothing(a, b, c, n):  # noqa: ANN001, ANN201 - a kernel's types come from its launch
    """Three arrays and a number, and no work."""


def least(*functions: Callable[[], float]) -> list[float]:
    """The least of several measurements of each, taken in turn."""
    for function in functions:
        function()  # compiled, and all memory touched
    taken = [[function() for function in functions] for _ in range(RUNS)]
    return [min(each) for each in zip(*taken, strict=True)]


def launches(context: wia.Context) -> list[dict[str, Any]]:
    """Host seconds of a launch: Numba's own and `launch_kernel_async`, over the same memory."""
    numba = numba_cuda()
    tensors = [wia.zeros(context, 1024) for _ in range(3)]
    arrays = [numba.as_cuda_array(each) for each in tensors]
    stream = context.create_stream()
    kernel, config = wia.compile_kernel(nothing), wia.LaunchConfig(1, 32)

    def own() -> float:
        start = time.perf_counter()
        for _ in range(LAUNCHES):
            nothing.hardware[1, 32, stream.handle.numba](*arrays, 5)
        taken = time.perf_counter() - start
        stream.synchronize()
        return taken / LAUNCHES

    def ours() -> float:
        start = time.perf_counter()
        for _ in range(LAUNCHES):
            wia.launch_kernel_async(kernel, config, *tensors, 5, stream=stream)
        taken = time.perf_counter() - start
        stream.synchronize()
        return taken / LAUNCHES

    numba_s, hal_s = least(own, ours)
    return [
        row("launch, Numba", numba_s * 1e6, "us"),
        row("launch, launch_kernel_async", hal_s * 1e6, "us"),
        row("launch, added by the HAL", (hal_s - numba_s) * 1e6, "us"),
    ]


def host_copies(context: wia.Context) -> list[dict[str, Any]]:
    """GB/s between host and device memory: Numba's copies of pinned memory, and the HAL's."""
    numba = numba_cuda()
    pinned = context.allocate(COPIED, wia.MemoryKind.PINNED)
    pageable = context.allocate(COPIED, wia.MemoryKind.HOST)
    device = context.allocate(COPIED)
    stream = context.create_stream()
    host = numba.pinned_array(COPIED, np.uint8)
    array = numba.device_array(COPIED, np.uint8)

    def timed(function: Callable[[], object]) -> Callable[[], float]:
        def once() -> float:
            start = time.perf_counter()
            function()
            stream.synchronize()
            return time.perf_counter() - start

        return once

    def upload() -> None:
        array.copy_to_device(host, stream=stream.handle.numba)

    def download() -> None:
        array.copy_to_host(host, stream=stream.handle.numba)

    rows = []
    for name, theirs, ours in (
        ("to the device", upload, lambda: stream.copy(device, pinned)),
        ("to the host", download, lambda: stream.copy(pinned, device)),
    ):
        numba_s, hal_s = least(timed(theirs), timed(ours))
        rows += [
            row(f"pinned copy {name}, Numba", COPIED / numba_s / 1e9, "GB/s"),
            row(f"pinned copy {name}, HAL", COPIED / hal_s / 1e9, "GB/s"),
            row(f"pinned copy {name}, HAL over Numba", numba_s / hal_s, "ratio"),
        ]
    pinned_s, pageable_s = least(
        timed(lambda: stream.copy(device, pinned)), timed(lambda: stream.copy(device, pageable))
    )
    return [
        *rows,
        row("pageable copy to the device, HAL", COPIED / pageable_s / 1e9, "GB/s"),
        row("pageable over pinned copy to the device, HAL", pinned_s / pageable_s, "ratio"),
    ]


@cuda.jit
def added(data):  # noqa: ANN001, ANN201 - as above
    """Each thread adds 1 to every so many elements."""
    for i in range(cuda.grid(1), data.size, cuda.gridsize(1)):
        data[i] += np.float32(1)


def unified_memory(context: wia.Context) -> list[dict[str, Any]]:
    """GB/s at which a kernel uses unified memory that the host has written, all of it each time."""
    tensor = wia.zeros(context, COPIED // 4, memory=wia.MemoryKind.UNIFIED)
    data, stream = tensor.buffer, context.create_stream()
    context.synchronize()
    kernel, config = wia.compile_kernel(added), wia.LaunchConfig(132 * 8, 256)

    def used(*, prefetched: bool) -> float:
        data.host(np.float32, "write")[:] = 1
        start = time.perf_counter()
        if prefetched:
            stream.prefetch(data)
        wia.launch_kernel_async(kernel, config, tensor, stream=stream)
        stream.synchronize()
        return time.perf_counter() - start

    faults_s, prefetched_s = least(lambda: used(prefetched=False), lambda: used(prefetched=True))
    return [
        row("unified memory, moved by faults", COPIED / faults_s / 1e9, "GB/s"),
        row("unified memory, prefetched", COPIED / prefetched_s / 1e9, "GB/s"),
        row("unified memory, prefetched over faults", faults_s / prefetched_s, "ratio"),
    ]


@cuda.jit
def worked(data, rounds):  # noqa: ANN001, ANN201 - as above
    """Some arithmetic on each element."""
    for i in range(cuda.grid(1), data.size, cuda.gridsize(1)):
        value = data[i]
        for _ in range(rounds):
            value = value * np.float32(0.5) + np.float32(1)
        data[i] = value


def batches(context: wia.Context) -> list[dict[str, Any]]:
    """Milliseconds of 12 batches from the host and back, in turn on one, two and three streams."""
    count, nbytes, rounds = 12, 1 << 25, 1800
    ends = [context.allocate(count * nbytes, wia.MemoryKind.PINNED) for _ in range(2)]
    ends[0].host()[:] = 0
    kernel, config = wia.compile_kernel(worked), wia.LaunchConfig(132 * 8, 256)
    streams = [context.create_stream() for _ in range(3)]
    room = [wia.empty(context, nbytes // 4) for _ in range(3)]
    context.synchronize()
    parts = [slice(i * nbytes, (i + 1) * nbytes) for i in range(count)]

    def on(used: int) -> Callable[[], float]:
        def once() -> float:
            start = time.perf_counter()
            for number, part in enumerate(parts):
                stream, tensor = streams[number % used], room[number % used]
                stream.copy(tensor.buffer, ends[0][part])
                wia.launch_kernel_async(kernel, config, tensor, rounds, stream=stream)
                stream.copy(ends[1][part], tensor.buffer)
            context.synchronize()
            return time.perf_counter() - start

        return once

    taken = least(*(on(used) for used in (1, 2, 3)))
    return [
        row(f"batches, streams: {used}", each * 1e3, "ms")
        for used, each in zip((1, 2, 3), taken, strict=True)
    ]


@cuda.jit
def copied(out, data):  # noqa: ANN001, ANN201 - as above
    """Each thread copies every so many bytes."""
    for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        out[i] = data[i]


def peer_copies(machine: wia.Machine) -> list[dict[str, Any]]:
    """GB/s from device 0 to device 1: cuMemcpyPeer of the driver and the HAL's copy."""
    rows = []
    api = driver()
    with wia.Context(machine[0]) as first, wia.Context(machine[1]) as second:
        source, target = first.allocate(COPIED), second.allocate(COPIED)
        stream = second.create_stream()
        ends = driver().context(1), driver().context(0)
        where = target.storage.pointer, ends[0], source.storage.pointer, ends[1]

        def theirs() -> float:
            with api.on(1):
                start = time.perf_counter()
                api.call(api.api.cuMemcpyPeerAsync, *where, COPIED, stream.handle.pointer)
                stream.synchronize()
                return time.perf_counter() - start

        def ours() -> float:
            start = time.perf_counter()
            stream.copy(target, source)
            stream.synchronize()
            return time.perf_counter() - start

        for state in ("access not enabled", "access enabled"):
            driver_s, hal_s = least(theirs, ours)
            rows += [
                row(f"peer copy, {state}, cuMemcpyPeer", COPIED / driver_s / 1e9, "GB/s"),
                row(f"peer copy, {state}, HAL", COPIED / hal_s / 1e9, "GB/s"),
                row(f"peer copy, {state}, HAL over cuMemcpyPeer", driver_s / hal_s, "ratio"),
            ]
            if state == "access not enabled":
                if not machine[1].can_access_peer(machine[0]):
                    break
                second.enable_peer_access(first)
                first.enable_peer_access(second)
        rows.append(read_in_place(first, second, stream, COPIED / hal_s / 1e9))
    return rows


def read_in_place(
    first: wia.Context, second: wia.Context, stream: wia.Stream, copy_rate: float
) -> dict[str, Any]:
    """GB/s at which a kernel of device 1 reads device 0's memory, over a copy's rate."""
    there = wia.zeros(first, COPIED // 4)
    here = wia.empty(second, COPIED // 4)
    first.synchronize()
    kernel, config = wia.compile_kernel(copied), wia.LaunchConfig(132 * 8, 256)

    def read() -> float:
        start = time.perf_counter()
        wia.launch_kernel_async(kernel, config, here, there, stream=stream)
        stream.synchronize()
        return time.perf_counter() - start

    (taken,) = least(read)
    return row("peer memory read in place, over a copy", COPIED / taken / 1e9 / copy_rate, "ratio")


def driver_version() -> str:
    """As nvidia-smi says it."""
    asked = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    said = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    return said.splitlines()[0]


def row(what: str, value: float, unit: str) -> dict[str, Any]:
    """One line of the table."""
    print(f"{what:52} {value:12.3f} {unit}", flush=True)
    return {"what": what, "value": f"{value:.4g}", "unit": unit}


def main() -> None:
    """Print the table, and write it where a file is named."""
    machine = wia.open_machine("hardware")
    with wia.Context(machine[0]) as context:
        rows = [*launches(context), *host_copies(context)]
        rows += [*unified_memory(context), *batches(context)]
    if len(machine) > 1:
        rows += peer_copies(machine)
    if len(sys.argv) > 1:
        with Path(sys.argv[1]).open("w", encoding="utf-8", newline="") as file:
            today = dt.datetime.now(tz=dt.UTC).date()
            part = f"{len(machine)} x {machine[0].info.name}, {driver_version()}"
            file.write(f"# {today}, {part}, python {' '.join(sys.argv)}\n")
            writer = csv.DictWriter(file, ["what", "value", "unit"])
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
