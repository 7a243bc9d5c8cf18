"""What the tests of elementwise operations share."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def as_the_scheduler_runs() -> Iterator[None]:
    """Operations run as in a launch: floating-point events are silent, warnings are errors."""
    with np.errstate(all="ignore"):
        yield
