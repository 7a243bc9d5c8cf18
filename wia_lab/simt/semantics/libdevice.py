"""`cuda.libdevice`: NVIDIA's device library, by the definitions of its user's guide.

Results are rounded correctly or to the few units in the last place that the guide allows, also for
the `fast_` functions, which on hardware are coarser. Integer functions whose names begin with `u`
read their int32 or int64 operands as unsigned. The Bessel functions and the inverse error and
normal functions are left out: `operation` says so.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wia_lab.simt.semantics.casts import Lanes, saturate
from wia_lab.simt.semantics.directed import MODES, from_integer, narrow, rounded
from wia_lab.simt.semantics.dtypes import FLOAT16, FLOAT32, FLOAT64, INT32, INT64, UINT32, UINT64
from wia_lab.simt.semantics.exact import fma64
from wia_lab.simt.semantics.halves import clamp, to_integer
from wia_lab.simt.semantics.mathematics import FUNCTIONS, frexp, modf, round_to_int
from wia_lab.simt.semantics.selection import fmax, fmin
from wia_lab.simt.semantics.special import erfc, remainder_and_quotient
from wia_lab.simt.semantics.table import (
    TABLE,
    Builder,
    Compute,
    Plan,
    Typed,
    implements,
    in_arguments,
    in_result,
    select,
)

MISSING = frozenset(
    f"libdevice.{name}{suffix}"
    for name in ["j0", "j1", "jn", "y0", "y1", "yn", "erfinv", "erfcinv", "erfcx", "normcdfinv"]
    for suffix in ("", "f")
)
"""Functions that the simulator does not compute."""


def _both(name: str) -> tuple[str, str]:
    """Names of a function of float64 and of float32."""
    return f"libdevice.{name}", f"libdevice.{name}f"


def in_float64(compute: Compute) -> Builder:
    """Return a builder that computes in float64 and rounds to the result's type once."""

    def build(typed: Typed) -> Plan:
        narrowed = typed.result.type
        takes = (FLOAT64,) * len(typed.args)
        if typed.result == FLOAT64:
            return Plan(compute, takes)
        return Plan(lambda *lanes: compute(*lanes).astype(narrowed), takes)

    return build


_RENAMED = {"gamma": "tgamma"}
for _name, _compute in FUNCTIONS.items():
    implements(*_both(_RENAMED.get(_name, _name)))(in_result(_compute))


def half_away(x: Lanes) -> Lanes:
    """C's `round`: to the nearest whole number, halves away from zero."""
    whole = np.trunc(x)
    half = np.abs(x - whole) >= 0.5
    return select(half, whole + np.copysign(x.dtype.type(1), x), whole)


def _sin_of_turns(x: Lanes) -> Lanes:
    """sin(pi x), exact where it is 0 or ±1."""
    rest = np.fmod(x, 2.0)
    near = np.rint(rest * 2.0)  # quarters of a turn
    angle = (rest - near / 2.0) * math.pi
    quarter = select(np.isfinite(near), near, 0.0).astype(INT64) & 3
    value = select(quarter % 2 == 0, np.sin(angle), np.cos(angle))
    value = select(quarter >= 2, -value, value)
    return select(value == 0, np.copysign(0.0, x), value)


def _cos_of_turns(x: Lanes) -> Lanes:
    rest = np.abs(np.fmod(x, 2.0))
    near = np.rint(rest * 2.0)
    angle = (rest - near / 2.0) * math.pi
    quarter = select(np.isfinite(near), near, 0.0).astype(INT64) & 3
    value = select(quarter % 2 == 0, np.cos(angle), np.sin(angle))
    value = select((quarter == 1) | (quarter == 2), -value, value)
    return value + 0.0


