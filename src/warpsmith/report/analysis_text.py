"""An analysis as text: each finding on the user's own line, then the kernels, then what was not said.

transpose.cu:7:5: warning[MEM001] uncoalesced store to out: 32 sectors per warp request, 4 would do
  |
7 |     out[x * n + y] = in[y * n + x];
  |     ^^^^^^^^^^^^^^ 4n bytes between neighboring lanes
  = evidence: …
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from warpsmith.analysis.rules.finding import Evidence
from warpsmith.base.findings import Note, render_finding
from warpsmith.base.source import Span, readable
from warpsmith.report.analysis import AnalysisReport, Reported
from warpsmith.report.analysis_numbers import COLUMNS, closing, kernel_rows
from warpsmith.report.legible import legible

__all__ = ["TextOptions", "analysis_concise", "analysis_text", "columns", "diagnostics_text"]

_SHORT = 4


@dataclass(frozen=True, slots=True)
class TextOptions:
    """How much is printed: `evidence` none, short or full; `context` lines around a place; `limit` findings (0: all);
    `suppressed`: those that are kept back as well; `color`: with terminal colors."""

    evidence: str = "short"
    context: int = 0
    limit: int = 0
    suppressed: bool = False
    color: bool = False


def analysis_text(report: AnalysisReport, options: TextOptions) -> str:
    """Return the report for people."""
    shown = report.findings[: options.limit] if options.limit else report.findings
    parts = [_finding(one, options) for one in shown]
    if len(shown) < len(report.findings):
        parts.append(f"… and {len(report.findings) - len(shown)} more findings: --limit 0 prints them")
    if options.suppressed:
        parts += [_kept_back(one) for one in report.kept_back]
    if report.kernels:
        parts.append(_kernels(report))
    parts.append("\n".join((*_open(report), closing(report))))
    return "\n\n".join(part for part in parts if part)


def analysis_concise(report: AnalysisReport) -> str:
    """Return one line a finding."""
    return "\n".join(
        legible(
            f"{_where(one)}: {one.finding.rule} {one.severity} {one.finding.certainty} {one.finding.message}"
            + (f" [{one.kernel}]" if one.kernel else "")
        )
        for one in report.findings
    )


def _where(one: Reported) -> str:
    return one.input or "warpsmith" if one.finding.span is None else str(one.finding.span)


# --- a finding


def _finding(one: Reported, options: TextOptions) -> str:
    finding = one.finding
    head = f"{_where(one)}: {_painted(one, options)} {legible(finding.message)}"
    gutter, lines = 1, [head]
    if finding.span is not None:
        gutter = len(str(finding.span.line + options.context))
        lines += _excerpt(Note(finding.span, finding.label), options.context, gutter)
    for note in finding.related:
        same = finding.span is not None and note.span.file is finding.span.file
        if same and finding.span is not None and note.span.line == finding.span.line:
            lines += _excerpt(note, 0, gutter)[2:]
        else:
            lines += ([] if same else [f"{' ' * gutter} : {note.span}"]) + _excerpt(note, 0, gutter)
    lines += [f"{' ' * gutter} = {name}: {legible(text)}" for name, text in _notes(one, options)]
    return "\n".join(lines)


_COLORS = {"error": "31", "warning": "33", "note": "36"}


def _painted(one: Reported, options: TextOptions) -> str:
    word = f"{one.severity}[{one.finding.rule}]"
    return f"\x1b[1;{_COLORS[one.severity]}m{word}\x1b[0m" if options.color else word


def _excerpt(place: Note, context: int, width: int) -> list[str]:
    """Return the line of a place with carets under it, and the lines around it."""
    span = place.span
    before = range(max(1, span.line - context), span.line)
    after = range(span.line + 1, min(span.file.line_count, span.line + context) + 1)
    source = span.file.line(span.line)
    start = source[: span.column - 1]
    marked = source[span.column - 1 :] if span.end_line != span.line else source[span.column - 1 : span.end_column - 1]
    pad = "".join("\t" if letter == "\t" else " " for letter in readable(start))
    carets = "^" * max(1, len(readable(marked.rstrip())))
    gap = " " * width
    lines = [f"{gap} |", *(_numbered(span, line, width) for line in before), _numbered(span, span.line, width)]
    lines.append(f"{gap} | {pad}{carets} {legible(place.text)}".rstrip())
    return [*lines, *(_numbered(span, line, width) for line in after)]


def _numbered(span: Span, line: int, width: int) -> str:
    return f"{line:>{width}} | {readable(span.file.line(line))}".rstrip()


def _notes(one: Reported, options: TextOptions) -> Iterable[tuple[str, str]]:
    finding = one.finding
    brief = one.severity == "note" and options.evidence != "full"
    if finding.why and options.evidence != "none":
        yield "because", " <- ".join(_step(step.text, step.span, finding.span) for step in finding.why)
    if options.evidence != "none" and not brief:
        for table in finding.evidence:
            yield "evidence", _short(table) if options.evidence == "short" else _full(table)
    certainty: str = finding.certainty
    if finding.assumptions:
        certainty += f", if {'; and '.join(finding.assumptions)}"
    yield "certainty", certainty
    if finding.estimate is not None and options.evidence != "none":
        yield "estimate", finding.estimate.text
    for text in finding.help[:1] if brief else finding.help:
        yield "help", text
    if finding.times > 1:
        yield "also", f"{finding.times} instructions of this line, since it is repeated or unrolled"
    if one.kernel and finding.span is not None and not brief:
        yield "more", f"warpsmith explain {finding.rule}      in kernel {one.kernel}"


def _step(text: str, span: Span | None, at: Span | None) -> str:
    """Return a step of a chain with its line; with the file where that is another than the finding's."""
    if span is None:
        return text
    same = at is not None and span.file is at.file
    return f"{text} (line {span.line})" if same else f"{text} ({span.file.path}:{span.line})"


