"""Lifetimes on real devices: threads, forks, the interpreter's end, and what must not pile up."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator

import numpy as np
import pytest

import wia_lab.hal as wia
from wia_lab import cuda
from wia_lab.cuda.choice import describe_backend
from wia_lab.hal import LaunchConfig, MemoryKind, compile_kernel, launch_kernel

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(describe_backend().backend != "hardware", reason="needs an NVIDIA GPU"),
    pytest.mark.filterwarnings("ignore:.*Grid size"),
]


@cuda.jit
def scaled(a, factor):
    i = cuda.grid(1)
    if i < a.size:
        a[i] *= factor


@pytest.fixture
def context() -> Iterator[wia.Context]:
    """On device 0."""
    with wia.Context(wia.open_machine("hardware")[0]) as made:
        yield made


def ran(program: str, *, ends_well: bool = True) -> list[str]:
    """What a program prints, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert not ends_well or done.returncode == 0, done.stderr
    return done.stdout.splitlines()


class TestThreads:
    """A thread's current context is its own, and a stream may be used by two."""

    def test_a_thread_without_a_context(self, context: wia.Context) -> None:
        """Launches, operations and copies leave it without one."""
        api, found = context.backend.driver.api, []

        def work() -> None:
            tensor = wia.from_numpy(context, np.ones(8, np.float32))
            launch_kernel(compile_kernel(scaled), LaunchConfig(1, 8), tensor, 3.0)
            found.append(wia.sum(wia.mul(tensor, 2.0)).numpy().item())
            found.append(int(api.cuCtxGetCurrent()[1]))

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert found == [48.0, 0]

    def test_two_threads_and_one_stream(self, context: wia.Context) -> None:
        """One gives it functions while the other waits: every function sees its own bytes."""
        stream, seen, failures = context.create_stream(), [], []
        buffers = [context.allocate(1 << 16) for _ in range(4)]

        def give() -> None:
            for number in range(100):
                stream.submit(lambda a, n=number: a.fill(n), buffers[number % 4], seconds=0.0)
                stream.submit(
                    lambda a: seen.append(set(a.tolist())),
                    buffers[number % 4],
                    seconds=0.0,
                    writes=[],
                )

        def wait() -> None:
            try:
                while giver.is_alive():
                    stream.synchronize()
            except BaseException as error:
                failures.append(error)

        giver, waiter = threading.Thread(target=give), threading.Thread(target=wait)
        giver.start()
        waiter.start()
        giver.join()
        waiter.join()
        stream.synchronize()
        assert not failures
        assert seen == [{number} for number in range(100)]


class TestFunctions:
    """Python functions on a stream's turn, and what they may do."""

    def test_bytes_that_are_only_read(self, context: wia.Context) -> None:
        stream = context.create_stream()
        tensor = wia.from_numpy(context, np.full(8, 7, np.uint8), stream=stream)
        stream.submit(lambda a: a.fill(1), tensor.part, seconds=0.0, writes=[])
        with pytest.raises(ValueError, match="read-only"):
            stream.synchronize()
        assert tensor.numpy(stream=stream).tolist() == [7] * 8

    def test_the_hal_in_a_function(self, context: wia.Context) -> None:
        """It is refused, rather than let wait for ever."""
        stream = context.create_stream()
        stream.submit(stream.synchronize, seconds=0.0)
        with pytest.raises(wia.InvalidValue, match="was used in a function that runs on the turn"):
            stream.synchronize()

    def test_the_interpreter_ends_before_the_stream(self) -> None:
        """What was submitted is still called."""
        printed = ran(
            """
            import time
            import wia_lab.hal as wia

            context = wia.Context(wia.open_machine("hardware")[0])
            stream, buffer = context.create_stream(), context.allocate(64)
            stream.submit(lambda a: time.sleep(0.5), buffer, seconds=0.0)
            stream.submit(lambda a: print("called", a.size), buffer, seconds=0.0)
            print("ending")
            """
        )
        assert printed == ["ending", "called 64"]


