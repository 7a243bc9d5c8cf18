"""Numbers with their nouns, as sentences put them."""

from __future__ import annotations


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """`number` and its noun, which is singular for 1 alone: `1 argument`, `1,024 threads`.

    Parameters
    ----------
    number
        How many there are.
    noun, plural
        The noun for one, and that for any other number: `noun` and an s where none is given.
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
