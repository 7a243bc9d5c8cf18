"""How each Numba IR instruction executes.

Four tables: statements by class, expressions by operation, attributes by the type that has them,
calls by what is called. An entry binds one instruction: it reads slots through the builder and
returns the function that computes the value for a group, or None when it has emitted all itself.
"""

from __future__ import annotations

from wia_lab.simt.instructions import (  # noqa: F401 (each fills the tables)
    arithmetic,
    arrays,
    async_copies,
    atomics,
    calls,
    declarations,
    extremes,
    iteration,
    methods,
    printing,
    records,
    synchronisation,
    threads,
    tuples,
    vectors,
    warps,
    whole_arrays,
)
from wia_lab.simt.instructions.tables import bind

__all__ = ["bind"]
