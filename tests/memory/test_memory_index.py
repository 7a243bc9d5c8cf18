"""The indexes against sorted lists."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wia_lab.memory.index import AddressIndex, SizeIndex, SortedNumbers

NUMBERS = st.one_of(st.integers(0, 3000), st.integers(0, 2**34))


@dataclass(eq=False)
class Hole:
    """A hole as an index sees it."""

    offset: int
    size: int


@given(st.lists(st.tuples(st.booleans(), NUMBERS), max_size=60), NUMBERS)
def test_sorted_numbers_are_a_sorted_set(steps, asked):
    """Members, successor and maximum are those of Python's set."""
    numbers, model = SortedNumbers(), set()
    for add, number in steps:
        if add:
            numbers.add(number)
            model.add(number)
        elif number in model:
            numbers.discard(number)
            model.remove(number)
    assert bool(numbers) == bool(model)
    assert numbers.at_least(asked) == min((n for n in model if n >= asked), default=None)
    assert numbers.largest() == max(model, default=None)


@pytest.mark.parametrize("kind", ["size", "address"])
@given(
    holes=st.lists(
        st.tuples(st.integers(0, 63), st.integers(1, 40)), unique_by=lambda h: h[0], max_size=40
    ),
    gone=st.sets(st.integers(0, 63)),
    asked=st.integers(1, 45),
)
def test_index_finds_what_a_search_finds(kind, holes, gone, asked):
    """Best fit is a smallest hole that is large enough, first fit the lowest in memory."""
    index = SizeIndex(256) if kind == "size" else AddressIndex(256, 64 * 256)
    made = [Hole(offset * 256, size * 256) for offset, size in holes]
    for hole in made:
        index.add(hole)
    for hole in [h for h in made if h.offset // 256 in gone]:
        index.remove(hole)
        made.remove(hole)
    fitting = [hole for hole in made if hole.size >= asked * 256]
    found = index.find(asked * 256)
    if kind == "size":
        assert (found and found.size) == min((h.size for h in fitting), default=None)
    else:
        assert (found and found.offset) == min((h.offset for h in fitting), default=None)
    assert index.largest() == max((h.size for h in made), default=0)


def test_many_of_one_size_in_last_in_first_out_order():
    """100,000 holes of one size come out newest first; with plain `del` this takes minutes."""
    index = SizeIndex(256)
    holes = [Hole(i * 512, 256) for i in range(100_000)]
    for hole in holes:
        index.add(hole)
    for hole in reversed(holes):
        assert index.find(256) is hole
        index.remove(hole)
    assert index.find(256) is None
