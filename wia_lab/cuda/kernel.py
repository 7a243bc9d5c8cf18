"""`cuda.jit`, and the kernels and device functions it makes.

A kernel keeps its plain Python function in `py_func`. On the simulator that function is
interpreted; on hardware numba-cuda compiles a copy of it (`rebind`). Both judge the same source.
"""

from __future__ import annotations

import functools
import inspect
import types as pytypes
from collections.abc import Callable, Sequence
from typing import Any

import numba

from wia_lab.cuda import options as jit_options
from wia_lab.cuda import signatures
from wia_lab.cuda.arguments import Prepared, check_host_array
from wia_lab.cuda.choice import backend
from wia_lab.cuda.devices import get_current_device
from wia_lab.cuda.errors import CudaAPIError
from wia_lab.cuda.launchconfig import HOW, LaunchConfiguration
from wia_lab.wording import counted

DEFAULT_FORALL_BLOCK = 256  # threads: what `forall` uses on the simulator when none is asked


class Compiled:
    """What kernels and device functions share: the function, its options, its signatures.

    Attributes
    ----------
    py_func, name
        The Python function as written, and its name.
    options
        The options given to `cuda.jit`.
    signatures, single
        The explicit signatures given, possibly none; whether it was one, not in a list.
    """

    is_device = False

    def __init__(
        self,
        py_func: Callable[..., Any],
        options: dict[str, Any],
        given: Sequence[Any],
        *,
        single: bool,
    ) -> None:
        self.py_func = py_func
        self.options = options
        self.name = py_func.__name__
        self.signatures = [signatures.parse(each) for each in given]
        self.single = single
        functools.update_wrapper(self, py_func)  # type: ignore[arg-type]
        for each in self.signatures:
            self._check_signature(each)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"

    @property
    def hardware(self) -> Any:
        """numba.cuda's own dispatcher for this function; made on first use.

        Raises
        ------
        BackendError
            When numba-cuda is not installed.
        """
        from wia_lab.cuda.rebind import dispatcher

        return dispatcher(self)

    def __getstate__(self) -> dict[str, Any]:
        kept = self.__dict__.items()
        return {name: value for name, value in kept if name not in ("_dispatcher", "_versions")}

    def __getattr__(self, name: str) -> Any:
        """Inspection (`inspect_asm`, `get_regs_per_thread`, ...) is the hardware's."""
        if name.startswith(("inspect_", "get_", "max_")) or name in ("overloads", "stats"):
            return getattr(self.hardware, name)
        raise AttributeError(f"{type(self).__name__} object has no attribute {name!r}")

    def _check_signature(self, signature: signatures.Signature) -> None:
        expected = len(inspect.signature(self.py_func).parameters)
        if len(signature.arguments) != expected:
            raise TypeError(
                f"{self.name} takes {counted(expected, 'argument')}, but the signature "
                f"{signature} has {len(signature.arguments)}: write one type an argument"
            )


class DeviceFunction(Compiled):
    """A function that kernels and other device functions call."""

    is_device = True

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(
            f"{self.name} is a device function, which only a kernel can call: call "
            f"{self.name}.py_func(...) to run it as plain Python on the host"
        )

    def __getitem__(self, index: Any) -> Any:
        raise TypeError(
            f"{self.name} is a device function, which cannot be launched: decorate it with "
            "@cuda.jit, without device=True, to make it a kernel"
        )


class Kernel(Compiled):
    """A function that is launched over a grid: ``kernel[grid, block](*arguments)``."""

    def __getitem__(self, index: Any) -> ConfiguredKernel:
        limits = get_current_device().sheet
        return ConfiguredKernel(self, LaunchConfiguration.of(index, self.name, limits))

    def configure(
        self, griddim: Any, blockdim: Any, stream: Any = 0, sharedmem: int = 0
    ) -> ConfiguredKernel:
        """``kernel[griddim, blockdim, stream, sharedmem]``, spelt as a call."""
        return self[griddim, blockdim, stream, sharedmem]

    def forall(self, ntasks: int, tpb: int = 0, stream: Any = 0, sharedmem: int = 0) -> ForAll:
        """A launch of at least `ntasks` threads in one dimension.

        The kernel must test ``cuda.grid(1)`` against the number of tasks. `tpb` is the number of
        threads a block; 0 lets the driver choose, or 256 on the simulator.
        """
        if ntasks < 0:
            raise ValueError(f"Can't create ForAll with negative task count: {ntasks}")
        return ForAll(self, ntasks, tpb, stream, sharedmem)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise ValueError(
            f"Kernel launch configuration was not specified for {self.name}: {HOW}, for instance "
            f"{self.name}[1, 32](...)"
        )

    def __get__(self, obj: Any, objtype: Any = None) -> Any:
        return self if obj is None else pytypes.MethodType(self, obj)

    @property
    def specialized(self) -> bool:
        """Whether the kernel takes exactly one signature."""
        return self.single

    def specialize(self, *args: Any) -> Kernel:
        """Make a kernel for the types of `args` alone."""
        if self.specialized:
            raise RuntimeError(f"{self.name} is already specialized: use it as it is")
        prepared = Prepared(args, self.argument_names(args), self.name).values
        kinds = tuple(numba.typeof(each) for each in prepared)
        return Kernel(self.py_func, self.options, [kinds], single=True)

    def argument_names(self, args: Sequence[Any]) -> list[str]:
        """The parameter's name of each of `args`; a wrong number of them is refused."""
        parameters = inspect.signature(self.py_func).parameters
        names = [name for name, each in parameters.items() if each.kind is not each.VAR_POSITIONAL]
        rest = [name for name in parameters if name not in names]
        if len(args) < len(names) or (len(args) > len(names) and not rest):
            raise TypeError(
                f"{self.name} takes {counted(len(names), 'argument')} ({', '.join(names)}) "
                f"and got {len(args)}: pass one for each"
            )
        return names + [f"{rest[0]}[{i}]" for i in range(len(args) - len(names))]

    def frozen(self, values: Sequence[Any]) -> Callable[..., Any]:
        """The function with the globals that it had when first launched with such arguments."""
        from wia_lab.cuda.freeze import frozen
        from wia_lab.simt.frontend import typeof

        kinds = tuple(typeof(getattr(each, "memory", each)) for each in values)
        versions = self.__dict__.setdefault("_versions", {})
        if kinds not in versions:
            versions[kinds] = frozen(self.py_func)
        found: Callable[..., Any] = versions[kinds]
        return found

    def _check_signature(self, signature: signatures.Signature) -> None:
        super()._check_signature(signature)
        if signature.result is not None and str(signature.result) != "none":
            raise TypeError(
                f"CUDA kernel must have void return type, {self.name} is given "
                f"{signature.result}: write its result to an array"
            )


