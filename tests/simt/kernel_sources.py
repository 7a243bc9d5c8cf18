"""Kernels from text: what pytest would rewrite (`assert`), or what differs by one name."""

from __future__ import annotations

import itertools
import linecache
import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np

from wia_lab import cuda

_numbers = itertools.count()


def kernel_from(source: str, **names: Any) -> Callable[..., Any]:
    """The function called `kernel` in a source, which sees `cuda`, `np` and what else is named."""
    source = textwrap.dedent(source)
    file = f"<kernel {next(_numbers)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    scope: dict[str, Any] = {"cuda": cuda, "np": np, **names}
    exec(compile(source, file, "exec"), scope)  # noqa: S102
    return scope["kernel"]
