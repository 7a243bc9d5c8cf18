"""Bytes of a virtual machine: where they are, and as what the timeline and NumPy know them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wia_lab.errors import WiaLabError
from wia_lab.hal.checks import checked
from wia_lab.hal.errors import InvalidValue
from wia_lab.timeline import Buffer, Region, VirtualMachine, virtual_machine

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np

    from wia_lab.hal.backends.base import Span
    from wia_lab.hal.backends.pages import Pages, Place


@dataclass(frozen=True, slots=True, eq=False)
class Storage:
    """Bytes, what the order check knows of them, and where their pages are if they move."""

    array: np.ndarray[Any, Any]
    buffer: Buffer
    pages: Pages | None = None
    numa_node: int | None = None  # of host memory


def machine_of(specification: object) -> VirtualMachine:
    """A virtual machine, or the one of a name."""
    if isinstance(specification, VirtualMachine):
        return specification
    way = "give the name of a virtual machine, as '2xH100-nvlink'"
    name = checked("open_machine: specification", specification, str, way)
    try:
        return virtual_machine(name)
    except WiaLabError as error:
        raise InvalidValue(str(error)) from error


def place_of(span: Span) -> Place:
    """Where the bytes of a span are."""
    if span.storage.pages is not None:
        where: Place = span.storage.pages.where(span.low)
        return where
    return span.device if span.kind.on_device else None


def pages_of(span: Span) -> Pages:
    """The pages of unified memory."""
    pages: Pages = span.storage.pages
    return pages


def array_of(span: Span) -> np.ndarray[Any, Any]:
    """The bytes themselves, as uint8."""
    found: np.ndarray[Any, Any] = span.storage.array[span.low : span.high]
    return found


def array_for(span: Span, writes: Iterable[Span]) -> np.ndarray[Any, Any]:
    """The bytes as a function gets them: not to be written where nothing of them is in `writes`."""
    array = array_of(span)
    if not span.meets(writes):
        array.flags.writeable = False
    return array


def region_of(span: Span) -> Region:
    """The span as the order check takes it."""
    region: Region = span.storage.buffer.region(span.low, span.high)
    return region


def regions_of(spans: Iterable[Span]) -> tuple[Region, ...]:
    """Several of them."""
    return tuple(map(region_of, spans))
