"""A run of a kernel as text: what the warps did, branch by branch and access by access, and what went wrong.

parity<<<1,64>>>  2 warps of 32 lanes, policy maximal reconvergence
line  branch  visits  diverged  lost lane slots
5     if      2       2       416
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from warpsmith.base.findings import render_finding
from warpsmith.base.source import Span, readable
from warpsmith.report.analysis.text import columns
from warpsmith.report.simulation.model import CHECKS, Check, Column, LaunchRow, SimulationReport, TimelineGroup

__all__ = ["checks_line", "head_line", "outputs_lines", "simulation_text", "work_line"]

_TEXT, _SHORT, _LEFT, _STEPS, _BLOCKS = 44, 24, 47, 200, 20
_TITLES: dict[Check, str] = {
    "race": "races",
    "oob": "out of bounds",
    "uninit": "uninitialized reads",
    "barrier": "barriers",
    "fault": "faults",
}


def simulation_text(report: SimulationReport, width: int = 100) -> str:
    """Return the report for people; a timeline puts as many warps side by side as `width` letters hold."""
    if report.work is None or report.launch is None:
        return ""
    parts = [head_line(report)]
    parts += ["\n".join(_timeline(group, report.warp_width, width)) for group in report.timeline]
    if report.branches:
        parts.append("\n".join(_branches(report)))
    if report.blocks:
        parts.append("\n".join(_blocks(report)))
    if report.memory:
        parts.append("\n".join(_accesses(report)))
    if report.policies:
        parts.append("\n".join(_policies(report)))
    parts += [_mistake(render_finding(m.finding), m.times) for m in report.mistakes]
    parts.append("\n".join((*outputs_lines(report), work_line(report), checks_line(report))))
    return "\n\n".join(parts)


def head_line(report: SimulationReport) -> str:
    """Return a line: the launch."""
    launch = report.launch
    assert launch is not None
    sizes = f"{_sizes(launch.grid)},{_sizes(launch.block)}"
    more = f", {launch.shared_bytes:,} bytes of dynamic shared memory" if launch.shared_bytes else ""
    drawn = f"; timeline: {report.drawn}" if report.drawn else ""
    warps = f"{launch.warps:,} warp{'s' if launch.warps > 1 else ''} of {report.warp_width} lanes"
    return (
        f"{readable(report.kernel)}<<<{sizes}>>>  {warps}{more}, policy maximal reconvergence{drawn}{_counted(launch)}"
    )


def _counted(launch: LaunchRow) -> str:
    """Return which warps are counted, where not all are."""
    parts = [
        f"{name} {', '.join(map(str, numbers))}"
        for name, numbers in (("blocks", launch.counted_blocks), ("warps", launch.counted_warps))
        if numbers
    ]
    return f"\ncounted: {'; of each '.join(parts) if len(parts) == 2 else parts[0]}" if parts else ""


def _sizes(sizes: tuple[int, int, int]) -> str:
    x, y, z = sizes
    return str(x) if y == z == 1 else f"({x},{y})" if z == 1 else f"({x},{y},{z})"


def work_line(report: SimulationReport) -> str:
    """Return a line: how much was run, and how well lanes were used."""
    work = report.work
    assert work is not None
    parts = [
        f"lanes active {100 * work.efficiency:.1f}% ({work.lane_instructions:,} of {work.issued_slots:,} lane slots, "
        f"{work.warp_instructions:,} warp instructions)"
    ]
    taken = [row for row in report.branches if row.visits]
    parts.append(f"branches that part warps {sum(row.divergences > 0 for row in taken)} of {len(taken)}")
    if work.unfilled_slots:
        parts.append(f"{work.unfilled_slots:,} slots of lanes that the block does not fill")
    return "   ".join(parts)


# --- tables


def _branches(report: SimulationReport) -> Iterator[str]:
    rows = [("line", "branch", "visits", "diverged", "lost lane slots", "source")]
    for row in report.branches:
        counts = (f"{row.visits:,}", f"{row.divergences:,}", f"{row.lost_lane_slots:,}")
        rows.append((_line(row.span), row.op, *counts, _source(row.span)))
    yield from columns(rows)


def _blocks(report: SimulationReport) -> Iterator[str]:
    assert report.work is not None
    rows = [("lines", "instructions", "visits", "share", "lanes active", "lost lane slots", "source")]
    for row in report.blocks[:_BLOCKS]:
        share = f"{100 * row.warp_instructions / max(1, report.work.warp_instructions):.1f}%"
        active = f"{100 * row.lanes / (row.visits * report.warp_width):.1f}%"
        counts = (str(row.instructions), f"{row.visits:,}", share, active, f"{row.lost_lane_slots:,}")
        rows.append((_lines(row.span), *counts, _source(row.span)))
    yield from columns(rows)
    if len(report.blocks) > _BLOCKS:
        yield f"… and {len(report.blocks) - _BLOCKS} more blocks"


def _lines(span: Span | None) -> str:
    if span is None:
        return "?"
    return str(span.line) if span.line == span.end_line else f"{span.line}-{span.end_line}"


def _accesses(report: SimulationReport) -> Iterator[str]:
    rows = [("line", "access", "variable", "requests", "sectors each", "ideal", "bank conflicts", "source")]
    for row in report.memory:
        moves = row.space in ("global", "local")
        each = f"{row.sectors / row.requests:.1f}" if moves else "-"
        ideal = f"{row.ideal / row.requests:.1f}" if moves else "-"
        conflicts = f"{row.bank_conflicts:,}" if row.space == "shared" else "-"
        kind = row.kind if row.space == "global" else f"{row.kind} {row.space}"
        cells = (_line(row.span), kind, readable(row.variable), f"{row.requests:,}", each, ideal, conflicts)
        rows.append((*cells, _source(row.span)))
    yield from columns(rows)


def _policies(report: SimulationReport) -> Iterator[str]:
    rows = [("policy", "warp instructions", "lanes active", "lost lane slots", "sets waiting", "results")]
    for row in report.policies:
        active = f"{100 * row.lane_instructions / row.issued_slots:.1f}%" if row.issued_slots else "-"
        results = row.stopped or (f"differ in {', '.join(map(readable, row.differs))}" if row.differs else "the same")
        cells = (f"{row.warp_instructions:,}", active, f"{row.lost_lane_slots:,}", str(row.waiting))
        rows.append((row.policy, *cells, results))
    yield from columns(rows)


def _line(span: Span | None) -> str:
    return "?" if span is None else str(span.line)


def _source(span: Span | None) -> str:
    if span is None:
        return ""
    return _cut(readable(span.file.line(span.line)).strip(), _TEXT)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def outputs_lines(report: SimulationReport) -> Iterator[str]:
    """Yield a line for each array: how much of it changed, and how it begins."""
    for row in report.outputs:
        more = " …" if row.elements > len(row.first) else ""
        saved = f"   written to {row.file}" if row.file else ""
        what = f"{row.type}[{row.elements:,}], {row.changed:,} changed"
        yield f"{readable(row.name)}  {what}: {' '.join(row.first)}{more}{saved}"


def _mistake(text: str, times: int) -> str:
    return text if times == 1 else f"{text}\n   = also: {times:,} times at this place"


def checks_line(report: SimulationReport) -> str:
    """Return a line: what was checked, and what was found."""
    said = []
    for check in CHECKS:
        count = sum(mistake.check == check for mistake in report.mistakes)
        word = "not checked" if check not in report.checks else str(count) if count else "none"
        if word == "none" and report.status == "incomplete":
            word = "none so far"
        said.append(f"{_TITLES[check]} {word}")
    faults = sum(mistake.check == "fault" for mistake in report.mistakes)
    said += [f"faults {faults}"] if faults else []
    return f"checks  {'   '.join(said)}"


# --- the timeline


def _timeline(group: TimelineGroup, lanes: int, width: int) -> Iterator[str]:
    """Yield a table for each handful of warps that fits: a row for each step, the lanes of each warp as # and -."""
    side = max(1, (width - _LEFT) // (lanes + 2))
    for at in range(0, len(group.columns), side):
        yield from ([""] if at else [])
        yield from columns(_rows(group, group.columns[at : at + side], lanes))
        if len(group.steps) > _STEPS:
            yield f"… and {len(group.steps) - _STEPS:,} more steps"


def _rows(group: TimelineGroup, shown: Sequence[Column], lanes: int) -> list[tuple[str, ...]]:
    names = [_cut(_warps(column), lanes) for column in shown]
    rows = [("instr", "line", "source", *names, "")]
    before: tuple[int, ...] = ()
    for number, step in enumerate(group.steps[:_STEPS]):
        masks = tuple(column.masks[number] for column in shown)
        last = step.first + step.count - 1
        range_ = str(step.first) if last == step.first else f"{step.first}-{last}"
        pictures = [_lanes(mask, lanes) for mask in masks]
        rows.append((range_, str(step.line or "?"), _cut(step.text, _SHORT), *pictures, _note(masks, before, lanes)))
        before = masks
    return rows


def _warps(column: Column) -> str:
    block, warp = column.warps[0]
    more = f" and {len(column.warps) - 1:,} like it" if len(column.warps) > 1 else ""
    return f"block {block} warp {warp}{more}"


def _lanes(mask: int, width: int) -> str:
    return "".join("#" if mask >> lane & 1 else "-" for lane in range(width))


def _note(masks: Iterable[int], before: tuple[int, ...], lanes: int) -> str:
    """Return how many lanes are active, where that changes."""
    now = tuple(masks)
    if now == before:
        return ""
    return " ".join(dict.fromkeys(f"{mask.bit_count()}/{lanes}" for mask in now))
