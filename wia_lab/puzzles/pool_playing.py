"""Plays scripts on a learner's memory pool: alone, on streams, and with threads at once."""

from __future__ import annotations

import operator
import random
import threading
import time
from functools import partial
from typing import Any

from wia_lab.errors import AllocatorError
from wia_lab.memory import Heap
from wia_lab.puzzles.host_judge import UNENDING, call, file_of
from wia_lab.puzzles.host_puzzle import HostCase, HostRun, Reply
from wia_lab.puzzles.turns import DeadlockError, Idleness, Step, TooLongError, Turns

PATIENCE = 5.0  # seconds in which nothing happens before a script counts as blocked
LONGEST = 60.0  # seconds of a script, whatever happens
HANDOVER = 0.05  # share of the bytecodes after which another thread runs
MOST_STUCK = 2  # times that something unwatched may block
Request = tuple[str, Any]
"""A call: "alloc" with its bytes, or "free" with the name of a block."""

COUNTERS = ("hits", "misses", "live_bytes", "kept_bytes")


class ScriptedHeap:
    """The heap under a pool: serves, and writes down what it was asked."""

    def __init__(self, capacity: int) -> None:
        self._heap = Heap(capacity)
        self.log: list[tuple[str, int, int]] = []

    def alloc(self, size: int) -> int:
        """Return the offset of a block of `size` bytes, or raise MemoryError."""
        block = self._heap.allocate(size)
        self.log.append(("alloc", block.offset, block.size))
        return block.offset

    def free(self, offset: int) -> None:
        """Take a block back; ValueError when none is live there."""
        size = next((b.size for b in self._heap.blocks() if b.offset == offset), 0)
        try:
            self._heap.free(offset)
        except AllocatorError as error:
            raise ValueError(str(error)) from error
        self.log.append(("free", offset, size))

    def blocks(self) -> list[tuple[int, int]]:
        """Return what is lent out: (offset, bytes), in order of address."""
        return sorted((block.offset, block.size) for block in self._heap.blocks())


class PlainHeap(ScriptedHeap):
    """The same without a search for the size of what is freed."""

    def __init__(self, capacity: int) -> None:
        super().__init__(capacity)
        self._sizes: dict[int, int] = {}

    def alloc(self, size: int) -> int:
        offset = super().alloc(size)
        self._sizes[offset] = self.log[-1][2]
        return offset

    def free(self, offset: int) -> None:
        try:
            self._heap.free(offset)
        except AllocatorError as error:
            raise ValueError(str(error)) from error
        self.log.append(("free", offset, self._sizes.pop(offset)))


class ScriptedEvent:
    """Done when the script says so."""

    def __init__(self) -> None:
        self.is_done = False


