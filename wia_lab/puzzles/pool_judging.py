"""Judges what a memory pool did, from its replies, its counters and what it asked of the heap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wia_lab.puzzles.pool_playing import COUNTERS
from wia_lab.puzzles.puzzle import Diagnosis

if TYPE_CHECKING:
    from wia_lab.puzzles.host_puzzle import HostRun, Reply

SMALLEST = 256  # bytes of the smallest class
ADVICE = "Everything that reads or changes the pool's books belongs under its lock."

Wrong = Diagnosis | None


def size_class(size: int) -> int:
    """Bytes of a request's class: the power of two that holds it, at least 256."""
    return max(SMALLEST, 1 << (size - 1).bit_length())


@dataclass
class _Kept:
    """A block that the pool keeps."""

    offset: int
    block: int
    stream: int | None  # the stream that used it last; None: idle
    done: bool  # whether that stream has finished with it


class _Model:
    """What a pool must have done so far. Kept blocks stand in the order they were freed."""

    def __init__(self, keep: int, heap: int) -> None:
        self.keep = keep
        self.heap = heap
        self.live: dict[int, int] = {}
        self.kept: list[_Kept] = []
        self.hits = 0
        self.misses = 0

    @property
    def kept_bytes(self) -> int:
        return sum(entry.block for entry in self.kept)

    def usable(self, block: int, stream: int | None) -> list[_Kept]:
        """Kept blocks that a request may have."""
        return [e for e in self.kept if e.block == block and (e.done or e.stream == stream)]

    def counts(self) -> tuple[int, int, int, int]:
        return self.hits, self.misses, sum(self.live.values()), self.kept_bytes


def diagnose(run: HostRun) -> Wrong:
    """Follow a script in the model; name the first thing that cannot be."""
    first = run.replies[0]
    if first.error == "Deadlock":
        return _say(
            run,
            "no-progress",
            "The script never ends: a lock that is held is asked for again. Take it once in each "
            "call, let helpers rely on it, and let go of it also where the call raises, as "
            "`with self.lock:` does.",
            "deadlock",
        )
    if "clashes" in run.facts:
        return _threads(run)
    if first.error is not None:
        return _crash(run, "making the pool", first)
    if "interrupted" in run.case.options:
        return _interrupted(run)
    model = _Model(run.case.options["keep"], run.case.options["heap"])
    offsets: list[Any] = []
    for number, (step, reply) in enumerate(zip(run.case.steps, run.replies[1:], strict=False)):
        log = run.facts["heap"][number]
        found = _step(run, model, step, reply, log, offsets)
        if found is None and reply.value != "skipped" and not run.case.measured:
            found = _counters(run, model, step, run.facts["counts"][number])
        if found is not None:
            return found
    return None


def _step(
    run: HostRun, model: _Model, step: Any, reply: Reply, log: list[Any], offsets: list[Any]
) -> Wrong:
    verb, argument, *rest = step
    stream = rest[0] if rest else None
    if verb == "done":
        for entry in model.kept:
            entry.done = entry.done or entry.stream == argument
        return None
    if reply.error not in {None, "MemoryError", "OutOfMemoryError", "ValueError"}:
        return _crash(run, _what(step), reply)
    if verb == "alloc":
        offsets.append(reply.value if reply.error is None else None)
        return _alloc(run, model, argument, stream, reply, log)
    if reply.value == "skipped":
        return None
    offset = argument if verb == "free-at" else offsets[argument]
    return _free(run, model, offset, stream, reply, log)


def _alloc(
    run: HostRun, model: _Model, size: int, stream: int | None, reply: Reply, log: list[Any]
) -> Wrong:
    what = f"alloc({size:,}{_on(stream)})"
    if size <= 0:
        if reply.error == "ValueError":
            return None
        text = f"{what} {_did(reply)}: raise ValueError for a size below 1."
        return _say(run, "accepted", text, "bad-size")
    block = size_class(size)
    usable = model.usable(block, stream)
    obtained = [entry for entry in log if entry[0] == "alloc"]
    for verb, offset, _ in log:
        if verb == "free" and (wrong := _gave_back(run, model, what, offset, needed=True)):
            return wrong
    if reply.error is not None:
        return _refused(run, model, what, block, usable, reply)
    if not obtained:
        return _reused(run, model, what, block, stream, reply.value)
    if usable:
        cause = "same-stream-waits" if not usable[-1].done else "no-reuse"
        why = (
            "it was freed on the same stream, whose work runs in order"
            if not usable[-1].done
            else "nobody uses it any more"
        )
        text = (
            f"{what} went to the heap, but the pool keeps a block of that class at "
            f"{usable[-1].offset:,}, and {why}."
        )
        return _say(run, "refused", text, cause)
    _, offset, granted = obtained[-1]
    if reply.value != offset or granted != block or len(obtained) != 1:
        text = (
            f"{what} asked the heap for {granted:,} B and got offset {offset:,}, but returned "
            f"{reply.value!r}: ask for the class, {block:,} B, once, and return that offset."
        )
        return _say(run, "wrong-value", text, "not-the-class")
    model.misses += 1
    model.live[offset] = block
    return None


