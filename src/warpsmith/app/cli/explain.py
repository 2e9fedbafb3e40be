"""`warpsmith explain`: a rule, a family of rules, a term, or a loop."""

from __future__ import annotations

import difflib

import click

from warpsmith.app.cli.options import compiler_options, effects_option
from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding
from warpsmith.report.analysis_text import columns
from warpsmith.report.rules import Term, load_rules, load_terms, rule_text, term_text

__all__ = ["command"]


@click.command("explain")
@click.argument("subject", metavar="RULE | FAMILY | TERM | FILE:LINE")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout (loops only).")
@effects_option
@compiler_options
def command(
    subject: str,
    *,
    as_json: bool,
    **given: object,
) -> int:
    """Explain a rule (POR003), a family (POR), a term (divergent, "bank conflict"), or a loop (lu.c:11): category,
    dependence, what would help."""
    file, _, line = subject.rpartition(":")
    if file and line.isdecimal():
        # loaded where it is wanted: a rule is a page of text, a loop takes the whole compiler
        from warpsmith.app.cli.explain_loop import explained_loop

        click.echo(explained_loop(file, subject, given, as_json=as_json))
        return 0
    rules = load_rules()
    code = subject.upper()
    named = {rule.name: rule for rule in rules.values()}
    family = [rule for rule in rules.values() if rule.code.startswith(code)]
    if (one := rules.get(code) or named.get(subject)) is not None:
        click.echo(rule_text(one))
    elif family:
        click.echo("\n".join(columns([(rule.code, rule.name, rule.what) for rule in family])))
    elif (term := _term(subject)) is not None:
        click.echo(term_text(term))
    else:
        known = {word.lower(): word for word in (*rules, *named, *load_terms())}
        near = [known[word] for word in difflib.get_close_matches(subject.lower(), known, n=3, cutoff=0.6)]
        helps = (f"did you mean {', '.join(near)}?",) if near else ()
        message = f"no rule, term or loop is called {subject!r}"
        lists = f"`warpsmith rules` lists the rules; the terms: {', '.join(load_terms())}"
        raise UsageError(Finding("INP000", "error", message, help=(*helps, lists)))
    return 0


def _term(subject: str) -> Term | None:
    return next((term for name, term in load_terms().items() if _words(name) == _words(subject)), None)


def _words(name: str) -> list[str]:
    return name.lower().replace("-", " ").replace("_", " ").split()
