"""Threadprivate variables: no claim is proved that reads one where threads may have other values than the first one."""

from __future__ import annotations

import pytest

from tests.poly.analysis import program_of
from warpsmith.base.verdict import Proved, Unknown
from warpsmith.poly.analyze import analyze
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.openmp import lists
from warpsmith.poly.openmp.apply_claims import apply_claims

HEAD = """static double f = 2;
#pragma omp threadprivate(f)
static double get(void) { return f; }
static void set(double v) { f = v; }
"""
LOOP = "for (int i = 0; i < n; i++) b[i] = {} * a[i];"
READS = "double f_(int n, double *restrict a, double *restrict b) {{ {} return 0; }}"
# what stands in the function before the loop, the pragma, what the loop reads, whether the claim is proved
CASES: list[tuple[str, str, str, bool]] = [
    ("f = 3;", "parallel for", "f", False),
    ("f = 3;", "parallel for", "get()", False),
    ("set(3);", "parallel for", "f", False),
    ("double *p = &f; *p = 3;", "parallel for", "f", False),
    ("f = 3;", "parallel for copyin(f)", "f", True),
    ("f = 3;", "parallel for copyin(f)", "get()", False),
    ("f = 3;", "parallel for", "2", True),
]


def _verdicts(text: str) -> list[object]:
    facts = analyze(program_of(text), PolyOptions(), apply_claims)
    return [claim.verdict for one in facts.functions for loop in one.loops for claim in loop.claims]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_value_that_only_the_first_thread_has(case: tuple[str, str, str, bool]) -> None:
    before, pragma, read, right = case
    body = f"{before}\n#pragma omp {pragma}\n{LOOP.format(read)}\n"
    (verdict,) = _verdicts(HEAD + READS.format(body))
    assert isinstance(verdict, Proved if right else Unknown), verdict
    if isinstance(verdict, Unknown):
        assert any("copyin" in reason.text for reason in verdict.reasons)


def test_what_no_function_changes_is_the_same_in_all_threads() -> None:
    head = HEAD.replace("static void set(double v) { f = v; }", "")
    (verdict,) = _verdicts(head + READS.format(f"\n#pragma omp parallel for\n{LOOP.format('f')}\n"))
    assert isinstance(verdict, Proved)


def test_a_seeded_bug_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lists, "find_other_copies", lambda *_: iter(()))
    (verdict,) = _verdicts(HEAD + READS.format(f"f = 3;\n#pragma omp parallel for\n{LOOP.format('f')}\n"))
    assert isinstance(verdict, Proved)
