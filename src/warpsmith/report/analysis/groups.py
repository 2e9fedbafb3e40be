"""Findings that say the same thing, reported once: a wall of lines becomes a list of causes, the costliest first.

k<float>, k<int>   instances of a template: the same text, line by line
p[i].x  p[i].y     accesses with one cause and one remedy, in one kernel
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Final, Literal

from msgspec import Struct

from warpsmith.report.analysis.model import CERTAINTIES, Reported

__all__ = ["FindingGroup", "GroupBy", "group_findings", "headings", "name_spokesmen"]

GroupBy = Literal["", "kernel", "rule", "file"]


class FindingGroup(Struct, frozen=True):
    """One finding for several that are alike. `kernels`: those that it holds for; `others`: at other places."""

    first: Reported
    kernels: tuple[str, ...]
    others: tuple[Reported, ...]

    @property
    def number(self) -> int:
        """How many places it stands for."""
        return 1 + len(self.others)

    def elsewhere(self) -> list[tuple[str, str]]:
        """Return what is said of the other places (`the same`, or another message), each with its lines; those in
        another file than the first with the file."""
        lines: dict[str, list[str]] = {}
        for one in sorted(self.others, key=lambda one: one.finding.message != self.first.finding.message):
            lines.setdefault(one.finding.message, []).append(_line(one, self.first))
        return [
            (
                "the same" if message == self.first.finding.message else message,
                f"{'line' if len(places) == 1 else 'lines'} {', '.join(places)}",
            )
            for message, places in ((message, tuple(dict.fromkeys(found))) for message, found in lines.items())
        ]


def group_findings(findings: Sequence[Reported]) -> list[FindingGroup]:
    """Return the findings, those that are alike put together where the first of them stands."""
    return [_group(group) for group in _find_alike(findings)]


def name_spokesmen(findings: Sequence[Reported]) -> list[Reported]:
    """Return for each finding the one that is told in its place: itself, or another one of the same cause."""
    spokesmen: dict[int, Reported] = {}
    for alike in _find_alike(findings):
        first = _group(alike).first
        spokesmen |= {id(one): first for same in alike for one in same}
    return [spokesmen[id(one)] for one in findings]


def _find_alike(findings: Sequence[Reported]) -> list[list[list[Reported]]]:
    """Return the causes, each with its places, each of these with the findings that say the same of it."""
    copies: dict[Hashable, list[Reported]] = {}
    for one in findings:
        copies.setdefault((_place(one), _cause(one), one.finding.message), []).append(one)
    alike: dict[Hashable, list[list[Reported]]] = {}
    for same in copies.values():
        # a cause that the rule names is one in all instances of a template, whichever of its places are in which
        kernels = (_template(one.kernel) if one.finding.cause else one.kernel for one in same)
        alike.setdefault((tuple(dict.fromkeys(kernels)), _cause(same[0]), same[0].input), []).append(same)
    return list(alike.values())


def _group(alike: list[list[Reported]]) -> FindingGroup:
    # what is most certain speaks for all
    first, *others = sorted(alike, key=lambda same: -CERTAINTIES.index(same[0].finding.certainty))
    told: dict[Hashable, str] = {}
    for same in (first, *others):
        told.setdefault(_place(same[0]), same[0].kernel)
    # another instance of a template says nothing new of a place
    news = [same[0] for same in others if told[_place(same[0])] == same[0].kernel]
    kernels = dict.fromkeys(one.kernel for same in alike for one in same if one.kernel)
    return FindingGroup(first[0], tuple(kernels), tuple(news))


def _template(kernel: str) -> str:
    """Return the name of the template that a kernel is an instance of, or its own."""
    return kernel.partition("<")[0]


def _line(one: Reported, first: Reported) -> str:
    span, other = one.finding.span, first.finding.span
    if span is None:
        return one.input
    here = other is not None and span.file.path == other.file.path
    return str(span.line) if here else f"{span.file.path}:{span.line}"


def _place(one: Reported) -> Hashable:
    return one.fingerprint or id(one) if one.finding.span is None else str(one.finding.span)


_EACH: Final = ("SYN001", "SYN002", "SYN003", "SYN004", "SYN008", "MEM02", "SUP", "BAS")
"""Rules about mistakes: each of them is one of its own, unless the rule names what several have in common."""


def _cause(one: Reported) -> Hashable:
    finding = one.finding
    if finding.cause:
        return (finding.rule, one.severity, finding.cause)
    own: Hashable = (finding.message, str(finding.span)) if finding.rule.startswith(_EACH) else ()
    if finding.rule == "SYN005":
        own = tuple((step.text, str(step.span)) for step in finding.why)
    return (finding.rule, one.severity, finding.certainty, finding.help, own)


def headings(group: Sequence[FindingGroup], by: GroupBy) -> list[tuple[str, list[FindingGroup]]]:
    """Return the findings below one heading each, in the order in which these come up; one without a text for all
    where nothing is asked for."""
    if not by:
        return [("", list(group))] if group else []
    found: dict[str, list[FindingGroup]] = {}
    for one in group:
        found.setdefault(_heading(one, by), []).append(one)
    return list(found.items())


def _heading(one: FindingGroup, by: GroupBy) -> str:
    match by:
        case "kernel":
            return f"kernel {', '.join(one.kernels)}" if one.kernels else one.first.input
        case "rule":
            return one.first.finding.rule
        case _:
            return one.first.input if one.first.finding.span is None else one.first.finding.span.file.path
