"""What Numba types but no GPU runs: refused here, with the class of error that numba-cuda raises.

numba-cuda finds these faults while it lowers typed code, and often as a KeyError or AttributeError
of its own. Here a table says of each construct which class that is, what is wrong in one sentence,
and what to write instead. Every refusal is a `NumbaError` too, whatever else it is.
"""

from __future__ import annotations

import builtins
import functools
import operator
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numba.core import errors, ir, types

from wia_lab.simt import stubs
from wia_lab.simt.declarations import Dim3Type
from wia_lab.simt.lowered_ufuncs import MATH_TWINS, UFUNCS
from wia_lab.wording import counted

if TYPE_CHECKING:
    from numba.core.typing.templates import Signature

    from wia_lab.simt.device_functions import TypedFunction

_IN_PLACE = {
    "iadd": "add",
    "isub": "subtract",
    "imul": "multiply",
    "itruediv": "true_divide",
    "ifloordiv": "floor_divide",
    "imod": "remainder",
    "ipow": "power",
    "ilshift": "left_shift",
    "irshift": "right_shift",
    "iand": "bitwise_and",
    "ior": "bitwise_or",
    "ixor": "bitwise_xor",
}
_IN_PLACE_UFUNCS = {getattr(operator, name): getattr(np, of) for name, of in _IN_PLACE.items()}

_LOOP = "write a loop over elements"
_NEW_ARRAY = (
    "makes a new array, and a kernel cannot allocate memory: write a loop over elements, or use "
    "cuda.local.array or cuda.shared.array"
)

#: Methods and functions of arrays that type but do not lower, by name: class and what is wrong.
_CALLS: dict[str, tuple[str, str]] = dict.fromkeys(
    [
        "astype",
        "copy",
        "conj",
        "conjugate",
        "cumprod",
        "cumsum",
        "dot",
        "max",
        "min",
        "nonzero",
        "repeat",
        "take",
        "clip",
        "where",
    ],
    ("TypingError", _NEW_ARRAY),
) | {
    "ravel": ("NumbaTypeError", f"may copy the array, and a kernel cannot allocate: {_LOOP}"),
    "flatten": ("NumbaTypeError", _NEW_ARRAY),
    "tobytes": ("TypingError", _NEW_ARRAY),
    "sort": ("NotImplementedError", "is not available in a kernel: sort on the host"),
    "map": ("AttributeError", f"is a generator, which a kernel cannot run: {_LOOP}"),
    "filter": ("AttributeError", f"is a generator, which a kernel cannot run: {_LOOP}"),
}

_PRINTABLE = (types.Integer, types.Float, types.Boolean, types.StringLiteral, Dim3Type)


class Refusal(NamedTuple):
    """One construct that is refused: the class of the error, and the sentence without its line."""

    error: str
    sentence: str


class RefusedError(Exception):
    """Refused under the name of a builtin error: what numba-cuda lets escape.

    Unlike Numba's own errors it is not taken for one overload that does not fit, so it reaches
    the caller from a device function as well.
    """

    def __init__(self, message: str, loc: ir.Loc) -> None:
        super().__init__(message)
        self.loc = loc

    def __str__(self) -> str:
        return str(self.args[0])  # a KeyError would show its repr


@functools.cache
def error_class(name: str) -> Callable[..., Exception]:
    """Numba's error class of that name, or one that is the builtin of that name as well."""
    numba_class = getattr(errors, name, None)
    if numba_class is not None:
        return numba_class
    return type(name, (RefusedError, getattr(builtins, name)), {})


def check(typed: TypedFunction) -> None:
    """Raise for the first construct, in order of the source, that a GPU does not run."""
    found = sorted(_refusals(typed), key=lambda each: each[0].line)
    if found:
        loc, refusal = found[0]
        # Numba tries its own implementations in turn: one with a ufunc that a GPU lacks is none.
        internal = (typed.py_func.__module__ or "").startswith("numba.")
        name = "TypingError" if internal and refusal.error == "KeyError" else refusal.error
        raise error_class(name)(refusal.sentence, loc=loc)


def _refusals(typed: TypedFunction) -> Iterator[tuple[ir.Loc, Refusal]]:
    for block in typed.ir.blocks.values():
        for statement in block.body:
            refusal = _statement(typed, statement)
            if refusal is not None:
                yield statement.loc, refusal


