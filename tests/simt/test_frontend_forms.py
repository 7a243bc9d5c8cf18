"""The front end on unrolled loops, asynchronous copies, launch arguments and stubs."""

from __future__ import annotations

import threading
import types as pytypes
from typing import NamedTuple

import numba
import numpy as np
import pytest
from numba import from_dtype, njit, types
from numba.core import errors, ir  # noqa: TID251

from wia_lab.simt import frontend, stubs

cuda = pytypes.ModuleType("wia_lab.cuda")

f4 = types.float32[::1]
i8 = types.int64[::1]
TILE = 4


class Pair(NamedTuple):
    """A named tuple."""

    a: int
    b: float


def calls(typed: frontend.TypedFunction) -> list[ir.Expr]:
    """Call expressions, in order."""
    return [
        statement.value
        for block in typed.ir.blocks.values()
        for statement in block.body
        if isinstance(statement, ir.Assign)
        and isinstance(statement.value, ir.Expr)
        and statement.value.op == "call"
    ]


def only_call(typed: frontend.TypedFunction) -> ir.Expr:
    """The single call of a function."""
    [call] = calls(typed)
    return call


@njit
def scaled(x, factor=2, offset=0.5):
    return x * factor + offset


class Bound:
    """Stands for a device function that was decorated with signatures."""

    def __init__(self, py_func, *signatures):
        self.py_func = py_func
        self.signatures = [pytypes.SimpleNamespace(arguments=a, result=r) for a, r in signatures]

    def __call__(self) -> None:
        """Device functions look callable."""


class TestUnrolling:
    """Loops over tuples of different types."""

    @pytest.mark.parametrize("module", ["numba.misc.special", "numba.cuda.misc.special"])
    def test_literal_unroll(self, module) -> None:
        """Numba's and numba-cuda's `literal_unroll` make a copy of the body for each type."""
        literal_unroll = numba.literal_unroll
        if module != literal_unroll.__module__:
            literal_unroll = pytypes.FunctionType(literal_unroll.__code__, {}, "literal_unroll")
            literal_unroll.__module__ = module

        def kernel(arrays, out):
            for array in literal_unroll(arrays):
                out[0] += array[0]

        i4 = types.int32[::1]
        typed = frontend.type_function(kernel, (types.Tuple((f4, i4)), f4))
        versions = {str(k) for name, k in typed.typemap.items() if name.startswith("array.")}
        assert versions == {"array(float32, 1d, C)", "array(int32, 1d, C)"}


class TestAsyncCopies:
    """Operations that numba-cuda does not have."""

    def typed(self, body, *argument_types):
        """Type a kernel of one statement over a shared tile."""
        scope = {"cuda": cuda, "np": np, "COUNT": 4}
        exec(
            "def kernel(src, n):\n    tile = cuda.shared.array(64, np.float32)\n    " + body, scope
        )
        return frontend.type_function(scope["kernel"], argument_types or (f4, types.int64))

    @pytest.mark.parametrize(
        "body",
        [
            "cuda.cp_async(tile, 0, src, n)",
            "cuda.cp_async(tile, n, src, (n,), 2)",
            "cuda.cp_async(tile, 0, src, n, count=COUNT)",
            "cuda.cp_async_commit_group()",
            "cuda.cp_async_wait_group(1)",
            "cuda.cp_async_wait_all()",
            "cuda.copy_dram_to_sram_async(tile, src, n, 64)",
            "cuda.copy_dram_to_sram_async(tile, src, n - 1, count=COUNT, width=4)",
            "cuda.async_copy_wait_all()",
        ],
    )
    def test_accepted(self, body) -> None:
        """Counts are literals or global constants; nothing is returned."""
        typed = self.typed(body)
        call = calls(typed)[-1]
        assert typed.calltypes[call].return_type == types.none

    @pytest.mark.parametrize(
        ("body", "message"),
        [
            ("cuda.cp_async(tile, 0, src, n, n)", "count of cuda.cp_async must be a literal"),
            ("cuda.cp_async(tile, 0, src, n, 3)", "copies 4, 8 or 16 bytes a thread, not 12"),
            ("cuda.cp_async(tile, 0.5, src, n)", "an index of cuda.cp_async must be an integer"),
            ("cuda.cp_async(tile, (0, 0), src, n)", "an index of cuda.cp_async"),
            ("cuda.cp_async(tile, 0, n, n)", "src of cuda.cp_async must be an array, not int64"),
            ("cuda.cp_async_wait_group(n)", "n of cuda.cp_async_wait_group must be a literal"),
            ("cuda.copy_dram_to_sram_async(tile, src, 0, n)", "count of cuda.copy_dram_to_sram"),
            ("cuda.copy_dram_to_sram_async(tile, src, 0, 8, n)", "width of cuda.copy_dram_to_sr"),
            ("cuda.copy_dram_to_sram_async(tile, src, 0, 0)", "count and width .* start at 1"),
        ],
    )
    def test_refused(self, body, message) -> None:
        """A TypingError whose first line says what is wrong."""
        with pytest.raises(errors.TypingError, match=message) as caught:
            self.typed(body)
        assert "cuda.c" in str(caught.value).splitlines()[0]

    def test_dtypes_must_agree(self) -> None:
        """No conversion happens on the way."""
        with pytest.raises(errors.TypingError, match="copies between arrays of one dtype"):
            self.typed("cuda.cp_async(tile, 0, src, n)", types.float64[::1], types.int64)