def _normal(x: Lanes) -> Lanes:
    """Half of erfc(-x / sqrt 2); its argument's rounding error is made good by the derivative."""
    argument = -x * math.sqrt(0.5)
    error = fma64(-x, np.float64(math.sqrt(0.5)), -argument) - x * _ROOT_HALF_ERROR
    slope = -2 / math.sqrt(math.pi) * np.exp(-argument * argument)
    correction = select(np.isfinite(x), slope * error, 0.0)
    return 0.5 * (erfc(argument) + correction)


_ROOT_HALF_ERROR = -4.833646656726457e-17
"""sqrt(1/2) minus its float64."""

_IN_FLOAT64: dict[str, Compute] = {
    "cbrt": np.cbrt,
    "rcbrt": lambda x: 1.0 / np.cbrt(x),
    "rsqrt": lambda x: 1.0 / np.sqrt(x),
    "exp10": lambda x: np.power(10.0, x),
    "sinpi": _sin_of_turns,
    "cospi": _cos_of_turns,
    "normcdf": _normal,
}
for _name, _compute in _IN_FLOAT64.items():
    implements(*_both(_name))(in_float64(_compute))
implements("cbrt")(in_float64(np.cbrt))
implements("libdevice.frsqrt_rn")(in_float64(_IN_FLOAT64["rsqrt"]))


def _positive_difference(x: Lanes, y: Lanes) -> Lanes:
    return select(x <= y, x.dtype.type(0), x - y)


_OWN_TYPE: dict[str, Compute] = {
    "rint": np.rint,
    "nearbyint": np.rint,
    "round": half_away,
    "fmax": fmax,
    "fmin": fmin,
    "fdim": _positive_difference,
}
for _name, _compute in _OWN_TYPE.items():
    implements(*_both(_name))(in_result(_compute))
implements("libdevice.saturatef")(in_result(clamp))


def _fast_quotient(x: Lanes, y: Lanes) -> Lanes:
    """x / y, but 0 where |y| is above 2**126, as the guide says (nan for infinite x)."""
    large = (np.abs(y) > 2.0**126) & np.isfinite(y)
    return select(large, x * np.float32(0), x / y)


_FAST = {name: FUNCTIONS[name] for name in ("cos", "sin", "tan", "exp", "log", "log2", "log10")}
for _name, _compute in _FAST.items():
    implements(f"libdevice.fast_{_name}f")(in_result(_compute))
implements("libdevice.fast_exp10f")(in_float64(_IN_FLOAT64["exp10"]))
implements("libdevice.fast_powf")(in_result(np.power))
implements("libdevice.fast_fdividef")(in_result(_fast_quotient))

for _mode in MODES:
    for _function in ("add", "sub", "mul", "div", "sqrt", "rcp"):
        implements(f"libdevice.f{_function}_{_mode}")(in_result(rounded(_function, FLOAT32, _mode)))
        implements(f"libdevice.d{_function}_{_mode}")(in_result(rounded(_function, FLOAT64, _mode)))
    implements(f"libdevice.fmaf_{_mode}")(in_result(rounded("fma", FLOAT32, _mode)))
    implements(f"libdevice.fma_{_mode}")(in_result(rounded("fma", FLOAT64, _mode)))
TABLE["libdevice.fma"] = TABLE["libdevice.fmaf"] = TABLE["fma"]


def _float_to_integer(mode: str, target: np.dtype[Any]) -> Builder:
    """Return the builder of a conversion; an unsigned result comes as a signed type's bits."""
    to = to_integer(mode, target)
    return lambda typed: Plan(lambda x: to(x).view(typed.result), typed.args)


def _integer_to_float(mode: str, source: np.dtype[Any]) -> Builder:
    return lambda typed: Plan(
        lambda x: from_integer(x.view(source), mode, typed.result), typed.args
    )


