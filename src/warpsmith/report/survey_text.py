"""A survey as text: the summary, what is worth porting first, what stays behind, and what stands in the way."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from warpsmith.report.survey import Blocker, SurveyDependence, SurveyLoop, SurveyReport
from warpsmith.report.survey_rank import ranking
from warpsmith.report.table import table_text

__all__ = ["FIRST", "survey_text"]

TOP: Final = 25
FIRST: Final = 15
BEHIND: Final = 10
_WIDTH: Final = 100


def survey_text(report: SurveyReport, *, everything: bool = False) -> str:
    """Return the survey for a terminal; `everything`: all loops, by file and line."""
    lines = _summary(report)
    basis = "seconds measured" if report.measured else "work estimated from the text"
    if everything and report.loops:
        shown = sorted(report.loops, key=_place)
        lines += ["", f"all {len(shown)} loops ({basis})", *_loops(shown, measured=report.measured)]
    elif report.loops:
        lines += _ranked(report, basis)
    if report.blockers:
        lines += ["", "what keeps loops from running in parallel", *_blockers(report.blockers, everything=everything)]
    return "\n".join(line.rstrip() for line in lines)


def _summary(report: SurveyReport) -> list[str]:
    loops = len(report.loops)
    again = f"{report.read:,} of {report.units:,} files read again" if report.read < report.units else ""
    files = f"{_counted(report.units, 'file')}, {report.lines:,} lines, {_counted(loops, 'loop')}"
    named = "" if report.root == str(Path.cwd()) else f"{report.root}: "
    head = [f"{named}{files}" + (f" ({again})" if again else "")]
    if not loops:
        return head
    shares = {name: sum(one.own for one in report.loops if one.category == name) for name in report.categories}
    rows = [(name, f"{count:,}", _percent(shares[name])) for name, count in report.categories.items()]
    return [*head, *table_text(rows, header=("category", "loops", "of the work")).split("\n")]


def _ranked(report: SurveyReport, basis: str) -> list[str]:
    """Return the loops that matter: an inner loop goes with the one around it that can be ported."""
    found = ranking(report.loops)
    lines: list[str] = []
    first, behind = found.first[:FIRST], found.behind[:BEHIND]
    if first:
        lines += ["", f"worth porting first ({basis})", *_loops(first, measured=report.measured)]
        lines += _more(len(found.first) - len(first))
    if behind:
        title = "what cannot be ported as written, by its own work"
        lines += ["", f"{title} ({basis})", *_loops(behind, measured=report.measured)]
        lines += _more(len(found.behind) - len(behind))
        if any(loop.category == "sequential" for loop in behind):
            lines.append("  as written: `warpsmith port` also looks for steps that make more of them parallel")
    if found.around:
        named = ", ".join(f"{one.spot} {one.label} {_percent(one.share)}" for one in found.around[:3])
        more = f" and {len(found.around) - 3:,} more" if len(found.around) > 3 else ""
        text = f"around them, on the host, with next to no work of their own: {named}{more}"
        lines += ["", *textwrap.wrap(text, _WIDTH, subsequent_indent="  ", break_on_hyphens=False)]
    return lines


def _more(count: int) -> list[str]:
    return [f"  … and {count:,} more: --all lists them"] if count > 0 else []


def _loops(loops: Sequence[SurveyLoop], *, measured: bool) -> list[str]:
    rows = [
        (
            _percent(one.share),
            _percent(one.own),
            *_measured(one, measured=measured),
            str(one.spot),
            one.function,
            one.label,
            one.category,
            _why(one),
        )
        for one in loops
    ]
    times = ("seconds", "iterations", "gain (s)") if measured else ()
    return table_text(rows, header=("share", "own", *times, "place", "function", "loop", "category", "why")).split("\n")


def _measured(loop: SurveyLoop, *, measured: bool) -> tuple[str, ...]:
    if not measured:
        return ()
    if loop.seconds is None:
        return ("not counted", "", "")
    saved = "" if loop.gain is None else f"{loop.gain:.2g}"
    return f"{loop.seconds:.3g}", f"{loop.iterations or 0:,.0f}", saved


def _why(loop: SurveyLoop) -> str:
    if not loop.reasons:
        return ""
    reason = loop.reasons[0]
    where = "" if reason.dependence is None else _lines(reason.dependence)
    guards = sum(kind == "guarded" for _, kind in loop.assumptions)
    tested = f" ({_counted(guards, 'condition')} tested at run time)" if guards else ""
    granted = [text for text, kind in loop.assumptions if kind == "granted"]
    tested += f" (vouched for: {granted[0]})" if granted and granted[0] not in reason.text else ""
    after = f" (after {', '.join(loop.steps)})" if loop.steps and loop.category == "sequential" else ""
    return f"{reason.text}{where}{tested}{after}"


def _lines(pair: SurveyDependence) -> str:
    return f" (line {pair.source.line} -> line {pair.sink.line})"


def _blockers(found: Sequence[Blocker], *, everything: bool) -> list[str]:
    shown = found if everything else found[:TOP]
    rows = [(_percent(b.share), _counted(b.count, "loop"), b.construct, f"for example {b.example}") for b in shown]
    lines = table_text(rows, header=("share", "loops", "construct", "")).split("\n")
    left = sum(b.count for b in found[len(shown) :])
    return [*lines, f"  … and {_counted(left, 'loop')} for other reasons: --all lists them"] if left else lines


def _percent(share: float) -> str:
    """Return a share; what is less than half a thousandth is told from nothing."""
    if 0 < share < 0.0005:
        return "<0.1%"
    return f"{100 * share:.1f}%"


def _counted(count: int, word: str) -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def _place(loop: SurveyLoop) -> tuple[str, int, int]:
    return loop.spot.file, loop.spot.line, loop.spot.column