def _reused(
    run: HostRun, model: _Model, what: str, block: int, stream: int | None, offset: Any
) -> Wrong:
    """Look at a block that did not come from the heap."""
    if offset in model.live:
        text = f"{what} returned {offset:,}, which is live: two users, one block."
        return _say(run, "overlap", text, "handed-out-twice")
    entry = next((e for e in model.kept if e.offset == offset), None)
    if entry is None:
        text = f"{what} returned {offset!r}, which the pool does not hold."
        return _say(run, "wrong-value", text, "not-held")
    if entry.block != block:
        text = f"{what} returned a block of {entry.block:,} B, but its class has {block:,} B."
        return _say(run, "wrong-value", text, "wrong-class")
    if not entry.done and entry.stream != stream:
        text = (
            f"{what} returned {offset:,}, which was freed on stream {entry.stream}, and work there "
            "has not come to that point yet: a kernel may still read it.\n"
            "Another stream may have the block only when the event recorded at its free is done."
        )
        return _say(run, "race", text, "no-event")
    model.kept.remove(entry)
    model.live[offset] = block
    model.hits += 1
    return None


def _refused(
    run: HostRun, model: _Model, what: str, block: int, usable: list[_Kept], reply: Reply
) -> Wrong:
    """Look at a request that was refused although there may be room."""
    if reply.error == "ValueError":
        text = f"{what} raised ValueError: {reply.text}: raise MemoryError when there is no room."
        return _say(run, "wrong-error", text, "wrong-error")
    stuck = sum(entry.block for entry in model.kept if not entry.done)
    taken = sum(model.live.values()) + stuck
    if usable or taken + block <= model.heap // 2 or (not model.live and not stuck):
        text = f"{what} raised {reply.error}, although blocks that nobody uses are kept."
        return _say(run, "refused", text, "no-give-back")
    if any(entry.done for entry in model.kept):
        text = (
            f"{what} raised {reply.error} while {model.kept_bytes:,} B are kept: when the heap has "
            "no room, give the idle blocks back and ask it once more."
        )
        return _say(run, "refused", text, "no-give-back")
    return None


def _gave_back(run: HostRun, model: _Model, what: str, offset: int, *, needed: bool) -> Wrong:
    """Look at a block that went back to the heap: the right one, at the right time."""
    entry = next((e for e in model.kept if e.offset == offset), None)
    if entry is None:
        text = f"{what} gave the block at {offset:,} back to the heap, but it is not kept."
        return _say(run, "wrong-value", text, "not-held")
    if not entry.done:
        text = (
            f"{what} gave the block at {offset:,} back to the heap, but stream {entry.stream} may "
            "still use it: keep it until its event is done."
        )
        return _say(run, "race", text, "evicts-in-use")
    if not needed and model.kept_bytes <= model.keep:
        text = (
            f"{what} gave a block back although only {model.kept_bytes:,} of {model.keep:,} B are "
            "kept."
        )
        return _say(run, "eviction", text, "too-early")
    oldest = next(e for e in model.kept if e.done)
    if not needed and oldest is not entry:
        text = (
            f"{what} gave the block at {offset:,} back, but the one at {oldest.offset:,} was freed "
            "before it: the least recently freed goes first, whatever its class."
        )
        return _say(run, "eviction", text, "wrong-order")
    model.kept.remove(entry)
    return None


def _free(
    run: HostRun, model: _Model, offset: Any, stream: int | None, reply: Reply, log: list[Any]
) -> Wrong:
    what = f"free({offset:,}{_on(stream)})"
    if offset not in model.live:
        if reply.error == "ValueError":
            return None
        text = f"{what} {_did(reply)}, but no live block starts there: raise ValueError."
        return _say(run, "accepted", text, "bad-free")
    if reply.error is not None:
        return _say(run, "refused", f"{what} {_did(reply)}: {reply.text}", "lost")
    model.kept.append(_Kept(offset, model.live.pop(offset), stream, stream is None))
    for verb, given, _ in log:
        if verb == "alloc":
            return _say(run, "wrong-value", f"{what} asked the heap for memory.", "asks-heap")
        if (wrong := _gave_back(run, model, what, given, needed=False)) is not None:
            return wrong
    if model.kept_bytes > model.keep and any(entry.done for entry in model.kept):
        text = (
            f"After {what} the pool keeps {model.kept_bytes:,} B, but keep is {model.keep:,} "
            "B, and some of them nobody uses."
        )
        return _say(run, "eviction", text, "keeps-too-much")
    return None


def _counters(run: HostRun, model: _Model, step: Any, counts: tuple[Any, ...]) -> Wrong:
    """Hold the pool's counters against the model's."""
    for name, got, want in zip(COUNTERS, counts, model.counts(), strict=True):
        if got != want:
            text = (
                f"After {_what(step)} {name} is {got!r}, and must be {want:,}: live_bytes and "
                "kept_bytes count whole classes, hits and misses the requests served."
            )
            return _say(run, "wrong-count", text, name)
    return None


