"""Fences and barriers of the HAL, on virtual machines."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

import wia_lab.hal as wia
from wia_lab import HazardError
from wia_lab.hal import MemoryKind

if TYPE_CHECKING:
    import numpy as np


def write(data: np.ndarray, value: int) -> None:
    """A kernel: fill with a byte."""
    data[:] = value


def take(out: np.ndarray, data: np.ndarray) -> None:
    """A kernel: copy bytes."""
    out[:] = data


@pytest.fixture
def contexts(on_hardware: bool) -> list[wia.Context]:
    """One on each of four H100s, or two on a real device."""
    if on_hardware:
        device = wia.open_machine("1xH100")[0]
        return [wia.Context(device), wia.Context(device)]
    return [wia.Context(device) for device in wia.open_machine("4xH100-nvlink")]


@pytest.fixture
def peers(on_hardware: bool) -> list[wia.Context]:
    """One on each of four H100s, or two real devices, each let reach the others."""
    name = "2xH100-nvlink" if on_hardware else "4xH100-nvlink"
    made = [wia.Context(device) for device in wia.open_machine(name)]
    for one in made:
        for other in made:
            if other is not one:
                one.enable_peer_access(other)
    return made


class TestFence:
    """The host waits for several streams, and no longer than it wants."""

    def test_waits_for_all(self, contexts: list[wia.Context], on_hardware: bool) -> None:
        streams = [context.create_stream() for context in contexts]
        fence = wia.Fence(contexts[0])
        for seconds, stream in enumerate(streams):
            stream.submit(time.sleep, seconds * on_hardware, seconds=seconds)
        fence.submit(*streams)
        assert not fence.is_passed
        fence.wait()
        assert fence.is_passed
        assert on_hardware or contexts[0].backend.now() == pytest.approx(3.0, abs=1e-3)

    def test_timeout_is_for_all_together(
        self, contexts: list[wia.Context], on_hardware: bool
    ) -> None:
        one, two = (context.create_stream() for context in contexts[:2])
        one.submit(time.sleep, 1.0 * on_hardware, seconds=1.0)
        two.submit(time.sleep, 3.0 * on_hardware, seconds=3.0)
        fence = wia.Fence(contexts[0], "frame")
        fence.submit(one, two)
        with pytest.raises(wia.TimedOut, match="<frame behind 2 streams> .* 1 of its streams"):
            fence.wait(2.0)
        assert on_hardware or contexts[0].backend.now() == pytest.approx(2.0, abs=1e-3)
        fence.wait(wia.TIMEOUT_INFINITE)
        assert on_hardware or contexts[0].backend.now() == pytest.approx(3.0, abs=1e-3)

    def test_the_contexts_timeout(self, contexts: list[wia.Context], on_hardware: bool) -> None:
        stream, fence = contexts[0].create_stream(), wia.Fence(contexts[0])
        contexts[0].timeout = 0.5
        stream.submit(time.sleep, 1.0 * on_hardware, seconds=1.0)
        fence.submit(stream)
        with pytest.raises(wia.TimedOut, match=r"within 0\.5 s"):
            fence.wait()

    def test_behind_nothing(self, contexts: list[wia.Context]) -> None:
        fence = wia.Fence(contexts[0])
        fence.wait(0.0)
        assert fence.is_passed

    def test_later_work_is_not_waited_for(self, contexts: list[wia.Context]) -> None:
        stream, fence = contexts[0].create_stream(), wia.Fence(contexts[0])
        fence.submit(stream)
        stream.submit(lambda: None, seconds=5.0)
        fence.wait()
        assert fence.is_passed


class TestPeerBarrier:
    """Nobody goes on before all have come."""

    def test_all_see_what_all_wrote(self, peers: list[wia.Context]) -> None:
        """Each device writes its own memory, then the next one's: right, and no hazard."""
        streams = [context.create_stream() for context in peers]
        own = [context.allocate(64) for context in peers]
        got = [context.allocate(64) for context in peers]
        for number, stream in enumerate(streams):
            stream.submit(write, own[number], number, seconds=(len(own) - number) * 1e-3)
        wia.PeerBarrier(streams).wait()
        for number, stream in enumerate(streams):
            source = own[(number + 1) % len(own)]
            stream.submit(
                take, got[number], source, seconds=1e-6, reads=[source], writes=[got[number]]
            )
        for number, (context, stream) in enumerate(zip(peers, streams, strict=True)):
            back = context.allocate(64, MemoryKind.PINNED)
            stream.copy(back, got[number])
            stream.synchronize()
            assert set(back.host(access="read").tolist()) == {(number + 1) % len(own)}

    @pytest.mark.virtual("hazards, which only virtual machines find")
    def test_without_it_there_is_a_race(self, peers: list[wia.Context]) -> None:
        one, two = (context.create_stream() for context in peers[:2])
        data, out = peers[0].allocate(64), peers[1].allocate(64)
        one.submit(write, data, 1, seconds=1e-3)
        two.submit(take, out, data, seconds=1e-6, reads=[data], writes=[out])
        with pytest.raises(HazardError, match="nothing orders"):
            two.synchronize()

    @pytest.mark.virtual("times of the simulated clock")
    def test_the_slowest_holds_all(self, peers: list[wia.Context]) -> None:
        streams = [context.create_stream() for context in peers]
        begin = streams[0].record()
        streams[3].submit(lambda: None, seconds=1.0)
        barrier = wia.PeerBarrier(streams)
        barrier.wait()
        barrier.wait()
        ends = [stream.record() for stream in streams]
        for end in ends:
            end.synchronize()
            assert end.seconds_since(begin) == pytest.approx(1.0, abs=1e-3)

    def test_too_few(self, peers: list[wia.Context]) -> None:
        stream = peers[0].create_stream()
        for streams in ([], [stream], [stream, stream]):
            with pytest.raises(wia.InvalidValue, match="two or more, each once"):
                wia.PeerBarrier(streams)
