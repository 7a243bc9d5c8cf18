"""The hardware back end's own reckoning, over a driver that is played: no GPU is needed.

What is freed and when, what several threads may do at once, and what errors of three libraries
become. Real devices are asked the same in `test_hal_hardware.py`.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import textwrap
from collections import deque
from enum import IntEnum
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import wia_lab.hal as wia
from wia_lab import cuda, errors
from wia_lab.hal.backends import hardware_driver, hardware_launch, hardware_memory
from wia_lab.hal.backends.base import Argument, KernelLaunch
from wia_lab.hal.backends.hardware_driver import Driver
from wia_lab.hal.backends.hardware_refusal import refusal
from wia_lab.hal.backends.hardware_streams import HardwareStream
from wia_lab.hal.backends.hardware_waiting import Waiter
from wia_lab.hal.kinds import MemoryKind
from wia_lab.hal.tensor_layout import Layout

pytestmark = pytest.mark.virtual("the driver is played here")


class CUresult(IntEnum):
    """Of the driver's statuses, those that are played."""

    CUDA_SUCCESS = 0
    CUDA_ERROR_OUT_OF_MEMORY = 2
    CUDA_ERROR_NOT_READY = 600
    CUDA_ERROR_ILLEGAL_ADDRESS = 700


class Api:
    """The functions of `cuda.bindings.driver` that are called, and what was done by them."""

    CUresult = CUresult

    def __init__(self) -> None:
        self.freed: list[object] = []
        self.lost: set[int] = set()  # devices that answer no more
        self.busy: set[object] = set()  # streams at work
        self.free_bytes = 1000
        self.current = 0
        self._pushed: list[int] = []

    def cuGetErrorString(self, result: CUresult) -> tuple[int, bytes]:  # noqa: N802
        return 0, result.name.lower().encode()

    def cuCtxGetCurrent(self) -> tuple[int, int]:  # noqa: N802
        return 0, self.current

    def cuCtxPushCurrent(self, context: int) -> tuple[int]:  # noqa: N802
        self._pushed.append(self.current)
        self.current = context
        return (0,)

    def cuCtxPopCurrent(self) -> tuple[int]:  # noqa: N802
        self.current = self._pushed.pop()
        return (0,)

    def cuMemGetInfo(self) -> tuple[int, int, int]:  # noqa: N802
        return 0, self.free_bytes, 2000

    def cuMemAllocManaged(self, nbytes: int, flags: int) -> tuple[int, int]:  # noqa: N802
        return 0, 4096

    def cuMemAllocAsync(self, nbytes: int, stream: object) -> tuple[int, int]:  # noqa: N802
        return CUresult.CUDA_ERROR_OUT_OF_MEMORY, 0

    def cuMemFree(self, handle: object) -> tuple[int]:  # noqa: N802
        if self.current in self.lost:
            return (CUresult.CUDA_ERROR_ILLEGAL_ADDRESS,)
        self.freed.append(handle)
        return (0,)

    def cuStreamQuery(self, stream: object) -> tuple[int]:  # noqa: N802
        return (CUresult.CUDA_ERROR_NOT_READY if stream in self.busy else 0,)

    cuStreamSynchronize = cuStreamDestroy = cuStreamQuery  # noqa: N815


@pytest.fixture
def driver() -> Driver:
    """Of two devices, whose contexts are 100 and 101."""
    made = Driver.__new__(Driver)
    made.api, made.device_count, made.process = Api(), 2, os.getpid()
    made.retired, made.managed = deque(), {}
    made._contexts = {0: 100, 1: 101}
    return made


def stream(pointer: object = "s") -> HardwareStream:
    """On device 0."""
    return HardwareStream("stream 1", 0, pointer, None)


