"""A survey as text: the summary, what is worth porting first, what stays behind, and the blockers."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from warpsmith.report.survey.model import Blocker, SurveyDependence, SurveyLoop, SurveyReport
from warpsmith.report.survey.rank import ranking
from warpsmith.report.table import table_text

__all__ = ["FIRST", "survey_text"]

TOP: Final = 25
FIRST: Final = 15
BEHIND: Final = 10
_WIDTH: Final = 100
_FEW: Final = 2
_LEGEND: Final = (
    "entries x trips: how often the loop was entered, and its iterations each time; bytes: what they touch; copies: to "
    "a GPU and back if this loop alone is moved; saved: the seconds that this saves; kept: the seconds saved where its "
    "data stay on the GPU, which the order goes by. Bytes and seconds saved are estimates, for an A100 behind PCI "
    "Express 4."
)


def survey_text(report: SurveyReport, *, everything: bool = False) -> str:
    """Return the survey for a terminal; `everything`: all loops, by file and line."""
    lines = _summary(report)
    basis = "seconds measured" if report.measured else "work estimated from the text"
    if everything and report.loops:
        shown = sorted(report.loops, key=_place)
        lines += ["", f"all {len(shown)} loops ({basis})", *_loops(shown, measured=report.measured)]
    elif report.loops:
        lines += _rank_loops(report, basis)
    if report.blockers:
        lines += ["", "what keeps loops on the host", *_blockers(report.blockers, everything=everything)]
    return "\n".join(line.rstrip() for line in lines)


def _summary(report: SurveyReport) -> list[str]:
    again = f" ({report.read:,} of {report.units:,} read again)" if report.read < report.units else ""
    named = "" if report.root == str(Path.cwd()) else f"{report.root}: "
    head = [f"{named}{report.extent}{again}", *_late(report)]
    if not report.loops:
        return head
    shares = {name: sum(one.own for one in report.loops if one.category == name) for name in report.categories}
    rows = [(name, f"{count:,}", _percent(shares[name])) for name, count in report.categories.items()]
    rest = 1 - sum(shares.values())
    if rest >= 0.0005:
        rows.append(("elsewhere", "", _percent(rest)))
    return [
        *head,
        *table_text(rows, header=("category", "loops", f"of the {'time' if report.measured else 'work'}")).split("\n"),
    ]


def _late(report: SurveyReport) -> list[str]:
    """Return which files there was no time for, named as the places of loops are."""
    named = (path.removeprefix(f"{report.root}/") for path in report.late)
    text = f"not in time (--timeout): {', '.join(named)}"
    return textwrap.wrap(text, _WIDTH, break_on_hyphens=False, break_long_words=False) if report.late else []


def _rank_loops(report: SurveyReport, basis: str) -> list[str]:
    """Return the loops that matter: an inner loop goes with the one around it that can be ported."""
    found = ranking(report.loops)
    lines = ["", *textwrap.wrap(_LEGEND, _WIDTH)] if report.measured else []
    first, behind = found.first[:FIRST], found.behind[:BEHIND]
    if first:
        lines += ["", f"worth porting first ({basis})", *_loops(first, measured=report.measured)]
        lines += _more(len(found.first) - len(first))
    if found.idle:
        title = f"{_count_word(len(found.idle), 'loop')} more could be ported, and never ran here or would gain nothing"
        lines += ["", f"{title}: --all lists them"]
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
            *_measured_cells(one, measured=measured),
            str(one.spot),
            one.function,
            one.label,
            one.standing,
            _why(one),
        )
        for one in loops
    ]
    times = ("seconds", "entries x trips", "bytes", "copies", "saved", "kept") if measured else ()
    return table_text(rows, header=("share", "own", *times, "place", "function", "loop", "category", "why")).split("\n")


def _measured_cells(loop: SurveyLoop, *, measured: bool) -> tuple[str, ...]:
    if not measured:
        return ()
    if loop.seconds is None or not loop.entries:
        return ("not counted" if loop.seconds is None else "never ran", "", "", "", "", "")
    trips = (loop.iterations or 0) / loop.entries
    shown = f"{loop.entries:,.0f} x {trips:,.0f}" if trips >= 100 else f"{loop.entries:,.0f} x {trips:.3g}"
    saved = ["" if gain is None else f"{gain:.2g}" for gain in (loop.gain_alone, loop.gain_kept)]
    return f"{loop.seconds:.3g}", shown, _bytes(loop.bytes), _bytes(loop.copied), *saved


def _bytes(count: float | None) -> str:
    """Return a number of bytes in three digits."""
    if count is None:
        return ""
    power = min(4, int(math.log10(count) / 3)) if count >= 1 else 0
    return f"{count / 1000**power:.3g} {('B', 'kB', 'MB', 'GB', 'TB')[power]}"


def _why(loop: SurveyLoop) -> str:
    if not loop.reasons:
        return ""
    reason = loop.reasons[0]
    where = "" if reason.dependence is None else _lines(reason.dependence)
    guards = sum(kind == "guarded" for _, kind in loop.assumptions)
    tested = f" ({_count_word(guards, 'condition')} tested at run time)" if guards else ""
    # a list of many conditions tells nothing that their number does not; other views have it
    text = reason.text if guards <= _FEW else re.sub(r" \(if .*; .*\)$", "", reason.text)
    granted = [text for text, kind in loop.assumptions if kind == "granted"]
    tested += f" (asserted: {granted[0]})" if granted and granted[0] not in reason.text else ""
    after = f" (after {', '.join(loop.steps)})" if loop.steps and loop.category == "sequential" else ""
    return f"{text}{where}{tested}{after}"


def _lines(pair: SurveyDependence) -> str:
    return f" (line {pair.source.line} -> line {pair.sink.line})"


def _blockers(found: Sequence[Blocker], *, everything: bool) -> list[str]:
    shown = found if everything else found[:TOP]
    rows = [(_percent(b.share), _count_word(b.count, "loop"), b.construct, f"for example {b.example}") for b in shown]
    lines = table_text(rows, header=("share", "loops", "construct", "")).split("\n")
    left = sum(b.count for b in found[len(shown) :])
    return [*lines, f"  … and {_count_word(left, 'loop')} for other reasons: --all lists them"] if left else lines


def _percent(share: float) -> str:
    """Return a share; what is less than half a thousandth is distinguished from nothing."""
    if 0 < share < 0.0005:
        return "<0.1%"
    return f"{100 * share:.1f}%"


def _count_word(count: int, word: str) -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def _place(loop: SurveyLoop) -> tuple[str, int, int]:
    return loop.spot.file, loop.spot.line, loop.spot.column
