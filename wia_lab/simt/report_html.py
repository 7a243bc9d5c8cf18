"""A report as HTML tables, legible on JupyterLab's light and dark themes alike.

Nothing but tables and text: colours are the page's own (`currentColor`, JupyterLab's variables
with a fallback), no script, and every text from the learner's source is escaped.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from wia_lab.simt import report_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from wia_lab.simt.report import Report

STYLE = """<style>
.wia-report { color: inherit; font-size: 13px; line-height: 1.45; }
.wia-report table { border-collapse: collapse; margin: 4px 0 10px; }
.wia-report caption { text-align: left; font-weight: 600; padding: 2px 0; }
.wia-report th, .wia-report td { text-align: left; padding: 2px 12px 2px 0; vertical-align: top;
  border-bottom: 1px solid var(--jp-border-color2, rgba(128, 128, 128, .4));
  background: none; color: inherit; }
.wia-report td.number { text-align: right; font-variant-numeric: tabular-nums; }
.wia-report code { background: none; color: inherit; white-space: pre;
  font-family: var(--jp-code-font-family, monospace); }
.wia-report .error { color: var(--jp-error-color1, #c62828); font-weight: 600; }
.wia-report .warning { color: var(--jp-warn-color1, #b26a00); font-weight: 600; }
</style>"""

LINE_COLUMNS = (
    ("load sectors", "global_load_sectors"),
    ("store sectors", "global_store_sectors"),
    ("atomic sectors", "global_atomic_sectors"),
    ("of async copies", "async_copy_sectors"),
    ("shared load wavefronts", "shared_load_wavefronts"),
    ("conflicts", "shared_load_bank_conflicts"),
    ("shared store wavefronts", "shared_store_wavefronts"),
    ("conflicts", "shared_store_bank_conflicts"),
    ("divergent", "divergent_branches"),
    ("barriers", "barriers"),
)


def render(report: Report) -> str:
    """The report as one HTML fragment."""
    parts = [
        STYLE,
        '<div class="wia-report">',
        f"<p><strong>{escape(report_text.headline(report))}</strong></p>",
        _hazards(report),
        _table("Counted", ("what", "how much"), [_texts(row) for row in _facts(report)]),
        _lines(report),
        _arrays(report),
        _inflight(report),
        f"<p>Cost: {escape(report_text.cost_sentence(report))}</p>",
        "</div>",
    ]
    return "\n".join(part for part in parts if part)


def _facts(report: Report) -> list[tuple[str, str]]:
    return report_text.facts(report.counters)


def _hazards(report: Report) -> str:
    if not report.hazards:
        return "<p>No hazards.</p>"
    rows = []
    for hazard in report.hazards:
        line = report.lines.get(hazard.line)
        source = f"<br><code>{escape(line.text)}</code>" if line is not None and line.text else ""
        kind = "error" if hazard.severity == "error" else "warning"
        rows.append(
            [
                f'<td class="{kind}">{kind}</td>',
                f"<td>{escape(hazard.kind)}</td>",
                f"<td>{escape(hazard.message)}{source}</td>",
            ]
        )
    return _table("Hazards", ("severity", "kind", "what happened"), rows)


def _lines(report: Report) -> str:
    lines = report_text.busiest(report)
    columns = [
        (title, name)
        for title, name in LINE_COLUMNS
        if any(getattr(line.counters, name) for line in lines)
    ]
    rows = [
        [
            f'<td class="number">{line.line}</td>',
            f"<td><code>{escape(line.text)}</code></td>",
            *(_number(getattr(line.counters, name)) for _, name in columns),
            f'<td class="number">{line.counters.active_lanes:.1f}</td>'
            if line.counters.active_lanes
            else "<td></td>",
        ]
        for line in lines
    ]
    titles = ("line", "source", *(title for title, _ in columns), "active lanes")
    return _table("Busiest lines", titles, rows) if rows else ""


def _arrays(report: Report) -> str:
    rows = [
        [
            f"<td><code>{escape(array.name)}</code></td>",
            _number(array.ideal_load_sectors),
            _number(array.counters.global_load_sectors),
            _number(array.ideal_store_sectors),
            _number(array.counters.global_store_sectors),
        ]
        for array in report.arrays
    ]
    titles = ("array", "fewest load sectors", "loaded", "fewest store sectors", "stored")
    return _table("Global arrays", titles, rows) if rows else ""


def _inflight(report: Report) -> str:
    rows = [
        [
            _number(record.issued),
            _number(record.committed),
            _number(record.waited),
            _number(record.copies),
            _number(sum(record.loads.values())),
            _number(sum(record.shared_loads.values())),
            _number(sum(record.arithmetic.values())),
        ]
        for record in report.async_timeline
    ]
    titles = (
        "issued on line",
        "committed",
        "waited",
        "copies",
        "loads in flight",
        "shared loads",
        "arithmetic",
    )
    return _table("Asynchronous copies", titles, rows) if rows else ""


def _number(value: int | None) -> str:
    return f'<td class="number">{"never" if value is None else f"{value:,}"}</td>'


def _texts(values: Iterable[str]) -> list[str]:
    return [f"<td>{escape(value)}</td>" for value in values]


def _table(caption: str, titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(title)}</th>" for title in titles)
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in rows)
    return f"<table><caption>{escape(caption)}</caption><tr>{head}</tr>{body}</table>"
