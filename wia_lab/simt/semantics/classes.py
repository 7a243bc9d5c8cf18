"""What a profiler calls an operation, and which of its operands divides."""

from __future__ import annotations

import operator
import re
from typing import Any

import numpy as np
from numba import types

from wia_lab.simt.semantics.dtypes import is_number
from wia_lab.simt.semantics.lookup import name_of, typed_of

_DIVISIONS = {
    *(operator.truediv, operator.itruediv, operator.floordiv, operator.ifloordiv),
    *(operator.mod, operator.imod, divmod),
    *(np.true_divide, np.floor_divide, np.remainder, np.fmod, np.divmod),
    *("fp16.hdiv", "fp16.__hdiv", "libdevice.fast_fdividef"),
    *(f"libdevice.{kind}div_{mode}" for kind in "fd" for mode in ("rn", "rd", "ru", "rz")),
}


def divisor_of(key: Any, signature: Any) -> int | None:
    """Return the position of the operand that a call divides by, or None if it does not divide."""
    divides = name_of(key) in _DIVISIONS and all(map(is_number, signature.args))
    return 1 if divides else None


_COMPARISONS = {
    *(operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge),
    *(np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal),
}
_CONVERSIONS = {int, float, bool, complex, round, operator.truth, operator.pos, operator.index}
_CONVERSION_NAME = re.compile(r"(float|double|int|ll|half|short|char)2|_as_|llrint|llround")
_SPECIAL_NAMES = """
sin cos tan asin acos atan arcsin arccos arctan atan2 arctan2 sinh cosh tanh asinh acosh atanh
arcsinh arccosh arctanh exp exp2 exp10 expm1 log log2 log10 log1p sqrt rsqrt cbrt rcbrt rcp pow
powi hypot erf erfc gamma tgamma lgamma sincos sincospi sinpi cospi normcdf
"""
_SPECIAL = frozenset(_SPECIAL_NAMES.split())
_AFFIXES = re.compile(r"^(__)?(fast_)?|_(rn|rd|ru|rz|approx)$")


def kind_of(key: Any, signature: Any) -> str:
    """Return what a profiler counts a call as.

    "conversion" between number types; else "float64" for whatever works in float64 or complex128;
    "special" for a root, power, reciprocal or transcendental function in a narrower float;
    "float32" or "float16" for other arithmetic in them; "logic" for operations on booleans and
    comparisons of integers; else "integer".
    """
    name = name_of(key)
    if _is_conversion(key, name):
        return "conversion"
    typed = typed_of(signature)
    results = typed.result if isinstance(typed.result, tuple) else (typed.result,)
    dtypes = {str(dtype) for dtype in (*typed.args, *results)}
    if dtypes & {"float64", "complex128"}:
        return "float64"
    if dtypes & {"float32", "complex64", "float16"}:
        if _is_special(key):
            return "special"
        return "float32" if dtypes & {"float32", "complex64"} else "float16"
    return "logic" if dtypes == {"bool"} or name in _COMPARISONS else "integer"


def _is_conversion(key: Any, name: Any) -> bool:
    if isinstance(key, (types.Type, type)) or name in _CONVERSIONS:
        return True
    return isinstance(name, str) and _CONVERSION_NAME.search(name) is not None


def _is_special(key: Any) -> bool:
    """Whether a function is one of `_SPECIAL`, under any of libdevice's and fp16's spellings."""
    if key in {operator.pow, operator.ipow, pow}:
        return True
    base = _AFFIXES.sub("", getattr(key, "__name__", ""))
    return not _SPECIAL.isdisjoint((base, base[1:], base[:-1]))
