"""float16: operators' rules beside float32's, and `cuda.fp16`.

Sums, products and quotients are rounded once: NumPy computes them in float32, whose 24 bits are
enough for that. Functions are computed in float32 and rounded; the device approximates some.
`hne` and the other comparisons are false where an operand is nan, their `u` forms true; the
operator `!=` is `hneu` (CUDA's cuda_fp16.hpp).
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from wia_lab.simt.semantics.casts import Lanes, saturate
from wia_lab.simt.semantics.directed import from_integer, narrow
from wia_lab.simt.semantics.dtypes import FLOAT16, FLOAT32, FLOAT64
from wia_lab.simt.semantics.exact import fused
from wia_lab.simt.semantics.mathematics import through_float32
from wia_lab.simt.semantics.selection import fmax, fmin
from wia_lab.simt.semantics.table import (
    Builder,
    Compute,
    Plan,
    Typed,
    implements,
    in_arguments,
    in_result,
    select,
)

_ZERO = np.float16(0)

WHOLE: dict[str, Compute] = {"rn": np.rint, "rd": np.floor, "ru": np.ceil, "rz": np.trunc}
"""How each rounding mode makes a float whole."""


def clamp(x: Lanes) -> Lanes:
    """x between 0 and 1; nan becomes 0."""
    zero, one = x.dtype.type(0), x.dtype.type(1)
    return select(x > zero, np.minimum(x, one), zero)


def _names(name: str) -> tuple[str, ...]:
    """Both spellings of a function of `cuda.fp16`."""
    return f"fp16.{name}", f"fp16.__{name}"


_fma = fused(FLOAT16)

_BINARY: dict[str, Compute] = {
    "hadd": np.add,
    "hsub": np.subtract,
    "hmul": np.multiply,
    "hdiv": np.true_divide,
    "hadd_rn": np.add,
    "hsub_rn": np.subtract,
    "hmul_rn": np.multiply,
    "hadd_sat": lambda x, y: clamp(x + y),
    "hsub_sat": lambda x, y: clamp(x - y),
    "hmul_sat": lambda x, y: clamp(x * y),
    "hmax": fmax,
    "hmin": fmin,
    "hmax_nan": lambda x, y: select(np.isnan(x) | np.isnan(y), np.maximum(x, y), fmax(x, y)),
    "hmin_nan": lambda x, y: select(np.isnan(x) | np.isnan(y), np.minimum(x, y), fmin(x, y)),
    "hfma": _fma,
    "hfma_sat": lambda x, y, z: clamp(_fma(x, y, z)),
    "hfma_relu": lambda x, y, z: np.maximum(_fma(x, y, z), _ZERO),
    "habs": np.absolute,
    "hneg": np.negative,
}
for _name, _compute in _BINARY.items():
    implements(*_names(_name))(in_result(_compute))

_UNARY: dict[str, Compute] = {
    "htrunc": np.trunc,
    "hceil": np.ceil,
    "hfloor": np.floor,
    "hrint": np.rint,
    "hsqrt": np.sqrt,
    "hrsqrt": lambda x: np.float32(1) / np.sqrt(x),
    "hrcp": lambda x: np.float32(1) / x,
    "hlog": np.log,
    "hlog2": np.log2,
    "hlog10": np.log10,
    "hexp": np.exp,
    "hexp2": np.exp2,
    "hexp10": lambda x: np.power(np.float32(10), x),
    "htanh": np.tanh,
    "htanh_approx": np.tanh,
    "hcos": np.cos,
    "hsin": np.sin,
}
for _name, _compute in _UNARY.items():
    implements(f"fp16.{_name}")(through_float32(_compute))

_COMPARISONS: dict[str, Compute] = {
    "heq": operator.eq,
    "hlt": operator.lt,
    "hle": operator.le,
    "hgt": operator.gt,
    "hge": operator.ge,
}


def _unordered(compare: Compute) -> Compute:
    return lambda x, y: compare(x, y) | np.isnan(x) | np.isnan(y)


for _name, _compute in _COMPARISONS.items():
    implements(*_names(_name))(in_arguments(_compute))
    implements(*_names(f"{_name}u"))(in_arguments(_unordered(_compute)))
implements(*_names("hne"))(in_arguments(lambda x, y: (x < y) | (x > y)))
implements(*_names("hneu"))(in_arguments(operator.ne))
implements(*_names("hisnan"))(in_arguments(np.isnan))


@implements(*_names("hisinf"))
def hisinf(typed: Typed) -> Plan:
    """-1 for minus infinity, 1 for infinity, else 0."""

    def compute(x: Lanes) -> Lanes:
        return (np.isinf(x) * np.sign(select(np.isnan(x), _ZERO, x))).astype(typed.result)

    return Plan(compute, typed.args)


def to_integer(mode: str, target: Any) -> Compute:
    """Return the conversion of a float to an integer dtype in a rounding mode, saturating."""
    whole = WHOLE[mode]

    def compute(x: Lanes) -> Lanes:
        wide = x.dtype == FLOAT64 or target.itemsize == 8
        limits = np.iinfo(target)
        if_nan = (limits.min or (limits.max + 1) // 2) if wide else 0
        return saturate(whole(x), target, if_nan)

    return compute


def _from_half(mode: str) -> Builder:
    return lambda typed: Plan(to_integer(mode, typed.result), typed.args)


def _to_half(mode: str) -> Builder:
    """Return the builder of a conversion to float16 in a rounding mode."""

    def build(typed: Typed) -> Plan:
        (source,) = typed.args
        if source.kind == "f":
            return Plan(lambda x: narrow(x.astype(FLOAT64), mode, FLOAT16), typed.args)
        return Plan(lambda x: from_integer(x, mode, FLOAT16), typed.args)

    return build


for _integer in ("char", "uchar", "short", "ushort", "int", "uint", "ll", "ull"):
    for _mode in WHOLE:
        implements(f"fp16.__half2{_integer}_{_mode}")(_from_half(_mode))
        implements(f"fp16.__{_integer}2half_{_mode}")(_to_half(_mode))
for _mode in WHOLE:
    implements(f"fp16.__float2half_{_mode}")(_to_half(_mode))
implements("fp16.__float2half", "fp16.__double2half")(_to_half("rn"))


@implements("fp16.__half2float")
def half_to_float(typed: Typed) -> Plan:
    """Exact."""
    return Plan(lambda x: x.astype(FLOAT32), typed.args)
