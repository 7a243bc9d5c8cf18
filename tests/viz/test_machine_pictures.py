"""Pictures of timelines, heaps and links, against hand-derived numbers."""

from __future__ import annotations

import time

import pytest

from wia_lab import viz
from wia_lab.errors import WiaLabError
from wia_lab.memory import Buddy, Heap, Trace, load_trace
from wia_lab.memory.trace import TraceEvent
from wia_lab.timeline import Buffer, Event, Timeline, Work, virtual_machine
from wia_lab.viz.picture import MOST_BYTES


class TestStreamTimeline:
    """Engines as rows."""

    def run(self, *, wait):
        """One stream writes a buffer, another reads it."""
        machine, timeline = virtual_machine("H100"), Timeline(host_call=0)
        device, buffer = machine.devices[0], Buffer("data", 64)
        first, second = timeline.stream("first"), timeline.stream("second")
        copy = Work("copy", 1000, (device.upload,), writes=(buffer.region(),))
        timeline.submit(first, copy)
        if wait:
            event = Event()
            timeline.record(event, first)
            timeline.wait(second, event)
        timeline.submit(second, Work("run", 500, (device.compute,), reads=(buffer.region(),)))
        timeline.synchronize()
        return viz.stream_timeline(timeline)

    def test_a_wait_is_an_arrow(self):
        """The kernel starts when the copy ends, and the wait between them is kept."""
        picture = self.run(wait=True)
        assert [(bar.name, bar.start, bar.end) for bar in picture.bars] == [
            ("copy", 0, 1000),
            ("run", 1000, 1500),
        ]
        assert "run waits for copy" in str(picture)
        assert not picture.hazards
        assert picture.total == 1500

    def test_a_missing_wait_is_marked(self):
        """Both overlap, both are framed, and the hazard's sentence is in the text."""
        picture = self.run(wait=False)
        assert [bar.hazardous for bar in picture.bars] == [True, True]
        assert "hazard: run on second reads bytes 0 to 63 of data" in str(picture)
        assert picture.total == 1000

    def test_an_idle_timeline_gives_a_sentence(self):
        """Nothing has ended."""
        assert "No work has ended" in str(viz.stream_timeline(Timeline()))

    def test_a_thousand_operations(self):
        """The first 400 are drawn, and the rest is told."""
        timeline = Timeline()
        stream, engine = timeline.stream(), virtual_machine("T4").devices[0].compute
        for number in range(1000):
            timeline.submit(stream, Work(f"k{number}", 10, (engine,)))
        timeline.synchronize()
        picture = viz.stream_timeline(timeline)
        assert picture.left_out == 600
        assert len(picture.html()) < MOST_BYTES


class TestHeap:
    """A heap's map over time."""

    EVENTS = [("a", 0, 100), ("a", 1, 200), ("a", 2, 300), ("f", 1, 200), ("f", 0, 100)]

    def history(self, allocator=None):
        """Three blocks one after another, of which two go."""
        trace = Trace("small", [TraceEvent(*event) for event in self.EVENTS])
        return viz.heap_history(trace, allocator or Heap(4096, granule=1))

    def test_live_blocks_and_holes(self):
        """After the first free, block 1 leaves a hole of 200 bytes at 100."""
        history = self.history()
        assert history.live(4).tolist() == [0, 2]
        assert history.holes(4) == [(100, 200)]
        assert history.holes(5) == [(0, 300)]
        assert ": 1 live block, " in str(viz.heap_map(history))
        assert history.top == 600

    def test_an_allocator_that_is_full_says_so(self):
        """The history ends with the allocator's own sentence."""
        history = self.history(Heap(300, granule=1))
        assert history.failed.startswith("event 3: ")
        assert history.failed in str(viz.heap_map(history))

    @pytest.mark.parametrize("kind", ["heap", "buddy"])
    def test_agrees_with_the_books(self, kind):
        """Live bytes at the end are what the allocator itself counts."""
        heap = Heap("64GiB") if kind == "heap" else Buddy(Heap("64GiB"), "16GiB")
        history = viz.heap_history(load_trace("resnet18_train"), heap)
        live = history.live(history.events)
        assert int(history.size[live].sum()) == heap.statistics.live_bytes
        assert live.size == heap.statistics.live_blocks

    def test_a_million_events(self):
        """The first hundred thousand are replayed; the picture is small, and drawn fast."""
        events = [TraceEvent("af"[n % 2], n // 2, 64) for n in range(1_000_000)]
        history = viz.heap_history(Trace("million", events), Heap("1MiB"))
        picture = viz.heap_map(history, event=50_000)
        began = time.process_time()
        html = picture.html()
        print(f"drawn in {time.process_time() - began:.3f} s")
        assert "not replayed: 900,000 more events" in str(picture)
        assert len(html) < MOST_BYTES


class TestTopology:
    """Devices, links, one copy."""

    def test_direct_and_staged(self):
        """256 MiB at 300 GB/s and 5 µs; twice 31.5 GB/s and 10 µs through the host."""
        picture = viz.topology(virtual_machine("4xA100-nvlink"), copy=(0, 2, 1 << 28))
        *_, direct, staged = picture.copy
        assert direct == pytest.approx((1 << 28) / 300e9 + 5e-6, abs=1e-9)
        assert staged == pytest.approx(2 * ((1 << 28) / 31.5e9 + 10e-6), abs=2e-9)
        assert "devices 0 and 2: NVLink 3 300.0 GB/s" in str(picture)

    def test_a_detour_by_choice_keeps_the_direct_time(self):
        """Sent through the host although NVLink is there: two arrows, and both times are told."""
        machine = virtual_machine("4xA100-nvlink")
        straight = viz.topology(machine, copy=(0, 2, 1 << 28))
        detour = viz.topology(machine, copy=(0, 2, 1 << 28), staged=True)
        assert detour.copy == straight.copy
        assert "no way between them" not in str(detour)
        ways = [picture.drawing().count('class="w"') for picture in (straight, detour)]
        assert ways == [1, 2]

    def test_other_sockets_have_no_way(self):
        """PCIe of two sockets goes through host memory."""
        picture = viz.topology(virtual_machine("8xA100-pcie-2numa"), copy=(0, 6, 1))
        assert picture.copy[3] is None
        assert "no way between them" in str(picture)

    def test_onto_itself(self):
        """A copy within a device takes no link: at half the memory's rate, each byte twice."""
        machine = virtual_machine("2xH100-nvlink")
        picture = viz.topology(machine, copy=(1, 1, 1 << 30))
        direct = picture.copy[3]
        rate = machine.devices[1].sheet.memory_bandwidth / 2
        assert direct == pytest.approx((1 << 30) / rate + 2e-6, abs=1e-9)
        assert "1,024 MiB within device 1: direct" in str(picture)
        assert 'class="w"' not in picture.drawing()
        assert viz.topology(machine, copy=(1, 1, 1), staged=True).drawing().count('class="w"') == 2

    @pytest.mark.parametrize("copy", [(0, 2, 1), (-1, 0, 1), (0, 1, -5), (0, 1), (0, "1", 1)])
    def test_no_such_copy(self, copy):
        """A device that is not there, and bytes that cannot be."""
        with pytest.raises(WiaLabError, match="with devices from 0 to 1 of 2xH100"):
            viz.topology(virtual_machine("2xH100"), copy=copy)

    @pytest.mark.parametrize("machine", ["T4", "16xA100-nvlink", "2xA100+T4"])
    def test_any_machine_is_drawn(self, machine):
        """One device, sixteen, two sorts."""
        assert len(viz.topology(virtual_machine(machine)).html()) < MOST_BYTES
