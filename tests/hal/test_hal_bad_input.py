"""What bad input gets: one sentence with the value and the way out, and a context as before."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import wia_lab.hal as wia
from wia_lab import cuda, hazards
from wia_lab.hal import LaunchConfig, MemoryKind, compile_kernel, launch_kernel


@cuda.jit
def fill(out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = 7


@pytest.fixture
def context() -> Iterator[wia.Context]:
    """On the first of two H100s."""
    made = wia.Context(wia.open_machine("2xH100-nvlink")[0])
    yield made
    with hazards("off"):
        made.close()


def usable(context: wia.Context) -> bool:
    """Whether the context still allocates, launches, copies and waits."""
    out = wia.empty(context, 64, np.int32)
    launch_kernel(compile_kernel(fill), LaunchConfig(1, 64), out)
    return bool((out.numpy() == 7).all())


def abroad() -> wia.Context:
    """A context of another machine."""
    return wia.Context(wia.open_machine("1xT4")[0])


def tensor(context: wia.Context, *shape: int, dtype: str = "float32") -> wia.Tensor:
    """Zeros."""
    return wia.from_numpy(context, np.zeros(shape, dtype))


def freed(context: wia.Context) -> wia.Buffer:
    """A buffer that was freed."""
    buffer = context.allocate(64, MemoryKind.HOST, name="staging")
    buffer.close()
    return buffer


def closed_stream(context: wia.Context) -> wia.Stream:
    """A stream that was closed."""
    stream = context.create_stream()
    stream.close()
    return stream


Case = tuple[Callable[[wia.Context], object], type[wia.HalError], str]

CASES: dict[str, Case] = {
    "unknown device": (
        lambda c: c.device.machine[2],
        wia.UnknownDevice,
        r"device 2 of .*: it has 0 to 1",
    ),
    "negative device": (lambda c: c.device.machine[-1], wia.UnknownDevice, r"device -1 of"),
    "device by name": (lambda c: c.device.machine["H100"], wia.UnknownDevice, r"device 'H100' of"),
    "foreign event": (
        lambda c: c.create_stream().wait(abroad().create_stream().record()),
        wia.ForeignHandle,
        r"of another machine",
    ),
    "foreign stream": (
        lambda c: launch_kernel(
            compile_kernel(fill),
            LaunchConfig(1, 1),
            tensor(c, 4),
            stream=abroad().create_stream(),
        ),
        wia.ForeignHandle,
        r"of another machine",
    ),
    "foreign buffer": (
        lambda c: c.free(abroad().allocate(64)),
        wia.InvalidValue,
        r"free it there",
    ),
    "double free": (
        lambda c: c.free(freed(c)),
        wia.Closed,
        r"staging is freed twice, first on .*line \d+: free it once",
    ),
    "use after free": (
        lambda c: freed(c).host(),
        wia.Closed,
        r"staging is used after it was freed on .*line \d+: free it after its last use",
    ),
    "copy after free": (
        lambda c: c.create_stream().copy(c.allocate(64), freed(c)),
        wia.Closed,
        r"staging is used after it was freed",
    ),
    "size zero": (
        lambda c: c.allocate(0),
        wia.InvalidValue,
        r"allocate: size is 0: give at least one byte",
    ),
    "size negative": (lambda c: c.allocate(-64), wia.InvalidValue, r"allocate: size is -64"),
    "host view of device memory": (
        lambda c: c.allocate(64, name="weights").host(),
        wia.AccessRefused,
        r"weights is device memory, which the host cannot reach: copy it",
    ),
    "host view of an odd length": (
        lambda c: c.allocate(63, MemoryKind.HOST).host(np.float32),
        wia.InvalidValue,
        r"cannot be read as float32: start and length must be multiples of 4 bytes",
    ),
    "access of a third sort": (
        lambda c: c.allocate(64, MemoryKind.HOST).host(access="append"),  # type: ignore[arg-type]
        wia.InvalidValue,
        r"access is 'append': it is 'read', 'write' or 'both'",
    ),
    "empty part": (lambda c: c.allocate(64)[8:8], wia.InvalidValue, r"\[8:8\] is empty"),
    "copy of another length": (
        lambda c: c.create_stream().copy(c.allocate(64), c.allocate(32)),
        wia.InvalidValue,
        r"32 bytes do not fit 64 exactly",
    ),
    "shapes that do not meet": (
        lambda c: wia.matmul(tensor(c, 3, 4), tensor(c, 5, 6)),
        wia.InvalidValue,
        r"4.*5",
    ),
    "types that do not meet": (
        lambda c: wia.add(tensor(c, 4), tensor(c, 4, dtype="int32")),
        wia.InvalidValue,
        r"float32 and .* int32: convert one",
    ),
    "kernel in host memory": (
        lambda c: launch_kernel(
            compile_kernel(fill), LaunchConfig(1, 64), c.allocate(64, MemoryKind.HOST, name="h")
        ),
        wia.AccessRefused,
        r"h is host memory, which kernels cannot reach",
    ),
    "block too large": (
        lambda c: launch_kernel(compile_kernel(fill), LaunchConfig(1, 1025), tensor(c, 4)),
        wia.InvalidValue,
        r"block dimension x is 1,025, at most 1,024 are possible.*H[12]00",
    ),
    "grid too large": (
        lambda c: launch_kernel(compile_kernel(fill), LaunchConfig((1, 65536), 1), tensor(c, 4)),
        wia.InvalidValue,
        r"grid dimension y is 65,536, at most 65,535 are possible",
    ),
    "unrecorded event, waited for": (
        lambda c: c.create_stream().wait(c.create_event("copied")),
        wia.NotReady,
        r"copied, never recorded.*record it first",
    ),
    "unrecorded event, by the host": (
        lambda c: c.create_event("copied").synchronize(),
        wia.NotReady,
        r"copied, never recorded",
    ),
    "closed stream": (
        lambda c: closed_stream(c).record(),
        wia.Closed,
        r"closed.*: make one with context\.create_stream\(\)",
    ),
    "more memory than there is": (
        lambda c: c.allocate("1TiB"),
        wia.OutOfMemory,
        r"1,099,511,627,776 bytes asked of .*H[12]00",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_bad_input(context: wia.Context, case: str) -> None:
    """The error is the one for it, names its value, and leaves the context usable."""
    act, kind, message = CASES[case]
    before = context.memory_in_use
    with pytest.raises(kind) as caught:
        act(context)
    text = str(caught.value)
    assert re.search(message, text), text
    assert "\n" not in text
    assert caught.value.details.file == __file__
    del caught  # its traceback holds the buffers of the case
    context.collect()
    assert context.memory_in_use == before
    assert usable(context)


UNUSABLE: dict[str, Callable[[wia.Context], object]] = {
    "allocate": lambda c: c.allocate(64),
    "create_stream": lambda c: c.create_stream(),
    "create_event": lambda c: c.create_event(),
    "synchronize": lambda c: c.synchronize(),
    "collect": lambda c: c.collect(),
    "tensor": lambda c: wia.empty(c, 4),
}


@pytest.mark.parametrize("use", UNUSABLE)
def test_a_context_that_was_closed(use: str) -> None:
    """Each use says so, and what to do."""
    context = wia.Context(wia.open_machine("1xT4")[0])
    context.close()
    with pytest.raises(wia.Closed, match=r"closed> was used: make another with Context\(device\)"):
        UNUSABLE[use](context)


@pytest.mark.parametrize("use", UNUSABLE)
def test_a_context_of_another_process(use: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A child that inherited the object is told both process numbers."""
    context = wia.Context(wia.open_machine("1xT4")[0])
    parent = os.getpid()
    monkeypatch.setattr(os, "getpid", lambda: parent + 1)
    with pytest.raises(wia.Closed, match=rf"made by process {parent} and used by {parent + 1}"):
        UNUSABLE[use](context)
    monkeypatch.undo()
    assert usable(context)
