"""The report on programs of AMD IL as text."""

from __future__ import annotations

from collections.abc import Iterator

from warpsmith.base.findings import render_finding
from warpsmith.front.il.printing import print_il
from warpsmith.report.table import table_text
from warpsmith.report.vliw.model import VliwReport, VliwRow
from warpsmith.targets.il.optimize import Optimized
from warpsmith.targets.r600.analyze import GpuFigures, IlFigures
from warpsmith.targets.r600.assembly import print_r600
from warpsmith.targets.r600.segments import IlSegment

__all__ = ["vliw_text"]

_DIVIDES = {
    "one-sided": "corrected upwards: right where the hardware's reciprocal is rounded towards zero",
    "two-sided": "corrected both ways",
    "mesa": "corrected both ways, as Mesa's driver has it",
    "plain": "the reciprocal as it comes: right where it is rounded towards zero",
}


def vliw_text(report: VliwReport, *, code: bool = False) -> str:
    """Return the report; `code`: with the bundles of each generation."""
    return "\n\n".join("\n".join(_row(row, code=code)) for row in report.rows)


def _row(row: VliwRow, *, code: bool) -> Iterator[str]:
    yield from (render_finding(one) for one in row.findings if one.severity != "error")
    yield f"{row.path}: {row.about}" if row.about else f"{row.path}: not read"
    if row.segments:
        yield from _segments(row)
    if row.figures is None:
        return
    header = ("GPU", "chip", "bundles", "fetches", "cycles", "M threads/s")
    yield table_text(_table(row.figures), header)
    yield from _notes(row.figures)
    if row.optimized is not None:
        yield from _steps(row.optimized, code=code)
    if code:
        for generation, made in row.figures.codes.items():
            yield f"\n{generation}\n{print_r600(made.code)}".rstrip()


def _segments(row: VliwRow) -> Iterator[str]:
    """Yield the bundles of what runs from its first line to its last: of the whole program they are not known."""
    generations = list(row.segments)
    rows = [
        (_lines(parts[0]), *(f"{one.bundles}{'' if one.bundles == one.bound else '*'}" for one in parts),
         str(parts[0].fetches))
        for parts in zip(*row.segments.values(), strict=True)
    ]  # fmt: skip
    yield table_text(rows, ("lines", *(f"bundles {one}" for one in generations), "fetches"))
    yield "  of each run of lines, with the test behind it; group memory, atomics and fences are not in it"


def _lines(one: IlSegment) -> str:
    return f"{one.first}" if one.first == one.last else f"{one.first}-{one.last}"


def _steps(optimized: Optimized, *, code: bool) -> Iterator[str]:
    """Yield what makes a program shorter: on R600, where all is counted that is said here."""
    for one in optimized.done:
        held = f", as {' and '.join(one.conditions)}" if one.conditions else ""
        yield f"  line {one.line} can be shorter: {one.title}: {one.before} → {one.bundles} bundles{held}"
    for one in optimized.offered:
        asked = " ".join(f"--assume '{text}'" for text in one.conditions)
        yield f"  line {one.line} could be shorter: {one.title}: {one.before} → {one.bundles} bundles, with {asked}"
    for refusal in optimized.refused:
        line = refusal.span.line if refusal.span else 0
        yield f"  line {line} stays: {refusal.title}: {refusal.witness}"
    if code and optimized.done:
        yield f"\nshorter\n{print_il(optimized.program)}".rstrip()


def _table(figures: IlFigures) -> Iterator[tuple[str, ...]]:
    for one in figures.gpus:
        made = figures.codes[one.gpu.generation]
        mark = "" if made.shortest else "*"
        star = "" if one.gpu.source == "public" else "?"
        yield (
            one.gpu.title, f"{one.gpu.chip}{star}", f"{made.code.bundles}{mark}", str(made.code.fetches),
            f"{float(one.cycles):.2f}", f"{one.mega_threads:,.0f}",
        )  # fmt: skip


def _waits(figures: IlFigures, one: GpuFigures) -> bool:
    """Whether texture units take longer than the others."""
    return one.cycles * one.gpu.units > 16 * figures.codes[one.gpu.generation].code.bundles


def _notes(figures: IlFigures) -> Iterator[str]:
    for generation, made in figures.codes.items():
        if not made.shortest:
            yield f"  * {generation}: {made.code.bundles} bundles were found, and none has fewer than {made.bound}"
    if all(made.shortest for made in figures.codes.values()):
        yield "  no schedule has fewer bundles"
    ways = {made.divides: generation for generation, made in reversed(figures.codes.items()) if made.divides}
    for way in dict.fromkeys(made.divides for made in figures.codes.values()):
        if way is not None:
            only = "" if len(ways) == 1 else f" ({ways[way]} and what is like it)"
            yield f"  udiv and umod{only}: {way}, {_DIVIDES[way]}"
    if figures.without:
        yield f"  without unordered access views, so not counted: {', '.join(one.title for one in figures.without)}"
    waiting = [one.gpu.title for one in figures.gpus if _waits(figures, one)]
    if waiting:
        yield f"  fetches take longer than bundles: {', '.join(waiting)}"
    if any(one.gpu.source == "memory" for one in figures.gpus):
        yield "  ? units and clock of this GPU are from memory"
    yield "  a model: what the units could do at best; memory, latency and registers are not in it"
