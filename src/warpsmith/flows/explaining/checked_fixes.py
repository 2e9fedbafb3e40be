"""Fixes are offered where they hold: the file is edited, read and analyzed again, and what they are for is gone.

proposed edits ─► all at once ─► analyzed again ─┬─► findings gone, no new ones: each is a fix
                     ▲                           └─► else halves, down to single ones and their alternatives
                     └──────────────────────────────────────┘

Invariant: the fixes that a file's findings have were applied together with others that hold, or alone, and mended what
they are for without making any other finding, a kernel unreadable, or accesses fewer or others. What was not tried is
not offered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.base.fixes import Fix
from warpsmith.base.source import Edit, SourceFile, apply_edits
from warpsmith.flows.explaining.explain_file import FileResult, FileTask, explain_file
from warpsmith.report.analysis.model import Reported

__all__ = ["ONE_AT_A_TIME", "combine_fixes", "mends", "with_fixes"]

MOST_TRIALS: Final = 16
"""How often a file is analyzed again at most."""

# one of several redundant barriers is named at a time: which one is reported next is no new finding
ONE_AT_A_TIME: Final = ("SYN006",)

Key = tuple[str, str, str, int]


class _Case(Struct, frozen=True):
    """Findings (by their place in the result) that the same edits are for."""

    findings: tuple[int, ...]
    alternatives: tuple[Fix, ...]


class _Trials(Struct):
    """The trials of one file, counted."""

    task: FileTask
    result: FileResult
    file: SourceFile
    left: int = MOST_TRIALS

    def hold(self, cases: Sequence[_Case]) -> bool:
        """Whether the first alternatives of `cases`, all at once, mend what they are for and nothing else changes."""
        fixes = [case.alternatives[0] for case in cases]
        text = combine_fixes(self.file, fixes)
        if text is None or self.left <= 0:
            return False
        self.left -= 1
        wanted = replace(self.task.wanted, text=text)
        # a kernel that took too long, or went wrong, is tried again: it counts on both sides
        analyzed = {one.name for one in self.result.kernels}
        known = {name: text for name, text in self.result.texts.items() if name in analyzed}
        after = explain_file(
            replace(self.task, wanted=wanted, fixes=False, diagrams=False, patterns=False, known=known)
        )
        targets = [self.result.findings[number] for case in cases for number in case.findings]
        return mends(self.result, after, fixes, targets)


def with_fixes(task: FileTask, result: FileResult) -> FileResult:
    """Return the result, each finding with the first of its proposed fixes that holds."""
    cases = _cases(result.findings)
    if not task.fixes or not cases or result.file is None:
        return result
    text = task.wanted.text
    file = SourceFile(result.path, text) if text is not None else SourceFile.read(result.path)
    trials = _Trials(task, result, file)
    held = _holding(trials, cases)
    fixes = {number: case.alternatives[0] for case in held for number in case.findings}
    result.findings = [replace(one, proposed=(), fix=fixes.get(number)) for number, one in enumerate(result.findings)]
    return result


def _cases(findings: Sequence[Reported]) -> list[_Case]:
    found: dict[tuple[tuple[tuple[int, int, str], ...], ...], list[int]] = {}
    for number, one in enumerate(findings):
        if one.proposed:
            found.setdefault(tuple(_key(fix) for fix in one.proposed), []).append(number)
    return [_Case(tuple(numbers), _find_agreed(findings, numbers)) for numbers in found.values()]


def _find_agreed(findings: Sequence[Reported], numbers: Sequence[int]) -> tuple[Fix, ...]:
    """Return the fixes that some findings share; safe where it is for each of them."""
    shared = zip(*(findings[number].proposed for number in numbers), strict=True)
    return tuple(replace(fixes[0], safe=all(fix.safe for fix in fixes)) for fixes in shared)


def _key(fix: Fix) -> tuple[tuple[int, int, str], ...]:
    return tuple((edit.span.start, edit.span.end, edit.text) for edit in fix.edits)


def _holding(trials: _Trials, cases: Sequence[_Case]) -> list[_Case]:
    """Return the cases whose fixes hold, each with the alternative that does in front."""
    if not cases or trials.left <= 0:
        return []
    if trials.hold(cases):
        return list(cases)
    if len(cases) > 1:
        middle = len(cases) // 2
        return [*_holding(trials, cases[:middle]), *_holding(trials, cases[middle:])]
    (case,) = cases
    return _holding(trials, [replace(case, alternatives=case.alternatives[1:])]) if case.alternatives[1:] else []


def combine_fixes(file: SourceFile, fixes: Iterable[Fix]) -> str | None:
    """Return the text with several fixes applied, edits that they share once; None where they disagree."""
    edits = _distinct(fixes)
    try:
        return apply_edits(file, edits)
    except ValueError:
        return None


def _distinct(fixes: Iterable[Fix]) -> list[Edit]:
    """Return the edits of several fixes in the order of the text; what more than one fix wants is there once."""
    own: dict[tuple[int, int, str], Edit] = {}
    for fix in fixes:
        mine: Counter[tuple[int, int, str]] = Counter()
        for edit in fix.edits:
            key = (edit.span.start, edit.span.end, edit.text)
            mine[key] += 1
            own.setdefault(key, edit)
    return sorted(own.values(), key=lambda edit: (edit.span.start, edit.span.end))


def mends(before: FileResult, after: FileResult, fixes: Iterable[Fix], targets: Sequence[Reported]) -> bool:
    """Whether `targets` are gone after `fixes`, no finding is new, the kernels access what they did, and all that could
    be read still can. Kernels whose text is the same were not analyzed again: theirs are what they were."""
    broken = after.failed or after.crashed or after.late > before.late or after.names != before.names
    errors = [sum(d.severity == "error" for d in result.diagnostics) for result in (before, after)]
    accessed = [_count_accesses(result, after.same) for result in (before, after)]
    # what a run showed is gone where another run does not show it
    unseen = any(one.finding.replay and one.kernel in after.unseen for one in targets)
    if broken or unseen or errors[1] > errors[0] or accessed[0] != accessed[1]:
        return False
    edits = _distinct(fixes)
    old = Counter(_place(one, ()) for one in before.findings if one.kernel not in after.same)
    new = Counter(_place(one, edits) for one in after.findings)
    wanted = Counter(_place(one, ()) for one in targets)
    if any(new[key] > old[key] for key in new if key[0] not in ONE_AT_A_TIME):
        return False
    return all(old[key] - new[key] >= number for key, number in wanted.items())


def _count_accesses(result: FileResult, same: frozenset[str]) -> Counter[tuple[str, str, str, str, int]]:
    """Return what a file's kernels load and store, but for some: an edit that leaves out an access mends nothing."""
    accesses = (one for one in result.accesses if one.kernel not in same)
    return Counter((one.kernel, one.kind, one.space, one.variable, one.bytes) for one in accesses)


def _place(one: Reported, edits: Sequence[Edit]) -> Key:
    """Return what a finding is known by before and after `edits`: its rule, its kernel, its line as it was before."""
    span = one.finding.span
    if span is None:
        return one.finding.rule, one.kernel, "", 0
    if not edits or span.file.path != edits[0].span.file.path:
        return one.finding.rule, one.kernel, span.file.path, span.line
    old = edits[0].span.file
    return one.finding.rule, one.kernel, old.path, old.location(_origin(edits, span.start))[0]


def _origin(edits: Sequence[Edit], offset: int) -> int:
    """Return where the text at `offset` stood before the edits."""
    shift = 0
    for edit in edits:
        start = edit.span.start + shift
        if offset < start:
            break
        if offset < start + len(edit.text):
            return edit.span.start
        shift += len(edit.text) - (edit.span.end - edit.span.start)
    return offset - shift
