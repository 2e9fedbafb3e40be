"""Which findings are shown, and how severe they are: selected, certain enough, neither suppressed nor known before."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import get_args

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.analysis.rules.finding import KernelFinding
from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Certainty, Finding, Severity
from warpsmith.base.source import SourceFile
from warpsmith.flows.explaining.explain_file import FileResult
from warpsmith.report.analysis.model import CERTAINTIES, SEVERITIES, Reported
from warpsmith.report.analysis.silenced.baseline import Baseline
from warpsmith.report.analysis.silenced.suppressions import Suppression, suppression_for, suppressions
from warpsmith.report.rules import load_rules
from warpsmith.settings.globs import path_matches
from warpsmith.settings.model import Settings

__all__ = ["Chosen", "RuleChoice", "choose_findings"]


class Chosen(Struct, frozen=True):
    """Findings that are shown, those that are kept back, and how many are not certain enough."""

    shown: tuple[Reported, ...]
    kept_back: tuple[Reported, ...]
    below: int


class RuleChoice:
    """Which rules are on: the longest prefix that fits a code decides, `ignore` where two are equal.

    Raises UsageError for a rule that does not exist.
    """

    def __init__(self, settings: Settings) -> None:
        self.rules = load_rules()
        self.names = {rule.name: code for code, rule in self.rules.items()}
        self.on = [
            self._code(text) for text in (*settings.texts("rules.select"), *settings.texts("rules.extend-select"))
        ]
        self.off = [self._code(text) for text in settings.texts("rules.ignore")]
        self.severities: dict[str, Severity] = {}
        for text, word in settings.severity.items():
            code = self._code(text)
            if word not in get_args(Severity):
                message = f"a severity is one of {', '.join(get_args(Severity))}; {text} has {word!r}"
                raise UsageError(Finding("CFG002", "error", message))
            self.severities |= {one: _severity(word) for one in self.rules if one.startswith(code)}
        self.per_file = {glob: [self._code(t) for t in texts] for glob, texts in settings.per_file_ignores.items()}

    def _code(self, text: str) -> str:
        """Return a code, or the start of one, for what the user wrote."""
        word = text.strip()
        if word.upper() == "ALL":
            return ""
        code = self.names.get(word.lower(), word.upper())
        if code and any(known.startswith(code) for known in self.rules):
            return code
        near = get_close_matches(code, self.rules, n=2, cutoff=0.5) or get_close_matches(word.lower(), self.names, n=1)
        helps = (f"did you mean {' or '.join(near)}?",) if near else ()
        message = f"no rule is called {word!r}"
        raise UsageError(Finding("CFG001", "error", message, help=(*helps, "`warpsmith rules` lists them")))

    def has(self, code: str) -> bool:
        """Whether a rule is on."""
        on = max((len(prefix) for prefix in self.on if code.startswith(prefix)), default=-1)
        off = max((len(prefix) for prefix in self.off if code.startswith(prefix)), default=-1)
        return on > off

    def ignores(self, path: str, root: str, code: str) -> bool:
        """Whether a rule is off for a file."""
        place = Path(path).resolve()
        inside = place.relative_to(root).as_posix() if place.is_relative_to(root) else place.as_posix()
        return any(
            path_matches(inside, glob) and any(code.startswith(prefix) for prefix in codes)
            for glob, codes in self.per_file.items()
        )

    def severity(self, code: str) -> Severity:
        """Return how severe a rule's findings are."""
        return self.severities.get(code) or _severity(self.rules[code].severity.split()[0])


def _severity(word: str) -> Severity:
    match word:
        case "error" | "warning" | "note":
            return word
        case _:
            raise ValueError(word)


def choose_findings(results: Sequence[FileResult], settings: Settings, baseline: Baseline | None) -> Chosen:
    """Return what is shown of all that was found, in the order of the input."""
    choice = RuleChoice(settings)
    least = CERTAINTIES.index(_certainty(settings.text("min-certainty")))
    comments = _Comments(choice, settings.root)
    shown: list[Reported] = []
    kept_back: list[Reported] = []
    below = 0
    for result in results:
        comments.read(result)
        for one in result.findings:
            code = one.finding.rule
            path = result.path if one.finding.span is None else one.finding.span.file.path
            if not choice.has(code) or choice.ignores(path, settings.root, code):
                continue
            severity = min(choice.severity(code), one.finding.at_most, key=SEVERITIES.index)
            one = replace(one, severity=severity)
            comment = comments.silencing(one, result)
            if CERTAINTIES.index(one.finding.certainty) < least:
                below += 1
            elif comment is not None:
                kept_back.append(replace(one, hidden="suppressed", reason=comment.reason))
            elif baseline is not None and baseline.knows(one):
                kept_back.append(replace(one, hidden="baseline", reason=baseline.path))
            else:
                shown.append(one)
    meta = [*comments.find_reports(), *_stale(baseline, results)]
    for one in meta:
        code = one.finding.rule
        if choice.has(code) and not (one.input and choice.ignores(one.input, settings.root, code)):
            shown.append(replace(one, severity=choice.severity(code)))
    return Chosen(tuple(shown), tuple(kept_back), below)


