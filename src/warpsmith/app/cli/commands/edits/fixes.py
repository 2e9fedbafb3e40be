"""`analyze --fix --unsafe-fixes --diff --add-ignores`: the user's files edited, or shown as they would be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import click
from msgspec import Struct

from warpsmith.app.cli.commands.edits.rewrite import edits_diff, rewrite_files
from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding
from warpsmith.base.source import SourceFile, apply_edits
from warpsmith.flows.explain import ExplainOptions, explain
from warpsmith.flows.fix_files import fix_files
from warpsmith.kernels.units import KernelFile
from warpsmith.report.analysis.model import AnalysisReport
from warpsmith.report.analysis.numbers import count_noun
from warpsmith.report.analysis.silenced.ignores import can_ignore, ignores

__all__ = ["Editing", "edited_report", "fix_options"]

C = TypeVar("C", bound=Callable[..., object])


class Editing(Struct, frozen=True):
    """What shall be done to the user's files; `diff`: it is shown, and nothing is written."""

    fix: bool
    unsafe: bool
    diff: bool
    ignores: bool

    @classmethod
    def of(cls, given: Mapping[str, object]) -> Editing:
        """Return what the options ask for; raises UsageError where two of them contradict each other."""
        fix, ignores = bool(given["fix"]), bool(given["add_ignores"])
        if fix and ignores:
            message = "--fix and --add-ignores: mend first, then silence what is left"
            raise UsageError(Finding("INP000", "error", message, help=("run them one after the other",)))
        diff = bool(given["diff"])
        if given["unsafe_fixes"] and not fix and (ignores or not diff):
            message = "--unsafe-fixes says which fixes --fix makes, and --diff shows"
            raise UsageError(Finding("INP000", "error", message, help=("add --fix, or --diff",)))
        return cls(fix or (diff and not ignores), bool(given["unsafe_fixes"]), diff, ignores)

    @property
    def any(self) -> bool:
        """Whether anything is edited."""
        return self.fix or self.ignores


def fix_options(command: C) -> C:
    """Add the options to a command."""
    for option in (
        click.option("--add-ignores", is_flag=True, help="Write a comment that silences it above each finding."),
        click.option("--diff", is_flag=True, help="Print what --fix or --add-ignores would change; write nothing."),
        click.option("--unsafe-fixes", is_flag=True, help="With --fix: also what may change results."),
        click.option("--fix", is_flag=True, help="Mend in the files what one token or one line mends."),
    ):
        command = option(command)
    return command


def edited_report(files: Sequence[KernelFile], options: ExplainOptions, editing: Editing) -> AnalysisReport:
    """Edit the files, or print how they would change, and return what there is to say: of the files as they are then.

    Raises UsageError where a file cannot be written; nothing is written then.
    """
    if not editing.diff and any(file.text is not None for file in files):
        message = "standard input cannot be edited in place"
        raise UsageError(Finding("INP000", "error", message, help=("--diff prints what would change",)))
    if editing.ignores:
        return _ignore_shown(files, options, editing)
    mended = fix_files(files, options, unsafe=editing.unsafe)
    edited = [(one.file, one.text) for one in mended.edited]
    _write(edited, editing)
    _report("mend", mended.applied, len(edited), editing)
    return mended.before if editing.diff else mended.after


def _ignore_shown(files: Sequence[KernelFile], options: ExplainOptions, editing: Editing) -> AnalysisReport:
    """Write a comment above each finding that is shown, and return what is left."""
    report = explain(files, options)
    edited: list[tuple[SourceFile, str]] = []
    silenced: Counter[str] = Counter()
    for file in files:
        held = SourceFile(file.path, file.text) if file.text is not None else SourceFile.read(file.path)
        mine = [one for one in report.findings if can_ignore(held, one)]
        edits = list(ignores(held, mine))
        silenced.update(one.finding.rule for one in mine if edits)
        if edits:
            edited.append((held, apply_edits(held, edits)))
    _write(edited, editing)
    _report("silence", silenced, len(edited), editing)
    return report if editing.diff else explain(files, options)


def _write(edited: Sequence[tuple[SourceFile, str]], editing: Editing) -> None:
    if editing.diff:
        click.echo(edits_diff(edited), nl=False)
    else:
        rewrite_files(edited)


def _report(word: str, done: Counter[str], files: int, editing: Editing) -> None:
    past = {"mend": "mended", "silence": "silenced"}[word]
    verb = f"would {word}" if editing.diff else past
    listed = ", ".join(f"{rule} {number}" for rule, number in sorted(done.items()))
    what = f"{count_noun(done.total(), 'finding')} in {count_noun(files, 'file')}" if done else "nothing"
    click.echo(f"{verb} {what}{f' ({listed})' if listed else ''}", err=True)
