"""One answer in, its entries and diagnosis out: the worker runs it, this process judges it."""

from __future__ import annotations

import ast
import hashlib
import inspect
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
import numpy as np

from wia_lab.errors import CannotRun
from wia_lab.grading import plain, sandbox
from wia_lab.grading.limits import MIB, Limits
from wia_lab.grading.refusal import refuse
from wia_lab.grading.sandbox import Worker, WorkerDied
from wia_lab.grading.scripts import Scripts
from wia_lab.grading.slices import needed, used
from wia_lab.puzzles import host_judge, judging
from wia_lab.puzzles.host_puzzle import HostPuzzle
from wia_lab.puzzles.puzzle import Case, Diagnosis, Flight, Remark, Run, Shuffles, Verdict, Writers
from wia_lab.simt.counts import Counts
from wia_lab.simt.hazards.found import Hazard
from wia_lab.wording import counted
from wia_lab.workbook.places import notebooks_folder

if TYPE_CHECKING:
    from wia_lab.workbook.catalogue import AnyPuzzle

FATES = {"timeout": "timeout", "memory": "crashed", "output": "crashed", "crashed": "crashed"}
SETUP = "setup"


@dataclass(frozen=True)
class Judged:
    """One answer judged: what became of it, its verdict, and what it cost."""

    status: str  # graded, refused, timeout, crashed or grader_error
    verdict: Verdict
    seconds: float = 0.0


@cache
def official_cells(stem: str) -> dict[str, str]:
    """Return the sources of the code cells of an official notebook, by cell id."""
    path = notebooks_folder() / f"{stem}.ipynb"
    notebook = nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)
    return {cell.id: cell.source for cell in notebook.cells if cell.cell_type == "code"}


@cache
def play_source(puzzle_id: str, path: str, name: str) -> str:
    """Return the source of the function that plays a host puzzle's scripts, with what it needs."""
    del puzzle_id
    tree = ast.parse(Path(path).read_text(encoding="utf-8"))
    text = ast.unparse(needed(tree, [name]))
    return text if name == "play" else f"{text}\nplay = {name}\n"


def judge_answer(
    puzzle: AnyPuzzle, source: str, seed: int, limits: Limits, worker: Worker
) -> Judged:
    """Judge an answer's source; whatever it does, the result is a `Judged`."""
    host = puzzle if isinstance(puzzle, HostPuzzle) else None
    refusal = refuse(source, host=host is not None)
    if refusal is not None:
        return Judged("refused", refused(puzzle, refusal))
    cases: list[Any] = list(puzzle.cases(np.random.default_rng(seed)))
    request = request_of(puzzle, source, cases, limits)
    scripts = None if host is None else Scripts(host, cases)
    reply: dict[str, Any] = {}
    try:
        hear = () if scripts is None else (scripts.hear,)
        try:
            reply = worker.ask(request, limits.seconds, limits.output_mib * MIB, *hear)
        except WorkerDied as error:
            fate = "timeout" if "does not" in str(error) else "crashed"
            reply = {"fate": fate, "why": str(error)}
        verdict = verdict_of(puzzle, cases, scripts, reply)
    except CannotRun:  # this machine's fault, and no student's
        raise
    except Exception as error:  # what came back fits no run: the answer meddled with its worker
        text = f"What the answer handed back cannot be judged ({type(error).__name__}: {error})"
        found = refused(puzzle, Diagnosis("crashed", text[:400]))
        return Judged("crashed", found, seconds_of(reply))
    if verdict is not None:
        return Judged("graded", verdict, seconds_of(reply))
    status = FATES.get(str(reply.get("fate")), "crashed")
    text = f"The answer was stopped: {str(reply.get('why', 'no reason given'))[:300]}."
    return Judged(status, refused(puzzle, Diagnosis(status, text)), seconds_of(reply))


def verdict_of(
    puzzle: AnyPuzzle, cases: list[Any], scripts: Scripts | None, reply: dict[str, Any]
) -> Verdict | None:
    """Return the verdict of what came back; None where the answer was stopped without one."""
    if scripts is not None and scripts.wrong is not None:
        return scripts.verdict()  # whatever became of it later
    if reply.get("fate") != "ran":
        return None
    result = plain.decode(reply["result"])
    if scripts is not None:
        return scripts.verdict(refusal_in(result))
    return kernel_verdict(puzzle, cases, result)


def seconds_of(reply: dict[str, Any]) -> float:
    """Return how long a worker says that an answer took."""
    seconds = reply.get("seconds")
    return float(seconds) if isinstance(seconds, (int, float)) else 0.0


