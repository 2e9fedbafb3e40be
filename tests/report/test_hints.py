"""Hints as reasons of a loop and as JSON."""

from __future__ import annotations

from warpsmith.base.source import Edit, SourceFile, Span
from warpsmith.loops.remedies.model import ApplySteps, EditCode, GrantAssumption, Hint, Remedy, UseOption
from warpsmith.poly.facts import Category
from warpsmith.report.hints import hint_json, hint_reason, hint_text

FILE = SourceFile("a.c", "for (i)\n  a[i] = b;\n")
SPAN = Span(FILE, 0, 7)
EDIT = EditCode("say it", (Edit(Span(FILE, 10, 14), "a[0]"),), "", ())


def hint(then: Category = "parallel", *remedies: Remedy, ported: bool = False) -> Hint:
    return Hint(remedies or (GrantAssumption("n > 0"),), then, ported)


def test_what_a_loop_is_then() -> None:
    rules: dict[Category, str] = {"parallel": "POR001", "reduction": "POR002", "scan": "POR002", "sequential": "POR003"}
    assert {then: hint_reason(hint(then), SPAN).rule for then in rules} == rules
    assert hint_reason(hint(), SPAN).text == "with this it is parallel (tried on a copy)"
    assert hint_reason(hint("reduction", ported=True), SPAN).text == "with this it becomes a kernel (tried on a copy)"
    both = hint("scan", GrantAssumption("n > 0"), UseOption("--fast", "words"))
    assert hint_reason(both, SPAN).text.startswith("with all 2 of these it is a scan")
    assert len(hint_reason(both, SPAN).legal_if) == 2
    assert hint_text(both).split("\n")[0].endswith("(tried on a copy):") and len(hint_text(both).split("\n")) >= 3


def test_remedies_as_json() -> None:
    def entry(remedy: Remedy) -> object:
        found = hint_json(hint("parallel", remedy))
        assert found["then"] == "parallel"
        remedies = found["remedies"]
        assert isinstance(remedies, list) and len(remedies) == 1
        return remedies[0]

    assert entry(GrantAssumption("n > 0")) == {"kind": "assumption", "text": "n > 0"}
    assert entry(ApplySteps(("fuse:f/i",))) == {"kind": "steps", "steps": ["fuse:f/i"]}
    assert entry(UseOption("--fast", "words")) == {"kind": "option", "option": "--fast", "text": "words"}
    plain = entry(EDIT)
    assert isinstance(plain, dict) and plain["same_results"] is True and not {"effect", "requires"} & set(plain)
    changes = entry(EditCode("say it", EDIT.edits, "rounds otherwise", ("n > 0",)))
    assert isinstance(changes, dict)
    assert (changes["same_results"], changes["effect"], changes["requires"]) == (False, "rounds otherwise", ["n > 0"])
