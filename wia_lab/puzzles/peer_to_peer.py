"""24 peer-to-peer: read another device's memory in place, or copy it once.

`PeerReader` has `share(data, ready, stream, reads) -> buffer` and `fetch(data, ready, stream) ->
buffer`. In the source documents (chapter 4, 4.8) the device that owns the memory is let reach the
one that reads it, which is the wrong way round, nobody waits for the data, and a NUMA node is given
for device memory, which has none.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from wia_lab.puzzles.host_puzzle import HostCase, HostPuzzle, Step
from wia_lab.puzzles.peer_to_peer_judging import diagnose
from wia_lab.puzzles.peer_to_peer_playing import play
from wia_lab.puzzles.puzzle import Gate
from wia_lab.timeline import virtual_machine

if TYPE_CHECKING:
    import numpy as np

MEASURED = 1 << 14  # elements of the measured script: 64 KiB
MOST_FIRST = 1 << 20  # so that nine reads of it add up to an int32
TOPOLOGIES = (
    "2xH100-nvlink",
    "2xT4-pcie-2numa",
    "4xV100-pcie-2numa",
    "T4+2xA100",
    "3xL4-pcie-3numa",
    "6xH200-pcie-3numa",
)


def cases(rng: np.random.Generator) -> list[HostCase]:
    """A topology for each mistake, then random ones, then eight devices, measured.

    The data begins with a number that nobody knows: who has not read it cannot write it.
    """
    scripts = _scripts(rng)
    firsts = rng.integers(MOST_FIRST, size=len(scripts))
    return [
        replace(case, options={**case.options, "first": int(first)})
        for case, first in zip(scripts, firsts, strict=True)
    ]


def _scripts(rng: np.random.Generator) -> list[HostCase]:
    return [
        _case("one device that shares with itself", "1xH100", _share(0, 0, 3)),
        _case("two H100 joined by NVLink, read once", "2xH100-nvlink", _share(0, 1)),
        _case("two H100 joined by NVLink, read 8 times", "2xH100-nvlink", _share(1, 0, 8)),
        _case("two L4 on one socket", "2xL4-pcie", _share(0, 1), _share(1, 0, 5)),
        _case("two T4 on two sockets", "2xT4-pcie-2numa", _share(0, 1), _share(1, 0, 5)),
        _case(
            "two A100 of which device 1 may not reach device 0",
            "2xA100-nvlink",
            _share(0, 1),
            _share(1, 0),
            withheld=((1, 0),),
        ),
        _case(
            "two A100 of which device 0 may not reach device 1",
            "2xA100-nvlink",
            _share(0, 1),
            _share(1, 0),
            withheld=((0, 1),),
        ),
        _case("two A100 kept apart", "2xA100", _share(0, 1), withheld=((0, 1), (1, 0))),
        _case("a T4 beside two A100", "T4+2xA100", _share(0, 1), _share(1, 2), _share(2, 0, 3)),
        _case(
            "four V100 on two sockets, fetched from",
            "4xV100-pcie-2numa",
            *(_fetch(owner, owner) for owner in range(4)),
            _fetch(0, 3),
            _fetch(3, 0),
        ),
        _case(
            "the same data, written anew and shared again",
            "2xH100-nvlink",
            ("share", 0, 1, 4, "same"),
            ("share", 0, 1, 4, "same"),
            ("share", 0, 1, 1, "same"),
        ),
        *(_random(rng, number) for number in range(3)),
        HostCase(
            "eight A100 on two sockets",
            (
                _share(0, 1),
                _share(0, 2, 2),
                _share(5, 7),
                _share(6, 2),
                _share(1, 4, 9),
                _fetch(1, 1),
                _fetch(6, 6),
                _fetch(7, 0),
            ),
            {"machine": "8xA100-pcie-2numa", "elements": MEASURED},
            measured=True,
        ),
    ]


def _share(owner: int, reader: int, reads: int = 1) -> Step:
    return ("share", owner, reader, reads)


def _fetch(owner: int, at: int) -> Step:
    return ("fetch", owner, at)


def _case(
    name: str, machine: str, *steps: Step, withheld: tuple[tuple[int, int], ...] = ()
) -> HostCase:
    return HostCase(name, steps, {"machine": machine, "withheld": frozenset(withheld)})


def _random(rng: np.random.Generator, number: int) -> HostCase:
    """Eight calls on a topology drawn, with one way of access withheld."""
    machine = TOPOLOGIES[int(rng.integers(len(TOPOLOGIES)))]
    count = len(virtual_machine(machine).devices)
    steps: list[Step] = []
    for _ in range(8):
        owner, at = (int(each) for each in rng.integers(count, size=2))
        drawn = _share(owner, at, int(rng.choice([1, 1, 2, 7])))
        steps.append(_fetch(owner, at) if rng.random() < 0.3 else drawn)
    one, other = (int(each) for each in rng.permutation(count)[:2])
    return _case(f"{machine}, script {number + 1}", machine, *steps, withheld=((one, other),))


def _crossings(run: Any) -> list[Any]:
    return [each for facts in run.facts["steps"] for each in facts["crossings"]]


def _over_links(run: Any) -> float:
    """KiB over links; what is staged goes over two."""
    return sum(c["nbytes"] * (1 + (c["how"] == "staged")) for c in _crossings(run)) / 1024


def _across_sockets(run: Any) -> float:
    """KiB that went from one socket to another."""
    return sum(c["nbytes"] for c in _crossings(run) if c["crosses"]) / 1024


def _copies(run: Any) -> float:
    """Calls of share that led to a copy."""
    pairs = zip(run.case.steps, run.facts["steps"], strict=True)
    return sum(
        step[0] == "share" and any(c["how"] != "read" for c in facts["crossings"])
        for step, facts in pairs
    )


def _waits(run: Any) -> float:
    """Calls that came back only when the data was there."""
    return sum(facts["waited"] for facts in run.facts["steps"])


def _reads(run: Any) -> float:
    """Times that kernels read, and the host fetched, the right values."""
    pairs = zip(run.case.steps, run.facts["steps"], strict=True)
    return sum(_times(step) for step, facts in pairs if facts["values"] is not None)


def _times(step: Step) -> int:
    return int(step[3]) if step[0] == "share" else 1


def _unit(case: Any) -> float:
    """KiB of the data of one call."""
    return float(case.options["elements"]) * 4 / 1024


def _needed(case: Any) -> list[tuple[Step, bool, bool]]:
    """Each call, whether its data can be reached in place, and whether it changes sockets."""
    machine = virtual_machine(case.options["machine"])
    sockets = [device.numa_node for device in machine.devices]
    return [
        (step, machine.can_access(step[2], step[1]), sockets[step[1]] != sockets[step[2]])
        for step in case.steps
    ]


def _calls(case: Any) -> float:
    return len(case.steps)


def _shares(case: Any) -> float:
    return sum(step[0] == "share" for step in case.steps)


def _asked(case: Any) -> float:
    return sum(map(_times, case.steps))


def _through_the_host(case: Any) -> float:
    """KiB over links when all that is shared goes down to the host and up again."""
    return _unit(case) * (_calls(case) + _shares(case))


def _fewest_over_links(case: Any) -> float:
    legs = [1 if step[0] == "fetch" or near else 2 for step, near, _ in _needed(case)]
    return _unit(case) * sum(legs)


def _fewest_across(case: Any) -> float:
    return _unit(case) * sum(step[0] == "share" and far for step, _, far in _needed(case))


def _across_from_socket_0(case: Any) -> float:
    """What goes across when all host memory lies near socket 0."""
    sockets = [device.numa_node for device in virtual_machine(case.options["machine"]).devices]
    far = sum(step[0] == "fetch" and sockets[step[1]] != 0 for step in case.steps)
    return _fewest_across(case) + _unit(case) * far


def _fewest_copies(case: Any) -> float:
    return sum(
        step[0] == "share" and not (near and step[3] == 1) for step, near, _ in _needed(case)
    )


HINTS = (
    """\