def _interrupted(run: HostRun) -> Wrong:
    """What must hold after two calls at once, wherever the first was stopped for the second."""
    for calls, outcomes in zip(run.case.steps, run.facts["steps"], strict=True):
        if not outcomes:
            raise ValueError(f"nothing was tried of {calls}")
        for outcome in outcomes:
            wrong = _at_once(run, calls, outcome)
            if wrong is not None:
                first, *others = (_named(run, call) for call in calls)
                second = "the same" if calls[0] == calls[1] else " and ".join(others)
                locked = ", with a lock taken," if outcome["held"] else ""
                text = f"One thread was in {first} on line {outcome['line']}{locked} when another "
                text += f"did {second}: {wrong}.\n{ADVICE}"
                return _say(run, "race", text, "no-lock", outcome["line"])
    return None


def _at_once(run: HostRun, calls: Any, outcome: Any) -> str | None:
    """Say what cannot be after two calls, whichever came first."""
    options = run.case.options
    errors = [reply.error for reply in outcome["replies"]]
    is_same = calls[0] == calls[1] and calls[0][0] == "free"
    if is_same and sorted(map(str, errors)) != ["None", "ValueError"]:
        return "one of the two must free it, and the other get a ValueError"
    gone = {each for verb, each in calls if verb == "free"} | set(options["kept"])
    live = [size_class(size) for name, size in options["past"] if name not in gone]
    held = dict(outcome["heap"])
    given: list[int] = []
    for call, reply in zip(calls, outcome["replies"], strict=True):
        if reply.error is not None and not is_same:
            return f"{_named(run, call)} raised {reply.error}: {reply.text}"
        if call[0] == "alloc":
            live.append(size_class(call[1]))
            given.append(reply.value)
            if held.get(reply.value) != live[-1]:
                return (
                    f"{_named(run, call)} returned {reply.value!r}, which is no block of that class"
                )
    if len(set(given)) < len(given):
        return f"both got the block at {given[0]:,}"
    asked = len(options["past"]) + len(given)
    kept = sum(held.values()) - sum(live)
    expected = (asked - outcome["went"], outcome["went"], sum(live), kept)
    for name, got, want in zip(COUNTERS, outcome["counts"], expected, strict=True):
        if got != want:
            shown = f"{got:,}" if isinstance(got, int) else repr(got)
            return f"{name} is {shown} then, and must be {want:,}"
    if gone_early := [name for name in options.get("stays", ()) if name not in outcome["then"]]:
        size = dict(options["past"])[gone_early[0]]
        return (
            f"a block of {size:,} B was freed after them, and yet it went back to the heap before "
            "one of them"
        )
    if kept > options["keep"]:
        return f"{kept:,} B are kept then, and keep is {options['keep']:,} B"
    if outcome["after"].error is not None or outcome["after"].value != ((0, options["heap"]),):
        return "when all is freed then, a block is lost, or kept twice"
    return None


def _named(run: HostRun, call: Any) -> str:
    verb, argument = call
    if verb == "alloc":
        return f"alloc({argument:,})"
    return f"free of a block of {dict(run.case.options['past'])[argument]:,} B"


def _threads(run: HostRun) -> Wrong:
    """What must hold after threads have come and gone."""
    if run.facts["clashes"]:
        offset, one, other = run.facts["clashes"][0]
        text = f"The block at {offset:,} was live in thread {one} and in thread {other} at once."
        return _say(run, "race", f"{text}\n{ADVICE}", "no-lock")
    for reply in run.replies:
        if reply.error is not None:
            text = f"A thread got {reply.error}: {reply.text}."
            return _say(run, "race", f"{text}\n{ADVICE}", "no-lock")
    asked = len(run.case.steps) * run.case.options["threads"]
    went = sum(verb == "alloc" for verb, _, _ in run.facts["heap"])
    held = sum(size if verb == "alloc" else -size for verb, _, size in run.facts["heap"])
    expected = (asked - went, went, 0, held)
    for name, got, want in zip(COUNTERS, run.facts["counts"], expected, strict=True):
        if got != want:
            text = f"After {asked:,} requests in threads {name} is {got!r}, and must be {want:,}."
            return _say(run, "race", f"{text}\n{ADVICE}", "no-lock")
    return None


def _say(run: HostRun, kind: str, text: str, cause: str, line: int | None = None) -> Diagnosis:
    return Diagnosis(kind, f"Script: {run.case.name}.\n{text}", line, cause)


def _crash(run: HostRun, what: str, reply: Reply) -> Diagnosis:
    line = "" if reply.line is None else f" on line {reply.line}"
    text = f"{what} raised {reply.error}: {reply.text}{line}."
    return Diagnosis("crash", f"Script: {run.case.name}.\n{text}", reply.line, "crash")


def _what(step: Any) -> str:
    verb, argument, *rest = step
    if verb == "alloc":
        return f"alloc({argument:,}{_on(rest[0])})"
    return f"freeing request {argument}{_on(rest[0]) if rest else ''}"


def _on(stream: int | None) -> str:
    return "" if stream is None else f", stream {stream}"


def _did(reply: Reply) -> str:
    return f"raised {reply.error}" if reply.error else f"returned {reply.value!r}"
