"""Every rule, as a table, JSON or Markdown."""

from __future__ import annotations

import pytest

from tests.app.cli.runs import document, typed
from warpsmith.report.rules import KERNEL_FAMILIES, load_rules


def codes(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    return [one["code"] for one in document(capsys, "rules", *words)["rules"]]


def test_those_about_kernels_all_or_one_family(capsys: pytest.CaptureFixture[str]) -> None:
    rules = load_rules()
    assert codes(capsys) == [code for code, rule in rules.items() if rule.family in KERNEL_FAMILIES]
    assert codes(capsys, "--all") == list(rules)
    assert codes(capsys, "mem") == [code for code in rules if code.startswith("MEM")]
    assert codes(capsys, "POR") and codes(capsys, "SYN002") == ["SYN002"]


def test_forms(capsys: pytest.CaptureFixture[str]) -> None:
    _, text, _ = typed(capsys, "rules", "MEM")
    assert text.splitlines()[0].split() == ["code", "severity", "name", "what"]
    assert max(map(len, text.splitlines())) < 190 and "MEM001" in text
    _, page, _ = typed(capsys, "rules", "MEM001", "--format", "markdown")
    assert page.startswith("## MEM001 uncoalesced-global-access") and "**Do instead:**" in page and "```cuda" in page
    assert typed(capsys, "rules", "--format", "json")[1] == typed(capsys, "rules", "--json")[1]


def test_a_family_that_does_not_exist(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = typed(capsys, "rules", "XYZ")
    assert code == 2 and "no family of rules is called 'XYZ'" in err and "MEM" in err
