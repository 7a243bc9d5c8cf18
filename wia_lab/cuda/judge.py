"""The hardware judge: a kernel run on the GPU in a process of its own, which can be killed.

A wrong kernel can hang a GPU, and a stray access loses the context of the process that made it. So
the learner's process never launches an answer itself: it sends the kernel and its arguments to a
child, waits for a limited time, and gets back the arrays as the kernel left them, or one sentence
on what happened. Use it only after the simulator found no error.

The kernel travels by value, with the functions and constants it refers to (Numba's cloudpickle);
arrays come back as plain NumPy files, which can hold no code.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numba import cloudpickle

from wia_lab.cuda import choice
from wia_lab.cuda.errors import BackendError, JudgeError
from wia_lab.settings import BACKEND

TIMEOUT = 30.0  # seconds, the start of Python and the compilation included
GRACE = 5.0  # seconds that a killed process gets to end
_TASK, _ARRAYS, _ANSWER = "task.pkl", "arrays.npz", "answer.json"
_MEANINGS = {
    "ILLEGAL_ADDRESS": "it read or wrote outside its arrays",
    "MISALIGNED_ADDRESS": "it accessed an address that is no multiple of the access's size",
    "LAUNCH_TIMEOUT": "it ran for longer than the display's watchdog allows",
    "LAUNCH_OUT_OF_RESOURCES": "a block needs more registers or shared memory than there are",
    "OUT_OF_MEMORY": "the device has too little free memory for the arguments",
}


@dataclass(frozen=True, slots=True)
class HardwareRun:
    """What a kernel did on the GPU.

    Attributes
    ----------
    arguments
        The arguments after the launch, arrays as the kernel left them; None when it failed.
    seconds
        Wall-clock time of the launch, compilation excluded; None when it failed.
    problem
        One sentence on what went wrong; None when nothing did.
    """

    arguments: tuple[Any, ...] | None
    seconds: float | None
    problem: str | None


def run_on_hardware(
    kernel: Any,
    grid: Any,
    block: Any,
    args: Sequence[Any],
    *,
    shared_bytes: int = 0,
    timeout: float = TIMEOUT,
) -> HardwareRun:
    """Launch `kernel` once on the GPU, in a child process; `args` are left as they are.

    Parameters
    ----------
    kernel
        A kernel of `cuda.jit`, or a plain Python function to be one.
    grid, block, shared_bytes
        The launch configuration.
    args
        NumPy arrays, numbers and tuples of them.
    timeout
        Seconds after which the child is killed.

    Raises
    ------
    BackendError
        When this machine has no GPU that can be used.
    JudgeError
        When the kernel cannot be sent, or the child gave no readable answer.
    """
    _require_hardware()
    with tempfile.TemporaryDirectory(prefix="wia-lab-judge-") as folder:
        task = (kernel, grid, block, tuple(args), shared_bytes)
        Path(folder, _TASK).write_bytes(_packed(task, kernel))
        ended = _ended([sys.executable, "-m", "wia_lab.cuda.judge", folder], timeout)
        if isinstance(ended, str):
            return HardwareRun(None, None, ended)
        return _answer(Path(folder), tuple(args), ended)


def _require_hardware() -> None:
    if choice.backend() != "hardware":
        found = choice.describe_backend()
        raise BackendError(f"no hardware judge here: {found.reason}: {found.advice}")


def _packed(task: tuple[Any, ...], kernel: Any) -> bytes:
    function = getattr(kernel, "py_func", kernel)
    try:
        with _by_value(sys.modules.get(function.__module__)):
            return bytes(cloudpickle.dumps(task))
    except Exception as error:
        raise JudgeError(
            f"{function.__name__} cannot be sent to the hardware judge ({error}): let it refer "
            "only to functions, numbers and arrays"
        ) from error


@contextlib.contextmanager
def _by_value(module: Any) -> Iterator[None]:
    """Send functions of `module` by value where the child could not import it."""
    name = getattr(module, "__name__", "__main__")
    if name == "__main__" or _importable(name):
        yield
        return
    cloudpickle.register_pickle_by_value(module)
    try:
        yield
    finally:
        cloudpickle.unregister_pickle_by_value(module)


def _importable(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def _ended(command: list[str], timeout: float) -> subprocess.CompletedProcess[str] | str:
    """The child once it has ended, or a sentence if it had to be killed."""
    environment = {
        **os.environ,
        BACKEND: "hardware",
        "PYTHONPATH": os.pathsep.join(each or str(Path.cwd()) for each in sys.path),
    }
    child = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
    )
    try:
        out, err = child.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        return _killed(child, timeout)
    except BaseException:
        _killed(child, timeout)
        raise
    return subprocess.CompletedProcess(command, child.returncode, out, err)


def _killed(child: subprocess.Popen[str], timeout: float) -> str:
    sentence = (
        f"on the GPU the kernel had not ended after {timeout:g} s and was stopped: look for a loop "
        "or a barrier that some thread never leaves"
    )
    if sys.platform == "win32":
        child.kill()
    else:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
    try:
        child.communicate(timeout=GRACE)
    except subprocess.TimeoutExpired:
        return f"{sentence}; its process {child.pid} has not ended yet"
    return sentence


def _answer(
    folder: Path, args: tuple[Any, ...], ended: subprocess.CompletedProcess[str]
) -> HardwareRun:
    try:
        answer = json.loads((folder / _ANSWER).read_text())
    except (OSError, ValueError):
        last = (ended.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise JudgeError(
            f"the hardware judge ended with status {ended.returncode} and no answer ({last}): run "
            "wia-lab doctor"
        ) from None
    if answer["problem"]:
        return HardwareRun(None, None, answer["problem"])
    with np.load(folder / _ARRAYS, allow_pickle=False) as arrays:
        filled = _with_arrays(args, (arrays[f"a{i}"] for i in range(len(arrays.files))))
    return HardwareRun(filled, answer["seconds"], None)


def _arrays(value: Any) -> list[np.ndarray]:
    """The arrays among arguments, in order, those inside tuples included."""
    if isinstance(value, np.ndarray):
        return [value]
    return [each for item in value for each in _arrays(item)] if isinstance(value, tuple) else []


def _with_arrays(value: Any, arrays: Iterator[np.ndarray]) -> Any:
    """`value` with its arrays replaced by the next of `arrays`."""
    if isinstance(value, np.ndarray):
        return next(arrays)
    if isinstance(value, tuple):
        items = [_with_arrays(each, arrays) for each in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    return value


def explain(error: BaseException) -> str:
    """One sentence for what the driver, or the compiler, raised."""
    text = " ".join(str(error).split())
    for code, meaning in _MEANINGS.items():
        if code in text:
            return f"on the GPU the kernel failed: {meaning} (CUDA_ERROR_{code})"
    return f"on the GPU the kernel failed with {type(error).__name__}: {text}"


def _child(folder: Path) -> None:
    """Run the task in `folder` and write the answer there."""
    answer: dict[str, Any] = {"problem": None, "seconds": None}
    try:
        kernel, grid, block, args, shared_bytes = cloudpickle.loads((folder / _TASK).read_bytes())
        answer["seconds"] = _launch(kernel, grid, block, args, shared_bytes)
        named: dict[str, Any] = {f"a{i}": each for i, each in enumerate(_arrays(args))}
        np.savez(folder / _ARRAYS, **named)
    except Exception as error:
        answer["problem"] = explain(error)
    (folder / _ANSWER).write_text(json.dumps(answer))


def _launch(kernel: Any, grid: Any, block: Any, args: tuple[Any, ...], shared_bytes: int) -> float:
    from wia_lab import cuda

    if not isinstance(kernel, cuda.Kernel):
        kernel = cuda.jit(kernel)
    if not kernel.signatures:
        compiled = kernel.hardware
        compiled.compile(
            tuple(compiled.typeof_pyval(each) for each in args)
        )  # before the clock runs
    configured: Callable[..., None] = kernel[grid, block, 0, shared_bytes]
    begin = time.perf_counter()
    configured(*args)
    cuda.synchronize()
    return time.perf_counter() - begin


if __name__ == "__main__":
    _child(Path(sys.argv[1]))
