"""Atomic operations in lane order: the source of `wia_lab.simt.compiled.atomic`."""

from __future__ import annotations

import numpy as np

OPERATIONS = {
    name: number
    for number, name in enumerate(
        (
            "add",
            "sub",
            "max",
            "min",
            "nanmax",
            "nanmin",
            "and_",
            "or_",
            "xor",
            "inc",
            "dec",
            "exch",
            "cas",
            "compare_and_swap",
        )
    )
}
ADD, SUB, MAX, MIN, NANMAX, NANMIN, AND, OR, XOR, INC, DEC, EXCH, CAS, SWAP = range(14)


def _signature(kind: str) -> str:
    return (
        f"void({kind}[::1], int64[::1], readonly boolean[::1], {kind}[::1], {kind}[::1], int64, "
        f"{kind}[::1], {kind}[::1], boolean[::1])"
    )


SIGNATURES = {
    "atomic_integer": tuple(map(_signature, ("int32", "int64", "uint32", "uint64"))),
    "atomic_float": tuple(map(_signature, ("float32", "float64"))),
}


def atomic_integer(
    data: np.ndarray,
    cells: np.ndarray,
    active: np.ndarray,
    operand: np.ndarray,
    comparand: np.ndarray,
    operation: int,
    old: np.ndarray,
    new: np.ndarray,
    changed: np.ndarray,
) -> None:
    """Change `data[cells]` lane after lane; fill `old`, `new` and `changed`, one a lane.

    inc and dec wrap as CUDA's do: inc goes to 0 from `operand` and above; dec goes to `operand`
    from 0, and from above it. The 1 that they add is read from an array: a literal is an int64,
    which makes float64 of a uint64 beside it, here and in every other branch.
    """
    new[:] = 1
    for lane in range(cells.size):
        if not active[lane]:
            continue
        before = data[cells[lane]]
        value, one = operand[lane], new[lane]
        after = before
        if operation == ADD:
            after = before + value
        elif operation == SUB:
            after = before - value
        elif operation in (MAX, NANMAX):
            after = max(before, value)
        elif operation in (MIN, NANMIN):
            after = min(before, value)
        elif operation == AND:
            after = before & value
        elif operation == OR:
            after = before | value
        elif operation == XOR:
            after = before ^ value
        elif operation == INC:
            after = before - before if before >= value else before + one
        elif operation == DEC:
            after = value if before == 0 or before > value else before - one
        elif operation == EXCH or before == comparand[lane]:
            after = value
        old[lane] = before
        data[cells[lane]] = after
        new[lane] = data[cells[lane]]
        changed[lane] = new[lane] != before


def atomic_float(
    data: np.ndarray,
    cells: np.ndarray,
    active: np.ndarray,
    operand: np.ndarray,
    comparand: np.ndarray,
    operation: int,
    old: np.ndarray,
    new: np.ndarray,
    changed: np.ndarray,
) -> None:
    """As `atomic_integer`, for floats.

    max and min skip an operand that is NaN, and leave a cell that is; nanmax and nanmin replace a
    cell that is NaN too.
    """
    for lane in range(cells.size):
        if not active[lane]:
            continue
        before = data[cells[lane]]
        value = operand[lane]
        after = before
        if operation == ADD:
            after = before + value
        elif operation == SUB:
            after = before - value
        elif operation == EXCH or (operation in (NANMAX, NANMIN) and np.isnan(before)):
            after = value
        elif operation in (MAX, NANMAX):
            after = max(before, value)
        elif operation in (MIN, NANMIN):
            after = min(before, value)
        elif operation in (CAS, SWAP) and before == comparand[lane]:
            after = value
        old[lane] = before
        data[cells[lane]] = after
        new[lane] = after
        changed[lane] = not (after == before or (np.isnan(after) and np.isnan(before)))
