"""Witnesses of conflicts that isl does not know to be certain: each is run through, in random loops whose subscripts go
through `e & m` and `e / m`, with and without a condition on data."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from tests.poly.analysis import facts_of
from tests.poly.dependences.test_index_maps import COUNT, SEEDS, Case, Term, cases
from tests.random_programs.replay import Witness, parse_witness
from warpsmith.base.verdict import Proved, Refuted, Unknown
from warpsmith.poly.dependences import possible
from warpsmith.poly.facts import LoopFacts
from warpsmith.poly.isl.affine import AffineReader
from warpsmith.poly.isl.polynomial import Polynomial

# of the random loops, by default
FEW = 8
ON_DATA = Term("d[i] > 0", lambda i, j, n: 1)


def judge(found: Sequence[Case]) -> list[LoopFacts]:
    """Return the facts of each case's loop, in order, and of the same loop where data decide what runs."""
    plain = "".join(case.text(f"f{k}") for k, case in enumerate(found))
    guarded = "".join(_on_data(case).text(f"g{k}") for k, case in enumerate(found))
    facts = facts_of(f"int a[4096], d[4096];\n{plain}{guarded}")
    return [facts[f"{name}{k}/i"] for name in "fg" for k in range(len(found))]


def _on_data(case: Case) -> Case:
    text = f"{ON_DATA.text} && ({case.guard.text})" if case.guard.text else ON_DATA.text
    return replace(case, guard=Term(text, case.guard.value))


def witnesses(facts: LoopFacts) -> list[Witness]:
    return [parse_witness(r.dependence.witness) for r in facts.reasons if r.dependence is not None]


def meets(case: Case, witness: Witness) -> bool:
    """Whether both iterations are there, pass the guard, and touch the element as the witness says."""
    n, j = (witness.parameters.get(name, 1) for name in "nj")
    (one, first), (two, second) = witness.first, witness.second
    (i1,), (i2,), (place,) = one, two, witness.subscripts
    if not (0 <= i1 < n and 0 <= i2 < n) or i1 >= i2 or not (first or second):
        return False
    return all(
        case.guard.value(i, j, n) and place in [t.value(i, j, n) for t in (case.writes if write else case.reads)]
        for i, write in ((i1, first), (i2, second))
    )


def wrong(found: Sequence[Case], facts: Sequence[LoopFacts]) -> list[str]:
    """Return the witnesses that are none, and those that say too much or too little of what data decide."""
    bad: list[str] = []
    for k, fact in enumerate(facts):
        case, plain = found[k % len(found)], k < len(found)
        shown = witnesses(fact)
        bad += [f"{case.text('f')}{w}" for w in shown if not meets(case, w) or plain != (w.runs == "")]
        if isinstance(fact.verdict, Refuted) and not plain:
            bad.append(f"data decide: {case.text('f')}")
    return bad


@pytest.mark.parametrize(
    ("seed", "count"), [(SEEDS[0], FEW), *(pytest.param(s, COUNT, marks=pytest.mark.slow) for s in SEEDS)]
)
def test_two_iterations_are_shown_that_meet(seed: int, count: int) -> None:
    found = cases(seed)[:count]
    facts = judge(found)
    assert not wrong(found, facts)
    bad = [k for k, case in enumerate(found) if any(case.carries(n, j) for n in range(2, 7) for j in range(1, 6))]
    shown = [k for k in bad if isinstance(facts[k].verdict, Refuted)]
    possible_ones = [k for k in bad if witnesses(facts[k + len(found)])]
    # those with an operand that no few numbers bring to a conflict stay open, and guards settle some
    settled = [k for k in bad if isinstance(facts[k].verdict, Proved)]
    assert len(shown) + len(settled) >= 0.8 * len(bad) > 0, (len(shown), len(settled), len(bad))
    assert len(possible_ones) + len(settled) >= 0.8 * len(bad), (len(possible_ones), len(bad))


@pytest.mark.slow
def test_a_value_that_is_none_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mask that is taken for the next number."""
    right = AffineReader.bitwise_and

    def bitwise_and(self: AffineReader, left: Polynomial, mask: Polynomial) -> Polynomial | None:
        return right(self, left, mask if mask.number is None else mask.shift(1))

    monkeypatch.setattr(AffineReader, "bitwise_and", bitwise_and)
    found = cases(SEEDS[0])[:FEW]
    assert wrong(found, judge(found))


@pytest.mark.slow
def test_a_witness_that_forgets_the_data_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(possible, "_proviso", lambda conflict: "")
    found = cases(SEEDS[0])[:FEW]
    assert wrong(found, judge(found))


NESTED = """
void f(int n, int h, int w, int *restrict a) {
    for (int t = 0; t < n; t++) { int m = h / 2, i = t / m * m + t % m; a[i + m] += a[i]; }
}
void g(int n, int h, int w, int *restrict a) {
    for (int t = 0; t < n; t++) a[(t & h) & w] = t;
}
void k(int n, int h, int w, int *restrict a) {
    for (int i = 0; i < n; i++) { if (i & h) continue; if (a[i] > w) a[i + h] = a[i ^ h] + a[i ^ w]; }
}
"""


def test_operands_may_be_computed_and_maps_nested() -> None:
    facts = facts_of(NESTED)
    assert isinstance(facts["f/t"].verdict, Refuted)
    assert isinstance(facts["g/t"].verdict, Refuted)
    assert isinstance(facts["k/i"].verdict, Unknown)
    # what is read for the condition is read whatever the data are
    assert {w.runs for w in witnesses(facts["k/i"])} <= {"S1", "S2", "both"} and witnesses(facts["k/i"])
