"""What runs inside the sandbox: `python -m wia_lab.grading.worker ID ISOLATED`.

It imports the simulator once, then answers requests on its standard input, a frame each: four
bytes of length, then plain data. Each answer runs in a fork of its own, under limits, as another
user where the system allows it; a fork that dies, hangs or says too much costs its own answer only.
No reference, no expected value, no hint and no notebook is in reach: their files are not there.
"""

from __future__ import annotations

import ast
import importlib
import json
import linecache
import os
import select
import signal
import struct
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import FrameType, ModuleType, SimpleNamespace
from typing import Any

from wia_lab.grading import allowed, plain
from wia_lab.grading.limits import MIB, Limits, confine
from wia_lab.grading.slices import needed
from wia_lab.grading.untouched import Untouched

HEADER = struct.Struct(">I")
STOP = {"stop": True}
"""What the grader says once it has heard enough of an answer."""

MOST_PARTS = 1000  # of a reply: a script each
FILE = "<answer>"  # as in guards, which brings the simulator
OURS = f"{os.sep}wia_lab{os.sep}"
CALLS_BACK = f"{OURS}hal{os.sep}"
"""What calls whatever it is handed, as `hal.run_safely` does."""

TEXTS = f"{CALLS_BACK}clike{os.sep}"
"""What makes functions of kernels in C."""

EVALUATES = f"{OURS}cuda{os.sep}"
"""What reads the signatures of kernels, which are texts; a decorator's were read before."""

BUILDS = ("compile", "exec")
"""How `dataclass` and `NamedTuple` make the methods of a class, and `TEXTS` its functions."""

SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER


def main() -> None:
    """Serve requests until the other side closes the pipe."""
    user, isolated = int(sys.argv[1]), sys.argv[2] == "isolated"
    source, sink = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    prepare()
    write_frame(sink, json.dumps({"ready": True, "as_root": stays_root()}).encode())
    while (frame := read_frame(source)) is not None:
        request = json.loads(frame)
        if request == STOP:  # it came when the answer had ended
            continue
        reply = supervise(request, (source, sink), user, isolated=isolated)
        write_frame(sink, json.dumps(reply).encode())


def prepare() -> None:
    """Import, and run once, what every answer needs, so that forks find it done."""
    import numpy as np  # noqa: PLC0415 - the pipe is set up first

    for name in allowed.HOST_IMPORTS:
        importlib.import_module(name)
    from wia_lab import cuda  # noqa: PLC0415
    from wia_lab.grading import guards, playing  # noqa: F401, PLC0415
    from wia_lab.puzzles import execute, host_judge, judging  # noqa: F401, PLC0415
    from wia_lab.simt import launch  # noqa: PLC0415

    source = (
        "def warm(a, b):\n    s = cuda.shared.array(32, float32)\n    i = cuda.grid(1)\n"
        "    s[cuda.threadIdx.x] = b[i]\n    cuda.syncthreads()\n    if i < a.size:\n"
        "        a[i] = s[cuda.threadIdx.x] + float32(1)\n"
    )
    namespace: dict[str, Any] = {"cuda": cuda, "float32": importlib.import_module("numba").float32}
    exec(compile(source, "<warm>", "exec"), namespace)  # noqa: S102 - our own text
    arrays = np.zeros(40, np.float32), np.zeros(64, np.float32)
    launch.run(namespace["warm"], (2,), (32,), arrays, shared_bytes=0, device=execute.DEVICE)


def read_frame(source: int) -> bytes | None:
    """Return the next frame; None when the other side has closed."""
    head = read_exactly(source, HEADER.size)
    return None if head is None else read_exactly(source, HEADER.unpack(head)[0])


def read_exactly(source: int, count: int) -> bytes | None:
    """Return `count` bytes; None when there are no more."""
    parts = bytearray()
    while len(parts) < count:
        part = os.read(source, min(count - len(parts), MIB))
        if not part:
            return None
        parts += part
    return bytes(parts)


def write_frame(sink: int, frame: bytes) -> None:
    """Write a frame whole."""
    rest = memoryview(HEADER.pack(len(frame)) + frame)
    while rest:
        rest = rest[os.write(sink, rest) :]


