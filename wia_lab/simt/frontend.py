"""From a Python kernel to typed Numba IR: Numba's front end with numba-cuda's typing rules.

`type_function(kernel, argument_types)` runs Numba's untyped passes and type inference and returns
a `TypedFunction`. Nothing is lowered, and `numba.cuda` is neither needed nor imported: the names
of kernels are typed by `declarations`, whichever module they were reached through.

How to read the result, from types alone. The callee of an `ir.Expr.call` c is
`typemap[c.func.name]`, one of

- `types.Function`, whose `typing_key` is the operation: a stub of `stubs`, a function of
  `operator` or `math`, a builtin, a NumPy ufunc, a type. If it is an overload written in Python,
  `overload_of(typed, c)` gives its TypedFunction;
- `DeviceFunctionType`: a device function; `.specialise(calltypes[c].args)` is its TypedFunction;
- `types.RecursiveCall`: a device function calls itself; `.dispatcher_type` is as above;
- `types.NumberClass` or `types.NamedTupleClass`: a conversion, a named tuple made;
- `types.BoundFunction`: a method; `.typing_key` names it ("array.sum", or a pair whose second is
  the name), `.this` is the type of its object. `overload_of` may have an implementation.

An `ir.Expr.getattr` e whose object has type `types.Module` names a stub or a namespace:
`getattr(typemap[e.value.name].pymod, e.attr)`. `calltypes[c]` is the signature chosen; its
argument types may differ from the variables', which are then converted. `fold_arguments` puts a
call's arguments in the order of that signature.

Globals and closure values are read when a function is typed, and typed functions are kept by what
was read; a NumPy array among them becomes a constant, a copy.
"""

from __future__ import annotations

import threading
from types import FunctionType
from typing import Any

import numba
import numpy as np
from numba.core import errors, ir, types
from numba.core.registry import CPUDispatcher
from numba.core.target_extension import target_override
from numba.core.typing.templates import Signature
from numba.core.typing.templates import fold_arguments as fold
from numba.core.typing.typeof import Purpose
from numba.core.typing.typeof import typeof as numba_typeof
from numba.np.numpy_support import from_dtype

from wia_lab.simt.device_functions import (
    DeviceFunction,
    DeviceFunctionType,
    TypedFunction,
    device_function,
    typing_context,
)
from wia_lab.simt.explanations import explain
from wia_lab.simt.typing_context import TARGET, load_late

__all__ = [
    "DeviceFunctionType",
    "TypedFunction",
    "constant_of",
    "fold_arguments",
    "is_for_cpu",
    "overload_of",
    "type_function",
    "typeof",
]

SUPPORTED_NUMBA = (0, 68)

if tuple(numba.version_info[:2]) != SUPPORTED_NUMBA:
    raise ImportError(
        f"wia_lab's simulator uses the front end of Numba {'.'.join(map(str, SUPPORTED_NUMBA))}, "
        f"and numba {numba.__version__} is installed: run "
        f'pip install "numba=={".".join(map(str, SUPPORTED_NUMBA))}.*"'
    )

_lock = threading.RLock()


def type_function(
    py_func: FunctionType, argument_types: tuple[types.Type, ...], *, kernel: bool = True
) -> TypedFunction:
    """Type `py_func` for `argument_types`, as numba-cuda would.

    Parameters
    ----------
    py_func
        A Python function, or an object that holds one as `.py_func`.
    argument_types
        Numba types, one a parameter; see `typeof`.
    kernel
        A kernel must not return a value; a device function may.

    Raises
    ------
    numba.core.errors.NumbaError
        TypingError, UnsupportedError, …: the class that numba-cuda raises.
    """
    source = getattr(py_func, "py_func", py_func)
    with _lock:
        function = device_function(source)
        try:
            return _specialise(function, tuple(argument_types), kernel=kernel)
        except Exception as error:
            explain(error, source)
            if isinstance(error, errors.NumbaError):  # Numba's own frames say nothing of the kernel
                raise error.with_traceback(None) from None
            raise


