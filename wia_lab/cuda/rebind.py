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
    """numba.cuda's attribute `name`, wrapped where it takes a Python function."""
    if name == "compile_ptx":
        return compile_ptx
    return getattr(numba_cuda(), name)


class Rebinding:
    """Copies of functions that refer to one another, each made once."""

    def __init__(self) -> None:
        self._copies: dict[int, Any] = {}
        self._cuda = numba_cuda()

    def dispatcher(self, compiled: Compiled) -> Any:
        """numba.cuda's dispatcher for a copy of `compiled`."""
        return self._copied(
            compiled, compiled.py_func, lambda copy: self._decorated(compiled, copy)
        )

    def function(self, original: Callable[..., Any]) -> pytypes.FunctionType:
        """A copy of a plain function."""
        return self._copied(original, original, lambda copy: copy)

    def _decorated(self, compiled: Compiled, copy: pytypes.FunctionType) -> Any:
        options = dict(compiled.options)
        if compiled.is_device:
            options["device"] = True
        return self._cuda.jit(**options)(copy)

    def _copied(self, key: Any, original: Any, finish: Callable[[Any], Any]) -> Any:
        """Copy `original` and `finish` the copy, then fill in what it refers to.

        The copy is known before its references are followed, so that functions may call
        themselves and each other.
        """
        if id(key) in self._copies:
            return self._copies[id(key)]
        names: dict[str, Any] = dict(original.__globals__)
        cells = tuple(pytypes.CellType() for _ in original.__closure__ or ())
        copy = pytypes.FunctionType(
            original.__code__, names, original.__name__, original.__defaults__, cells or None
        )
        copy.__kwdefaults__ = original.__kwdefaults__
        copy.__module__, copy.__qualname__ = original.__module__, original.__qualname__
        copy.__annotations__, copy.__doc__ = original.__annotations__, original.__doc__
        self._copies[id(key)] = result = finish(copy)
        self._fill(original, names, cells)
        if isinstance(key, Compiled):
            self._compile_signatures(key, result)
        return result

    def _fill(self, original: Any, names: dict[str, Any], cells: tuple[Any, ...]) -> None:
        used = _names(original.__code__)
        for name in used & names.keys():
            names[name] = self._counterpart(names[name], used)
        for cell, source in zip(cells, original.__closure__ or (), strict=True):
            with contextlib.suppress(ValueError):  # a cell that is still empty stays empty
                cell.cell_contents = self._counterpart(source.cell_contents, used)

    def _compile_signatures(self, compiled: Compiled, result: Any) -> None:
        """Compile the explicit signatures, and no other, as numba-cuda's decorator does."""
        for each in compiled.signatures:
            if compiled.is_device:
                result.compile_device(each.arguments, each.result)
            else:
                result.compile(each.arguments)
        if compiled.signatures:
            result._specialized = compiled._single  # noqa: SLF001 - set from outside there too
            result.disable_compile()

    def _counterpart(self, value: Any, used: set[str]) -> Any:
        """What `value` becomes in the copy."""
        if value is sys.modules["wia_lab.cuda"] or value is stubs.CUDA:
            return self._cuda
        if isinstance(value, _STUBS):
            return self._named(value)
        if isinstance(value, Compiled):
            return self.dispatcher(value)
        if isinstance(value, pytypes.ModuleType):
            return self._module(value, used)
        if _is_cpu_dispatcher(value) and self._reaches_us(value.py_func, set()):
            return self._copied(value, value.py_func, self._cuda.jit(device=True))
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
                new = self._counterpart(value, used)
                if new is not value:
                    changed[name] = new
        if not changed:
            return module
        stand_in = pytypes.ModuleType(module.__name__, module.__doc__)
        stand_in.__dict__.update(vars(module))
        stand_in.__dict__.update(changed)
        return stand_in

    def _reaches_us(self, function: Any, seen: set[int]) -> bool:
        """Whether `function` refers, through whatever it calls, to a name of this package."""
        if id(function) in seen:
            return False
        seen.add(id(function))
        return any(self._is_ours(each, seen) for each in _references(function))

    def _is_ours(self, value: Any, seen: set[int]) -> bool:
        if isinstance(value, (*_STUBS, Compiled)) or value is sys.modules["wia_lab.cuda"]:
            return True
        if isinstance(value, pytypes.ModuleType):
            return value.__name__.partition(".")[0] == "wia_lab"
        return _is_cpu_dispatcher(value) and self._reaches_us(value.py_func, seen)


def _references(function: Any) -> list[Any]:
    """The values of the globals and closure variables that a function uses."""
    used = _names(function.__code__)
    found = [value for name, value in function.__globals__.items() if name in used]
    for cell in function.__closure__ or ():
        with contextlib.suppress(ValueError):
            found.append(cell.cell_contents)
    return found


def _names(code: pytypes.CodeType) -> set[str]:
    """Globals and attributes that a code object uses, those of functions inside it included."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, pytypes.CodeType):
            names |= _names(constant)
    return names


def _dotted(stub: Any) -> list[str]:
    name = stub.__qualname__ if isinstance(stub, stubs.Stub) else stub.__name__
    return [part for part in str(name).split(".") if part != "cuda"]


def _is_cpu_dispatcher(value: Any) -> bool:
    """Whether `value` is what `numba.njit` makes."""
    return type(value).__module__ == "numba.core.registry" and hasattr(value, "py_func")


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
