"""02 device-query: choose a device, open a context with limits, place memory by capability.

`DeviceQuery` has `choose(machine, nbytes, needs) -> device`, `open(device, nbytes, streams,
timeout) -> context` and `place(context, nbytes) -> (for the host, for kernels)`. The source
documents (chapter 3, 3.2, 3.3, 3.5.1) print what a device has, and take that for what is free; they
open two contexts in exclusive mode, of which the second would fail on the same device.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wia_lab import machines
from wia_lab.puzzles.device_query_judging import best, diagnose
from wia_lab.puzzles.device_query_playing import GIB, play
from wia_lab.puzzles.host_puzzle import HostCase, HostPuzzle, Step
from wia_lab.puzzles.puzzle import Gate

if TYPE_CHECKING:
    import numpy as np

BFLOAT16 = ("supports_bfloat16",)
UNIFIED = ("supports_unified_memory",)
PEERS = ("supports_peer_to_peer",)


def cases(rng: np.random.Generator) -> list[HostCase]:
    """A machine for each mistake, then random ones, then nine devices, measured."""
    return [
        _case("one T4", "1xT4", _choose(4), _choose(17), _choose(4, *BFLOAT16)),
        _case("a T4, an A100 and an L4", "T4+A100+L4", _choose(8), _choose(40), _choose(100)),
        _case(
            "a V100 that is faster than the L4, without bfloat16",
            "V100+L4",
            _choose(8),
            _choose(8, *BFLOAT16),
            _choose(30, *BFLOAT16),
        ),
        _case(
            "an H100 mostly taken",
            "H100+A100+T4",
            ("take", 0, 60),
            _choose(30),
            _choose(16),
            ("leave", 0),
            _choose(30),
        ),
        _case(
            "an A100 with holes",
            "A100+RTX 3090",
            *(("take", 0, gib) for gib in (30, 20, 25)),
            ("leave", 0),
            _choose(32),
            _choose(22),
            ("leave", 2),
            _choose(60),
        ),
        _case(
            "an H100 that somebody has for himself",
            "H100+T4",
            ("seize", 0, 1),
            _choose(8),
            _choose(20),
            ("leave", 0),
            _choose(20),
        ),
        _case(
            "four A100, two of them in use",
            "4xA100",
            ("take", 0, 1),
            ("take", 2, 1),
            _choose(8),
            ("take", 1, 1),
            ("take", 3, 1),
            _choose(8),
        ),
        _case(
            "virtual GPUs, one without unified memory and none with a peer",
            "2xT4-pcie-2numa",
            _choose(2, *UNIFIED),
            _choose(2, *PEERS),
            _open(0, 2),
            _open(1, 2),
            ("place", 0, 1),
            ("place", 1, 1),
            without_unified=(0,),
        ),
        _case(
            "two contexts on one device",
            "1xA100",
            _open(0, 30, 3, 5.0),
            _open(0, 40, 7, 0.5),
            ("take", 0, 10),
            ("fill", 0, 30),
            ("fill", 1, 40),
            _open(0, 1),
            ("place", 0, 3),
            ("place", 1, 1),
        ),
        _case(
            "a context beside one that has its device alone",
            "2xL4",
            ("seize", 0, 1),
            _open(0, 4),
            _open(1, 4),
            ("place", 0, 2),
        ),
        *(_random(rng, number) for number in range(3)),
        _measured(),
    ]


def _choose(gib: int, *needs: str) -> Step:
    return ("choose", gib, needs)


def _open(device: int, gib: int, streams: int = 4, timeout: float = 30.0) -> Step:
    return ("open", device, gib, streams, timeout)


def _case(name: str, machine: str, *steps: Step, without_unified: tuple[int, ...] = ()) -> HostCase:
    return HostCase(name, steps, {"machine": machine, "without_unified": without_unified})


def _random(rng: np.random.Generator, number: int) -> HostCase:
    """Devices drawn from the catalogue; others come and go between twelve questions."""
    names = [str(name) for name in rng.choice(list(machines.DEVICES), size=int(rng.integers(2, 7)))]
    left = [machines.device(name).memory >> 30 for name in names]
    steps: list[Step] = []
    taken: list[int] = []
    for _ in range(12):
        if rng.random() < 0.4 and len(taken) < len(names):
            device = int(rng.choice([d for d in range(len(names)) if d not in taken]))
            steps.append(("take", device, int(rng.integers(1, left[device]))))
            taken.append(device)
        needs = BFLOAT16 if rng.random() < 0.3 else ()
        steps.append(_choose(int(2 ** rng.uniform(0, 7.3)), *needs))
    without = tuple(int(d) for d in range(len(names)) if rng.random() < 0.3)
    context = 0
    for device, room in enumerate(left):
        if device not in taken and room > 4:
            steps += [_open(device, 2, int(rng.integers(1, 9)), 1.5), _open(device, room // 2)]
            steps += [("fill", context, 2), ("place", context, 1), ("place", context + 1, 1)]
            context += 2
    name = f"{'+'.join(names)}, script {number + 1}"
    return _case(name, "+".join(names), *steps, without_unified=without)


def _measured() -> HostCase:
    """Nine devices of five sorts; each choice is for data that then takes its place."""
    machine = "2xT4+2xL4+2xV100+2xA100+H200"
    steps: list[Step] = []
    for device, gib in zip(
        (8, 6, 7, 4, 5, 0, 1, 2, 3), (125, 75, 75, 25, 25, 8, 8, 16, 16), strict=True
    ):
        steps += [_choose(10), ("take", device, gib)]
    steps += [_choose(10), _choose(7), _choose(7, *BFLOAT16), _choose(6)]
    name = "nine devices that fill up"
    return HostCase(name, tuple(steps), {"machine": machine}, measured=True)


def _opened(run: Any) -> float:
    """Contexts that were opened to choose a device."""
    return sum(facts.get("opened", 0) for facts in run.facts["steps"])


def _answered(run: Any) -> float:
    """Questions that got the right answer."""
    pairs = zip(run.case.steps, run.facts["steps"], strict=True)
    return sum(
        step[0] == "choose" and facts["got"] == best(facts["seen"], step[1] * GIB)
        for step, facts in pairs
    )


def _asked(case: Any) -> float:
    return sum(step[0] == "choose" for step in case.steps)


def _one_a_device(case: Any) -> float:
    """Contexts that trying every device takes."""
    return 9 * _asked(case)


HINTS = (
    """\
