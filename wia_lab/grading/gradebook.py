"""The gradebook, a row a student: CSV, JSON, JUnit XML, and what Canvas and Moodle import."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import quoteattr

from wia_lab.errors import CannotRun
from wia_lab.workbook.files import write_atomically

if TYPE_CHECKING:
    from wia_lab.grading.course import Course

DANGEROUS = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
OVERRIDES = "overrides.csv"
STATUSES = (
    "graded",
    "partly_graded",
    "not_submitted",
    "unreadable",
    "refused",
    "timeout",
    "crashed",
    "grader_error",
)
"""Every status that a row or an answer can have."""


def safe(value: Any) -> Any:
    """Return a cell that no spreadsheet takes for a formula."""
    if isinstance(value, str) and value.lstrip().startswith(DANGEROUS):
        return f"'{value}"
    return value


def read_overrides(out: Path) -> dict[tuple[str, str], tuple[float, str]]:
    """Read the teacher's own points, `student,puzzle,points,comment`, from `OUT/overrides.csv`."""
    path = out / OVERRIDES
    if not path.exists():
        return {}
    found = {}
    with path.open(encoding="utf-8-sig", newline="") as file:
        for number, row in enumerate(csv.DictReader(file), start=2):
            try:
                points = float(row["points"])
                found[row["student"], row["puzzle"]] = (points, row.get("comment") or "")
            except (KeyError, TypeError, ValueError) as error:
                raise CannotRun(
                    f"{path}, line {number}: write student,puzzle,points,comment with a number"
                ) from error
    return found


def row_of(
    record: dict[str, Any], course: Course, overrides: dict[tuple[str, str], tuple[float, str]]
) -> dict[str, Any]:
    """Return a student's row: points a puzzle, the total, and how it came about."""
    share, late = record["share"], record["late"]
    student = record["student"]
    puzzles = {}
    for name, worth in course.puzzles.items():
        result = record["puzzles"].get(name)
        entries = [(e[0], e[1]) for e in result["entries"]] if result else []
        points = round(worth.earned(entries) * share, 4)
        comment = ""
        if (student, name) in overrides:
            points, comment = overrides[student, name]
        puzzles[name] = {
            "points": points,
            "of": worth.points,
            "extra": worth.extra,
            "status": result["status"] if result else "not_submitted",
            "failing": next((e[0] for e in entries if not e[1]), None),
            "kind": (result["diagnosis"] or {}).get("kind") if result else None,
            "override": comment if (student, name) in overrides else None,
        }
    return {
        "student": student,
        "status": record["status"],
        "total": round(sum(each["points"] for each in puzzles.values()), 4),
        "possible": round(sum(each["of"] for each in puzzles.values() if not each["extra"]), 4),
        "attempt": record["attempt"],
        "late": late or "",
        "sha256": record["sha256"],
        "sandbox": record["sandbox"],
        "nbval": record["nbval"],
        "puzzles": puzzles,
        "findings": record["findings"],
    }


def write_csv(out: Path, rows: Sequence[dict[str, Any]], course: Course, seed: str) -> None:
    """Write `gradebook.csv`: UTF-8 with a mark, so that spreadsheets read names rightly."""
    head = ["student", "status", "total", "possible", "attempt", "late"]
    tail = ["failing", "findings", "seed", "sha256", "sandbox", "nbval"]
    table = [
        [
            *(row[name] for name in head),
            *(row["puzzles"][name]["points"] for name in course.puzzles),
            "; ".join(
                f"{name}: {each['failing'] or each['status']}"
                for name, each in row["puzzles"].items()
                if each["points"] < each["of"] and each["status"] != "not_submitted"
            ),
            "; ".join(row["findings"]),
            seed,
            row["sha256"],
            row["sandbox"],
            row["nbval"],
        ]
        for row in rows
    ]
    write_table(out / "gradebook.csv", [*head, *course.puzzles, *tail], table)


def write_table(path: Path, head: Sequence[str], table: Iterable[Sequence[Any]]) -> None:
    """Write a CSV file with every cell made safe."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow([safe(cell) for cell in head])
    writer.writerows([safe(cell) for cell in line] for line in table)
    plain = text.getvalue().encode("utf-8", "replace").decode()
    write_atomically(path, "\ufeff" + plain)


def write_exports(out: Path, rows: Sequence[dict[str, Any]]) -> None:
    """Write what Canvas and Moodle import: their identifiers are the end of the export's names."""
    possible = rows[0]["possible"] if rows else 0
    ids = [row["student"].rpartition("_") for row in rows]
    write_table(
        out / "canvas.csv",
        ["Student", "ID", "SIS Login ID", "Section", "wia-lab"],
        [
            ["Points Possible", "", "", "", possible],
            *(
                [name or number, number, "", "", r["total"]]
                for (name, _, number), r in zip(ids, rows, strict=True)
            ),
        ],
    )
    write_table(
        out / "moodle.csv",
        ["Identifier", "Full name", "Grade", "Maximum Grade"],
        [
            [f"Participant {number}", name or number, row["total"], possible]
            for (name, _, number), row in zip(ids, rows, strict=True)
        ],
    )


def write_json(out: Path, rows: Sequence[dict[str, Any]], about: dict[str, Any]) -> None:
    """Write `gradebook.json`: how it was graded, and every row."""
    text = json.dumps({**about, "students": list(rows)}, indent=1, ensure_ascii=False)
    write_atomically(out / "gradebook.json", text.encode("utf-8", "replace").decode() + "\n")


def write_junit(out: Path, records: Iterable[dict[str, Any]], course: Course) -> None:
    """Write `junit.xml`: a suite a student, a case an entry."""
    suites = []
    for record in records:
        cases, failed = [], 0
        for puzzle in course.puzzles:
            result = record["puzzles"].get(puzzle)
            for name, passed, text in result["entries"] if result else []:
                head = f"<testcase classname={attribute(puzzle)} name={attribute(name)}"
                failed += not passed
                body = (
                    f"><failure message={attribute(text[:200])}/></testcase>"
                    if not passed
                    else "/>"
                )
                cases.append(head + body)
        suites.append(
            f'<testsuite name={attribute(record["student"])} tests="{len(cases)}" '
            f'failures="{failed}">{"".join(cases)}</testsuite>'
        )
    body = "\n".join(suites)
    write_atomically(
        out / "junit.xml", f'<?xml version="1.0"?>\n<testsuites>\n{body}\n</testsuites>\n'
    )


def attribute(text: str) -> str:
    """Return a quoted XML attribute; characters that XML forbids become question marks."""
    allowed = "".join(
        c
        if c in "\t\n" or 0x20 <= ord(c) < 0xD800 or 0xDFFF < ord(c) < 0xFFFE or ord(c) > 0xFFFF
        else "?"
        for c in text
    )
    return quoteattr(allowed)
