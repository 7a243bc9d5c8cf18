"""Launching a kernel on the simulator: arguments bound, blocks run chunk by chunk."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from numba.core import types

from wia_lab import machines
from wia_lab.errors import LaunchError, SimulationLimit, nvJitLinkError
from wia_lab.simt.arguments import Binder
from wia_lab.simt.build import Library
from wia_lab.simt.counters import Counters
from wia_lab.simt.events import Broadcast, Chunk, Launch, Listener
from wia_lab.simt.frontend import TypedFunction, is_for_cpu, type_function, typeof
from wia_lab.simt.hazards import Hazards
from wia_lab.simt.inflight import InFlightRecorder
from wia_lab.simt.machine import Machine
from wia_lab.simt.report import Report, build_report
from wia_lab.simt.scheduler import Scheduler
from wia_lab.simt.stepping import Replay, Tracer
from wia_lab.wording import counted

if TYPE_CHECKING:
    from wia_lab.simt.program import Program

CHUNK_LANES = 32768
"""Lanes that run together: longer vectors save little overhead and leave the caches (measured)."""

MAX_TOGETHER = 1 << 20
"""Most lanes that run together where blocks wait for each other."""

_LIBRARIES: dict[int, tuple[TypedFunction, Library]] = {}
_LIBRARIES_KEPT = 256
_TYPED: WeakKeyDictionary[Any, dict[Any, TypedFunction]] = WeakKeyDictionary()


def simulate(
    kernel: Any,
    grid: int | Sequence[int],
    block: int | Sequence[int],
    *args: Any,
    device: str = "H200",
    shared_bytes: int = 0,
    warp_order: int | None = None,
) -> Report:
    """Run a kernel on the simulator, on any machine, and report what it did.

    Parameters
    ----------
    kernel
        What `@cuda.jit` made, or the plain function.
    grid, block : int or tuple of up to three
        Blocks in the grid, threads in a block.
    *args
        NumPy arrays, which are written in place, numbers, and tuples of these.
    device : str
        Whose limits and data sheet hold; see `wia_lab.machines`.
    shared_bytes : int
        Dynamic shared memory a block, in bytes.
    warp_order : int, optional
        Run one warp at a time, each as far as it can go, in an order drawn from this seed: another
        schedule that hardware might take. A kernel with a race may give another result; one
        without gives the same.

    Returns
    -------
    Report
        Counters, hazards and cost. Hazards raise nothing here.

    Raises
    ------
    LaunchError
        For a launch that the device would refuse.
    numba.core.errors.NumbaError
        For a kernel that Numba would refuse.
    """
    function = getattr(kernel, "py_func", kernel)
    if is_for_cpu(kernel):
        raise LaunchError(
            f"simulate() got {function.__name__}, which Numba compiles for the CPU: decorate a "
            "kernel with @cuda.jit; @njit is for functions that kernels call"
        )
    if not inspect.isfunction(function):
        raise LaunchError(
            f"simulate() takes a kernel as its first argument and got {kernel!r}: pass the "
            "function that @cuda.jit decorates"
        )
    return run(
        function, grid, block, args, shared_bytes=shared_bytes, device=device, warp_order=warp_order
    )


def run(
    py_func: Callable[..., Any],
    grid: int | Sequence[int],
    block: int | Sequence[int],
    args: Sequence[Any],
    *,
    shared_bytes: int = 0,
    device: str = "H200",
    listeners: Sequence[Listener] = (),
    debug: bool = False,
    warp_order: int | None = None,
    tracer: Tracer | None = None,
) -> Report:
    """As `simulate`, with more listeners, and for a function that need not be a kernel object.

    With `debug`, an exception that a thread raises is raised here after the launch. A `tracer` is
    told of every step, and is a listener too; a launch with one makes no report to step through.
    """
    sheet = machines.device(device)
    extents = (_extent(grid, "grid"), _extent(block, "block"))
    _check_limits(sheet, py_func.__name__, *extents)
    _check_count(py_func, args)
    typed = _typed(py_func, _argument_types(py_func, args))
    _check_passable(typed)
    library = _library(typed)
    program = library.program(typed)
    static = library.shared_bytes()
    _check_shared(sheet, py_func.__name__, static, shared_bytes)
    launch = Launch(
        kernel=typed.name,
        file=typed.file,
        grid=extents[0],
        block=extents[1],
        sites=tuple(library.sites),
        has_fences=library.any("has_fences"),
        device=device,
    )
    counters, hazards, inflight = Counters(), Hazards(), InFlightRecorder()
    own = [counters, inflight, hazards] if tracer is None else [tracer]
    bus = Broadcast([*own, *listeners])
    replay = (
        None
        if tracer
        else Replay(
            lambda again, walker: run(
                py_func,
                grid,
                block,
                again,
                shared_bytes=shared_bytes,
                device=device,
                tracer=walker,
                warp_order=warp_order,
            ),
            args,
        )
    )
    binder = Binder(typed, program, library)
    with np.errstate(all="ignore"):
        values = binder.bind(args)
        bus.on_launch(launch)
        failure = _run_chunks(
            launch, library, program, values, bus, shared_bytes, tracer, warp_order
        )
        bus.on_end()
    if debug and failure is not None:
        raise failure
    if tracer is not None:
        return None  # type: ignore[return-value]
    report = build_report(launch, counters, hazards.found, inflight, static + shared_bytes)
    report.extras["replay"] = replay
    return report


def written_arguments(
    py_func: Callable[..., Any],
    args: Sequence[Any],
    *,
    shared_bytes: int = 0,
    device: str = "H200",
) -> set[int]:
    """Positions of the arguments that a launch may write, without running it.

    What compiling would refuse, and more shared memory than the device has, is refused as by
    `run`: a launch that runs later is refused at once.
    """
    _check_count(py_func, args)
    typed = _typed(py_func, _argument_types(py_func, args))
    _check_passable(typed)
    library = _library(typed)
    sheet = machines.device(device)
    _check_shared(sheet, py_func.__name__, library.shared_bytes(), shared_bytes)
    return set(library.program(typed).written_arguments)


def _run_chunks(
    launch: Launch,
    library: Library,
    program: Program,
    values: list[Any],
    bus: Listener,
    shared_bytes: int,
    tracer: Tracer | None,
    warp_order: int | None,
) -> BaseException | None:
    threads = int(np.prod(launch.block))
    stride = -(-threads // 32) * 32
    blocks = int(np.prod(launch.grid))
    together = _blocks_together(launch, library, stride, blocks)
    failure = None
    for first in range(0, blocks, together):
        count = min(together, blocks - first)
        full = np.tile(np.arange(stride) < threads, count)
        chunk = Chunk(first, count, stride, threads, full)
        machine = Machine(launch, chunk, bus, shared_bytes)
        bus.on_chunk(chunk)
        order = None
        if warp_order is not None:
            order = np.random.default_rng((warp_order, first)).permutation(chunk.lanes // 32)
        scheduler = Scheduler(machine, program, values, tracer=tracer, warp_order=order)
        try:
            scheduler.run()
        finally:
            if tracer is None:
                _print(machine)
        bus.on_chunk_end(chunk)
        if scheduler.failure is not None and failure is None:
            failure = _located(launch, chunk, scheduler.failure)
    return failure


def _blocks_together(launch: Launch, library: Library, stride: int, blocks: int) -> int:
    if library.any("has_grid_barrier"):
        if blocks * stride > MAX_TOGETHER:
            raise SimulationLimit(
                f"{launch.kernel}: a grid barrier needs all {blocks:,} blocks at once, "
                f"{blocks * stride:,} threads, over the limit of {MAX_TOGETHER:,}: launch fewer "
                "blocks and let each thread do more."
            )
        return blocks
    if library.any("may_spin"):
        return max(1, min(blocks, MAX_TOGETHER // 4 // stride))
    return max(1, min(blocks, CHUNK_LANES // stride))


def _print(machine: Machine) -> None:
    for _, line in machine.output:
        print(line)  # noqa: T201 (what the kernel prints)


def _located(
    launch: Launch, chunk: Chunk, failure: tuple[Any, int, BaseException]
) -> BaseException:
    site, lane, error = failure
    where = f"line {site.line}, {launch.thread_name(chunk, lane)}"
    error.args = (f"{where}: {error.args[0] if error.args else type(error).__name__}",)
    return error


def _library(typed: TypedFunction) -> Library:
    found = _LIBRARIES.get(id(typed))
    if found is None:
        if len(_LIBRARIES) >= _LIBRARIES_KEPT:
            _LIBRARIES.clear()
        library = Library()
        library.program(typed)
        found = _LIBRARIES[id(typed)] = (typed, library)
    return found[1]


def _typed(py_func: Any, kinds: tuple[Any, ...]) -> TypedFunction:
    """Type a function once for each set of argument types: its globals are frozen, as Numba's."""
    known = _TYPED.setdefault(py_func, {})
    found = known.get(kinds)
    if found is None:
        found = known[kinds] = type_function(py_func, kinds)
    return found