def _specialise(
    function: DeviceFunction, argument_types: tuple[types.Type, ...], *, kernel: bool
) -> TypedFunction:
    try:
        return function.specialise(argument_types, kernel=kernel)
    except errors.TypingError as error:
        if not load_late(str(error)):
            raise
    return function.specialise(argument_types, kernel=kernel)


def typeof(value: object) -> types.Type:
    """Numba type of a launch argument; ValueError if it has none.

    A Python int is int64, a float float64, a bool boolean; arrays keep dtype, dimensions, layout
    (C, F or A) and whether they may be written. Objects with `__cuda_array_interface__` are typed
    as the array they describe.
    """
    interface = getattr(value, "__cuda_array_interface__", None)
    if interface is not None and not isinstance(value, np.ndarray):
        return _typeof_interface(interface)
    return numba_typeof(value, Purpose.argument)


def _typeof_interface(interface: dict[str, Any]) -> types.Array:
    dtype = np.dtype(interface["typestr"])
    shape, strides = interface["shape"], interface.get("strides")
    pattern = np.lib.stride_tricks.as_strided(np.empty(1, dtype), shape, strides)
    contiguous = (("C", pattern.flags.c_contiguous), ("F", pattern.flags.f_contiguous))
    layout = next((order for order, holds in contiguous if holds), "A")
    readonly = bool(interface["data"][1])
    return types.Array(from_dtype(dtype), len(shape), layout, readonly=readonly)


def fold_arguments(
    call: ir.Expr, signature: Signature, typemap: dict[str, types.Type]
) -> list[ir.Var | ir.Const | tuple[ir.Var, ...]]:
    """Arguments of a call in the order of its signature, keywords and defaults resolved.

    Each is a variable, or a constant where a default applies; those that fill the `*args` of a
    device function come as one tuple of variables. A tuple splatted into the call was spread
    when the function was typed.
    """
    positional = tuple(call.args)
    if signature.pysig is None:
        return [*positional, *(value for _, value in call.kws)]
    return list(
        fold(
            signature.pysig,
            positional,
            dict(call.kws),
            lambda index, param, value: value,
            lambda index, param, default: ir.Const(default, call.loc),
            lambda index, param, values: tuple(values),
        )
    )


def overload_of(typed: TypedFunction, call: ir.Expr) -> TypedFunction | None:
    """The Python implementation that a call of an `@overload` chose; None for other callees.

    That of a method takes the method's object first.
    """
    callee = typed.typemap[call.func.name]
    args = tuple(typed.calltypes[call].args)
    if isinstance(callee, types.BoundFunction):
        written = getattr(callee.template, "_overload_func", None)
        if written is None:
            return None
        callee, args = typing_context().resolve_value_type(written), (callee.this, *args)
    for template in getattr(callee, "templates", ()):
        compiled = getattr(template, "_compiled_overloads", {})
        if args in compiled and not isinstance(compiled[args], TypedFunction):
            # All targets keep what they chose there: another has compiled the same call since
            with _lock, target_override(TARGET):
                callee.get_call_type(typing_context(), args, {})
        if args in compiled:
            return compiled[args]
    return None


def is_for_cpu(thing: object) -> bool:
    """Whether it is a function under `numba.jit` or `njit`, which a kernel calls and is not."""
    return isinstance(thing, CPUDispatcher)


def constant_of(function: ir.FunctionIR, name: str) -> object:
    """Python value of a variable that is known before the kernel runs; ValueError if it is not.

    Literals, global and closure constants, and tuples of these are known.
    """
    try:
        definition = function.get_definition(name)
    except KeyError:
        definition = None
    if isinstance(definition, ir.Const | ir.Global | ir.FreeVar):
        return definition.value
    if isinstance(definition, ir.Expr) and definition.op == "build_tuple":
        return tuple(constant_of(function, item.name) for item in definition.items)
    if isinstance(definition, ir.Var):
        return constant_of(function, definition.name)
    raise ValueError(f"{name} has no value before {function.func_id.func_name} runs")
