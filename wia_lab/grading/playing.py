"""Runs an answer on its inputs, inside the sandbox; what it did comes back as plain data."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from typing import Any

from wia_lab.puzzles import host_judge, judging
from wia_lab.puzzles.answer import RefusedError, kernel_function
from wia_lab.puzzles.host_puzzle import HostCase, HostRun
from wia_lab.puzzles.puzzle import Case, Diagnosis

STOPS = ("TooManyLines", "Deadlock")


def no_python(error: SyntaxError) -> dict[str, Any]:
    """Return the result of an answer that Python cannot compile."""
    line = "" if error.lineno is None else f"line {error.lineno}: "
    text = f"{line}the answer cell is no Python: {error.msg}"
    return {"runs": [], "refusal": Diagnosis("syntax", text, error.lineno)}


def kernel(facts: Any, answer: object, cases: Any) -> dict[str, Any]:
    """Launch a kernel on each case, in the judge's order, until one goes wrong.

    Parameters
    ----------
    facts
        Of the puzzle: id, function, signature, usage.
    answer
        The decorated kernel.
    cases
        Of each launch: name, arguments, outputs, grid, block.
    """
    try:
        function = kernel_function(facts, answer)
    except RefusedError as refused:
        return {"runs": [], "refusal": refused.diagnosis}
    runs: list[dict[str, Any]] = []
    for name, arguments, outputs, grid, block in cases:
        case = Case(name=name, arguments=arguments, outputs=outputs, grid=grid, block=block)
        with contextlib.redirect_stdout(io.StringIO()):
            run = judging.run_case(function, case)
        if isinstance(run, Diagnosis):
            return {"runs": runs, "refusal": run}
        runs.append(
            {
                "outputs": dict(run.outputs),
                "changed": run.changed,
                "hazards": run.hazards,
                "counters": run.counters,
                "arrays": dict(run.arrays),
                "writers": dict(run.writers),
                "flight": run.flight,
                "shuffles": run.shuffles,
                "remark": run.remark,
                "lines": dict(run.lines),
                "shared": dict(run.shared),
            }
        )
        if run.errors:
            break
    return {"runs": runs, "refusal": None}


def host(
    facts: Any,
    answer: Any,
    play: Callable[[type, HostCase], HostRun],
    cases: Any,
    tell: Callable[[Any], None],
) -> dict[str, Any]:
    """Play each script on a class until one does not end, and tell of each as it ends.

    Which is right, nobody here knows: who listens stops this process once a script went wrong.
    """
    refusal = host_judge.refuse(facts, answer)
    if refusal is not None:
        return {"refusal": refusal}
    for name, steps, options, measured in cases:
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                run = play(answer, HostCase(name, steps, options, measured=measured))
        except Exception:
            break  # that scripts are missing is never a pass
        tell({"replies": run.replies, "facts": dict(run.facts)})
        if any(reply.error in STOPS for reply in run.replies):
            break
    return {"refusal": None}