choose asks three things of each device before it compares any. What can it do? Is it to be had at
all? Is there room for the data: not in all, but in one piece?

What does a device's data sheet know of the contexts that others have on it?""",
    """\
device.capabilities has a property for each name in needs: getattr(capabilities, name).
device.memory.statistics.largest_free_bytes is the largest piece that is left. device.contexts are
those that are open; context.config.exclusive says that its owner shares the device with nobody.

Of those that fit: the most device.info.memory_bandwidth, then the fewest contexts, then the lowest
number. max with a key that is a tuple does it.

open: of ContextConfig's fields, which one takes memory at once, and which only forbids more?""",
    """\
    def choose(self, machine, nbytes, needs):
        fit = [
            device
            for device in machine
            if device.memory.statistics.largest_free_bytes >= nbytes
            and all(getattr(device.capabilities, name) for name in needs)
            and not any(...)
        ]
        ...                          # none fits: LookupError
        return max(fit, key=lambda d: (d.info.memory_bandwidth, -len(d.contexts), ...))

place: one unified buffer, returned twice, or a pinned one and one of the device.""",
)

PUZZLE = HostPuzzle(
    number=2,
    id="device-query",
    title="Device query",
    teaches="ask a device what it can do and what is left of it, before you use it",
    function="DeviceQuery",
    signature=("choose", "open", "place"),
    cases=cases,
    play=play,
    diagnose=diagnose,
    hints=HINTS,
    gates=(
        Gate(
            name="contexts opened to choose",
            measure=_opened,
            naive=_one_a_device,
            at_most=lambda _: 0,
            advice=(
                "A context takes memory and time: ask device.memory and device.contexts instead of "
                "trying."
            ),
        ),
        Gate(
            name="questions answered",
            measure=_answered,
            naive=lambda _: 0,
            at_least=_asked,
            advice="Each question has one right answer.",
        ),
    ),
)