def _short(table: Evidence) -> str:
    """Return the first rows of a table on one line."""
    first = ", ".join(" -> ".join(row) for row in table.rows[:_SHORT])
    more = f", … {len(table.rows)} rows" if len(table.rows) > _SHORT else ""
    return f"{table.title}: {' -> '.join(table.columns)}: {first}{more}"


def _full(table: Evidence) -> str:
    rows = columns([table.columns, *table.rows])
    return "\n".join((table.title, *(f"       {row}" for row in rows)))


def _kept_back(one: Reported) -> str:
    why = f"suppressed: {one.reason or 'no reason given'}" if one.hidden == "suppressed" else f"in {one.reason}"
    return legible(f"{_where(one)}: {one.severity}[{one.finding.rule}] {one.finding.message} ({why})")


# --- the end


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows as aligned text."""
    widths = [max(len(row[n]) for row in rows) for n in range(len(rows[0]))]
    return ["  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _kernels(report: AnalysisReport) -> str:
    lines = columns([COLUMNS, *(row.cells for row in kernel_rows(report))])
    if any(kernel.resources.source == "estimate" for kernel in report.kernels):
        lines.append("* estimated from what is live at once; exact with ptxas")
    assumed = dict.fromkeys(text for kernel in report.kernels for text in kernel.assumed)
    lines += [f"? assumed, since nothing says it: {text} (--block)" for text in assumed]
    return "\n".join(lines)


def _open(report: AnalysisReport) -> list[str]:
    """Return what could not be said of accesses, a line each kind of reason."""
    blocked: dict[str, list[str]] = {}
    for access in report.accesses:
        unknown = access.sectors is None and access.bank_ways is None
        if access.certainty == "heuristic" and unknown and access.space != "local":
            place = access.variable if access.span is None else f"{access.span.file.path}:{access.span.line}"
            blocked.setdefault(access.blocked or "the address is not known", []).append(place)
    lines = []
    for reason, places in blocked.items():
        named = list(dict.fromkeys(places))
        more = f" and {len(named) - 3} more" if len(named) > 3 else ""
        word = "access" if len(places) == 1 else "accesses"
        lines.append(f"Not analyzed: {len(places)} {word} ({', '.join(named[:3])}{more}): {reason}")
    return lines


def diagnostics_text(report: AnalysisReport) -> str:
    """Return what went wrong, for stderr."""
    return "\n".join(render_finding(finding) for finding in report.diagnostics)
