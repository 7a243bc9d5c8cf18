"""A class graded: submissions in, a folder of results out; resumed and redone without loss."""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wia_lab import __version__
from wia_lab.errors import CannotRun
from wia_lab.grading import classroom, feedback, gradebook, layouts, records, seeds, similar
from wia_lab.grading.answers import Answer, find_answer
from wia_lab.grading.layouts import Handed
from wia_lab.grading.limits import Limits
from wia_lab.grading.submission import read_files
from wia_lab.grading.verdicts import fingerprint
from wia_lab.workbook import catalogue
from wia_lab.workbook.files import write_atomically

if TYPE_CHECKING:
    from wia_lab.grading.course import Course
    from wia_lab.grading.pool import Grader, Task

ABOUT = "grading.json"
TIMES = "times"
"""The one folder of results that differs from run to run."""

MOST_FINDINGS = 30
"""That are told of one student."""

AS_ROOT = ", as root"
"""What is added to a row's sandbox where its answers had root's rights in there."""

ORDER = ("grader_error", "crashed", "timeout", "refused", "unreadable")


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How a class is graded."""

    submissions: Path
    out: Path
    course: Course
    seed: str
    limits: Limits = field(default_factory=Limits)
    confinement: str
    nbval: bool = True
    roster: tuple[str, ...] = ()
    regrade: frozenset[str] = frozenset()  # students judged again even where nothing changed


def settle_seed(out: Path, given: str | None) -> str:
    """Return the seed: the one given, else the one recorded in `out`, else a fresh one."""
    if given is not None:
        return seeds.checked(given)
    try:
        recorded = json.loads((out / ABOUT).read_text(encoding="utf-8"))["seed"]
    except (OSError, ValueError, KeyError, TypeError):
        return seeds.draw()
    return seeds.checked(str(recorded))


def read_roster(path: Path) -> tuple[str, ...]:
    """Return the first column of a CSV file, without a heading `student`."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        names = [row[0].strip() for row in csv.reader(file) if row and row[0].strip()]
    return tuple(names[1:] if names and names[0].lower() == "student" else names)


def grade_class(
    plan: Plan, grader: Grader, progress: Callable[[int], None]
) -> list[dict[str, Any]]:
    """Grade a class and write all results.

    Parameters
    ----------
    plan
        What to grade and how.
    grader
        This machine's pool, or a cluster.
    progress
        Called with the number of students done since the last call.

    Returns
    -------
    list of dict
        The gradebook's rows.
    """
    plan.out.mkdir(parents=True, exist_ok=True)
    if plan.out.resolve().is_relative_to(plan.submissions.resolve()):
        raise CannotRun(f"{plan.out} lies inside the submissions: name another folder with -o")
    handed = with_roster(layouts.collect(plan.submissions), plan.roster)
    about = {
        "seed": plan.seed,
        "sandbox": plan.confinement,
        "nbval": plan.nbval,
        "wia_lab": __version__,
        "limits": plan.limits.plain(),
    }
    # First of all the seed: a run that is killed now goes on with the same inputs
    write_atomically(plan.out / ABOUT, json.dumps(about, indent=1) + "\n")
    prints = {name: fingerprint(catalogue.find(name)) for name in plan.course.puzzles}
    pending: dict[str, dict[str, Any]] = {}
    for result in grader(tasks_of(plan, handed, prints, pending, progress)):
        finish(plan, pending.pop(result["student"]), result)
        progress(1)
    return write_results(plan, [each.student for each in handed], about)


def with_roster(handed: list[Handed], roster: tuple[str, ...]) -> list[Handed]:
    """Return all who handed in, and an empty entry for each of the roster who did not."""
    known = {each.student for each in handed}
    missing = [Handed(name) for name in dict.fromkeys(roster) if name not in known]
    return sorted([*handed, *missing], key=lambda each: each.student)


def tasks_of(
    plan: Plan,
    handed: list[Handed],
    prints: dict[str, str],
    pending: dict[str, dict[str, Any]],
    progress: Callable[[int], None],
) -> Iterator[Task]:
    """Read one student after the other; yield what has to be judged, save what has not."""
    for each in handed:
        record, sources = begin(plan, each)
        before = records.load(plan.out, each.student)
        old = before.get("puzzles", {})
        fresh: dict[str, str] = {}
        for name, source in sources.items():
            key = records.key_of(
                source,
                each.student,
                record["attempt"],
                plan.seed,
                plan.limits.plain(),
                plan.confinement,
                plan.nbval,
                prints[name],
            )
            record["keys"][name] = key
            kept = old.get(name)
            usable = records.is_verdict(kept) and kept["key"] == key
            if usable and each.student not in plan.regrade:
                record["puzzles"][name] = kept
                record["sandbox"] = before.get("sandbox", plan.confinement)
            else:
                fresh[name] = source
        record["sources"] = sources
        if not fresh:
            finish(plan, record, {"puzzles": {}, "nbval": {"ran": None}, "times": {}})
            progress(1)
            continue
        pending[each.student] = record
        yield {
            "student": each.student,
            "attempt": record["attempt"],
            "seed": plan.seed,
            "limits": plan.limits.plain(),
            "confinement": plan.confinement,
            "nbval": plan.nbval,
            "answers": fresh,
        }