class TestTypeof:
    """Types of launch arguments."""

    @pytest.mark.parametrize(
        ("value", "expected"),
        [
            (3, types.int64),
            (2**63, types.uint64),
            (1.5, types.float64),
            (True, types.boolean),
            (1j, types.complex128),
            (np.float32(1), types.float32),
            (np.int8(1), types.int8),
            (np.bool_(True), types.boolean),
            ((1, 2.0), types.Tuple((types.int64, types.float64))),
            (np.zeros((2, 3), np.float32), types.Array(types.float32, 2, "C")),
            (np.zeros((2, 3), np.float32).T, types.Array(types.float32, 2, "F")),
            (np.zeros((4, 6), np.float32)[::2, ::2], types.Array(types.float32, 2, "A")),
            (np.zeros(3, np.float16), types.Array(types.float16, 1, "C")),
            (None, types.none),
        ],
    )
    def test_values(self, value, expected) -> None:
        """Numba's types."""
        assert frontend.typeof(value) == expected

    def test_readonly(self) -> None:
        """An array that cannot be written is a readonly array."""
        array = np.zeros(3)
        array.flags.writeable = False
        assert not frontend.typeof(array).mutable

    def test_records_and_named_tuples(self) -> None:
        """Structured scalars and named tuples keep their fields."""
        dtype = np.dtype([("x", np.float32), ("n", np.int32)], align=True)
        assert frontend.typeof(np.zeros(1, dtype)[0]) == from_dtype(dtype)
        assert frontend.typeof(Pair(1, 2.0)).fields == ("a", "b")

    def test_device_arrays(self) -> None:
        """An object with __cuda_array_interface__ is the array that it describes."""
        interface = {"shape": (4, 3), "strides": (4, 16), "typestr": "<f4", "data": (0, True)}
        described = pytypes.SimpleNamespace(__cuda_array_interface__=interface)
        assert frontend.typeof(described) == types.Array(types.float32, 2, "F", readonly=True)

    def test_unknown(self) -> None:
        """A value without a type is a ValueError."""
        with pytest.raises(ValueError, match="[Cc]annot determine"):
            frontend.typeof(object())


class TestStubs:
    """Names of kernels, used on the host."""

    @pytest.mark.parametrize("name", ["syncthreads", "grid", "popc", "float32x4", "cp_async"])
    def test_calls_are_refused(self, name) -> None:
        """One sentence says where they work."""
        with pytest.raises(NotImplementedError, match=rf"cuda\.{name} works only inside a kernel"):
            getattr(stubs.CUDA, name)(1)

    def test_attributes_are_refused(self) -> None:
        """`threadIdx.x` has no value on the host; other attributes do not exist."""
        with pytest.raises(NotImplementedError, match=r"cuda\.threadIdx works only"):
            _ = stubs.threadIdx.x
        with pytest.raises(AttributeError, match=r"\.x, \.y and \.z"):
            _ = stubs.threadIdx.w

    def test_every_stub_is_documented_and_typed(self) -> None:
        """Each operation has a docstring, and the front end a type for it."""
        from wia_lab.simt.declarations import STUB_TYPES

        def all_stubs(space):
            for member in (getattr(space, name) for name in space.names()):
                yield from all_stubs(member) if isinstance(member, stubs.Namespace) else [member]

        found = [each for each in all_stubs(stubs.CUDA) if each is not stubs.GridGroup]
        assert len(found) > 500
        assert all(len(each.__doc__.split()) > 3 for each in found)
        assert [each for each in found if each not in STUB_TYPES] == []

    def test_names_are_numba_cudas(self) -> None:
        """Where numba-cuda is installed: each name of ours that is not ours alone is its too."""
        pytest.importorskip("numba_cuda", reason="numba-cuda is not installed")
        import numba.cuda as theirs
        import numba.cuda.fp16  # noqa: F401 - loaded late, seen as an attribute of `theirs`

        own = {name for name in stubs.CUDA.names() if "async" in name}
        missing = {name for name in stubs.CUDA.names() if not hasattr(theirs, name)}
        assert missing - own == set()


def test_two_threads() -> None:
    """Kernels typed at the same time in two threads come out right."""
    sources = [f"def kernel{i}(out):\n    out[cuda.grid(1)] = {i} + out[0]\n" for i in range(8)]
    results: dict[int, frontend.TypedFunction] = {}

    def work(start):
        for i in range(start, 8, 2):
            scope = {"cuda": cuda}
            exec(sources[i], scope)
            results[i] = frontend.type_function(scope[f"kernel{i}"], (f4,))

    threads = [threading.Thread(target=work, args=(start,)) for start in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == list(range(8))
    assert all(results[i].name == f"kernel{i}" for i in range(8))


def test_independent_of_the_cpu_target() -> None:
    """What the CPU compiled in the same process changes no type."""

    def kernel(out, n):
        out[0] = np.int32(n) + abs(n)

    def again(out, n):
        out[0] = np.int32(n) + abs(n)

    before = frontend.type_function(kernel, (f4, types.int32)).typemap

    @njit
    def on_the_host(a):
        return np.sort(a).sum() + np.sqrt(a).max() + len({1: 2}) + len([1])

    assert on_the_host(np.ones(4)) == 7.0
    after = frontend.type_function(again, (f4, types.int32)).typemap
    assert {k: str(v) for k, v in after.items()} == {k: str(v) for k, v in before.items()}
    with pytest.raises(KeyError, match=r"np\.sqrt is not available in a kernel"):
        frontend.type_function(lambda out: np.sqrt(out[0]), (f4,), kernel=False)
