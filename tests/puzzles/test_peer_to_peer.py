"""Puzzle 24: what crosses the links, counted as the topology says and drawn as counted."""

from __future__ import annotations

import numpy as np
import pytest

from wia_lab.grading import plain
from wia_lab.puzzles import find, judge
from wia_lab.puzzles.host_puzzle import HostCase, HostRun
from wia_lab.puzzles.mutants import ROOT, notebook_answer
from wia_lab.puzzles.peer_to_peer_pictures import traffic
from wia_lab.puzzles.peer_to_peer_playing import play

PUZZLE = find("peer-to-peer")


@pytest.fixture(scope="module")
def solution():
    """The official answer."""
    return notebook_answer(ROOT / "solutions" / f"{PUZZLE.stem}.ipynb", PUZZLE.function)


def crossings(answer, machine, *steps):
    """What went where: (source, target, how, whether to another socket)."""
    sent = traffic(answer, machine, *steps, kib=4).crossings
    assert {each["nbytes"] for each in sent} <= {4096}
    return [(each["source"], each["target"], each["how"], each["crosses"]) for each in sent]


class TestCrossings:
    """Hand-derived from the topology."""

    def test_in_place(self, solution):
        """NVLink, read once: the kernel itself goes over the link."""
        assert crossings(solution, "2xH100", ("share", 0, 1, 1)) == [(0, 1, "read", False)]

    def test_copied_once(self, solution):
        """Read five times: one copy, and no read of the peer."""
        assert crossings(solution, "2xH100", ("share", 1, 0, 5)) == [(1, 0, "copied", False)]

    def test_staged(self, solution):
        """PCIe across sockets: the driver takes it through the host."""
        sent = crossings(solution, "2xT4-pcie-2numa", ("share", 0, 1, 1))
        assert sent == [(0, 1, "staged", True)]

    def test_at_home(self, solution):
        """A device that shares with itself sends nothing."""
        assert crossings(solution, "1xT4", ("share", 0, 0, 9)) == []

    @pytest.mark.parametrize(("owner", "at"), [(0, 0), (3, 3), (3, 0), (0, 3)])
    def test_fetched(self, solution, owner, at):
        """To the socket of the device that owns the data, whoever copies."""
        sent = crossings(solution, "4xV100-pcie-2numa", ("fetch", owner, at))
        assert sent == [(owner, f"host {owner // 2}", "copied", False)]

    def test_without_access(self):
        """A copy goes through the host until one of the two was let reach the other."""

        class Copies:
            def __init__(self, enables):
                self.enables = enables

            def share(self, data, ready, stream, reads):
                stream.wait(ready)
                reader, owner = stream.context, data.context
                if self.enables:
                    owner.enable_peer_access(reader)
                local = reader.allocate(data.nbytes)
                stream.copy(local, data)
                return local

        def how(enables):
            made = type(
                "Made", (Copies,), {"__init__": lambda self: Copies.__init__(self, enables)}
            )
            return [each[2] for each in crossings(made, "2xH100", ("share", 0, 1, 5))]

        assert how(enables=False) == ["staged"]
        assert how(enables=True) == ["copied"]


class TestGates:
    """Bounds that follow from eight calls of 64 KiB on eight A100 over two sockets."""

    def test_bounds(self, solution):
        """Three staged twice, the rest once; two of the staged change sockets."""
        measured = PUZZLE.cases(np.random.default_rng(1))[-1]
        assert measured.measured
        links, copies, sockets, waits, reads = PUZZLE.gates
        assert links.at_most(measured) == 64 * (3 + 3 + 2 * 2)
        assert links.naive(measured) == 64 * (5 * 2 + 3)
        assert copies.at_most(measured) == 3
        assert sockets.at_most(measured) == 64 * 2
        assert sockets.naive(measured) == 64 * 4
        assert (waits.at_most(measured), reads.at_least(measured)) == (0, 1 + 8 + 1 + 1 + 3 + 3)

    def test_facts_are_plain_data(self, solution):
        """Another process can judge them."""
        for case in PUZZLE.cases(np.random.default_rng(2)):
            assert '["o",' not in plain.dumps(play(solution, case).facts)  # nothing opaque

    def test_what_came_back_must_be_what_was_read(self, solution):
        """Facts that hold other values are wrong, and facts without them are no verdict."""
        case = HostCase("", (("share", 0, 1, 2),), {"machine": "2xH100", "elements": 64})
        run = play(solution, case)
        [facts] = run.facts["steps"]
        wanted = 2 * (3 * np.arange(64, dtype=np.int32) + 1000)
        np.testing.assert_array_equal(facts["values"], wanted)
        assert PUZZLE.diagnose(run) is None

        def told(values):
            steps = {"steps": [{**facts, "values": values}]}
            return PUZZLE.diagnose(HostRun(case, run.replies, steps))

        assert told(wanted + np.int32(1)).cause == "not-copied"
        for values in (wanted[:9], wanted.astype(np.int64), None):
            with pytest.raises(TypeError, match="no int32 array of 64"):
                told(values)

    def test_every_seed(self, solution):
        """No topology drawn turns a right answer wrong."""
        for seed in range(40):
            verdict = judge(PUZZLE, solution, seed=seed)
            assert verdict.passed, (seed, verdict.diagnosis.text)


class TestPicture:
    """The text twin has the figure's numbers."""

    def test_text(self, solution):
        """A line for each crossing, then one for each piece of work, in µs after the data came."""
        picture = traffic(solution, "2xT4-pcie-2numa", ("share", 0, 1, 2), kib=63)
        head, sent, _, *work = str(picture).splitlines()
        assert head == "2xT4-pcie-2numa"
        assert sent == (
            "device 0 -> device 1  63 KiB, copied through the host, PCIe 3 x16, to another socket"
        )
        assert [line.split("  ")[0] for line in work] == [
            "device 0 download",
            "device 1 upload",
            "device 1 compute",
            "device 1 compute",
        ]
        down = picture.bars[0]
        took = 20 + 63 * 1024 / (0.75 * 15.75e9) * 1e6
        assert down.end - down.begin == pytest.approx(took, abs=0.01)

    def test_figure(self, solution):
        """A bar for each piece of work, and an arrow a link."""
        picture = traffic(solution, "4xA100-pcie-2numa", ("share", 1, 2, 2), ("fetch", 3, 3))
        machine, time = picture.figure().axes
        arrows = [text for text in machine.texts if text.get_text() == ""]
        assert len(arrows) == 2 + 1
        boxes = {text.get_text() for text in machine.texts} - {""}
        assert boxes == {"socket\n0", "socket\n1", *(f"device\n{n}" for n in range(4))}
        assert sum(bar.get_width() > 0 for bar in time.patches) == len(picture.bars)
        assert "image/png" in picture._repr_mimebundle_()
