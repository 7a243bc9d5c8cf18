"""Functions on a stream's turn: while one runs, its thread may not use the HAL.

On a real device the driver calls it and would wait for itself; on a virtual one the simulated
clock stands still until it returns.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from wia_lab.hal.errors import InvalidValue

_now = threading.local()
"""`stream`: the name of the one whose function this thread is calling."""


def on_turn(stream: str, function: Callable[..., Any], *arguments: Any) -> None:
    """Call a submitted function."""
    before, _now.stream = getattr(_now, "stream", None), stream
    try:
        function(*arguments)
    finally:
        _now.stream = before


def check_no_turn(used: object) -> None:
    """Refuse to use something in such a function."""
    if (stream := getattr(_now, "stream", None)) is not None:
        raise InvalidValue(
            f"{used!r} was used in a function that runs on the turn of {stream}, which has no turn "
            "for more before that returns: use it after the function"
        )