class TestProcesses:
    """A fork is told that it is one; a process whose device was lost still closes what it has."""

    def test_fork(self) -> None:
        printed = ran(
            """
            import os, sys
            import numpy as np
            import wia_lab.hal as wia

            context = wia.Context(wia.open_machine("hardware")[0])
            tensor = wia.from_numpy(context, np.arange(3))
            child = os.fork()
            if not child:
                for attempt in (lambda: wia.open_machine("hardware"), tensor.numpy):
                    try:
                        attempt()
                    except wia.HalError as error:
                        print(type(error).__name__, error.code.name)
                sys.stdout.flush()
                os._exit(0)
            os.waitpid(child, 0)
            print(tensor.numpy().tolist())
            context.close()
            """
        )
        assert printed == ["InvalidValue INVALID_VALUE", "Closed CLOSED", "[0, 1, 2]"]

    def test_after_an_illegal_address(self) -> None:
        """A launch, a copy and the end of the `with` all say that the device is lost."""
        printed = ran(
            """
            import wia_lab.hal as wia
            from wia_lab import cuda

            @cuda.jit
            def wild(out):
                out[1 << 45] = 1.0

            machine = wia.open_machine("hardware")
            kernel, config = wia.compile_kernel(wild), wia.LaunchConfig(1, 1)
            try:
                with wia.Context(machine[0]) as context:
                    stream, out = context.create_stream(), wia.zeros(context, 8)
                    context.synchronize()
                    wia.launch_kernel_async(kernel, config, out, stream=stream)
                    for attempt in range(100_000):
                        wia.launch_kernel_async(kernel, config, out, stream=stream)
            except wia.DeviceLost as error:
                print(type(error).__name__, "ILLEGAL_ADDRESS" in str(error))
            print(context.is_closed, machine[0].contexts)
            """,
            ends_well=False,  # how a process ends whose context is lost is CUDA's affair
        )
        assert printed == ["DeviceLost True", "True []"]


class TestPiles:
    """What is made anew for each call goes again."""

    def test_events(self, context: wia.Context) -> None:
        first, second = context.create_stream(), context.create_stream()
        barrier = wia.PeerBarrier([first, second])
        for _ in range(500):
            barrier.wait()
        context.synchronize()
        context.synchronize()
        assert not context.backend.driver.retired
        early = first.record()
        late = first.record()
        late.synchronize()
        assert late.seconds_since(early) >= 0

    def test_numbers(self, context: wia.Context) -> None:
        """More different numbers than are remembered, each used at once in another stream."""
        streams = [context.create_stream() for _ in range(2)]
        ones = wia.from_numpy(context, np.ones(4, np.float32))
        context.synchronize()
        for number in range(1500):
            got = wia.mul(ones, float(number), stream=streams[number % 2])
            if number % 100 == 0:
                assert got.numpy(stream=streams[number % 2]).tolist() == [number] * 4
            got.close()

    def test_rows(self, context: wia.Context) -> None:
        table = wia.from_numpy(context, np.arange(3000, dtype=np.float32).reshape(1500, 2))
        kernel, config = compile_kernel(scaled), LaunchConfig(1, 2)
        for row in range(1500):
            launch_kernel(kernel, config, table[row], 2.0)
        assert np.array_equal(table.numpy().reshape(-1), 2 * np.arange(3000))
        assert len(table.buffer.storage.views) <= 1024

    def test_unified_memory_that_nobody_touched(self, context: wia.Context) -> None:
        """It counts: two parts that fit alone, and not together, are not both given."""
        free, _ = _free(context)
        part = int(0.6 * free)
        with context.allocate(part, MemoryKind.UNIFIED):
            with pytest.raises(wia.OutOfMemory, match="beside the .* there are"):
                context.allocate(part, MemoryKind.UNIFIED)
        with context.allocate(part, MemoryKind.MANAGED):
            pass


def _free(context: wia.Context) -> tuple[int, int]:
    driver = context.backend.driver
    with driver.on(0):
        found: tuple[int, int] = driver.call(driver.api.cuMemGetInfo)
    return found


@cuda.jit
def stored(out, value):
    out[0] = value


def test_types_that_do_not_go_together(context: wia.Context) -> None:
    """One sentence, as on a virtual machine, and a context as before."""
    out = wia.zeros(context, 1)
    with pytest.raises(wia.KernelError, match=r"^stored with these arguments: .*complex128"):
        launch_kernel(compile_kernel(stored), LaunchConfig(1, 1), out, 2j)
    launch_kernel(compile_kernel(stored), LaunchConfig(1, 1), out, 3.0)
    assert out.numpy().tolist() == [3.0]
