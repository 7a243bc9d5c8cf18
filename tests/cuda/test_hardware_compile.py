"""The copy that numba-cuda compiles: PTX for each compute capability, with no GPU.

The instructions and operands are those of "cp.async" in NVIDIA's PTX ISA; that they are absent
below sm_80 is what `ptxas` asks.
"""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path

import numba
import pytest
from numba import float32, float64, njit, types

import wia_lab.cuda
from wia_lab import cuda
from wia_lab.cuda import cp_async, cp_async_commit_group, syncthreads
from wia_lab.cuda import grid as place
from wia_lab.puzzles import async_convolution, tiled_matmul

pytestmark = [
    pytest.mark.skipif(
        importlib.util.find_spec("numba_cuda") is None,
        reason="numba-cuda is not installed: it is in the extras cuda12 and cuda13",
    ),
    pytest.mark.filterwarnings("ignore"),  # what numba-cuda warns of is not ours
]

CAPABILITIES = [(7, 5), (8, 0), (9, 0), (10, 0)]
MODERN = CAPABILITIES[1:]
LINE = types.Array(types.float32, 1, "C")
DOUBLES = types.Array(types.float64, 1, "C")
FOUR, TILE, WIDE, WAIT = 4, 64, 256, 1


def ptx_of(kernel, signature, cc):
    """PTX of a kernel."""
    from wia_lab.cuda.rebind import compile_ptx

    return compile_ptx(kernel, signature, cc)[0]


def instructions(ptx):
    """The cp.async instructions, registers left out."""
    return [re.sub(r"%\w+", "r", each) for each in re.findall(r"cp\.async[^;]*;", ptx)]


@cuda.jit
def copy_one(out, a):
    """One float a thread."""
    tile = cuda.shared.array(TILE, float32)
    t = place(1)
    cp_async(tile, t, a, t)
    cp_async_commit_group()
    cuda.cp_async_wait_group(WAIT)
    cuda.cp_async_wait_all()
    syncthreads()
    out[t] = tile[TILE - 1 - t]


@cuda.jit
def copy_four(out, a):
    """Four floats a thread."""
    tile = cuda.shared.array((2, WIDE), float32)
    t = cuda.threadIdx.x
    cuda.cp_async(tile, (1, 4 * t), a, 4 * t, FOUR)
    cuda.async_copy_wait_all()
    cuda.syncthreads()
    out[t] = tile[1, t]


@cuda.jit
def copy_doubles(out, a):
    """One double a thread."""
    tile = cuda.shared.array(TILE, float64)
    t = cuda.threadIdx.x
    cuda.cp_async(tile, t, a, t)
    cuda.cp_async_wait_all()
    out[t] = tile[t]


SIZE = TILE + 2


@cuda.jit
def copy_tile_by_global(out, a):
    """A tile with its halo."""
    tile = cuda.shared.array(SIZE, float32)
    cuda.copy_dram_to_sram_async(tile, a, -1, SIZE)
    cuda.async_copy_wait_all()
    cuda.syncthreads()
    out[cuda.threadIdx.x] = tile[cuda.threadIdx.x]


