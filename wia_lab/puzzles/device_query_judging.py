"""Judges what a device query chose, opened and placed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wia_lab.puzzles.device_query_playing import GIB, MIB, NONE_FITS
from wia_lab.puzzles.puzzle import Diagnosis
from wia_lab.wording import counted

if TYPE_CHECKING:
    from wia_lab.puzzles.host_puzzle import HostRun, Reply

Wrong = Diagnosis | None

NO_DEVICE = (
    "\nNo device of this machine fits: then choose raises LookupError, before it compares any."
)


def diagnose(run: HostRun) -> Wrong:
    """Name the first thing that went wrong in a script."""
    if run.replies[0].error is not None:
        return _crash(run, "DeviceQuery()", run.replies[0])
    for step, reply, facts in zip(
        run.case.steps, run.replies[1:], run.facts["steps"], strict=False
    ):
        judge = {"choose": _choose, "open": _open, "fill": _fill, "place": _place}.get(step[0])
        found = judge(run, step, reply, facts) if judge else _blocked(run, step, facts)
        if found is not None:
            return found
    return None


def best(seen: list[dict[str, Any]], nbytes: int) -> int | None:
    """Number of the device that must be chosen, None where none will do."""
    fit = [number for number, each in enumerate(seen) if not _unfit(each, number, nbytes)[1]]
    return min(fit, key=lambda n: (-seen[n]["bandwidth"], seen[n]["contexts"], n), default=None)


def _choose(run: HostRun, step: Any, reply: Reply, facts: Any) -> Wrong:
    _, gib, needs = step
    what = f"choose(machine, {gib} GiB, {needs!r})"
    got, seen = facts["got"], facts["seen"]
    want = best(seen, gib * GIB)
    if reply.error is not None and reply.error not in NONE_FITS:
        return _crash(run, what, reply, "" if want is not None else NO_DEVICE)
    if facts["left"]:
        text = f"{what} left a context open that nobody asked for: asking needs none."
        return _say(run, "side-effect", text, "left-open")
    if reply.error is not None:
        if want is None:
            return None
        text = f"{what} raised {reply.error}, although device {want}, a {_name(seen, want)}, fits."
        return _say(run, "refused", text, "gives-up", reply.line)
    if got is None and want is not None:
        text = f"{what} returned {facts['returned']}: return a device of the machine."
        return _say(run, "wrong-value", text, "no-device")
    if want is None:
        where = facts["returned"] if got is None else f"device {got}"
        sentence, cause = ("", "none-fits") if got is None else _unfit(seen[got], got, gib * GIB)
        why = f" {sentence}" if sentence else ""
        text = f"{what} returned {where}, but no device fits.{why} Raise LookupError."
        return _say(run, "accepted", text, cause)
    if got == want:
        return None
    sentence, cause = _unfit(seen[got], got, gib * GIB)
    if not cause:
        sentence, cause = _worse(seen, got, want)
        if seen[want]["largest"] == gib * GIB:
            sentence += f" In device {want} exactly {gib} GiB are left: that is room enough."
    text = f"{what} returned device {got}, and device {want} is the one. {sentence}"
    return _say(run, "wrong-choice", text, cause)


def _unfit(device: Any, number: int, nbytes: int) -> tuple[str, str]:
    """Why a device cannot be used, and the cause; two empty texts where it can."""
    lacks = [name for name, able in device["able"].items() if not able]
    if lacks:
        return f"Device {number}, a {device['name']}, lacks {lacks[0]}.", "lacks-it"
    if device["seized"]:
        return f"Another context has device {number} for itself.", "seized"
    if device["size"] < nbytes:
        return f"Device {number}, a {device['name']}, has less memory in all.", "too-small"
    if device["free"] < nbytes:
        return (
            f"Device {number} has so much memory, but others have taken part of it: "
            "memory_size is what the sheet says, memory.statistics what is left.",
            "asks-the-sheet",
        )
    if device["largest"] < nbytes:
        return (
            f"Device {number} has enough free memory, but in pieces: one buffer needs one hole, "
            "largest_free_bytes.",
            "free-in-pieces",
        )
    return "", ""


def _worse(seen: Any, got: int, want: int) -> tuple[str, str]:
    """Why another device is better."""
    if seen[got]["bandwidth"] < seen[want]["bandwidth"]:
        return (
            f"Both fit, but the memory of the {seen[want]['name']} is faster than that of the "
            f"{seen[got]['name']}.",
            "not-the-fastest",
        )
    if seen[got]["contexts"] > seen[want]["contexts"]:
        return "Both are as fast, but there are fewer contexts on the other.", "crowded"
    return "Both are as good: take the lower number.", "order"


def _open(run: HostRun, step: Any, reply: Reply, facts: Any) -> Wrong:
    _, number, gib, streams, timeout = step
    what = f"open(device {number}, {gib} GiB, {counted(streams, 'stream')}, {timeout} s)"
    expected = _must_raise(facts["seen"], gib * GIB)
    if expected:
        if reply.error == expected:
            return None
        text = f"{what} {_did(reply, facts)}, but must raise {expected}, as Context does."
        return _say(run, "accepted", text, "not-reserved")
    if reply.error is not None:
        return _refused(run, what, reply)
    if not facts["context"]:
        text = f"{what} returned {facts['returned']}: return a context that is open."
        return _say(run, "wrong-value", text, "no-context")
    return _limits(run, step, what, facts)


def _must_raise(device: Any, nbytes: int) -> str | None:
    """The error that Context raises for so much memory of a device; None where it opens."""
    if device["seized"]:
        return "DeviceBusy"
    return "OutOfMemory" if device["largest"] < nbytes else None


def _refused(run: HostRun, what: str, reply: Reply) -> Diagnosis:
    """Look at an open that must not fail."""
    if reply.error == "DeviceBusy":
        text = (
            f"{what} raised DeviceBusy: {reply.text}.\nTwo contexts must be able to share a "
            "device: ask for none exclusively."
        )
        return _say(run, "refused", text, "exclusive", reply.line)
    return _crash(run, what, reply)


def _limits(run: HostRun, step: Any, what: str, facts: Any) -> Wrong:
    """Hold a context against what was asked of it."""
    gib, streams, timeout = step[2:]
    if not facts["device"]:
        text = f"{what} returned a context of another device."
        return _say(run, "wrong-value", text, "wrong-device")
    if facts["same"]:
        text = f"{what} returned a context that you returned before: each call opens one."
        return _say(run, "wrong-value", text, "same-context")
    if facts["exclusive"]:
        text = f"{what} took the device for itself: two contexts must be able to share it."
        return _say(run, "wrong-limit", text, "exclusive")
    if facts["reserved"] < gib * GIB:
        text = (
            f"{what} reserved {facts['reserved'] / GIB:g} GiB, so that others can take the rest "
            "before it is used: memory_pool_size reserves, memory_limit does not."
        )
        return _say(run, "wrong-limit", text, "not-reserved")
    if facts["reserved"] > gib * GIB or facts["over"]:
        text = f"{what} lets the context have more than {gib} GiB."
        return _say(run, "wrong-limit", text, "takes-more")
    if facts["streams"] != streams:
        text = f"{what}: {facts['streams']} streams can be open at a time."
        return _say(run, "wrong-limit", text, "streams")
    if facts["timeout"] != timeout:
        text = f"{what}: its waits end after {facts['timeout']} s (timeout)."
        return _say(run, "wrong-limit", text, "timeout")
    return None


def _blocked(run: HostRun, step: Any, facts: Any) -> Wrong:
    """Look at somebody else, who must find room."""
    if "blocked" not in facts:
        return None
    text = f"Somebody else needs {step[2]} GiB of device {step[1]}, and gets {facts['blocked']}"
    return _say(run, "side-effect", text, "blocks-others")


def _fill(run: HostRun, step: Any, reply: Reply, facts: Any) -> Wrong:
    del reply
    if facts["error"] is None:
        return None
    text = (
        f"Context {step[1]} was promised {step[2]} GiB, and does not get them now that others are "
        f"on the device: {facts['error']}"
    )
    return _say(run, "wrong-limit", text, "not-reserved")


def _place(run: HostRun, step: Any, reply: Reply, facts: Any) -> Wrong:
    what = f"place(context {step[1]}, {step[2]} MiB)"
    if reply.error == "AccessRefused":
        text = f"{what} raised AccessRefused: {reply.text}.\nAsk device.capabilities before."
        return _say(run, "wrong-kind", text, "not-supported", reply.line)
    if reply.error is not None:
        return _crash(run, what, reply)
    if not facts["pair"]:
        text = f"{what} returned {facts['returned']}: return two buffers, the host's first."
        return _say(run, "wrong-value", text, "no-pair")
    if facts["closed"] or not facts["mine"]:
        text = f"{what}: both buffers must be open, and of the context that was given."
        return _say(run, "wrong-value", text, "whose")
    if facts["sizes"] != [step[2] * MIB] * 2:
        text = f"{what} returned {facts['sizes'][0]:,} and {facts['sizes'][1]:,} bytes."
        return _say(run, "wrong-value", text, "wrong-size")
    return _kinds(run, what, facts)


def _kinds(run: HostRun, what: str, facts: Any) -> Wrong:
    """Hold the kinds of memory against what the device can do."""
    host, kernels = facts["kinds"]
    said = f"{what} returned {host} memory for the host and {kernels} memory for kernels"
    moving = {"unified", "managed"}
    if not facts["unified"] and {host, kernels} & moving:
        text = f"{said}, but the device has no unified memory: ask its capabilities."
        return _say(run, "wrong-kind", text, "not-supported")
    if host == "device":
        text = f"{said}: the host cannot reach device memory."
        return _say(run, "wrong-kind", text, "host-cannot")
    if kernels in {"host", "pinned"}:
        text = f"{said}: kernels cannot reach it."
        return _say(run, "wrong-kind", text, "kernels-cannot")
    if facts["unified"] and not (facts["same"] and host in moving):
        text = f"{said}, but the device has unified memory: one buffer that both reach will do."
        return _say(run, "wrong-kind", text, "unified-unused")
    if host == "host":
        text = f"{said}: copies from plain host memory make the host wait; pinned memory does not."
        return _say(run, "wrong-kind", text, "pageable")
    return None


def _name(seen: Any, number: int) -> str:
    return str(seen[number]["name"])


def _did(reply: Reply, facts: Any) -> str:
    return f"raised {reply.error}" if reply.error else f"returned {facts['returned']}"


def _say(run: HostRun, kind: str, text: str, cause: str, line: int | None = None) -> Diagnosis:
    return Diagnosis(kind, f"Script: {run.case.name}.\n{text}", line, cause)


def _crash(run: HostRun, what: str, reply: Reply, more: str = "") -> Diagnosis:
    line = "" if reply.line is None else f" on line {reply.line}"
    text = f"{what} raised {reply.error}: {reply.text}{line}.{more}"
    return _say(run, "crash", text, "crash", reply.line)
