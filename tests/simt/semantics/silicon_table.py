"""Which operations were run on hardware, on which values: shared by recorder and test."""

from __future__ import annotations

import math

import numpy as np

FLOATS = [
    *(0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 1.5, 2.5, -2.5, 0.1, 3.0, -7.25, 10.0, 127.5, 255.9, 300.0),
    *(-129.0, 40000.0, 70000.0, 1e9, 2.0**31, 2.0**32, 2.0**53, 2.0**63, -(2.0**63), 2.0**64),
    *(1e30, -1e30, 1e-30, 1e-40, 3.3e38, math.inf, -math.inf, math.nan),
]
SIGNED = [
    *(0, 1, -1, 2, -2, 3, -7, 10, 31, 32, 33, 63, 64, 65, 2**31 - 1, -(2**31), 2**32, 2**53 + 1),
    *(2**62, 2**63 - 1, -(2**63)),
]
UNSIGNED = [0, 1, 2, 3, 7, 31, 32, 33, 63, 64, 65, 2**31, 2**32, 2**53 + 1, 2**63, 2**64 - 1]

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
LARGE = ["float32", "float64"]
NAMES_OF_TYPES = frozenset([*INTEGERS, "float16", *LARGE])

MATH = """
acos acosh asin asinh atan atanh cos cosh sin sinh tan tanh exp exp2 expm1 log log2 log10 log1p sqrt
erf erfc gamma lgamma ceil floor trunc fabs degrees radians
"""
LIBRARY = "cbrt rcbrt rsqrt exp10 sinpi cospi normcdf rint round logb"

Row = tuple[str, str, tuple[str, ...]]
"""An expression of a and b, the result's type, the arguments' types."""


def rows() -> list[Row]:
    """Every expression that is recorded."""
    table: list[Row] = []
    for real in ["float16", *LARGE]:
        for integer in INTEGERS:
            table.append((f"{integer}(a)", integer, (real,)))
            table.append((f"{real}(a)", real, (integer,)))
    table += [
        ("float32(a)", "float32", ("float64",)),
        ("float16(a)", "float16", ("float64",)),
        ("float16(a)", "float16", ("float32",)),
        ("a ** b", "float32", ("float32", "int64")),
        ("a ** b", "float64", ("float64", "int64")),
        ("libdevice.saturatef(a)", "float32", ("float32",)),
    ]
    for sign in ("+", "*", "/", "%", "//", "**"):
        for kind in (*LARGE, "int64", "uint64"):
            result = "float64" if sign == "/" and "int" in kind else kind
            table.append((f"a {sign} b", result, (kind, kind)))
    for sign in ("<<", ">>"):
        table += [(f"a {sign} b", kind, (kind, "int64")) for kind in ("int64", "uint64")]
    for kind, suffix, letter, word in (
        ("float32", "f", "f", "float"),
        ("float64", "", "d", "double"),
    ):
        table += _of_floats(kind, suffix, letter, word)
    table += [(f"cuda.{name}(a)", kind, (kind,)) for name in ("popc", "clz") for kind in INTEGERS]
    table += [("cuda.ffs(a)", "uint32", (kind,)) for kind in ("int32", "int64", "uint32", "uint64")]
    table += [("cuda.brev(a)", kind, (kind,)) for kind in ("uint32", "uint64")]
    for name in ["hadd", "rhadd", "uhadd", "urhadd", "mulhi", "umulhi", "mul24", "umul24"]:
        table.append((f"libdevice.{name}(a, b)", "int32", ("int32", "int32")))
    for name in ("mul64hi", "umul64hi"):
        table.append((f"libdevice.{name}(a, b)", "int64", ("int64", "int64")))
    return table


def _of_floats(kind: str, suffix: str, letter: str, word: str) -> list[Row]:
    """Rows of one float type and of libdevice's functions for it."""
    pair = (kind, kind)
    table: list[Row] = [(f"{name}(a, b)", kind, pair) for name in ("max", "min")]
    table += [("round(a)", "int64", (kind,)), ("round(a, 2)", kind, (kind,))]
    for name in ["fmod", "remainder", "pow", "atan2", "hypot", "copysign"]:
        table.append((f"math.{name}(a, b)", kind, pair))
    table.append(("math.pow(a, b)", kind, (kind, "int32")))
    for name in MATH.split():
        table.append((f"math.{name}(a)", kind, (kind,)))
    for name in LIBRARY.split():
        table.append((f"libdevice.{name}{suffix}(a)", kind, (kind,)))
    table += [(f"libdevice.{name}{suffix}(a, b)", kind, pair) for name in ("fdim", "nextafter")]
    for mode in ("rd", "ru", "rz"):
        table += [
            (f"libdevice.{letter}{name}_{mode}(a, b)", kind, pair) for name in ("add", "mul", "div")
        ]
        table.append((f"libdevice.{letter}sqrt_{mode}(a)", kind, (kind,)))
    table += [
        (f"libdevice.ilogb{suffix}(a)", "int32", (kind,)),
        (f"libdevice.llround{suffix}(a)", "int64", (kind,)),
    ]
    for mode in ("rn", "rd", "ru", "rz"):
        for name, result in (
            ("int", "int32"),
            ("uint", "int32"),
            ("ll", "int64"),
            ("ull", "int64"),
        ):
            table.append((f"libdevice.{word}2{name}_{mode}(a)", result, (kind,)))
    return table


def operands(arguments: tuple[str, ...], expression: str) -> list[np.ndarray]:
    """The hostile values of each argument; all pairs for two."""
    columns = [_values(kind) for kind in arguments]
    if len(columns) == 2:
        left, right = columns
        columns = [np.repeat(left, right.size), np.tile(right, left.size)]
        if expression == "a ** b" and arguments[1] == "int64":
            # Numba raises OverflowError there: what a thread then leaves behind is undefined.
            kept = columns[1] != np.iinfo(np.int64).min
            columns = [column[kept] for column in columns]
    return columns


def _values(kind: str) -> np.ndarray:
    dtype = np.dtype(kind)
    if dtype.kind == "f":
        with np.errstate(all="ignore"):
            return np.array(FLOATS).astype(dtype)
    values = SIGNED if dtype.kind == "i" else UNSIGNED
    low = [value % 2 ** (8 * dtype.itemsize) for value in values]
    return np.array(low, np.uint64).astype(f"u{dtype.itemsize}").view(dtype)
