"""Hints in order, puzzles by name."""

from __future__ import annotations

import pytest

from wia_lab.errors import WiaLabError
from wia_lab.puzzles import PUZZLES, checking, find, hint
from wia_lab.puzzles.curriculum import UnknownPuzzleError


@pytest.fixture(autouse=True)
def _no_hint_seen(monkeypatch):
    monkeypatch.setattr(checking, "_seen", {})


class TestHint:
    """Each hint says more than the one before."""

    def test_in_order_and_the_last_again(self, capsys):
        """Calls give hints 1, 2, 3, then 3 again."""
        for _ in range(4):
            hint("start")
        said = capsys.readouterr().out
        assert [line for line in said.splitlines() if line.startswith("Hint ")] == [
            "Hint 1 of 3",
            "Hint 2 of 3",
            "Hint 3 of 3",
            "Hint 3 of 3",
        ]

    def test_by_number(self, capsys):
        """A number gives that hint, and the next call the one after."""
        hint("tiled-matmul", 1)
        hint("tiled-matmul")
        said = capsys.readouterr().out
        assert said.startswith("Hint 1 of 3\nWork out one tile of c by hand.")
        assert "Hint 2 of 3\nA round is: load, wait, multiply, wait." in said

    def test_no_such_number(self):
        """Numbers start at 1 and end at 3."""
        with pytest.raises(WiaLabError, match="start has no hint 4: it has hints 1 to 3"):
            hint("start", 4)

    @pytest.mark.parametrize("puzzle", PUZZLES.values(), ids=lambda p: p.id)
    def test_each_fits_a_notebook(self, puzzle):
        """No line is wider than 100 columns, and none is empty of words."""
        for text in puzzle.hints:
            assert text.strip()
            assert max(map(len, text.splitlines())) <= 100

    @pytest.mark.parametrize("puzzle", PUZZLES.values(), ids=lambda p: p.id)
    def test_none_gives_the_whole_answer_but_the_start(self, puzzle):
        """Hints leave lines to write; only the introduction shows all."""
        for text in puzzle.hints if puzzle.number else ():
            assert f"def {puzzle.function}" not in text


class TestFind:
    """Puzzles by the names that people use."""

    @pytest.mark.parametrize(
        "name",
        ["tiled-matmul", "06-tiled-matmul", "06-tiled-matmul.ipynb", "6", "06", "tiled_matmul"],
    )
    def test_by_any_name(self, name):
        """Id, notebook, number and function all lead to the puzzle."""
        assert find(name) is PUZZLES["tiled-matmul"]

    def test_misspelt(self):
        """An unknown name is answered with the nearest."""
        with pytest.raises(
            UnknownPuzzleError,
            match="there is no puzzle 'tiled-matmull': did you mean 'tiled-matmul'?",
        ):
            find("tiled-matmull")

    def test_nothing_like_it(self):
        """A name like none is told how all are listed."""
        with pytest.raises(
            UnknownPuzzleError,
            match="no puzzle 'xyzzy': wia-lab puzzles lists the 16 that there are",
        ):
            find("xyzzy")

    @pytest.mark.parametrize(
        ("part", "whole"), [("softmax", "reduction-softmax"), ("Halo", "halo-convolution")]
    )
    def test_a_part_of_a_name(self, part, whole):
        """A part of one name is answered with the whole."""
        with pytest.raises(UnknownPuzzleError, match=f"did you mean {whole!r}?"):
            find(part)

    @pytest.mark.parametrize("name", [6, None, ["tiled-matmul"]])
    def test_no_text(self, name):
        """A number or a kernel in the name's place is told what stands there."""
        with pytest.raises(UnknownPuzzleError) as caught:
            find(name)
        assert str(caught.value) == (
            f"a puzzle is named by a text, not by {name!r}: the name comes first, in quotes, as in "
            'check("tiled-matmul", tiled_matmul)'
        )

    def test_order_is_by_number(self):
        """The curriculum is in the order of the notebooks."""
        numbers = [puzzle.number for puzzle in PUZZLES.values()]
        assert numbers == sorted(numbers)
