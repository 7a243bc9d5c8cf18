"""Kernels (§3.1, §3.6.2): a Numba CUDA function, or text in the sources' kernel language."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from wia_lab import cuda
from wia_lab.hal.checks import checked_name
from wia_lab.hal.clike import CKernel, translate
from wia_lab.hal.clike.types import Memory
from wia_lab.hal.errors import InvalidValue, KernelError
from wia_lab.simt.launch import written_arguments

_PLACE = re.compile(r"<[^<>]*\.cl>:(?P<line>\d+): in \w+, (?P<what>.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Parameter:
    """What a kernel takes. A Numba function says no more than the name."""

    name: str
    dtype: np.dtype[Any] | None = None
    is_array: bool | None = None  # None: either
    is_flat: bool = False  # a pointer: one extent, elements without holes
    is_const: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Kernel:
    """What `compile_kernel` makes, and `launch_kernel` takes. It belongs to no device.

    Attributes
    ----------
    name : str
        As messages and profiles call it.
    parameters : tuple of Parameter
        In order. Memory that the text declares `__local` is not among them: its size is the
        launch's `shared_memory`.
    compiled : wia_lab.cuda.Kernel
        The same function as `wia_lab.cuda` and `wia_lab.simulate` take it.
    """

    name: str
    parameters: tuple[Parameter, ...]
    compiled: Any

    def __repr__(self) -> str:
        return f"<kernel {self.name}({', '.join(each.name for each in self.parameters)})>"


def compile_kernel(source: str | Callable[..., Any], name: str | None = None) -> Kernel:
    """A kernel of a text, or of a function as `@cuda.jit` takes it.

    Parameters
    ----------
    source : str or function
        Text in the kernel language, C with `__kernel`, `__global`, `__local`, `__constant`,
        `get_global_id` and its like, `barrier` and atomics; or a Python function, decorated with
        `@cuda.jit` or not.
    name : str, optional
        Which kernel of a text that has several.

    Raises
    ------
    KernelError
        With line and column, for text outside the language.
    """
    checked_name("compile_kernel: name", name)
    if isinstance(source, str):
        return _of_text(translate(source), name)
    function = getattr(source, "py_func", source)
    if not inspect.isfunction(function):
        raise InvalidValue(
            f"compile_kernel({source!r}): give text in the kernel language, or a function"
        )
    if name is not None and name != function.__name__:
        raise InvalidValue(
            f"compile_kernel: the function is {function.__name__}, not {name!r}: leave the name out"
        )
    signature = inspect.signature(function)
    for each in signature.parameters.values():
        if each.kind not in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD):
            raise InvalidValue(
                f"compile_kernel: {function.__name__} takes {each}: a kernel has so many "
                "parameters, and gets its arguments in their order"
            )
    parameters = tuple(map(Parameter, signature.parameters))
    made = source if isinstance(source, cuda.Kernel) else cuda.jit(function)
    return Kernel(function.__name__, parameters, made)


def _of_text(found: dict[str, CKernel], name: str | None) -> Kernel:
    names = ", ".join(found)
    if name is None and len(found) > 1:
        raise InvalidValue(f"compile_kernel: the text has the kernels {names}: name one")
    if name is not None and name not in found:
        raise InvalidValue(f"compile_kernel: the text has {names} and no kernel {name!r}")
    kernel = found[next(iter(found)) if name is None else name]
    parameters = tuple(
        _parameter(each, kind)
        for each, kind in kernel.parameters
        if not (isinstance(kind, Memory) and kind.space == "local")
    )
    _check_compiles(kernel, parameters)
    return Kernel(kernel.name, parameters, cuda.jit(kernel.function))


def _parameter(name: str, kind: Any) -> Parameter:
    if isinstance(kind, Memory):
        return Parameter(name, kind.element.dtype, True, True, kind.is_const)
    return Parameter(name, kind.dtype, False)


def _check_compiles(kernel: CKernel, parameters: tuple[Parameter, ...]) -> None:
    """Types that do not go together come to light now, not at the first launch."""
    samples = [
        np.zeros(1, each.dtype) if each.is_array else each.dtype.type(0)  # type: ignore[union-attr]
        for each in parameters
    ]
    try:
        written_arguments(kernel.function, samples)
    except Exception as error:
        what = str(error).strip().splitlines()[0]
        if place := _PLACE.fullmatch(what):
            what = f"the kernel's text, line {place['line']}: {place['what']}"
        raise KernelError(f"{kernel.name}: {what}") from error
