"""The four numbers of a launch: normalised as numba-cuda does it, checked as the driver does.

Sources: numba-cuda 0.30 `normalize_kernel_dimensions` and cuda.core 1.2 `LaunchConfig`. The limits
are the device's, in `wia_lab.machines`. numba-cuda offers no way to opt in to more than the static
limit of shared memory, so that one holds for dynamic shared memory too.
"""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wia_lab.cuda.errors import CudaAPIError

if TYPE_CHECKING:
    from wia_lab.machines import Device

Dim3 = tuple[int, int, int]
AXES = "xyz"
HOW = "write kernel[blocks_per_grid, threads_per_block](arguments)"


@dataclass(frozen=True, slots=True)
class LaunchConfiguration:
    """Grid and block as three integers each, stream, and bytes of dynamic shared memory."""

    grid: Dim3
    block: Dim3
    stream: Any = 0
    shared_bytes: int = 0

    @classmethod
    def of(cls, index: Any, kernel: str, limits: Device) -> LaunchConfiguration:
        """The configuration written between the brackets of ``kernel[...]``.

        Raises
        ------
        TypeError
            When `index` is no tuple, or a dimension is no integer.
        ValueError
            When `index` has too few or too many items, or a dimension is below 1.
        CudaAPIError
            When a value is beyond `limits`.
        """
        if not isinstance(index, tuple):
            raise TypeError(f"{kernel}[{index!r}] names no block size: {HOW}")
        if not 2 <= len(index) <= 4:
            raise ValueError(f"{kernel}[...] takes 2 to 4 items and got {len(index)}: {HOW}")
        if index[0] is None or index[1] is None:
            raise ValueError(f"{kernel}[{index[0]}, {index[1]}] gives no size: {HOW}")
        configuration = cls(
            _dimensions(index[0], "grid", kernel),
            _dimensions(index[1], "block", kernel),
            *index[2:],
        )
        configuration.check_limits(kernel, limits)
        return configuration

    def check_limits(self, kernel: str, limits: Device) -> None:
        """Refuse what the driver of the device `limits` refuses."""
        for what, values, extent in (
            ("grid", self.grid, limits.grid_extent),
            ("block", self.block, limits.block_extent),
        ):
            for axis, value, limit in zip(AXES, values, extent, strict=True):
                if value > limit:
                    raise _invalid(
                        f"{kernel}: {what} dimension {axis} is {value:,}, at most {limit:,} are "
                        f"possible: {_cure(what)}"
                    )
        if (threads := math.prod(self.block)) > limits.threads_per_block:
            raise _invalid(
                f"{kernel}: a block of {_times(self.block)} = {threads:,} threads is too large, at "
                f"most {limits.threads_per_block:,} are possible: {_cure('block')}"
            )
        self._check_shared(kernel, limits.shared_per_block)

    def _check_shared(self, kernel: str, most: int) -> None:
        asked: Any = self.shared_bytes
        if not isinstance(asked, numbers.Integral):
            raise TypeError(
                f"{kernel}: dynamic shared memory is {asked!r}: the fourth item of kernel[...] is "
                "a number of bytes"
            )
        if not 0 <= int(asked) <= most:
            raise _invalid(
                f"{kernel}: {asked:,} bytes of dynamic shared memory were asked, 0 to "
                f"{most:,} are possible: use a smaller tile"
            )


def _dimensions(value: Any, what: str, kernel: str) -> Dim3:
    values = list(value) if isinstance(value, (tuple, list)) else [value]
    if not 1 <= len(values) <= len(AXES):
        raise ValueError(f"{kernel}: {what} {value!r} must be 1, 2 or 3 integers")
    if not all(isinstance(each, numbers.Integral) for each in values):
        raise TypeError(
            f"{kernel}: {what} {value!r} must be integers: use // or math.ceil, not /, to divide"
        )
    if any(each < 1 for each in values):
        raise ValueError(
            f"{kernel}: {what} {value!r} must be at least 1 in each dimension: round the number of "
            "blocks up, as (n + threads - 1) // threads"
        )
    x, y, z = (int(each) for each in (*values, 1, 1)[:3])
    return x, y, z


def _invalid(message: str) -> CudaAPIError:
    return CudaAPIError("CUDA_ERROR_INVALID_VALUE", message)


def _cure(what: str) -> str:
    return "use smaller blocks" if what == "block" else "let each thread do more, in a loop"


def _times(dims: Dim3) -> str:
    return " × ".join(str(each) for each in dims if each > 1)
