"""The catalogue of rules as data, and how one rule reads."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources

__all__ = ["KERNEL_FAMILIES", "Rule", "load_rules", "rule_text"]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: what it checks, why that matters, an example, what to do, when it is wrong."""

    code: str
    name: str
    severity: str
    what: str
    why: str
    instead: str
    example: str = ""
    wrong: str = ""
    see: tuple[str, ...] = ()
    good: str = ""
    launch: str = ""
    good_launch: str = ""

    @property
    def family(self) -> str:
        """The letters of its code."""
        return self.code.rstrip("0123456789")


_FILES = ("rules.toml", "kernel_rules.toml")
KERNEL_FAMILIES = ("DIV", "MEM", "SYN", "OCC", "ARI")
"""Families of rules about kernels, which comments can silence."""


@cache
def load_rules() -> dict[str, Rule]:
    """Return every rule by its code, in the catalogue's order."""
    folder = resources.files("warpsmith.report")
    tables = [tomllib.loads(folder.joinpath(name).read_text("utf-8")) for name in _FILES]
    rows = {code: entry for table in tables for code, entry in table.items()}
    return {code: Rule(code=code, **entry | {"see": tuple(entry.get("see", ()))}) for code, entry in rows.items()}


def rule_text(rule: Rule) -> str:
    """Return the rule as a page of text."""
    example, good = (_indented(text) for text in (rule.example, rule.good))
    lines = [f"{rule.code} {rule.name}   severity: {rule.severity}", "", f"What it checks   {rule.what}"]
    lines.append(f"Why it matters   {rule.why}")
    lines += [f"Example\n{example}"] if example else []
    lines += [f"Analyzed with    {rule.launch}"] if rule.launch else []
    lines.append(f"Do instead       {rule.instead}")
    lines += [f"For example\n{good}"] if good else []
    lines += [f"Analyzed with    {rule.good_launch}"] if rule.good_launch else []
    lines += [f"When it is wrong {rule.wrong}"] if rule.wrong else []
    if rule.family in KERNEL_FAMILIES:
        lines.append(f"How to silence   // warpsmith: ignore[{rule.code}] reason, --ignore {rule.code}, or a baseline")
    lines += [f"See also         {' '.join(rule.see)}"] if rule.see else []
    return "\n".join(lines)


def _indented(text: str) -> str:
    return "\n".join("    " + line for line in text.strip("\n").splitlines())
