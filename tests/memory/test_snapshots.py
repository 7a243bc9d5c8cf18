"""Snapshots in PyTorch's schema, written and read."""

from __future__ import annotations

import json
import pickle

import pytest

from wia_lab.errors import TraceError
from wia_lab.memory import (
    Heap,
    PageRing,
    Timeline,
    load_snapshot,
    load_trace,
    replay,
    save_snapshot,
)
from wia_lab.memory.sizes import PAGE

# As torch.cuda.memory._snapshot() of torch 2.11 gives it, shortened: two allocations, one freed,
# and a free of something allocated before the recording began.
FROM_TORCH = {
    "segments": [
        {
            "device": 0,
            "address": 139871234,
            "total_size": 2097152,
            "allocated_size": 512,
            "active_size": 512,
            "stream": 0,
            "segment_type": "small",
            "blocks": [
                {"address": 139871234, "size": 512, "requested_size": 400, "state": "inactive"},
                {
                    "address": 139871746,
                    "size": 512,
                    "requested_size": 100,
                    "state": "active_allocated",
                },
            ],
        }
    ],
    "device_traces": [
        [
            {"action": "segment_alloc", "addr": 139871234, "size": 2097152, "stream": 0},
            {"action": "free_completed", "addr": 1234, "size": 512, "stream": 0},
            {"action": "alloc", "addr": 139871234, "size": 512, "stream": 0, "frames": []},
            {"action": "alloc", "addr": 139871746, "size": 512, "stream": 0, "frames": []},
            {"action": "free_requested", "addr": 139871234, "size": 512, "stream": 0},
            {"action": "free_completed", "addr": 139871234, "size": 512, "stream": 0},
        ]
    ],
}


def test_a_torch_snapshot_becomes_a_trace():
    """Allocations and completed frees; requests, segments and unknown frees are left out."""
    events = load_snapshot(FROM_TORCH).events
    assert [(e.op, e.bytes) for e in events] == [("a", 512), ("a", 512), ("f", 512)]
    assert events[2].id == events[0].id
    assert events[0].id != events[1].id


@pytest.mark.parametrize("name", ["s.pickle", "s.json"])
def test_files(tmp_path, name):
    """Both kinds of file are read back."""
    save_snapshot(FROM_TORCH, tmp_path / name)
    assert load_snapshot(tmp_path / name).events == load_snapshot(FROM_TORCH).events


class TestWritten:
    """What memory_viz relies on holds in what is written here."""

    @pytest.mark.parametrize(
        "make", [lambda: Heap("4GiB"), lambda: PageRing(Heap("4GiB", granule=PAGE))]
    )
    def test_segments_are_tiled(self, tmp_path, make):
        """Blocks tile their segment, sizes add up, and the events lie where they should."""
        path = tmp_path / "resnet.pickle"
        allocator = make()
        replay(load_trace("resnet18_train"), allocator, samples=0, snapshot=path)
        snapshot = pickle.loads(path.read_bytes())
        live = allocator.statistics
        for segment in snapshot["segments"]:
            end = segment["address"]
            for block in segment["blocks"]:
                assert block["address"] == end
                assert block["requested_size"] <= block["size"]
                end += block["size"]
            assert end == segment["address"] + segment["total_size"]
        assert sum(s["allocated_size"] for s in snapshot["segments"]) == live.live_bytes
        actions = [entry["action"] for entry in snapshot["device_traces"][0]]
        assert actions.count("alloc") == 2237
        assert actions.count("free_completed") == actions.count("free_requested") == 2234
        assert all(
            {"action", "addr", "size", "stream", "frames", "time_us"} <= set(entry)
            for entry in snapshot["device_traces"][0]
        )
        spans = [(s["address"], s["address"] + s["total_size"]) for s in snapshot["segments"]]
        for entry in snapshot["device_traces"][0]:  # played backwards, a block needs its segment
            if entry["action"] == "alloc":
                first, end = entry["addr"], entry["addr"] + entry["size"]
                assert any(start <= first and end <= stop for start, stop in spans)

    def test_read_back_as_a_trace(self, tmp_path):
        """Writing and reading gives the trace again, sizes as granted."""
        path = tmp_path / "kv.json"
        trace = load_trace("kv_cache_serving")
        replay(trace, Heap("1GiB"), samples=0, snapshot=path)
        again = load_snapshot(path)
        assert [e.op for e in again.events] == [e.op for e in trace.events]
        assert again.peak_live_bytes == trace.peak_live_bytes

    def test_frames_are_the_callers(self):
        """A block's frames name the user's line."""
        memory = Timeline(Heap(4096))
        memory.allocate(100)
        frame = memory.snapshot()["segments"][0]["blocks"][0]["frames"][0]
        assert frame["filename"] == __file__
        assert frame["name"].endswith("test_frames_are_the_callers")


