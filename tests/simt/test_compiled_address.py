"""Offsets against Python's own arithmetic."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wia_lab.simt import compiled
from wia_lab.simt.compiled_address import NEGATIVE, OUT_OF_BOUNDS

FALLBACK = 7


def locate(index, extent, stride, active=None, start=0):
    out = np.full(32, -1)
    active = np.ones(32, bool) if active is None else active
    flags = compiled.locate(out, np.asarray([start]), index, extent, stride, active, FALLBACK)
    return flags, out


class TestLocate:
    """Byte offsets of one array dimension, wrapped once where negative."""

    @settings(deadline=None)
    @pytest.mark.parametrize("dtype", ["int32", "int64", "uint32", "uint64"])
    @given(data=st.data())
    def test_equals_python(self, dtype, data) -> None:
        """Offsets and flags are those of Python's integers, whatever the index type."""
        low = -50 if dtype.startswith("int") else 0
        values = data.draw(st.lists(st.integers(low, 50), min_size=32, max_size=32))
        active = np.array(data.draw(st.lists(st.booleans(), min_size=32, max_size=32)))
        extent, stride = data.draw(st.integers(1, 40)), data.draw(st.integers(-64, 64))
        flags, out = locate(np.array(values, dtype), extent, stride, active, start=1000)
        wrapped = [value + extent if value < 0 else value for value in values]
        expected = [
            1000 + wrapped[lane] * stride if active[lane] else FALLBACK for lane in range(32)
        ]
        assert out.tolist() == expected
        outside = any(active[lane] and not 0 <= wrapped[lane] < extent for lane in range(32))
        negative = any(active[lane] and values[lane] < 0 for lane in range(32))
        assert flags == outside * OUT_OF_BOUNDS + negative * NEGATIVE

    def test_uint64_never_wraps(self) -> None:
        """The largest uint64 is out of bounds, not the last element."""
        flags, _ = locate(np.full(32, 2**64 - 1, np.uint64), 10, 4)
        assert flags == OUT_OF_BOUNDS

    def test_dimensions_add_up(self) -> None:
        """With `out` as start, a second dimension adds to the first."""
        active = np.ones(32, bool)
        out = np.empty(32, np.int64)
        rows, columns = np.arange(32) // 8, np.arange(32, dtype=np.int32) % 8
        compiled.locate(out, np.zeros(1, np.int64), rows, 4, 32, active, 0)
        compiled.locate(out, out, columns, 8, 4, active, 0)
        assert out.tolist() == list(range(0, 128, 4))

    def test_broadcasts(self) -> None:
        """Index and start may be one for all, as one element or with stride 0; read-only too."""
        active = np.ones(32, bool)
        out = np.empty(32, np.int64)
        for one in (np.array([3]), np.broadcast_to(np.int64(3), 32)):
            compiled.locate(out, np.array([100]), one, 4, 8, active, 0)
            assert (out == 124).all()
        compiled.locate(out, np.broadcast_to(np.int64(5), 32), np.arange(32), 32, 1, active, 0)
        assert out.tolist() == list(range(5, 37))