def supervise(
    request: dict[str, Any], channels: Sequence[int], user: int, *, isolated: bool
) -> dict[str, Any]:
    """Run one answer in a fork and return its reply, or what became of it."""
    limits = Limits(**request["limits"])
    receive, send = os.pipe()
    begun = time.monotonic()
    child = os.fork()
    if child == 0:
        try:
            for number in (receive, *channels):
                os.close(number)
            os.setsid()
            be_another(user)
            confine(limits, count_processes=os.getuid() != 0)
            _write_all(send, work(request, partial(_tell, send)).encode())
        except BaseException as error:
            _write_all(send, failure(error).encode())
        finally:
            os._exit(0)
    os.close(send)
    reply = listen(receive, child, channels, begun + limits.seconds, limits.output_mib * MIB)
    os.close(receive)
    sweep(child, isolated=isolated)
    _, status, usage = os.wait4(child, 0)
    return {
        **verdict_of(reply, status, limits),
        "seconds": round(time.monotonic() - begun, 3),
        "memory_mib": usage.ru_maxrss // 1024,
    }


def _write_all(sink: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(sink, rest) :]


def _tell(sink: int, part: Any) -> None:
    """Write a part of a reply: a line of plain data."""
    from wia_lab.grading import plain  # noqa: PLC0415 - brings the simulator, there already

    _write_all(sink, plain.dumps(part).encode() + b"\n")


def failure(error: BaseException) -> str:
    """Return the reply of an answer that ended in an exception where none may."""
    if isinstance(error, MemoryError):
        return json.dumps({"fate": "memory"})
    return json.dumps({"fate": "crashed", "why": f"it raised {type(error).__name__}"[:200]})


@dataclass
class Heard:
    """What a fork has said until it ended, hung, or said too much; and since its last line."""

    data: bytearray
    size: int = 0
    lines: int = 0
    fate: str | None = None

    def take(self, part: bytes) -> list[bytes]:
        """Take in what was read; return the lines that are whole now."""
        self.size += len(part)
        *lines, rest = part.split(b"\n")
        if lines:
            lines[0] = bytes(self.data) + lines[0]
            self.data = bytearray()
        self.data += rest
        self.lines += len(lines)
        return lines


def listen(receive: int, child: int, channels: Sequence[int], until: float, most: int) -> Heard:
    """Read what the child says until it closes its end or dies, its time is up, or it is much.

    Each whole line is handed on to the grader, who may say that it has heard enough.
    """
    source, sink = channels
    heard = Heard(bytearray())
    os.set_blocking(receive, False)
    while True:
        left = until - time.monotonic()
        if left <= 0:
            heard.fate = "timeout"
            return heard
        ready, _, _ = select.select([receive, source], [], [], min(left, 0.2))
        if source in ready:
            read_frame(source)  # that it has heard enough, or the end of the pipe
            heard.fate = "stopped"
            return heard
        if ready:
            part = os.read(receive, MIB)
            if not part:
                return heard
            lines = heard.take(part)
            if heard.size > most or heard.lines > MOST_PARTS:
                heard.fate = "output"
                return heard
            for line in lines:
                write_frame(sink, json.dumps({"part": line.decode("utf-8", "replace")}).encode())
        elif os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
            return heard  # dead, while something that it left behind keeps the pipe open


def sweep(child: int, *, isolated: bool) -> None:
    """Kill the child and what it left behind.

    In a process namespace of our own that is every process but this one; never elsewhere.
    """
    targets = [-1] if isolated and os.getppid() <= 1 else [-child, child]
    for target in targets:
        try:
            os.kill(target, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            continue


def verdict_of(heard: Heard, status: int, limits: Limits) -> dict[str, Any]:
    """Return the fate of a fork in plain words."""
    if heard.fate == "timeout" or (
        os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU
    ):
        return {"fate": "timeout", "why": f"it ran for more than {limits.seconds:g} s"}
    if heard.fate == "stopped":
        return {"fate": "stopped", "why": "enough was heard of it"}
    if heard.fate == "output":
        return {"fate": "output", "why": f"it handed back more than {limits.output_mib} MiB"}
    try:
        said = dict(json.loads(heard.data))
    except (ValueError, TypeError, RecursionError):
        how = f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else "no whole reply"
        return {"fate": "crashed", "why": f"its process ended with {how}"}
    if said.get("fate") == "memory":
        return {"fate": "memory", "why": f"it needed more than {limits.memory_mib} MiB"}
    return said


def be_another(user: int) -> None:
    """Become a user who owns nothing, where this one is root."""
    if os.getuid() == 0 and not stays_root():
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)


def stays_root() -> bool:
    """Whether answers run as root, since no other user could read Python."""
    return os.getuid() == 0 and not all_may_read(Path(os.__file__))


def all_may_read(path: Path) -> bool:
    """Whether any user may read a file of Python's own; one below /root is closed to others."""
    return all(folder.stat().st_mode & 0o001 for folder in path.parents)


