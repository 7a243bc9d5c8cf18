"""Where wrong cells lie, in words."""

from __future__ import annotations

import numpy as np
import pytest

from wia_lab.puzzles.whereabouts import thread_name, whereabouts


def flat(mask):
    """The cells for which `mask` is true."""
    return np.flatnonzero(mask)


class TestThread:
    """A thread's number, over all blocks, in words."""

    @pytest.mark.parametrize(
        ("number", "grid", "block", "name"),
        [
            (33, (2,), (32,), "thread 1 of block 1"),
            (256 * 7 + 16 + 5, (5, 3), (16, 16), "thread (5, 1) of block (2, 1)"),
            (7, (1, 1, 1), (2, 2, 2), "thread (1, 1, 1) of block (0, 0, 0)"),
        ],
    )
    def test_name(self, number, grid, block, name):
        """Coordinates are x first, as many as the launch has."""
        assert thread_name(number, grid, block) == name


class TestAlongASignal:
    """One axis, tiles of 256."""

    CELL = np.arange(600)

    @pytest.mark.parametrize(
        ("wrong", "phrase"),
        [
            (CELL == 0, "in cell 0"),
            (CELL == 599, "in the last cell"),
            (CELL >= 530, "in the last tile, which is not full (cells 512 to 599)"),
            (CELL % 256 == 0, "in the first cell of their tiles"),
            (np.isin(CELL, [255, 511]), "in the last cell of their tiles"),
            (np.isin(CELL % 256, [0, 1, 254, 255]), "within 2 cells of a tile's edge"),
            (CELL > 256, "from cell 257 on"),
            (CELL % 2 == 0, None),
            (CELL >= 0, None),
        ],
    )
    def test_phrase(self, wrong, phrase):
        """The narrowest phrase that holds for all wrong cells is chosen."""
        assert whereabouts(flat(wrong), (600,), (256,)) == phrase


class TestInAMatrix:
    """Two axes, tiles of 16 by 16; columns are looked at first."""

    ROW, COLUMN = np.indices((37, 41))

    @pytest.mark.parametrize(
        ("wrong", "phrase"),
        [
            (COLUMN == 40, "in the last column"),
            (ROW == 36, "in the last row"),
            (COLUMN >= 32, "in the last tile, which is not full (columns 32 to 40)"),
            (ROW >= 32, "in the last tile, which is not full (rows 32 to 36)"),
            ((ROW % 16 == 0) & (ROW > 0), "in the first row of their tiles"),
            (ROW == COLUMN, None),
        ],
    )
    def test_phrase(self, wrong, phrase):
        """Rows and columns are told apart."""
        assert whereabouts(flat(wrong), (37, 41), (16, 16)) == phrase