def refusal_in(result: Any) -> Diagnosis | None:
    """Return why an answer was not run (any further), of what came back."""
    refusal = result["refusal"]
    if refusal is not None and not isinstance(refusal, Diagnosis):
        raise TypeError("the refusal is no diagnosis")
    return refusal


def refused(puzzle: AnyPuzzle, diagnosis: Diagnosis) -> Verdict:
    """Return the verdict of an answer that was not judged on any input: no entry passes."""
    if isinstance(puzzle, HostPuzzle):
        return host_judge.host_verdict(puzzle, [], diagnosis)
    return judging.verdict(puzzle, (), diagnosis)


def request_of(puzzle: AnyPuzzle, source: str, cases: list[Any], limits: Limits) -> dict[str, Any]:
    """Return what the worker is told: source and inputs, and nothing that they should give."""
    request: dict[str, Any] = {
        "kind": "kernel",
        "source": source,
        "function": puzzle.function,
        "setup": setup_for(puzzle, source),
        "facts": {
            "id": puzzle.id,
            "function": puzzle.function,
            "signature": list(puzzle.signature),
            "usage": puzzle.usage,
        },
        "limits": limits.plain(),
    }
    if isinstance(puzzle, HostPuzzle):
        path = inspect.getsourcefile(puzzle.play) or ""
        request["kind"] = "host"
        request["play"] = play_source(puzzle.id, path, puzzle.play.__name__)
        rows: tuple[Any, ...] = tuple((c.name, c.steps, dict(c.options), c.measured) for c in cases)
    else:
        rows = tuple((c.name, dict(c.arguments), c.outputs, c.grid, c.block) for c in cases)
    request["cases"] = plain.encode(rows)
    return request


def setup_for(puzzle: AnyPuzzle, source: str) -> str:
    """Return what of the official setup cell an answer needs."""
    cells = official_cells(puzzle.stem)
    tree = ast.parse(source)
    names = used(needed(tree, [puzzle.function]))
    return ast.unparse(needed(ast.parse(cells.get(SETUP, "")), names))


def kernel_verdict(puzzle: Any, cases: list[Case], result: Any) -> Verdict:
    """Judge the runs of a kernel; they are joined with the parent's own cases and no others."""
    refusal = refusal_in(result)
    runs = [kernel_run(case, data) for case, data in zip(cases, result["runs"], strict=False)]
    stopped = refusal is not None or bool(runs and runs[-1].errors)
    if len(result["runs"]) != len(cases) and not stopped:
        raise ValueError(f"{counted(len(result['runs']), 'run')} of {counted(len(cases), 'input')}")
    return judging.verdict(puzzle, runs, refusal)


def kernel_run(case: Case, data: Any) -> Run:
    """Return one run, its arrays held against the shapes and types that were sent."""
    outputs = data["outputs"]
    if set(outputs) != set(case.outputs):
        raise ValueError("outputs are missing")
    for name, array in outputs.items():
        sent = case.arguments[name]
        if not isinstance(array, np.ndarray) or (array.shape, array.dtype) != (
            sent.shape,
            sent.dtype,
        ):
            raise TypeError(f"{name} came back with another shape or type")
    hazards = tuple(data["hazards"])
    writers = data["writers"]
    if not all(type(each) is Hazard for each in hazards):
        raise TypeError("a hazard is none")
    if type(data["counters"]) is not Counts or type(data["flight"]) is not Flight:
        raise TypeError("counters are none")
    if type(data["shuffles"]) is not Shuffles:
        raise TypeError("shuffles are none")
    if data["remark"] is not None and type(data["remark"]) is not Remark:
        raise TypeError("the remark is none")
    if not all(type(each) is Writers for each in writers.values()):
        raise TypeError("writers are none")
    if not all(type(each) is Counts for each in data["lines"].values()):
        raise TypeError("counters of lines are none")
    return Run(
        case=case,
        outputs=outputs,
        changed=tuple(map(str, data["changed"])),
        hazards=hazards,
        counters=data["counters"],
        arrays=data["arrays"],
        writers=writers,
        flight=data["flight"],
        shuffles=data["shuffles"],
        remark=data["remark"],
        lines=data["lines"],
        shared=data["shared"],
    )


def sandbox_mode(forced: str | None = None) -> str:
    """Return how answers are confined here."""
    return sandbox.mode(forced)


def fingerprint(puzzle: AnyPuzzle) -> str:
    """Return a digest of the files that judge a puzzle: another one makes an old verdict stale."""
    digest = hashlib.sha256()
    folder = Path(inspect.getsourcefile(type(puzzle)) or "").parent
    stem = puzzle.id.replace("-", "_")
    names = (f"{stem}*.py", "*judg*.py", "*playing.py", "execute.py", "turns.py")
    files = sorted({path for name in names for path in folder.glob(name)})
    for path in files:
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:16]
