"""Streams and events on the simulated clock: times from hand-made schedules."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wia_lab.errors import WiaLabError
from wia_lab.timeline import (
    Aside,
    Buffer,
    Engine,
    Event,
    Fault,
    Outcome,
    Region,
    Timeline,
    TimelineError,
    Work,
    virtual_machine,
)


def make() -> tuple[Timeline, Engine, Engine]:
    return Timeline(host_call=0), Engine("copy"), Engine("compute")


class TestTimes:
    """When work starts and ends follows from queues, engines and events alone."""

    def test_a_stream_runs_in_order(self) -> None:
        timeline, copy, compute = make()
        stream = timeline.stream()
        first = timeline.submit(stream, Work("copy", 100, (copy,)))
        second = timeline.submit(stream, Work("kernel", 50, (compute,)))
        timeline.synchronize(stream)
        assert (first.start, first.end, second.start, second.end) == (0, 100, 100, 150)
        assert timeline.now == 150

    def test_two_streams_overlap_on_two_engines(self) -> None:
        timeline, copy, compute = make()
        one, two = timeline.stream(), timeline.stream()
        ends = []
        for stream in (one, two):
            timeline.submit(stream, Work("copy", 100, (copy,)))
            ends.append(timeline.submit(stream, Work("kernel", 100, (compute,))))
        timeline.synchronize()
        assert [each.end for each in ends] == [200, 300]

    def test_an_event_holds_another_stream(self) -> None:
        timeline, copy, compute = make()
        one, two = timeline.stream(), timeline.stream()
        event = Event("copied")
        timeline.submit(one, Work("copy", 100, (copy,)))
        timeline.record(event, one)
        timeline.wait(two, event)
        kernel = timeline.submit(two, Work("kernel", 10, (compute,)))
        timeline.synchronize(two)
        assert kernel.start == 100

    def test_priority_decides_between_two_that_are_ready(self) -> None:
        timeline, copy, compute = make()
        busy = timeline.stream()
        low, high = timeline.stream(priority=1), timeline.stream(priority=-1)
        timeline.submit(busy, Work("first", 100, (compute,)))
        later = timeline.submit(low, Work("low", 10, (compute,)))
        sooner = timeline.submit(high, Work("high", 10, (compute,)))
        timeline.synchronize()
        assert (sooner.start, later.start) == (100, 110)

    def test_the_default_stream_waits_for_the_others_and_they_for_it(self) -> None:
        timeline, copy, compute = make()
        default, other = timeline.stream(legacy=True), timeline.stream()
        timeline.submit(other, Work("copy", 100, (copy,)))
        middle = timeline.submit(default, Work("kernel", 10, (compute,)))
        last = timeline.submit(other, Work("copy", 5, (copy,)))
        timeline.synchronize()
        assert (middle.start, last.start) == (100, 110)

    def test_a_query_does_not_wait(self) -> None:
        timeline = Timeline(host_call=10)
        stream = timeline.stream()
        timeline.submit(stream, Work("kernel", 25, (Engine("compute"),)))
        assert [timeline.query(stream) for _ in range(4)] == [False, False, True, True]

    def test_the_same_program_gives_the_same_times(self) -> None:
        def run() -> list[tuple[str, int | None]]:
            timeline, copy, compute = make()
            streams = [timeline.stream() for _ in range(5)]
            for i in range(200):
                engine = (copy, compute)[i * 7 % 3 == 0]
                timeline.submit(streams[i * 13 % 5], Work(str(i), 10 + i % 9, (engine,)))
            timeline.synchronize()
            return [(each.work.name, each.start) for each in timeline.finished]

        assert run() == run()


class TestData:
    """Work is done when its turn comes."""

    def test_a_missing_wait_gives_stale_data_and_a_hazard(self) -> None:
        timeline, copy, compute = make()
        memory, seen = {"x": 1}, []
        x = Buffer("x", 64, "device 0")
        one, two = timeline.stream("upload"), timeline.stream("work")
        timeline.submit(
            one, Work("copy", 100, (copy,), lambda: memory.update(x=2), writes=(x.region(),))
        )
        timeline.submit(
            two,
            Work("kernel", 10, (compute,), lambda: seen.append(memory["x"]), reads=(x.region(),)),
        )
        timeline.synchronize()
        assert seen == [1]
        assert [hazard.message for hazard in timeline.order.hazards] == [
            "kernel on work reads bytes 0 to 63 of x, which copy on upload writes, and nothing "
            "orders the two: record an event after the first, and let the stream of the second "
            "wait for it"
        ]

    def test_an_event_orders_them(self) -> None:
        timeline, copy, compute = make()
        x = Buffer("x", 64)
        one, two, event = timeline.stream(), timeline.stream(), Event()
        timeline.submit(one, Work("copy", 100, (copy,), writes=(x.region(),)))
        timeline.record(event, one)
        timeline.wait(two, event)
        timeline.submit(two, Work("kernel", 10, (compute,), reads=(x.region(),)))
        timeline.synchronize()
        assert timeline.order.hazards == []

    def test_the_host_reads_before_it_has_waited(self) -> None:
        timeline, copy, _ = make()
        out = Buffer("out", 32)
        stream = timeline.stream()
        timeline.submit(stream, Work("download", 100, (copy,), writes=(out.region(),)))
        timeline.host_access(reads=(out.region(),))
        (hazard,) = timeline.order.hazards
        assert hazard.second == "the host"
        timeline.synchronize(stream)
        timeline.host_access(reads=(out.region(),))
        assert len(timeline.order.hazards) == 1

    def test_disjoint_halves_do_not_meet(self) -> None:
        timeline, copy, compute = make()
        x = Buffer("x", 64)
        one, two = timeline.stream(), timeline.stream()
        timeline.submit(one, Work("low", 10, (copy,), writes=(x.region(0, 32),)))
        timeline.submit(two, Work("high", 10, (compute,), writes=(x.region(32, 64),)))
        assert timeline.order.hazards == []

    def test_order_is_transitive(self) -> None:
        timeline, copy, compute = make()
        x = Buffer("x", 8)
        a, b, c = (timeline.stream() for _ in range(3))
        first, second = Event(), Event()
        timeline.submit(a, Work("write", 10, (copy,), writes=(x.region(),)))
        timeline.record(first, a)
        timeline.wait(b, first)
        timeline.record(second, b)
        timeline.wait(c, second)
        timeline.submit(c, Work("read", 10, (compute,), reads=(x.region(),)))
        assert timeline.order.hazards == []


class TestFaults:
    """What fails is told to whoever waits; the rest goes on."""

    def test_an_injected_fault_reaches_the_wait(self) -> None:
        timeline, copy, _ = make()
        stream = timeline.stream()
        timeline.faults.append(Fault(lambda op: op.work.name == "bad", RuntimeError("lost")))
        timeline.submit(stream, Work("bad", 10, (copy,)))
        with pytest.raises(RuntimeError, match="lost"):
            timeline.synchronize(stream)
        timeline.synchronize(stream)

    def test_waiting_for_an_event_never_recorded(self) -> None:
        timeline, _, _ = make()
        with pytest.raises(TimelineError, match="never recorded"):
            timeline.wait(timeline.stream("work"), Event("done"))


class TestMachines:
    """Machines by name."""

    def test_links(self) -> None:
        machine = virtual_machine("2xH100-nvlink")
        assert machine.peer_route(0, 1).link == "NVLink 4"
        assert machine.can_access(0, 1)
        spread = virtual_machine("4xT4-pcie-2numa")
        assert [device.numa_node for device in spread.devices] == [0, 0, 1, 1]
        assert spread.can_access(0, 1)
        assert not spread.can_access(1, 2)

    def test_devices_of_two_sorts(self) -> None:
        """In the order written; NVLink joins one generation, PCIe is as fast as the slower end."""
        mixed = virtual_machine("T4+2xA100+V100")
        assert [device.sheet.name for device in mixed.devices] == ["T4", "A100", "A100", "V100"]
        assert mixed.peer_route(1, 2).link == "NVLink 3"
        assert mixed.peer_route(2, 3).link == mixed.peer_route(0, 1).link == "PCIe 3 x16"

    def test_access_withheld(self) -> None:
        """One way of two; copies are staged only where both are withheld."""
        pair = virtual_machine("2xA100")
        one_way = replace(pair, withheld=frozenset({(1, 0)}))
        assert one_way.can_access(0, 1)
        assert not one_way.can_access(1, 0)
        assert not one_way.peer_route(1, 0).staged
        assert one_way.peer_route(1, 0, enabled=False).staged
        assert one_way.peer_route(1, 0, enabled=False).link == "PCIe 4 x16"
        neither = replace(pair, withheld=frozenset({(1, 0), (0, 1)}))
        assert neither.peer_route(1, 0).staged
        assert neither.peer_route(1, 0).link == "PCIe 4 x16"

    @pytest.mark.parametrize(
        ("name", "words"),
        [
            ("", "write it as"),
            ("T4+", "write it as"),
            ("9xT4+8xT4", "17 devices"),
            ("T4+L4-nvlink", "no NVLink"),
            ("17xT4", "17 devices"),
            ("2xT4-nvlink", "no NVLink"),
            ("2xT4-pcie-3numa", "over 3 sockets"),
            ("2xZ9", "no device"),
        ],
    )
    def test_names_that_say_nothing(self, name: str, words: str) -> None:
        with pytest.raises(WiaLabError, match=words):
            virtual_machine(name)

    def test_a_copy_takes_latency_and_bandwidth(self) -> None:
        route = virtual_machine("1xH200").host_route(0, upload=True)
        assert route.duration(63_000_000) == 10_000 + 1_000_000


def test_cost_grows_linearly() -> None:
    """Ten times the operations take about ten times the steps of the heap: memory says so."""
    peaks = []
    for count in (1_000, 10_000):
        machine = virtual_machine("8xH100")
        timeline = Timeline(keep=False)
        streams = [timeline.stream(device=d % 8) for d in range(16)]
        buffers = [Buffer(str(d), 1 << 20) for d in range(16)]
        tracemalloc.start()
        for i in range(count):
            device = machine.devices[i % 8]
            engine = (device.upload, device.compute, device.download)[i // 16 % 3]
            work = Work("op", 5_000, (engine,), reads=(buffers[i % 16].region(),))
            timeline.submit(streams[i % 16], work)
        timeline.synchronize()
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 20 * peaks[0]


class TestWorkThatTellsAsItStarts:
    """`begin` gives the duration and what was touched, once the work starts."""

    def test_duration(self) -> None:
        timeline, _, compute = make()
        stream = timeline.stream()
        work = Work("kernel", engines=(compute,), begin=lambda: Outcome(70))
        first, second = timeline.submit(stream, work), timeline.submit(stream, work)
        timeline.synchronize(stream)
        assert (first.end, second.start, second.end) == (70, 70, 140)
        assert compute.busy == 140

    def test_accesses_are_compared_by_what_had_happened_at_the_submission(self) -> None:
        timeline, copy, compute = make()
        x, one, two = Buffer("x", 8), timeline.stream("one"), timeline.stream("two")
        writes = Work("write", engines=(copy,), begin=lambda: Outcome(5, (), (x.region(),)))
        reads = Work("read", engines=(compute,), begin=lambda: Outcome(9, (x.region(),)))
        timeline.submit(one, writes)
        timeline.submit(two, reads)
        assert timeline.order.hazards == []
        timeline.synchronize()
        (hazard,) = timeline.order.take()
        assert (hazard.first, hazard.second) == ("write on one", "read on two")
        timeline.submit(two, reads)
        timeline.synchronize()
        assert timeline.order.take() == []

    def test_a_failed_start_is_told_and_nothing_is_done(self) -> None:
        timeline, _, _ = make()
        stream, done = timeline.stream(), []

        def begin() -> Outcome:
            raise ValueError("no")

        timeline.submit(stream, Work("bad", begin=begin, action=lambda: done.append("bad")))
        timeline.submit(stream, Work("good", action=lambda: done.append("good")))
        with pytest.raises(ValueError, match="no"):
            timeline.synchronize(stream)
        assert done == ["good"]


class TestFailures:
    """A wait raises what failed earlier in the stream too, each once, in order."""

    def test_not_only_the_last(self) -> None:
        timeline, copy, _ = make()
        stream = timeline.stream()
        timeline.faults.append(Fault(lambda op: "bad" in op.work.name, RuntimeError("lost"), 2))
        for name in ("bad one", "bad two", "good"):
            timeline.submit(stream, Work(name, 10, (copy,)))
        for _ in range(2):
            with pytest.raises(RuntimeError, match="lost"):
                timeline.synchronize(stream)
        timeline.synchronize(stream)


class TestRunningAhead:
    """`finish` does work early; the host's time and its queries do not notice."""

    def test_finish(self) -> None:
        timeline, copy, _ = make()
        stream, done = timeline.stream(), []
        operation = timeline.submit(stream, Work("copy", 100, (copy,), lambda: done.append(1)))
        timeline.finish(operation)
        assert (done, timeline.now, timeline.query(stream)) == ([1], 0, False)
        later = timeline.submit(timeline.stream(), Work("later"))
        timeline.synchronize()
        assert later.start == 100
        assert timeline.query(stream)

    def test_a_query_that_says_done_orders_the_host(self) -> None:
        timeline, copy, _ = make()
        x, stream = Buffer("x", 8), timeline.stream()
        timeline.submit(stream, Work("copy", 0, (copy,), writes=(x.region(),)))
        assert timeline.query(stream)
        timeline.host_access(reads=(x.region(),))
        assert timeline.order.hazards == []


