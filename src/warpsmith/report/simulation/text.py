"""A run of a kernel as text: what the warps did, branch by branch and access by access, and what went wrong.

parity<<<1,64>>>  2 warps of 32 lanes, policy maximal reconvergence
line  branch  visits  diverged  lost lane slots
5     if      2       2       416
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from warpsmith.base.findings import render_finding
from warpsmith.base.source import Span, readable
from warpsmith.report.analysis.text import columns
from warpsmith.report.simulation.caches import cache_lines
from warpsmith.report.simulation.model import CHECKS, Check, Column, LaunchRow, SimulationReport, TimelineGroup
from warpsmith.report.words import NVIDIA, Speech

__all__ = ["checks_line", "column_name", "head_line", "outputs_lines", "simulation_text", "work_line"]

_TEXT, _SHORT, _LEFT, _STEPS, _BLOCKS = 44, 24, 47, 200, 20
_TITLES: dict[Check, str] = {
    "race": "races",
    "oob": "out of bounds",
    "uninit": "uninitialized reads",
    "barrier": "barriers",
    "fault": "faults",
}


def simulation_text(report: SimulationReport, width: int = 100, words: Speech = NVIDIA) -> str:
    """Return the report for people; a timeline puts as many warps side by side as `width` letters hold; `words`: of
    whom it speaks as of warps."""
    if report.work is None or report.launch is None:
        return ""
    parts = [head_line(report, words)]
    parts += ["\n".join(_timeline(group, report.warp_width, width, words)) for group in report.timeline]
    if report.branches:
        parts.append("\n".join(_branches(report, words)))
    if report.blocks:
        parts.append("\n".join(_blocks(report, words)))
    if report.memory:
        parts.append("\n".join(_accesses(report, words)))
    if report.caches is not None:
        parts.append("\n".join(cache_lines(report.caches, words)))
    if report.policies:
        parts.append("\n".join(_policies(report, words)))
    parts += [_mistake(render_finding(m.finding), m.times) for m in report.mistakes]
    parts.append("\n".join((*outputs_lines(report), work_line(report, words), checks_line(report))))
    return "\n\n".join(parts)


def head_line(report: SimulationReport, words: Speech = NVIDIA) -> str:
    """Return a line: the launch."""
    launch = report.launch
    assert launch is not None
    sizes = f"{_sizes(launch.grid)},{_sizes(launch.block)}"
    more = f", {launch.shared_bytes:,} bytes of dynamic {words.one('shared memory')}" if launch.shared_bytes else ""
    drawn = f"; timeline: {report.drawn}" if report.drawn else ""
    warps = f"{words.count(launch.warps, 'warp')} of {report.warp_width} {words.many('lane')}"
    more = f"{warps}{more}, policy maximal reconvergence{drawn}{_counted(launch, words)}"
    return f"{readable(report.kernel)}<<<{sizes}>>>  {more}"


def _counted(launch: LaunchRow, words: Speech) -> str:
    """Return which warps are counted, where not all are."""
    parts = [
        f"{name} {', '.join(map(str, numbers))}"
        for name, numbers in (
            (words.many("block"), launch.counted_blocks),
            (words.many("warp"), launch.counted_warps),
        )
        if numbers
    ]
    return f"\ncounted: {'; of each '.join(parts) if len(parts) == 2 else parts[0]}" if parts else ""


def _sizes(sizes: tuple[int, int, int]) -> str:
    x, y, z = sizes
    return str(x) if y == z == 1 else f"({x},{y})" if z == 1 else f"({x},{y},{z})"


def work_line(report: SimulationReport, words: Speech = NVIDIA) -> str:
    """Return a line: how much was run, and how well lanes were used."""
    work = report.work
    assert work is not None
    lane, lanes = words.one("lane"), words.many("lane")
    parts = [
        f"{lanes} active {100 * work.efficiency:.1f}% "
        f"({work.lane_instructions:,} of {work.issued_slots:,} {lane} slots, "
        f"{work.warp_instructions:,} {words.one('warp')} instructions)"
    ]
    taken = [row for row in report.branches if row.visits]
    parts.append(f"branches that part {words.many('warp')} {sum(row.divergences > 0 for row in taken)} of {len(taken)}")
    if work.unfilled_slots:
        parts.append(
            f"{work.unfilled_slots:,} slots of {words.many('lane')} that the {words.one('block')} does not fill"
        )
    return "   ".join(parts)


# --- tables


def _branches(report: SimulationReport, words: Speech) -> Iterator[str]:
    rows = [("line", "branch", "visits", "diverged", _lost(words), "source")]
    for row in report.branches:
        counts = (f"{row.visits:,}", f"{row.divergences:,}", f"{row.lost_lane_slots:,}")
        rows.append((_line(row.span), row.op, *counts, _source(row.span)))
    yield from columns(rows)


def _blocks(report: SimulationReport, words: Speech) -> Iterator[str]:
    assert report.work is not None
    rows = [("lines", "instructions", "visits", "share", f"{words.many('lane')} active", _lost(words), "source")]
    for row in report.blocks[:_BLOCKS]:
        share = f"{100 * row.warp_instructions / max(1, report.work.warp_instructions):.1f}%"
        active = f"{100 * row.lanes / (row.visits * report.warp_width):.1f}%"
        counts = (str(row.instructions), f"{row.visits:,}", share, active, f"{row.lost_lane_slots:,}")
        rows.append((_lines(row.span), *counts, _source(row.span)))
    yield from columns(rows)
    if len(report.blocks) > _BLOCKS:
        yield f"… and {len(report.blocks) - _BLOCKS} more blocks"


def _lost(words: Speech) -> str:
    return f"lost {words.one('lane')} slots"


def _lines(span: Span | None) -> str:
    if span is None:
        return "?"
    return str(span.line) if span.line == span.end_line else f"{span.line}-{span.end_line}"


def _accesses(report: SimulationReport, words: Speech) -> Iterator[str]:
    rows = [("line", "access", "variable", "requests", "sectors each", "ideal", "bank conflicts", "source")]
    for row in report.memory:
        moves = row.space in ("global", "local")
        each = f"{row.sectors / row.requests:.1f}" if moves else "-"
        ideal = f"{row.ideal / row.requests:.1f}" if moves else "-"
        conflicts = f"{row.bank_conflicts:,}" if row.space == "shared" else "-"
        kind = row.kind if row.space == "global" else f"{row.kind} {_space(row.space, words)}"
        cells = (_line(row.span), kind, readable(row.variable), f"{row.requests:,}", each, ideal, conflicts)
        rows.append((*cells, _source(row.span)))
    yield from columns(rows)


def _space(space: str, words: Speech) -> str:
    """Return what a memory is called in a table: `shared`, `LDS`."""
    name = words.one({"shared": "shared memory", "local": "memory of a thread"}[space]) if space in _SPACES else space
    return name.removesuffix(" memory")


_SPACES: Final = ("shared", "local")


def _policies(report: SimulationReport, words: Speech) -> Iterator[str]:
    rows = [
        (
            "policy",
            f"{words.one('warp')} instructions",
            f"{words.many('lane')} active",
            _lost(words),
            "sets waiting",
            "results",
        )
    ]
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


def _timeline(group: TimelineGroup, lanes: int, width: int, words: Speech) -> Iterator[str]:
    """Yield a table for each handful of warps that fits: a row for each step, the lanes of each warp as # and -."""
    side = max(1, (width - _LEFT) // (lanes + 2))
    for at in range(0, len(group.columns), side):
        yield from ([""] if at else [])
        yield from columns(_rows(group, group.columns[at : at + side], lanes, words))
        if len(group.steps) > _STEPS:
            yield f"… and {len(group.steps) - _STEPS:,} more steps"


def _rows(group: TimelineGroup, shown: Sequence[Column], lanes: int, words: Speech) -> list[tuple[str, ...]]:
    names = [_cut(column_name(column, words), lanes) for column in shown]
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


def column_name(column: Column, words: Speech) -> str:
    """Return which warps do the same."""
    block, warp = column.warps[0]
    more = f" and {len(column.warps) - 1:,} like it" if len(column.warps) > 1 else ""
    return f"{words.one('block')} {block} {words.one('warp')} {warp}{more}"


def _lanes(mask: int, width: int) -> str:
    return "".join("#" if mask >> lane & 1 else "-" for lane in range(width))


def _note(masks: Iterable[int], before: tuple[int, ...], lanes: int) -> str:
    """Return how many lanes are active, where that changes."""
    now = tuple(masks)
    if now == before:
        return ""
    return " ".join(dict.fromkeys(f"{mask.bit_count()}/{lanes}" for mask in now))
