"""An analysis as text: what costs most first, each cause once, on the user's own lines; then the small notes, the
kernels, and what was not said.

transpose.cu:7:5: warning[MEM001] uncoalesced store to out: 32 sectors per warp request, 4 would do
  |
7 |     out[x * n + y] = in[y * n + x];
  |     ^^^^^^^^^^^^^^ 4·n bytes between neighboring lanes
  = evidence: …
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from msgspec import Struct

from warpsmith.analysis.rules.finding import EvidenceTable, Why
from warpsmith.base.findings import Note, marked_line, render_finding
from warpsmith.base.source import Span
from warpsmith.report.accesses.text import space_lines
from warpsmith.report.analysis.groups import FindingGroup, GroupBy, group_findings, headings
from warpsmith.report.analysis.metrics import METRICS, metric_rows
from warpsmith.report.analysis.model import AnalysisReport, AnalyzedKernel, Reported
from warpsmith.report.analysis.numbers import COLUMNS, closing, count_noun, fix_words, footnotes, kernel_rows
from warpsmith.report.analysis.races import race_lines
from warpsmith.report.analysis.ranking import ranking_lines
from warpsmith.report.legible import legible
from warpsmith.report.rules import load_rules

__all__ = ["TextOptions", "analysis_concise", "analysis_text", "columns", "diagnostics_text"]

_SHORT, _OTHERS, _LONGEST = 4, 8, 6


class TextOptions(Struct, frozen=True):
    """How much is printed: `evidence` none, short or full (then nothing is put together); `context` lines around a
    place; `limit` findings (0: all); `suppressed`: those that are kept back as well; `color`: with terminal colors;
    `group_by`: under headings; `width`: letters of a line (0: lines are not broken); `metrics`: the metric table
    as well."""

    evidence: str = "short"
    context: int = 0
    limit: int = 0
    suppressed: bool = False
    color: bool = False
    group_by: GroupBy = ""
    width: int = 0
    metrics: bool = False


def analysis_text(report: AnalysisReport, options: TextOptions) -> str:
    """Return the report for people."""
    shown = report.findings[: options.limit] if options.limit else report.findings
    full = options.evidence == "full"
    group = [FindingGroup(one, (one.kernel,), ()) for one in shown] if full else group_findings(shown)
    small = [] if full else [one for one in group if one.first.severity == "note" and one.first.finding.span]
    parts = []
    said: set[str] = set()
    for heading, below in headings([one for one in group if one not in small], options.group_by):
        parts += (
            [f"--- {legible(heading)}: {count_noun(sum(one.number for one in below), 'finding')}"] if heading else []
        )
        parts += [_finding(one, options, said) for one in below]
    parts += ["\n".join(_notes(small))] if small else []
    if len(shown) < len(report.findings):
        parts.append(f"… and {len(report.findings) - len(shown)} more findings: --limit 0 prints them")
    if options.suppressed:
        parts += [_show_kept_back(one) for one in report.kept_back]
    if report.kernels:
        parts.append(_kernels(report))
    if options.metrics and report.kernels:
        parts.append("\n".join(columns([METRICS, *metric_rows(report)])))
        parts += [line for kernel in report.kernels for line in _patterns(kernel)]
    parts.append("\n".join(map(legible, ranking_lines(report))))
    parts.append("\n".join((*_open(report), closing(report))))
    return "\n\n".join(part for part in parts if part)


def _patterns(kernel: AnalyzedKernel) -> Iterator[str]:
    """Yield the access matrices of a kernel, a run of loops at a time."""
    for number, space in enumerate(kernel.patterns):
        head = "" if number else f"accesses of kernel {legible(kernel.name)}\n\n"
        yield head + "\n".join(legible(line).rstrip() for line in space_lines(space))


def analysis_concise(report: AnalysisReport) -> str:
    """Return one line a finding."""
    return "\n".join(
        legible(
            f"{_where(one)}: {one.finding.rule} {one.severity} {one.finding.certainty} {one.finding.message}"
            + (f" [{one.kernel}]" if one.kernel else "")
            + (" [*]" if one.fix is not None else "")
        )
        for one in report.findings
    )


def _where(one: Reported) -> str:
    return one.input or "warpsmith" if one.finding.span is None else str(one.finding.span)


# --- a finding


def _finding(group: FindingGroup, options: TextOptions, said: set[str]) -> str:
    """Return a finding as a block; `said`: remedies that were reported before, and are not repeated in full."""
    one = group.first
    finding = one.finding
    lines, gutter = [f"{_where(one)}: {_paint_line(one, options)} {legible(finding.message)}"], 1
    if finding.span is not None:
        gutter = len(str(finding.span.line + options.context))
        lines += _excerpt(Note(finding.span, finding.label), options.context, gutter)
    for note in finding.related:
        same = finding.span is not None and note.span.file is finding.span.file
        if same and finding.span is not None and note.span.line == finding.span.line:
            lines += _excerpt(note, 0, gutter)[2:]
        else:
            lines += ([] if same else [f"{' ' * gutter} : {note.span}"]) + _excerpt(note, 0, gutter)
    for name, text in _facts(group, options, said):
        lines += _break_lines(f"{' ' * gutter} = {name}: ", legible(text), options.width)
    return "\n".join(lines)


def _break_lines(head: str, text: str, width: int) -> list[str]:
    """Return a remark as lines; what is broken goes on below its beginning."""
    if not width or len(head) + len(text) <= width or "\n" in text:
        return [head + text]
    return textwrap.wrap(
        text, max(width, 60), initial_indent=head, subsequent_indent=" " * len(head), break_on_hyphens=False,
        break_long_words=False,
    )  # fmt: skip


_COLORS = {"error": "31", "warning": "33", "note": "36"}


def _paint_line(one: Reported, options: TextOptions) -> str:
    word = f"{one.severity}[{one.finding.rule}]"
    return f"\x1b[1;{_COLORS[one.severity]}m{word}\x1b[0m" if options.color else word


def _excerpt(place: Note, context: int, width: int) -> list[str]:
    """Return the line of a place with carets under it, and the lines around it."""
    span = place.span
    before = range(max(1, span.line - context), span.line)
    after = range(span.line + 1, min(span.file.line_count, span.line + context) + 1)
    shown, carets = marked_line(span)
    gap = " " * width
    lines = [f"{gap} |", *(_number_line(span, line, width) for line in before), f"{span.line:>{width}} | {shown}"]
    lines.append(f"{gap} | {carets} {legible(place.text)}".rstrip())
    return [*lines, *(_number_line(span, line, width) for line in after)]


def _number_line(span: Span, line: int, width: int) -> str:
    start = span.file.offset(line)
    shown, _ = marked_line(Span(span.file, start, start))
    return f"{line:>{width}} | {shown}".rstrip()


def _facts(group: FindingGroup, options: TextOptions, said: set[str]) -> Iterator[tuple[str, str]]:
    finding = group.first.finding
    if group.kernels and finding.span is not None:
        yield "kernel" if len(group.kernels) == 1 else "kernels", ", ".join(group.kernels)
    if finding.why and options.evidence != "none":
        yield "because", " <- ".join(_chain(finding.why, finding.span, whole=options.evidence == "full"))
    if options.evidence != "none":
        for table in finding.evidence:
            yield "evidence", _short(table) if options.evidence == "short" else _full(table)
    certainty: str = finding.certainty
    if finding.assumptions:
        certainty += f", if {'; and '.join(finding.assumptions)}"
    yield "certainty", certainty
    if finding.estimate is not None and options.evidence != "none":
        yield "estimate", finding.estimate.text
    yield from (("also", text) for text in _also(group))
    known = set(finding.help) <= said
    for text in finding.help[:1] if known else finding.help:
        yield "help", text
    said |= set(finding.help)
    if group.first.fix is not None:
        yield "fix", fix_words(group.first.fix)
    if finding.rule not in said and finding.span is not None:
        said.add(finding.rule)
        yield "more", f"warpsmith explain {finding.rule}"


def _also(group: FindingGroup) -> Iterator[str]:
    """Yield what else a finding stands for."""
    if group.first.finding.times > 1:
        yield f"{group.first.finding.times} instructions of this place"
    for number, (message, lines) in enumerate(group.elsewhere()):
        if number == _OTHERS:
            yield f"{len(group.elsewhere()) - _OTHERS} more: --evidence full tells each by itself"
            return
        yield f"{message}, {lines}"


def _chain(why: Sequence[Why], at: Span | None, *, whole: bool) -> list[str]:
    """Return the steps of a chain; the middle of a long one is left out, and an end that says nothing new."""
    steps = list(why)
    if len(steps) > 1 and steps[-1].text.endswith(steps[-2].text.strip("`")):
        steps.pop()
    said = [_step(step.text, step.span, at) for step in steps]
    if whole or len(said) <= _LONGEST:
        return said
    return [*said[: _LONGEST - 2], f"… {len(said) - _LONGEST + 1} more …", said[-1]]


def _step(text: str, span: Span | None, at: Span | None) -> str:
    """Return a step of a chain with its line; with the file where that is another than the finding's."""
    if span is None:
        return text
    same = at is not None and span.file is at.file
    return f"{text} (line {span.line})" if same else f"{text} ({span.file.path}:{span.line})"