class TestBad:
    """A file that is no snapshot says what is wrong, and never runs code."""

    @pytest.mark.parametrize(
        ("snapshot", "message"),
        [
            ({}, "snapshot: it has no list 'device_traces'"),
            ({"device_traces": [[]]}, "device 0 has no events; start the recording"),
            ({"device_traces": []}, "device 0 asked for, it has 0"),
            ({"device_traces": [[{}]]}, "device 0, event 0: 'action'"),
            (
                {"device_traces": [[{"action": "alloc", "addr": 1, "size": 0}]]},
                "event 0: an allocation of 0 B",
            ),
            (
                {"device_traces": [[{"action": "alloc", "addr": 1, "size": 8}] * 2]},
                "event 1: address 0x1 is allocated twice",
            ),
            ({"device_traces": [[{"action": "alloc", "addr": None, "size": 8}]]}, "event 0: "),
        ],
    )
    def test_contents(self, snapshot, message):
        """The event and why."""
        with pytest.raises(TraceError) as caught:
            load_snapshot(snapshot)
        assert message in str(caught.value)

    def test_pickle_that_would_run_code(self, tmp_path):
        """A pickle that names a function is refused before anything is called."""

        class Evil:
            def __reduce__(self):
                return print, ("run",)

        (tmp_path / "evil.pickle").write_bytes(pickle.dumps(Evil()))
        with pytest.raises(TraceError, match=r"it is no snapshot: it wants to build .*\.print"):
            load_snapshot(tmp_path / "evil.pickle")

    @pytest.mark.parametrize("name", ["a.pickle", "a.json"])
    def test_rubbish(self, tmp_path, name):
        """Bytes that are neither pickle nor JSON."""
        (tmp_path / name).write_bytes(b"\x00rubbish")
        with pytest.raises(TraceError, match="it is no snapshot"):
            load_snapshot(tmp_path / name)
        with pytest.raises(TraceError, match="No such file"):
            load_snapshot(tmp_path / "missing.pickle")

    def test_json_that_is_no_dictionary(self, tmp_path):
        """A list is no snapshot."""
        (tmp_path / "a.json").write_text(json.dumps([1]))
        with pytest.raises(TraceError, match="no list 'device_traces'"):
            load_snapshot(tmp_path / "a.json")


class Counted:
    """A region that counts how often its offset is looked at."""

    looks = 0

    def __init__(self, offset, block):
        self._offset, self.size, self.block = offset, 64, block

    @property
    def offset(self):
        Counted.looks += 1
        return self._offset


def test_a_snapshot_looks_at_each_block_a_few_times():
    """Blocks in segments of their own: as often for each, however many there are."""

    class Sparse(Heap):
        def regions(self):
            block = Heap(256).allocate(64)
            return [Counted(128 * i, block) for i in reversed(range(self.count))]

    def looks(count):
        heap = Sparse(1 << 20)
        heap.count = count
        Counted.looks = 0
        snapshot = Timeline(heap).snapshot()
        assert [each["total_size"] for each in snapshot["segments"]] == [64] * count
        assert all(len(each["blocks"]) == 1 for each in snapshot["segments"])
        return Counted.looks / count

    assert looks(1000) == looks(10)
