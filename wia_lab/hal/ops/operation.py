"""What an operation on tensors asks of a back end: one record, with no handles in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from wia_lab.hal.tensor_layout import Layout


@dataclass(frozen=True, slots=True)
class Blocks:
    """How an algorithm divides its arithmetic among multiprocessors.

    Attributes
    ----------
    count : int
        Blocks of equal work, of which a multiprocessor has one at a time.
    work : float
        Arithmetic operations of one block, those on the padding of its tiles included.
    share : float
        Of a multiprocessor's peak rate, what the algorithm was seen to reach.
    """

    count: int
    work: float
    share: float


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation: `output` from `inputs`, in a way that `algorithm` names.

    Attributes
    ----------
    name : str
        What is computed: "matmul", "sum", …
    inputs, output : Layout
        How the tensors lie in the memory that the back end is given beside this record.
    accumulate : numpy.dtype
        In which sums are kept, and single elements computed.
    options : mapping
        What else the operation takes: axes, padding, …
    algorithm : str
        One of those that the operation has, where it has several.
    work : float
        Arithmetic operations in all, a fused multiply-add counted as two.
    blocks : Blocks or None
        Their division, where it was modelled.
    """

    name: str
    inputs: tuple[Layout, ...]
    output: Layout
    accumulate: np.dtype[Any]
    options: Mapping[str, Any] = field(default_factory=dict)
    algorithm: str = ""
    work: float = 0.0
    blocks: Blocks | None = None

    @property
    def nbytes(self) -> int:
        """Bytes that go to and from memory when each is moved once."""
        return self.output.nbytes + sum(each.nbytes for each in self.inputs)
