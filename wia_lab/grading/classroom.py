"""The class at a glance: which puzzles fail most, which diagnosis leads, who wrote the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wia_lab.grading.feedback import HEAD
from wia_lab.grading.similar import NEAR, Pair
from wia_lab.wording import counted
from wia_lab.workbook.files import write_atomically

if TYPE_CHECKING:
    from wia_lab.grading.course import Course

BAR, ROW, LEFT = 420, 30, 190
COLOURS = {"solved": "#2f7d4f", "partly": "#d9a441", "failed": "#b3541e", "missing": "#c9c9c9"}


def table_of(rows: Sequence[dict[str, Any]], course: Course) -> list[dict[str, Any]]:
    """Return a line a puzzle, those that fail most first."""
    lines = []
    for name, worth in course.puzzles.items():
        cells = [row["puzzles"][name] for row in rows]
        counts = Counter(outcome(cell) for cell in cells)
        wrong = [cell for cell in cells if outcome(cell) in {"partly", "failed"}]
        kinds = Counter(cell["kind"] or cell["status"] for cell in wrong)
        gates = Counter(cell["failing"] for cell in wrong if cell["failing"])
        mean = sum(cell["points"] for cell in cells) / (worth.points * len(cells) or 1)
        lines.append(
            {
                "puzzle": name,
                **{what: counts[what] for what in COLOURS},
                "mean": round(mean, 4),
                "diagnosis": leader(kinds),
                "gate": leader(gates),
            }
        )
    return sorted(lines, key=lambda line: (-line["failed"] - line["partly"], line["mean"]))


def outcome(cell: dict[str, Any]) -> str:
    """Return which of the four colours an answer has."""
    if cell["status"] == "not_submitted":
        return "missing"
    if cell["status"] == "graded" and cell["failing"] is None:
        return "solved"
    return "partly" if cell["points"] > 0 else "failed"


def leader(counts: Counter[str]) -> str:
    """Return what is counted most, and how often; of equals the first by name."""
    if not counts:
        return ""
    name, count = min(counts.items(), key=lambda item: (-item[1], item[0]))
    return f"{name} ({count})"


def picture(lines: Sequence[dict[str, Any]], students: int) -> str:
    """Return a bar a puzzle as SVG; the table beside it carries the same numbers."""
    height = ROW * len(lines) + 40
    parts = [
        f'<svg viewBox="0 0 {LEFT + BAR + 10} {height}" width="{LEFT + BAR + 10}" '
        f'height="{height}" role="img" aria-label="Outcome of each puzzle" font-size="13" '
        'font-family="system-ui, sans-serif">'
    ]
    for number, line in enumerate(lines):
        y, x = number * ROW + 4, float(LEFT)
        parts.append(f'<text x="{LEFT - 8}" y="{y + 15}" text-anchor="end">{line["puzzle"]}</text>')
        for what, colour in COLOURS.items():
            width = BAR * line[what] / max(students, 1)
            if width:
                parts.append(
                    f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="20" fill="{colour}"/>'
                )
                ink = "#000" if what in {"missing", "partly"} else "#fff"
                parts.append(
                    f'<text x="{x + width / 2:.1f}" y="{y + 15}" text-anchor="middle" '
                    f'fill="{ink}">{line[what]}</text>'
                )
            x += width
    for number, (what, colour) in enumerate(COLOURS.items()):
        x, y = LEFT + 105 * number, height - 22
        parts.append(f'<rect x="{x}" y="{y}" width="14" height="14" fill="{colour}"/>')
        parts.append(f'<text x="{x + 19}" y="{y + 12}">{what}</text>')
    return "".join(parts) + "</svg>"


def write_view(
    out: Path, rows: Sequence[dict[str, Any]], course: Course, pairs: Sequence[Pair]
) -> None:
    """Write `classroom.html`."""
    lines = table_of(rows, course)
    title = f"The class: {counted(len(rows), 'student')}"
    parts = [HEAD.format(title=title), f"<h1>{title}</h1>", '<div class="box">']
    parts += [picture(lines, len(rows)), "</div><h2>Puzzles, those that fail most first</h2>"]
    heads = ("Puzzle", *COLOURS, "mean", "leading diagnosis", "gate failed most")
    parts.append(
        table(
            heads,
            [
                [
                    line["puzzle"],
                    *(line[w] for w in COLOURS),
                    f"{line['mean']:.0%}",
                    line["diagnosis"],
                    line["gate"],
                ]
                for line in lines
            ],
        )
    )
    parts.append("<h2>Near-identical answers</h2>")
    if pairs:
        parts.append(
            f"<p>Alike by syntax to {NEAR:.0%} or more, whatever the names and the layout. Read "
            "both before you judge: short puzzles leave little room to differ.</p>"
        )
        parts.append(
            table(
                ("Puzzle", "Student", "Student", "alike"),
                [[p.puzzle, p.first, p.second, f"{p.likeness:.0%}"] for p in pairs],
            )
        )
    else:
        parts.append("<p>None.</p>")
    parts.append("<h2>Students</h2>")
    parts.append(
        table(
            ("Student", "status", "points", "of", "findings"),
            [
                [
                    r["student"],
                    r["status"],
                    f"{r['total']:g}",
                    f"{r['possible']:g}",
                    "; ".join(r["findings"]),
                ]
                for r in rows
            ],
        )
    )
    text = "".join([*parts, "</body></html>\n"])
    write_atomically(out / "classroom.html", text.encode("utf-8", "replace").decode())


def table(heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return an HTML table, escaped; numbers stand to the right."""
    top = "".join(f"<th>{escape(head)}</th>" for head in heads)
    body = "".join(
        "<tr>"
        + "".join(
            f'<td class="n">{cell}</td>' if isinstance(cell, int) else f"<td>{escape(cell)}</td>"
            for cell in row
        )
        + "</tr>"
        for row in rows
    )
    return f'<div class="box"><table><tr>{top}</tr>{body}</table></div>'
