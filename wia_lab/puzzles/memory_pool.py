"""20 memory-pool: freed blocks kept by size class, the least recently freed given back first.

`MemoryPool(heap, keep)` has `alloc(size, stream=None) -> offset` and `free(offset, stream=None)`,
and counts `hits`, `misses`, `live_bytes` and `kept_bytes`. In the source documents (chapter 4, 4.5)
the books are changed outside the lock, hits are not counted, and a freed block carries no event,
so it is reused while a kernel still reads it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wia_lab.memory import load_trace
from wia_lab.puzzles.host_puzzle import HostCase, HostPuzzle, Step
from wia_lab.puzzles.pool_judging import diagnose, size_class
from wia_lab.puzzles.pool_playing import play
from wia_lab.puzzles.puzzle import Gate

if TYPE_CHECKING:
    import numpy as np

KEEP = 4096  # bytes kept at most in the small scripts
EVENTS = 3000  # of the recorded trace
TRACE_KEEP = 24 << 20  # bytes kept at most there


def cases(rng: np.random.Generator) -> list[HostCase]:
    """Directed scripts, random ones, two calls at once, threads, and a recorded trace, measured."""
    return [
        _case("a block freed and asked for again", (_a(1000), _f(0), _a(600), _f(1), _a(2000))),
        _case(
            "a block freed on a stream, asked for on the same stream",
            (_a(1000, 0), _f(0, 0), _a(1000, 0), _f(1, 0)),
        ),
        _case(
            "a block freed on a stream, asked for on another",
            (_a(1000, 0), _f(0, 0), _a(1000, 1), ("done", 0), _a(1000, 1)),
        ),
        _case(
            "a block freed on another stream than it was allocated for",
            (_a(1000, 0), _f(0, 1), _a(1000, 0), _a(1000, 1)),
        ),
        _case(
            "more freed than may be kept",
            (_a(256), _a(2048), _a(1024), _a(2048), *map(_f, range(4)), _a(256)),
        ),
        _case(
            "more freed than may be kept, some of it in use",
            (
                _a(2048, 0),
                _a(2048),
                _a(2048),
                _a(256),
                _f(0, 0),
                _f(1),
                _f(2),
                _f(3),
                ("done", 0),
                _a(256),
                _f(4),
            ),
        ),
        _case(
            "a full heap, with blocks of other classes kept",
            (*(_a(1024) for _ in range(4)), *map(_f, range(3)), _a(2048), _a(4096), _a(256)),
            heap=4096,
        ),
        _case(
            "requests that cannot be",
            (_a(0), _a(-5), _a(300), ("free-at", 7), _f(2), _f(2), _a(300)),
        ),
        *(_random(rng, number) for number in range(3)),
        *_interrupted(),
        HostCase(
            "four threads at once",
            _thread_steps(rng),
            {"keep": KEEP, "heap": 1 << 20, "threads": 4, "seed": int(rng.integers(1 << 30))},
        ),
        _measured(),
    ]


def _a(size: int, stream: int | None = None) -> Step:
    return ("alloc", size, stream)


def _f(number: int, stream: int | None = None) -> Step:
    return ("free", number, stream)


def _case(name: str, steps: tuple[Step, ...], heap: int = 1 << 20) -> HostCase:
    return HostCase(name, steps, {"keep": KEEP, "heap": heap})


def _random(rng: np.random.Generator, number: int) -> HostCase:
    """120 operations on three streams whose work ends now and then."""
    steps: list[Step] = []
    live: list[int] = []
    allocations = 0
    for _ in range(120):
        draw = rng.random()
        stream = None if rng.random() < 0.3 else int(rng.integers(3))
        if draw < 0.1:
            steps.append(("done", int(rng.integers(3))))
        elif live and draw < 0.55:
            steps.append(_f(live.pop(int(rng.integers(len(live)))), stream))
        else:
            steps.append(_a(int(2 ** rng.uniform(0, 11)), stream))
            live.append(allocations)
            allocations += 1
    options = {"keep": KEEP, "heap": 1 << 20}
    return HostCase(f"random requests, script {number + 1}", tuple(steps), options)


def _interrupted() -> list[HostCase]:
    """Two calls at once, a pair a script: a request that hits, misses, or empties the pool; a free.

    Of five blocks V and X are kept. X lies before the free end of the heap, and V before it: 8,000
    B go there once both are given back. To free Z makes too much kept, whatever else is.
    """
    hit, miss, full = ("alloc", 1000), ("alloc", 300), ("alloc", 8000)
    small, middle, large = ("free", "Y"), ("free", "W"), ("free", "Z")
    pairs = [
        *((hit, hit), (hit, small), (hit, large), (miss, miss), (miss, hit), (full, small)),
        *((small, small), (small, hit), (small, middle), (small, large), (small, full)),
        *((large, hit), (large, small), (large, middle), (large, miss), (full, large)),
    ]
    options = {
        "interrupted": True,
        "keep": KEEP,
        "heap": 16384,
        "past": (("Y", 1000), ("Z", 4000), ("W", 2000), ("V", 500), ("X", 1000)),
        "kept": ("V", "X"),
    }
    order = {
        "interrupted": True,
        "keep": 4096 + 512,
        "heap": 16384,
        "past": (("Z", 4000), ("Y", 200), ("W", 250), ("V", 1000), ("X", 500)),
        "kept": (),
        "then": ("X", "Z"),  # X is the last of the small ones, so that all others go before it
        "stays": ("X", "Z"),
    }
    name = "one call while another is under way"
    return [
        *(HostCase(name, (pair,), options) for pair in pairs),
        HostCase(name, ((small, middle, ("free", "V")),), order),
    ]


def _thread_steps(rng: np.random.Generator) -> tuple[Step, ...]:
    """What each thread does: pairs of requests, freed in turn."""
    return tuple(_a(int(size)) for size in rng.integers(1, 2000, size=30))


def _measured() -> HostCase:
    """The beginning of a recorded serving trace, on no stream."""
    trace = load_trace("kv_cache_serving")
    order: dict[int, int] = {}
    steps: list[Step] = []
    for op, key, size in trace.events[:EVENTS]:
        if op == "a":
            order[key] = len(order)
            steps.append(_a(size))
        else:
            steps.append(_f(order[key]))
    options = {"keep": TRACE_KEEP, "heap": 4 << 30, "plain": True}
    return HostCase("a recorded serving trace", tuple(steps), options, measured=True)


def _hit_rate(run: Any) -> float:
    """Requests of the trace that did not go to the heap, in percent."""
    asked = sum(step[0] == "alloc" for step in run.case.steps)
    went = sum(verb == "alloc" for log in run.facts["heap"] for verb, _, _ in log)
    return 100 * (asked - went) / asked


def _most_kept(run: Any) -> float:
    """The most KiB that the pool held beyond what was live."""
    held = live = worst = 0
    sizes: list[int] = []
    for step, log in zip(run.case.steps, run.facts["heap"], strict=True):
        if step[0] == "alloc":
            sizes.append(size_class(step[1]))
            live += sizes[-1]
        else:
            live -= sizes[step[1]]
        for verb, _, nbytes in log:
            held += nbytes if verb == "alloc" else -nbytes
        worst = max(worst, held - live)
    return worst / 1024


HINTS = (
    """\
