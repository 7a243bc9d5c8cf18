"""What the front end promises: callees, constants, device functions, types of values."""

from __future__ import annotations

import types as pytypes
from typing import NamedTuple

import numpy as np
import pytest
from numba import njit, types
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


class TestTypedFunction:
    """What is known of a typed kernel."""

    def test_describes_the_function(self) -> None:
        """Name, file, line, arguments and the result are the source's."""

        def kernel(out, n):
            out[0] = n

        typed = frontend.type_function(kernel, (f4, types.int32))
        assert typed.name == "kernel"
        assert typed.file == __file__
        assert typed.line == kernel.__code__.co_firstlineno
        assert typed.py_func is kernel
        assert typed.argument_names == ("out", "n")
        assert typed.argument_types == (f4, types.int32)
        assert typed.return_type == types.none
        assert typed.typemap["n"] == types.int32

    def test_phis_are_expressions(self) -> None:
        """The IR is in SSA form, a phi where versions of a variable meet."""

        def kernel(out, n):
            v = 1
            if n > 3:
                v = 2.5
            out[0] = v

        typed = frontend.type_function(kernel, (f4, types.int64))
        phis = [
            (statement.target.name, typed.typemap[statement.target.name])
            for block in typed.ir.blocks.values()
            for statement in block.body
            if getattr(getattr(statement, "value", None), "op", None) == "phi"
        ]
        assert phis == [("v.2", types.float64)]

    def test_is_kept(self) -> None:
        """Typing again, or a function of the same code and values, gives the same object."""
        source = "def kernel(out):\n    out[0] = SIZE\n"
        first, again, other = ({"SIZE": size} for size in (3, 3, 4))
        typed = []
        for scope in (first, again, other):
            exec(compile(source, "cell", "exec"), scope)
            typed.append(frontend.type_function(scope["kernel"], (f4,)))
        assert typed[0] is frontend.type_function(first["kernel"], (f4,))
        assert typed[1] is typed[0]
        assert typed[2] is not typed[0]

    def test_takes_decorated_functions(self) -> None:
        """An object with `.py_func` stands for that function."""

        def kernel(out):
            out[0] = 1

        decorated = pytypes.SimpleNamespace(py_func=kernel)
        assert frontend.type_function(decorated, (f4,)).py_func is kernel

    def test_wrong_number_of_types(self) -> None:
        """Numba's TypeError, with the place."""

        def kernel(out):
            out[0] = 1

        with pytest.raises(TypeError, match="2 argument types given, but function takes 1"):
            frontend.type_function(kernel, (f4, f4))


class TestCallees:
    """A callee is known from the type of the variable called."""

    @pytest.mark.parametrize("name", ["wia_lab.cuda", "numba.cuda"])
    def test_stubs(self, name) -> None:
        """A device operation is its stub, through whichever module it was reached."""
        module = pytypes.ModuleType(name)

        def kernel(out):
            module.syncthreads()

        typed = frontend.type_function(kernel, (f4,))
        assert typed.typemap[only_call(typed).func.name].typing_key is stubs.syncthreads

    def test_nested_namespaces_and_submodules(self) -> None:
        """`cuda.atomic.add` and a function of `numba.cuda.libdevice` are stubs too."""
        libdevice = pytypes.ModuleType("numba.cuda.libdevice")

        def kernel(out):
            cuda.atomic.add(out, 0, libdevice.sinf(out[0]))

        typed = frontend.type_function(kernel, (f4,))
        keys = {typed.typemap[call.func.name].typing_key for call in calls(typed)}
        assert keys == {stubs.atomic.add, stubs.libdevice.sinf}

    def test_values_of_the_module(self) -> None:
        """`cuda.threadIdx` is found through the module's type and the attribute's name."""

        def kernel(out):
            out[cuda.threadIdx.x] = cuda.laneid

        typed = frontend.type_function(kernel, (f4,))
        read = {
            e.attr: getattr(typed.typemap[e.value.name].pymod, e.attr)
            for block in typed.ir.blocks.values()
            for statement in block.body
            if getattr(e := getattr(statement, "value", None), "op", None) == "getattr"
            and isinstance(typed.typemap[e.value.name], types.Module)
        }
        assert read == {"threadIdx": stubs.threadIdx, "laneid": stubs.laneid}

    def test_bare_names(self) -> None:
        """numba-cuda's intrinsics work under a bare name, the other names do not, as there."""
        grid, threadIdx = stubs.grid, stubs.threadIdx

        def good(out):
            out[grid(1)] = 1

        def bad(out):
            out[threadIdx.x] = 1

        assert frontend.type_function(good, (f4,)).typemap["out"] == f4
        with pytest.raises(errors.TypingError, match=r"write cuda\.threadIdx"):
            frontend.type_function(bad, (f4,))

    def test_overloads_have_an_implementation(self) -> None:
        """A function that Numba writes in Python is given typed."""

        def kernel(out):
            out[0] = out.sum()

        def maximum(out):
            out[0] = max(out[0], 1)

        typed = frontend.type_function(maximum, (f4,))
        call = only_call(typed)
        assert typed.typemap[call.func.name].typing_key is max
        assert frontend.overload_of(typed, call).return_type == types.float64
        assert frontend.type_function(kernel, (f4,)).return_type == types.none

    def test_methods_have_an_implementation(self) -> None:
        """That of a method takes the object first; numba-cuda's mean of float32 is a float64."""

        def kernel(out):
            out[0] = out.mean()

        typed = frontend.type_function(kernel, (f4,))
        inner = frontend.overload_of(typed, only_call(typed))
        assert inner.argument_types == (f4,)
        assert inner.return_type == types.float64

    def test_no_overload(self) -> None:
        """Operations have none."""

        def kernel(out):
            cuda.syncthreads()

        typed = frontend.type_function(kernel, (f4,))
        assert frontend.overload_of(typed, only_call(typed)) is None


