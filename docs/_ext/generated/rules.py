"""A page for each rule, at an address that its code makes: `reference/generated/rules/MEM001.html`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from generated.markdown import code, fence, prose, table, tree
from warpsmith.report.rules import KERNEL_FAMILIES, Rule, load_rules

__all__ = ["pages"]

_FAMILIES = {
    "POR": "Ports",
    "CLM": "Claims of pragmas",
    "STP": "Steps",
    "RCP": "Recipes",
    "VER": "The referee",
    "PRJ": "Projects",
    "PRF": "Profiles",
    "EFF": "Effects of functions",
    "SIM": "Simulation",
    "CFG": "Configuration",
    "INP": "Input",
    "OUT": "Output",
    "INT": "Internal errors",
    "DIV": "Divergence",
    "MEM": "Memory",
    "SYN": "Synchronization",
    "OCC": "Occupancy",
    "ARI": "Arithmetic",
}


def pages() -> Mapping[str, str]:
    """Return a page for each rule, and their table by family."""
    rules = load_rules()
    families = list(dict.fromkeys(rule.family for rule in rules.values()))
    index = ["# Rules", "", "Codes are never reused. `warpsmith explain CODE` prints the page of a rule.", ""]
    for family in families:
        members = [rule for rule in rules.values() if rule.family == family]
        rows = [(f"[{rule.code}](rules/{rule.code})", prose(rule.name), prose(rule.severity)) for rule in members]
        index += [f"## {_FAMILIES.get(family, family)} ({family})", "", table(("rule", "name", "severity"), rows), ""]
    index += [tree(f"rules/{code}" for code in rules).replace(":maxdepth", ":hidden:\n:maxdepth"), ""]
    return {"rules.md": "\n".join(index)} | {f"rules/{rule.code}.md": _page(rule) for rule in rules.values()}


def _page(rule: Rule) -> str:
    return "\n".join([f"# {rule.code} {prose(rule.name)}", "", f"Severity: {prose(rule.severity)}.", "", *_parts(rule)])


def _parts(rule: Rule) -> Iterator[str]:
    language = "cuda" if rule.family in KERNEL_FAMILIES else "c"
    for title, text in (("What it checks", rule.what), ("Why it matters", rule.why)):
        yield from (f"## {title}", "", prose(text), "")
    if rule.example:
        yield from ("## Example", "", fence(rule.example, language), "", *_launch(rule.launch))
    yield from ("## Do instead", "", prose(rule.instead), "")
    if rule.good:
        yield from (fence(rule.good, language), "", *_launch(rule.good_launch))
    if rule.wrong:
        yield from ("## When it is wrong", "", prose(rule.wrong), "")
    if rule.family in KERNEL_FAMILIES:
        silence = f"`// warpsmith: ignore[{rule.code}] reason` at the line, `--ignore {rule.code}`, or a baseline."
        yield from ("## How to silence it", "", silence, "")
    if rule.see:
        known = load_rules()
        names = (f"[{word}]({word})" if word in known else prose(word) for word in rule.see)
        yield from (f"See also {', '.join(names)}.", "")


def _launch(options: str) -> Iterator[str]:
    if options:
        yield from (f"Analyzed with {code(options)}.", "")
