"""Traces: what is in them, what bad ones get, and what each design makes of them."""

from __future__ import annotations

import csv
import gzip
from importlib.resources import files

import pytest

from wia_lab.errors import OutOfMemoryError, TraceError
from wia_lab.memory import (
    Compacting,
    Heap,
    PageRing,
    Pool,
    Recorder,
    load_trace,
    replay,
    save_trace,
)
from wia_lab.memory.pages import PageMeter
from wia_lab.memory.sizes import PAGE
from wia_lab.memory.trace import RECORDED, Trace, TraceEvent

# events, peak live MiB, PyTorch's reserved MiB, first fit's reserved / live: as recorded with them
KNOWN = {
    "resnet18_train": (4471, 584.7, 824.0, 1.04),
    "gpt2_train_varlen": (17720, 2815.2, 4222.0, 1.11),
    "kv_cache_serving": (17792, 79.6, 138.0, 1.09),
}


@pytest.mark.parametrize("name", RECORDED)
class TestRecorded:
    """The three traces and what the designs need for them."""

    def test_is_what_was_recorded(self, name):
        """Events and peak are those noted when it was recorded."""
        trace = load_trace(name)
        events, peak, reserved, _ = KNOWN[name]
        assert len(trace.events) == events
        assert trace.peak_live_bytes / 2**20 == pytest.approx(peak, abs=0.05)
        table = files("wia_lab.data") / "alloc_traces" / "recorded.csv"
        row = next(r for r in csv.DictReader(table.read_text().splitlines()) if r["trace"] == name)
        assert float(row["peak_live_mib"]) == peak
        assert float(row["peak_reserved_mib"]) == reserved

    def test_first_fit(self, name):
        """Plain first fit needs what it needed elsewhere."""
        found = replay(load_trace(name), Heap("8GiB", fit="first"), samples=0)
        assert found.overhead == pytest.approx(KNOWN[name][3], abs=0.005)

    def test_page_ring(self, name):
        """One setting for all three, nothing moved, nothing known of the future: at most 1.05."""
        heap = Heap("8GiB", granule=PAGE)
        meter = PageMeter(heap)
        ring = PageRing(meter)
        found = replay(load_trace(name), ring, samples=4)
        assert found.overhead <= 1.05
        assert found.statistics.peak_reserved_bytes == meter.peak_mapped * PAGE
        assert found.statistics.peak_live_bytes >= found.peak_live_bytes
        ring.check()

    def test_compacted(self, name):
        """With compaction what is reserved is what is live, to within rounding to 256 B."""
        memory = Compacting(Heap("8GiB"), eager=True)
        found = replay(load_trace(name), memory, samples=0)
        assert 1.0 <= found.overhead < 1.0001
        memory.check()


@pytest.mark.parametrize("scale", [0.83, 1.03, 1.2])
def test_page_ring_is_not_made_for_one_size(scale):
    """The serving trace with all sizes scaled falls differently on pages, and needs no more."""
    trace = load_trace("kv_cache_serving")
    scaled = Trace("scaled", [TraceEvent(op, key, int(n * scale)) for op, key, n in trace.events])
    assert replay(scaled, PageRing(Heap("1GiB", granule=PAGE)), samples=0).overhead <= 1.05


def small_trace():
    """Three blocks, one freed."""
    return Trace(
        "small", [TraceEvent("a", 0, 300), TraceEvent("a", 1, 500), TraceEvent("f", 0, 300)]
    )


class TestReplay:
    """A replay gives peaks, curves, and leaves the allocator as the program left it."""

    def test_figures(self):
        """Peak as asked, reserved as granted, curves at the events."""
        found = replay(small_trace(), Heap(4096), samples=3)
        assert found.peak_live_bytes == 800
        assert found.statistics.peak_reserved_bytes == 1024
        assert found.overhead == pytest.approx(1.28)
        assert [(s.event, s.live, s.reserved) for s in found.samples] == [
            (1, 512, 512),
            (2, 1024, 1024),
            (3, 512, 1024),
        ]
        assert found.samples[-1].fragmentation == pytest.approx(1 - 3072 / 3584)

    def test_too_small_a_heap(self):
        """The error names the event, and nothing stays allocated."""
        heap = Heap(512)
        with pytest.raises(OutOfMemoryError, match="trace small, event 1: Heap has no room"):
            replay(small_trace(), heap)
        assert heap.statistics.live_blocks == 0

    def test_recording_a_replay_gives_the_trace(self):
        """Record while replaying, and the same events come out."""
        trace = load_trace("resnet18_train")
        recorder = Recorder(Pool(Heap("4GiB")))
        replay(trace, recorder, samples=0)
        again = recorder.trace()
        assert [(e.op, e.bytes) for e in again.events] == [(e.op, e.bytes) for e in trace.events]


class TestFiles:
    """Files are read strictly and written reproducibly."""

    @pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
    def test_round_trip(self, tmp_path, name):
        """What is saved is loaded; the same trace gives the same bytes."""
        save_trace(small_trace(), tmp_path / name)
        first = (tmp_path / name).read_bytes()
        assert list(load_trace(tmp_path / name).events) == small_trace().events
        save_trace(load_trace(tmp_path / name), tmp_path / name)
        assert (tmp_path / name).read_bytes() == first

    @pytest.mark.parametrize(
        ("lines", "message"),
        [
            ("op,id\n", "line 1: the columns are 'op,id', not 'op,id,bytes'"),
            ("", "line 1: the columns are ''"),
            ("op,id,bytes\na,0,100\nx,1,5\n", "line 3: op is 'x', not 'a' or 'f'"),
            ("op,id,bytes\na,0\n", "line 2: 2 cells, not op,id,bytes"),
            ("op,id,bytes\na,zero,1\n", "line 2: id 'zero' and bytes '1' must be whole numbers"),
            ("op,id,bytes\na,0,-5\n", "line 2: id '0' and bytes '-5' must be whole numbers"),
            ("op,id,bytes\na,0,0\n", "line 2: a block of 0 bytes"),
            ("op,id,bytes\na,0,1\na,0,1\n", "line 3: block 0 was allocated before"),
            ("op,id,bytes\nf,7,1\n", "line 2: block 7 is freed, but was never allocated"),
            (
                "op,id,bytes\na,7,1\nf,7,1\nf,7,1\n",
                "line 4: block 7 is freed, but was freed before",
            ),
        ],
    )
    def test_corrupt(self, tmp_path, lines, message):
        """The line and why."""
        path = tmp_path / "bad.csv"
        path.write_text(lines)
        with pytest.raises(TraceError) as caught:
            load_trace(path)
        assert str(caught.value).startswith(f"trace bad, {message}")

    def test_no_trace_at_all(self, tmp_path):
        """A missing file, a torn gzip and binary rubbish are each a TraceError."""
        with pytest.raises(TraceError, match="give a CSV file, or one of resnet18_train"):
            load_trace(tmp_path / "missing.csv")
        torn = tmp_path / "torn.csv.gz"
        torn.write_bytes(gzip.compress(b"op,id,bytes\na,0,1\n")[:20])
        with pytest.raises(TraceError, match="trace torn: no CSV"):
            load_trace(torn)
        (tmp_path / "rubbish.csv").write_bytes(b"\xff\xfe\x00")
        with pytest.raises(TraceError, match="trace rubbish: no CSV"):
            load_trace(tmp_path / "rubbish.csv")