class TestAsyncCopies:
    """cp.async on hardware that has it, a load and a store where it has not."""

    @pytest.mark.parametrize("cc", MODERN)
    def test_one_element(self, cc):
        """A float32 is copied by the 4-byte form, then committed and awaited."""
        assert instructions(ptx_of(copy_one, (LINE, LINE), cc)) == [
            "cp.async.ca.shared.global [d], [r], 4;",
            "cp.async.commit_group;",
            "cp.async.wait_group 1;",
            "cp.async.wait_all;",
        ]

    @pytest.mark.parametrize("cc", MODERN)
    def test_four_elements(self, cc):
        """Four float32 go in one 16-byte copy, to shared memory aligned for it."""
        ptx = ptx_of(copy_four, (LINE, LINE), cc)
        assert instructions(ptx)[0] == "cp.async.ca.shared.global [d], [r], 16;"
        assert re.findall(r"\.shared \.align (\d+)", ptx) == ["16"]

    @pytest.mark.parametrize("cc", MODERN)
    def test_doubles(self, cc):
        """A float64 is copied by the 8-byte form."""
        assert "cp.async.ca.shared.global [d], [r], 8;" in instructions(
            ptx_of(copy_doubles, (DOUBLES, DOUBLES), cc)
        )

    @pytest.mark.parametrize("cc", MODERN)
    def test_tile_form_has_a_source_size(self, cc):
        """The tile form takes the source size from a register, so that a halo needs no branch."""
        found = instructions(ptx_of(copy_tile_by_global, (LINE, LINE), cc))
        assert "cp.async.ca.shared.global [d], [r], 4, r;" in found
        assert "cp.async.commit_group;" not in found

    @pytest.mark.parametrize(
        ("kernel", "kind"),
        [
            (copy_one, LINE),
            (copy_four, LINE),
            (copy_doubles, DOUBLES),
            (copy_tile_by_global, LINE),
        ],
        ids=lambda each: getattr(each, "name", ""),
    )
    def test_before_ampere(self, kernel, kind):
        """For sm_75 the PTX has no cp.async, and stores to shared memory instead."""
        ptx = ptx_of(kernel, (kind, kind), (7, 5))
        assert "cp.async" not in ptx
        assert ".target sm_75" in ptx
        assert re.search(r"\bst(\.shared)?\.", ptx)

    def test_negative_index_does_not_wrap(self):
        """The address is computed from the index as it is: no selection by its sign."""

        @cuda.jit
        def before_the_start(out, a):
            tile = cuda.shared.array(TILE, float32)
            t = cuda.threadIdx.x
            cuda.cp_async(tile, t, a, t - 1)
            cuda.cp_async_wait_all()

        @cuda.jit
        def plain_index(out, a):
            out[cuda.threadIdx.x] = a[cuda.threadIdx.x - 1]

        assert "selp" not in ptx_of(before_the_start, (LINE, LINE), (9, 0))
        assert re.search(r"selp|shr\.|setp", ptx_of(plain_index, (LINE, LINE), (9, 0)))


class TestRefusals:
    """What is refused is a TypingError, the class that the simulator raises too."""

    def test_count_must_be_a_literal(self):
        @cuda.jit
        def variable_count(a, n):
            tile = cuda.shared.array(TILE, float32)
            cuda.cp_async(tile, 0, a, 0, n)

        self._refused(variable_count, (LINE, types.int64), "count of cuda.cp_async")

    def test_tile_expression_is_no_literal(self):
        """`TILE + 2` is computed at run time: the count must be a global of its own."""

        @cuda.jit
        def expression(a):
            tile = cuda.shared.array(SIZE, float32)
            cuda.copy_dram_to_sram_async(tile, a, -1, TILE + 2)

        self._refused(expression, (LINE,), "count of cuda.copy_dram_to_sram_async is int64")

    def test_three_elements(self):
        @cuda.jit
        def three(a):
            tile = cuda.shared.array(TILE, float32)
            cuda.cp_async(tile, 0, a, 0, 3)

        self._refused(three, (LINE,), "4, 8 or 16 bytes")

    def test_types_differ(self):
        @cuda.jit
        def convert(a):
            tile = cuda.shared.array(TILE, float32)
            cuda.cp_async(tile, 0, a, 0)

        self._refused(convert, (DOUBLES,), "converts nothing")

    def test_too_few_indices(self):
        @cuda.jit
        def flat(a):
            tile = cuda.shared.array((4, 4), float32)
            cuda.cp_async(tile, 0, a, 0)

        self._refused(flat, (LINE,), "give 2 integers")

    def test_negative_group(self):
        @cuda.jit
        def negative():
            cuda.cp_async_wait_group(-1)

        self._refused(negative, (), "0 or more")

    @staticmethod
    def _refused(kernel, signature, text):
        with pytest.raises(Exception, match=text) as caught:
            ptx_of(kernel, signature, (9, 0))
        assert caught.type.__name__ == "TypingError"  # numba-cuda has two classes of that name