class TestFreeing:
    """Handles go back where the driver may be called, whatever became of their device."""

    def test_when_the_holder_goes(self, driver: Driver) -> None:
        held = driver.held(driver.api.cuMemFree, "event", 1)
        driver.reap()
        assert driver.api.freed == []
        del held
        gc.collect()
        driver.reap()
        assert driver.api.freed == ["event"]
        assert driver.api.current == 0

    def test_a_lost_device_keeps_no_other_from_its_memory(self, driver: Driver) -> None:
        driver.api.lost.add(100)
        for handle, device in (("gone", 0), ("there", 1)):
            driver.held(driver.api.cuMemFree, handle, device).let_go()
        driver.reap()
        assert driver.api.freed == ["there"]
        assert not driver.retired

    def test_managed_memory_counts_until_it_is_freed(self, driver: Driver) -> None:
        """Pages that nobody touched take no memory yet, and still may not be promised twice."""

        def allocate(nbytes: int) -> hardware_memory.Storage:
            return hardware_memory.allocate(driver, nbytes, MemoryKind.UNIFIED, 0, "pages", None)

        allocate(600)
        driver.managed[0] = 600
        with pytest.raises(errors.AllocatorError, match="401 bytes .* beside the 600 there are"):
            allocate(401)
        give_back = hardware_memory._managed(driver, 400, 0)
        assert driver.managed[0] == 1000
        give_back("pages")
        assert (driver.managed[0], driver.api.freed) == (600, ["pages"])


class TestWaiting:
    """What work needs is let go by a wait that began after it was given."""

    def test_what_was_kept_before(self, driver: Driver) -> None:
        waiter, given = Waiter(driver), stream()
        given.keep("staging")
        driver.api.busy.add("s")
        assert not waiter.query(given)
        assert given.last > 0
        driver.api.busy.clear()
        assert waiter.query(given)
        assert not given.kept

    def test_what_another_thread_gives_meanwhile(self, driver: Driver) -> None:
        """It is kept: the wait knows nothing of it."""
        waiter, given = Waiter(driver), stream()
        given.keep("before")

        def synchronize(pointer: object) -> tuple[int]:
            given.keep("meanwhile")
            return (0,)

        driver.api.cuStreamSynchronize = synchronize
        assert waiter.wait(given, None)
        assert [thing for _, thing in given.kept] == ["meanwhile"]

    def test_closed_while_at_work(self, driver: Driver) -> None:
        """The stream is destroyed by a later wait, when its work has ended."""
        waiter, closed, other = Waiter(driver), stream("closed"), stream("other")
        closed.keep("staging")
        driver.api.busy.add("closed")
        waiter.close(closed)
        assert closed.kept
        driver.api.busy.clear()
        assert waiter.wait(other, None)
        assert not closed.kept
        assert waiter._closing == []
        assert closed.is_drained

    def test_closed_and_destroyed(self, driver: Driver) -> None:
        """The driver is not asked for it any more; what failed in it is told all the same."""
        waiter, closed = Waiter(driver), stream("closed")
        closed.failures.append(LookupError("in a function"))
        waiter.close(closed)
        driver.api.busy.add("closed")  # as any answer to a handle that is not there
        assert not closed.is_drained
        with pytest.raises(LookupError, match="in a function"):
            waiter.wait(closed, None)
        assert waiter.query(closed)
        assert waiter.wait(closed, 0.0)
        assert closed.is_drained

    def test_a_failure_is_told_once(self, driver: Driver) -> None:
        waiter, given = Waiter(driver), stream()
        given.failures.append(LookupError("in a function"))
        with pytest.raises(LookupError, match="in a function"):
            waiter.wait(given, None)
        assert waiter.wait(given, 0.0)


class CudaAPIError(Exception):
    """As numba-cuda's."""

    code = 700


class CUDAError(Exception):
    """As cuda.core's, by which numba-cuda launches."""


@cuda.jit
def scaled(a, factor):
    a[0] *= factor