def begin(plan: Plan, handed: Handed) -> tuple[dict[str, Any], dict[str, str]]:
    """Read a student's files; return the record's beginning and each puzzle's source."""
    read = read_files(handed.files)
    found: dict[str, Answer] = {}
    for name in plan.course.puzzles:
        answer = find_answer(read.notebooks, catalogue.find(name))
        if answer is not None:
            found[name] = answer
    attempt = max((answer.attempts for answer in found.values()), default=1)
    share, late = plan.course.lateness(handed.when, late=handed.late)
    findings = [*handed.findings, *read.findings]
    for answer in found.values():
        findings += answer.notes
    if plan.course.attempts and attempt > plan.course.attempts:
        share, late = 0.0, f"attempt {attempt} of {plan.course.attempts} allowed"
    sources = {name: answer.source for name, answer in found.items()}
    digest = hashlib.sha256(json.dumps(sources, sort_keys=True).encode()).hexdigest()
    record = {
        "student": handed.student,
        "attempt": attempt,
        "share": share,
        "late": late,
        "findings": shown(findings),
        "sha256": digest,
        "sandbox": plan.confinement,
        "files": len(handed.files) + len(handed.findings),
        "puzzles": {},
        "keys": {},
    }
    return record, sources


def shown(findings: list[str]) -> list[str]:
    """Return findings once each, cut: names in them are as long and as many as a student likes."""
    once = [each if len(each) <= 300 else f"{each[:299]}…" for each in dict.fromkeys(findings)]
    more = len(once) - MOST_FINDINGS
    return once if more <= 0 else [*once[:MOST_FINDINGS], f"and {more:,} more"]


def finish(plan: Plan, record: dict[str, Any], result: dict[str, Any]) -> None:
    """Join what was judged now with what was kept, and write the record."""
    keys = record.pop("keys")
    if result.get("as_root"):
        record["sandbox"] = f"{plan.confinement}{AS_ROOT}"
    for name, judged in result["puzzles"].items():
        record["puzzles"][name] = {**judged, "key": keys[name]}
    order = list(plan.course.puzzles)
    record["puzzles"] = dict(
        sorted(record["puzzles"].items(), key=lambda item: order.index(item[0]))
    )
    record["status"] = status_of(record)
    states = {each["status"] for each in record["puzzles"].values()}
    if not plan.nbval or not record["puzzles"]:
        record["nbval"] = "not run"
    else:
        record["nbval"] = "disagrees" if "grader_error" in states else "agrees"
    records.save(plan.out, record)
    if notebook := result["nbval"].get("notebook"):
        folder = plan.out / "notebooks"
        folder.mkdir(exist_ok=True)
        write_atomically(folder / f"{records.file_stem(record['student'])}.ipynb", notebook)
    if result["times"]:
        folder = plan.out / TIMES
        folder.mkdir(exist_ok=True)
        path = folder / f"{records.file_stem(record['student'])}.json"
        write_atomically(path, json.dumps(result["times"]) + "\n")


def status_of(record: dict[str, Any]) -> str:
    """Return a row's status, from the closed list `gradebook.STATUSES`."""
    states = [each["status"] for each in record["puzzles"].values()]
    if not states:
        return "unreadable" if record["files"] else "not_submitted"
    if "grader_error" in states:
        return "grader_error"
    if all(state == "graded" for state in states):
        return "graded"
    if "graded" in states:
        return "partly_graded"
    return next(state for state in ORDER if state in states)


def write_results(plan: Plan, students: list[str], about: dict[str, Any]) -> list[dict[str, Any]]:
    """Write gradebook, feedback and the view of the class from the records."""
    overrides = gradebook.read_overrides(plan.out)
    rows: list[dict[str, Any]] = []
    sketches: dict[str, list[similar.Sketch]] = {name: [] for name in plan.course.puzzles}
    for student in students:
        record = records.load(plan.out, student)
        row = gradebook.row_of(record, plan.course, overrides)
        rows.append(row)
        feedback.write_page(plan.out, row, record, record["sources"])
        for name, source in record["sources"].items():
            is_stub = (record["puzzles"][name]["diagnosis"] or {}).get("kind") == "stub"
            if not is_stub and (found := similar.sketch(student, source)) is not None:
                sketches[name].append(found)
    pairs = [pair for name, each in sketches.items() for pair in similar.near_identical(name, each)]
    gradebook.write_csv(plan.out, rows, plan.course, plan.seed)
    gradebook.write_exports(plan.out, rows)
    gradebook.write_json(
        plan.out,
        rows,
        {
            **about,
            "puzzles": classroom.table_of(rows, plan.course),
            "near_identical": [vars(pair) for pair in pairs],
        },
    )
    gradebook.write_junit(
        plan.out, (records.load(plan.out, student) for student in students), plan.course
    )
    classroom.write_view(plan.out, rows, plan.course, pairs)
    return rows
