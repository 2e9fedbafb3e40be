"""Which findings are shown, how severe they are, and what is said of the comments that silence them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.report.analysis.samples import reported
from warpsmith.base.errors import UsageError
from warpsmith.base.source import SourceFile
from warpsmith.flows.explaining.explain_file import FileResult
from warpsmith.flows.explaining.selection import Chosen, RuleChoice, choose_findings
from warpsmith.report.analysis.model import Reported
from warpsmith.report.analysis.silenced.baseline import Baseline, entry_of
from warpsmith.settings.model import Setting, Settings
from warpsmith.settings.read import Wanted, read_settings


def settings(
    flags: Mapping[str, Setting],
    severity: dict[str, str] | None = None,
    per_file: dict[str, tuple[str, ...]] | None = None,
) -> Settings:
    given: dict[str, Setting] = {name.replace("_", "-").replace("rules-", "rules."): x for name, x in flags.items()}
    found = read_settings(Wanted(given, None, files=False, environment=False))
    return Settings(found.values, found.origins, found.root, severity=severity or {}, per_file_ignores=per_file or {})


def choice(**how: Setting) -> RuleChoice:
    return RuleChoice(settings(how))


@pytest.mark.parametrize(
    ("select", "ignore", "code", "expected"),
    [
        (("MEM",), (), "MEM001", True),
        (("MEM",), (), "DIV001", False),
        (("MEM",), ("MEM001",), "MEM001", False),
        (("MEM001",), ("MEM",), "MEM001", True),
        (("ALL",), ("MEM",), "MEM001", False),
        (("MEM",), ("MEM",), "MEM001", False),
        (("uncoalesced-global-access",), (), "MEM001", True),
        (("mem",), (), "MEM001", True),
    ],
)
def test_the_longest_prefix_decides(
    select: tuple[str, ...], ignore: tuple[str, ...], code: str, *, expected: bool
) -> None:
    assert choice(rules_select=select, rules_ignore=ignore).has(code) == expected


def test_more_rules_are_added_to_those_selected() -> None:
    found = choice(rules_select=("MEM",), rules_extend_select=("DIV",))
    assert found.has("DIV001") and found.has("MEM001") and not found.has("SYN001")


def test_severities() -> None:
    found = RuleChoice(settings({}, {"MEM": "error", "DIV001": "note"}))
    assert [found.severity(code) for code in ("MEM001", "DIV001", "SYN006")] == ["error", "note", "note"]
    with pytest.raises(UsageError, match="a severity is one of"):
        RuleChoice(settings({}, {"MEM": "fatal"}))


def test_rules_that_do_not_exist_are_told_with_what_is_near() -> None:
    with pytest.raises(UsageError, match="no rule is called 'MEM0001'") as error:
        choice(rules_select=("MEM0001",))
    assert "MEM001" in error.value.findings[0].help[0]


def test_rules_are_off_for_files(tmp_path: Path) -> None:
    found = RuleChoice(settings({}, per_file={"gen/*.cu": ("MEM",)}))
    root = str(tmp_path)
    assert found.ignores(str(tmp_path / "gen" / "k.cu"), root, "MEM001")
    assert not found.ignores(str(tmp_path / "gen" / "k.cu"), root, "DIV001")
    assert not found.ignores(str(tmp_path / "k.cu"), root, "MEM001")


TEXT = "a\nb // warpsmith: ignore[MEM001] rows are short\nc\n"


def pick(
    *found: Reported, text: str = TEXT, baseline: Baseline | None = None, names: tuple[str, ...] = (), **how: Setting
) -> Chosen:
    file = SourceFile("src/k.cu", text)
    result = FileResult("src/k.cu", file, findings=list(found), names=list(names))
    return choose_findings([result], settings(how), baseline)


def at(line: int, rule: str = "MEM001", text: str = TEXT, certainty: str = "proven") -> Reported:
    return reported(rule, line, file=SourceFile("src/k.cu", text), certainty=certainty)  # type: ignore[arg-type]


def codes(found: tuple[Reported, ...]) -> list[str]:
    return [one.finding.rule for one in found]


def test_a_comment_silences_its_line_and_is_of_use() -> None:
    found = pick(at(2), at(1))
    assert [one.finding.span.line for one in found.shown if one.finding.span] == [1]
    (kept,) = found.kept_back
    assert (kept.hidden, kept.reason) == ("suppressed", "rows are short")


def test_a_comment_that_silences_nothing_is_told() -> None:
    assert codes(pick().shown) == ["SUP001"]
    # unless the rule is off, or not every kernel was analyzed
    assert codes(pick(rules_ignore=("MEM001",)).shown) == []
    assert codes(pick(names=("k",)).shown) == []


def test_a_comment_without_a_reason_or_with_an_unknown_rule() -> None:
    bare = TEXT.replace(" rows are short", "")
    assert codes(pick(at(2, text=bare), text=bare).shown) == ["SUP002"]
    unknown = TEXT.replace("MEM001", "MEM0O1")
    (told,) = pick(text=unknown).shown
    assert "names MEM0O1, which is no rule" in told.finding.message


def test_what_is_less_certain_is_counted() -> None:
    both = at(1, certainty="heuristic"), at(3, certainty="conditional")
    assert [(codes(f.shown), f.below) for f in (pick(*both, text="a\nb\nc\n"),)] == [(["MEM001"], 1)]
    assert pick(*both, text="a\nb\nc\n", min_certainty="proven").below == 2
    assert pick(*both, text="a\nb\nc\n", min_certainty="heuristic").below == 0


def test_a_baseline_keeps_back_what_it_knows_and_says_what_is_stale() -> None:
    known = Baseline("b.json", (entry_of(at(1), "b.json"),))
    found = pick(at(1), baseline=known, text="a\n")
    assert [(one.hidden, one.reason) for one in found.kept_back] == [("baseline", "b.json")] and not found.shown
    (stale,) = pick(baseline=known, text="a\n").shown
    assert (stale.finding.rule, stale.finding.message) == ("BAS001", "b.json lists 1 finding that no longer exist")


def test_rules_that_are_off_are_not_even_counted() -> None:
    found = pick(at(1), rules_select=("DIV",), text="a\n")
    assert (found.shown, found.kept_back, found.below) == ((), (), 0)
    assert [one.severity for one in pick(at(1), text="a\n").shown] == ["warning"]
