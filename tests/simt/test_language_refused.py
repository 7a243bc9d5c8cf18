"""What is not part of the language, launches that cannot be, limits, and Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numba
import numpy as np
import pytest

import wia_lab
from wia_lab import simulate
from wia_lab.errors import LaunchError, SimulationLimit
from wia_lab.simt import scheduler
from wia_lab.simt.events import Listener
from wia_lab.simt.launch import run

sys.path.insert(0, str(Path(__file__).parent))
from kernel_sources import kernel_from

CONSTRUCTS = {
    "list": ("x = [1, 2]\n    out[0] = x[0]", 3, "a list", "use a tuple"),
    "comprehension": ("out[0] = sum([k for k in range(3)])", 3, "a list", "use a tuple"),
    "dict": ("x = {}\n    x[1] = 2", 4, "a dict", "use an array"),
    "set": ("x = set()\n    out[0] = len(x)", 3, "set", "no meaning"),
    "f-string": ("print(f'{i}')", 3, "f-string", "print takes several values"),
    "try": (
        "try:\n        out[0] = 1\n    except Exception:\n        pass",
        4,
        "try",
        "test before",
    ),
    "generator": ("yield 1", 3, "yield", "write a loop"),
    "with": ("with out:\n        pass", 1, "with", "leave it out"),
    "import": ("import math\n    out[0] = math.pi", 3, "import", "top of the file"),
    "class": ("class A:\n        pass", 3, "a class", "named tuple"),
    "global": ("global G\n    G = 1", 4, "a global", "array argument"),
    "starred": ("a, *b = (1, 2, 3)\n    out[0] = a", 3, "a starred name", "each part"),
    "walrus": ("if (n := i // 2) > 1:\n        out[0] = n", 3, "a value", "without :="),
    "new array": ("out[0] = np.zeros(3)[0]", 3, "np.zeros", "cuda.local.array for what a thread"),
    "slice in place": ("out[:] += 1", 3, "a slice", "write a loop"),
    "returned value": ("return 1", 3, "return", "write it to an array argument"),
    "shape of a variable": (
        "x = cuda.shared.array(cuda.blockDim.x, np.float32)\n    out[0] = x[0]",
        3,
        "shape of cuda.shared.array",
        "global constant",
    ),
    "two types": ("x = 1 if i else (1, 2)\n    out[0] = x", 3, "one value", "convert"),
    "unknown name": ("out[0] = nothing", 3, "nothing", "not defined"),
    "host function": ("out[0] = open('x')", 3, "open", "no meaning"),
}


class TestConstructs:
    """The line, the construct, what to write instead."""

    @pytest.mark.parametrize("name", CONSTRUCTS)
    def test_sentence(self, name: str) -> None:
        body, line, construct, instead = CONSTRUCTS[name]
        kernel = kernel_from(f"def kernel(out):\n    i = cuda.grid(1)\n    {body}\n")
        with pytest.raises(Exception) as caught:  # noqa: PT011 (the class is Numba's, see typing)
            simulate(kernel, 1, 4, np.zeros(4))
        sentence = str(caught.value).splitlines()[0]
        assert f":{line}: in kernel, " in sentence
        assert construct in sentence
        assert instead in sentence

    def test_mutual_recursion(self) -> None:
        kernel = kernel_from(
            """
            @cuda.jit(device=True)
            def even(n):
                return True if n == 0 else odd(n - 1)

            @cuda.jit(device=True)
            def odd(n):
                return False if n == 0 else even(n - 1)

            def kernel(out):
                out[0] = even(4)
            """
        )
        with pytest.raises(Exception, match="even and odd call each other") as caught:
            simulate(kernel, 1, 1, np.zeros(1))
        assert type(caught.value).__name__ == "AttributeError"  # what numba-cuda raises


class TestArguments:
    """What is passed to a launch."""

    def test_a_function_for_the_cpu(self) -> None:
        """numba-cuda cannot launch it either."""

        @numba.njit
        def work(out):
            out[0] = 1

        with pytest.raises(LaunchError, match="got work, which Numba compiles for the CPU"):
            simulate(work, 1, 1, np.zeros(1))

    def test_arity(self) -> None:
        kernel = kernel_from("def kernel(out, a):\n    out[0] = a")
        with pytest.raises(LaunchError, match=r"kernel takes 2 arguments \(out, a\) and got 1"):
            simulate(kernel, 1, 1, np.zeros(1))

    @pytest.mark.parametrize(
        ("value", "error", "text"),
        [
            ([1, 2], NotImplementedError, "argument out is a reflected list"),
            ("abc", NotImplementedError, "argument out is a unicode_type"),
            (object(), ValueError, "argument 0 is of type object"),
        ],
        ids=["list", "text", "object"],
    )
    def test_kind(self, value, error, text) -> None:
        kernel = kernel_from("def kernel(out):\n    cuda.syncthreads()")
        with pytest.raises(error, match=text) as caught:
            simulate(kernel, 1, 1, value)
        assert "pass NumPy arrays" in str(caught.value)

    def test_overlapping(self) -> None:
        """NumPy arrays that share memory are refused if one is written, and read freely."""
        kernel = kernel_from("def kernel(out, a):\n    i = cuda.grid(1)\n    out[i] = a[i]")
        whole = np.arange(10)
        with pytest.raises(LaunchError, match="arguments a and out share memory"):
            simulate(kernel, 1, 9, whole[1:], whole[:-1])
        assert whole.tolist() == list(range(10))
        both = kernel_from("def kernel(o, a, b):\n    i = cuda.grid(1)\n    o[i] = a[i] + b[i]")
        out = np.zeros(9, np.int64)
        assert simulate(both, 1, 9, out, whole[1:], whole[:-1]).hazards == ()
        assert out.tolist() == [2 * i + 1 for i in range(9)]

    @pytest.mark.parametrize(
        ("grid", "block", "text"),
        [
            (1.5, 4, "the grid of a launch is an integer .* got 1.5"),
            (1, 4.0, "the block of a launch is an integer .* got 4.0"),
            ((1, 2, 3, 4), 1, "one to three integers"),
            (None, 1, "got None"),
            (0, 4, r"grid \(0, 1, 1\) has 0 along x"),
            (-1, 4, "has -1 along x"),
            (1, (1, 1, 65), "has 65 along z; H200 takes 1 to 64"),
            ((1, 70000), 1, "has 70000 along y; H200 takes 1 to 65,535"),
            (1, (64, 32), "2,048 threads; H200 takes at most 1,024"),
        ],
    )
    def test_extents(self, grid, block, text) -> None:
        kernel = kernel_from("def kernel(out):\n    out[0] = 1")
        with pytest.raises(LaunchError, match=text):
            simulate(kernel, grid, block, np.zeros(1))

    @pytest.mark.parametrize(
        ("count", "dynamic", "text"),
        [
            (7000, 0, "declares 56,000 bytes, and a block has at most 49,152"),
            (10, 300_000, "wants 300,080 bytes of shared memory"),
            (10, -8, "-8 bytes of dynamic shared memory are asked for"),
        ],
    )
    def test_shared_memory(self, count, dynamic, text) -> None:
        kernel = kernel_from(
            "def kernel(out):\n"
            f"    x = cuda.shared.array({count}, np.float64)\n    x[0] = 1\n    out[0] = x[0]"
        )
        with pytest.raises(LaunchError, match=text):
            simulate(kernel, 1, 1, np.zeros(1), shared_bytes=dynamic)


class TestLimits:
    """Too many steps, too much memory: refused or stopped, and the limit is named."""

    def test_steps(self, monkeypatch) -> None:
        monkeypatch.setattr(scheduler, "MAX_SEGMENTS", 1000)
        kernel = kernel_from(
            """
            def kernel(out):
                i = 1
                while i > 0:
                    i = 3 * i % 7
                    out[0] += 1
            """
        )
        out = np.zeros(1)
        with pytest.raises(SimulationLimit, match=r"line \d: kernel still runs after 1,000 steps"):
            simulate(kernel, 1, 1, out)
        assert out[0] > 100

    def test_local_memory(self) -> None:
        kernel = kernel_from(
            "def kernel(out):\n"
            "    x = cuda.local.array(1_000_000, np.float64)\n    x[0] = 1\n    out[0] = x[0]"
        )
        with pytest.raises(SimulationLimit, match=r"local array x takes .* over the limit of"):
            simulate(kernel, 20, 1024, np.zeros(1))

    def test_grid_barrier(self) -> None:
        kernel = kernel_from(
            "def kernel(out):\n    grid = cuda.cg.this_grid()\n    grid.sync()\n    out[0] = 1"
        )
        with pytest.raises(SimulationLimit, match=r"needs all 2,000 blocks at once, .* 1,048,576"):
            simulate(kernel, 2000, 1024, np.zeros(1))

    def test_recursion(self) -> None:
        kernel = kernel_from(
            """
            @cuda.jit(device=True)
            def down(n):
                return 0 if n == 0 else 1 + down(n - 1)

            def kernel(out, n):
                out[0] = down(n)
            """
        )
        out = np.zeros(1)
        simulate(kernel, 1, 1, out, 50)
        assert out[0] == 50
        with pytest.raises(SimulationLimit, match="down calls itself more than 64 deep"):
            simulate(kernel, 1, 1, out, 100)


class _Interrupts(Listener):
    """As if Ctrl-C were pressed at the tenth access."""

    seen = 0

    def on_access(self, access) -> None:  # noqa: ARG002
        self.seen += 1
        if self.seen == 10:
            raise KeyboardInterrupt


ENDLESS = """
import signal
import sys
import numba
import numpy as np
from wia_lab import cuda, simulate

