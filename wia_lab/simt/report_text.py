"""A report on one terminal screen: hazards, totals, the busiest lines, the cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wia_lab.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wia_lab.simt.counts import Counts
    from wia_lab.simt.report import Line, Report

HAZARDS_SHOWN = 6
LINES_SHOWN = 8
SOURCE_WIDTH = 60


def render(report: Report) -> str:
    """The report as text, at most one screen."""
    parts = [headline(report), *_hazards(report), *_totals(report), *_lines(report), _cost(report)]
    return "\n".join(parts)


def headline(report: Report) -> str:
    """`scale: grid 32, block 256, as on an H200`."""
    launch = report.launch
    grid, block = extent(launch.grid), extent(launch.block)
    return f"{launch.kernel}: grid {grid}, block {block}, counted as on the {launch.device}"


def extent(size: tuple[int, int, int]) -> str:
    """`32`, `8 × 8`, `4 × 4 × 2`."""
    shown = max(axis for axis in range(3) if axis == 0 or size[axis] > 1) + 1
    return " × ".join(f"{each:,}" for each in size[:shown])


def facts(counters: Counts) -> list[tuple[str, str]]:
    """What was counted, as label and sentence, kinds that did not occur left out."""
    rows = [
        ("global loads", _sectors(counters, "global_load")),
        ("global stores", _sectors(counters, "global_store")),
        ("global atomics", _sectors(counters, "global_atomic")),
        ("async copies", _copies(counters)),
        ("shared loads", _banks(counters, "shared_load")),
        ("shared stores", _banks(counters, "shared_store")),
        ("shared atomics", _banks(counters, "shared_atomic")),
        ("control", _control(counters)),
        ("arithmetic", _arithmetic(counters)),
    ]
    return [(label, text) for label, text in rows if text]


def busiest(report: Report) -> list[Line]:
    """Lines with the most sectors and wavefronts, in source order."""
    ranked = sorted(report.lines.values(), key=lambda line: -traffic(line.counters))
    chosen = [line for line in ranked[:LINES_SHOWN] if traffic(line.counters)]
    return sorted(chosen, key=lambda line: (line.file, line.line))


def traffic(counters: Counts) -> int:
    """Sectors and wavefronts together: what a line is ranked by."""
    return (
        counters.global_load_sectors
        + counters.global_store_sectors
        + counters.global_atomic_sectors
        + counters.shared_load_wavefronts
        + counters.shared_store_wavefronts
        + counters.shared_atomic_wavefronts
    )


def line_facts(counters: Counts) -> str:
    """A line's traffic in a few words."""
    sectors = (
        counters.global_load_sectors
        + counters.global_store_sectors
        + counters.global_atomic_sectors
    )
    wavefronts = (
        counters.shared_load_wavefronts
        + counters.shared_store_wavefronts
        + counters.shared_atomic_wavefronts
    )
    conflicts = (
        counters.shared_load_bank_conflicts
        + counters.shared_store_bank_conflicts
        + counters.shared_atomic_bank_conflicts
    )
    words = [
        counted(sectors, "sector") if sectors else "",
        counted(wavefronts, "wavefront") if wavefronts else "",
        counted(conflicts, "conflict") if conflicts else "",
        f"{counters.active_lanes:.1f} lanes" if 0 < counters.active_lanes < 32 else "",
    ]
    return ", ".join(word for word in words if word)


def duration(seconds: float) -> str:
    """`3.2 µs`."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def cost_sentence(report: Report) -> str:
    """Cycles, time and bound of the cost model."""
    cost = report.cost
    return (
        f"about {cost.cycles:,.0f} cycles ({duration(cost.seconds)}), bound by {cost.bound_by}; "
        f"occupancy {cost.occupancy:.0%} (a model: compare variants, do not predict)"
    )


def _hazards(report: Report) -> Iterator[str]:
    if not report.hazards:
        yield "no hazards"
        return
    errors, warnings = len(report.errors), len(report.warnings)
    yield f"{errors} error{'s' * (errors != 1)}, {warnings} warning{'s' * (warnings != 1)}"
    for hazard in report.hazards[:HAZARDS_SHOWN]:
        yield f"  {hazard.severity}: {hazard.kind}: {hazard.message}"
        line = report.lines.get(hazard.line)
        if line is not None and line.text:
            yield f"      {line.line} | {_clip(line.text)}"
    if len(report.hazards) > HAZARDS_SHOWN:
        yield f"  and {len(report.hazards) - HAZARDS_SHOWN} more in .hazards"


def _totals(report: Report) -> Iterator[str]:
    for label, text in facts(report.counters):
        yield f"  {label:<15}{text}"


def _lines(report: Report) -> Iterator[str]:
    lines = busiest(report)
    if not lines:
        return
    width = max(len(_clip(line.text)) for line in lines)
    for line in lines:
        yield f"  {line.line:>5} | {_clip(line.text):<{width}} | {line_facts(line.counters)}"


def _cost(report: Report) -> str:
    return f"  {'cost':<15}{cost_sentence(report)}"


def _clip(text: str) -> str:
    return text if len(text) <= SOURCE_WIDTH else text[: SOURCE_WIDTH - 1] + "…"


def _sectors(counters: Counts, kind: str) -> str:
    requests = getattr(counters, f"{kind}_requests")
    if not requests:
        return ""
    sectors = getattr(counters, f"{kind}_sectors")
    ideal = getattr(counters, f"{kind}_ideal_sectors")
    return (
        f"{counted(requests, 'request')}, {counted(sectors, 'sector')} "
        f"({sectors / requests:.2f} a request; their bytes need {ideal / requests:.2f})"
    )


def _banks(counters: Counts, kind: str) -> str:
    requests = getattr(counters, f"{kind}_requests")
    if not requests:
        return ""
    wavefronts = getattr(counters, f"{kind}_wavefronts")
    conflicts = getattr(counters, f"{kind}_bank_conflicts")
    return ", ".join(
        (
            counted(requests, "request"),
            counted(wavefronts, "wavefront"),
            counted(conflicts, "bank conflict"),
        )
    )


def _copies(counters: Counts) -> str:
    if not counters.async_copies:
        return ""
    copies = counted(counters.async_copies, "copy", "copies")
    return f"{copies}, {counted(counters.async_copy_sectors, 'sector')}"


def _control(counters: Counts) -> str:
    events = [
        (counters.barriers, "barrier"),
        (counters.divergent_branches, "divergent branch", "divergent branches"),
        (counters.warp_syncs, "warp operation"),
        (counters.fences, "fence"),
        (counters.atomics, "atomic"),
    ]
    words = [counted(count, *names) for count, *names in events if count]
    if counters.warp_instructions:
        words.append(f"{counters.active_lanes:.1f} active lanes")
    return ", ".join(words)


def _arithmetic(counters: Counts) -> str:
    kinds = ("float64", "float32", "float16", "integer", "special", "conversion")
    operations = [(kind, getattr(counters, f"{kind}_operations")) for kind in kinds]
    return ", ".join(f"{count:,} {kind}" for kind, count in operations if count)