_INTEGERS = {"int": INT32, "uint": UINT32, "ll": INT64, "ull": UINT64}
for _mode in MODES:
    for _name, _dtype in _INTEGERS.items():
        for _float in ("float", "double"):
            implements(f"libdevice.{_float}2{_name}_{_mode}")(_float_to_integer(_mode, _dtype))
            implements(f"libdevice.{_name}2{_float}_{_mode}")(_integer_to_float(_mode, _dtype))
    implements(f"libdevice.double2float_{_mode}")(
        in_arguments(lambda x, mode=_mode: narrow(x, mode))
    )


@implements("libdevice.float2half_rn")
def float_to_half(typed: Typed) -> Plan:
    """The bits of a float16, as an int16."""
    return Plan(lambda x: x.astype(FLOAT16).view(typed.result), typed.args)


@implements("libdevice.half2float")
def half_to_float(typed: Typed) -> Plan:
    """A float16 from its bits."""
    return Plan(lambda x: x.view(FLOAT16).astype(FLOAT32), typed.args)


@implements(*_both("llrint"))
def llrint(typed: Typed) -> Plan:
    """To int64, half to even."""
    del typed
    return Plan(round_to_int, (FLOAT64,))


@implements(*_both("llround"))
def llround(typed: Typed) -> Plan:
    """To int64, halves away from zero."""
    del typed
    return Plan(lambda x: saturate(half_away(x), INT64, np.iinfo(INT64).min), (FLOAT64,))


def _test(compute: Compute) -> Builder:
    return lambda typed: Plan(lambda x: compute(x).astype(typed.result), typed.args)


_TESTS = {
    "isnan": np.isnan,
    "isinf": np.isinf,
    "signbit": np.signbit,
}
for _name, _compute in _TESTS.items():
    implements(f"libdevice.{_name}d", f"libdevice.{_name}f")(_test(_compute))
implements("libdevice.isfinited", "libdevice.finitef")(_test(np.isfinite))


def _exponent(x: Lanes) -> Lanes:
    """Return the exponent of finite non-zero lanes, as a float."""
    return np.frexp(x)[1].astype(x.dtype) - x.dtype.type(1)


@implements(*_both("logb"))
def logb(typed: Typed) -> Plan:
    """Exponent as a float: -inf for 0, inf for infinities."""

    def compute(x: Lanes) -> Lanes:
        value = select(np.isfinite(x), _exponent(x), np.abs(x))
        return select(x == 0, -x.dtype.type(np.inf), value)

    return Plan(compute, typed.args)


@implements(*_both("ilogb"))
def ilogb(typed: Typed) -> Plan:
    """Exponent as an int32: the lowest for 0 and nan, the largest for infinities."""
    limits = np.iinfo(INT32)

    def compute(x: Lanes) -> Lanes:
        value = np.frexp(x)[1].astype(INT32) - np.int32(1)
        value = select(np.isinf(x), np.int32(limits.max), value)
        return select((x == 0) | np.isnan(x), np.int32(limits.min), value)

    return Plan(compute, typed.args)


@implements(*_both("ldexp"), *_both("scalbn"))
def ldexp(typed: Typed) -> Plan:
    """x * 2 ** n."""
    return Plan(np.ldexp, typed.args)


TABLE["libdevice.frexp"] = TABLE["libdevice.frexpf"] = frexp
TABLE["libdevice.modf"] = TABLE["libdevice.modff"] = modf


@implements(*_both("sincos"), "libdevice.fast_sincosf")
def sincos(typed: Typed) -> Plan:
    """Sine and cosine."""
    return Plan(lambda x: (np.sin(x), np.cos(x)), typed.args)


@implements(*_both("sincospi"))
def sincospi(typed: Typed) -> Plan:
    """Sine and cosine of pi x."""
    dtype = typed.result[0]
    return Plan(
        lambda x: (_sin_of_turns(x).astype(dtype), _cos_of_turns(x).astype(dtype)), (FLOAT64,)
    )


@implements(*_both("remquo"))
def remquo(typed: Typed) -> Plan:
    """The IEEE remainder, and the low bits of the quotient with its sign."""
    return Plan(remainder_and_quotient, typed.args)
