"""The HAL's profiler, on virtual machines: figures that follow from the program by hand."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

import wia_lab.hal as wia
from wia_lab.hal.backends.base import Interval
from wia_lab.hal.profiler import union

if TYPE_CHECKING:
    from pathlib import Path

MIB = 1 << 20
COPY = MIB / 63e9 + 10e-6  # seconds that 1 MiB takes to an H100
NEAR = {"abs": 0.02}  # milliseconds: the host's calls


@pytest.fixture
def context() -> wia.Context:
    """On an H100."""
    return wia.Context(wia.open_machine("1xH100")[0])


def nothing() -> None:
    """A kernel without effect."""


def profiled(context: wia.Context, config: wia.ProfilerConfig | None = None) -> wia.Profiler:
    """Two kernels one after the other, and 20 copies beside the first."""
    compute, copies = (
        context.create_stream(wia.StreamOptions(name=name)) for name in ("compute", "copies")
    )
    data, host = context.allocate(MIB), context.allocate(MIB, wia.MemoryKind.PINNED)
    with wia.Profiler(context, config) as profiler:
        compute.submit(nothing, seconds=3e-3, name="long")
        compute.submit(nothing, seconds=1e-3, name="short")
        compute.submit(nothing, seconds=1e-3, name="short")
        for _ in range(20):
            copies.copy(data, host)
        context.allocate(3 * MIB).close()
    return profiler


class TestReport:
    """Times, shares, memory, kernels."""

    def test_figures(self, context: wia.Context, on_hardware: bool) -> None:
        report = profiled(context).report()
        assert report.peak_memory_bytes == 4 * MIB
        calls = sorted((each.name, each.call_count) for each in report.kernel_stats)
        assert calls == [("long", 1), ("short", 2)]
        assert report.overlap_ms <= min(report.kernel_time_ms, report.memory_time_ms) + 1e-6
        if on_hardware:
            return
        assert report.total_time_ms == pytest.approx(5.0, **NEAR)
        assert report.kernel_time_ms == pytest.approx(5.0, **NEAR)
        assert report.memory_time_ms == pytest.approx(20 * COPY * 1e3, **NEAR)
        assert report.overlap_ms == pytest.approx(20 * COPY * 1e3, **NEAR)
        assert report.kernel_share == pytest.approx(1.0, abs=0.02)
        assert report.memory_share == pytest.approx(20 * COPY / 5e-3, abs=0.02)
        assert [each.total_time_ms for each in report.kernel_stats] == pytest.approx([3.0, 2.0])
        assert "  short: 2.000 ms in 2 calls" in str(report).splitlines()

    def test_what_came_before_does_not_count(self, context: wia.Context, on_hardware: bool) -> None:
        stream = context.create_stream()
        context.allocate(64 * MIB).close()
        stream.submit(nothing, seconds=1.0)
        stream.synchronize()
        with wia.Profiler(context) as profiler:
            stream.submit(nothing, seconds=1e-3)
        report = profiler.report()
        assert [each.call_count for each in report.kernel_stats] == [1]
        assert report.peak_memory_bytes == 0
        if not on_hardware:
            assert report.kernel_time_ms == pytest.approx(1.0)
            assert report.total_time_ms == pytest.approx(1.0, **NEAR)

    def test_other_devices_do_not_count(self) -> None:
        one, two = (wia.Context(device) for device in wia.open_machine("2xT4"))
        stream = two.create_stream()
        with wia.Profiler(one) as profiler:
            stream.submit(nothing, seconds=1.0)
            stream.synchronize()
        assert profiler.report().kernel_time_ms == 0

    def test_switched_off(self, context: wia.Context) -> None:
        off = wia.ProfilerConfig(timing=False, memory_tracking=False, kernel_profiling=False)
        report = profiled(context, off).report()
        assert (report.kernel_time_ms, report.memory_time_ms, report.overlap_ms) == (None,) * 3
        assert (report.kernel_share, report.peak_memory_bytes) == (None, None)
        assert report.kernel_stats == ()

    def test_too_early(self, context: wia.Context) -> None:
        with wia.Profiler(context) as profiler, pytest.raises(wia.NotReady, match="has not ended"):
            profiler.report()


class TestAttached:
    """`enable_profiling` of the standard's context configuration: a profiler of the context's."""

    def watched(self, profiling: bool | wia.ProfilerConfig = True) -> wia.Context:
        """A context on an H100 that is profiled."""
        return wia.Context(wia.open_machine("1xH100")[0], wia.ContextConfig(profiling=profiling))

    def test_from_its_making_to_its_end(self, on_hardware: bool) -> None:
        """What was still running when the context was closed is waited for, and counts."""
        with self.watched() as context:
            context.allocate(MIB)
            context.create_stream().submit(nothing, seconds=2e-3, name="work")
        assert context.profiler is not None
        report = context.profiler.report()
        assert on_hardware or report.kernel_time_ms == pytest.approx(2.0)
        assert report.peak_memory_bytes == MIB
        assert [(each.name, each.call_count) for each in report.kernel_stats] == [("work", 1)]

    def test_a_stretch_alone(self, on_hardware: bool) -> None:
        """`with` begins anew and ends there: neither what came before nor after counts."""
        with self.watched() as context:
            assert context.profiler is not None
            stream = context.create_stream()
            stream.submit(nothing, seconds=4e-3)
            stream.synchronize()
            with context.profiler:
                stream.submit(nothing, seconds=1e-3)
            stream.submit(nothing, seconds=8e-3)
        report = context.profiler.report()
        assert [each.call_count for each in report.kernel_stats] == [1]
        assert on_hardware or report.kernel_time_ms == pytest.approx(1.0)

    def test_configured(self) -> None:
        """What the configuration switches off is missing."""
        with self.watched(wia.ProfilerConfig(memory_tracking=False)) as context:
            pass
        assert context.profiler is not None
        assert context.profiler.report().peak_memory_bytes is None

    def test_too_early(self) -> None:
        context = self.watched()
        assert context.profiler is not None
        with pytest.raises(wia.NotReady, match="close its context before asking"):
            context.profiler.report()

    @pytest.mark.virtual("faults that are injected")
    def test_device_lost(self) -> None:
        """A context that ends with its device ends its profiler, and reports what was done."""
        context = self.watched()
        stream = context.create_stream()
        stream.submit(nothing, seconds=3e-3)
        stream.synchronize()
        context.device.reset()
        assert context.profiler is not None
        assert context.profiler.report().kernel_time_ms == pytest.approx(3.0)

    def test_off(self, context: wia.Context) -> None:
        assert context.profiler is None

    def test_refused(self) -> None:
        with pytest.raises(
            wia.InvalidValue, match="profiling is 'yes': give True, False or a Prof"
        ):
            wia.ContextConfig(profiling="yes")


class TestFiles:
    """JSON, and a trace that Perfetto opens."""

    def test_json(self, context: wia.Context, tmp_path: Path) -> None:
        profiler = profiled(context)
        profiler.save(tmp_path / "report.json")
        read = json.loads((tmp_path / "report.json").read_text())
        assert read["total_time_ms"] == profiler.report().total_time_ms
        assert sorted(each["call_count"] for each in read["kernel_stats"]) == [1, 2]
        assert [each.name for each in tmp_path.iterdir()] == ["report.json"]

    @pytest.mark.virtual("times of the simulated clock")
    def test_trace(self, context: wia.Context, tmp_path: Path) -> None:
        """Complete events with times in µs, none before the other in its row has ended."""
        profiled(context).save_trace(tmp_path / "trace.json")
        events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
        rows = {
            each["tid"]: each["args"]["name"] for each in events if each["name"] == "thread_name"
        }
        assert sorted(rows.values()) == ["compute", "copies"]
        spans = [each for each in events if each["ph"] == "X"]
        assert len(spans) == 23
        long = next(each for each in spans if each["name"] == "long")
        assert (long["dur"], long["cat"]) == (pytest.approx(3000.0), "kernel")
        for row in rows:
            mine = sorted((each for each in spans if each["tid"] == row), key=lambda x: x["ts"])
            for first, second in zip(mine, mine[1:], strict=False):
                assert second["ts"] >= first["ts"] + first["dur"] - 1e-6

    def test_a_failed_write_leaves_nothing(self, context: wia.Context, tmp_path: Path) -> None:
        with pytest.raises(wia.InvalidValue, match=r"missing.* cannot be written \(No such file"):
            profiled(context).save(tmp_path / "missing" / "report.json")
        assert list(tmp_path.iterdir()) == []


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 20))))
def test_union_counts_each_moment_once(pairs: list[tuple[int, int]]) -> None:
    """Against a set of unit moments."""
    intervals = [Interval("x", "copy", 0, "s", low, low + size) for low, size in pairs]
    moments = {moment for low, size in pairs for moment in range(low, low + size)}
    assert union(intervals) == len(moments)
