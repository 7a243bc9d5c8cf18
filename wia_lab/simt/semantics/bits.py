"""Counting, reversing and reinterpreting bits: popc, clz, ffs, brev, and libdevice's kin."""

from __future__ import annotations

from typing import Any

import numpy as np

from wia_lab.simt.semantics.casts import Lanes, between
from wia_lab.simt.semantics.dtypes import UINT64
from wia_lab.simt.semantics.table import Builder, Compute, Plan, Typed, implements

_SWAPS = (
    (np.uint64(1), 0x5555555555555555),
    (np.uint64(2), 0x3333333333333333),
    (np.uint64(4), 0x0F0F0F0F0F0F0F0F),
    (np.uint64(8), 0x00FF00FF00FF00FF),
    (np.uint64(16), 0x0000FFFF0000FFFF),
    (np.uint64(32), 0x00000000FFFFFFFF),
)
_SMEAR = tuple(np.uint64(1 << step) for step in range(6))


def unsigned(x: Lanes) -> Lanes:
    """Return the same bits as an unsigned integer."""
    return x.view(f"u{x.dtype.itemsize}")


def _of_bits(count: Compute) -> Builder:
    """Return a builder for a function of an integer's bits, given as uint64, and its width."""

    def build(typed: Typed) -> Plan:
        (takes,) = typed.args
        width, convert = takes.itemsize * 8, between(UINT64, typed.result)
        return Plan(lambda x: convert(count(unsigned(x).astype(UINT64), width)), typed.args)

    return build


def ones(bits: Lanes, width: int) -> Lanes:
    """How many bits are set."""
    del width
    return np.bitwise_count(bits).astype(UINT64)


def leading_zeros(bits: Lanes, width: int) -> Lanes:
    """How many zeros stand above the highest set bit; the width for zero."""
    for step in _SMEAR:
        bits = bits | (bits >> step)
    return UINT64.type(width) - ones(bits, width)


def first_set(bits: Lanes, width: int) -> Lanes:
    """Position of the lowest set bit, from 1; 0 for zero."""
    lowest = bits & (~bits + UINT64.type(1))
    return UINT64.type(width) - leading_zeros(lowest, width)


def reverse(bits: Lanes, width: int) -> Lanes:
    """The bits in the opposite order."""
    for shift, mask in _SWAPS:
        low = UINT64.type(mask)
        bits = ((bits & low) << shift) | ((bits >> shift) & low)
    return bits >> UINT64.type(64 - width)


implements("popc", "libdevice.popc", "libdevice.popcll")(_of_bits(ones))
implements("clz", "libdevice.clz", "libdevice.clzll")(_of_bits(leading_zeros))
implements("ffs", "libdevice.ffs", "libdevice.ffsll")(_of_bits(first_set))
implements("brev", "libdevice.brev", "libdevice.brevll")(_of_bits(reverse))


def reinterpret(typed: Typed) -> Plan:
    """The same bits as another type of the same width."""
    return Plan(lambda x: x.view(typed.result), typed.args)


for _name in ("float_as_int", "int_as_float", "double_as_longlong", "longlong_as_double"):
    implements(f"libdevice.{_name}")(reinterpret)
for _name in ("__half_as_short", "__half_as_ushort", "__short_as_half", "__ushort_as_half"):
    implements(f"fp16.{_name}")(reinterpret)


def _high_half(typed: Typed) -> Plan:
    return Plan(lambda x: (x.view(np.int64) >> np.int64(32)).astype(typed.result), typed.args)


def _low_half(typed: Typed) -> Plan:
    return Plan(lambda x: x.view(np.int64).astype(typed.result), typed.args)


def _from_halves(typed: Typed) -> Plan:
    def join(high: Lanes, low: Lanes) -> Lanes:
        upper = high.astype(np.int64) << np.int64(32)
        return (upper | unsigned(low).astype(np.int64)).view(np.float64)

    return Plan(join, typed.args)


implements("libdevice.double2hiint")(_high_half)
implements("libdevice.double2loint")(_low_half)
implements("libdevice.hiloint2double")(_from_halves)


def byte_permute(x: Lanes, y: Lanes, selector: Lanes) -> Lanes:
    """`prmt.b32`: each nibble of the selector picks one of the eight bytes of y:x.

    A nibble's top bit spreads the sign of the byte it picks.
    """
    both = (unsigned(y).astype(UINT64) << np.uint64(32)) | unsigned(x).astype(UINT64)
    result: Any = UINT64.type(0)
    for place in range(4):
        nibble = unsigned(selector).astype(UINT64) >> np.uint64(4 * place)
        byte = (both >> ((nibble & np.uint64(7)) * np.uint64(8))) & np.uint64(0xFF)
        spread = np.where(byte & np.uint64(0x80), np.uint64(0xFF), np.uint64(0))
        byte = np.where(nibble & np.uint64(8), spread, byte)
        result = result | (byte << np.uint64(8 * place))
    return result.astype(np.uint32).view(np.int32)[()]


@implements("libdevice.byte_perm")
def byte_perm(typed: Typed) -> Plan:
    """`libdevice.byte_perm(x, y, selector)`."""
    return Plan(byte_permute, typed.args)
