"""§3.9 and §3.10 of the documents, put right: recovery with an end, shares of a union."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import wia_lab.hal as wia
from wia_lab.hal import MemoryKind

if TYPE_CHECKING:
    import numpy as np

MIB = 1 << 20


def compute(data: np.ndarray) -> None:
    """A kernel: one more."""
    data[:] += 1


def open_context() -> wia.Context:
    """On an A100, with 4 MiB and a second's patience."""
    config = wia.ContextConfig(memory_limit=4 * MIB, timeout=1.0)
    return wia.Context(wia.open_machine("A100")[0], config)


class TestSafeCompute:
    """§3.9: what can be got over is, in a bounded number of attempts."""

    def test_details(self) -> None:
        """Code, file, line, function and message of the one error; no question to a context."""
        with open_context() as context:
            with pytest.raises(wia.OutOfMemory) as caught:
                context.allocate(5 * MIB)
            details = caught.value.details
            assert details.code is wia.ErrorCode.OUT_OF_MEMORY
            assert details.code.text == "out of memory"
            assert Path(details.file).name == Path(__file__).name
            assert details.function == "test_details"
            assert "5,242,880 bytes asked" in details.message
            assert context.allocate(4 * MIB).nbytes == 4 * MIB  # it is still usable

    def test_memory_comes_back(self) -> None:
        """What nobody refers to is collected, and the second attempt succeeds."""
        with open_context() as context:
            context.allocate(3 * MIB)
            assert wia.run_safely(lambda: context.allocate(2 * MIB), context).nbytes == 2 * MIB

    def test_memory_does_not(self) -> None:
        """Three attempts, not a recursion; the error names who holds the memory."""
        with open_context() as context:
            held, attempts = context.allocate(3 * MIB, name="held"), []

            def submit() -> wia.Buffer:
                attempts.append(1)
                return context.allocate(2 * MIB)

            with pytest.raises(wia.OutOfMemory, match="held"):
                wia.run_safely(submit, context)
            assert len(attempts) == 3
            assert not held.is_closed

    def test_timeout(self) -> None:
        """The work is waited for longer, not submitted again: counted up once."""
        with open_context() as context:
            stream, data = context.create_stream(), context.allocate(64, MemoryKind.MANAGED)
            data.host(access="write")[:] = 0
            wia.run_safely(lambda: stream.submit(compute, data, seconds=2.0), context)
            assert set(data.host(access="read")) == {1}

    @pytest.mark.virtual("faults that are injected")
    def test_device_lost(self) -> None:
        """Reset; what was lost is named; the old context says so, a new one works."""
        machine = wia.open_machine("A100")
        context = wia.Context(machine[0])
        stream, data = context.create_stream(), context.allocate(64, name="weights")
        machine.inject(0, wia.DeviceLost("fell off the bus"))
        with pytest.raises(wia.DeviceLost, match="these buffers are lost: weights"):
            wia.run_safely(lambda: stream.submit(compute, data, seconds=1e-6), context)
        with pytest.raises(wia.Closed):
            context.allocate(64)
        with wia.Context(machine[0]) as anew:
            assert anew.allocate(64).nbytes == 64


class TestProfile:
    """§3.10: kernels, transfers and memory of a program."""

    def test_report(self, tmp_path: Path, on_hardware: bool) -> None:
        """By hand: 2 kernels of 200 µs, one copy of 1 MiB meanwhile; shares of their unions."""
        with wia.Context(wia.open_machine("A100")[0]) as context:
            work, transfer = context.create_stream(), context.create_stream()
            data, other = context.allocate(64), context.allocate(MIB)
            host = context.allocate(MIB, MemoryKind.PINNED)
            with wia.Profiler(context) as profiler:
                work.submit(compute, data, seconds=200e-6, name="layer")
                transfer.copy(other, host)
                work.submit(compute, data, seconds=200e-6, name="layer")
            report = profiler.report()
            copying = 10e-3 + MIB / 31.5e9 * 1e3  # ms
            if not on_hardware:
                assert report.kernel_time_ms == pytest.approx(0.4)
                assert report.memory_time_ms == pytest.approx(copying, rel=1e-3)
                assert report.overlap_ms == pytest.approx(copying, rel=1e-3)
                # So they are no parts of a whole
                assert report.kernel_share + report.memory_share > 1
            assert report.peak_memory_bytes == MIB + 256
            [layer] = report.kernel_stats
            assert (layer.name, layer.call_count) == ("layer", 2)
            assert on_hardware or layer.total_time_ms == pytest.approx(0.4)
            profiler.save(tmp_path / "profile_report.json")
        saved = json.loads((tmp_path / "profile_report.json").read_text())
        assert saved["kernel_stats"][0]["call_count"] == 2
        assert saved["total_time_ms"] == report.total_time_ms