class ScriptedStream:
    """A stream whose work ends when the script says so."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.events: list[ScriptedEvent] = []

    def record(self) -> ScriptedEvent:
        """Return an event that is done when all work so far is."""
        self.events.append(ScriptedEvent())
        return self.events[-1]

    def finish(self) -> None:
        """All work so far is done."""
        for event in self.events:
            event.is_done = True

    def __repr__(self) -> str:
        return f"stream {self.number}"


def play(answer: type, case: HostCase) -> HostRun:
    """Play a script in a thread of its own, so that nothing which blocks stops the judge."""
    result: list[HostRun] = []
    turns = Turns(file_of(answer))
    work = _play_alone
    if "threads" in case.options:
        work = _play_threads
    elif "interrupted" in case.options:
        work = _play_interrupted

    def worker() -> None:
        try:
            result.append(work(answer, case, turns))
        except DeadlockError:
            result.append(HostRun(case, (Reply(error="Deadlock"),)))
        except TooLongError:
            result.append(HostRun(case, (Reply(error=UNENDING),)))
        except BaseException as error:  # a learner's, whatever it is
            reply = Reply(error=type(error).__name__, text=str(error))
            result.append(HostRun(case, (reply,)))

    thread = threading.Thread(target=worker, daemon=True)
    thread.start()
    until = time.monotonic() + LONGEST
    while thread.is_alive() and time.monotonic() < until:
        idleness = Idleness()
        thread.join(PATIENCE)
        if thread.is_alive() and idleness.is_idle():
            break
    turns.close()
    return result[0] if result else HostRun(case, (Reply(error="Deadlock"),))


def _play_alone(answer: type, case: HostCase, turns: Turns) -> HostRun:
    file = turns.file
    plain = "plain" in case.options
    heap = (PlainHeap if plain else ScriptedHeap)(case.options["heap"])
    made = call(answer, heap, case.options["keep"], file=file)
    if made.error is not None:
        return HostRun(case, (made,))
    pool, streams = made.value, [ScriptedStream(n) for n in range(3)]
    turns.watch(pool)
    replies, logs, counts = [Reply()], [], []
    offsets: list[Any] = []
    for verb, argument, *rest in case.steps:
        stream = streams[rest[0]] if rest and rest[0] is not None else None
        before = len(heap.log)
        reply = Reply()
        if verb == "done":
            streams[argument].finish()
        elif verb == "alloc":
            reply = call(pool.alloc, argument, stream, file=file)
            offsets.append(reply.value if reply.error is None else None)
        elif verb == "free-at":
            reply = call(pool.free, argument, file=file)
        elif offsets[argument] is None:
            reply = Reply(value="skipped")
        else:
            reply = call(pool.free, offsets[argument], stream, file=file)
        replies.append(reply)
        logs.append(heap.log[before:])
        counts.append(_counts(pool))
        if reply.error not in {None, "MemoryError", "OutOfMemoryError", "ValueError"}:
            break
    return HostRun(case, tuple(replies), {"heap": logs, "counts": counts})


def _direct(function: Any, *args: Any) -> Reply:
    """Call in a thread whose steps are counted already."""
    try:
        return Reply(value=function(*args))
    except Exception as error:
        return Reply(error=type(error).__name__, text=str(error))


def _counts(pool: Any) -> tuple[Any, ...]:
    return tuple(getattr(pool, name, None) for name in COUNTERS)


def _raise_first(errors: list[BaseException | None]) -> None:
    for error in errors:
        if error is not None:
            raise error


def _play_threads(answer: type, case: HostCase, turns: Turns) -> HostRun:
    """Let threads allocate and free at once; now and then one hands over to another."""
    heap = ScriptedHeap(case.options["heap"])
    pool = answer(heap, case.options["keep"])
    turns.watch(pool)
    owners: dict[int, int] = {}
    clashes: list[tuple[int, int, int]] = []
    replies: list[Reply] = [Reply()] * case.options["threads"]
    lot = random.Random(case.options["seed"])  # noqa: S311  a schedule, no secret

    def choose(step: Step) -> int:
        return lot.randrange(len(replies)) if lot.random() < HANDOVER else step.thread

    def steps(number: int) -> None:
        held: list[int] = []
        for _, size, _ in case.steps:
            offset = operator.index(pool.alloc(size))
            if (other := owners.get(offset)) is not None:
                clashes.append((offset, other, number))
            owners[offset] = number
            held.append(offset)
            if len(held) > 2:
                owners.pop(held[0], None)
                pool.free(held.pop(0))
        for offset in held:
            owners.pop(offset, None)
            pool.free(offset)

    def work(number: int) -> None:
        replies[number] = _direct(steps, number)

    _raise_first(turns.run([partial(work, n) for n in range(len(replies))], choose))
    facts = {"counts": _counts(pool), "clashes": clashes, "heap": list(heap.log)}
    return HostRun(case, tuple(replies), facts)


def _play_interrupted(answer: type, case: HostCase, turns: Turns) -> HostRun:
    """Stop one call before each of its bytecodes, and have another call done there."""
    found: list[list[dict[str, Any]]] = []
    for calls in case.steps:
        trial = _Trial(answer, case.options, turns, calls)
        outcomes = [trial.run(None)]
        seen = {_key(outcomes[0])}
        for place in trial.places():
            outcome = trial.run(place)
            if (key := _key(outcome)) is None or key not in seen:
                seen.add(key)
                outcomes.append(outcome)
        found.append(outcomes)
    return HostRun(case, (Reply(),) * (1 + len(case.steps)), {"steps": found})


def _key(outcome: dict[str, Any]) -> tuple[Any, ...] | None:
    """What is alike in outcomes that need not be told twice; None where it holds a stranger.

    Nothing of the learner's is compared: an object of theirs may be equal to whatever it likes.
    """
    replies = [*outcome["replies"], outcome["after"]]
    values = [*outcome["counts"], *(reply.value for reply in replies[:-1])]
    if not all(type(value) in {int, type(None)} for value in values):
        return None
    errors = tuple(reply.error for reply in replies)
    told = (outcome[name] for name in ("went", "heap", "then"))
    return (*values, *errors, *told, replies[-1].value)


class _Trial:
    """A call, and others meanwhile, again and again, each time on a fresh pool of the same past."""

    def __init__(
        self, answer: type, options: Any, turns: Turns, calls: tuple[Request, ...]
    ) -> None:
        self.answer, self.options, self.turns = answer, options, turns
        self.calls = calls
        self.sections: dict[tuple[int, int], list[int]] = {}

    def places(self) -> list[int]:
        """The bytecodes to stop at: all where no lock is held, a few of each piece where one is.

        While a lock is held the other call has to wait: whether it does needs no more.
        """
        found: list[int] = []
        for (held, _), steps in self.sections.items():
            found += steps if not held else {steps[0], steps[len(steps) // 2], steps[-1]}
        return sorted(found)

    def run(self, place: int | None) -> dict[str, Any]:
        """Stop the first call before its bytecode number `place`; None: let it end first."""
        heap = ScriptedHeap(self.options["heap"])
        pool = self.answer(heap, self.options["keep"])
        self.turns.watch(pool)
        blocks = {name: pool.alloc(size) for name, size in self.options["past"]}
        for name in self.options["kept"]:
            pool.free(blocks[name])
        replies = [Reply()] * len(self.calls)
        stops: list[Step] = []

        def work(*numbers: int) -> None:
            for number in numbers:
                verb, argument = self.calls[number]
                given = blocks[argument] if verb == "free" else argument
                function = pool.free if verb == "free" else pool.alloc
                replies[number] = _direct(function, given)

        def choose(step: Step) -> int:
            if step.thread == 0 and place is None:
                self.sections.setdefault((step.held, step.section), []).append(step.number)
            if step.thread == 0 and step.number == place:
                stops.append(step)
                return 1
            return step.thread

        others = partial(work, *range(1, len(self.calls)))
        _raise_first(self.turns.run([partial(work, 0), others], choose))
        if self.turns.stuck > MOST_STUCK:  # else it could keep all places from being tried
            raise DeadlockError
        return {
            "line": stops[0].line if stops else None,
            "held": stops[0].held if stops else 0,
            "replies": tuple(replies),
            "counts": _counts(pool),
            "went": sum(verb == "alloc" for verb, _, _ in heap.log),
            "heap": tuple(heap.blocks()),
            "then": self._freed_then(pool, heap, blocks),
            "after": self._emptied(pool, heap, blocks, replies),
        }

    def _freed_then(self, pool: Any, heap: ScriptedHeap, blocks: Any) -> tuple[str, ...]:
        """Free some more, one after the other; return which blocks the pool holds then."""
        for name in self.options.get("then", ()):
            call(pool.free, blocks[name], file=self.turns.file)
        held = dict(heap.blocks())
        return tuple(name for name, offset in blocks.items() if offset in held)

    def _emptied(self, pool: Any, heap: ScriptedHeap, blocks: Any, replies: list[Reply]) -> Reply:
        """Free all and ask for the whole heap: nothing may be lost, and nothing kept twice."""
        gone = {each for verb, each in self.calls if verb == "free"}
        gone |= {*self.options["kept"], *self.options.get("then", ())}
        live = [offset for name, offset in blocks.items() if name not in gone]
        for (verb, _), reply in zip(self.calls, replies, strict=True):
            live += [reply.value] if verb == "alloc" and reply.error is None else []
        for offset in live:
            reply = call(pool.free, offset, file=self.turns.file)
            if reply.error is not None:
                return reply
        reply = call(pool.alloc, self.options["heap"], file=self.turns.file)
        return reply if reply.error is not None else Reply(tuple(heap.blocks()))
