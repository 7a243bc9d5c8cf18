"""`cuda.vectorize` and `cuda.guvectorize` on the simulator: kernels made from a function.

As in numba-cuda, the arguments are broadcast, the first signature that NumPy can safely cast them
to is used, and the result is a device array when any argument is one.
"""

from __future__ import annotations

import functools
import math
import re
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wia_lab.cuda import signatures, streams
from wia_lab.cuda.arrays import DeviceNDArray, poisoned
from wia_lab.cuda.kernel import Kernel, jit
from wia_lab.wording import counted

Core = tuple[str, ...]


class Vectorized:
    """A function of numbers, applied to every element of its arguments."""

    def __init__(self, function: Callable[..., Any], given: Sequence[Any]) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self._signatures = [signatures.parse(each) for each in given]
        if not self._signatures:
            raise TypeError(
                f"cuda.vectorize needs signatures: write them above {function.__name__}"
            )

    def __call__(self, *args: Any, out: Any = None, stream: Any = 0) -> Any:
        """Apply the function; `out` receives the result when it is given."""
        _wait_for(args, stream)
        arrays = [_memory(each) for each in args]
        signature = _fitting(self._signatures, [each.dtype for each in arrays], self.__name__)  # type: ignore[attr-defined]
        kinds = [np.dtype(str(each)) for each in signature.arguments]
        shape = np.broadcast_shapes(*(each.shape for each in arrays))
        flat = [
            np.broadcast_to(each.astype(kind), shape).ravel()
            for each, kind in zip(arrays, kinds, strict=True)
        ]
        result = poisoned(shape, np.dtype(str(signature.result)))
        kernel = _elementwise(self._function, len(flat))
        kernel.forall(result.size, stream=stream)(result.reshape(-1), *flat)
        return _delivered(result, args, out)

    def reduce(self, arg: Any, stream: Any = 0) -> Any:
        """Combine the elements of a 1-D array in pairs, until one is left."""
        _wait_for([arg], stream)
        values = _memory(arg)
        if values.ndim != 1 or values.size == 0:
            raise TypeError(f"reduce takes a 1-D array that is not empty, not shape {values.shape}")
        while values.size > 1:
            half = values.size // 2
            joined = self(values[:half], values[half : 2 * half], stream=stream)
            values = np.concatenate([joined, values[2 * half :]])
        return values[0]


class GeneralizedVectorized:
    """A function of small arrays, applied over the outer dimensions of its arguments."""

    def __init__(self, function: Callable[..., Any], given: Sequence[Any], layout: str) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self._signatures = [signatures.parse(each) for each in given]
        self._inputs, self._outputs = parse_layout(layout)

    def __call__(self, *args: Any, out: Any = None, stream: Any = 0) -> Any:
        """Apply the function; `out` receives the result when it is given."""
        _wait_for(args, stream)
        arrays = [_memory(each) for each in args[: len(self._inputs)]]
        outs = list(args[len(self._inputs) :]) or ([] if out is None else [out])
        signature = _fitting(self._signatures, [each.dtype for each in arrays], self.__name__)  # type: ignore[attr-defined]
        kinds = [np.dtype(str(getattr(each, "dtype", each))) for each in signature.arguments]
        sizes, outer = self._sizes(arrays)
        cores = [
            _over(each.astype(kind), outer, len(core))
            for each, kind, core in zip(arrays, kinds, self._inputs, strict=False)
        ]
        results = [
            poisoned((*outer, *(sizes[name] for name in core)), kind)
            for kind, core in zip(kinds[len(arrays) :], self._outputs, strict=True)
        ]
        count = math.prod(outer)
        flat = [each.reshape(count, *each.shape[len(outer) :]) for each in results]
        kernel = _over_cores(
            self._function,
            tuple(len(core) == 0 for core in self._inputs),
            tuple(len(core) == 0 for core in self._outputs),
        )
        kernel.forall(count, stream=stream)(count, *cores, *flat)
        delivered = [
            _delivered(each, args, where)
            for each, where in zip(results, outs or [None] * len(results), strict=True)
        ]
        return delivered[0] if len(delivered) == 1 else tuple(delivered)

    def _sizes(self, arrays: Sequence[np.ndarray]) -> tuple[dict[str, int], tuple[int, ...]]:
        """The size of each named dimension, and the shape of the outer dimensions."""
        sizes: dict[str, int] = {}
        outer = []
        for array, core in zip(arrays, self._inputs, strict=True):
            split = array.ndim - len(core)
            if split < 0:
                raise ValueError(
                    f"{self.__name__}: an argument has "  # type: ignore[attr-defined]
                    f"{counted(array.ndim, 'dimension')}, its layout "
                    f"({','.join(core)}) needs {len(core)}"
                )
            for name, size in zip(core, array.shape[split:], strict=True):
                if sizes.setdefault(name, size) != size:
                    raise ValueError(
                        f"{self.__name__}: dimension {name} is {sizes[name]} in one argument and "  # type: ignore[attr-defined]
                        f"{size} in another"
                    )
            outer.append(array.shape[:split])
        return sizes, np.broadcast_shapes(*outer)


def vectorize(ftylist_or_function: Any = (), **options: Any) -> Any:
    """Make a function of numbers work on arrays: ``@cuda.vectorize(["float32(float32)"])``."""
    _check_options(options, "vectorize")
    return lambda function: Vectorized(function, _listed(ftylist_or_function))


