"""One function for two back ends: the copy of a kernel that numba-cuda compiles.

In the copy, every global or closure variable that is `wia_lab.cuda`, a name taken from it, or one
of its kernels and device functions is replaced by numba.cuda's counterpart; so are `@njit`
functions and modules through which such a name is reached. What numba-cuda takes as it is stays.
The original is left alone, and the simulator goes on reading it.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
import types as pytypes
from collections.abc import Callable, Iterator
from typing import Any

from wia_lab.cuda import choice
from wia_lab.cuda.functioncopies import FunctionCopies, is_cpu_dispatcher, references
from wia_lab.cuda.kernel import Compiled
from wia_lab.simt import stubs

_STUBS = (stubs.Stub, stubs.Namespace)


def numba_cuda() -> Any:
    """numba.cuda, with `cp_async` and its companions set on it.

    Raises
    ------
    BackendError
        When numba-cuda is not installed.
    """
    module = choice.numba_cuda()
    importlib.import_module("wia_lab.cuda.async_copies")
    return module


def dispatcher(compiled: Compiled) -> Any:
    """numba.cuda's dispatcher for a kernel or device function; one each, kept with it."""
    found = compiled.__dict__.get("_dispatcher")
    if found is None:
        found = compiled.__dict__["_dispatcher"] = Rebinding().dispatcher(compiled)
    return found


def compile_ptx(
    kernel: Any, signature: Any, cc: tuple[int, int], **options: Any
) -> tuple[str, Any]:
    """PTX of a kernel for compute capability `cc`; needs no GPU.

    Returns
    -------
    tuple
        The PTX and the type that the function returns.
    """
    with _compiling_for(cc):
        function = Rebinding().function(getattr(kernel, "py_func", kernel))
        ptx, result = numba_cuda().compile_ptx(function, signature, cc=cc, **options)
    return str(ptx), result


def hardware_name(name: str) -> Any:
    """numba.cuda's attribute `name`, made to rebind where it takes a Python function."""
    if name == "compile_ptx":
        return compile_ptx
    found = getattr(numba_cuda(), name)
    if name in ("reduce", "Reduce"):
        return lambda functor: found(Rebinding().function(functor))
    if name in ("vectorize", "guvectorize"):
        return lambda *args, **options: _rebinding(found(*args, **options))
    return found


def _rebinding(decorator: Callable[..., Any]) -> Callable[..., Any]:
    return lambda function: decorator(Rebinding().function(function))


class Rebinding(FunctionCopies):
    """Copies in which the names of this package are numba.cuda's."""

    def __init__(self) -> None:
        super().__init__()
        self._cuda = numba_cuda()

    def dispatcher(self, compiled: Compiled) -> Any:
        """numba.cuda's dispatcher for a copy of `compiled`."""
        return self.copied(compiled, compiled.py_func, lambda copy: self._decorated(compiled, copy))

    def function(self, original: Callable[..., Any]) -> pytypes.FunctionType:
        """A copy of a plain function."""
        return self.copied(original, original, lambda copy: copy)

    def _decorated(self, compiled: Compiled, copy: pytypes.FunctionType) -> Any:
        options = dict(compiled.options)
        if compiled.is_device:
            options["device"] = True
        return self._cuda.jit(**options)(copy)

    def finished(self, key: Any, result: Any) -> None:
        """Compile the explicit signatures, and no other, as numba-cuda's decorator does."""
        if not isinstance(key, Compiled) or not key.signatures:
            return
        for each in key.signatures:
            if key.is_device:
                result.compile_device(each.arguments, each.result)
            else:
                result.compile(each.arguments)
        result._specialized = key.single  # noqa: SLF001 - set from outside there too
        result.disable_compile()

    def counterpart(self, value: Any, used: set[str]) -> Any:
        """What `value` becomes in the copy."""
        if value is sys.modules["wia_lab.cuda"] or value is stubs.CUDA:
            return self._cuda
        if isinstance(value, _STUBS):
            return self._named(value)
        if isinstance(value, Compiled):
            return self.dispatcher(value)
        if isinstance(value, pytypes.ModuleType):
            return self._module(value, used)
        if is_cpu_dispatcher(value) and _reaches_us(value.py_func, set()):
            return self.copied(value, value.py_func, self._cuda.jit(device=True))
        return value

    def _named(self, stub: Any) -> Any:
        """numba.cuda's object of the same name."""
        found = self._cuda
        for part in _dotted(stub):
            found = getattr(found, part, None) or importlib.import_module(f"numba.cuda.{part}")
        return found

    def _module(self, module: pytypes.ModuleType, used: set[str]) -> pytypes.ModuleType:
        """`module`, or a stand-in with counterparts for the names that the function may use."""
        changed = {}
        for name in used & vars(module).keys():
            value = vars(module)[name]
            if not isinstance(value, pytypes.ModuleType) or value is sys.modules["wia_lab.cuda"]:
                new = self.counterpart(value, used)
                if new is not value:
                    changed[name] = new
        if not changed:
            return module
        stand_in = pytypes.ModuleType(module.__name__, module.__doc__)
        stand_in.__dict__.update(vars(module))
        stand_in.__dict__.update(changed)
        return stand_in


def _reaches_us(function: Any, seen: set[int]) -> bool:
    """Whether `function` refers, through whatever it calls, to a name of this package."""
    if id(function) in seen:
        return False
    seen.add(id(function))
    return any(_is_ours(each, seen) for each in references(function))


def _is_ours(value: Any, seen: set[int]) -> bool:
    if isinstance(value, (*_STUBS, Compiled)):
        return True
    if isinstance(value, pytypes.ModuleType):
        return value.__name__.partition(".")[0] == "wia_lab"
    return is_cpu_dispatcher(value) and _reaches_us(value.py_func, seen)


def _dotted(stub: Any) -> list[str]:
    name = stub.__qualname__ if isinstance(stub, stubs.Stub) else stub.__name__
    return [part for part in str(name).split(".") if part != "cuda"]


@contextlib.contextmanager
def _compiling_for(cc: tuple[int, int]) -> Iterator[None]:
    """Let numba-cuda compile device functions for `cc`; it asks the current GPU otherwise."""
    module: Any = importlib.import_module("numba.cuda.dispatcher")
    original = module.get_current_device
    module.get_current_device = lambda: pytypes.SimpleNamespace(compute_capability=cc)
    try:
        yield
    finally:
        module.get_current_device = original
