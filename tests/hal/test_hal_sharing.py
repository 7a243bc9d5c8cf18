"""Buffers as other libraries see them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import wia_lab.hal as wia
from wia_lab import HazardError, hazards
from wia_lab.hal import MemoryKind

HOST_KINDS = [each for each in MemoryKind if each.host_access]


@pytest.fixture
def context() -> Iterator[wia.Context]:
    """On an H100."""
    made = wia.Context(wia.open_machine("1xH100")[0])
    yield made
    with hazards("off"):
        made.close()


@pytest.mark.parametrize("kind", HOST_KINDS)
def test_what_the_host_reaches_is_shared(context: wia.Context, kind: MemoryKind) -> None:
    """A DLPack consumer and a NumPy view write the very bytes."""
    buffer = context.allocate(64, kind)
    shared = np.from_dlpack(buffer)
    shared[:] = 5
    buffer.host(np.uint8)[0] = 6
    assert (buffer.host(np.uint8, "read") == [6, *[5] * 63]).all()
    assert shared[0] == 6
    assert wia.from_dlpack(context, buffer).numpy()[1] == 5


@pytest.mark.virtual("memory that CUDA's libraries do not reach")
def test_device_memory_is_not(context: wia.Context) -> None:
    """The sentence says why, and what to do."""
    buffer = context.allocate(64, name="weights")
    with pytest.raises(
        wia.AccessRefused, match=r"weights.*libraries of CUDA reach nothing: copy it"
    ):
        np.from_dlpack(buffer)


@pytest.mark.parametrize("kind", list(MemoryKind))
@pytest.mark.virtual("memory that CUDA's libraries do not reach")
def test_cuda_reaches_nothing(context: wia.Context, kind: MemoryKind) -> None:
    """A virtual machine has no CUDA addresses."""
    with pytest.raises(wia.AccessRefused, match=r"virtual machine .*H100.*copy it"):
        _ = context.allocate(64, kind).__cuda_array_interface__


@pytest.mark.virtual("hazards, which only virtual machines find")
def test_shared_too_soon(context: wia.Context) -> None:
    """Sharing is an access by the host: a copy that still runs is told."""
    pinned, device = context.allocate(64, MemoryKind.PINNED), context.allocate(64)
    stream = context.create_stream()
    stream.copy(pinned, device)
    with pytest.raises(HazardError, match="nothing orders|not waited|waits"):
        np.from_dlpack(pinned)


def test_freed(context: wia.Context) -> None:
    """Memory that was freed is not shared."""
    buffer = context.allocate(64, MemoryKind.HOST)
    buffer.close()
    with pytest.raises(wia.Closed, match="is used after it was freed"):
        np.from_dlpack(buffer)