class ConfiguredKernel:
    """A kernel with its launch configuration; calling it launches."""

    def __init__(self, kernel: Kernel, configuration: LaunchConfiguration) -> None:
        self.kernel = kernel
        self.configuration = configuration

    def __repr__(self) -> str:
        c = self.configuration
        return f"<{self.kernel.name}[{c.grid}, {c.block}, {c.stream}, {c.shared_bytes}]>"

    def __call__(self, *args: Any) -> None:
        """Launch.

        Raises
        ------
        TypeError
            When the number of arguments is wrong, or no signature takes them.
        CudaAPIError
            When the device refuses the configuration.
        HazardError
            On the simulator, when the launch had errors; see `wia_lab.cuda.policy`.
        """
        names = self.kernel.argument_names(args)
        self._check_bounds()
        if backend() == "hardware":
            c = self.configuration
            for value, name in zip(args, names, strict=True):
                check_host_array(value, name, self.kernel.name)
            self.kernel.hardware[c.grid, c.block, c.stream, c.shared_bytes](*args)
        else:
            from wia_lab.cuda.simulated import launch

            launch(self.kernel, self.configuration, args, names)

    def _check_bounds(self) -> None:
        """Refuse more threads than `launch_bounds` compiled the kernel for, as the driver does."""
        most, block = jit_options.max_threads(self.kernel.options), self.configuration.block
        if most is not None and block[0] * block[1] * block[2] > most:
            raise CudaAPIError(
                "CUDA_ERROR_INVALID_VALUE",
                f"{self.kernel.name}: block {block} has more threads than its "
                f"launch_bounds of {most}: raise launch_bounds or use smaller blocks",
            )


class ForAll:
    """A kernel to be launched over a number of tasks; see `Kernel.forall`."""

    def __init__(self, kernel: Kernel, ntasks: int, tpb: int, stream: Any, sharedmem: int) -> None:
        self._kernel, self._ntasks, self._tpb = kernel, ntasks, tpb
        self._stream, self._sharedmem = stream, sharedmem

    def __call__(self, *args: Any) -> None:
        """Launch; with no task nothing happens."""
        if self._ntasks == 0:
            return
        tpb = self._tpb
        if not tpb and backend() == "hardware":
            launch = self._kernel.hardware.forall(self._ntasks, 0, self._stream, self._sharedmem)
            launch(*args)
            return
        tpb = tpb or DEFAULT_FORALL_BLOCK
        blocks = -(-self._ntasks // tpb)
        self._kernel[blocks, tpb, self._stream, self._sharedmem](*args)


def jit(func_or_sig: Any = None, device: bool = False, **options: Any) -> Any:
    """Make a kernel, or with ``device=True`` a device function, from a Python function.

    Used bare (``@cuda.jit``), with options (``@cuda.jit(fastmath=True)``), or with one signature
    or a list of them (``@cuda.jit("void(float32[:], int32)")``). The options are numba-cuda's;
    `wia_lab.cuda.options.MEANING` says what each means on the simulator.
    """
    jit_options.check(options, device=device)
    if isinstance(func_or_sig, Compiled):
        raise TypeError(f"{func_or_sig!r} is decorated with @cuda.jit already: decorate it once")
    given, single = _signatures(func_or_sig)

    def make(function: Callable[..., Any]) -> Compiled:
        function = getattr(function, "py_func", function)
        if not isinstance(function, pytypes.FunctionType):
            raise TypeError(f"cuda.jit compiles Python functions, not {function!r}")
        kind = DeviceFunction if device else Kernel
        return kind(
            function, {k: v for k, v in options.items() if v is not None}, given, single=single
        )

    return make(func_or_sig) if callable(func_or_sig) and not given else make


def _signatures(thing: Any) -> tuple[list[Any], bool]:
    """The signatures in `jit`'s first argument, and whether it is a single one."""
    if thing is None or inspect.isfunction(thing):
        return [], False
    if isinstance(thing, list):
        return thing, False
    if signatures.is_signature(thing):
        return [thing], True
    if callable(thing):  # `make` says what it takes
        return [], False
    raise TypeError(
        f"cuda.jit({thing!r}): give a function, or a signature such as 'void(float32[:], int32)', "
        "or a list of signatures"
    )
