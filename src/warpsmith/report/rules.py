"""The catalogue of rules as data, and how one rule reads."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib import resources

__all__ = ["Rule", "load_rules", "rule_text"]


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


def load_rules() -> dict[str, Rule]:
    """Return every rule by its code, in the catalogue's order."""
    data = tomllib.loads(resources.files("warpsmith.report").joinpath("rules.toml").read_text("utf-8"))
    return {code: Rule(code=code, **entry | {"see": tuple(entry.get("see", ()))}) for code, entry in data.items()}


def rule_text(rule: Rule) -> str:
    """Return the rule as a page of text."""
    example = "\n".join("    " + line for line in rule.example.splitlines())
    lines = [f"{rule.code} {rule.name}   severity: {rule.severity}", "", f"What it checks   {rule.what}"]
    lines.append(f"Why it matters   {rule.why}")
    lines += [f"Example\n{example}"] if example else []
    lines.append(f"Do instead       {rule.instead}")
    lines += [f"When it is wrong {rule.wrong}"] if rule.wrong else []
    lines += [f"See also         {' '.join(rule.see)}"] if rule.see else []
    return "\n".join(lines)
