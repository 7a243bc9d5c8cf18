"""What `wia_lab.memory` exports, and what every allocator in it offers."""

from __future__ import annotations

import inspect

import pytest

from wia_lab import memory
from wia_lab.memory import Allocator, Explanation, Heap, Statistics
from wia_lab.memory.sizes import format_size

CLASSES = [
    value
    for name in memory.__all__
    if inspect.isclass(value := getattr(memory, name)) and issubclass(value, Allocator)
]


def test_all_names_are_there():
    """`__all__` lists each name once, and each exists."""
    assert len(set(memory.__all__)) == len(memory.__all__)
    assert all(hasattr(memory, name) for name in memory.__all__)


@pytest.mark.parametrize("kind", CLASSES, ids=lambda c: c.__name__)
def test_every_allocator_has_a_docstring_and_the_same_verbs(kind):
    """One sentence what it is; `stream=` and `alignment=` by keyword only."""
    assert inspect.getdoc(kind)
    parameters = inspect.signature(kind.allocate).parameters
    assert [parameters[n].kind for n in ("alignment", "stream")] == [
        inspect.Parameter.KEYWORD_ONLY
    ] * 2


def test_statistics_are_frozen_and_readable():
    """A record of one moment: it does not change, and prints with units."""
    heap = Heap("1MiB")
    before = heap.statistics
    heap.allocate(1000)
    assert (before.live_bytes, heap.statistics.live_bytes) == (0, 1024)
    with pytest.raises(AttributeError):
        before.live_bytes = 1
    assert "live_bytes                  1.0 KiB" in str(heap.statistics)
    assert Statistics().fragmentation == Statistics().hit_rate == 0.0
    assert heap.statistics.rounding_loss == pytest.approx(24 / 1024)


def test_explain_changes_nothing():
    """Asking is free of effects, and prints as one sentence."""
    heap = Heap(1024)
    before = heap.statistics
    said = heap.explain(300)
    assert isinstance(said, Explanation)
    assert heap.statistics == before
    assert str(said) == (
        "best fit: 512 B would go to 0x0, a hole of 1,024 B, and leave 512 B of it"
    )


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 B"), (768, "768 B"), (1536, "1.5 KiB"), (2 << 20, "2.0 MiB"), (1 << 42, "4,096.0 GiB")],
)
def test_sizes_as_read(size, text):
    """Bytes in the unit that a reader likes."""
    assert format_size(size) == text
