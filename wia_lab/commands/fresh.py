"""What only a process of its own can measure: its memory, or Numba's own simulator."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

from wia_lab.errors import CannotRun


def told_by(what: str, module: str, *arguments: str, **environment: str) -> Any:
    """Run a module of this package in a fresh process and return what it prints as JSON.

    Raises
    ------
    CannotRun
        It failed; `what` names it, and its own message stands on stderr.
    """
    # In a session of its own it does not hear Ctrl-C, which ends it through this process
    done = subprocess.run(
        [sys.executable, "-m", f"wia_lab.commands.{module}", *arguments],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
        start_new_session=True,
    )
    if done.returncode:
        raise CannotRun(f"{what} failed: its message stands above")
    return json.loads(done.stdout)
