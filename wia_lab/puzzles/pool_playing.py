"""Plays scripts on a learner's memory pool: alone, on streams, and with threads at once."""

from __future__ import annotations

import random
import sys
import threading
import time
from types import FrameType
from typing import Any

from wia_lab.errors import AllocatorError
from wia_lab.memory import Heap
from wia_lab.puzzles.host_judge import call
from wia_lab.puzzles.host_puzzle import HostCase, HostRun, Reply

PATIENCE = 8.0  # seconds for a script; a lock taken twice blocks for ever
HANDOVER = 0.12  # share of the bytecodes after which another thread runs
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
    """Play a script in a thread of its own, so that a lock taken twice does not stop the judge."""
    result: list[HostRun] = []
    work = _play_threads if "threads" in case.options else _play_alone
    worker = threading.Thread(target=lambda: result.append(work(answer, case)), daemon=True)
    worker.start()
    worker.join(PATIENCE)
    if not result:
        return HostRun(case, (Reply(error="Deadlock"),))
    return result[0]


def _play_alone(answer: type, case: HostCase) -> HostRun:
    file = answer.alloc.__code__.co_filename  # type: ignore[attr-defined]
    plain = "plain" in case.options
    heap = (PlainHeap if plain else ScriptedHeap)(case.options["heap"])
    made = call(answer, heap, case.options["keep"], file=file)
    if made.error is not None:
        return HostRun(case, (made,))
    pool, streams = made.value, [ScriptedStream(n) for n in range(3)]
    replies, logs, counts = [Reply()], [], []
    offsets: list[Any] = []
    run = _direct if plain else call
    for verb, argument, *rest in case.steps:
        stream = streams[rest[0]] if rest and rest[0] is not None else None
        before = len(heap.log)
        reply = Reply()
        if verb == "done":
            streams[argument].finish()
        elif verb == "alloc":
            reply = run(pool.alloc, argument, stream, file=file)
            offsets.append(reply.value if reply.error is None else None)
        elif verb == "free-at":
            reply = run(pool.free, argument, file=file)
        elif offsets[argument] is None:
            reply = Reply(value="skipped")
        else:
            reply = run(pool.free, offsets[argument], stream, file=file)
        replies.append(reply)
        logs.append(heap.log[before:])
        counts.append(tuple(getattr(pool, name, None) for name in COUNTERS))
        if reply.error not in {None, "MemoryError", "OutOfMemoryError", "ValueError"}:
            break
    return HostRun(case, tuple(replies), {"heap": logs, "counts": counts})


def _direct(function: Any, *args: Any, file: str) -> Reply:
    """Call without counting lines: for long scripts."""
    del file
    try:
        return Reply(value=function(*args))
    except Exception as error:
        return Reply(error=type(error).__name__, text=str(error))


def _play_threads(answer: type, case: HostCase) -> HostRun:
    """Let threads allocate and free at once; after some bytecodes each hands over to another."""
    file = answer.alloc.__code__.co_filename  # type: ignore[attr-defined]
    heap = ScriptedHeap(case.options["heap"])
    guard = threading.Lock()  # the heap is slow, but safe: only the pool is judged
    alloc, free = heap.alloc, heap.free
    heap.alloc = lambda size: _guarded(guard, alloc, size)  # type: ignore[method-assign]
    heap.free = lambda offset: _guarded(guard, free, offset)  # type: ignore[method-assign]
    pool = answer(heap, case.options["keep"])
    owners: dict[int, int] = {}
    clashes: list[tuple[int, int, int]] = []
    replies: list[Reply] = [Reply()] * case.options["threads"]

    def work(number: int) -> None:
        shuffle = _Shuffle(file, case.options["seed"] + number)

        def steps() -> None:
            held: list[int] = []
            for _, size, _ in case.steps:
                offset = pool.alloc(size)
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

        sys.settrace(shuffle.enter)
        try:
            replies[number] = _direct(steps, file=file)
        finally:
            sys.settrace(None)

    threads = [threading.Thread(target=work, args=(n,), daemon=True) for n in range(len(replies))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    if any(thread.is_alive() for thread in threads):
        return HostRun(case, (Reply(error="Deadlock"),))
    counts = tuple(getattr(pool, name, None) for name in COUNTERS)
    facts = {"counts": counts, "clashes": clashes, "heap": list(heap.log)}
    return HostRun(case, tuple(replies), facts)


def _guarded(lock: Any, function: Any, argument: int) -> Any:
    """Call the heap as a slow thing that lets others run meanwhile."""
    time.sleep(1e-5)
    with lock:
        return function(argument)


class _Shuffle:
    """Hands over to another thread between two bytecodes of the learner's, now and then.

    CPython switches threads at few places only, so a counter changed without the lock is nearly
    always right by luck. This takes the luck away.
    """

    def __init__(self, file: str, seed: int) -> None:
        self.file = file
        self.random = random.Random(seed)  # noqa: S311  a schedule, no secret

    def enter(self, frame: FrameType, event: str, arg: Any) -> Any:
        del event, arg
        if frame.f_code.co_filename != self.file:
            return None
        frame.f_trace_opcodes = True
        return self.step

    def step(self, frame: FrameType, event: str, arg: Any) -> Any:
        del frame, arg
        if event == "opcode" and self.random.random() < HANDOVER:
            time.sleep(1e-6)
        return self.step
