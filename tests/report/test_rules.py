"""Every code that the program can print has a page, and every page names only codes that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from warpsmith.report.rules import KERNEL_FAMILIES, Rule, Term, load_rules, load_terms, rule_text, term_text

SOURCE = Path(__file__).parents[2] / "src" / "warpsmith"
RULES = load_rules()


def test_every_code_in_the_source_has_a_page() -> None:
    text = "".join(path.read_text() for path in SOURCE.rglob("*.py"))
    used = set(
        re.findall(r'"((?:POR|CLM|INP|OUT|CFG|INT|VER|STP|RCP|PRJ|DIV|MEM|SYN|OCC|ARI|SUP|BAS|SIM)\d{3})"', text)
    )
    assert used <= set(RULES), used - set(RULES)


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_a_page_is_complete(rule: Rule) -> None:
    assert set(rule.see) <= set(RULES)
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule.name)
    text = rule_text(rule)
    flat = " ".join(text.split())
    assert " ".join(rule.what.split()) in flat
    assert " ".join(rule.instead.split()) in flat
    kernels = rule.family in KERNEL_FAMILIES and rule.code not in ("OCC006", "OCC007")
    assert (rule.code.startswith(("POR", "CLM")) or kernels) == bool(rule.example)
    assert bool(rule.good) == kernels


@pytest.mark.parametrize("term", load_terms().values(), ids=load_terms())
def test_a_term_is_told_and_leads_on(term: Term) -> None:
    assert set(term.see) <= {*RULES, *load_terms()}
    assert " ".join(term.what.split()) in " ".join(term_text(term).split())
    assert max(map(len, term_text(term).splitlines())) <= 100


def test_the_words_of_the_analysis_are_defined() -> None:
    assert {"divergent", "uniform", "influence region", "post-dominator", "immediate post-dominator"} <= set(
        load_terms()
    )