class TestRebinding:
    """One function for both back ends, however it names what it uses."""

    def test_module_attribute(self):
        """`wia_lab.cuda.grid`, spelt out."""

        @cuda.jit
        def spelt_out(out):
            i = wia_lab.cuda.grid(1)
            if i < out.size:
                out[i] = i

        assert "%ctaid.x" in ptx_of(spelt_out, (LINE,), (9, 0))

    def test_closure(self):
        """`cuda` held by an enclosing function."""

        def make(module, size):
            @module.jit
            def kernel(out):
                tile = module.shared.array(size, float32)
                tile[module.threadIdx.x] = 1
                module.cp_async_wait_all()
                out[module.threadIdx.x] = tile[0]

            return kernel

        assert "cp.async.wait_all" in ptx_of(make(cuda, 16), (LINE,), (9, 0))

    def test_numba_cuda_itself(self):
        """A kernel of `from numba import cuda` is compiled as it is."""

        @cuda.jit
        def other(out):
            out[numba.cuda.grid(1)] = 1

        assert "%tid.x" in ptx_of(other, (LINE,), (9, 0))

    def test_device_function_and_njit(self):
        """Functions reached from the kernel are rebound too, through any number of calls."""

        @cuda.jit(device=True)
        def inner(x):
            cuda.syncthreads()
            return x + cuda.threadIdx.x

        @njit
        def outer(x):
            return inner(x) * 2

        @njit
        def pure(x):
            return x + 1

        @cuda.jit
        def calls(out):
            out[cuda.threadIdx.x] = pure(outer(1))

        assert "bar" in ptx_of(calls, (LINE,), (9, 0))

    def test_recursion(self):
        """A device function that calls itself, by a closure cell that refers to itself."""

        @cuda.jit("int64(int64)", device=True)
        def fib(n):
            if n < 2:
                return n
            return fib(n - 1) + fib(n - 2)

        @cuda.jit
        def numbers(out):
            out[cuda.threadIdx.x] = fib(cuda.threadIdx.x)

        assert ".func" in ptx_of(numbers, (types.Array(types.int64, 1, "C"),), (9, 0))

    def test_original_is_untouched(self):
        """After compiling, the kernel's own globals are what they were."""
        ptx_of(copy_one, (LINE, LINE), (9, 0))
        assert copy_one.py_func.__globals__["cuda"] is cuda
        assert copy_one.py_func.__globals__["cp_async"] is cp_async

    def test_same_kernel_for_two_capabilities(self):
        """Nothing compiled for one device is used for another, device functions included."""

        @cuda.jit(device=True)
        def load(tile, a, t):
            cuda.cp_async(tile, t, a, t)
            cuda.cp_async_wait_all()

        @cuda.jit
        def loads(out, a):
            tile = cuda.shared.array(TILE, float32)
            load(tile, a, cuda.threadIdx.x)
            out[cuda.threadIdx.x] = tile[cuda.threadIdx.x]

        has = ["cp.async" in ptx_of(loads, (LINE, LINE), cc) for cc in ((8, 0), (7, 5), (9, 0))]
        assert has == [True, False, True]


SOLUTIONS = Path(__file__).resolve().parents[2] / "solutions"


def solution(notebook, **names):
    """The kernel in a solution notebook's answer cell, given the names that it uses."""
    cells = json.loads((SOLUTIONS / notebook).read_text())["cells"]
    (source,) = (
        "".join(c["source"]) for c in cells if "### BEGIN SOLUTION" in "".join(c["source"])
    )
    space = {"cuda": cuda, "float32": float32, **names}
    exec(compile(source, notebook, "exec"), space)  # noqa: S102 - our own notebook
    (kernel,) = (each for each in space.values() if isinstance(each, cuda.Kernel))
    return kernel


class TestSolutions:
    """Both solutions compile for every architecture."""

    @pytest.mark.parametrize("cc", CAPABILITIES)
    def test_tiled_matmul(self, cc):
        matrix = types.Array(types.float32, 2, "C")
        kernel = solution("06-tiled-matmul.ipynb", TILE=tiled_matmul.TILE)
        ptx = ptx_of(kernel, (matrix, matrix, matrix), cc)
        assert re.search(r"fma\.rn\.f32", ptx)
        assert "f64" not in ptx

    @pytest.mark.parametrize("cc", CAPABILITIES)
    def test_async_convolution(self, cc):
        kernel = solution(
            "09-async-convolution.ipynb",
            BUFFER_SIZE=async_convolution.CONV_TILE_SIZE + 2 * async_convolution.HALO_SIZE,
            KERNEL_SIZE=async_convolution.KERNEL_SIZE,
            HALO_SIZE=async_convolution.HALO_SIZE,
            CONV_TILE_SIZE=async_convolution.CONV_TILE_SIZE,
        )
        ptx = ptx_of(kernel, (LINE, LINE, LINE), cc)
        assert ("cp.async.ca.shared.global" in ptx) == (cc >= (8, 0))
        assert "f64" not in ptx
