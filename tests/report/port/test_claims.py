"""The report on the user's pragmas: one word for each claim, and what it rests on."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.poly.analysis import program_of
from warpsmith.base.verdict import Proved, Refuted, Unknown
from warpsmith.poly.analyze import analyze
from warpsmith.poly.facts import ClaimFacts, FunctionFacts, PolyOptions
from warpsmith.poly.openmp.apply_claims import apply_claims
from warpsmith.report.port.claims import claim_finding, claim_findings, claim_reasons, claim_word

TEXT = """
void good(int n, double *restrict a) {
#pragma omp parallel for
    for (int i = 0; i < n; i++) a[i] = 0;
}
void bad(int n, double *restrict a) {
#pragma omp parallel for
    for (int i = 1; i < n; i++) a[i] = a[i - 1];
}
void open(int n, double *restrict a, const int *restrict p) {
#pragma omp parallel for
    for (int i = 0; i < n; i++) a[p[i]] = i;
}
"""


@pytest.fixture(scope="module")
def functions() -> tuple[FunctionFacts, ...]:
    return tuple(analyze(program_of(TEXT), PolyOptions(), apply_claims).functions)


def claim(functions: tuple[FunctionFacts, ...], name: str) -> ClaimFacts:
    (found,) = (one for f in functions if f.function.symbol.name == name for loop in f.loops for one in loop.claims)
    return found


def test_a_word_for_each_verdict(functions: tuple[FunctionFacts, ...]) -> None:
    good, bad, opened = (claim(functions, name) for name in ("good", "bad", "open"))
    assert isinstance(good.verdict, Proved) and isinstance(bad.verdict, Refuted) and isinstance(opened.verdict, Unknown)
    assert [claim_word(one) for one in (good, bad, opened)] == ["confirmed", "refuted", "assumed"]
    assert claim_word(replace(opened, granted=None)) == "not proved"
    assert claim_word(replace(opened, understood=False)) == "not understood"


def test_findings_in_the_order_of_the_source(functions: tuple[FunctionFacts, ...]) -> None:
    found = claim_findings(functions)
    assert [(one.rule, one.severity) for one in found] == [
        ("CLM004", "note"),
        ("CLM001", "warning"),
        ("CLM002", "note"),
    ]
    assert [note.text for note in found[1].related] == ["written here", "read here"]
    assert "so that the port rests on your word: the referee tests it" in found[2].message
    assert found[2].certainty == "conditional"


def test_what_nothing_rests_on_and_what_is_not_understood(functions: tuple[FunctionFacts, ...]) -> None:
    opened = claim(functions, "open")
    assert "rests on your word" not in claim_finding(replace(opened, granted=None)).message
    lost = claim_finding(replace(opened, understood=False))
    assert (lost.rule, lost.severity) == ("CLM003", "warning")
    assert "is confirmed after all" in claim_finding(claim(functions, "good"), " after all").message


def test_steps_may_prove_what_is_open_in_the_loop_as_written(functions: tuple[FunctionFacts, ...]) -> None:
    good = claim(functions, "good")
    opened = claim(functions, "open")
    (place,) = (f for f in functions if f.function.symbol.name == "open")
    proved = replace(opened, verdict=good.verdict, granted=None)
    after = FunctionFacts.known(place.unit, place.function, (replace(loop, claims=(proved,)) for loop in place.loops))
    found = claim_findings(functions, (after,))
    assert [one.rule for one in found] == ["CLM004", "CLM001", "CLM004"]
    assert "in the form that steps give its loop" in found[2].message


def test_what_a_step_has_written_anew_says_nothing_of_the_pragma(functions: tuple[FunctionFacts, ...]) -> None:
    good = claim(functions, "good")
    opened = claim(functions, "open")
    (place,) = (f for f in functions if f.function.symbol.name == "open")
    pragma = replace(opened.claim.pragma, text="#pragma omp parallel for nowait")
    other = replace(opened, claim=replace(opened.claim, pragma=pragma), verdict=good.verdict, granted=None)
    assert other.claim.text != opened.claim.text
    after = FunctionFacts.known(place.unit, place.function, (replace(loop, claims=(other,)) for loop in place.loops))
    assert [one.rule for one in claim_findings(functions, (after,))] == ["CLM004", "CLM001", "CLM002"]


def test_reasons_of_a_loop(functions: tuple[FunctionFacts, ...]) -> None:
    (bad,) = (loop for f in functions if f.function.symbol.name == "bad" for loop in f.loops)
    (reason,) = claim_reasons(bad)
    assert reason.rule == "CLM001" and reason.dependence is not None and reason.dependence.variable == "a"