def _certainty(word: str) -> Certainty:
    match word:
        case "proven" | "witnessed" | "conditional" | "heuristic":
            return word
        case _:
            raise ValueError(word)


class _Comments:
    """The suppressions of all files that findings may point at, and which of them were of use; `in_part`: files of
    which not every kernel was analyzed, so that nothing is known of the use of their comments."""

    def __init__(self, choice: RuleChoice, root: str) -> None:
        self.choice = choice
        self.root = root
        self.in_part: set[str] = set()
        self.by_file: dict[str, tuple[Suppression, ...]] = {}
        self.used: set[Suppression] = set()

    def read(self, result: FileResult) -> None:
        spans = [one.finding.span for one in result.findings]
        spans += [branch.span for branch in result.branches]
        files: dict[str, SourceFile] = {span.file.path: span.file for span in spans if span is not None}
        if result.file is not None:
            files[result.file.path] = result.file
        analyzed = {kernel.name for kernel in result.kernels}
        if set(result.names) - analyzed or any(one.severity == "error" for one in result.diagnostics):
            self.in_part |= set(files)
        for path, file in files.items():
            if path not in self.by_file:
                self.by_file[path] = suppressions(file)

    def silencing(self, one: Reported, result: FileResult) -> Suppression | None:
        span = one.finding.span
        if span is None:
            return None
        starts = sorted(start.line for start in result.starts.values() if start.file.path == span.file.path)
        start = result.starts.get(one.kernel)
        rule = self.choice.rules[one.finding.rule]
        line = start.line if start is not None and start.file.path == span.file.path else _line_of(starts, span.line)
        found = suppression_for(
            self.by_file.get(span.file.path, ()), (rule.code, rule.name), span, starts, line
        )  # fmt: skip
        if found is not None:
            self.used.add(found)
        return found

    def find_reports(self) -> Iterable[Reported]:
        """Yield what is to be said of the comments themselves."""
        for path in sorted(self.by_file):
            for one in self.by_file[path]:
                words = ", ".join(one.codes)
                unknown = [code for code in one.codes if not self._exists(code)]
                if not one.reason:
                    helps = ("say why: // warpsmith: ignore[MEM001] rows are short",)
                    yield _meta("SUP002", f"the suppression of {words} gives no reason", one, helps)
                if unknown:
                    near = get_close_matches(unknown[0], self.choice.rules, n=1, cutoff=0.5)
                    helps = (f"did you mean {near[0]}?",) if near else ("`warpsmith rules` lists them",)
                    yield _meta("SUP001", f"the suppression names {unknown[0]}, which is no rule", one, helps)
                elif one not in self.used and path not in self.in_part and self._are_on(one.codes, path):
                    yield _meta("SUP001", f"the suppression of {words} silences nothing", one, ("remove it",))

    def _are_on(self, codes: Iterable[str], path: str) -> bool:
        """Whether all rules that a comment names are looked for in a file."""
        return all(
            self.choice.has(code) and not self.choice.ignores(path, self.root, code) for code in codes if code != "ALL"
        )

    def _exists(self, code: str) -> bool:
        return code in ("ALL", *self.choice.names) or any(known.startswith(code) for known in self.choice.rules if code)


def _line_of(starts: Sequence[int], line: int) -> int:
    return max((start for start in starts if start <= line), default=0)


def _meta(rule: str, message: str, one: Suppression, helps: tuple[str, ...]) -> Reported:
    finding = KernelFinding(rule, message, "proven", "", one.span, message, help=helps, impact=0.0)
    return Reported(finding, one.span.file.path, "", "warning", "")


def _stale(baseline: Baseline | None, results: Sequence[FileResult]) -> Iterable[Reported]:
    """Yield BAS001 where a baseline lists findings of files that were read and no longer have them."""
    if baseline is None:
        return
    read = [result.path for result in results if not result.failed]
    stale = baseline.stale((one for result in results for one in result.findings), read)
    if stale:
        message = f"{baseline.path} lists {len(stale)} finding{'s' if len(stale) > 1 else ''} that no longer exist"
        finding = KernelFinding("BAS001", message, "proven", "", None, message, impact=0.0,
                                help=("`warpsmith baseline prune` takes them out",))  # fmt: skip
        yield Reported(finding, "", "", "note", "")
