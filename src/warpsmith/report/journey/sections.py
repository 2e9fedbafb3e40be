"""A journey as sections of lines, tables and texts, which the terminal and the page show alike.

A table whose cells are verdicts has the machines down and the versions across; reasons stand below it, each once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from warpsmith.report.analysis.numbers import COLUMNS, ESTIMATED, NOT_KNOWN
from warpsmith.report.journey.model import (
    CallCounts,
    FoundStage,
    Journey,
    MachineRow,
    MachineStage,
    OriginRow,
    OriginStage,
    RewriteRow,
    RewriteStage,
    StreamStage,
    TargetStage,
    WidthStage,
)

__all__ = ["ShownSection", "ShownTable", "ShownText", "closing_line", "sections"]

_SIGNS = (("*", ESTIMATED), ("+?", NOT_KNOWN))
_SHOWN = ("load / store sectors", "bank ways", "divergence", "regs", "findings")
_NOTHING = "-"
_WORDS = {
    "equal": "the original's", "differs": "not the original's", "stopped": "none: its run was stopped",
    "undecided": "not the original's, which may be right",
    "not run": "not compared",
}  # fmt: skip


class ShownTable(Struct, frozen=True):
    """`rows` under `header`; the first `names` columns are names, the others numbers or verdicts."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    names: int = 1


class ShownText(Struct, frozen=True):
    """A text that is too long for the terminal; the page has it behind its title."""

    title: str
    text: str


class ShownSection(Struct, frozen=True):
    """One stage: `problem`: why it could not be."""

    title: str
    seconds: float
    problem: str = ""
    lines: tuple[str, ...] = ()
    tables: tuple[ShownTable, ...] = ()
    notes: tuple[str, ...] = ()
    texts: tuple[ShownText, ...] = ()


def sections(made: Journey) -> tuple[ShownSection, ...]:
    """Return the stages in their order."""
    found = [
        _origin(made.origin), _found(made.found), _rewritten(made.rewritten), _written(made.written), _ran(made.ran),
        _simulated(made.simulated),
    ]  # fmt: skip
    return (*found, *([_streams(made.streams)] if made.streams is not None else []))


def closing_line(made: Journey) -> str:
    """Return what came of all comparisons."""
    counts = {verdict: made.verdicts.count(verdict) for verdict in dict.fromkeys(made.verdicts)}
    compared = sum(count for verdict, count in counts.items() if verdict not in ("undecided", "not run"))
    left = "".join(f"; {counts[word]} {word}" for word in ("undecided", "not run") if counts.get(word))
    if not compared:
        return f"No output was compared{left}."
    wrong = compared - counts.get("equal", 0)
    if wrong:
        return f"{wrong} of {compared} outputs differ{'s' if wrong == 1 else ''} from the original's{left}."
    return f"All {compared} outputs are the original's{left}."


def _origin(stage: OriginStage) -> ShownSection:
    lines = tuple(_origin_line(row) for row in stage.rows)
    loops = [(str(one.line), one.loop, one.category, one.why) for row in stage.rows for one in row.loops]
    tables = (ShownTable(("line", "loop", "category", "why"), tuple(loops), 4),) if loops else ()
    texts = [ShownText(f"{row.file}, {row.kind}", row.text) for row in stage.rows]
    texts += [ShownText(f"kernels that port writes of {row.file}", row.written) for row in stage.rows if row.written]
    given = (f"inputs: {' '.join(stage.inputs)}",) if stage.inputs else ()
    return ShownSection("where it comes from", stage.seconds, stage.problem, (*lines, *given), tables, (), tuple(texts))


def _origin_line(row: OriginRow) -> str:
    name = f"{row.version}: " if row.version else ""
    if row.why:
        return f"{name}{row.kind} {row.file}: no kernel to go on with, since {row.why}"
    kernels = f", kernel{'s' if len(row.kernels) > 1 else ''} {', '.join(row.kernels)}" if row.kernels else ""
    launches = f", {row.launches} launch{'es' if row.launches > 1 else ''}" if row.launches else ""
    return f"{name}{row.kind} {row.file}{kernels}{launches}"


def _found(stage: FoundStage) -> ShownSection:
    at = [COLUMNS.index(one) for one in _SHOWN]
    figures = tuple((one.version, one.kernel, *(one.cells[n] for n in at)) for one in stage.figures)
    tables = [ShownTable(("version", "kernel", *_SHOWN), figures, 2)] if figures else []
    rows = tuple((one.version, f"{one.line}", f"{one.severity} {one.rule}", one.message) for one in stage.findings)
    tables += [ShownTable(("version", "line", "finding", ""), rows, 4)] if rows else []
    races = tuple(f"races in {one.kernel} ({one.version}): {one.races}" for one in stage.figures)
    cells = [cell for _, _, *row in figures for cell in row]
    signs = tuple(text for sign, text in _SIGNS if any(sign in cell for cell in cells))
    return ShownSection("findings", stage.seconds, stage.problem, (), tuple(tables), (*signs, *races))


def _rewritten(stage: RewriteStage) -> ShownSection:
    counted = [row for row in stage.rows if row.before is not None]
    rows = [part for row in counted for part in _counted(row)]
    header = ("version", "", "launches", "warp instructions", "active lanes", "sectors", "bank conflicts")
    tables = (ShownTable(header, tuple(rows), 2),) if rows else ()
    texts = tuple(ShownText(f"{row.version} after {row.how}", row.text) for row in stage.rows if row.text)
    lines, notes = (
        tuple(map(_rewrite_line, stage.rows)),
        _reasons((row.version, row.detail) for row in stage.rows if row.detail),
    )
    return ShownSection("placed and rewritten", stage.seconds, stage.problem, lines, tables, notes, texts)