Follow one block through its life: from the heap to a user, into the pool, to the next user, and at
last back to the heap. At each step, which of live_bytes and kept_bytes changes, and by how much:
by what was asked for, or by its class?

And what does the pool know about a block that was freed on a stream? The host says "free" long
before the device has finished reading.""",
    """\
free puts (age, offset, stream, event) on the shelf of the block's class, event = stream.record().
alloc may take an entry if one of these holds: it has no event, its event is done, or its stream is
the one that asks now (work on one stream runs in order).

When too much is kept: of all entries on all shelves that are idle (no event, or done), the one
with the smallest age goes back to the heap. Do everything that touches the books under the lock.
When the heap has no room, give all idle entries back and ask once more.""",
    """\
The search in alloc, and the helper that gives one block back (call both with the lock held):

    for i in reversed(range(len(shelf))):
        age, offset, last, event = shelf[i]
        if event is None or ...:
            del shelf[i]
            ...                      # a hit: two counters change
            break
    else:
        ...                          # a miss

    def give_back(self):
        idle = [(entry[0], block, i) for block, shelf in self.kept.items()
                for i, entry in enumerate(shelf) if ...]
        if not idle:
            return False
        _, block, i = min(idle)
        ...""",
)

PUZZLE = HostPuzzle(
    number=20,
    id="memory-pool",
    title="Memory pool",
    teaches="keeping freed blocks saves the trips to the heap, if nobody still uses them",
    function="MemoryPool",
    signature=("alloc", "free"),
    cases=cases,
    play=play,
    diagnose=diagnose,
    hints=HINTS,
    gates=(
        Gate(
            name="hits in a recorded trace, in percent",
            measure=_hit_rate,
            naive=lambda _: 0,
            at_least=lambda _: 80,
            advice="Too many requests go to the heap: keep what was freed, class by class.",
        ),
        Gate(
            name="KiB kept at most",
            measure=_most_kept,
            naive=lambda _: 0,
            at_most=lambda _: TRACE_KEEP // 1024,
            advice="More is kept than `keep` allows: give the least recently freed back.",
        ),
    ),
)