def _typed_argument(value: Any) -> Any:
    return getattr(value, "memory", value)


def _argument_types(py_func: Callable[..., Any], args: Sequence[Any]) -> tuple[types.Type, ...]:
    kinds = []
    for number, value in enumerate(args):
        try:
            kinds.append(typeof(_typed_argument(value)))
        except ValueError as error:
            raise ValueError(
                f"{py_func.__name__}: argument {number} is of type {type(value).__name__}, which a "
                f"kernel cannot take ({error}): {_PASSABLE}"
            ) from error
    return tuple(kinds)


def _check_passable(typed: TypedFunction) -> None:
    """Refuse what Numba can type and no GPU can be given: lists, sets, dicts and texts."""
    for name, kind in zip(typed.argument_names, typed.argument_types, strict=True):
        if isinstance(kind, (types.Container, types.UnicodeType, types.DictType)) and not (
            isinstance(kind, types.BaseTuple)
        ):
            raise NotImplementedError(
                f"{typed.name}: argument {name} is a {kind}, which cannot be copied to a GPU: "
                f"{_PASSABLE}"
            )


_PASSABLE = "pass NumPy arrays, device arrays, numbers, or tuples of these"


def _extent(extent: Any, what: str) -> tuple[int, int, int]:
    parts = tuple(extent) if isinstance(extent, (tuple, list)) else (extent,)
    if not 1 <= len(parts) <= 3 or not all(isinstance(p, (int, np.integer)) for p in parts):
        raise LaunchError(
            f"the {what} of a launch is an integer or a tuple of one to three integers, and got "
            f"{extent!r}: write for example kernel[4, 256](...)"
        )
    x, y, z = (*map(int, parts), 1, 1)[:3]
    return x, y, z


