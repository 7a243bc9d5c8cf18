"""What the device computes in each lane: arithmetic, conversions, mathematics, bit operations.

`operation(key, signature)` is asked once, when a program is built; what it returns is called for
every execution, on NumPy arrays with one value a lane, or NumPy scalars that all lanes share.
Run it under `numpy.errstate(all="ignore")`: nothing here warns, nothing raises for a value.
"""

from __future__ import annotations

from wia_lab.simt.semantics.casts import Lanes, cast
from wia_lab.simt.semantics.classes import divisor_of, kind_of
from wia_lab.simt.semantics.dtypes import dtype_of, is_number
from wia_lab.simt.semantics.lookup import operation

__all__ = ["Lanes", "cast", "divisor_of", "dtype_of", "is_number", "kind_of", "operation"]
