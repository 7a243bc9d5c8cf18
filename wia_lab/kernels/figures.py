"""Single figures of the tables recorded on an H200: the CSV files in `wia_lab/data`."""

from __future__ import annotations

import csv
import re
from functools import cache
from importlib import resources

from wia_lab.errors import CannotRun

KERNELS = "benchmarks_kernels_h200.csv"
SOLUTIONS = "solutions_h200.csv"
MEMORY = "memory_h200.csv"
OVERHEADS = "overheads_h200.csv"
COUNTERS = "silicon_h200.csv"
FILES = (KERNELS, SOLUTIONS, MEMORY, OVERHEADS, COUNTERS)


@cache
def _lines(name: str) -> tuple[str, ...]:
    path = resources.files("wia_lab") / "data" / name
    return tuple(path.read_text(encoding="utf-8").splitlines())


@cache
def _rows(name: str) -> tuple[dict[str, str], ...]:
    return tuple(csv.DictReader(line for line in _lines(name) if not line.startswith("#")))


def date(name: str) -> str:
    """Day on which the table was recorded, year first; empty where its head names none."""
    head = "\n".join(line for line in _lines(name) if line.startswith("#"))
    found = re.search(r"\d{4}-\d\d-\d\d", head)
    return found.group() if found else ""


def figure(name: str, column: str, **where: str) -> float:
    """Read `column` of the one row of `wia_lab/data/<name>` whose columns are as `where` says.

    Raises
    ------
    CannotRun
        Where no row or several are so.
    """
    found = [row for row in _rows(name) if all(row[key] == where[key] for key in where)]
    if len(found) != 1:
        sought = ", ".join(f"{key} {value!r}" for key, value in where.items())
        raise CannotRun(
            f"wia_lab/data/{name} has {len(found)} rows with {sought}, where one is needed: "
            "install the package's own tables again"
        )
    return float(found[0][column])


def milliseconds(topic: str, step: str) -> float:
    """Time of a reference kernel at full size."""
    return figure(KERNELS, "milliseconds", topic=topic, step=step)


def rate(topic: str, step: str) -> float:
    """GB/s, TFLOP/s or, for a latency, ns: what the row's unit says."""
    return figure(KERNELS, "rate", topic=topic, step=step)


def ratio(topic: str, step: str) -> float:
    """A kernel's rate over that of what stands beside it."""
    return figure(KERNELS, "ratio", topic=topic, step=step)


def faster(topic: str, slow: str, fast: str) -> str:
    """How many times as fast one step of a topic is as another, with both times."""
    before, after = milliseconds(topic, slow), milliseconds(topic, fast)
    return f"{before / after:.2f} times ({before:.3f} to {after:.3f} ms)"


def solution(kernel: str) -> float:
    """Milliseconds of a puzzle's solution."""
    return figure(SOLUTIONS, "milliseconds", kernel=kernel)


def allocation(size: int, measure: str = "allocate+free", **where: str) -> float:
    """Microseconds of an allocation of `size` bytes and its release."""
    return figure(MEMORY, "value", measure=measure, bytes=str(size), **where)


def overhead(what: str) -> float:
    """A launch in µs, batches in ms or a copy in GB/s, by Numba, the driver or the HAL."""
    return figure(OVERHEADS, "value", what=what)


def sectors(kernel: str) -> float:
    """Sectors a global load request, counted by the profiler."""
    metric = "l1tex__t_{}_pipe_lsu_mem_global_op_ld.sum"
    counted, requests = (
        figure(COUNTERS, "value", kernel=kernel, metric=metric.format(each))
        for each in ("sectors", "requests")
    )
    return counted / requests


def wavefronts(kernel: str) -> float:
    """Wavefronts of all shared loads, counted by the profiler."""
    metric = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"
    return figure(COUNTERS, "value", kernel=kernel, metric=metric)
