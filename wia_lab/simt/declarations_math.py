"""Types of `math`, of float16 arithmetic and of `float()` on the device: numba-cuda 0.30's rules.

They differ from the CPU's: `math.ceil` returns a float, float16 stays float16, and no function
takes int32 to float32.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable

from numba.core import types
from numba.core.typeconv import Conversion
from numba.core.typing.templates import (
    AbstractTemplate,
    ConcreteTemplate,
    Registry,
    Signature,
    signature,
)

registry = Registry()

_f2, _f4, _f8 = types.float16, types.float32, types.float64
_FLOATS = (_f4, _f8)
_WIDENED = [signature(_f8, types.int64), signature(_f8, types.uint64)]
_UNARY = [*_WIDENED, *(signature(kind, kind) for kind in _FLOATS)]
_BINARY = [signature(kind, kind, kind) for kind in _FLOATS]
_PLANE = [
    signature(_f8, types.int64, types.int64),
    signature(_f8, types.uint64, types.uint64),
    *_BINARY,
]
_TEST = [signature(types.boolean, kind) for kind in (types.int64, types.uint64, types.float32, _f8)]

_MATH: dict[str, list[Signature]] = {
    "acos acosh asin asinh atan atanh cosh degrees erf erfc expm1 gamma lgamma log1p radians "
    "sinh tanh tan": _UNARY,
    "sin cos ceil floor sqrt log log2 log10 exp exp2 fabs trunc": [*_UNARY, signature(_f2, _f2)],
    "atan2 hypot": _PLANE,
    "copysign fmod nextafter remainder": _BINARY,
    "pow": [*_BINARY, *(signature(kind, kind, types.int32) for kind in _FLOATS)],
    "frexp": [signature(types.Tuple([kind, types.int32]), kind) for kind in _FLOATS],
    "ldexp": [signature(kind, kind, types.int32) for kind in _FLOATS],
    "isinf isnan isfinite": _TEST,
    "modf": [signature(types.UniTuple(kind, 2), kind) for kind in (_f8, _f4)],
}


def _declare(function: object, cases: Iterable[Signature]) -> None:
    template = type("Math", (ConcreteTemplate,), {"cases": list(cases)})
    registry.register_global(function)(template)


for _names, _cases in _MATH.items():
    for _name in _names.split():
        _declare(getattr(math, _name), _cases)
_declare(breakpoint, [signature(types.none)])


@registry.register_global(float)
class _Float(AbstractTemplate):
    def generic(self, args: tuple, kws: dict) -> Signature | None:
        return signature(_f2, _f2) if tuple(args) == (_f2,) and not kws else None


class _HalfUnary(AbstractTemplate):
    def generic(self, args: tuple, kws: dict) -> Signature | None:
        return signature(_f2, _f2) if tuple(args) == (_f2,) and not kws else None


class _HalfBinary(AbstractTemplate):
    """A float16 and what converts to it without loss; abstract, so it goes before float32."""

    result = _f2

    def generic(self, args: tuple, kws: dict) -> Signature | None:
        if kws or len(args) != 2 or _f2 not in args:
            return None
        other = args[1] if args[0] == _f2 else args[0]
        lossless = (Conversion.exact, Conversion.promote, Conversion.safe)
        if self.context.can_convert(other, _f2) not in lossless:
            return None
        return signature(self.result, _f2, _f2)


class _HalfComparison(_HalfBinary):
    result = types.boolean


for _function in (abs, operator.abs, operator.neg, operator.pos):
    registry.register_global(_function)(_HalfUnary)
for _name in ("add", "iadd", "sub", "isub", "mul", "imul", "truediv", "itruediv"):
    registry.register_global(getattr(operator, _name))(_HalfBinary)
for _name in ("eq", "ne", "ge", "gt", "le", "lt"):
    registry.register_global(getattr(operator, _name))(_HalfComparison)
