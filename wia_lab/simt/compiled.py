"""Compiled helpers, loaded at first use from a cache in the environment.

`compiled.locate`, `compiled.sectors`, … are Numba dispatchers with explicit signatures. Importing
this module compiles nothing: the first access to a name loads that helper, or compiles and stores
it, and leaves it in the module, so later accesses are plain attribute look-ups. Write
`compiled.locate(...)`, not `from wia_lab.simt.compiled import locate`, which would compile at
import.

The cache is a folder of the environment (`cache_folder()`), filled by `warm()`. Numba's own
locators refuse a folder that is not writable and need a home; this one reads a read-only folder,
and where nothing can be written the helper lives in memory alone. A file's name holds everything
that it depends on (source, Numba, Python, processor, signature), so there is no index that two
processes could spoil for each other, and its first 32 bytes are the digest of the rest.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numba
from numba.core import types
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.runtime import rtsys
from numba.core.serialize import dumps
from numba.core.sigutils import normalize_signature
from numba.core.typing import signature

from wia_lab.simt import (
    compiled_address,
    compiled_atomics,
    compiled_banks,
    compiled_gather,
    compiled_hazards,
    compiled_runs,
    compiled_traffic,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    locate: Callable[..., int]
    atomic_integer: Callable[..., None]
    gather: Callable[..., None]
    atomic_float: Callable[..., None]
    sectors: Callable[..., None]
    atomic_sectors: Callable[..., None]
    banks: Callable[..., None]
    atomic_banks: Callable[..., None]
    active_warps: Callable[..., tuple[int, int]]
    split_warps: Callable[..., int]
    mark_warps: Callable[..., None]
    count_marks: Callable[..., tuple[int, int]]
    record: Callable[..., None]
    overlaps: Callable[..., bool]
    mark: Callable[..., int]
    unmarked: Callable[..., int]
    in_flight: Callable[..., int]

SOURCES = (
    compiled_address,
    compiled_atomics,
    compiled_banks,
    compiled_gather,
    compiled_hazards,
    compiled_traffic,
)
HELPERS: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    name: (getattr(module, name), signatures)
    for module in SOURCES
    for name, signatures in module.SIGNATURES.items()
}
"""Name → source and signatures. `readonly` before an array type: it accepts read-only arrays."""

DIGEST_BYTES = 32


def warm() -> Path | None:
    """Load or compile every helper, and store what is new.

    Returns
    -------
    Path or None
        The folder that now holds all helpers; None when nothing could be written.
    """
    global warming  # noqa: PLW0603 - one a process, as the cache is
    warming = True
    for name in HELPERS:
        getattr(sys.modules[__name__], name)
    warming = False
    folder = cache_folder()
    if not any(folder.glob(f"{source_stamp()}-*")):
        return None
    for stale in folder.glob("*.nbc"):
        if not stale.name.startswith(source_stamp()):
            stale.unlink(missing_ok=True)
    return folder


def __getattr__(name: str) -> Any:
    if name not in HELPERS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    helper = globals()[name] = _load(*HELPERS[name])
    return helper


def _load(function: Callable[..., Any], signatures: tuple[str, ...]) -> Any:
    helper = numba.njit(nogil=True, error_model="numpy")(function)
    if not hasattr(helper, "disable_compile"):  # NUMBA_DISABLE_JIT: the Python source itself
        return helper
    helper._cache = EnvironmentCache(function.__qualname__)
    for text in signatures:
        helper.compile(parse_signature(text))
    helper.disable_compile()
    return helper


@cache
def announce() -> None:
    """Say, once a process, why the first launch takes half a minute where nothing is stored."""
    if warming:
        return
    sys.stderr.write(
        "wia_lab: compiling the simulator's helpers, about half a minute; "
        "`wia-lab doctor --warm` stores them for later\n"
    )


warming = False
"""Whether `warm` runs: whoever called it has said so."""


def parse_signature(text: str) -> Any:
    """Numba's signature of `text`, in which `readonly` may precede an array type."""
    arguments, result = normalize_signature(text.replace("readonly ", ""))
    inside = text[text.rindex("(", 0, _last_open(text) + 1) + 1 :]
    marks = [part.strip().startswith("readonly") for part in _split(inside)]
    frozen = [
        types.Array(each.dtype, each.ndim, each.layout, readonly=True) if mark else each
        for each, mark in zip(arguments, marks, strict=True)
    ]
    return signature(result, *frozen)


def _last_open(text: str) -> int:
    return text.rindex("(")


def _split(arguments: str) -> list[str]:
    """Parts between the commas that stand outside brackets."""
    parts, depth = [""], 0
    for character in arguments.rstrip(")"):
        depth += (character == "[") - (character == "]")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts


@cache
def source_stamp() -> str:
    """Digest of the helpers' sources, Numba's version and Python's."""
    digest = hashlib.sha256(f"{numba.__version__} {sys.implementation.cache_tag}".encode())
    for module in (*SOURCES, compiled_runs, sys.modules[__name__]):
        digest.update(Path(str(module.__file__)).read_bytes())
    return digest.hexdigest()[:16]


@cache
def cache_folder() -> Path:
    """Where compiled helpers are kept.

    The environment's folder if it holds helpers of this version or can be written, else the user's
    cache folder if that can be; with neither, the environment's, which then stays empty.
    """
    environment = Path(sys.prefix) / "share" / "wia_lab" / "compiled"
    if any(environment.glob(f"{source_stamp()}-*")) or _writable(environment):
        return environment
    home = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    user = Path(home) if home else Path("~/.cache").expanduser()
    user = user / "wia_lab" / "compiled"
    return user if user.is_absolute() and _writable(user) else environment


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


class EnvironmentCache(_Cache):
    """Numba's cache of one function, one file an overload."""

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def cache_path(self) -> str:
        """The folder, as Numba's dispatchers report it."""
        return str(cache_folder())

    def load_overload(self, sig: Any, target_context: Any) -> CompileResult | None:
        """The stored overload; None where there is none, or where its file is damaged."""
        rtsys.initialize(target_context)
        stored = self._stored(sig, target_context)
        digest, payload = stored[:DIGEST_BYTES], stored[DIGEST_BYTES:]
        if hashlib.sha256(payload).digest() != digest:
            target_context.refresh()  # half a second of registries, needed to compile only
            announce()
            return None
        return CompileResult._rebuild(target_context, *pickle.loads(payload))  # noqa: S301 - our own file

    def save_overload(self, sig: Any, data: CompileResult) -> None:
        """Store an overload; where the folder cannot be written, it stays in memory alone."""
        payload = dumps(data._reduce())
        path = self._path(sig, data.target_context)
        try:
            with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
                file.write(hashlib.sha256(payload).digest() + payload)
            Path(file.name).chmod(0o644)  # others may share the environment
            Path(file.name).replace(path)
        except OSError:
            return

    def _stored(self, sig: Any, target_context: Any) -> bytes:
        try:
            return self._path(sig, target_context).read_bytes()
        except OSError:
            return b""

    def _path(self, sig: Any, target_context: Any) -> Path:
        key = f"{sig} {target_context.codegen().magic_tuple()}"
        digest = hashlib.sha256(key.encode()).hexdigest()[:16]
        return cache_folder() / f"{source_stamp()}-{self.name}-{digest}.nbc"

    def enable(self) -> None:
        """Always on."""

    def disable(self) -> None:
        """Always on."""

    def flush(self) -> None:
        """Nothing to do: a file is never stale, as its name holds all that it depends on."""