def work(request: dict[str, Any], tell: Callable[[Any], None]) -> str:
    """Run one answer on all its inputs and return the reply's text; scripts are told of at once."""
    source, host = request["source"], request["kind"] == "host"
    from wia_lab.grading import guards, playing  # noqa: PLC0415 - bring the simulator, there already

    namespace = run_setup(request["setup"], guards.MODULE)
    lines = [f"{line}\n" for line in source.split("\n")]  # as Python counts: no other sign ends one
    linecache.cache[FILE] = (len(source), None, lines, FILE)
    tree = needed(ast.parse(source), [request["function"]])
    if host:
        tree = guards.Guarded().visit(tree)
    try:
        code = compile(tree, FILE, "exec", flags=annotations_flag(), dont_inherit=True)
    except SyntaxError as error:  # what the grammar allows and Python does not: `return` anywhere
        return json.dumps({"fate": "ran", "result": plain.encode(playing.no_python(error))})
    if host:
        play = run_setup(request["play"], "play")["play"]
        namespace["__builtins__"] = guards.builtins_of_an_answer()
        shared = Untouched()
        no_way_out()
    exec(code, namespace)  # noqa: S102 - only definitions and constants, in a sandbox
    answer = namespace.get(request["function"])
    facts = SimpleNamespace(**request["facts"])
    facts.signature = tuple(facts.signature)
    cases = plain.decode(request["cases"])
    result = (
        playing.host(facts, answer, play, cases, tell)
        if host
        else playing.kernel(facts, answer, cases)
    )
    if host and (name := shared.changed()) is not None:
        return json.dumps({"fate": "crashed", "why": f"it changed {name}, which is not its own"})
    return json.dumps({"fate": "ran", "result": plain.encode(result)})


def annotations_flag() -> int:
    """Return the compiler flag under which annotations are texts and are not evaluated."""
    import __future__  # noqa: PLC0415

    return int(__future__.annotations.compiler_flag)


def run_setup(source: str, name: str) -> dict[str, Any]:
    """Run definitions of the project's own and return their namespace."""
    module = ModuleType(name)
    sys.modules[name] = module  # dataclasses look their module up
    exec(compile(source, f"<{name}>", "exec"), vars(module))  # noqa: S102 - the project's own text
    return vars(module)


REFUSED_EVENTS = [
    "open",
    "os.",
    "socket.",
    "subprocess.",
    "shutil.",
    "ctypes.",
    "pty.",
    "signal.",
    "sys._getframe",
    "sys._current_frames",
    "sys.setprofile",
    "gc.",
    "code.__new__",
    "function.__new__",
    "compile",
    "exec",
    "marshal.",
    "pickle.",
    "mmap.",
    "fcntl.",
    "resource.",
    "tempfile.",
    "glob.",
    "sqlite3.",
    "urllib.",
    "http.",
    "ftplib.",
    "syslog.",
    "winreg.",
    "webbrowser.",
    "builtins.input",
]
"""What an answer on the host has no business with, by the names of Python's audit events."""

FOR_OTHERS = ("os.", "subprocess.", "socket.", "signal.", "gc.", *BUILDS)
"""Of these, what no part of `CALLS_BACK` does for itself."""


def no_way_out() -> None:
    """Refuse files, processes, frames and foreign code from here on, while an answer's code runs.

    Lazy imports of our own need files and compile: an event is refused only when a frame of the
    answer's called for it more directly than the import system did. While a class is defined, its
    decorator may build methods.
    """
    frame_of = sys._getframe  # noqa: SLF001 - which code called is what the hook asks
    state = {"busy": False}

    def hook(event: str, _args: Any) -> None:
        if state["busy"] or not event.startswith(tuple(REFUSED_EVENTS)):
            return
        state["busy"] = True
        try:
            frame: FrameType | None = frame_of(1)
            while frame is not None:
                name = frame.f_code.co_filename
                if name.startswith("<frozen importlib"):
                    return
                if TEXTS in name and event in BUILDS:
                    return
                is_for_it = (CALLS_BACK in name and event.startswith(FOR_OTHERS)) or (
                    EVALUATES in name and event in BUILDS
                )
                if OURS in name and not is_for_it:
                    return
                if name == FILE:
                    if event in BUILDS and frame.f_code.co_name == "<module>":
                        return
                    raise PermissionError(f"an answer may not use {event}")
                frame = frame.f_back
        finally:
            state["busy"] = False

    sys.addaudithook(hook)


if __name__ == "__main__":
    main()
