"""Fixes applied to files, in memory: analyzed, edited, analyzed again, until nothing more can be mended.

files ─► explain ─► fixes that hold ─► edited text ─► explain ─► … ─► the files' text, and what remains to be said

Invariant: no round leaves a finding in a file that was not there before it; a round that would is done again with its
first fix alone, and not at all where that is no better. Only files that are named are edited, each once, never the
headers that they include: these may be others' as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.base.findings import Finding
from warpsmith.base.fixes import Fix
from warpsmith.base.source import SourceFile
from warpsmith.flows.explain import ExplainOptions, explain
from warpsmith.flows.explaining.checked_fixes import ONE_AT_A_TIME, combine_fixes
from warpsmith.kernels.units import KernelFile
from warpsmith.report.analysis.model import AnalysisReport, Reported

__all__ = ["Edited", "Mended", "fix_files"]

MOST_ROUNDS: Final = 20


class Edited(Struct, frozen=True):
    """A file before, and its text after (one character a byte)."""

    file: SourceFile
    text: str


class Mended(Struct, frozen=True):
    """`before` and `after`: what there was, and is, to say; `applied`: how many findings of each rule were mended."""

    before: AnalysisReport
    after: AnalysisReport
    edited: tuple[Edited, ...]
    applied: Counter[str]


class _State(Struct):
    """One file on its way: `whole` while all of its fixes are applied at once, `over` when nothing more is."""

    file: SourceFile
    text: str
    whole: bool = True
    over: bool = False


def fix_files(files: Sequence[KernelFile], options: ExplainOptions, *, unsafe: bool) -> Mended:
    """Return the files with every fix that holds applied; `unsafe`: those too that may change results."""
    options = replace(options, fixes=True)
    owners = _owners(files)
    states = {path: _State(*_read(file)) for file in files if (path := file.path) == owners[path]}
    before = now = explain(files, options)
    applied: Counter[str] = Counter()
    for _ in range(MOST_ROUNDS):
        rounds = {path: _round(now, path, state, unsafe=unsafe) for path, state in states.items() if not state.over}
        tried = {path: found for path, found in rounds.items() if found is not None}
        if not tried:
            break
        texts = {path: state.text for path, state in states.items()} | {path: text for path, (text, _) in tried.items()}
        then = explain([_with_text(file, texts[owners[file.path]]) for file in files], options)
        for path, (text, mended) in tried.items():
            state = states[path]
            if _is_better(now, then, path):
                state.text, state.whole = text, True
                applied.update(one.finding.rule for one in mended)
            else:
                state.whole, state.over = False, not state.whole
        kept = {path: state.text for path, state in states.items()}
        undone = kept != texts
        now = explain([_with_text(file, kept[owners[file.path]]) for file in files], options) if undone else then
    edited = tuple(Edited(state.file, state.text) for state in states.values() if state.text != state.file.text)
    return Mended(before, now, edited, applied)


def _owners(files: Sequence[KernelFile]) -> dict[str, str]:
    """Return for each path the first one that leads to the same file."""
    first: dict[Path, str] = {}
    return {file.path: first.setdefault(Path(file.path).resolve(), file.path) for file in files}


def _read(file: KernelFile) -> tuple[SourceFile, str]:
    """Return a file and its text; one that cannot be read has none, which the analysis has reported."""
    try:
        held = SourceFile(file.path, file.text) if file.text is not None else SourceFile.read(file.path)
    except OSError:
        held = SourceFile(file.path, "")
    return held, held.text


def _with_text(file: KernelFile, text: str) -> KernelFile:
    return replace(file, text=text) if text else file


def _round(report: AnalysisReport, path: str, state: _State, *, unsafe: bool) -> tuple[str, list[Reported]] | None:
    """Return a file's text after one round, and what is mended in it; None where there is nothing to do."""
    wanted = [one for one in report.findings if one.input == path and _is_wanted(one, unsafe=unsafe)]
    taken: list[Fix] = []
    text = None
    for fix in dict.fromkeys(one.fix for one in wanted if one.fix is not None):
        more = combine_fixes(SourceFile(path, state.text), [*taken, fix])
        if more is not None:
            taken.append(fix)
            text = more
        if not state.whole:
            break
    return None if text is None else (text, [one for one in wanted if one.fix in taken])


def _is_wanted(one: Reported, *, unsafe: bool) -> bool:
    return one.fix is not None and (one.fix.safe or unsafe)


def _is_better(before: AnalysisReport, after: AnalysisReport, path: str) -> bool:
    """Whether nothing is said of a file that was not said before, and less of something."""
    old, new = _count_findings(before, path), _count_findings(after, path)
    return all(new[key] <= old[key] for key in new if key[0] not in ONE_AT_A_TIME) and new.total() < old.total()


def _count_findings(report: AnalysisReport, path: str) -> Counter[tuple[str, str]]:
    reported = Counter(
        (one.finding.rule, one.kernel) for one in (*report.findings, *report.kept_back) if one.input == path
    )
    reported.update((finding.rule, "") for finding in report.diagnostics if _is_about(finding, path))
    return reported


def _is_about(finding: Finding, path: str) -> bool:
    return finding.span is None or finding.span.file.path == path