Three questions, in this order. Is the data there yet when you are called? Can kernels of the
stream's device reach it where it is? And if they can: how often does each byte then go over the
link?

Access goes one way. In which of the two contexts does the kernel run that reads? And which way does
a copy take when nobody enabled access?""",
    """\
The reader is stream.context, the owner data.context. Ask the reader's device whether it can reach
the owner's, and let the reader's context reach the owner's: for reading in place, and so that a
copy goes straight. Read in place only what is read once; what is read again goes over the link
again. Else allocate in the reader's context and copy in the stream, which the host does not wait
for.

fetch: a device has a nearest socket, device.numa_node. Which device is near matters, not which
stream does the copy.""",
    """\
    def share(self, data, ready, stream, reads):
        stream.wait(ready)
        reader, owner = stream.context, data.context
        if reader.device is owner.device:
            ...
        if reader.device.can_access_peer(owner.device):
            ...                      # one call, whatever becomes of the data
            if reads == 1:
                ...
        local = reader.allocate(data.nbytes)
        ...                          # the target comes first

For fetch: context.allocate(nbytes, wia.MemoryKind.PINNED, numa_node=...)""",
)

PUZZLE = HostPuzzle(
    number=24,
    id="peer-to-peer",
    title="Peer to peer",
    teaches="what is read once is read in place, what is read often is copied once",
    function="PeerReader",
    signature=("share", "fetch"),
    cases=cases,
    play=play,
    diagnose=diagnose,
    hints=HINTS,
    gates=(
        Gate(
            name="KiB over links",
            measure=_over_links,
            naive=_through_the_host,
            at_most=_fewest_over_links,
            advice=(
                "Bytes go over a link more often than they need: what kernels read again, they "
                "read from a copy of their own; what can go straight does not go through the host, "
                "which a copy does until access is enabled."
            ),
        ),
        Gate(
            name="copies made",
            measure=_copies,
            naive=_shares,
            at_most=_fewest_copies,
            advice="What is read once, and can be reached, needs no copy and no second buffer.",
        ),
        Gate(
            name="KiB from one socket to another",
            measure=_across_sockets,
            naive=_across_from_socket_0,
            at_most=_fewest_across,
            advice="Ask for pinned memory near the device that the data comes from: numa_node=.",
        ),
        Gate(
            name="calls that made the host wait",
            measure=_waits,
            naive=_calls,
            at_most=lambda _: 0,
            advice="Let the stream wait for the data, not the host: stream.wait(ready).",
        ),
        Gate(
            name="reads served",
            measure=_reads,
            naive=lambda _: 0,
            at_least=_asked,
            advice="Every call must lead to the right values.",
        ),
    ),
)
