"""`operation` as a whole: every function answers with the right type, scalars for scalars."""

from __future__ import annotations

import operator

import numpy as np
import pytest
from numba import types

from wia_lab.simt import stub_tables, stubs
from wia_lab.simt.semantics import divisor_of, kind_of, operation
from wia_lab.simt.semantics.libdevice import MISSING

CODES = {
    "?": "boolean", "b": "int8", "B": "uint8", "h": "int16", "H": "uint16", "i": "int32",
    "I": "uint32", "l": "int64", "L": "uint64", "e": "float16", "f": "float32", "d": "float64",
}  # fmt: skip
TABLES = {"libdevice": stub_tables.LIBDEVICE, "fp16": stub_tables.FLOAT16}


def signature(code: str):
    """A Numba signature from the stub table's letters."""
    result, arguments = code.split(":")
    kinds = [getattr(types, CODES[letter]) for letter in result.strip("()")]
    returned = types.Tuple(kinds) if result.startswith("(") else kinds[0]
    return returned(*(getattr(types, CODES[letter]) for letter in arguments))


def hostile(dtype: np.dtype) -> np.ndarray:
    """Six values of a dtype."""
    if dtype.kind == "f":
        return np.array([0.0, -1.5, 3.25, np.inf, -np.inf, np.nan], dtype)
    if dtype.kind == "b":
        return np.array([True, False] * 3)
    limits = np.iinfo(dtype)
    return np.array([0, 1, 5, limits.max, limits.min, limits.max // 3], dtype)


CALLS = [
    (group, name, code)
    for group, table in TABLES.items()
    for code, names in table.items()
    for name in names.split()
    if f"{group}.{name}" not in MISSING
]


@pytest.mark.parametrize("group", TABLES)
def test_every_stub_has_a_meaning(group):
    """Each function of the stub tables, on hostile lanes: dtype, scalars equal to lanes."""
    calls = [(name, code) for other, name, code in CALLS if other == group]
    assert len(calls) > 100
    for name, code in calls:
        typed = signature(code)
        key = getattr(stubs, group).__dict__[name]
        compute = operation(key, typed)
        assert compute is not None, name
        dtypes = [np.dtype(str(kind).replace("bool", "bool_")) for kind in typed.args]
        lanes = [np.roll(hostile(dtype), place) for place, dtype in enumerate(dtypes)]
        results = compute(*lanes)
        alone = [compute(*scalars) for scalars in zip(*lanes, strict=True)]
        several = isinstance(typed.return_type, types.BaseTuple)
        if not several:
            results, alone = (results,), [(value,) for value in alone]
        returned = typed.return_type if several else (typed.return_type,)
        for place, (kind, values) in enumerate(zip(returned, results, strict=True)):
            assert values.dtype == np.dtype(str(kind).replace("bool", "bool_")), name
            assert all(isinstance(scalars[place], np.generic) for scalars in alone), name
            scalars = np.array([scalars[place] for scalars in alone], values.dtype)
            np.testing.assert_array_equal(scalars, values, err_msg=name)


OPERATORS = [
    *(operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod),
    *(operator.pow, operator.lt, operator.eq, max, min),
]


@pytest.mark.parametrize("key", OPERATORS, ids=lambda key: key.__name__)
@pytest.mark.parametrize(
    "left", ["bool_", "int8", "int32", "uint32", "int64", "float16", "float32"]
)
def test_known_and_unknown_operands_agree(key, left):
    """Conversions decided beforehand, at run time, or inside the ufunc give the same values."""
    for name in ("int64", "float32", "float64"):
        kind = getattr(types, name)
        result = types.boolean if key in {operator.lt, operator.eq} else kind
        if key is operator.truediv and name == "int64":
            result = types.float64
        typed = result(kind, kind)
        variables = (getattr(types, left.rstrip("_").replace("bool", "boolean")), kind)
        lanes = hostile(np.dtype(left)), hostile(np.dtype(name))[::-1]
        known, unknown = operation(key, typed, variables), operation(key, typed)
        assert (
            known(*lanes).dtype
            == unknown(*lanes).dtype
            == np.dtype(str(result).replace("bool", "bool_"))
        )
        np.testing.assert_array_equal(known(*lanes), unknown(*lanes))
        uniform = np.full(6, lanes[0][1]), lanes[1]
        np.testing.assert_array_equal(known(lanes[0][1], lanes[1]), unknown(*uniform))


def test_a_uniform_operand_is_broadcast():
    """An array and a scalar give an array."""
    typed = types.float32(types.float32, types.float32)
    got = operation(operator.add, typed)(np.zeros(4, np.float32), np.float32(2))
    assert got.tolist() == [2.0] * 4


def test_operands_are_never_written():
    """Lanes handed in keep their values."""
    lanes = hostile(np.dtype(np.float64))
    before = lanes.copy()
    lanes.flags.writeable = False
    for key in (operator.mod, operator.floordiv, max):
        operation(key, types.float64(types.float64, types.float64))(lanes, lanes[::-1])
    np.testing.assert_array_equal(lanes, before)


@pytest.mark.parametrize(
    ("key", "typed"),
    [
        (stubs.syncthreads, types.none()),
        (stubs.atomic.add, types.int32(types.int32[:], types.int64, types.int32)),
        (operator.getitem, types.float32(types.float32[:], types.int64)),
        (operator.add, types.unicode_type(types.unicode_type, types.unicode_type)),
        (len, types.int64(types.float32[:])),
        ([], types.int64(types.int64)),
    ],
)
def test_what_is_not_elementwise_is_none(key, typed):
    """Someone else's operation."""
    assert operation(key, typed) is None


class TestDivisor:
    """Which operand divides."""

    @pytest.mark.parametrize("key", [operator.truediv, operator.ifloordiv, operator.mod, divmod])
    def test_second(self, key):
        """Of a division."""
        assert divisor_of(key, types.int64(types.int64, types.int64)) == 1

    def test_none(self):
        """Of anything else, nor where `%` formats a string."""
        assert divisor_of(operator.mul, types.int64(types.int64, types.int64)) is None
        text = types.unicode_type
        assert divisor_of(operator.mod, text(text, text)) is None


class TestKind:
    """What a profiler counts."""

    @pytest.mark.parametrize(
        ("key", "typed", "expected"),
        [
            (operator.add, types.int64(types.int64, types.int64), "integer"),
            (operator.add, types.float32(types.float32, types.float32), "float32"),
            (operator.mul, types.float64(types.float64, types.float64), "float64"),
            (operator.mul, types.complex64(types.complex64, types.complex64), "float32"),
            (operator.truediv, types.float64(types.int64, types.int64), "float64"),
            (operator.add, types.float16(types.float16, types.float16), "float16"),
            (operator.lt, types.boolean(types.int64, types.int64), "logic"),
            (operator.lt, types.boolean(types.float32, types.float32), "float32"),
            (operator.lt, types.boolean(types.float64, types.float64), "float64"),
            (operator.and_, types.boolean(types.boolean, types.boolean), "logic"),
            (operator.and_, types.int64(types.int64, types.int64), "integer"),
            (np.sin, types.float32(types.float32), "special"),
            (np.sin, types.float64(types.float64), "float64"),
            (operator.pow, types.float32(types.float32, types.float32), "special"),
            (types.float32, types.float32(types.int64), "conversion"),
            (np.float32, types.float32(types.float64), "conversion"),
            (int, types.int64(types.float32), "conversion"),
            (stubs.libdevice.float2int_rn, types.int32(types.float32), "conversion"),
            (stubs.libdevice.fast_sinf, types.float32(types.float32), "special"),
            (stubs.libdevice.frcp_rn, types.float32(types.float32), "special"),
            (stubs.libdevice.fmaf, types.float32(*[types.float32] * 3), "float32"),
            (stubs.fp16.hexp2, types.float16(types.float16), "special"),
            (stubs.fp16.hmul, types.float16(types.float16, types.float16), "float16"),
            (stubs.popc, types.int32(types.int32), "integer"),
        ],
    )
    def test_kind(self, key, typed, expected):
        """By the type in which the work is done."""
        assert kind_of(key, typed) == expected