class TestRefusals:
    """One class of error and one sentence, whichever library it was that failed."""

    @pytest.mark.parametrize(
        "error", [CudaAPIError(), CUDAError("CUDA_ERROR_ILLEGAL_ADDRESS: an explanation")]
    )
    def test_lost(self, driver: Driver, error: Exception) -> None:
        told = refusal(driver, error, "spin", None)
        assert isinstance(told, wia.DeviceLost)
        assert "launch of spin: the driver says CUDA_ERROR_ILLEGAL_ADDRESS" in str(told)

    def test_types(self, driver: Driver) -> None:
        """As on a virtual machine, by the same front end."""
        from numba import TypingError

        layout = Layout.contiguous((8,), np.dtype(np.float32))
        given = [Argument(None, layout), Argument(2j, None)]
        launch = KernelLaunch(scaled, "scaled", (1, 1, 1), (1, 1, 1), 0, given)
        told = refusal(driver, TypingError("Failed in cuda mode"), "scaled", launch)
        assert isinstance(told, wia.KernelError)
        assert "complex128 cannot be stored at index 0" in str(told)
        with wia.Context(wia.open_machine("1xH100")[0]) as context:
            tensor = wia.zeros(context, 8)
            with pytest.raises(wia.KernelError) as virtual:
                wia.launch_kernel(wia.compile_kernel(scaled), wia.LaunchConfig(1, 1), tensor, 2j)
        assert str(virtual.value) == str(told)

    def test_text_of_numba(self, driver: Driver) -> None:
        from numba import TypingError

        text = "Failed in cuda mode pipeline (step: typing)\nNo implementation of f\n\nFile x.py"
        told = refusal(driver, TypingError(text), "f", None)
        sentence = "No implementation of f: give what its operations can take"
        assert str(told) == f"f with these arguments: {sentence}"

    def test_any_other(self, driver: Driver) -> None:
        assert refusal(driver, ZeroDivisionError("mine"), "spin", None) is None

    def test_room_between_kernels(self, driver: Driver) -> None:
        launcher = hardware_launch.Launcher(driver, lambda _: None)  # type: ignore[arg-type, return-value]
        with (
            pytest.raises(errors.OutOfMemoryError) as caught,
            hardware_launch._Room(launcher, stream(), 0) as room,
        ):
            room.scratch(1000, np.dtype(np.float64))
        assert caught.value.requested == 8000

    def test_room_of_the_vendor(self, driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
        """CuPy's and PyTorch's errors of that name are the HAL's; others stay theirs."""

        class OutOfMemoryError(Exception):
            """As CuPy's and PyTorch's."""

        def compute(*_: object) -> None:
            raise failure

        monkeypatch.setattr(hardware_launch.vendor, "compute", compute)
        launcher = hardware_launch.Launcher(driver, lambda _: None)  # type: ignore[arg-type, return-value]
        failure: Exception = OutOfMemoryError("CUDA out of memory.\nTried to allocate")
        with pytest.raises(errors.OutOfMemoryError, match=r"^CUDA out of memory\.$"):
            launcher._by_vendor(stream(), 0, None, [])  # type: ignore[arg-type]
        failure = LookupError("another")
        with pytest.raises(LookupError, match="another"):
            launcher._by_vendor(stream(), 0, None, [])  # type: ignore[arg-type]


class TestRemembered:
    """What is made once for each place or value does not grow without end."""

    def test_views(self, driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(hardware_launch, "_array", lambda start, layout: start)
        launcher = hardware_launch.Launcher(driver, lambda _: None)  # type: ignore[arg-type, return-value]
        storage = hardware_memory.Storage(0, 1 << 20, MemoryKind.DEVICE, 0, "rows")
        for row in range(3000):
            span: Any = SimpleNamespace(storage=storage, low=4 * row, high=4 * row + 4)
            layout = Layout((1,), np.dtype(np.float32), (4,), 4 * row)
            assert launcher.view(span, layout) == 4 * row
        assert len(storage.views) <= hardware_launch.MOST_VIEWS


def test_a_forked_process(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told so, rather than let fail somewhere in CUDA."""
    driver.process += 1
    monkeypatch.setattr(hardware_driver, "_driver", lambda: driver)
    with pytest.raises(wia.InvalidValue, match=r"forked from it, .*get_context\('spawn'\)"):
        hardware_driver.driver()


def test_functions_that_wait_as_the_interpreter_ends() -> None:
    """The streams that have still to call some are waited for, in a context of their device."""
    program = textwrap.dedent(
        """
        import os
        from types import SimpleNamespace
        from contextlib import nullcontext
        from wia_lab.hal.backends import hardware_streams as streams

        api = SimpleNamespace(cuStreamSynchronize=lambda pointer: print("waited for", pointer))
        for number, process in ((1, os.getpid()), (2, os.getppid())):
            on = lambda device: nullcontext()
            driver = SimpleNamespace(api=api, on=on, process=process)
            stream = streams.HardwareStream("s", 0, f"stream {number}", None)
            streams._jobs[number] = streams._Job(lambda: None, driver, stream)
        print("ending")
        """
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.splitlines() == ["ending", "waited for stream 1"]
