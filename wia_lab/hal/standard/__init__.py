"""WIA-AI-011's names, chapters 3 and 4, and what each is in Python: one table.

A row says which test proves it, where that was run, and what was chosen where the sources leave a
choice. `wia-lab conformance` runs the tests and prints the table.
"""

from wia_lab.hal.standard import execution, memory, operations, safety, synchronisation
from wia_lab.hal.standard.row import Row, resolve

TABLE: tuple[Row, ...] = (
    *execution.ROWS,
    *operations.ROWS,
    *synchronisation.ROWS,
    *memory.ROWS,
    *safety.ROWS,
)

__all__ = ["TABLE", "Row", "resolve"]
