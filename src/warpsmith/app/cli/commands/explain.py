"""`warpsmith explain`: a rule, a family of rules, a term, or a loop."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from importlib import import_module

import click
from msgspec import Struct
from msgspec.structs import asdict

from warpsmith import __version__
from warpsmith.app.cli.command import Command
from warpsmith.app.cli.global_options import global_options
from warpsmith.app.cli.options import compiler_options, effects_option, words_option
from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding
from warpsmith.report.analysis.text import columns
from warpsmith.report.json_parts import SCHEMA
from warpsmith.report.rules import Term, load_rules, load_terms, rule_json, rule_text, term_text, word_terms
from warpsmith.report.words import VOCABULARIES, Speech, Vocabulary, load_things

__all__ = ["command"]


@click.command("explain", cls=Command)
@click.argument("subject", metavar="RULE | FAMILY | TERM | STEP | FILE:LINE")
@click.option(
    "--accesses",
    type=click.Choice(["text", "html"]),
    is_flag=False,
    flag_value="text",
    help="Of a loop: the access matrix of each array reference, what is used again, where that lands on a GPU.",
)
@click.option(
    "--mappings",
    is_flag=True,
    help="Of a loop: every way to map its nest to threads, by the count of lines, by printed tables, by time.",
)
@words_option
@effects_option
@compiler_options
def command(
    subject: str,
    accesses: str | None,
    mappings: bool,
    words: Vocabulary | None,
    **given: object,
) -> int:
    """Explain a rule (POR003), a family (POR), a category (scan), a term (divergent, "bank conflict"), a word that a
    vendor uses (wavefront, EU, LDS), a step (tile), a word of --assume (injective), or a loop (lu.c:11): category,
    dependence, what would help."""
    file, _, line = subject.rpartition(":")
    if file and line.isdecimal():
        # loaded where it is wanted: a rule is a page of text, a loop takes the whole compiler
        from warpsmith.app.cli.commands.explain_loop import explained_accesses, explained_loop, explained_mappings

        as_json = global_options().json
        if accesses is not None and mappings:
            raise UsageError(Finding("INP000", "error", "--accesses and --mappings are two reports", None, _ONE))
        if accesses is not None:
            click.echo(explained_accesses(file, subject, given, "json" if as_json else accesses))
        elif mappings:
            click.echo(explained_mappings(file, subject, given, as_json=as_json))
        else:
            click.echo(explained_loop(file, subject, given, as_json=as_json))
        return 0
    for name, said in (("accesses", accesses is not None), ("mappings", mappings)):
        if said:
            raise UsageError(Finding("INP000", "error", f"--{name} is for a loop", None, ("name it as FILE:LINE",)))
    page = _page(subject, Speech(words or "nvidia"))
    click.echo(json.dumps(page.document, indent=2, ensure_ascii=False) if global_options().json else page.text)
    return 0


_ONE = ("ask for one of them",)


class _Page(Struct, frozen=True):
    """What is said of a word, as text and as the keys of a document."""

    text: str
    rows: Mapping[str, object]

    @property
    def document(self) -> dict[str, object]:
        head = {"schema": SCHEMA, "command": "explain", "version": __version__, "inputs": [], "status": "ok"}
        return {**head, "diagnostics": [], **self.rows}


def _page(subject: str, words: Speech) -> _Page:
    """Return the page of a rule, a family, a term or a step; raises UsageError where there is none."""
    rules = load_rules()
    code = subject.upper()
    named = {rule.name: rule for rule in rules.values()}
    if (one := rules.get(code) or named.get(subject)) is not None:
        return _Page(rule_text(one), {"rules": [rule_json(one)]})
    if (meant := word_terms(subject, words)) != ():
        return _words_page(subject, meant)
    if (term := _term(subject, words)) is not None:
        return _Page(term_text(term), {"terms": [asdict(term)]})
    family = [rule for rule in rules.values() if rule.code.startswith(code)]
    if family:
        listed = "\n".join(columns([(rule.code, rule.name, rule.what) for rule in family]))
        return _Page(listed, {"rules": [rule_json(rule) for rule in family]})
    steps = _steps()
    if subject in steps:
        return _step(subject)
    words_known = [word for thing in load_things().values() for one in VOCABULARIES for word in thing.called(one)]
    raise UsageError(_report_unknown(subject, [*rules, *named, *load_terms(), *steps, *filter(None, words_known)]))


def _steps() -> list[str]:
    """Return the names of steps. They come with all that rewrites loops: it is loaded for them alone."""
    return [cls.name for cls in import_module("warpsmith.catalogue").STEPS]


def _words_page(subject: str, terms: tuple[Term, ...]) -> _Page:
    """Return what a word means, and the step of this name, where there is one."""
    page = _Page("\n\n".join(map(term_text, terms)), {"terms": [asdict(term) for term in terms]})
    if subject not in _steps():
        return page
    step = _step(subject)
    return _Page(f"{page.text}\n\nThe step of this name:\n\n{step.text}", {**page.rows, **step.rows})


def _step(name: str) -> _Page:
    pages = import_module("warpsmith.app.cli.about.steps")
    entry = json.loads(pages.step_json(name))
    return _Page(pages.step_text(name), {"steps": entry["steps"]})


def _report_unknown(subject: str, words: list[str]) -> Finding:
    known = {word.lower(): word for word in words}
    near = [known[word] for word in difflib.get_close_matches(subject.lower(), known, n=3, cutoff=0.6)]
    helps = (f"did you mean {', '.join(near)}?",) if near else ()
    message = f"no rule, term, step or loop is called {subject!r}"
    lists = f"`warpsmith rules` lists the rules, `warpsmith steps` the steps; the terms: {', '.join(load_terms())}"
    return Finding("INP000", "error", message, help=(*helps, lists))


def _term(subject: str, words: Speech) -> Term | None:
    return next((term for name, term in load_terms(words).items() if _words(name) == _words(subject)), None)


def _words(name: str) -> list[str]:
    return name.lower().replace("-", " ").replace("_", " ").split()