def _statement(typed: TypedFunction, statement: ir.Stmt) -> Refusal | None:
    typemap = typed.typemap
    if isinstance(statement, ir.Assign):
        return _assignment(typed, statement)
    if isinstance(statement, ir.SetItem | ir.StaticSetItem):
        return _store(typemap, statement)
    if isinstance(statement, ir.SetAttr):
        if isinstance(typemap[statement.target.name], types.Array):
            return Refusal(
                "NotImplementedError",
                f"an array's {statement.attr} cannot be set in a kernel: make a view of it",
            )
    elif isinstance(statement, ir.Print):
        return _print(typemap, statement)
    elif isinstance(statement, ir.DynamicRaise | ir.DynamicTryRaise):
        return Refusal(
            "AttributeError",
            "the arguments of an exception must be constants in a kernel: raise it with a text",
        )
    return None


def _assignment(typed: TypedFunction, statement: ir.Assign) -> Refusal | None:
    value, kind = statement.value, typed.typemap.get(statement.target.name)
    if isinstance(value, ir.Yield):
        return Refusal("AttributeError", f"yield has no meaning in a kernel: {_LOOP}")
    if isinstance(kind, types.FunctionType):
        return Refusal(
            "NumbaNotImplementedError",
            "which function is called must be known when the kernel is compiled: call each in a "
            "branch of its own",
        )
    if not isinstance(value, ir.Expr):
        return None
    rule = _EXPRESSIONS.get(value.op)
    return None if rule is None else rule(typed, value, kind)


def _store(typemap: dict[str, types.Type], statement: ir.SetItem) -> Refusal | None:
    if not isinstance(typemap[statement.target.name], types.Array):
        return None
    if isinstance(typemap[statement.value.name], types.Array | types.List):
        if names := _row(typemap, statement):
            return Refusal("NumbaRuntimeError", names)
        return Refusal(
            "NumbaRuntimeError",
            f"an array cannot be stored into a slice in a kernel, only one value can: {_LOOP}",
        )
    return None


def _row(typemap: dict[str, types.Type], statement: ir.SetItem | ir.StaticSetItem) -> str | None:
    """The sentence for an index that names a row where an element is meant; None with a slice."""
    if isinstance(statement, ir.StaticSetItem):
        index = statement.index if isinstance(statement.index, tuple) else (statement.index,)
        if not all(isinstance(each, int) for each in index):
            return None
    else:
        kind = typemap[statement.index.name]
        index = tuple(kind) if isinstance(kind, types.BaseTuple) else (kind,)
        if not all(isinstance(each, types.Integer) for each in index):
            return None
    dimensions = typemap[statement.target.name].ndim
    return (
        f"the array has {counted(dimensions, 'dimension')} and is given {len(index)}, so a whole "
        "row is meant, and only one value can be stored: give an index for each dimension"
    )


def _print(typemap: dict[str, types.Type], statement: ir.Print) -> Refusal | None:
    for argument in statement.args:
        if not _printable(typemap[argument.name]):
            return Refusal(
                "NotImplementedError",
                f"print takes numbers, booleans and literal texts in a kernel, "
                f"not {typemap[argument.name]}: print the parts",
            )
    return None


def _printable(kind: types.Type) -> bool:
    if isinstance(kind, types.BaseTuple):
        return all(map(_printable, kind))
    return isinstance(kind, _PRINTABLE)


def _container(
    error: str, what: str, instead: str
) -> Callable[[TypedFunction, ir.Expr, types.Type], Refusal]:
    def rule(typed: TypedFunction, value: ir.Expr, kind: types.Type) -> Refusal:
        return Refusal(error, f"a {what} cannot be made in a kernel: {instead}")

    return rule


def _call(typed: TypedFunction, call: ir.Expr, kind: types.Type) -> Refusal | None:
    callee, signature = typed.typemap[call.func.name], typed.calltypes[call]
    if isinstance(callee, types.RecursiveCall):
        return _recursion(typed, callee, signature)
    key = getattr(callee, "typing_key", None)
    if isinstance(key, np.ufunc):
        return _ufunc(key, signature, f"np.{key.__name__}")
    if getattr(key, "_name", "") in ("mark_try_block", "end_try_block"):
        return Refusal("AttributeError", "try has no meaning in a kernel: test before you act")
    if isinstance(key, stubs.Stub):
        return _atomic(key, signature)
    if key in (str, repr):
        return _MADE_TEXT
    name = _name(key)
    of_array = isinstance(callee, types.BoundFunction) and isinstance(callee.this, types.Array)
    if name in _CALLS and (of_array or _of_numpy(key) or key in (map, filter)):
        error, wrong = _CALLS[name]
        return Refusal(error, f"{name}() {wrong}")
    if _of_numpy(key) and isinstance(kind, types.Array) and name not in ("asarray", "reshape"):
        return Refusal("TypingError", f"np.{name}() {_NEW_ARRAY}")
    return _text(kind)


def _name(key: object) -> str:
    """Last part of an operation's name; methods have keys such as "array.sort"."""
    if isinstance(key, tuple):
        return str(key[-1])
    return key.rpartition(".")[2] if isinstance(key, str) else getattr(key, "__name__", "")


