"""A page a student: points, the gate that failed, the diagnosis, and the learner's own code.

All that a student wrote is escaped, and the page may load and run nothing.
"""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

from wia_lab.grading.records import file_stem
from wia_lab.workbook import catalogue
from wia_lab.workbook.files import write_atomically

FOLDER = "feedback"
HEAD = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
  color: #1a1a1a; background: #fff }}
table {{ border-collapse: collapse; width: 100% }}
th, td {{ text-align: left; padding: .3rem .6rem; border-bottom: 1px solid #ccc;
  vertical-align: top }}
td.n, th.n {{ text-align: right; white-space: nowrap }}
section {{ margin-top: 2.5rem }}
pre {{ background: #f5f5f5; padding: .8rem; overflow-x: auto; font-size: 14px }}
pre b {{ background: #ffe2a8; font-weight: normal; display: inline-block; width: 100% }}
.said {{ white-space: pre-wrap; border-left: 4px solid #b3541e; padding-left: .8rem }}
.yes {{ color: #1b6b2f }} .no {{ color: #a02020 }}
.box {{ overflow-x: auto }}
svg {{ max-width: 100%; height: auto }}
</style></head><body>
"""


def write_page(
    out: Path, row: dict[str, Any], record: dict[str, Any], sources: dict[str, str]
) -> None:
    """Write `feedback/<student>.html`."""
    path = out / FOLDER / f"{file_stem(row['student'])}.html"
    path.parent.mkdir(parents=True, exist_ok=True)
    text = page(row, record, sources).encode("utf-8", "replace").decode()
    write_atomically(path, text)


def page(row: dict[str, Any], record: dict[str, Any], sources: dict[str, str]) -> str:
    """Return a student's page."""
    title = escape(f"Feedback for {row['student']}")
    parts = [HEAD.format(title=title), f"<h1>{title}</h1>"]
    parts.append(f"<p><strong>{row['total']:g} of {row['possible']:g} points.</strong>")
    if row["late"]:
        parts.append(f" {escape(row['late'].capitalize())}: {record['share']:.0%} of them count.")
    parts.append("</p>")
    parts.append('<div class="box"><table><tr><th>Puzzle</th><th class="n">Points</th>')
    parts.append("<th>What happened</th></tr>")
    for name, each in row["puzzles"].items():
        where = f'<a href="#{escape(name)}">{escape(name)}</a>'
        parts.append(
            f'<tr><td>{where}</td><td class="n">{each["points"]:g} of {each["of"]:g}'
            f"{' extra' if each['extra'] else ''}</td><td>{escape(summary(each))}</td></tr>"
        )
    parts.append("</table></div>")
    if row["findings"]:
        items = "".join(f"<li>{escape(text)}</li>" for text in row["findings"])
        parts.append(f"<section><h2>About your files</h2><ul>{items}</ul></section>")
    for name, each in row["puzzles"].items():
        result = record["puzzles"].get(name)
        if result is not None:
            parts.append(section(name, each, result, sources.get(name, "")))
    parts.append("</body></html>\n")
    return "".join(parts)


def summary(each: dict[str, Any]) -> str:
    """Return what became of a puzzle, in a few words."""
    if each["override"] is not None:
        return f"set by your teacher. {each['override']}"
    if each["status"] == "not_submitted":
        return "no answer was handed in"
    if each["status"] != "graded":
        return str(each["status"]).replace("_", " ")
    if each["failing"] is None:
        return "solved"
    if each["kind"] == "stub":
        return "still the stub"
    return f"failed: {each['failing']}" + (
        "" if each["kind"] in {None, "gate"} else f" ({each['kind']})"
    )


def section(name: str, each: dict[str, Any], result: dict[str, Any], source: str) -> str:
    """Return the part of a page that is about one puzzle."""
    puzzle = catalogue.find(name)
    parts = [f'<section id="{escape(name)}"><h2>{puzzle.number:02d} {escape(puzzle.title)}</h2>']
    parts.append(f"<p>{each['points']:g} of {each['of']:g} points</p>")
    if result["entries"]:
        parts.append('<div class="box"><table><tr><th>Gate</th><th></th><th>Measured</th></tr>')
        for gate, passed, text in result["entries"]:
            mark = '<td class="yes">passed</td>' if passed else '<td class="no">failed</td>'
            shown = "" if gate == "right answer" else escape(text)
            parts.append(f"<tr><td>{escape(gate)}</td>{mark}<td>{shown}</td></tr>")
        parts.append("</table></div>")
    line = None
    if result["diagnosis"] is not None:
        line = result["diagnosis"]["line"]
        parts.append(f'<p class="said">{escape(result["diagnosis"]["text"])}</p>')
    parts += [f"<p>Note: {escape(note)}</p>" for note in result["notes"]]
    parts.append(f"<h3>Your answer</h3><pre>{code(source, line)}</pre></section>")
    return "".join(parts)


def code(source: str, line: int | None) -> str:
    """Return source with numbers; the line of the diagnosis stands out."""
    lines = source[:50_000].rstrip("\n").split("\n")
    width = len(str(len(lines)))
    shown = [f"{n:>{width}}  {escape(text)}" for n, text in enumerate(lines, start=1)]
    if line is not None and 1 <= line <= len(shown):
        shown[line - 1] = f"<b>{shown[line - 1]}</b>"
    return "\n".join(shown)