def _check_limits(
    sheet: machines.Device, name: str, grid: tuple[int, int, int], block: tuple[int, int, int]
) -> None:
    for what, extents, most in (
        ("grid", grid, sheet.grid_extent),
        ("block", block, sheet.block_extent),
    ):
        for axis, extent, limit in zip("xyz", extents, most, strict=True):
            if not 1 <= extent <= limit:
                raise LaunchError(
                    f"{name}: {what} {extents} has {extent} along {axis}; {sheet.name} takes 1 to "
                    f"{limit:,}: change the launch configuration"
                )
    threads = int(np.prod(block))
    if threads > sheet.threads_per_block:
        raise LaunchError(
            f"{name}: block {block} has {threads:,} threads; {sheet.name} takes at most "
            f"{sheet.threads_per_block:,}: use smaller blocks, and more of them"
        )


def _check_count(py_func: Callable[..., Any], args: Sequence[Any]) -> None:
    parameters = inspect.signature(py_func).parameters
    if any(each.kind is each.VAR_POSITIONAL for each in parameters.values()):
        return
    if len(parameters) != len(args):
        raise LaunchError(
            f"{py_func.__name__} takes {counted(len(parameters), 'argument')} "
            f"({', '.join(parameters)}) and got {len(args)}: pass one for each"
        )


def _check_shared(sheet: machines.Device, name: str, static: int, dynamic: int) -> None:
    if dynamic < 0:
        raise LaunchError(
            f"{name}: {dynamic:,} bytes of dynamic shared memory are asked for: pass 0 or more"
        )
    if static > sheet.shared_per_block:
        raise nvJitLinkError(
            f"{name} uses too much shared data: it declares {static:,} bytes, and a block has at "
            f"most {sheet.shared_per_block:,} static ones: make the arrays smaller, or use a "
            "shared array of shape 0 and pass its bytes at the launch"
        )
    if static + dynamic > sheet.shared_per_block_optin:
        raise LaunchError(
            f"{name} wants {static + dynamic:,} bytes of shared memory a block; {sheet.name} has "
            f"{sheet.shared_per_block_optin:,}: use less"
        )
