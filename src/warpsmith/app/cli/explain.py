"""`warpsmith explain`: a rule, a family of rules, or a loop."""

from __future__ import annotations

import difflib
from dataclasses import replace

import click

from warpsmith.app.cli.options import compiler_arguments, compiler_options, effects_option, texts
from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding
from warpsmith.flows.port import PortOptions, port
from warpsmith.flows.select import find_loop
from warpsmith.front.load import FrontOptions
from warpsmith.loops.remedies import remedy
from warpsmith.report.build import loop_entries
from warpsmith.report.claims import claim_reasons
from warpsmith.report.json_form import report_json
from warpsmith.report.loop_text import loop_text
from warpsmith.report.model import Report
from warpsmith.report.rules import load_rules, rule_text
from warpsmith.report.text import table_text
from warpsmith.tree.effects_file import users_effects
from warpsmith.tree.nodes import For

__all__ = ["command"]


@click.command("explain")
@click.argument("subject", metavar="RULE | FAMILY | FILE:LINE")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout (loops only).")
@effects_option
@compiler_options
def command(
    subject: str,
    *,
    as_json: bool,
    **given: object,
) -> int:
    """Explain a rule (POR003), a family (POR), or a loop (lu.c:11): category, dependence, what would help."""
    file, _, line = subject.rpartition(":")
    if file and line.isdecimal():
        front = FrontOptions(arguments=compiler_arguments(given), effects=users_effects(texts(given["effects"])))
        click.echo(_loop(file, subject, front, as_json=as_json))
        return 0
    rules = load_rules()
    code = subject.upper()
    named = {rule.name: rule for rule in rules.values()}
    family = [rule for rule in rules.values() if rule.code.startswith(code)]
    if (one := rules.get(code) or named.get(subject)) is not None:
        click.echo(rule_text(one))
    elif family:
        click.echo(table_text([(rule.code, rule.name, rule.what) for rule in family]))
    else:
        near = difflib.get_close_matches(code, [*rules, *named], n=3, cutoff=0.4)
        helps = (f"did you mean {', '.join(near)}?",) if near else ()
        message = f"no rule and no loop is called {subject!r}"
        raise UsageError(Finding("INP000", "error", message, help=(*helps, f"the rules: {' '.join(rules)}")))
    return 0


def _loop(file: str, subject: str, front: FrontOptions, *, as_json: bool) -> str:
    result = port([file], PortOptions(front=front, survey=True))
    wanted = find_loop(result.program, subject)
    entries = loop_entries(result.prepared, None)
    facts = [loop for function in result.facts.functions for loop in function.loops]
    entry, known = next((e, loop) for e, loop in zip(entries, facts, strict=True) if loop.loop is wanted)
    entry = replace(entry, reasons=(*entry.reasons, *claim_reasons(known)))
    if isinstance(wanted, For) and entry.category in ("sequential", "unanalyzable"):
        entry = replace(entry, reasons=(*entry.reasons, remedy(result.facts, wanted)))
    return report_json(Report("explain", (file,), "ok", loops=(entry,))) if as_json else loop_text(entry)