class TestArguments:
    """Arguments of a call in the order of its signature."""

    def fold(self, typed) -> list:
        """Folded arguments of the only call."""
        call = only_call(typed)
        return frontend.fold_arguments(call, typed.calltypes[call], typed.typemap)

    def test_keywords(self) -> None:
        """Keywords of a stub take their places."""

        def kernel(out):
            s = cuda.shared.array(dtype=np.float32, shape=(TILE, 8))
            out[0] = s[0, 0]

        typed = frontend.type_function(kernel, (f4,))
        shape, dtype = self.fold(typed)
        assert frontend.constant_of(typed.ir, shape.name) == (4, 8)
        assert typed.typemap[dtype.name].dtype == types.float32

    def test_defaults(self) -> None:
        """A default of a device function is a constant."""

        def kernel(out):
            out[0] = scaled(out[0], offset=1)

        typed = frontend.type_function(kernel, (f4,))
        x, factor, offset = self.fold(typed)
        assert isinstance(factor, ir.Const)
        assert factor.value == 2
        assert frontend.constant_of(typed.ir, offset.name) == 1
        assert typed.typemap[x.name] == types.float32

    def test_star_arguments(self) -> None:
        """What fills `*values` comes as one tuple."""

        @njit
        def total(*values):
            return values[0] + values[1]

        def kernel(out, n):
            out[0] = total(n, n)

        typed = frontend.type_function(kernel, (f4, types.int64))
        [values] = self.fold(typed)
        assert [each.name for each in values] == ["n", "n"]

    def test_splatted_tuples(self) -> None:
        """`f(*t)` is typed and written as `f(t[0], t[1])`."""

        def kernel(out, n):
            pair = (n, 3)
            out[0] = scaled(*pair)

        typed = frontend.type_function(kernel, (f4, types.int32))
        x, factor, offset = self.fold(typed)
        assert typed.typemap[x.name] == types.int32
        assert typed.ir.get_definition(factor.name).index == 1
        assert offset.value == 0.5


class TestConstants:
    """What is known before a kernel runs."""

    def test_globals_are_frozen(self) -> None:
        """A function typed earlier keeps the value that it read."""
        scope = {"cuda": cuda, "SIZE": 3}
        exec("def kernel(out):\n    s = cuda.grid(1)\n    out[s] = SIZE\n", scope)
        old = frontend.type_function(scope["kernel"], (f4,))
        scope["SIZE"] = 5
        new = frontend.type_function(scope["kernel"], (f4,))

        def sizes(typed):
            return [
                s.value.value
                for block in typed.ir.blocks.values()
                for s in block.body
                if isinstance(getattr(s, "value", None), ir.Global) and s.value.name == "SIZE"
            ]

        assert sizes(old) == [3]
        assert sizes(new) == [5]

    def test_arrays_are_copied(self) -> None:
        """A global array is a read-only constant; changing it later does not change the kernel."""
        table = np.arange(3.0)

        def kernel(out):
            out[0] = table[1]

        typed = frontend.type_function(kernel, (f4,))
        [held] = [
            s.value.value
            for block in typed.ir.blocks.values()
            for s in block.body
            if isinstance(getattr(s, "value", None), ir.FreeVar)
        ]
        table[1] = 7
        assert held.tolist() == [0.0, 1.0, 2.0]
        assert frontend.type_function(kernel, (f4,)) is not typed

    def test_no_constant(self) -> None:
        """An argument has no value yet: a ValueError names it."""

        def kernel(out, n):
            out[0] = n

        typed = frontend.type_function(kernel, (f4, types.int64))
        with pytest.raises(ValueError, match="n has no value before kernel runs"):
            frontend.constant_of(typed.ir, "n")