class TestRetired:
    """A stream that nobody uses any more is forgotten, not what it did."""

    def test_dropped_when_its_work_has_ended(self) -> None:
        timeline, copy, _ = make()
        old, kept = timeline.stream(), timeline.stream()
        timeline.submit(old, Work("copy", 10, (copy,)))
        timeline.retire(old)
        added = timeline.stream()
        assert timeline.streams == [old, kept, added]
        timeline.synchronize()
        assert timeline.streams == [kept, added]
        assert len({each.actor for each in (old, kept, added, timeline.stream())}) == 4

    def test_the_default_stream_comes_after_it(self) -> None:
        timeline, copy, _ = make()
        default, old, x = timeline.stream(legacy=True), timeline.stream(), Buffer("x", 8)
        timeline.submit(old, Work("copy", 0, (copy,), writes=(x.region(),)))
        timeline.retire(old)
        other = timeline.stream()
        timeline.submit(default, Work("mark"))
        timeline.submit(other, Work("read", reads=(x.region(),)))
        assert timeline.order.hazards == []


class TestRuns:
    """Regions of several runs meet only where a byte is in both."""

    @given(
        st.sets(st.integers(0, 40), min_size=1),
        st.sets(st.integers(0, 40), min_size=1),
    )
    def test_overlap_is_that_of_the_sets(self, a: set[int], b: set[int]) -> None:
        buffer = Buffer("x", 41)

        def region(cells: set[int]) -> Region:
            ordered = sorted(cells)
            lows = [c for c in ordered if c - 1 not in cells]
            highs = [c + 1 for c in ordered if c + 1 not in cells]
            return Region(buffer, lows[0], highs[-1], np.array([lows, highs]).T)

        found = region(a).overlap(region(b))
        common = a & b
        assert (found is None) == (not common)
        if found is not None:
            assert found[0] == min(common)
            assert set(range(*found)) <= common
        assert not region(a).covers(region(b)) or b <= a


