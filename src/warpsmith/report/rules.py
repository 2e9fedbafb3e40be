"""The catalogue of rules and of terms as data, and how one of them reads."""

from __future__ import annotations

import textwrap
import tomllib
from functools import cache
from importlib import resources

from msgspec import Struct
from msgspec.structs import asdict

from warpsmith.base.cache import kept_table
from warpsmith.report.words import NVIDIA, Speech, called, load_things, thing_text

__all__ = [
    "KERNEL_FAMILIES",
    "Rule",
    "Term",
    "load_rules",
    "load_terms",
    "rule_json",
    "rule_text",
    "term_text",
    "word_terms",
]


class Rule(Struct, frozen=True):
    """One rule: what it checks, why that matters, an example, what to do, when it is wrong; `cwe`: the number of the
    weakness of MITRE's list that it is a case of."""

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
    cwe: int = 0

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
    files = [folder.joinpath(name) for name in _FILES]

    def read() -> dict[str, Rule]:
        rows = {code: entry for file in files for code, entry in tomllib.loads(file.read_text("utf-8")).items()}
        return {code: Rule(code=code, **entry | {"see": tuple(entry.get("see", ()))}) for code, entry in rows.items()}

    return kept_table("rules", dict[str, Rule], [*files, folder.joinpath("rules.py")], read)


def rule_json(rule: Rule) -> dict[str, object]:
    """Return the rule as the schema has it."""
    return {key: value for key, value in asdict(rule).items() if value not in ("", (), 0)}


def rule_text(rule: Rule) -> str:
    """Return the rule as a page of text."""
    example, good = (_indent_text(text) for text in (rule.example, rule.good))
    lines = [f"{rule.code} {rule.name}   severity: {rule.severity}", "", _format_paragraph("What it checks", rule.what)]
    lines.append(_format_paragraph("Why it matters", rule.why))
    lines += [f"Example\n{example}"] if example else []
    lines += [_format_paragraph("Analyzed with", rule.launch)] if rule.launch else []
    lines.append(_format_paragraph("Do instead", rule.instead))
    lines += [f"For example\n{good}"] if good else []
    lines += [_format_paragraph("Analyzed with", rule.good_launch)] if rule.good_launch else []
    lines += [_format_paragraph("When it is wrong", rule.wrong)] if rule.wrong else []
    if rule.family in KERNEL_FAMILIES:
        lines.append(f"How to silence   // warpsmith: ignore[{rule.code}] reason, --ignore {rule.code}, or a baseline")
    lines += [_format_paragraph("See also", " ".join(rule.see))] if rule.see else []
    return "\n".join(lines)


_INDENT, _WIDTH = " " * 17, 100


def _format_paragraph(title: str, text: str) -> str:
    """Return a paragraph with its title beside it."""
    return textwrap.fill(
        text, _WIDTH, initial_indent=f"{title:<17}", subsequent_indent=_INDENT, break_on_hyphens=False
    )  # fmt: skip


class Term(Struct, frozen=True):
    """A word that findings use: what it means, how it is reported or shown, what to read next."""

    name: str
    what: str
    how: str = ""
    see: tuple[str, ...] = ()


@cache
def load_terms(words: Speech = NVIDIA) -> dict[str, Term]:
    """Return every term by its name, told in the words of a vocabulary."""
    rows = tomllib.loads(resources.files("warpsmith.report").joinpath("terms.toml").read_text("utf-8"))
    said = _said(words)
    return {
        name: Term(name, row["what"].format_map(said), row.get("how", "").format_map(said), tuple(row.get("see", ())))
        for name, row in rows.items()
    }


def _said(words: Speech) -> dict[str, str]:
    """Return what stands for `{warp}`, `{warps}`, `{Warps}` … in the texts of terms."""
    found = {}
    for name, thing in load_things().items():
        pairs = ((name, words.one(name)), (thing.words["nvidia"][1], words.many(name)))
        for key, word in pairs:
            found[key] = word
            found[key[:1].upper() + key[1:]] = word[:1].upper() + word[1:]
    return found


def word_terms(subject: str, words: Speech) -> tuple[Term, ...]:
    """Return what a word of any vocabulary means, a term for each thing that it is a word for; () for other words."""
    found: list[Term] = []
    said = _said(words)
    for thing in called(subject):
        known = load_terms(words).get(thing.name)
        name = words.one(thing.name)
        same = " ".join(subject.lower().replace("_", " ").split()) == name.lower()
        title = name if same else f"{subject}: {name}"
        what, see = (thing.what.format_map(said), ()) if known is None else (known.what, known.see)
        how = " ".join(part for part in ("" if known is None else known.how, thing_text(thing)) if part)
        found.append(Term(title, what, how, see))
    return tuple(found)


def term_text(term: Term) -> str:
    """Return the term as a page of text."""
    lines = [term.name, "", textwrap.fill(term.what, _WIDTH, break_on_hyphens=False)]
    lines += ["", textwrap.fill(term.how, _WIDTH, break_on_hyphens=False)] if term.how else []
    lines += ["", f"See also: {', '.join(term.see)}"] if term.see else []
    return "\n".join(lines)


def _indent_text(text: str) -> str:
    return "\n".join("    " + line for line in text.strip("\n").splitlines())