class TestDeviceFunctions:
    """Functions called from kernels, typed from their source."""

    def test_specialise(self) -> None:
        """The callee's type gives it for the argument types of the call."""

        def kernel(out, n):
            out[0] = scaled(n, n, out[1])

        typed = frontend.type_function(kernel, (f4, types.int32))
        call = only_call(typed)
        callee = typed.typemap[call.func.name]
        assert isinstance(callee, frontend.DeviceFunctionType)
        inner = callee.specialise(typed.calltypes[call].args)
        assert inner.py_func is scaled.py_func
        assert inner.argument_types == (types.int32, types.int32, types.float32)
        assert inner.return_type == types.float64

    def test_self_recursion(self) -> None:
        """A function that calls itself has itself as callee."""

        @njit
        def depth(n):
            if n < 1:
                return 0
            return depth(n - 1) + 1

        def kernel(out, n):
            out[0] = depth(n)

        typed = frontend.type_function(kernel, (f4, types.int64))
        call = only_call(typed)
        inner = typed.typemap[call.func.name].specialise(typed.calltypes[call].args)
        callees = [inner.typemap[each.func.name] for each in calls(inner)]
        [recursive] = [each for each in callees if isinstance(each, types.RecursiveCall)]
        assert recursive.dispatcher_type == typed.typemap[call.func.name]
        assert inner.return_type == types.int64

    def test_explicit_signature_converts(self) -> None:
        """Arguments become the types of the signature, as does the result."""
        half = Bound(lambda x: x / 2, ((types.float64,), types.float32))

        def kernel(out, n):
            out[0] = half(n)

        typed = frontend.type_function(kernel, (f4, types.int32))
        signature = typed.calltypes[only_call(typed)]
        assert signature.args == (types.float64,)
        assert signature.return_type == types.float32

    def test_explicit_signature_allows_recursion(self) -> None:
        """As numba-cuda: a declared function may call itself from a call with a literal."""
        scope = {}
        exec("def down(n):\n    return n if n < 1 else down(n - 1)\n", scope)
        scope["down"] = Bound(scope["down"], ((types.int64,), types.int64))

        down = scope["down"]

        def kernel(out):
            out[0] = down(5)

        typed = frontend.type_function(kernel, (f4,))
        assert typed.calltypes[only_call(typed)].return_type == types.int64

    def test_njit_with_signatures(self) -> None:
        """A CPU function compiled for given signatures only is untyped, as for numba-cuda."""
        fixed = njit("int64(int64)")(lambda n: n + 1)

        def kernel(out):
            out[0] = fixed(3)

        with pytest.raises(errors.TypingError, match="its compilation is disabled"):
            frontend.type_function(kernel, (f4,))

    def test_arity(self) -> None:
        """A wrong number of arguments is Numba's TypingError."""

        def kernel(out):
            out[0] = scaled()

        with pytest.raises(errors.TypingError, match="missing a required argument"):
            frontend.type_function(kernel, (f4,))


def test_overload_that_another_target_compiled_since() -> None:
    """Numba's compiler for the host keeps its choices where ours are: a kernel gets its own."""

    def total(out, a):
        out[0] = np.sum(a)

    vector = types.float32[::1]
    typed = frontend.type_function(total, (vector, vector))
    [call] = [
        statement.value
        for block in typed.ir.blocks.values()
        for statement in block.body
        if isinstance(statement, ir.Assign)
        and isinstance(statement.value, ir.Expr)
        and statement.value.op == "call"
    ]
    assert isinstance(frontend.overload_of(typed, call), frontend.TypedFunction)
    on_the_host = njit(lambda a: np.sum(a))
    assert on_the_host(np.ones(4, np.float32)) == 4
    assert isinstance(frontend.overload_of(typed, call), frontend.TypedFunction)
    assert on_the_host(np.ones(5, np.float32)) == 5


def test_a_refusal_shows_no_frame_of_numba() -> None:
    """What leads to the kernel's fault is the learner's call, not Numba's passes."""

    def misspelt(out):
        out[0] = tiel  # noqa: F821 - what is tested

    with pytest.raises(errors.TypingError, match="tiel is not defined") as refused:
        frontend.type_function(misspelt, (types.float32[::1],))
    assert not any("/numba/" in str(each.path) for each in refused.traceback)
    assert refused.value.__suppress_context__
