"""The worker's process: in bubblewrap where that works, else with resource limits alone.

Either way it sees a copy of the few parts of this package that interpret an answer (`staging`): no
puzzle's reference, hints or cases, no notebook, no solution, no test.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from wia_lab.errors import CannotRun
from wia_lab.grading.staging import PACKAGE, staged

HEADER = struct.Struct(">I")
SECONDS_TO_START = 120.0
GRACE = 5.0  # seconds that the worker has, after an answer's limit, to say so
STOP = {"stop": True}
"""What a worker is told once enough was heard of an answer."""

STRONG, WEAK = "bubblewrap", "resource limits"


class WorkerDied(Exception):
    """The worker ended, hung, or said something that is no reply."""


@cache
def mode(forced: str | None = None) -> str:
    """Return how workers are confined on this machine: `STRONG` or `WEAK`.

    Raises
    ------
    CannotRun
        This system has no way to start a worker at all, or not the one asked for.
    """
    if os.name != "posix":
        raise CannotRun("grading needs Linux or macOS: on Windows, run it inside WSL")
    if forced == WEAK:
        return WEAK
    if shutil.which("bwrap"):
        command = [*bubblewrap(Path(tempfile.gettempdir())), "/usr/bin/true"]
        try:
            done = subprocess.run(command, capture_output=True, timeout=20, check=False)
        except (OSError, subprocess.TimeoutExpired):
            done = None
        if done is not None and done.returncode == 0:
            return STRONG
    if forced == STRONG:
        raise CannotRun("bubblewrap does not work here: install it, or leave out --sandbox")
    return WEAK


def bubblewrap(stage: Path) -> list[str]:
    """Return the command line that opens a sandbox in which only what a worker needs exists."""
    command = ["bwrap", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"]
    command += ["--die-with-parent", "--new-session", "--clearenv", "--hostname", "worker"]
    if os.geteuid() == 0:
        for capability in ("CAP_SETUID", "CAP_SETGID", "CAP_KILL"):
            command += ["--cap-add", capability]
    else:
        command += ["--unshare-user"]
    made: set[Path] = set()
    for source, target in _binds(stage):
        for parent in reversed(target.parents):
            if parent != Path("/") and parent not in made:
                # bubblewrap 0.8 makes the folders above a bind readable by root alone
                command += ["--perms", "0755", "--dir", str(parent)]
                made.add(parent)
        command += ["--ro-bind", str(source), str(target)]
        made.add(target)
    for name in ("/bin", "/lib", "/lib64", "/sbin"):
        path = Path(name)
        if path.is_symlink():
            command += ["--symlink", str(path.readlink()), name]
        elif path.is_dir():
            command += ["--ro-bind", name, name]
    for name in ("null", "zero", "urandom"):
        command += ["--dev-bind", f"/dev/{name}", f"/dev/{name}"]
    if PACKAGE.is_relative_to(Path(sys.prefix)):
        command += ["--tmpfs", str(PACKAGE)]  # the installed package, with references and notebooks
    command += ["--remount-ro", "/", "--chdir", "/"]
    for name, value in environment(Path("/stage")).items():
        command += ["--setenv", name, value]
    return command


def _binds(stage: Path) -> list[tuple[Path, Path]]:
    """Return what is bound where; a folder inside one that is bound already is left out."""
    from wia_lab.simt import compiled  # noqa: PLC0415 - brings Numba

    wanted = [Path("/usr"), Path(sys.base_prefix), Path(sys.prefix)]
    wanted.append(Path(sys.executable).resolve().parent.parent)
    if compiled.cache_folder().is_dir():
        wanted.append(compiled.cache_folder())
    kept: list[Path] = []
    for path in wanted:
        if not any(path.is_relative_to(other) for other in kept):
            kept.append(path)
    return [*((path, path) for path in kept), (stage, Path("/stage"))]


def environment(stage: Path) -> dict[str, str]:
    """Return all that a worker finds in its environment."""
    from wia_lab.simt import compiled  # noqa: PLC0415 - brings Numba

    found = {
        "PATH": "/usr/bin:/bin",
        "PYTHONPATH": str(stage),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "PYTHONNOUSERSITE": "1",
        "PYTHONUTF8": "1",
        "LANG": "C.UTF-8",
        "WIA_LAB_BACKEND": "simulator",
        # One thread each: many would need address space and processes beyond the limits
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "NUMBA_NUM_THREADS": "1",
    }
    if not compiled.cache_folder().is_relative_to(sys.prefix):
        found["XDG_CACHE_HOME"] = str(compiled.cache_folder().parent.parent)
    return found


class Worker:
    """One worker process; restarted by the next request after it has died."""

    def __init__(self, confinement: str) -> None:
        self.confinement = confinement
        self.process: subprocess.Popen[bytes] | None = None
        self.scratch: str | None = None
        self.starts = 0
        self.as_root = False  # known once it has started

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _at: TracebackType | None,
    ) -> None:
        self.close()

    def command(self) -> tuple[list[str], dict[str, str], str]:
        """Return the command line, its environment and its folder."""
        # Users of their own, so that the system counts each worker's processes apart
        user = str(20_000 + os.getpid() % 40_000)
        stage = staged()
        isolated = self.confinement == STRONG
        tail = ["-P", "-m", "wia_lab.grading.worker", user, "isolated" if isolated else "open"]
        if isolated:
            return [*bubblewrap(stage), sys.executable, *tail], {"PATH": os.environ["PATH"]}, "/"
        self.scratch = tempfile.mkdtemp(prefix="wia-lab-scratch-")
        return [sys.executable, *tail], environment(stage), self.scratch

    def start(self) -> None:
        """Start the process and wait until it is ready.

        Raises
        ------
        CannotRun
            It does not start at all: a fault of this machine, and no student's.
        """
        command, variables, folder = self.command()
        self.starts += 1
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=variables,
            cwd=folder,
            start_new_session=True,
        )
        try:
            said = self._receive(time.monotonic() + SECONDS_TO_START, 1 << 16)
        except WorkerDied as error:
            self.close()
            raise CannotRun(f"no worker can be started in {self.confinement}: {error}") from error
        self.as_root = said.get("as_root") is True

    def ask(
        self,
        request: dict[str, Any],
        seconds: float,
        most: int,
        hear: Callable[[str], bool] | None = None,
    ) -> dict[str, Any]:
        """Send one request and return the reply; `seconds` and `most` bytes are the answer's.

        Parameters
        ----------
        request, seconds, most
            What is asked, and the limits of what the answer may take.
        hear
            Is given each part of the reply as it comes; once it says true, the answer is stopped.

        Raises
        ------
        WorkerDied
            There was no reply in that time, or not a whole one. The next request starts anew.
        """
        if self.process is None:
            self.start()
        until = time.monotonic() + seconds + GRACE
        try:
            self._send(json.dumps(request).encode(), until)
            while "part" in (reply := self._receive(until, 2 * most + (1 << 16))):
                if hear is not None and hear(str(reply["part"])):
                    hear = None
                    self._send(json.dumps(STOP).encode(), until)
        except BaseException:
            self.close()
            raise
        return reply

    def _send(self, frame: bytes, until: float) -> None:
        assert self.process is not None
        assert self.process.stdin is not None
        sink = self.process.stdin.fileno()
        os.set_blocking(sink, False)
        rest = memoryview(HEADER.pack(len(frame)) + frame)
        while rest:
            _, ready, _ = select.select([], [sink], [], max(until - time.monotonic(), 0))
            if not ready:
                raise WorkerDied("the worker does not listen")
            try:
                rest = rest[os.write(sink, rest) :]
            except (BrokenPipeError, BlockingIOError) as error:
                raise WorkerDied("the worker is gone") from error

    def _receive(self, until: float, most: int) -> dict[str, Any]:
        (length,) = HEADER.unpack(self._read(HEADER.size, until))
        if length > most:
            raise WorkerDied(f"the worker announced {length:,} bytes")
        try:
            reply = json.loads(self._read(length, until))
        except (ValueError, RecursionError) as error:
            raise WorkerDied("the worker's reply cannot be read") from error
        if not isinstance(reply, dict):
            raise WorkerDied("the worker's reply is no record")
        return reply

    def _read(self, count: int, until: float) -> bytes:
        assert self.process is not None
        assert self.process.stdout is not None
        source = self.process.stdout.fileno()
        parts = bytearray()
        while len(parts) < count:
            ready, _, _ = select.select([source], [], [], max(until - time.monotonic(), 0))
            if not ready:
                raise WorkerDied("the worker does not answer")
            part = os.read(source, min(count - len(parts), 1 << 20))
            if not part:
                raise WorkerDied("the worker has ended")
            parts += part
        return bytes(parts)

    def close(self) -> None:
        """End the process and all that it started."""
        if self.process is not None:
            for pipe in (self.process.stdin, self.process.stdout):
                assert pipe is not None
                with contextlib.suppress(OSError):
                    pipe.close()
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, 9)
            self.process.wait()
            self.process = None
        if self.scratch is not None:
            shutil.rmtree(self.scratch, ignore_errors=True)
            self.scratch = None
