"""What one thread begins before a shared loop: the others wait for it, or do not."""

from __future__ import annotations

import functools

import pytest

from tests.poly.analysis import program_of
from tests.poly.programs import function
from warpsmith.poly.analyze import Facts
from warpsmith.poly.claimed import claims_of
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.isl.space import budget
from warpsmith.poly.openmp.concurrency.begun import find_begun
from warpsmith.poly.openmp.concurrency.concurrent import Asked

REGION = """
void {name}(int n, int *restrict a, int *restrict b, int *restrict c)
{{
    int h = 0;
#pragma omp parallel
    {{
        {body}
    }}
}}
"""
OPEN = "open"
LOOP = "for (int i = 0; i < n; i++)"

# the body, and what is said of its last loop
CASES: list[tuple[str, str]] = [
    (f"\n#pragma omp master\nh = 1;\n#pragma omp for\n{LOOP} a[i] = h;", "another one reads it"),
    (f"\n#pragma omp masked\nb[3] = 1;\n#pragma omp for\n{LOOP} a[i] = b[i];", "another one reads it"),
    (f"\n#pragma omp single nowait\nc[0] = a[2];\n#pragma omp for\n{LOOP} a[i] = 1;", "another one writes it"),
    (f"\n#pragma omp master\nh = 1;\n#pragma omp for reduction(+: h)\n{LOOP} h += a[i];", "the loop starts from h"),
    (f"\n#pragma omp master\nh = 1;\n#pragma omp for firstprivate(h)\n{LOOP} a[i] = h;", "the loop starts from h"),
    (f"\n#pragma omp single\nh = 1;\n#pragma omp for\n{LOOP} a[i] = h;", ""),
    (f"\n#pragma omp master\nh = 1;\n#pragma omp barrier\n#pragma omp for\n{LOOP} a[i] = h;", ""),
    (f"\n#pragma omp master\nh = 1;\n#pragma omp for\n{LOOP} c[i] = 1;\n#pragma omp for\n{LOOP} a[i] = h;", ""),
    (f"\n#pragma omp master\nh = 1;\n#pragma omp for nowait\n{LOOP} c[i] = 1;\n#pragma omp for\n{LOOP} a[i] = h;",
     "another one reads it"),
    # the first iteration is the first thread's, as a rule
    (f"\n#pragma omp master\nb[0] = 1;\n#pragma omp for\n{LOOP} a[i] = b[i];", ""),
    (f"\n#pragma omp master\nb[0] = 1;\n#pragma omp for\n{LOOP} for (int k = 0; k < 4; k++) a[i] += b[i];", ""),
    (f"\n#pragma omp master\nb[2] = 1;\n#pragma omp for\n{LOOP} for (int k = 0; k < 4; k++) a[i] += b[k];",
     "another one reads it"),
    (f"\n#pragma omp master\nc[0] = 1;\n#pragma omp for\n{LOOP} a[i] = b[i];", ""),
    (f"\n#pragma omp master\nc[n + 5] = 1;\n#pragma omp for\n{LOOP} a[i] = c[i];", ""),
    (f"\n#pragma omp master\nc[0] = a[1];\n#pragma omp for\n{LOOP} b[i] = a[i];", ""),
    # a late thread reads conditions and bounds around the loop while others run it
    (f"if (a[3] == 0) {{\n#pragma omp for\n{LOOP} a[i] = 1;\n}}", OPEN),
    (f"if (b[3] == 0) {{\n#pragma omp for\n{LOOP} a[i] = 1;\n}}", ""),
    (f"for (int t = a[3]; t < 9; t++) {{\n#pragma omp for\n{LOOP} a[i] = t;\n}}", OPEN),
    (f"for (int t = b[3]; t < 9; t++) {{\n#pragma omp for\n{LOOP} a[i] = t;\n}}", ""),
    (f"for (int t = a[3]; t < 9; t++) {{\n#pragma omp barrier\n#pragma omp for\n{LOOP} a[i] = t;\n}}", ""),
    # where the loop is come to at all, what stands before it was; it may be another round's
    (f"for (int t = 0; t < 9; t++) {{\nif (c[t]) continue;\n#pragma omp master\nh = 1;\n#pragma omp for\n"
     f"{LOOP} a[i] = h;\n}}", OPEN),
]  # fmt: skip


@functools.cache
def _facts() -> Facts:
    texts = (REGION.format(name=f"f{number}", body=body) for number, (body, _) in enumerate(CASES))
    return Facts.about(program_of("\n".join(texts)), PolyOptions())


@pytest.mark.parametrize("number", range(len(CASES)), ids=[case[0] for case in CASES])
def test_who_waits(number: int) -> None:
    facts = _facts()
    one = function(facts.program, f"f{number}")
    claim = claims_of(one)[-1]
    with budget(facts.options.max_operations):
        answer = find_begun(Asked(facts, one, claim, claim.owned))
    found, doubts = answer.wrong, answer.doubts
    if CASES[number][1] in ("", OPEN):
        assert not found and bool(doubts) == (CASES[number][1] == OPEN)
        return
    (reason,) = found
    assert reason.rule == "CLM001" and CASES[number][1] in reason.text and reason.legal_if
