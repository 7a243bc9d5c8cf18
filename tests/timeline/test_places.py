"""What lies near a range is found, and a look-up costs the same however much lies elsewhere."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wia_lab.timeline.order import Buffer, Order
from wia_lab.timeline.places import Places


@dataclass(frozen=True, eq=False)
class Thing:
    """A stretch of bytes."""

    number: int
    span: tuple[int, int]


def spans() -> st.SearchStrategy[tuple[int, int]]:
    """Stretches of all lengths, empty ones too."""
    return st.tuples(st.integers(0, 300), st.sampled_from([0, 1, 2, 3, 7, 8, 9, 64, 250])).map(
        lambda both: (both[0], both[0] + both[1])
    )


def meet(a: tuple[int, int], b: tuple[int, int]) -> bool:
    """Whether the two share a byte."""
    return max(a[0], b[0]) < min(a[1], b[1])


class TestPlaces:
    """As a list that is searched from end to end."""

    @given(st.lists(spans()), st.sets(st.integers(0, 30)), spans())
    def test_near(
        self, kept: list[tuple[int, int]], gone: set[int], asked: tuple[int, int]
    ) -> None:
        """All that share a byte are found, in order, and nothing that was removed."""
        places: Places[Thing] = Places()
        things = [Thing(number, span) for number, span in enumerate(kept)]
        for thing in things:
            places.add(thing)
        there = [each for each in things if each.span[0] < each.span[1]]
        for thing in [each for each in there if each.number in gone]:
            places.remove(thing)
            there.remove(thing)
        assert list(places) == there
        found = places.near(*asked)
        assert [each.number for each in found] == sorted(each.number for each in found)
        assert set(found) <= set(there)
        assert [each for each in found if meet(each.span, asked)] == [
            each for each in there if meet(each.span, asked)
        ]

    def test_what_lies_elsewhere_is_not_looked_at(self) -> None:
        """Of a thousand neighbours of one length, at most those of two cells are."""
        places: Places[Thing] = Places()
        for number in range(1000):
            places.add(Thing(number, (100 * number, 100 * number + 100)))
        assert max(len(places.near(100 * i, 100 * i + 100)) for i in range(1000)) <= 5
        assert len(places.near(0, 100_000)) == 1000


class TestOrder:
    """What is overwritten is forgotten, what lies beside it stays."""

    @pytest.mark.parametrize(("low", "high", "left"), [(0, 64, 1), (0, 40, 2), (16, 32, 1)])
    def test_covered(self, low: int, high: int, left: int) -> None:
        """A later write of the same actor takes the place of those that it covers."""
        order, buffer = Order(), Buffer("b", 64)
        clock: dict[str, int] = {}
        for region in (buffer.region(16, 32), buffer.region(low, high)):
            stamp = order.step(clock, "a")
            order.access("a", stamp, clock, (), (region,), "work")
        assert len(list(buffer.accesses)) == (1 if low <= 16 and high >= 32 else left)
        assert order.hazards == []