def _of_numpy(key: object) -> bool:
    return (getattr(key, "__module__", None) or "").partition(".")[0] == "numpy"


def _recursion(
    typed: TypedFunction, callee: types.RecursiveCall, signature: Signature
) -> Refusal | None:
    function = callee.dispatcher_type.dispatcher
    if function.py_func is not typed.py_func:
        return Refusal(
            "AttributeError",
            f"{typed.name} and {function.py_func.__name__} call each other, and only a function "
            "that calls itself can be compiled for a GPU: make them one, or write a loop",
        )
    if tuple(signature.args) != typed.argument_types:
        given, own = (", ".join(map(str, each)) for each in (signature.args, typed.argument_types))
        return Refusal(
            "AttributeError",
            f"{typed.name}({own}) calls itself as {typed.name}({given}), and a GPU compiler takes "
            "one type throughout: convert the first argument, as in int64(5)",
        )
    return None


def _ufunc(ufunc: np.ufunc, signature: Signature, name: str) -> Refusal | None:
    if isinstance(signature.return_type, types.Array) and len(signature.args) == ufunc.nin:
        return Refusal("TypingError", f"{name} {_NEW_ARRAY}")
    if ufunc not in UFUNCS:
        twin = ufunc.__name__ if ufunc.__name__ in MATH_TWINS else None
        instead = f"write math.{twin}" if twin else "write the operator, or a function of math"
        return Refusal("KeyError", f"{name} is not available in a kernel: {instead}")
    return None


def _atomic(stub: stubs.Stub, signature: Signature) -> Refusal | None:
    if not stub.__qualname__.startswith("atomic.") or stub is stubs.atomic.compare_and_swap:
        return None
    array, index = signature.args[:2]
    given = len(index) if isinstance(index, types.BaseTuple) else 1
    if given != array.ndim:
        return Refusal(
            "TypeError",
            f"cuda.{stub.__qualname__} needs one index a dimension: the array has {array.ndim}, "
            f"{given} given",
        )
    return None


def _operator(typed: TypedFunction, value: ir.Expr, kind: types.Type) -> Refusal | None:
    if isinstance(kind, types.Array):
        return Refusal("TypingError", f"an expression of whole arrays {_NEW_ARRAY}")
    return _text(kind)


def _in_place(typed: TypedFunction, value: ir.Expr, kind: types.Type) -> Refusal | None:
    if not isinstance(kind, types.Array):
        return _text(kind)
    ufunc = _IN_PLACE_UFUNCS[value.fn]
    error = "NumbaRuntimeError" if ufunc in UFUNCS else "KeyError"
    return Refusal(error, f"a slice cannot be changed in place in a kernel: {_LOOP}")


def _getitem(typed: TypedFunction, value: ir.Expr, kind: types.Type) -> Refusal | None:
    signature = typed.calltypes.get(value)
    index = signature.args[1] if signature is not None else None
    parts = tuple(index) if isinstance(index, types.BaseTuple) else (index,)
    if isinstance(kind, types.Array) and any(isinstance(part, types.Array) for part in parts):
        return Refusal("TypingError", f"indexing by an array {_NEW_ARRAY}")
    return _text(kind)


def _getattr(typed: TypedFunction, value: ir.Expr, kind: types.Type) -> Refusal | None:
    owner = typed.typemap[value.value.name]
    if not isinstance(owner, types.Array):
        return None
    if value.attr == "flags":
        return Refusal("NumbaRuntimeError", "an array's flags are not known in a kernel")
    if value.attr == "imag" and not isinstance(owner.dtype, types.Complex):
        return Refusal("TypingError", f"the imaginary part of real numbers {_NEW_ARRAY}")
    return None


_MADE_TEXT = Refusal(
    "TypingError",
    "a kernel cannot make texts (no f-string, no str(), no +): print takes several values, as in "
    "print('i', i)",
)


def _text(kind: types.Type) -> Refusal | None:
    """Refuse a text that is made while the kernel runs; literals are known before."""
    return _MADE_TEXT if isinstance(kind, types.UnicodeType | types.UnicodeCharSeq) else None


_EXPRESSIONS: dict[str, Callable[[Any, Any, Any], Refusal | None]] = {
    "build_list": _container("NumbaRuntimeError", "list", "use a tuple, or cuda.local.array"),
    "build_set": _container("AttributeError", "set", "use a tuple, or cuda.local.array"),
    "build_map": _container("AttributeError", "dict", "use a tuple, or an array given at launch"),
    "call": _call,
    "binop": _operator,
    "unary": _operator,
    "inplace_binop": _in_place,
    "getitem": _getitem,
    "static_getitem": _getitem,
    "getattr": _getattr,
}
