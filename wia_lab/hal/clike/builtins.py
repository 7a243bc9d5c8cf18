"""Functions of OpenCL C that the kernel language has, as Python text."""

from __future__ import annotations

from dataclasses import dataclass

from wia_lab.hal.clike.types import BOOL, FLOAT, INT, UINT, ULONG, Scalar, common, promoted
from wia_lab.hal.clike.values import Value, converted

_AXES = "xyz"

PLACES = {
    "get_global_id": "cuda.blockIdx.{a} * cuda.blockDim.{a} + cuda.threadIdx.{a}",
    "get_local_id": "cuda.threadIdx.{a}",
    "get_group_id": "cuda.blockIdx.{a}",
    "get_local_size": "cuda.blockDim.{a}",
    "get_num_groups": "cuda.gridDim.{a}",
    "get_global_size": "cuda.gridDim.{a} * cuda.blockDim.{a}",
}
FENCES = {"CLK_LOCAL_MEM_FENCE": 1, "CLK_GLOBAL_MEM_FENCE": 2}
BARRIERS = {
    "barrier": ("cuda.syncthreads()", "cuda.syncthreads()"),
    "work_group_barrier": ("cuda.syncthreads()", "cuda.syncthreads()"),
    "mem_fence": ("cuda.threadfence_block()", "cuda.threadfence()"),
}
"""What each is with a fence of local memory alone, and with one of global memory."""

FLOATING = {
    "sqrt": "math.sqrt", "exp": "math.exp", "log": "math.log", "sin": "math.sin",
    "cos": "math.cos", "tan": "math.tan", "tanh": "math.tanh", "fabs": "math.fabs",
    "floor": "math.floor", "ceil": "math.ceil", "pow": "math.pow",
    "fmin": "min", "fmax": "max",
}  # fmt: skip
_TWO = ("pow", "fmin", "fmax")
INTEGER = {"min": 2, "max": 2, "abs": 1}

ATOMICS = {
    "atomic_add": ("add", 1), "atomic_sub": ("sub", 1), "atomic_min": ("min", 1),
    "atomic_max": ("max", 1), "atomic_and": ("and_", 1), "atomic_or": ("or_", 1),
    "atomic_xor": ("xor", 1), "atomic_xchg": ("exch", 1), "atomic_cmpxchg": ("cas", 2),
    "atomic_inc": ("add", 0), "atomic_dec": ("sub", 0),
}  # fmt: skip
"""numba.cuda's name, and how many values follow the address."""

NAMES = (*PLACES, *BARRIERS, *FLOATING, *INTEGER, *ATOMICS)


@dataclass(frozen=True, slots=True)
class Misuse(Exception):
    """What is wrong with the arguments, as the rest of a sentence."""

    what: str


def place(name: str, arguments: list[Value]) -> Value:
    """An index or a size along an axis, which must be known: of type size_t."""
    axis = arguments[0].constant if len(arguments) == 1 else None
    if axis is None or not 0 <= axis < 3:
        raise Misuse(f"{name} takes one axis: write 0, 1 or 2")
    return Value(f"uint64({PLACES[name].format(a=_AXES[axis])})", ULONG)


def function(name: str, arguments: list[Value]) -> Value:
    """One of numbers alone."""
    count = INTEGER.get(name, 2 if name in _TWO else 1)
    if len(arguments) != count or not all(each.is_number for each in arguments):
        raise Misuse(f"{name} takes {count} number{'s' * (count > 1)}")
    kind = _common(arguments)
    if name in INTEGER:
        texts = ", ".join(converted(each, kind).text for each in arguments)
        return Value(f"{kind.cast}({name}({texts}))", kind)
    kind = kind if kind.is_float else FLOAT
    texts = ", ".join(converted(each, kind).text for each in arguments)
    return Value(f"{kind.cast}({FLOATING[name]}({texts}))", kind)


def _common(arguments: list[Value]) -> Scalar:
    kind = promoted(arguments[0].scalar)
    for each in arguments[1:]:
        kind = common(kind, each.scalar)
    return kind


def atomic(name: str, array: str, index: str, kind: Scalar, values: list[Value]) -> Value:
    """An atomic on one element; its value is the element's old one."""
    method, count = ATOMICS[name]
    if len(values) != count:
        raise Misuse(f"{name} takes an address and {count} value{'s' * (count != 1)}")
    if kind is BOOL or kind.bits < INT.bits or (kind.is_float and method not in _OF_FLOATS):
        raise Misuse(f"{name} of {kind.name} is not there: use int or uint")
    given = [converted(each, kind).text for each in values] or [converted(_ONE, kind).text]
    return Value(f"cuda.atomic.{method}({array}, {index}, {', '.join(given)})", kind)


_ONE = Value("1", UINT, 1)
_OF_FLOATS = ("add", "sub", "min", "max")
