"""Unified and managed memory of the HAL: pages that move, and what keeps them from it.

Expected counts follow from the rules of the CUDA programming guide, by hand, in pages of 2 MiB.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

import wia_lab.hal as wia
from wia_lab.hal import Advice, MemoryKind, Migrations
from wia_lab.timeline import VirtualDevice, virtual_machine

if TYPE_CHECKING:
    import numpy as np

PAGE = 2 << 20
PAGES = 4


def touch(data: np.ndarray) -> None:
    """A kernel: each byte and 1."""
    data[:] += 1


@pytest.fixture
def contexts() -> list[wia.Context]:
    """On two H100s with NVLink."""
    return [wia.Context(device) for device in wia.open_machine("2xH100-nvlink")]


@pytest.fixture
def context() -> wia.Context:
    """On the first of two."""
    return wia.Context(wia.open_machine("2xH100-nvlink")[0])


def run(context: wia.Context, *memory: wia.Buffer | wia.Part, writes: bool = True) -> float:
    """Seconds that a kernel takes which itself takes none."""
    stream = context.create_stream()
    begin = stream.record()
    stream.submit(
        touch if writes else lambda *_: None, *memory, seconds=0, writes=None if writes else []
    )
    end = stream.record()
    stream.synchronize()
    stream.close()
    return end.seconds_since(begin)


class TestMigration:
    """Pages go to whoever touches them, and that takes time."""

    @pytest.mark.parametrize("kind", [MemoryKind.UNIFIED, MemoryKind.MANAGED])
    @pytest.mark.virtual("migrations, which the driver does not count")
    def test_back_and_forth(self, context: wia.Context, kind: MemoryKind) -> None:
        data = context.allocate(PAGES * PAGE, kind)
        data.host()[:] = 1
        assert data.migrations == Migrations()  # the first touch moves nothing
        run(context, data)
        assert data.migrations == Migrations(faults=PAGES, nbytes=PAGES * PAGE)
        run(context, data)
        assert data.migrations.faults == PAGES
        assert set(data.host().tolist()) == {3}
        assert data.migrations == Migrations(faults=2 * PAGES, nbytes=2 * PAGES * PAGE)

    @pytest.mark.virtual("migrations, which the driver does not count")
    def test_first_touch_on_the_device(self, context: wia.Context) -> None:
        data = context.allocate(PAGES * PAGE, MemoryKind.UNIFIED)
        run(context, data)
        run(context, data)
        assert data.migrations == Migrations()

    @pytest.mark.virtual("migrations, which the driver does not count")
    def test_only_the_pages_touched(self, context: wia.Context) -> None:
        data = context.allocate(PAGES * PAGE - 100, MemoryKind.UNIFIED)
        data.host()[:] = 1
        run(context, data[PAGE - 1 : PAGE + 1])
        assert data.migrations == Migrations(faults=2, nbytes=2 * PAGE)
        run(context, data[3 * PAGE :])
        assert data.migrations == Migrations(faults=3, nbytes=3 * PAGE - 100)

    @pytest.mark.virtual("times of the simulated clock")
    def test_faults_take_the_links_time(self, context: wia.Context) -> None:
        data = context.allocate(PAGES * PAGE, MemoryKind.UNIFIED)
        data.host()[:] = 1
        first, second = run(context, data), run(context, data)
        assert first - second == pytest.approx(PAGES * (PAGE / 63e9 + 10e-6), rel=0.02)

    @pytest.mark.virtual("times of the simulated clock")
    def test_the_host_waits_too(self, context: wia.Context) -> None:
        data = context.allocate(PAGES * PAGE, MemoryKind.UNIFIED)
        run(context, data)
        before = context.backend.now()
        data.host()
        took = context.backend.now() - before
        assert took == pytest.approx(PAGES * (PAGE / 63e9 + 10e-6), rel=0.01)


class TestPrefetch:
    """What was asked for ahead is there without a fault."""

    @pytest.mark.virtual("migrations, which the driver does not count")
    def test_to_the_device_and_back(self, context: wia.Context) -> None:
        data, stream = context.allocate(PAGES * PAGE, MemoryKind.UNIFIED), context.create_stream()
        data.host()[:] = 1
        stream.prefetch(data)
        stream.synchronize()
        run(context, data)
        assert data.migrations == Migrations(prefetched=PAGES, nbytes=PAGES * PAGE)
        stream.prefetch(data[:PAGE], to_host=True)
        stream.synchronize()
        assert data[:PAGE].host()[0] == 2
        assert data.migrations == Migrations(prefetched=PAGES + 1, nbytes=(PAGES + 1) * PAGE)

    @pytest.mark.virtual("times of the simulated clock")
    def test_overlaps_other_work(self, context: wia.Context) -> None:
        """On the copy engine, beside a kernel that uses something else."""
        data = context.allocate(PAGES * PAGE, MemoryKind.UNIFIED)
        data.host()[:] = 1
        one, two = context.create_stream(), context.create_stream()
        begin = one.record()
        one.submit(lambda: None, seconds=1e-3)
        two.prefetch(data)
        one.wait(two)
        end = one.record()
        one.synchronize()
        assert end.seconds_since(begin) == pytest.approx(1e-3, abs=2e-5)

    @pytest.mark.parametrize("kind", [each for each in MemoryKind if each.name != "UNIFIED"])
    def test_of_other_kinds(self, context: wia.Context, kind: MemoryKind) -> None:
        data = context.allocate(64, kind)
        with pytest.raises(wia.AccessRefused, match="which the caller does not place"):
            context.create_stream().prefetch(data)
        with pytest.raises(wia.AccessRefused, match="which the caller does not place"):
            data.advise(Advice.READ_MOSTLY)

    def test_no_pages(self, context: wia.Context) -> None:
        with pytest.raises(wia.AccessRefused, match="never move"):
            _ = context.allocate(64).migrations


class TestAdvice:
    """Each piece of advice saves the moves that it is for."""

    @pytest.mark.virtual("migrations, which the driver does not count")
    def test_read_mostly(self, contexts: list[wia.Context]) -> None:
        """Each reader gets a copy once; a write discards the others'."""
        data = contexts[0].allocate(PAGE, MemoryKind.UNIFIED)
        data.host()[:] = 1
        data.advise(Advice.READ_MOSTLY)
        for _ in range(3):
            for context in contexts:
                run(context, data, writes=False)
            data.host(access="read")
        assert data.migrations.faults == 2
        data.host(access="write")[:] = 2
        for context in contexts:
            run(context, data, writes=False)
        assert data.migrations.faults == 4

    @pytest.mark.virtual("migrations, which the driver does not count")
    def test_without_it_they_take_turns(self, contexts: list[wia.Context]) -> None:
        data = contexts[0].allocate(PAGE, MemoryKind.UNIFIED)
        data.host()[:] = 1
        for _ in range(3):
            for context in contexts:
                run(context, data, writes=False)
        assert data.migrations.faults == 6

    def test_preferred_on_the_host(self, context: wia.Context, on_hardware: bool) -> None:
        """A device can use the host's memory over its link: nothing moves."""
        data = context.allocate(PAGE, MemoryKind.UNIFIED)
        data.advise(Advice.PREFERRED_LOCATION)
        data.host()[:] = 1
        for _ in range(3):
            run(context, data)
            data.host()
        assert on_hardware or data.migrations == Migrations()
        assert data.host()[0] == 4

    @pytest.mark.virtual("migrations, which the driver does not count")
    def test_preferred_on_the_device(self, context: wia.Context) -> None:
        """The host cannot use a device's memory: its touches still move the page, and back."""
        data = context.allocate(PAGE, MemoryKind.UNIFIED)
        data.advise(Advice.PREFERRED_LOCATION, context.device)
        run(context, data)
        data.host()
        run(context, data)
        assert data.migrations.faults == 2

    @pytest.mark.virtual("migrations, which the driver does not count")
    def test_accessed_by(self, contexts: list[wia.Context]) -> None:
        """The peer reads it over NVLink, where it is."""
        data = contexts[0].allocate(PAGE, MemoryKind.UNIFIED)
        data.advise(Advice.ACCESSED_BY, contexts[1].device)
        run(contexts[0], data)
        for _ in range(3):
            run(contexts[1], data)
            run(contexts[0], data)
        assert data.migrations == Migrations()


@pytest.mark.parametrize("kind", [MemoryKind.UNIFIED, MemoryKind.MANAGED])
@pytest.mark.virtual("a device of another kind")
def test_a_device_without_unified_memory(kind: MemoryKind) -> None:
    """A part before Pascal has no page faults: memory that migrates is refused, other is had."""
    machine = virtual_machine("1xT4")
    sheet = replace(machine.devices[0].sheet, compute_capability=(5, 2))
    machine = replace(machine, devices=(VirtualDevice(0, sheet, 0),))
    with wia.Context(wia.open_machine(machine)[0]) as context:
        with pytest.raises(wia.AccessRefused, match="whose capabilities have no unified memory"):
            context.allocate(64, kind)
        with pytest.raises(wia.AccessRefused, match="allocate device memory"):
            wia.empty(context, 4, memory=kind)
        assert context.memory_in_use == 0
        assert context.allocate(64).nbytes == 64
