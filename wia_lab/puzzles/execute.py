"""Run an answer on the simulator: one case in, one `Run` of plain data out."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

from wia_lab.puzzles.fills import FillRecorder
from wia_lab.puzzles.puzzle import Run, Shuffles
from wia_lab.puzzles.recorders import FlightRecorder, ShuffleRecorder, StepLimit, WriterRecorder
from wia_lab.puzzles.remarks import kept_out, remark
from wia_lab.puzzles.slips import axes_swapped, plain_slip, slip
from wia_lab.simt import launch

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import FunctionType

    import numpy as np

    from wia_lab.puzzles.puzzle import Case, Remark

DEVICE = "H200"


def execute(function: FunctionType, case: Case) -> Run:
    """Launch `function` on copies of the case's arrays and record what a judge needs.

    Whatever the simulator raises (a typing error, a launch error, a limit) passes through; a launch
    that does not end is stopped with a RefusedError.
    """
    arguments = {name: array.copy() for name, array in case.arguments.items()}
    names = dict(zip(inspect.signature(function).parameters, arguments, strict=True))
    writers = WriterRecorder(
        (ours, arguments[theirs].size) for ours, theirs in names.items() if theirs in case.outputs
    )
    flight, shuffles, fills = FlightRecorder(), ShuffleRecorder(), FillRecorder()
    report = launch.run(
        function,
        case.grid,
        case.block,
        tuple(arguments.values()),
        shared_bytes=0,
        device=DEVICE,
        listeners=[writers, flight, shuffles, fills, StepLimit()],
    )
    outputs = {name: arguments[name] for name in case.outputs}
    return Run(
        case=case,
        outputs=outputs,
        changed=tuple(
            name for name, given in case.inputs.items() if _differs(arguments[name], given)
        ),
        hazards=tuple(report.hazards),
        counters=report.counters,
        arrays={names[each.name]: each for each in report.arrays},
        writers={names[ours]: each for ours, each in writers.writers.items()},
        flight=flight.result(names, fills.early),
        shuffles=Shuffles(shuffles.full, sum(shuffles.partial_on.values()), shuffles.partial_on),
        remark=plain_slip(function)
        or remark(function, case, report.hazards, fills)
        or (None if report.errors else _of_values(function, outputs, writers)),
        lines={line: each.counters for line, each in report.lines.items() if type(line) is int},
        shared={name: fill.shape for (name, _), fill in fills.fills.items()},
    )


def _of_values(
    function: FunctionType, outputs: Mapping[str, np.ndarray], recorder: WriterRecorder
) -> Remark | None:
    """What the source says of values, if they are wrong."""
    return axes_swapped(function) or kept_out(function, recorder.writers) or slip(function, outputs)


def _differs(now: np.ndarray, then: np.ndarray) -> bool:
    """Compare bit for bit: a NaN put into an input must not pass as equal to nothing."""
    return now.tobytes() != then.tobytes()
