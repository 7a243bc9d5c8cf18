"""All answers of one student: one worker, then nbval once. Plain data in and out."""

from __future__ import annotations

import time
from typing import Any

from wia_lab.errors import CannotRun
from wia_lab.grading import official, seeds
from wia_lab.grading.limits import Limits
from wia_lab.grading.sandbox import Worker
from wia_lab.grading.verdicts import Judged, judge_answer
from wia_lab.puzzles.host_puzzle import HostPuzzle
from wia_lab.workbook import catalogue


def grade_student(task: dict[str, Any]) -> dict[str, Any]:
    """Judge a student's answers; a fault of this program's becomes a status, never an exception.

    Parameters
    ----------
    task
        `student`, `attempt`, `seed`, `limits`, `confinement`, `nbval`, and `answers`: the source of
        each puzzle that is to be judged now.

    Returns
    -------
    dict
        `student`; `puzzles`, of each its status, entries (name, passed, text), diagnosis, notes
        and seed; `nbval`; `times`, in seconds; `as_root`, whether the answers ran as root.
    """
    try:
        return _grade(task)
    except Exception as error:  # one student's fault must not stop the others
        return {
            "student": task["student"],
            "puzzles": {
                name: broken(f"{type(error).__name__}: {error}"[:300]) for name in task["answers"]
            },
            "nbval": {"ran": False},
            "times": {},
        }


def broken(why: str) -> dict[str, Any]:
    """Return the result of an answer that this program failed to judge."""
    text = f"The grader itself failed ({why}): ask your teacher to grade this again."
    diagnosis = {"kind": "grader-error", "text": text, "line": None, "cause": None}
    return {"status": "grader_error", "entries": [], "diagnosis": diagnosis, "notes": [], "seed": 0}


def _grade(task: dict[str, Any]) -> dict[str, Any]:
    limits = Limits(**task["limits"])
    results: dict[str, Any] = {}
    times: dict[str, float] = {}
    begun = time.monotonic()
    # Kernels first: they are interpreted, and nothing of theirs can be left running
    puzzles = [catalogue.find(name) for name in task["answers"]]
    puzzles.sort(key=lambda puzzle: (isinstance(puzzle, HostPuzzle), puzzle.number))
    with Worker(task["confinement"]) as worker:
        for puzzle in puzzles:
            source = task["answers"][puzzle.id]
            seed = seeds.seed_of(task["seed"], task["student"], puzzle.id, task["attempt"])
            start = time.monotonic()
            try:
                results[puzzle.id] = plain_result(
                    judge_answer(puzzle, source, seed, limits, worker), seed
                )
            except CannotRun:
                raise
            except Exception as error:  # a defect in one puzzle's own judge
                results[puzzle.id] = broken(f"{type(error).__name__}: {error}"[:300])
            times[puzzle.id] = round(time.monotonic() - start, 3)
        as_root = worker.as_root
    results = {puzzle.id: results[puzzle.id] for puzzle in sorted(puzzles, key=lambda p: p.number)}
    times["worker"] = round(time.monotonic() - begun, 3)
    confirmation: dict[str, Any] = {"ran": None}
    if task["nbval"] and results:
        confirmation = official.confirm(results, task["answers"])
        times["nbval"] = confirmation.pop("seconds")
        hold_against(results, confirmation)
    return {
        "student": task["student"],
        "puzzles": results,
        "nbval": confirmation,
        "times": times,
        "as_root": as_root,
    }


def plain_result(judged: Judged, seed: int) -> dict[str, Any]:
    """Return a verdict as JSON holds it."""
    found = judged.verdict.diagnosis
    return {
        "status": judged.status,
        "entries": [[e.name, e.passed is True, e.text] for e in judged.verdict.entries],
        "diagnosis": None
        if found is None
        else {
            "kind": found.kind,
            "text": found.text,
            "line": None if found.line is None else int(found.line),
            "cause": found.cause,
        },
        "notes": list(judged.verdict.notes),
        "seed": str(seed),
    }


def hold_against(results: dict[str, Any], confirmation: dict[str, Any]) -> None:
    """Take back each entry that nbval did not confirm, and say so."""
    confirmed = {tuple(pair) for pair in confirmation["confirmed"]}
    for name, result in results.items():
        passed = {(name, entry[0]) for entry in result["entries"] if entry[1]}
        failed = {(name, entry[0]) for entry in result["entries"]} - passed
        if passed <= confirmed and not failed & confirmed and confirmation["ran"]:
            continue
        for entry in result["entries"]:
            entry[1] = entry[1] and (name, entry[0]) in confirmed
        how = "disagrees with" if confirmation["ran"] else "did not come to an end on"
        result["status"] = "grader_error"
        result["notes"].append(f"nbval {how} the verdict: grade this again")