def _rewrite_line(row: RewriteRow) -> str:
    if row.why:
        return f"{row.version}, by {row.how}: {row.why}"
    verdict = f"; its output is {_WORDS[row.verdict]}" if row.verdict is not None else ""
    return f"{row.version}, by {row.how}: {' '.join(row.steps)}{verdict}"


def _counted(row: RewriteRow) -> Iterator[tuple[str, ...]]:
    for word, counters in (("as it is", row.before), ("rewritten", row.after)):
        if counters is not None:
            yield (row.version, word, *_numbers(counters))


def _numbers(one: CallCounts) -> tuple[str, ...]:
    numbers = (one.launches, one.warp_instructions, one.sectors, one.bank_conflicts)
    launches, instructions, sectors, conflicts = (f"{number:,}" for number in numbers)
    return launches, instructions, _percent(one.efficiency), sectors, conflicts


def _written(stage: TargetStage) -> ShownSection:
    kernels = list(dict.fromkeys((row.version, row.kernel) for row in stage.rows))
    found = {(row.version, row.kernel, row.target): row for row in stage.rows}
    targets = list(dict.fromkeys(row.target for row in stage.rows))
    rows = []
    for target in targets:
        column = [found[version, kernel, target] for version, kernel in kernels]
        title = f"{target} {column[0].architecture}".rstrip()
        rows.append((title, *(f"{row.lines:,} lines" if not row.why else "refused" for row in column)))
    header = ("target", *(f"{kernel} ({version})" for version, kernel in kernels))
    notes = _reasons((row.target, row.why) for row in stage.rows if row.why)
    texts = tuple(
        ShownText(f"{row.kernel} ({row.version}) as {row.target} {row.architecture}".rstrip(), row.text)
        for row in stage.rows
        if row.text
    )
    return ShownSection(
        "every target",
        stage.seconds,
        stage.problem,
        (),
        (ShownTable(header, tuple(rows)),) if rows else (),
        notes,
        texts,
    )


def _ran(stage: MachineStage) -> ShownSection:
    versions = list(dict.fromkeys(row.version for row in stage.rows))
    machines = list(dict.fromkeys(row.machine for row in stage.rows))
    found = {(row.machine, row.version): row for row in stage.rows}
    rows = tuple((name, *(_verdict(found[name, version]) for version in versions)) for name in machines)
    lines = (f"compared with {stage.reference}",) if stage.reference else ()
    if stage.rows and not stage.changed:
        lines = (*lines, "the original leaves its arrays as they were: equal says little")
    notes = _reasons((f"{row.machine}, {row.version}", row.why) for row in stage.rows if row.why)
    tables = (ShownTable(("machine", *versions), rows),) if rows else ()
    return ShownSection("every machine", stage.seconds, stage.problem, lines, tables, notes)


def _verdict(row: MachineRow) -> str:
    if row.verdict == "equal":
        return f"equal, {row.elements:,} elements"
    if row.verdict in ("differs", "undecided"):
        apart = f", up to {row.ulp:,} ulp" if row.ulp else ""
        return f"{row.verdict} in {row.differ:,} of {row.elements:,}{apart}"
    return row.verdict


def _simulated(stage: WidthStage) -> ShownSection:
    kernels = list(dict.fromkeys((row.version, row.kernel) for row in stage.rows))
    tables, notes = [], []
    for version, kernel in kernels:
        mine = [row for row in stage.rows if (row.version, row.kernel) == (version, kernel)]
        widths = list(dict.fromkeys(row.width for row in mine))
        found = {(row.policy, row.width): row for row in mine}
        rows = []
        for policy in dict.fromkeys(row.policy for row in mine):
            cells = [found.get((policy, width)) for width in widths]
            rows.append((policy or "as counted", *(_steps(one.warp_instructions, one.efficiency, one.why)
                                                  if one is not None else _NOTHING for one in cells)))  # fmt: skip
            if not policy:
                sectors = [one.sectors if one is not None else None for one in cells]
                rows.append(("sectors", *(f"{one:,}" if one is not None else _NOTHING for one in sectors)))
        launch = f", launch {mine[0].launch} of {mine[0].launches}" if mine[0].launches > 1 else ""
        header = (f"{kernel} ({version}{launch})", *(f"{width} lanes" for width in widths))
        tables.append(ShownTable(header, tuple(rows)))
        notes += [(f"{row.policy or 'as counted'}, {row.width} lanes", row.why) for row in mine if row.why]
    lines = ("warp instructions, and the share of lanes that are active",) if tables else ()
    return ShownSection(
        "simulated by width and policy", stage.seconds, stage.problem, lines, tuple(tables), _reasons(notes)
    )


def _steps(instructions: int, efficiency: float, why: str) -> str:
    return "stopped" if why and not instructions else f"{instructions:,} ({_percent(efficiency)})"


def _streams(stage: StreamStage) -> ShownSection:
    rows = tuple(
        (row.against, f"{row.passes}", row.verdict, f"{row.elements:,}", row.why or _NOTHING) for row in stage.rows
    )
    tables = (ShownTable(("compared with", "passes", "verdict", "elements", "why"), rows),) if rows else ()
    return ShownSection("the same in Brook+", stage.seconds, stage.problem, (), tables)


def _reasons(pairs: Iterator[tuple[str, str]] | Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Return each reason once, with all that it is the reason of."""
    found: dict[str, dict[str, None]] = {}
    for what, why in pairs:
        found.setdefault(why, {})[what] = None
    return tuple(f"{'; '.join(what)}: {why}" for why, what in found.items())


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
