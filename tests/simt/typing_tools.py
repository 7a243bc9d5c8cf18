"""How an answer is written down: types by variable, in words that both front ends use."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

HERE = Path(__file__).parent

#: Types whose text holds an address or the name of a module: only their kind is compared.
_OPAQUE = (
    (
        re.compile(
            r"^(Module|Function|type|recursive|BoundFunction|class|typeref)\(.*\)$", re.DOTALL
        ),
        r"\1",
    ),
)
_GENERATED = re.compile(r"^\$|^arg\.|^bool\d+$")
_VERSION = re.compile(r"\.\d+$")
_SPREAD = re.compile(r"\.item\d+$")  # elements of a splatted tuple, the front end's own
_INLINED = re.compile(r"_v\d+(?=\W|_)")  # numbers that Numba gives to inlined closures


def load(path: Path, cuda: object) -> object:
    """The module of kernels at `path`, its `cuda` set."""
    spec = importlib.util.spec_from_file_location(f"typed_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # numba-cuda finds a recursive function by its module
    spec.loader.exec_module(module)
    module.cuda = cuda
    return module


def written(typemap: dict) -> dict[str, str]:
    """Text of each variable's type; numbers of inlined closures count from 0."""
    seen: dict[str, str] = {}

    def renumbered(match: re.Match) -> str:
        return seen.setdefault(match.group(), f"_v{len(seen)}")

    return {
        _INLINED.sub(renumbered, name.replace("$bool", "bool")): text(typemap[name])
        for name in sorted(typemap)
        if not _SPREAD.search(name)
    }


def text(kind: object) -> str:
    """Text of a type; for functions and modules only that they are such."""
    answer = str(kind)
    for pattern, short in _OPAQUE:
        answer = pattern.sub(short, answer)
    return answer


def by_source_name(types: dict[str, str]) -> dict[str, list[str]]:
    """Types of each variable of the source, all its SSA versions together.

    Bytecode, and with it temporaries and the number of versions, differs between versions of
    Python; this does not.
    """
    found: dict[str, set[str]] = {}
    for name, kind in types.items():
        if not _GENERATED.match(name):
            found.setdefault(_VERSION.sub("", name), set()).add(kind)
    return {name: sorted(kinds) for name, kinds in sorted(found.items())}
