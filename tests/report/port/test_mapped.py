"""The report on data directives."""

from __future__ import annotations

from tests.poly.analysis import program_of
from tests.poly.mapped.programs import program
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions
from warpsmith.report.port.mapped import mapped_findings

INDIRECT = """
void f(int n, const int *p, double *a, double *b) {
#pragma omp target teams distribute parallel for map(to: p[0:n], a[0:n]) map(from: b[0:n])
    for (int i = 0; i < n; i++) b[i] = a[p[i]];
}
"""


def findings(text: str) -> list[tuple[str, str, str]]:
    found = mapped_findings(Facts.about(program_of(text), PolyOptions()))
    return [(one.rule, one.severity, one.certainty) for one in found]


def test_what_is_wrong_is_a_warning_and_what_is_assumed_a_note() -> None:
    assert findings(program("result is not copied back", wrong=True)) == [("CLM005", "warning", "proven")]
    assert findings(program("on one way only", wrong=True)) == [("CLM005", "warning", "conditional")]
    assert findings(program("result is not copied back", wrong=False)) == []
    assert findings(INDIRECT) == [("CLM002", "note", "conditional")]