def kernel(out):
    i = cuda.grid(1)
    while out[i] >= 0:
        out[i] += 1

out = np.asarray(np.memmap(sys.argv[1], np.int64, "r+"))
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
try:
    simulate(kernel, 1, 64, out)
except KeyboardInterrupt:
    print("stopped", out.min() > 0, flush=True)
"""


class TestInterrupt:
    """Ctrl-C returns at once, and the arrays can be read."""

    def test_arrays_hold_what_was_written(self) -> None:
        kernel = kernel_from(
            """
            def kernel(out):
                i = cuda.grid(1)
                for k in range(100):
                    out[k, i] = k + 1
            """
        )
        out = np.zeros((100, 4), np.int64)
        with pytest.raises(KeyboardInterrupt):
            run(kernel, 1, 4, (out,), listeners=[_Interrupts()])
        assert out[:9].tolist() == [[k + 1] * 4 for k in range(9)]
        assert not out[10:].any()
        report = simulate(kernel, 1, 4, out)
        assert report.hazards == ()
        assert out.tolist() == [[k + 1] * 4 for k in range(100)]

    @pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT to a process")
    def test_signal(self, tmp_path) -> None:
        script = tmp_path / "endless.py"
        script.write_text(ENDLESS)
        counted = tmp_path / "counted"
        np.zeros(64, np.int64).tofile(counted)
        process = subprocess.Popen(
            [sys.executable, str(script), str(counted)],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(Path(wia_lab.__file__).parents[1])},
        )
        try:
            while np.fromfile(counted, np.int64).min() == 0:
                assert process.poll() is None
                time.sleep(0.1)  # it is importing and compiling
            process.send_signal(signal.SIGINT)
            output, _ = process.communicate(timeout=120)
        finally:
            process.kill()
        assert output == "stopped True\n"
