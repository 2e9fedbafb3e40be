"""`warpsmith rules`: every rule, as a table, JSON or Markdown."""

from __future__ import annotations

import json

import click

from warpsmith import __version__
from warpsmith.app.cli.command import Command
from warpsmith.app.cli.global_options import global_options
from warpsmith.report.analysis.text import columns
from warpsmith.report.json_parts import SCHEMA
from warpsmith.report.rules import KERNEL_FAMILIES, Rule, load_rules, rule_json

__all__ = ["command"]


@click.command("rules", cls=Command)
@click.argument("family", required=False, metavar="[FAMILY]")
@click.option("--format", "form", type=click.Choice(["text", "json", "markdown"]), default="text", show_default=True)
@click.option("--all", "everything", is_flag=True, help="Those about inputs, ports and steps as well.")
def command(family: str | None, *, form: str, everything: bool) -> int:
    """List the rules about kernels, or those of one FAMILY (MEM); `warpsmith explain MEM001` has a page for each."""
    wanted = (family or "").upper()
    rules = [
        rule
        for rule in load_rules().values()
        if rule.code.startswith(wanted) and (everything or wanted or rule.family in KERNEL_FAMILIES)
    ]
    if not rules:
        known = sorted({rule.family for rule in load_rules().values()})
        raise click.UsageError(f"no family of rules is called {family!r}; there are {', '.join(known)}")
    click.echo(
        _json(rules)
        if global_options().json or form == "json"
        else _markdown(rules)
        if form == "markdown"
        else _text(rules)
    )
    return 0


def _text(rules: list[Rule]) -> str:
    rows = [(rule.code, rule.severity.split()[0], rule.name, _sentence(rule.what)) for rule in rules]
    return "\n".join(columns([("code", "severity", "name", "what"), *rows]))


def _sentence(text: str) -> str:
    return text if len(text) <= 100 else f"{text[:99].rstrip()}…"


def _json(rules: list[Rule]) -> str:
    rows = [rule_json(rule) for rule in rules]
    document = {
        "schema": SCHEMA, "command": "rules", "version": __version__, "inputs": [], "status": "ok", "diagnostics": [],
        "rules": rows,
    }  # fmt: skip
    return json.dumps(document, indent=2, ensure_ascii=False)


def _markdown(rules: list[Rule]) -> str:
    parts = []
    for rule in rules:
        parts.append(f"## {rule.code} {rule.name}\n\n{rule.what}\n\n{rule.why}\n")
        if rule.example:
            parts.append(f"```cuda\n{rule.example.strip()}\n```\n")
        parts.append(f"**Do instead:** {rule.instead}\n")
        if rule.good:
            parts.append(f"```cuda\n{rule.good.strip()}\n```\n")
        if rule.wrong:
            parts.append(f"**When it is wrong:** {rule.wrong}\n")
    return "\n".join(parts).rstrip()
