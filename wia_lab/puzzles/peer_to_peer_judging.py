"""Judges what a peer reader did, from what crossed the links and what the kernels got."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from wia_lab.puzzles.peer_to_peer_playing import ELEMENTS, numbers, reads_and_key
from wia_lab.puzzles.puzzle import Diagnosis

if TYPE_CHECKING:
    from wia_lab.puzzles.host_puzzle import HostRun, Reply

Wrong = Diagnosis | None


def diagnose(run: HostRun) -> Wrong:
    """Name the first thing that went wrong in a script."""
    if run.replies[0].error is not None:
        return _crash(run, "PeerReader()", run.replies[0])
    earlier: dict[Any, Any] = {}  # the values that data had at the call before
    for number, (step, reply, facts) in enumerate(
        zip(run.case.steps, run.replies[1:], run.facts["steps"], strict=False), 1
    ):
        _, key = reads_and_key(step)
        values = numbers(number, run.case.options)
        found = (
            _raised(run, step, reply, facts)
            or _step(run, step, facts)
            or _values(run, step, facts, values, None if key is None else earlier.get(key))
        )
        earlier[key] = values
        if found is not None:
            return found
    return None


def _raised(run: HostRun, step: Any, reply: Reply, facts: Any) -> Wrong:
    """Look at a call that raised."""
    if reply.error is None:
        return None
    _, owner, at, *_ = step
    if reply.error == "AccessRefused" and "cannot reach memory" in reply.text:
        there, back = facts["direct"]
        if there:
            text = (
                f"{_what(step)} let device {owner} reach device {at}, which it cannot. The kernels "
                f"run on device {at}: it is device {at} that must be let reach device {owner}."
            )
            return _say(run, "wrong-direction", text, "owner-enabled", reply.line)
        if back:
            text = (
                f"{_what(step)} raised AccessRefused: {reply.text}.\nDevice {owner} can reach "
                f"device {at}, but not the other way: ask whether the device whose kernels read "
                "can reach the other."
            )
            return _say(run, "refused", text, "asks-wrong-way", reply.line)
        text = (
            f"{_what(step)} raised AccessRefused: {reply.text}.\nAsk can_access_peer before you "
            "enable anything; without access the data is copied."
        )
        return _say(run, "refused", text, "does-not-ask", reply.line)
    if reply.error == "InvalidValue" and "only host and pinned" in reply.text:
        text = f"{_what(step)} raised InvalidValue: {reply.text}.\nA device's memory is its own."
        return _say(run, "refused", text, "socket-of-device-memory", reply.line)
    if reply.error == "InvalidValue" and "numa_node" in reply.text:
        text = (
            f"{_what(step)} raised InvalidValue: {reply.text}.\nA device's number is not its "
            "socket's."
        )
        return _say(run, "refused", text, "no-such-socket", reply.line)
    return _crash(run, _what(step), reply)


def _step(run: HostRun, step: Any, facts: Any) -> Wrong:
    """Look at what a call returned, and what came of it."""
    verb, owner, at, *_ = step
    if facts["place"] is None:
        text = f"{_what(step)} returned {facts['returned']}: return a buffer."
        return _say(run, "wrong-value", text, "no-buffer")
    nbytes = 4 * run.case.options.get("elements", ELEMENTS)
    if facts["nbytes"] != nbytes:
        text = f"{_what(step)} returned {facts['nbytes']:,} bytes, and the data has {nbytes:,}."
        return _say(run, "wrong-value", text, "wrong-size")
    if verb == "fetch" and facts["returned"] != "pinned":
        text = f"{_what(step)} returned {facts['returned']}: return memory of MemoryKind.PINNED."
        if facts["returned"] == "host":
            text += "\nA copy to plain host memory makes the host wait until it has ended."
        return _say(run, "wrong-kind", text, "not-pinned")
    if facts["freed"] or facts["broken"] is not None:
        return _broken(run, step, facts)
    if facts["refused"] is not None:
        return _refused(run, step, facts)
    there, back = facts["direct"]
    useful = (owner, at) if back and not there else (at, owner)  # back: for a copy alone
    for device, peer in facts["enabled"]:
        if (device, peer) != useful or verb == "fetch":
            text = (
                f"{_what(step)} let device {device} reach device {peer}, which nothing here needs: "
                "access goes one way, from the device whose kernels read, and serves copies both "
                "ways."
            )
            return _say(run, "wrong-direction", text, "needless-access")
    return _moved(run, step, facts)


def _broken(run: HostRun, step: Any, facts: Any) -> Wrong:
    """Look at what ended too early."""
    if facts["freed"]:
        text = f"{_what(step)} freed the data, which is its owner's: leave it as it is."
    else:
        text = (
            f"{_what(step)}: what it returned was then read, which gave {facts['broken']}.\nWhat "
            "you return, and the stream, must stay open."
        )
    return _say(run, "closed", text, "closed")


def _refused(run: HostRun, step: Any, facts: Any) -> Wrong:
    """Look at what kernels could not read."""
    _, owner, at, *_ = step
    text = f"{_what(step)}: kernels on device {at} cannot read what it returned"
    if isinstance(facts["place"], str):
        return _say(run, "access", f"{text}: it is {facts['returned']} memory.", "host-memory")
    there, _ = facts["direct"]
    if (owner, at) in map(tuple, facts["enabled"]):
        text = (
            f"{text}. You let device {owner} reach device {at}: access goes one way, and it is "
            f"device {at} that reads."
        )
        return _say(run, "wrong-direction", text, "owner-enabled")
    if there:
        text = f"{text}: it could, but was not let do so; call enable_peer_access."
        return _say(run, "access", text, "not-enabled")
    text = (
        f"{text}: {facts['returned']} on device {facts['place']}, and there is no access from "
        f"device {at}: copy it in the stream to memory of device {at}."
    )
    return _say(run, "access", text, "cannot-reach")


def _moved(run: HostRun, step: Any, facts: Any) -> Wrong:
    """Look at races, and at what became of the data."""
    for message, first, second, line in facts["races"]:
        if "produce" in first or "produce" in second:
            text = (
                f"{_what(step)}: {message}.\nThe data is still being written when you are called: "
                "let the stream wait for `ready`."
            )
            return _say(run, "race", text, "not-ready", line)
        text = (
            f"{_what(step)}: {message}.\nWhoever uses what you return waits for `stream` alone: "
            "submit to that stream, or let it wait for yours."
        )
        return _say(run, "race", text, "other-stream", line)
    if facts["changed"]:
        text = f"{_what(step)} changed the data itself: a copy names its target first."
        return _say(run, "input-changed", text, "copy-turned-round")
    return None


def _values(run: HostRun, step: Any, facts: Any, values: Any, before: Any) -> Wrong:
    """Hold what was read against the data of this call, and against that of the call before."""
    got, (reads, _) = facts["values"], reads_and_key(step)
    times = np.int32(reads if step[0] == "share" else 1)
    wanted = values * times
    if not isinstance(got, np.ndarray) or (got.shape, got.dtype) != (wanted.shape, wanted.dtype):
        raise TypeError(f"what was read is no int32 array of {wanted.size:,}")
    different = np.flatnonzero(got != wanted)
    if not different.size:
        return None
    first = int(different[0])
    text = f"{_what(step)}: element {first} is {got[first]:,}, and must be {wanted[first]:,}."
    if before is not None and np.array_equal(got, before * times):
        text += "\nThese are the values of the call before: a copy is as old as its copying."
        return _say(run, "wrong-value", text, "stale-copy")
    text += "\nNobody copied the data to what you returned."
    return _say(run, "wrong-value", text, "not-copied")


def _say(run: HostRun, kind: str, text: str, cause: str, line: int | None = None) -> Diagnosis:
    return Diagnosis(kind, f"Script: {run.case.name}.\n{text}", line, cause)


def _crash(run: HostRun, what: str, reply: Reply) -> Diagnosis:
    line = "" if reply.line is None else f" on line {reply.line}"
    text = f"{what} raised {reply.error}: {reply.text}{line}."
    return _say(run, "crash", text, "crash", reply.line)


def _what(step: Any) -> str:
    verb, owner, at, *more = step
    if verb == "fetch":
        return f"fetch of data on device {owner}, in a stream of device {at}"
    reads = more[0] if more else 1
    often = "once" if reads == 1 else f"{reads} times"
    return f"share of data on device {owner}, which device {at} reads {often}"