_KEYED = ("lane", "bank", "thread", "warp", "run")


def _short(table: EvidenceTable) -> str:
    """Return the first rows of a table on one line."""
    keyed = table.columns[0] in _KEYED
    rows = [_row(table.columns, row) if keyed else " ".join(row) for row in table.rows]
    more = [f"… {len(rows)} in all"] if len(rows) > _SHORT else []
    return f"{table.title}: {'; '.join([*rows[:_SHORT], *more])}"


def _row(names: Sequence[str], cells: Sequence[str]) -> str:
    key = cells[0] if cells[0].startswith(names[0]) else f"{names[0]} {cells[0]}"
    return f"{key}: {', '.join(f'{name} {cell}' for name, cell in zip(names[1:], cells[1:], strict=True))}"


def _full(table: EvidenceTable) -> str:
    rows = columns([table.columns, *table.rows])
    return "\n".join((table.title, *(f"       {row}" for row in rows)))


def _show_kept_back(one: Reported) -> str:
    why = f"suppressed: {one.reason or 'no reason given'}" if one.hidden == "suppressed" else f"in {one.reason}"
    return legible(f"{_where(one)}: {one.severity}[{one.finding.rule}] {one.finding.message} ({why})")


# --- notes: a line each


def _notes(small: Sequence[FindingGroup]) -> Iterator[str]:
    """Yield the notes, a rule at a time: what it is, where, and what helps."""
    rules: dict[str, list[FindingGroup]] = {}
    for group in small:
        rules.setdefault(group.first.finding.rule, []).append(group)
    yield "notes"
    for code, found in rules.items():
        places: dict[tuple[str, str], list[str]] = {}
        for group in found:
            for one in (group.first, *group.others):
                key = (one.finding.message, one.finding.span.file.path if one.finding.span else one.input)
                places.setdefault(key, []).append(_line_alone(one))
        yield f"  {code} {load_rules()[code].name}"
        for (message, path), lines in places.items():
            yield legible(f"    {path}:{', '.join(dict.fromkeys(lines))}: {message}")
        helps = dict.fromkeys(group.first.finding.help[0] for group in found if group.first.finding.help)
        yield from (f"    = help: {legible(text)}" for text in helps)


def _line_alone(one: Reported) -> str:
    mark = " [*]" if one.fix is not None else ""
    return "" if one.finding.span is None else f"{one.finding.span.line}{mark}"


# --- the end


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows as aligned text."""
    widths = [max(len(row[n]) for row in rows) for n in range(len(rows[0]))]
    return ["  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _kernels(report: AnalysisReport) -> str:
    lines = columns([COLUMNS, *(row.cells for row in kernel_rows(report))])
    return "\n".join((*lines, *footnotes(report), *race_lines(report)))


def _open(report: AnalysisReport) -> list[str]:
    """Return what could not be said of accesses, a line each kind of reason."""
    blocked: dict[str, list[str]] = {}
    for access in report.accesses:
        unknown = access.sectors is None and access.bank_ways is None and access.simulated is None
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