class TestAside:
    """Work done early is seen late, and undoes nothing that came between."""

    def test_lands_what_it_changed(self) -> None:
        array = np.arange(6, dtype=np.int16).reshape(2, 3)
        column = array[:, 1]
        aside = Aside([column])

        def work() -> str:
            column[0] = 100
            return "done"

        assert aside.run(work) == "done"
        assert array.tolist() == [[0, 1, 2], [3, 4, 5]]
        array[1, 1] = -4
        aside.land()
        assert array.tolist() == [[0, 100, 2], [3, -4, 5]]

    def test_records(self) -> None:
        records = np.zeros(2, [("x", np.int8), ("y", np.float64)])
        aside = Aside([records, np.zeros(0)])
        aside.run(lambda: records["y"].fill(1.5))
        assert records["y"].tolist() == [0, 0]
        aside.land()
        assert records["y"].tolist() == [1.5, 1.5]


class TestWaitAtMost:
    """A wait that ends, whether or not the work has."""

    def test_not_long_enough(self) -> None:
        timeline, copy, _ = make()
        stream = timeline.stream()
        timeline.submit(stream, Work("copy", 100, (copy,)))
        assert not timeline.wait_at_most(stream, 60)
        assert timeline.now == 60
        assert timeline.wait_at_most(stream, 60)
        assert timeline.now == 100
