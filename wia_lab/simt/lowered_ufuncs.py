"""Which of NumPy's ufuncs numba-cuda can lower, and what to write for some that it cannot."""

from __future__ import annotations

import numpy as np

#: NumPy ufuncs that numba-cuda can lower; the others raise KeyError there.
UFUNCS = frozenset(
    getattr(np, name)
    for name in [
        "arccos",
        "arccosh",
        "arcsin",
        "arcsinh",
        "arctan",
        "arctan2",
        "arctanh",
        "bitwise_and",
        "bitwise_or",
        "bitwise_xor",
        "conjugate",
        "cos",
        "cosh",
        "deg2rad",
        "degrees",
        "divide",
        "equal",
        "fmax",
        "fmin",
        "greater",
        "greater_equal",
        "hypot",
        "invert",
        "isnan",
        "left_shift",
        "less",
        "less_equal",
        "log",
        "log10",
        "log2",
        "logical_and",
        "logical_not",
        "logical_or",
        "logical_xor",
        "maximum",
        "minimum",
        "not_equal",
        "rad2deg",
        "radians",
        "right_shift",
        "sin",
        "sinh",
        "tan",
        "tanh",
    ]
)

#: Those that it cannot and that math has under the same name.
MATH_TWINS = frozenset(
    ["sqrt", "exp", "exp2", "expm1", "log1p", "floor", "ceil", "trunc", "fabs", "fmod", "isinf"]
)