def guvectorize(ftylist: Any, signature: str, **options: Any) -> Any:
    """Make a function of small arrays work over larger ones, as ``(m,n),(n,p)->(m,p)`` lays out."""
    _check_options(options, "guvectorize")
    return lambda function: GeneralizedVectorized(function, _listed(ftylist), signature)


def parse_layout(layout: str) -> tuple[list[Core], list[Core]]:
    """Inputs and outputs of a layout such as ``(m,n),(n)->(m)``, as tuples of names."""
    group = r"\(\s*(?:\w+\s*(?:,\s*\w+\s*)*)?\)"
    if not re.fullmatch(
        rf"\s*{group}(?:\s*,\s*{group})*\s*->\s*{group}(?:\s*,\s*{group})*\s*", layout
    ):
        raise ValueError(f"layout {layout!r} is not of the form (m,n),(n)->(m)")
    inputs, outputs = (
        [tuple(re.findall(r"\w+", each)) for each in re.findall(group, side)]
        for side in layout.split("->")
    )
    unknown = {name for core in outputs for name in core} - {n for core in inputs for n in core}
    if unknown:
        raise NameError(
            f"layout {layout!r}: undefined output symbols: {', '.join(sorted(unknown))}"
        )
    return inputs, outputs


@functools.cache
def _elementwise(function: Callable[..., Any], count: int) -> Kernel:
    names = ", ".join(f"a{i}" for i in range(count))
    items = ", ".join(f"a{i}[i]" for i in range(count))
    return _generated(
        function, f"out, {names}", "out.size", f"out[i] = function({items})", "elementwise"
    )


@functools.cache
def _over_cores(
    function: Callable[..., Any], scalar_in: tuple[bool, ...], scalar_out: tuple[bool, ...]
) -> Kernel:
    inputs = [f"a{i}" for i in range(len(scalar_in))]
    outputs = [f"o{i}" for i in range(len(scalar_out))]
    items = [f"{name}[i]" for name in inputs]
    items += [
        f"{name}[i : i + 1]" if scalar else f"{name}[i]"
        for name, scalar in zip(outputs, scalar_out, strict=True)
    ]
    return _generated(
        function,
        ", ".join(["n", *inputs, *outputs]),
        "n",
        f"function({', '.join(items)})",
        "over_cores",
    )


def _generated(
    function: Callable[..., Any], parameters: str, count: str, statement: str, name: str
) -> Kernel:
    """A kernel with one thread an element, whose body is `statement`."""
    source = (
        f"def {name}({parameters}):\n"
        f"    i = cuda.grid(1)\n"
        f"    if i < {count}:\n"
        f"        {statement}\n"
    )
    names = {"cuda": sys.modules["wia_lab.cuda"], "function": jit(function, device=True)}
    exec(compile(source, f"<{name} of {function.__name__}>", "exec"), names)  # noqa: S102 - our text
    kernel: Kernel = jit(names[name])
    return kernel


def _over(array: np.ndarray, outer: tuple[int, ...], core: int) -> np.ndarray:
    """`array` broadcast to `outer`, whose dimensions are then made one."""
    inner = array.shape[array.ndim - core :]
    whole = np.broadcast_to(array, (*outer, *inner)).reshape(math.prod(outer), *inner)
    return np.ascontiguousarray(whole)


def _fitting(
    given: Sequence[signatures.Signature], kinds: Sequence[np.dtype], name: str
) -> signatures.Signature:
    for signature in given:
        wanted = [np.dtype(str(getattr(each, "dtype", each))) for each in signature.arguments]
        if len(wanted) >= len(kinds) and all(
            np.can_cast(kind, want) for kind, want in zip(kinds, wanted, strict=False)
        ):
            return signature
    raise TypeError(
        f"No matching version of {name} for {', '.join(map(str, kinds))}: it has "
        f"{' or '.join(map(str, given))}"
    )


def _wait_for(args: Sequence[Any], stream: Any) -> None:
    """Device arrays are read here, after what `stream` was given before."""
    if any(isinstance(each, DeviceNDArray) for each in args):
        streams.submit(stream, lambda: None, 0.0, wait=True)


def _memory(value: Any) -> np.ndarray:
    return value.memory if isinstance(value, DeviceNDArray) else np.asarray(value)


def _delivered(result: np.ndarray, args: Sequence[Any], out: Any) -> Any:
    """`result` in `out`, or on the side of the bus where the arguments are."""
    if isinstance(out, DeviceNDArray):
        out.copy_to_device(result)
        return out
    if out is not None:
        np.copyto(out, result, casting="no")
        return out
    if any(isinstance(each, DeviceNDArray) for each in args):
        return DeviceNDArray(result)
    return result[()] if result.ndim == 0 else result


def _listed(given: Any) -> list[Any]:
    return list(given) if isinstance(given, list) else [given] if given else []


def _check_options(options: dict[str, Any], name: str) -> None:
    """Refuse options that change nothing here; `target` may repeat what is so anyway."""
    for option, value in options.items():
        if option == "target" and value == "cuda":
            continue
        raise TypeError(f"cuda.{name} has no option {option}={value!r}: leave it out")
