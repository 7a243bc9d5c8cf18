"""Bit operations against Python's integers and `struct`."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from numba import types

from wia_lab.simt import stubs
from wia_lab.simt.semantics import operation

WIDTHS = [8, 16, 32, 64]


def values(bits: int) -> list[int]:
    """Hostile unsigned values of a width."""
    top = 1 << bits
    return [
        0,
        1,
        2,
        3,
        top - 1,
        top >> 1,
        (top >> 1) - 1,
        0xA5 % top,
        (top - 1) // 3,
        1 << (bits // 2),
    ]


def run(key, result: str, argument: str, numbers: list[int]) -> list[int]:
    """A one-operand function on the bit patterns `numbers`; scalars must agree."""
    compute = operation(key, getattr(types, result)(getattr(types, argument)))
    bits = np.dtype(argument).itemsize * 8
    lanes = np.array(numbers, f"uint{bits}").view(argument)
    got = compute(lanes)
    assert got.dtype == np.dtype(result)
    assert [compute(lane) for lane in lanes] == got.tolist()
    assert isinstance(compute(lanes[0]), np.generic)
    return got.tolist()


@pytest.mark.parametrize("sign", ["int", "uint"])
@pytest.mark.parametrize("bits", WIDTHS)
class TestCounts:
    """At each width numba-cuda types."""

    def test_popc(self, bits, sign):
        """Set bits, of negative numbers too."""
        name = f"{sign}{bits}"
        assert run(stubs.popc, name, name, values(bits)) == [v.bit_count() for v in values(bits)]

    def test_clz(self, bits, sign):
        """Zeros above the highest set bit; the width for 0."""
        name = f"{sign}{bits}"
        assert run(stubs.clz, name, name, values(bits)) == [
            bits - v.bit_length() for v in values(bits)
        ]

    def test_ffs(self, bits, sign):
        """One-based place of the lowest set bit; 0 for 0."""
        expected = [(v & -v).bit_length() for v in values(bits)]
        assert run(stubs.ffs, "uint32", f"{sign}{bits}", values(bits)) == expected


@pytest.mark.parametrize("bits", [32, 64])
def test_brev(bits):
    """The binary digits backwards."""
    expected = [int(f"{v:0{bits}b}"[::-1], 2) for v in values(bits)]
    assert run(stubs.brev, f"uint{bits}", f"uint{bits}", values(bits)) == expected


def test_brev_of_int64_takes_the_low_half():
    """Numba types it as uint32."""
    compute = operation(stubs.brev, types.uint32(types.uint32))
    assert compute(np.int64(2**40 + 1)) == 2**31


def test_wrong_bits_are_never_warned_about():
    """A scalar of the lowest integer passes without a warning."""
    compute = operation(stubs.ffs, types.uint32(types.int64))
    assert compute(np.int64(-(2**63))) == 64


@pytest.mark.parametrize(
    ("name", "result", "argument", "into", "out_of"),
    [
        ("float_as_int", "int32", "float32", "f", "i"),
        ("int_as_float", "float32", "int32", "i", "f"),
        ("double_as_longlong", "int64", "float64", "d", "q"),
        ("longlong_as_double", "float64", "int64", "q", "d"),
    ],
)
def test_reinterpretation(name, result, argument, into, out_of):
    """`struct` reads the same bytes."""
    key = getattr(stubs.libdevice, name)
    compute = operation(key, getattr(types, result)(getattr(types, argument)))
    for value in (1, 0, -3, 1 << 20):
        got = compute(np.dtype(argument).type(value))
        assert got.dtype == np.dtype(result)
        assert struct.pack(out_of, got) == struct.pack(into, value)


def test_halves_of_a_double():
    """High and low words, and back."""
    value = np.array([-1.2345678901234567, 1e300])
    to_int = types.int32(types.float64)
    high = operation(stubs.libdevice.double2hiint, to_int)(value)
    low = operation(stubs.libdevice.double2loint, to_int)(value)
    for number, upper, lower in zip(value, high, low, strict=True):
        assert struct.pack("<ii", lower, upper) == struct.pack("<d", number)
    join = operation(stubs.libdevice.hiloint2double, types.float64(types.int32, types.int32))
    assert join(high, low).tolist() == value.tolist()


def test_byte_perm():
    """Nibbles pick bytes; a nibble's top bit spreads the sign."""
    signature = types.int32(*[types.int32] * 3)
    compute = operation(stubs.libdevice.byte_perm, signature)
    x, y = np.uint32(0x03020180).view(np.int32), np.uint32(0x07060504).view(np.int32)

    def pick(selector: int) -> int:
        return int(compute(x, y, np.uint32(selector).view(np.int32)).view(np.uint32))

    assert pick(0x3210) == 0x03020180
    assert pick(0x7654) == 0x07060504
    assert pick(0x0123) == 0x80010203
    assert pick(0x8888) == 0xFFFFFFFF
    assert pick(0x9999) == 0
