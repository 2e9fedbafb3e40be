"""A survey as one HTML file: no requests, readable without JavaScript, which only sorts and filters the table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from importlib import resources
from string import Template

from warpsmith import __version__
from warpsmith.report.survey.model import Blocker, SurveyLoop, SurveyReason, SurveyReport
from warpsmith.report.survey.rank import ranking
from warpsmith.report.survey.text import FIRST

__all__ = ["survey_html"]

_FIRST_COLUMNS = (
    (' class="n"', "share"), ("", "place"), ("", "function"), ("", "loop"), ("", "category"), ("", "why"),
)  # fmt: skip


def survey_html(report: SurveyReport) -> str:
    """Return the survey as one HTML document."""
    page = Template(resources.files("warpsmith.report").joinpath("survey.html").read_text("utf-8"))
    return page.substitute(
        root=escape(report.root),
        version=escape(__version__),
        summary=_summary(report),
        bars="".join(_bars(report)),
        findings=_findings(report),
        first=_first(report),
        blockers="".join(map(_blocker, report.blockers)),
        share="of the time" if report.measured else "of the work",
        basis="seconds measured in a run" if report.measured else "work estimated from the text",
        loops="".join(_loop(number, loop) for number, loop in enumerate(report.loops, start=1)),
    ).rstrip()


def _summary(report: SurveyReport) -> str:
    words = report.extent
    return words if report.status == "ok" else f"{words}; incomplete: a part could not be read"


def _bars(report: SurveyReport) -> Iterable[str]:
    for name, count in report.categories.items():
        share = 100 * sum(loop.own for loop in report.loops if loop.category == name)
        yield (
            f'<tr><th scope="row">{_badge(name)}</th><td class="n">{count:,}</td><td class="n">{share:.1f}%</td>'
            f'<td class="bar"><div class="{name}" style="width:{share:.2f}%"></div></td></tr>\n'
        )


def _badge(category: str) -> str:
    return f'<span class="badge {category}">{category}</span>'


def _host(loop: SurveyLoop) -> str:
    """Return a word beside the category where a loop that could run in parallel stays on the host."""
    return " on host" if loop.standing != loop.category else ""


def _findings(report: SurveyReport) -> str:
    if not report.findings:
        return ""
    rows = "".join(
        f"<li><strong>{escape(f.severity)} {escape(f.rule)}</strong> {escape(f.message)}"
        f"{''.join(f'<br><em>{escape(h)}</em>' for h in f.help)}</li>"
        for f in report.findings
    )
    return f'<section aria-labelledby="findings"><h2 id="findings">Not surveyed</h2><ul>{rows}</ul></section>'


def _blocker(blocker: Blocker) -> str:
    return (
        f'<tr><td class="n">{100 * blocker.share:.1f}%</td><td class="n">{blocker.count:,}</td>'
        f"<td>{escape(blocker.construct)}</td><td><code>{escape(str(blocker.example))}</code></td></tr>\n"
    )


def _first(report: SurveyReport) -> str:
    """Return the loops that are worth porting first as a section, "" where there are none."""
    found = ranking(report.loops).first[:FIRST]
    if not found:
        return ""
    head = "".join(f'<th scope="col"{c}>{t}</th>' for c, t in _FIRST_COLUMNS)
    rows = "".join(
        f'<tr><td class="n">{100 * loop.share:.1f}%</td><td><code>{escape(str(loop.spot))}</code></td>'
        f"<td>{escape(loop.function)}</td><td><code>{escape(loop.label)}</code></td>"
        f"<td>{_badge(loop.category)}</td><td>{_why(loop.reasons, loop)}</td></tr>\n"
        for loop in found
    )
    return (
        '<section aria-labelledby="first"><h2 id="first">Worth porting first</h2>'
        '<p class="note">The outermost loops that can run on a device; those inside go with them.</p>'
        f'<div class="wide"><table><thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody></table></div></section>\n'
    )


def _loop(number: int, loop: SurveyLoop) -> str:
    place = f"{loop.spot.file}:{loop.spot.line}"
    return (
        f'<tr><td class="n">{number}</td><td class="n" data-v="{loop.share:.9f}">{100 * loop.share:.1f}%</td>'
        f'<td class="n" data-v="{loop.own:.9f}">{100 * loop.own:.1f}%</td>'
        f'<td data-v="{escape(loop.spot.file)}:{loop.spot.line:08d}"><code>{escape(place)}</code></td>'
        f"<td>{escape(loop.function)}</td>"
        f'<td><code title="{escape(loop.head, quote=True)}">{escape(loop.label)}</code></td>'
        f'<td class="n">{loop.depth}</td><td>{_badge(loop.category)}{_host(loop)}</td>'
        f"<td>{_why(loop.reasons, loop)}</td></tr>\n"
    )


def _why(reasons: Sequence[SurveyReason], loop: SurveyLoop) -> str:
    if not reasons:
        return ""
    first, *rest = reasons
    details = [f"<li>{escape(reason.text)}</li>" for reason in rest]
    for reason in reasons:
        if reason.dependence is not None:
            pair = reason.dependence
            shown = f": {escape(pair.witness)}" if pair.witness else ""
            details.append(f"<li>line {pair.source.line} &rarr; line {pair.sink.line}{shown}</li>")
        details += [f"<li>would help: {escape(words)}</li>" for words in reason.legal_if]
    details += _measured(loop)
    details += [f"<li>assumes {escape(text)} ({escape(kind)})</li>" for text, kind in loop.assumptions]
    if not details:
        return escape(first.text)
    return f"<details><summary>{escape(first.text)}</summary><ul>{''.join(details)}</ul></details>"


def _measured(loop: SurveyLoop) -> list[str]:
    """Return what a run has shown of a loop, as an item of the list."""
    if loop.seconds is None or not loop.entries:
        return []
    often = "once" if loop.entries == 1 else f"{loop.entries:,.0f} times"
    words = f"entered {often}, {loop.iterations or 0:,.0f} iterations, {loop.seconds:.3g} s"
    words += f", {loop.bytes:,.0f} bytes touched" if loop.bytes is not None else ""
    words += f", {loop.copied:,.0f} bytes to copy where it is moved alone" if loop.copied is not None else ""
    if loop.gain_alone is not None and loop.gain_kept is not None:
        words += f", saves {loop.gain_alone:.2g} s alone, {loop.gain_kept:.2g} s where its data are kept on the device"
    return [f"<li>measured: {words}</li>"]
